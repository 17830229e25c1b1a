/** Rows of what a person wants on the second day: to see who comes, to move a whole account, to say who may see a site, and to have
 *  it at a domain of their own (BEYOND 8 to 11). */
import { type Command, group, JSON_FLAG, QUIET_FLAG, SITE_FLAG, TOKEN_FLAG } from "../command.ts";

const OF_A_SITE = [SITE_FLAG, TOKEN_FLAG, JSON_FLAG, QUIET_FLAG];

export const MOVING: readonly Command[] = [
  {
    name: "export",
    arguments: ["[folder]"],
    summary: "Write all versions of all sites of your account into a folder",
    details: [
      "A zip for each version, in ./svc-export if no folder is named, and export.json, which lists them.",
      "Begun again it fetches only what is missing or damaged. No token is in it.",
    ],
    flags: [JSON_FLAG, QUIET_FLAG],
    run: (...call) => import("./export-account.ts").then(({ exportAll }) => exportAll(...call)),
  },
  {
    name: "import",
    arguments: ["[folder]"],
    summary: "Make all sites of an export anew, in your account",
    details: [
      "All versions of each, the same one live. Prints a line for each site: its former name and where",
      "it is now. Begun again it goes on where it stopped: import.json in the folder has what is done.",
    ],
    flags: [JSON_FLAG, QUIET_FLAG],
    run: (...call) => import("./import-account.ts").then(({ importAll }) => importAll(...call)),
  },
];

export const ACCESS: readonly Command[] = [
  group({
    name: "access",
    summary: "Say whether visitors of the site need a password",
    details: ["It holds on all hosts of the site: those of its versions and previews, too."],
  }),
  {
    name: "access set-password",
    arguments: [],
    summary: "Let only those see the site who know a password",
    details: [
      "Asks for it twice, without showing it. A new one takes the place of the one before, and",
      "all visitors are asked anew. It has 8 to 256 characters.",
    ],
    flags: [{ name: "password-stdin", help: "read the password as a line from stdin" }, ...OF_A_SITE],
    run: (...call) => import("./access.ts").then(({ ACCESS_COMMANDS }) => ACCESS_COMMANDS.setPassword(...call)),
  },
  {
    name: "access off",
    arguments: [],
    summary: "Let everybody see the site again",
    details: [],
    flags: OF_A_SITE,
    run: (...call) => import("./access.ts").then(({ ACCESS_COMMANDS }) => ACCESS_COMMANDS.off(...call)),
  },
  {
    name: "access status",
    arguments: [],
    summary: "Print password or public",
    details: [],
    flags: OF_A_SITE,
    run: (...call) => import("./access.ts").then(({ ACCESS_COMMANDS }) => ACCESS_COMMANDS.status(...call)),
  },
];

export const VISITS: Command = {
  name: "stats",
  arguments: ["[path]"],
  summary: "Tell how often the linked site is visited",
  details: [
    "Views, visitors and bots, the pages and where their visitors came from, and broken links, each",
    "with a line for _redirects. Counted without cookies, by days of UTC.",
  ],
  flags: [{ name: "days", value: "n", help: "the last n days, 1 to 400; without it 30" }, ...OF_A_SITE],
  run: (...call) => import("./stats.ts").then(({ stats }) => stats(...call)),
};

/** An account's session alone opens them. */
const OF_DOMAINS = [SITE_FLAG, JSON_FLAG, QUIET_FLAG];

export const DOMAINS: readonly Command[] = [
  group({
    name: "domain",
    summary: "Serve the site at a domain of your own",
    details: ["A domain is proved by a record in its DNS. Needs a login or SVC_TOKEN."],
  }),
  {
    name: "domain add",
    arguments: ["<name>"],
    summary: "Add a domain, and print the records that prove it",
    details: ["One of them is enough. Where it is there already, the domain is active at once."],
    flags: OF_DOMAINS,
    run: (...call) => import("./domain.ts").then(({ DOMAIN_COMMANDS }) => DOMAIN_COMMANDS.add(...call)),
  },
  {
    name: "domain verify",
    arguments: ["<name>"],
    summary: "Look whether the domain is proved by now",
    details: ["Prints its address. Until a record is seen it fails, and says what was found."],
    flags: OF_DOMAINS,
    run: (...call) => import("./domain.ts").then(({ DOMAIN_COMMANDS }) => DOMAIN_COMMANDS.verify(...call)),
  },
  {
    name: "domain list",
    arguments: [],
    summary: "List the domains of the site",
    details: [],
    flags: OF_DOMAINS,
    run: (...call) => import("./domain.ts").then(({ DOMAIN_COMMANDS }) => DOMAIN_COMMANDS.list(...call)),
  },
  {
    name: "domain primary",
    arguments: ["<name>"],
    summary: "Have all other addresses of the site lead to one",
    details: ["With off in place of a name each address answers by itself again."],
    flags: OF_DOMAINS,
    run: (...call) => import("./domain.ts").then(({ DOMAIN_COMMANDS }) => DOMAIN_COMMANDS.primary(...call)),
  },
  {
    name: "domain hsts",
    arguments: ["<name>", "<state>"],
    summary: "Tell browsers to insist on https there, for a year",
    details: ["The state is on or off. The domain needs a certificate of the server: else nobody could open it."],
    flags: OF_DOMAINS,
    run: (...call) => import("./domain.ts").then(({ DOMAIN_COMMANDS }) => DOMAIN_COMMANDS.hsts(...call)),
  },
  {
    name: "domain remove",
    arguments: ["<name>"],
    summary: "Take a domain from the site",
    details: [],
    flags: OF_DOMAINS,
    run: (...call) => import("./domain.ts").then(({ DOMAIN_COMMANDS }) => DOMAIN_COMMANDS.remove(...call)),
  },
];
