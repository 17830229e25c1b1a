/** What an update has to send (BEYOND 6). */
import { json, JSON_CODES, ok, type Operations } from "../operation.ts";
import { list, object, ref, text, whole } from "../schema.ts";

export const PLAN: Operations = {
  "POST /sites/:id/plan": {
    id: "planDeploy",
    tag: "Deploys",
    summary: "Ask what of a content the site lacks",
    description: "Names and limits are judged as a deploy's. It stores and holds nothing.",
    who: { site: "preview" },
    body: {
      required: true,
      content: json(
        object({
          files: list(
            object({ path: text("In the site."), sha256: ref("Sha256"), bytes: whole("Uncompressed.") }),
            "The whole content.",
          ),
        }),
      ),
    },
    answers: ok("Which version it would be, and what to send.", ref("Plan")),
    codes: [
      ...JSON_CODES,
      "invalid_zip",
      "unsafe_path",
      "empty_deploy",
      "too_complex",
      "version_collision",
      "deploy_too_large",
      "too_many_files",
      "rate_limited",
    ],
  },
};
