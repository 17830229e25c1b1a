/** The commands of `svc-server` that work on the data directory, also while the server runs (CONTRACT 7): which one the words name, what they give it, its help, and how it is run. */
import { existsSync } from "node:fs";
import { hasFlag, scanArguments, type WrittenFlag } from "../command/arguments.ts";
import { columns, commandNamed, commandsBelow, type Flag, flagText, Words } from "../command/index.ts";
import { flagMeant, nearest } from "../command/nearest.ts";
import {
  type Config,
  ConfigError,
  type Env,
  HELP_FLAG,
  readConfig,
  SETTING_FLAGS,
  storeAddress,
} from "../config/index.ts";
import { openFound, type Operations } from "../store/operations.ts";
import type { ServerAddress } from "../store/upkeep.ts";
import { visibleLine } from "../base/visible.ts";
import { ACCOUNTS } from "./accounts.ts";
import { inFolder, type OperatorCommand } from "./command.ts";
import { doctor } from "./doctor.ts";
import { audit, REPORTS } from "./reports.ts";
import { sentenceOf } from "./sentences.ts";
import { SITES } from "./sites.ts";
import { status } from "./status.ts";
import { dnsHook, notify, UPKEEP } from "./upkeep.ts";

const COMMANDS: readonly OperatorCommand[] = [
  ...SITES,
  ...REPORTS,
  audit,
  ...ACCOUNTS,
  ...UPKEEP,
  notify,
  status,
  doctor,
  dnsHook,
];
const FIRST_WORDS = ["serve", ...new Set(COMMANDS.map(({ name }) => name.split(" ", 1)[0]!))];

