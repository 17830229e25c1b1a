/** The help, made from the table of commands. */
import { BUILT_IN_SERVER } from "../client/default-server.ts";
import { COMMON_FLAGS, type Command } from "./command.ts";
import type { Flag } from "./flags.ts";
import { svc } from "./invocation.ts";

const written = ({ name, short, value }: Flag): string =>
  `${short === undefined ? "    " : `-${short}, `}--${name}${value === undefined ? "" : ` <${value}>`}`;

const call = ({ name, argument }: Command): string => svc([name, argument].filter(Boolean).join(" "));

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length)) + 3;
  return rows.map(([left, right]) => `  ${left.padEnd(width)}${right}`);
}

const commandLines = (commands: readonly Command[]): string[] =>
  columns(commands.map((command) => [call(command), command.summary]));

const flagLines = (flags: readonly Flag[]): string[] => columns(flags.map((flag) => [written(flag), flag.help]));

export const commandHelp = (command: Command): string[] => [
  `${command.summary}.`,
  "",
  `  ${call(command)} [flags]`,
  "",
  ...(command.details.length > 0 ? [...command.details, ""] : []),
  ...(command.under === undefined ? [] : [...commandLines(command.under), ""]),
  ...flagLines([...command.flags, ...COMMON_FLAGS]),
];

export const overview = (commands: readonly Command[]): string[] => [
  "svc turns a folder of static files into a live URL.",
  "",
  ...commandLines(commands),
  "",
  ...flagLines([...commands[0]!.flags, ...COMMON_FLAGS]),
  "",
  `Each command has more: ${svc("help <command>")}, or ${svc("<command> --help")}`,
  "",
  ...columns([
    ["DEPLOY_URL", `the server (default: that of the last login, else ${BUILT_IN_SERVER})`],
    ["SVC_TOKEN", "an account's session or deploy token (CI); before the saved session"],
    ["SVC_CONFIG_DIR", "where links and the session are kept"],
    ["NO_COLOR, FORCE_COLOR", "colors off, on"],
  ]),
];
