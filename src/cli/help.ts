/** The help, made from the table of commands. */
import { BUILT_IN_SERVER } from "../client/default-server.ts";
import { columns, flagText } from "../command/index.ts";
import { topCommands } from "./call.ts";
import { COMMON_FLAGS, type Command, type Flag } from "./command.ts";
import { svc } from "./invocation.ts";

const GAP = 3;

const written = (flag: Flag): string => `${flag.short === undefined ? "    " : `-${flag.short}, `}${flagText(flag)}`;

const callOf = (command: Command): string => svc([command.name, ...command.arguments].filter(Boolean).join(" "));

const commandLines = (commands: readonly Command[]): string[] =>
  columns(
    commands.map((command) => [callOf(command), command.summary]),
    GAP,
  );

const flagLines = (flags: readonly Flag[]): string[] =>
  columns(
    flags.map((flag) => [written(flag), flag.help]),
    GAP,
  );

/** The help of one command. A group lists the commands below it. */
export const commandHelp = (command: Command, below: readonly Command[]): string[] => [
  `${command.summary}.`,
  "",
  `  ${callOf(command)} [flags]`,
  "",
  ...(command.details.length > 0 ? [...command.details, ""] : []),
  ...(below.length === 0 ? [] : [...commandLines(below), ""]),
  ...flagLines([...command.flags, ...COMMON_FLAGS]),
];

export const overview = (commands: readonly Command[]): string[] => [
  "svc turns a folder of static files into a live URL.",
  "",
  ...commandLines(topCommands(commands)),
  "",
  ...flagLines([...commands[0]!.flags, ...COMMON_FLAGS]),
  "",
  `Each command has more: ${svc("help <command>")}, or ${svc("<command> --help")}`,
  "",
  ...columns(
    [
      ["DEPLOY_URL", `the server (default: that of the last login, else ${BUILT_IN_SERVER})`],
      ["SVC_TOKEN", "an account's session or deploy token (CI); before the saved session"],
      ["SVC_CONFIG_DIR", "where links and the session are kept"],
      ["NO_COLOR, FORCE_COLOR", "colors off, on"],
    ],
    GAP,
  ),
];
