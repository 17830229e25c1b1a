/** Commands about what is shown beside the live version. */
import { type Command, JSON_FLAG, QUIET_FLAG, SITE_FLAG, TOKEN_FLAG } from "../../command.ts";

export const PREVIEW_COMMANDS: readonly Command[] = [
  {
    name: "preview",
    argument: "[path]",
    summary: "Show content at an address of its own, beside what is live",
    details: [
      "The same name again moves the address. Without --name: pr-<n> in the build of a pull request",
      "(GITHUB_REF), else GitLab's branch (CI_COMMIT_REF_SLUG), else the version's own address. A",
      "preview ends by itself; svc promote makes it live.",
    ],
    flags: [
      { name: "name", value: "name", help: "any text, a branch's name too: made into part of a host's name" },
      SITE_FLAG,
      TOKEN_FLAG,
      JSON_FLAG,
      { name: "markdown", help: "print a comment for a pull request on stdout" },
      { ...QUIET_FLAG, help: "the URL alone on stdout" },
    ],
    run: (...call) => import("./preview.ts").then(({ preview }) => preview(...call)),
  },
  {
    name: "promote",
    argument: "<name>",
    summary: "Make a preview live, byte for byte",
    details: ["The preview is named as for svc preview, or by its version. It ends."],
    flags: [SITE_FLAG, TOKEN_FLAG, JSON_FLAG, QUIET_FLAG],
    run: (...call) => import("./promote.ts").then(({ promote }) => promote(...call)),
  },
  {
    name: "previews",
    argument: "[path]",
    summary: "List the previews of the linked site, newest first",
    details: [],
    flags: [SITE_FLAG, TOKEN_FLAG, JSON_FLAG, QUIET_FLAG],
    run: (...call) => import("./previews.ts").then(({ previews }) => previews(...call)),
  },
];
