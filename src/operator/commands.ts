/** The subcommands of svc-server that work on the data directory, also while the server runs (CONTRACT 7). */
import { ConfigError, type Env, readConfig } from "../config/index.ts";
import { openOperations, type Operations } from "../store/operations.ts";
import { visibleLine } from "../visible.ts";
import { ACCOUNTS } from "./accounts.ts";
import { readWords, usageOf, wantsHelp } from "./arguments.ts";
import type { Command } from "./command.ts";
import { sentenceOf } from "./sentences.ts";
import { LISTINGS } from "./listings.ts";
import { TAKEDOWN } from "./takedown.ts";
import { UPKEEP } from "./upkeep.ts";

const COMMANDS: readonly Command[] = [
  ...LISTINGS.slice(0, 1),
  ...TAKEDOWN,
  ...LISTINGS.slice(1),
  ...ACCOUNTS,
  ...UPKEEP,
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
function commandNamed([first = "", second = ""]: readonly string[]): Command | null {
  return COMMANDS.find(({ name }) => name === first || name === `${first} ${second}`) ?? null;
}

/** Where this call is given no base URL and no sites domain, those of the server's last start count. */
async function addressVariables(operations: Operations): Promise<Env> {
  const address = await operations.serverAddress();
  return address === null ? {} : { SVC_BASE_URL: address.base_url, SVC_SITES_DOMAIN: address.sites_domain };
}

async function run(command: Command, argv: readonly string[], env: Env): Promise<number> {
  const { settings, ...words } = readWords(command, argv.slice(command.name.split(" ").length));
  const { data_dir } = readConfig(settings, env);
  let operations: Operations | null = null;
  const open = () => (operations ??= openOperations({ data_dir, now: Date.now }));
  try {
    return await command.run({
      ...words,
      open,
      data_dir,
      config: async () => readConfig(settings, { ...(await addressVariables(open())), ...env }),
      print: (text) => void process.stdout.write(text),
      note: (text) => void process.stderr.write(`${visibleLine(text)}\n`),
    });
  } catch (error) {
    throw sentenceOf(error);
  } finally {
    (operations as Operations | null)?.close();
  }
}

/** Runs a subcommand and resolves to its exit code; null where the words are none. */
export async function runOperator(argv: readonly string[], env: Env): Promise<number | null> {
  const family = COMMANDS.filter(({ name }) => name.startsWith(`${argv[0]} `));
  const command = commandNamed(argv);
  if (!command && family.length === 0) return null;
  const help = wantsHelp(argv, command?.options ?? {});
  if (command && !help) return run(command, argv, env);
  if (command) process.stdout.write(helpOf(command));
  else if (help) process.stdout.write(`Usage:\n${commandsHelp(family)}`);
  else throw new ConfigError(`Say which: ${family.map(({ name }) => `svc-server ${name}`).join(", ")}.`);
  return 0;
}