/** Runs a command and resolves to its exit code; null if the words are a call to serve. */
export async function runOperator(argv: readonly string[], env: Env): Promise<number | null> {
  if (isServing(argv)) return null;
  const family = commandsBelow(COMMANDS, argv[0] ?? "");
  const command = commandNamed(COMMANDS, argv);
  if (!command && family.length === 0) throw unknownCommand(argv);
  const help = wantsHelp(argv, command?.flags ?? []);
  if (!help && !command?.name.includes(" ")) refuseNear(family, argv);
  if (command && !help) return run(command, argv, env);
  if (command) process.stdout.write(helpOf(command));
  else if (help) process.stdout.write(`Usage:\n${commandsHelp(family)}`);
  else throw whichOf(family);
  return 0;
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

/** For words that begin no command. `accuont list` is near a command, `accuont` is near the first word of several. */
function unknownCommand([first = "", second = ""]: readonly string[]): ConfigError {
  const names = COMMANDS.map(({ name }) => name);
  const both = second.startsWith("-") ? null : nearest(`${first} ${second}`.trimEnd(), names);
  const guess = both ?? nearest(first, FIRST_WORDS);
  const way = guess === null ? "see svc-server --help." : `did you mean svc-server ${guess}?`;
  return new ConfigError(`There is no command ${first}: ${way}`);
}

/** Refuses a second word that is near to that of one of the family's commands. */
function refuseNear(family: readonly OperatorCommand[], [first = "", second = ""]: readonly string[]): void {
  const names = family.map(({ name }) => name);
  const guess = second === "" || second.startsWith("-") ? null : nearest(`${first} ${second}`, names);
  if (guess) throw new ConfigError(`There is no ${first} ${second}: did you mean svc-server ${guess}?`);
}

const whichOf = (family: readonly OperatorCommand[]): ConfigError =>
  new ConfigError(`Say which: ${family.map(({ name }) => `svc-server ${name}`).join(", ")}.`);

/** Without a base URL and a sites domain in this call, those of the server's last start count. */
const addressVariables = (address: ServerAddress | null): Env =>
  address === null ? {} : { SVC_BASE_URL: address.base_url, SVC_SITES_DOMAIN: address.sites_domain };

/** A state that boxes share needs no data directory here: the command has an empty one for itself. */
async function withFolder<T>({ data_dir, shared }: Config, work: (data_dir: string) => Promise<T>): Promise<T> {
  if (shared === null || existsSync(data_dir)) return work(data_dir);
  return inFolder("command", work);
}

async function run(command: OperatorCommand, argv: readonly string[], env: Env): Promise<number> {
  const { words, settings: flags } = readWords(command, argv.slice(command.name.split(" ").length));
  const config = readConfig(flags, env);
  return withFolder(config, async (data_dir) => {
    let operations: Promise<Operations> | null = null;
    const settings = (address: ServerAddress | null) => readConfig(flags, { ...addressVariables(address), ...env });
    const tell = (sentence: string) => context.note(`upgrade of the database: ${sentence}`);
    const address = { ...storeAddress(config), data_dir };
    const open = () => (operations ??= openFound({ ...address, now: Date.now, tell }));
    const context = {
      open,
      data_dir,
      settings,
      config: async () => settings(await (await open()).serverAddress()),
      print: (text: string) => void process.stdout.write(text),
      note: (text: string) => void process.stderr.write(`${visibleLine(text)}\n`),
    };
    try {
      return (await command.run(context, words.given())) ?? 0;
    } catch (error) {
      throw sentenceOf(error);
    } finally {
      await (operations as Promise<Operations> | null)?.then((opened) => opened.close()).catch(() => {});
    }
  });
}

/** A command's own flags, then the settings: an own flag goes before a setting of the same name. */
const tableOf = (flags: readonly Flag[]): readonly Flag[] => [...flags, HELP_FLAG, ...SETTING_FLAGS];

/** Whether the words ask for the help of the command that has these flags. */
export const wantsHelp = (argv: readonly string[], flags: readonly Flag[]): boolean =>
  hasFlag(argv, tableOf(flags), HELP_FLAG.name);

/** Reads the words behind a command's name, of a call that does not ask for help. `settings` are the flags that
 *  `readConfig` knows. Throws `ConfigError`. */
export function readWords(command: OperatorCommand, argv: readonly string[]): { words: Words; settings: string[] } {
  const words = new Words();
  const settings: string[] = [];
  for (const word of scanArguments(argv, tableOf(command.flags))) {
    if (word.kind === "argument" && word.argument !== "-") words.positionals.push(word.argument);
    else if (word.kind !== "flag" || word.known === undefined) throw unknownFlag(command, word.argument);
    else if (word.known === HELP_FLAG) throw wrongUsage(command, `${word.written} takes no value.`);
    else if (command.flags.includes(word.known)) words.addFlag(word.known.name, valueOf(command, word.known, word));
    else {
      settings.push(word.argument);
      if (word.value !== undefined && !word.inline) settings.push(word.value);
    }
  }
  refuseUnlessComplete(command, words);
  return { words, settings };
}

function valueOf(command: OperatorCommand, flag: Flag, { written, value }: WrittenFlag<Flag>): string | true {
  if (flag.value === undefined) {
    if (value !== undefined) throw wrongUsage(command, `${written} takes no value.`);
    return true;
  }
  if (value === undefined || value.trim() === "") throw wrongUsage(command, `${written} needs a value.`);
  return value;
}

function refuseUnlessComplete(command: OperatorCommand, { positionals, flags }: Words): void {
  const wanted = command.arguments;
  if (positionals.length > wanted.length) {
    throw wrongUsage(command, `${JSON.stringify(positionals[wanted.length])} is one argument too many.`);
  }
  const missing = wanted[positionals.length];
  if (missing?.startsWith("<")) throw wrongUsage(command, `The argument ${missing} is missing.`);
  const flag = command.flags.find(({ required, name }) => required && !flags.has(name));
  if (flag) throw wrongUsage(command, `--${flag.name} is missing.`);
}

function unknownFlag({ name, flags }: OperatorCommand, argument: string): ConfigError {
  const written = argument.split("=", 1)[0]!;
  const names = tableOf(flags).map((flag) => flag.name);
  const way = flagMeant(written, names, `see svc-server ${name} --help.`);
  return new ConfigError(`Unknown argument ${written}: ${way}`);
}

const wrongUsage = (command: OperatorCommand, why: string): ConfigError =>
  new ConfigError(`${why} Usage: svc-server ${usageOf(command)}`);

/** Each word of usage in its order: `disable <site> --reason <text>`. */
function usageOf({ name, arguments: names, flags }: OperatorCommand): string {
  const flagUsage = (flag: Flag) => (flag.required ? flagText(flag) : `[${flagText(flag)}]`);
  return [name, ...names, ...flags.map(flagUsage)].join(" ");
}

/** The list of commands for the main help. */
export const commandsHelp = (commands = COMMANDS): string =>
  columns(
    commands.map((command) => [usageOf(command), command.summary]),
    2,
  )
    .map((line) => `${line}\n`)
    .join("");

/** Commands that do not work on the data directory of a running server. */
const ALONE = ["restore", "move", "dns-hook"];
const BESIDE_SERVER =
  "Works on the data directory (--data-dir, SVC_DATA_DIR), or what SVC_DATABASE_URL and SVC_BLOBS name, also while the server runs.\n";

const helpOf = (command: OperatorCommand): string =>
  `Usage: svc-server ${usageOf(command)} [--data-dir <folder>]

${[`${command.summary[0]!.toUpperCase()}${command.summary.slice(1)}.`, ...command.details].join("\n")}
${ALONE.includes(command.name) ? "" : BESIDE_SERVER}Exit codes: 0 done, 1 failed, 2 wrong usage.
`;
