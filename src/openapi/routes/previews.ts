/** Versions that are shown beside the live one (BEYOND 7). */
import { json, ok, type Operations } from "../operation.ts";
import { ref, text } from "../schema.ts";
import { DRY_RUN, UPLOAD, UPLOAD_CODES } from "./deploys.ts";

const named = { id: ref("SiteId"), name: text("The preview's name, or its version_id.") };
const CHANGES = ["site_frozen", "site_disabled"] as const;

export const PREVIEWS: Operations = {
  "POST /sites/:id/previews": {
    id: "makePreview",
    tag: "Deploys",
    summary: "Deploy a zip to be looked at, and not live",
    description: "The same name again moves it. A site has at most 20; the oldest goes.",
    who: { site: "preview" },
    query: [
      {
        name: "name",
        description: "Its host is `<name>--<slug>`; without one, the version's own.",
        schema: text("Lower-case letters, digits, single hyphens between them.", { examples: ["pr-7"] }),
      },
      DRY_RUN,
    ],
    body: UPLOAD,
    answers: {
      200: {
        description: "It is shown. With `dry_run`, what would be.",
        content: json({ anyOf: [ref("Preview"), ref("DryRun")] }),
      },
    },
    codes: [...UPLOAD_CODES, ...CHANGES],
  },
  "GET /sites/:id/previews": {
    id: "listPreviews",
    tag: "Sites",
    summary: "List what is shown beside the live version",
    who: { site: "read" },
    answers: ok("The previews.", ref("Previews")),
  },
  "DELETE /sites/:id/previews/:name": {
    id: "endPreview",
    tag: "Sites",
    summary: "End a preview",
    description: "Nothing that is or was live moves. A manage_token ends none.",
    who: { owner: "preview" },
    path: named,
    answers: ok("It has ended.", ref("Done"), { ok: true }),
    codes: ["unknown_version", ...CHANGES],
  },
  "POST /sites/:id/previews/:name/promote": {
    id: "promotePreview",
    tag: "Deploys",
    summary: "Make a preview live, byte for byte",
    who: { site: "deploy" },
    path: named,
    answers: ok("It is live, and the preview has ended.", ref("RolledBack")),
    codes: ["unknown_version", ...CHANGES],
  },
};
