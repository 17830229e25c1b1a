/** The commands of svc. Each is a row here and a function in a file that
 *  is loaded when the command is asked for: a start takes as long as what is loaded. The first row runs when no command
 *  is named. */
import { group, JSON_FLAG, QUIET_FLAG, SITE_FLAG, TOKEN_FLAG, type Command, type Flag } from "../command.ts";
import { COMMENTS } from "./comments/index.ts";
import { TARGETS, type SkillTarget } from "./skill-targets.ts";

const DRY_RUN_FLAG: Flag = { name: "dry-run", help: "show what would change and what is wrong; store nothing" };

const WAIT_FLAG: Flag = { name: "wait", help: "wait until the server's browser has seen it, 60 s at most" };

const YES_FLAG: Flag = { name: "yes", help: "do not ask: for programs" };

const targetFlag = ({ name, file, sign }: SkillTarget): Flag => ({
  name,
  help: `${file} (${sign === null ? "always" : "if detected"})`,
});

export const COMMANDS: readonly Command[] = [
  {
    name: "",
    arguments: ["[path]"],
    summary: "Deploy a folder or a file as a new site",
    details: [
      "Without a path the first of dist/, build/, out/, .output/public, .vercel/output/static,",
      "public/ and _site/ that has an index.html is deployed. A .svcignore in the folder leaves",
      "files out, with the syntax of a .gitignore.",
    ],
    flags: [
      DRY_RUN_FLAG,
      WAIT_FLAG,
      { ...YES_FLAG, help: "publish a folder without a page unasked" },
      JSON_FLAG,
      { ...QUIET_FLAG, help: "the URL alone on stdout, the manage_token on stderr" },
    ],
    run: (...call) => import("./deploy.ts").then(({ deploy }) => deploy(...call)),
  },
  {
    name: "update",
    arguments: ["[path]"],
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
  {
    name: "preview",
    arguments: ["[path]"],
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
    run: (...call) => import("./previews.ts").then(({ PREVIEW_COMMANDS }) => PREVIEW_COMMANDS.preview(...call)),
  },
  {
    name: "promote",
    arguments: ["<name>"],
    summary: "Make a preview live, byte for byte",
    details: ["The preview is named as for svc preview, or by its version. It ends."],
    flags: [SITE_FLAG, TOKEN_FLAG, JSON_FLAG, QUIET_FLAG],
    run: (...call) => import("./previews.ts").then(({ PREVIEW_COMMANDS }) => PREVIEW_COMMANDS.promote(...call)),
  },
  {
    name: "previews",
    arguments: ["[path]"],
    summary: "List the previews of the linked site, newest first",
    details: [],
    flags: [SITE_FLAG, TOKEN_FLAG, JSON_FLAG, QUIET_FLAG],
    run: (...call) => import("./previews.ts").then(({ PREVIEW_COMMANDS }) => PREVIEW_COMMANDS.previews(...call)),
  },
  {
    name: "open",
    arguments: ["[path]"],
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
    arguments: ["[path]"],
    summary: "List the versions of the linked site, newest first",
    details: [
      "[withheld]: a secret was seen in it, so nothing is at its own address until it is made live",
      "again. svc versions delete takes it off the server.",
    ],
    flags: [SITE_FLAG, TOKEN_FLAG, JSON_FLAG, QUIET_FLAG],
    run: (...call) => import("./versions.ts").then(({ VERSION_COMMANDS }) => VERSION_COMMANDS.versions(...call)),
  },
  {
    name: "versions delete",
    arguments: ["<version>…"],
    summary: "Delete stored versions of a site of yours, for good",
    details: [
      "A version is an id or the beginning of one, of a preview too. The live one stays. Its address,",
      "its receipt and the previews that show it go; comments stay. Needs a login or SVC_TOKEN.",
    ],
    flags: [SITE_FLAG, YES_FLAG, JSON_FLAG, QUIET_FLAG],
    run: (...call) => import("./versions.ts").then(({ VERSION_COMMANDS }) => VERSION_COMMANDS.remove(...call)),
  },
  {
    name: "versions prune",
    arguments: [],
    summary: "Delete all versions of a site of yours but the newest, for good",
    details: ["The live one always stays, and counts among those that are kept. Prints each that is deleted."],
    flags: [{ name: "keep", value: "n", help: "how many stay, from 1" }, SITE_FLAG, YES_FLAG, JSON_FLAG, QUIET_FLAG],
    run: (...call) => import("./versions.ts").then(({ VERSION_COMMANDS }) => VERSION_COMMANDS.prune(...call)),
  },
  {
    name: "rollback",
    arguments: ["[version]"],
    summary: "Make an earlier version live again",
    details: [
      "A version is an id or the beginning of one. Without it: the version before the live one.",
      "One that is [withheld], for a secret was seen in it, goes live with --yes alone.",
    ],
    flags: [
      { name: "yes", help: "make a withheld version live all the same" },
      SITE_FLAG,
      TOKEN_FLAG,
      JSON_FLAG,
      QUIET_FLAG,
    ],
    run: (...call) => import("./versions.ts").then(({ VERSION_COMMANDS }) => VERSION_COMMANDS.rollback(...call)),
  },
  {
    name: "explain",
    arguments: ["<url>"],
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
    arguments: ["[path]"],
    summary: "Forget the link between a folder and its site",
    details: ["The site stays as it is. The saved manage_token is lost: keep it if the site is to be updated."],
    flags: [{ ...SITE_FLAG, help: "forget all folders linked to this site" }, JSON_FLAG, QUIET_FLAG],
    run: (...call) => import("./forget.ts").then(({ forget }) => forget(...call)),
  },
  {
    name: "login",
    arguments: ["[url]"],
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
    run: (...call) => import("./login.ts").then(({ login }) => login(...call)),
  },
  {
    name: "logout",
    arguments: [],
    summary: "Delete the saved session",
    details: [
      "Its server is forgotten too. Sites and links stay as they are. On the server the session ends",
      "90 days after its last use.",
    ],
    flags: [JSON_FLAG, QUIET_FLAG],
    run: (...call) => import("./account.ts").then(({ ACCOUNT_COMMANDS }) => ACCOUNT_COMMANDS.logout(...call)),
  },
  {
    name: "whoami",
    arguments: [],
    summary: "Show which account is signed in, and to which server",
    details: [],
    flags: [JSON_FLAG, QUIET_FLAG],
    run: (...call) => import("./account.ts").then(({ ACCOUNT_COMMANDS }) => ACCOUNT_COMMANDS.whoami(...call)),
  },
  {
    name: "list",
    arguments: [],
    summary: "List the sites of your account",
    details: [
      "On a terminal a table, else and with --json an array of {site_id, slug, label, url,",
      "created_at, live_version_id}, newest first.",
    ],
    flags: [{ ...JSON_FLAG, help: "print the array on a terminal too" }, QUIET_FLAG],
    run: (...call) => import("./account.ts").then(({ ACCOUNT_COMMANDS }) => ACCOUNT_COMMANDS.list(...call)),
  },
  {
    name: "usage",
    arguments: [],
    summary: "Show how much your account's sites hold",
    details: ["Equal files of one site count once, over all its versions."],
    flags: [JSON_FLAG, QUIET_FLAG],
    run: (...call) => import("./account.ts").then(({ ACCOUNT_COMMANDS }) => ACCOUNT_COMMANDS.usage(...call)),
  },
  {
    name: "claim",
    arguments: ["<site_id>"],
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
    run: (...call) => import("./claim.ts").then(({ claim }) => claim(...call)),
  },
  {
    name: "delete",
    arguments: ["[<site>…]"],
    summary: "Delete sites of yours, for good",
    details: [
      "A site is a site_id, a slug or a URL; without one the site deployed from here is meant.",
      "Needs a login or SVC_TOKEN. Versions and comments go too, and the address is not given out",
      "again. On a terminal you type the slug of each; an anonymous site ends by itself.",
    ],
    flags: [YES_FLAG, JSON_FLAG, QUIET_FLAG],
    run: (...call) => import("./delete.ts").then(({ remove }) => remove(...call)),
  },
  {
    name: "tokens",
    arguments: ["revoke"],
    summary: "End every manage_token of a site of yours",
    details: [
      "An earlier owner, or a machine that was lost, can then no longer change the site.",
      "With them end the agents' tokens, the owner codes and the webhook of its comments.",
      "Needs a login or SVC_TOKEN. The next update by your account is given a fresh one.",
      "Deploy tokens, for CI, are another kind: svc token list shows those, svc token revoke ends one.",
    ],
    flags: [SITE_FLAG, JSON_FLAG, QUIET_FLAG],
    run: (...call) => import("./tokens.ts").then(({ tokens }) => tokens(...call)),
  },
  group({
    name: "token",
    summary: "Make, list and end deploy tokens, for CI",
    details: ["The manage_tokens of one site are another kind: svc tokens revoke ends those."],
  }),
  {
    name: "token create",
    arguments: [],
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
    run: (...call) => import("./tokens.ts").then(({ createToken }) => createToken(...call)),
  },
  {
    name: "token list",
    arguments: [],
    summary: "List your deploy tokens: id, name, scopes, sites, end, last use",
    details: ["Newest first. The tokens themselves are never shown again."],
    flags: [JSON_FLAG, QUIET_FLAG],
    run: (...call) => import("./tokens.ts").then(({ listTokens }) => listTokens(...call)),
  },
  {
    name: "token revoke",
    arguments: ["<tok_…>"],
    summary: "End a deploy token",
    details: ["A deploy that is on its way with it publishes nothing."],
    flags: [JSON_FLAG, QUIET_FLAG],
    run: (...call) => import("./tokens.ts").then(({ revokeToken }) => revokeToken(...call)),
  },
  ...COMMENTS,
  {
    name: "install",
    arguments: ["skill"],
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
