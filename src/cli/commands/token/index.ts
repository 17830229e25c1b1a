/** `svc token …`, row by row: deploy tokens, for CI. `svc tokens revoke` is about the manage_tokens of one site. */
import { group, JSON_FLAG, QUIET_FLAG, type Command } from "../../command.ts";

const ROWS: Command[] = [
  {
    name: "token create",
    argument: null,
    summary: "Make a deploy token, and print it once",
    details: [
      "read      reads a site and its versions",
      "preview   what read does, and makes and ends previews",
      "deploy    what preview does, and publishes versions, promotes and rolls back",
      "create    makes new sites of your account; goes with no --site",
      "Needs a login. CI has it as SVC_TOKEN: docs/ci.md has recipes.",
    ],
    flags: [
      { name: "name", value: "name", help: "what you know it by, such as the repository" },
      { name: "scope", value: "scope", help: "what it may; give it again, or use commas, for more" },
      { name: "site", value: "id", help: "for this site; again for more; without it for all that you have and get" },
      { name: "expires", value: "duration", help: "when it ends: 1s to 366d; without it 90d" },
      JSON_FLAG,
      QUIET_FLAG,
    ],
    run: (...call) => import("./deploy-tokens.ts").then(({ createToken }) => createToken(...call)),
  },
  {
    name: "token list",
    argument: null,
    summary: "List your deploy tokens: id, name, scopes, sites, end, last use",
    details: ["Newest first. The tokens themselves are never shown again."],
    flags: [JSON_FLAG, QUIET_FLAG],
    run: (...call) => import("./deploy-tokens.ts").then(({ listTokens }) => listTokens(...call)),
  },
  {
    name: "token revoke",
    argument: "<tok_…>",
    summary: "End a deploy token",
    details: ["A deploy that is on its way with it publishes nothing."],
    flags: [JSON_FLAG, QUIET_FLAG],
    run: (...call) => import("./deploy-tokens.ts").then(({ revokeToken }) => revokeToken(...call)),
  },
];

export const TOKEN = group({
  name: "token",
  summary: "Make, list and end deploy tokens, for CI",
  details: ["The manage_tokens of one site are another kind: svc tokens revoke ends those."],
  under: ROWS,
});
