/** Rows of what a person wants on the second day: to move a whole account, and to say who may see a site (BEYOND 8 and 9). */
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
