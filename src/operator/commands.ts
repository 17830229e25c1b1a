/** The subcommands of svc-server that work on the data directory, also while the server runs (CONTRACT 7). */
import { scanArguments } from "../base/arguments.ts";
import { ConfigError, type Env, readConfig, SETTING_FLAGS } from "../config/index.ts";
import { openOperations, type Operations } from "../store/operations.ts";
import { nearest } from "../base/nearest.ts";
import type { ServerAddress } from "../store/upkeep.ts";
import { visibleLine } from "../base/visible.ts";
import { ACCOUNT_STATE } from "./account-state.ts";
import { ACCOUNTS } from "./accounts.ts";
import { readWords, usageOf, wantsHelp } from "./arguments.ts";
import type { Command } from "./command.ts";
import { doctor } from "./doctor/index.ts";
import { LISTINGS } from "./listings.ts";
import { REPORTS } from "./reports.ts";
import { sentenceOf } from "./sentences.ts";
import { TAKEDOWN } from "./takedown.ts";
import { UPKEEP } from "./upkeep.ts";

const COMMANDS: readonly Command[] = [
  ...LISTINGS.slice(0, 1),
  ...TAKEDOWN,
  ...REPORTS,
  ...LISTINGS.slice(1),
  ...ACCOUNTS,
  ...ACCOUNT_STATE,
  ...UPKEEP,
  doctor,
];

/** The list of commands for the main help. */
export function commandsHelp(commands = COMMANDS): string {
  const width = Math.max(...commands.map((command) => usageOf(command).length));
  return commands.map((command) => `  ${usageOf(command).padEnd(width)}  ${command.summary}\n`).join("");
}

const BESIDE_SERVER = "Works on the data directory (--data-dir, SVC_DATA_DIR), also while the server runs.\n";

const helpOf = (command: Command): string =>
  `Usage: svc-server ${usageOf(command)} [--data-dir <folder>]

${command.summary[0]!.toUpperCase()}${command.summary.slice(1)}.${command.more ? `\n${command.more}` : ""}
${command.name === "restore" ? "" : BESIDE_SERVER}Exit codes: 0 done, 1 failed, 2 wrong usage.
`;

/** Of `account create …` both words count. Null: no command of an operator. */
const commandNamed = ([first = "", second = ""]: readonly string[]): Command | null =>
  COMMANDS.find(({ name }) => name === `${first} ${second}`) ?? COMMANDS.find(({ name }) => name === first) ?? null;

/** `account`, and those that have one word: `sites`, `gc`. */
const FIRST_WORDS = ["serve", ...new Set(COMMANDS.map(({ name }) => name.split(" ", 1)[0]!))];
const familyOf = (first = ""): Command[] => COMMANDS.filter(({ name }) => name.startsWith(`${first} `));

/** For words that begin with none of a command. `accuont list` is near a command, `accuont` to the first word of some. */
function unknownCommand([first = "", second = ""]: readonly string[]): ConfigError {
  const names = COMMANDS.map(({ name }) => name);
  const both = second.startsWith("-") ? null : nearest(`${first} ${second}`.trimEnd(), names);
  const guess = both ?? nearest(first, FIRST_WORDS);
  const way = guess === null ? "see svc-server --help." : `did you mean svc-server ${guess}?`;
  return new ConfigError(`There is no command ${first}: ${way}`);
}

/** A word that is near to the second one of a family's command. */
function refuseNear(family: readonly Command[], [first = "", second = ""]: readonly string[]): void {
  const names = family.map(({ name }) => name);
  const guess = second === "" || second.startsWith("-") ? null : nearest(`${first} ${second}`, names);
  if (guess) throw new ConfigError(`There is no ${first} ${second}: did you mean svc-server ${guess}?`);
}

const whichOf = (family: readonly Command[]): ConfigError =>
  new ConfigError(`Say which: ${family.map(({ name }) => `svc-server ${name}`).join(", ")}.`);

/** Where this call is given no base URL and no sites domain, those of the server's last start count. */
const addressVariables = (address: ServerAddress | null): Env =>
  address === null ? {} : { SVC_BASE_URL: address.base_url, SVC_SITES_DOMAIN: address.sites_domain };

async function run(command: Command, argv: readonly string[], env: Env): Promise<number> {
  const { settings: flags, ...words } = readWords(command, argv.slice(command.name.split(" ").length));
  const { data_dir } = readConfig(flags, env);
  let operations: Operations | null = null;
  const settings = (address: ServerAddress | null) => readConfig(flags, { ...addressVariables(address), ...env });
  const open = () => (operations ??= openOperations({ data_dir, now: Date.now }));
  try {
    return await command.run({
      ...words,
      open,
      data_dir,
      settings,
      config: async () => settings(await open().serverAddress()),
      print: (text) => void process.stdout.write(text),
      note: (text) => void process.stderr.write(`${visibleLine(text)}\n`),
    });
  } catch (error) {
    throw sentenceOf(error);
  } finally {
    (operations as Operations | null)?.close();
  }
}

/** Whether the words are a call to serve: flags alone, or behind `serve`. */
function isServing(argv: readonly string[]): boolean {
  const [first = "serve"] = argv;
  if (first !== "serve" && !first.startsWith("-")) return false;
  const late = scanArguments(argv.slice(first === "serve" ? 1 : 0), SETTING_FLAGS).find(
    (word) => word.kind === "argument" && FIRST_WORDS.includes(word.argument),
  );
  if (!late || late.argument === "serve") return true;
  throw new ConfigError(`A command goes first: svc-server ${late.argument}, then its flags.`);
}

/** Runs a subcommand and resolves to its exit code; null where the words are a call to serve. */
export async function runOperator(argv: readonly string[], env: Env): Promise<number | null> {
  if (isServing(argv)) return null;
  const family = familyOf(argv[0]);
  const command = commandNamed(argv);
  if (!command && family.length === 0) throw unknownCommand(argv);
  const help = wantsHelp(argv, command?.options ?? {});
  if (!help && !command?.name.includes(" ")) refuseNear(family, argv);
  if (command && !help) return run(command, argv, env);
  if (command) process.stdout.write(helpOf(command));
  else if (help) process.stdout.write(`Usage:\n${commandsHelp(family)}`);
  else throw whichOf(family);
  return 0;
}
