/** The words after a subcommand: its own arguments and options; all other flags are settings of the server. */
import { hasFlag, type KnownFlag, scanArguments, type WrittenFlag } from "../base/arguments.ts";
import { flagMeant } from "../base/nearest.ts";
import { ConfigError, HELP_FLAG, SETTING_FLAGS } from "../config/index.ts";
import type { Command } from "./command.ts";

interface Words {
  arguments: string[];
  options: Map<string, string>;
  switches: Set<string>;
  /** Flags for `readConfig`, which knows them. */
  settings: string[];
}

/** Each word of usage in its order: `disable <site> --reason <text>`. */
export function usageOf({ name, arguments: names, options, optional }: Command): string {
  const usageOfOption = ([flag, value]: [string, string | null]) => {
    const whole = value === null ? flag : `${flag} <${value}>`;
    return value === null || optional?.includes(flag) ? `[${whole}]` : whole;
  };
  return [name, ...names.map((argument) => `<${argument}>`), ...Object.entries(options).map(usageOfOption)].join(" ");
}

function unknownFlag({ name, options }: Command, argument: string): ConfigError {
  const written = argument.split("=", 1)[0]!;
  const names = tableOf(options).map((flag) => flag.name);
  const way = flagMeant(written, names, `see svc-server ${name} --help.`);
  return new ConfigError(`Unknown argument ${written}: ${way}`);
}
const wrongUsage = (command: Command, why: string): ConfigError =>
  new ConfigError(`${why} Usage: svc-server ${usageOf(command)}`);

/** A command's own options, then the settings: an option goes before a setting of the same name. */
const tableOf = (options: Command["options"]): KnownFlag[] => [
  ...Object.entries(options).map(([flag, value]) => ({ name: flag.slice(2), ...(value !== null && { value }) })),
  HELP_FLAG,
  ...SETTING_FLAGS,
];

/** `options`: those of the command that was named. */
export const wantsHelp = (argv: readonly string[], options: Command["options"]): boolean =>
  hasFlag(argv, tableOf(options), HELP_FLAG.name);

function addOption(words: Words, command: Command, { written, value }: WrittenFlag<KnownFlag>): void {
  if (command.options[written] === null) {
    if (value !== undefined) throw wrongUsage(command, `${written} takes no value.`);
    words.switches.add(written);
  } else {
    if (value === undefined || value.trim() === "") throw wrongUsage(command, `${written} needs a value.`);
    words.options.set(written, value);
  }
}

/** For a call that does not want help. Throws `ConfigError`: exit code 2. */
export function readWords(command: Command, argv: readonly string[]): Words {
  const words: Words = { arguments: [], options: new Map(), switches: new Set(), settings: [] };
  for (const word of scanArguments(argv, tableOf(command.options))) {
    if (word.kind === "argument" && word.argument !== "-") words.arguments.push(word.argument);
    else if (word.kind !== "flag" || word.known === undefined) throw unknownFlag(command, word.argument);
    else if (word.known === HELP_FLAG) throw wrongUsage(command, `${word.written} takes no value.`);
    else if (Object.hasOwn(command.options, word.written)) addOption(words, command, word);
    else {
      words.settings.push(word.argument);
      if (word.value !== undefined && !word.inline) words.settings.push(word.value);
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
    if (value !== null && !command.optional?.includes(flag) && !words.options.has(flag))
      throw wrongUsage(command, `${flag} is missing.`);
  }
}
