/** What an account gives to its CI (BEYOND 7). */
import { SCOPES } from "../../base/tokens.ts";
import { json, JSON_CODES, ok, type Operations } from "../operation.ts";
import { list, object, oneOf, ref, text } from "../schema.ts";

export const DEPLOY_TOKENS: Operations = {
  "POST /account/tokens": {
    id: "makeDeployToken",
    tag: "Account",
    summary: "Make a deploy token",
    description: "An account has at most 50 at once. Making one counts as a deploy of the account.",
    who: "account",
    body: {
      required: true,
      content: json(
        object(
          {
            name: text("To know it by.", { minLength: 1, maxLength: 80 }),
            scopes: list(oneOf("A scope.", SCOPES), "What it may.", { minItems: 1 }),
          },
          {
            site_ids: list(ref("SiteId"), "For these sites alone. Not beside `create`.", { minItems: 1, maxItems: 20 }),
            expires_in: text("`1s` to `366d`.", { default: "90d", examples: ["90d"] }),
          },
        ),
        { name: "CI of docs", scopes: ["deploy"], expires_in: "90d" },
      ),
    },
    answers: ok("The token, shown here and never again.", ref("NewDeployToken")),
    codes: [...JSON_CODES, "quota_exceeded", "rate_limited"],
  },
  "GET /account/tokens": {
    id: "listDeployTokens",
    tag: "Account",
    summary: "List the deploy tokens",
    who: "account",
    answers: ok("Those that have not ended.", ref("DeployTokens")),
  },
  "DELETE /account/tokens/:id": {
    id: "revokeDeployToken",
    tag: "Account",
    summary: "Revoke a deploy token",
    who: "account",
    path: { id: ref("DeployTokenId") },
    answers: ok("It opens nothing any more.", ref("Done"), { ok: true }),
    codes: ["not_found"],
  },
};
