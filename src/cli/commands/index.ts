/** What svc can do. A command is a row here and a file, which is loaded when it is asked for: starting takes as long as
 *  what is loaded. The first one runs when none is named. */
import type { Flag } from "../flags.ts";
import { JSON_FLAG, QUIET_FLAG, SITE_FLAG, TOKEN_FLAG, type Command } from "../command.ts";
import { PREVIEW_COMMANDS } from "./preview/index.ts";
import { COMMENTS } from "./comments/index.ts";
import { TOKEN } from "./token/index.ts";
import { TARGETS, type SkillTarget } from "../skill/targets.ts";

const DRY_RUN_FLAG: Flag = { name: "dry-run", help: "show what would change and what is wrong; store nothing" };

const WAIT_FLAG: Flag = { name: "wait", help: "wait until the server's browser has seen it, 60 s at most" };

const targetFlag = ({ name, file, sign }: SkillTarget): Flag => ({
  name,
  help: `${file} (${sign === null ? "always" : "if detected"})`,
});

export const COMMANDS: readonly Command[] = [
  {
    name: "",
    argument: "[path]",
    summary: "Deploy a folder or a file as a new site",
    details: [
      "Without a path the first of dist/, build/, out/, .output/public, .vercel/output/static,",
      "public/ and _site/ that has an index.html is deployed. A .svcignore in the folder leaves",
      "files out, with the syntax of a .gitignore.",
    ],
    flags: [
      DRY_RUN_FLAG,
      WAIT_FLAG,
      JSON_FLAG,
      { ...QUIET_FLAG, help: "the URL alone on stdout, the manage_token on stderr" },
    ],
    run: (...call) => import("./deploy.ts").then(({ deploy }) => deploy(...call)),
  },
  {
    name: "update",
    argument: "[path]",
    summary: "Publish a new version of the linked site",
    details: ["Sends nothing when the content is what is live already."],
    flags: [
      SITE_FLAG,
      TOKEN_FLAG,
      { name: "spa", help: "answer unknown paths with index.html, whatever was detected" },
      { name: "no-spa", help: "answer unknown paths with 404, whatever was detected" },
      DRY_RUN_FLAG,
      WAIT_FLAG,
      JSON_FLAG,
      { ...QUIET_FLAG, help: "the URL alone on stdout, the manage_token on stderr" },
    ],
    run: (...call) => import("./update.ts").then(({ update }) => update(...call)),
  },
  ...PREVIEW_COMMANDS,
  {
    name: "open",
    argument: "[path]",
    summary: "Open the linked site in a browser",
    details: ["Prints its URL, and opens it where a person sits in front of this machine."],
    flags: [
      SITE_FLAG,
      TOKEN_FLAG,
      { name: "screenshot", help: "fetch and open the picture that the server's browser took of it" },
      JSON_FLAG,
      QUIET_FLAG,
    ],
    run: (...call) => import("./open.ts").then(({ open }) => open(...call)),
  },
  {
    name: "versions",
    argument: "[path]",
    summary: "List the versions of the linked site, newest first",
    details: [],
    flags: [SITE_FLAG, TOKEN_FLAG, JSON_FLAG, QUIET_FLAG],
    run: (...call) => import("./versions.ts").then(({ versions }) => versions(...call)),
  },
  {
    name: "rollback",
    argument: "[version]",
    summary: "Make an earlier version live again",
    details: ["A version is an id or the beginning of one. Without it: the version before the live one."],
    flags: [SITE_FLAG, TOKEN_FLAG, JSON_FLAG, QUIET_FLAG],
    run: (...call) => import("./rollback.ts").then(({ rollback }) => rollback(...call)),
  },
  {
    name: "explain",
    argument: "<url>",
    summary: "Tell why an address of a site answers as it does",
    details: [
      "A URL of the site, of one of its versions too, or a path of the site deployed from here. Tells",
      "the status, which file or line of _redirects answers, and each header with its line of _headers.",
    ],
    flags: [SITE_FLAG, TOKEN_FLAG, JSON_FLAG, { ...QUIET_FLAG, help: "leave out what was tried" }],
    run: (...call) => import("./explain.ts").then(({ explain }) => explain(...call)),
  },
  {
    name: "forget",
    argument: "[path]",
    summary: "Forget the link between a folder and its site",
    details: ["The site stays as it is. The saved manage_token is lost: keep it if the site is to be updated."],
    flags: [{ ...SITE_FLAG, help: "forget all folders linked to this site" }, JSON_FLAG, QUIET_FLAG],
    run: (...call) => import("./forget.ts").then(({ forget }) => forget(...call)),
  },
  {
    name: "login",
    argument: "[url]",
    summary: "Sign in: deploys are then yours and never expire",
    details: [
      "The server of the last login is the one that svc asks from then on: svc login <url> names it.",
      "Shows a code and waits until you have approved it in a browser, on this machine or another.",
      "Sites that were deployed here without an account become yours.",
      "Programs that cannot wait: --request prints the code and an id, --check <id> asks whether it",
      "was approved (exit 0) or not yet (exit 1, authorization_pending). Both print JSON.",
    ],
    flags: [
      { name: "token", value: "session_token", help: "save this session, if the server knows it" },
      { name: "request", help: "begin a login, print it as JSON and do not wait" },
      { name: "check", value: "id", help: "ask once whether that login was approved, and finish it" },
      JSON_FLAG,
      QUIET_FLAG,
    ],
    run: (...call) => import("./account/login.ts").then(({ login }) => login(...call)),
  },
  {
    name: "logout",
    argument: null,
    summary: "Delete the saved session",
    details: [
      "Its server is forgotten too. Sites and links stay as they are. On the server the session ends",
      "90 days after its last use.",
    ],
    flags: [JSON_FLAG, QUIET_FLAG],
    run: (...call) => import("./account/logout.ts").then(({ logout }) => logout(...call)),
  },
  {
    name: "whoami",
    argument: null,
    summary: "Show which account is signed in, and to which server",
    details: [],
    flags: [JSON_FLAG, QUIET_FLAG],
    run: (...call) => import("./account/whoami.ts").then(({ whoami }) => whoami(...call)),
  },
  {
    name: "list",
    argument: null,
    summary: "List the sites of your account",
    details: [
      "On a terminal a table, else and with --json an array of {site_id, slug, label, url,",
      "created_at, live_version_id}, newest first.",
    ],
    flags: [{ ...JSON_FLAG, help: "print the array on a terminal too" }, QUIET_FLAG],
    run: (...call) => import("./account/list.ts").then(({ list }) => list(...call)),
  },
  {
    name: "usage",
    argument: null,
    summary: "Show how much your account's sites hold",
    details: ["Equal files of one site count once, over all its versions."],
    flags: [JSON_FLAG, QUIET_FLAG],
    run: (...call) => import("./account/usage.ts").then(({ usage }) => usage(...call)),
  },
  {
    name: "claim",
    argument: "<site_id>",
    summary: "Make an anonymous site yours",
    details: [
      "Takes a claim link, with all that is needed, in place of the site_id. Needs a login or",
      "SVC_TOKEN. The claim_token is that of --token, else of the link on this machine; else it is",
      "asked for on the terminal.",
    ],
    flags: [
      { name: "token", value: "claim_token", help: "this token, instead of the saved one" },
      JSON_FLAG,
      QUIET_FLAG,
    ],
    run: (...call) => import("./account/claim.ts").then(({ claim }) => claim(...call)),
  },
  {
    name: "delete",
    argument: "[<site>…]",
    takesMany: true,
    summary: "Delete sites of yours, for good",
    details: [
      "A site is a site_id, a slug or a URL; without one the site deployed from here is meant.",
      "Needs a login or SVC_TOKEN. Versions and comments go too, and the address is not given out",
      "again. On a terminal you type the slug of each; an anonymous site ends by itself.",
    ],
    flags: [{ name: "yes", help: "do not ask: for programs" }, JSON_FLAG, QUIET_FLAG],
    run: (...call) => import("./account/delete.ts").then(({ remove }) => remove(...call)),
  },
  {
    name: "tokens",
    argument: "revoke",
    summary: "End every manage_token of a site of yours",
    details: [
      "Whoever was given one, an earlier owner or a machine that was lost, changes the site no longer.",
      "Needs a login or SVC_TOKEN. The next update by your account is given a fresh one.",
      "Deploy tokens, for CI, are another kind: svc token list shows those, svc token revoke ends one.",
    ],
    flags: [SITE_FLAG, JSON_FLAG, QUIET_FLAG],
    run: (...call) => import("./account/tokens.ts").then(({ tokens }) => tokens(...call)),
  },
  TOKEN,
  COMMENTS,
  {
    name: "install",
    argument: "skill",
    summary: "Teach the coding agents of a project to use svc",
    details: [
      "Writes below the current folder: what is always written, and what is detected. On a terminal",
      "it asks first. Target flags mean exactly those targets. Files that others write too get a",
      "block between two marker lines, and keep everything else. Running it again changes nothing.",
    ],
    flags: [
      ...TARGETS.map(targetFlag),
      { name: "all", help: "all eight" },
      { name: "global", help: "below the home folder, for all projects" },
      { name: "list", help: "list the targets and what is detected, and write nothing" },
      { name: "dry-run", help: "say what would be written, and write nothing" },
      { name: "print", help: "the same as --dry-run" },
      JSON_FLAG,
      QUIET_FLAG,
    ],
    run: (...call) => import("./install.ts").then(({ install }) => install(...call)),
  },
];
