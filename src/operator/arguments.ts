/** The words after a subcommand: its own arguments and options; all other flags are settings of the server. */
import { ConfigError } from "../config/index.ts";
import { SETTINGS } from "../config/settings.ts";
import type { Command } from "./command.ts";

interface Words {
  arguments: string[];
  options: Map<string, string>;
  /** Flags for `readConfig`, which knows them. */
  settings: string[];
}

/** Each word of usage in its order: `disable <site> --reason <text>`. */
export const usageOf = ({ name, arguments: names, options }: Command): string =>
  [
    name,
    ...names.map((argument) => `<${argument}>`),
    ...Object.entries(options).map(([flag, value]) => (value === null ? `[${flag}]` : `${flag} <${value}>`)),
  ].join(" ");

const SETTING_FLAGS = new Set(Object.values(SETTINGS).map((row) => row.flag));

const unknownFlag = ({ name }: Command, flag: string): ConfigError =>
  new ConfigError(`Unknown argument ${flag}: see svc-server ${name} --help.`);
const wrongUsage = (command: Command, why: string): ConfigError =>
  new ConfigError(`${why} Usage: svc-server ${usageOf(command)}`);

/** Throws `ConfigError`: exit code 2. */
export function readWords(command: Command, argv: readonly string[]): Words {
  const words: Words = { arguments: [], options: new Map(), settings: [] };
  for (let i = 0; i < argv.length; i++) {
    const [flag = "", ...rest] = argv[i]!.split("=");
    if (!flag.startsWith("-")) words.arguments.push(argv[i]!);
    else if (!Object.hasOwn(command.options, flag)) {
      if (!SETTING_FLAGS.has(flag)) throw unknownFlag(command, flag);
      words.settings.push(argv[i]!);
      if (rest.length === 0 && i + 1 < argv.length) words.settings.push(argv[++i]!);
    } else if (command.options[flag] === null) {
      if (rest.length > 0) throw wrongUsage(command, `${flag} takes no value.`);
      words.options.set(flag, "");
    } else {
      const value = rest.length > 0 ? rest.join("=") : argv[++i];
      if (value === undefined || value.trim() === "") throw wrongUsage(command, `${flag} needs a value.`);
      words.options.set(flag, value);
    }
  }
  refuseUnlessComplete(command, words);
  return words;
}

function refuseUnlessComplete(command: Command, words: Words): void {
  const names = command.arguments;
  if (words.arguments.length > names.length) {
    throw wrongUsage(command, `${JSON.stringify(words.arguments[names.length])} is one argument too many.`);
  }
  const missing = names[words.arguments.length];
  if (missing !== undefined) throw wrongUsage(command, `The argument <${missing}> is missing.`);
  for (const [flag, value] of Object.entries(command.options)) {
    if (value !== null && !words.options.has(flag)) throw wrongUsage(command, `${flag} is missing.`);
  }
}
