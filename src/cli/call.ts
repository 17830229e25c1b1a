/** From the words on the command line to a command and what it is given. */
import { COMMON_FLAGS, type Command, type Given } from "./command.ts";
import { usage } from "./failure.ts";
import { parseArguments, type Flag, type Parsed } from "./flags.ts";
import { svc } from "./invocation.ts";
import { noHelpOn, refuseMistaken } from "./mistaken.ts";
import { nearest } from "../base/nearest.ts";

interface CommandCall {
  command: Command;
  given: Given;
}

const flagsOf = (command: Command): Flag[] => [...command.flags, ...COMMON_FLAGS];

/** With those of all commands below it. */
const allFlagsOf = (command: Command): Flag[] => [...flagsOf(command), ...(command.under ?? []).flatMap(allFlagsOf)];

const callOf = ({ name }: Command): string => svc(name);

function unknownFlag(written: string, command: Command, commands: readonly Command[]): Error {
  const table = flagsOf(command);
  const known = table.flatMap(({ name, short }) => [`--${name}`, ...(short === undefined ? [] : [`-${short}`])]);
  const guess = nearest(written, known);
  const owners = commands.filter((other) => allFlagsOf(other).some(({ name }) => `--${name}` === written)).map(callOf);
  const elsewhere = owners.length > 0 ? `It belongs to ${owners.join(", ")}.` : `See ${callOf(command)} --help.`;
  return usage(`Unknown flag ${written}. ${guess === null ? elsewhere : `Did you mean ${guess}?`}`);
}

const valued = (value: string | true | undefined): string | undefined => (value === true ? undefined : value);

function givenTo(
  command: Command,
  { positionals, flags, values, unknown }: Parsed,
  commands: readonly Command[],
): Given {
  const foreign = [...flags.keys()].find((name) => !flagsOf(command).some((flag) => flag.name === name));
  const stranger = unknown[0] ?? (foreign === undefined ? undefined : `--${foreign}`);
  if (stranger !== undefined) throw unknownFlag(stranger, command, commands);
  const call = callOf(command);
  if (positionals.length > 0 && command.argument === null) {
    throw usage(`${call} takes no argument, and ${positionals[0]} is one. See ${call} --help.`);
  }
  if (positionals.length > 1 && !command.takesMany) {
    throw usage(`${call} takes one argument, not ${positionals.length}. See ${call} --help.`);
  }
  return {
    argument: positionals[0],
    all: positionals,
    json: flags.has("json"),
    quiet: flags.has("quiet"),
    has: (flag) => flags.has(flag),
    value: (flag) => valued(flags.get(flag)),
    values: (flag) => values.get(flag) ?? [],
  };
}

const lastWord = ({ name }: Command): string => name.split(" ").at(-1)!;

function noSuchCommand(above: Command, word: string | undefined): Error {
  const known = above.under!.map(lastWord);
  if (word === undefined) return usage(`${callOf(above)} wants to know what to do: ${known.join(", ")}.`);
  const guess = nearest(word, known);
  const way = guess === null ? `See ${callOf(above)} --help.` : `Did you mean ${callOf(above)} ${guess}?`;
  return usage(`There is no ${callOf(above)} ${word}. ${way}`);
}

/** The command that the next words name, below one that leads to it. Takes the words away. */
function below(above: Command, { positionals, flags }: Parsed): Command {
  for (let command = above; ;) {
    if (command.under === undefined) return command;
    const [word] = positionals;
    const next = command.under.find((one) => lastWord(one) === word);
    if (next === undefined) {
      if (word === undefined && flags.has("help")) return command;
      throw noSuchCommand(command, word);
    }
    positionals.shift();
    command = next;
  }
}

/** These change how an answer looks, not what was asked. */
const OF_OUTPUT = /^(--json|--quiet|-q)$/;

/** What was typed from the first argument that is no flag on. */
function typedFrom(args: readonly string[], first: string): string[] {
  const [word, ...rest] = args.slice(args.indexOf(first));
  return rest.every((other) => OF_OUTPUT.test(other)) ? [word!] : [word!, ...rest];
}

/** `svc help <command>` is `svc <command> --help`. */
function helpCall(parsed: Parsed, commands: readonly Command[]): CommandCall {
  const [, word] = parsed.positionals.splice(0, 2);
  const command = word === undefined ? commands[0]! : commands.slice(1).find(({ name }) => name === word);
  if (command === undefined) throw noHelpOn(word!, commands);
  parsed.flags.set("help", true);
  const shown = below(command, parsed);
  return { command: shown, given: givenTo(shown, { ...parsed, positionals: [] }, commands) };
}

/** The first argument that is no flag names the command; any other word belongs to the first row of the table. */
export function readCall(args: readonly string[], commands: readonly Command[]): CommandCall {
  const parsed = parseArguments(args, commands.flatMap(allFlagsOf));
  const [unnamed, ...others] = commands as readonly [Command, ...Command[]];
  const word = parsed.beforeDashes > 0 ? parsed.positionals[0] : undefined;
  if (word === "help") return helpCall(parsed, commands);
  const named = others.find(({ name }) => name === word);
  if (named !== undefined) parsed.positionals.shift();
  else if (word !== undefined) refuseMistaken(typedFrom(args, word), commands);
  const command = named === undefined ? unnamed : below(named, parsed);
  return { command, given: givenTo(command, parsed, commands) };
}
