/** The command line `svc`, from the words that were typed to a command that runs. From the words on the command line to
 *  a command and what it is given; and what to type instead of a word that was meant as a command and is none (CONTRACT
 *  8). */
import { existsSync, readdirSync } from "node:fs";
import { quoted } from "../client/build-dir.ts";
import { scanArguments, type WrittenFlag } from "../command/arguments.ts";
import { commandNamed, commandsBelow, type CallWords, Words } from "../command/index.ts";
import { nearest } from "../command/nearest.ts";
import { COMMON_FLAGS, isGroup, type Command, type Flag } from "./command.ts";
import { Failure, usage } from "./failure.ts";
import { svc } from "./invocation.ts";

interface CommandCall {
  command: Command;
  given: CallWords;
}

/** The first argument that is no flag names the command; any other word belongs to the first row of the table. */
export function readCall(args: readonly string[], commands: readonly Command[]): CommandCall {
  const line = readLine(args, commands.flatMap(flagsOf));
  const { positionals } = line.words;
  const typedWord = line.beforeDashes > 0 ? positionals[0] : undefined;
  if (typedWord === "help") return helpCall(line, commands);
  const word = typedWord === undefined ? undefined : translated(typedWord, positionals);
  if (word === "") {
    refuseCommandAsPath(positionals[0], commands);
    return { command: commands[0]!, given: givenTo(commands[0]!, line, commands) };
  }
  const isNamed = word !== undefined && namesOf(commands).includes(word);
  if (word !== undefined && !isNamed) refuseMistaken(typedFrom(args, word), commands);
  const command = isNamed ? takeCommand(line, commands) : commands[0]!;
  return { command, given: givenTo(command, line, commands) };
}

/** Words of other tools that do what they do there: `svc ls`, `svc rm <site>`, `svc deploy <folder>`. */
const ALIASES: Readonly<Record<string, string>> = { ls: "list", rm: "delete", deploy: "" };

/** Puts the command's own word in the place of an alias; the deploy has none. A file or folder of that name that stands alone may be meant
 *  as well: to guess would publish it. */
function translated(word: string, positionals: string[], here = existsSync): string {
  if (!Object.hasOwn(ALIASES, word)) return word;
  if (here(word) && positionals.length === 1) {
    throw usage(
      `${word} is a file or folder here, and a command: ${typed(`./${word}`, [])} deploys it, ${typed(ALIASES[word]!, [])} does the other.`,
    );
  }
  const name = ALIASES[word]!;
  positionals.splice(0, 1, ...(name === "" ? [] : [name]));
  return name;
}

/** `svc deploy update`, where no file or folder has that name. */
function refuseCommandAsPath(path: string | undefined, commands: readonly Command[]): void {
  if (path === undefined || !namesOf(commands).includes(path) || existsSync(path)) return;
  throw usage(`There is no file or folder ${path} here to deploy. Did you mean ${typed(path, [])}?`);
}

/** `svc help <command>` is `svc <command> --help`. */
function helpCall(line: ParsedLine, commands: readonly Command[]): CommandCall {
  const { words } = line;
  words.positionals.shift();
  words.addFlag("help", true);
  const [typedWord] = words.positionals;
  const word = typedWord === undefined ? "" : translated(typedWord, words.positionals, () => false);
  if (word !== "" && !namesOf(commands).includes(word)) throw noHelpOn(word, commands);
  const command = word === "" ? commands[0]! : takeCommand(line, commands);
  words.positionals.length = 0;
  return { command, given: givenTo(command, line, commands) };
}

/** The rows whose names are one word: those of `svc help`. The first of them has no name. */
export const topCommands = (commands: readonly Command[]): Command[] =>
  commands.filter(({ name }) => !name.includes(" "));

const namesOf = (commands: readonly Command[]): string[] =>
  topCommands(commands)
    .slice(1)
    .map(({ name }) => name);

/** Takes the words of the command's name away. */
function takeCommand({ words: { positionals, flags } }: ParsedLine, commands: readonly Command[]): Command {
  const command = commandNamed(commands, positionals)!;
  positionals.splice(0, command.name.split(" ").length);
  const [word] = positionals;
  // `svc versions` is a command itself, beside `svc versions delete`.
  if (!isGroup(command) || (word === undefined && flags.has("help"))) return command;
  throw noSuchCommand(command, commandsBelow(commands, command.name), word);
}

function noSuchCommand(above: Command, below: readonly Command[], word: string | undefined): Error {
  const known = below.map(({ name }) => name.split(" ").at(-1)!);
  if (word === undefined) return usage(`${callOf(above)} wants to know what to do: ${known.join(", ")}.`);
  const guess = nearest(word, known);
  const way = guess === null ? `See ${callOf(above)} --help.` : `Did you mean ${callOf(above)} ${guess}?`;
  return usage(`There is no ${callOf(above)} ${word}. ${way}`);
}

interface ParsedLine {
  words: Words;
  /** How many positionals come before a `--`: only those can name a command. */
  beforeDashes: number;
  /** Flags that the table does not have, as they were written. */
  unknown: string[];
}

/** Reads all words of a call by a table of flags. */
export function readLine(args: readonly string[], table: readonly Flag[]): ParsedLine {
  const line: ParsedLine = { words: new Words(), beforeDashes: 0, unknown: [] };
  for (const word of scanArguments(args, table)) {
    if (word.kind === "argument") {
      line.words.positionals.push(word.argument);
      if (!word.behindDashes) line.beforeDashes++;
    } else if (word.kind === "flag") {
      if (word.known === undefined) line.unknown.push(word.written);
      else line.words.addFlag(word.known.name, valueOf(word.known, word));
    }
  }
  return line;
}

/** The value of a flag; true for a flag that takes none. A value that begins with a dash must follow `=`: else the flag
 *  before it was left without one. */
function valueOf({ name, value: wanted }: Flag, { written, value, inline }: WrittenFlag<Flag>): string | true {
  if (wanted === undefined) {
    if (value !== undefined) throw usage(`${written} takes no value.`);
    return true;
  }
  if (value === undefined || (!inline && value.startsWith("-"))) {
    throw usage(`--${name} needs a value: --${name} <${wanted}>`);
  }
  if (value === "") throw usage(`--${name} was given an empty value.`);
  return value;
}

const callOf = ({ name }: Pick<Command, "name">): string => svc(name);

const flagsOf = (command: Command): Flag[] => [...command.flags, ...COMMON_FLAGS];

function givenTo(command: Command, { words, unknown }: ParsedLine, commands: readonly Command[]): CallWords {
  const foreign = [...words.flags.keys()].find((name) => !flagsOf(command).some((flag) => flag.name === name));
  const stranger = unknown[0] ?? (foreign === undefined ? undefined : `--${foreign}`);
  if (stranger !== undefined) throw unknownFlag(stranger, command, commands);
  const call = callOf(command);
  const { positionals } = words;
  const [argument] = command.arguments;
  if (positionals.length > 0 && argument === undefined) {
    throw usage(`${call} takes no argument, and ${positionals[0]} is one. See ${call} --help.`);
  }
  const most = command.arguments.length;
  if (positionals.length > most && !/…\]?$/.test(argument ?? "")) {
    const taken = most === 1 ? "one argument" : `${most} arguments`;
    throw usage(`${call} takes ${taken}, not ${positionals.length}. See ${call} --help.`);
  }
  return words.given();
}

function unknownFlag(written: string, command: Command, commands: readonly Command[]): Error {
  const known = flagsOf(command).flatMap(({ name, short }) => [
    `--${name}`,
    ...(short === undefined ? [] : [`-${short}`]),
  ]);
  const guess = nearest(written, known);
  const owners = topCommands(commands).filter((top) =>
    commands.some((one) => isWithin(one, top) && flagsOf(one).some(({ name }) => `--${name}` === written)),
  );
  const elsewhere =
    owners.length > 0 ? `It belongs to ${owners.map(callOf).join(", ")}.` : `See ${callOf(command)} --help.`;
  return usage(`Unknown flag ${written}. ${guess === null ? elsewhere : `Did you mean ${guess}?`}`);
}

const isWithin = ({ name }: Command, top: Command): boolean => name === top.name || name.startsWith(`${top.name} `);

/** These flags change how an answer looks, not what was asked. */
const OUTPUT_FLAG = /^(--json|--quiet|-q)$/;

/** The words that were typed, from the first argument that is no flag. */
function typedFrom(args: readonly string[], first: string): string[] {
  const [word, ...rest] = args.slice(args.indexOf(first));
  return rest.every((other) => OUTPUT_FLAG.test(other)) ? [word!] : [word!, ...rest];
}

/** Words of other tools, and what they are here. The deploy has no word, so it is an empty one. */
const FOREIGN: Readonly<Record<string, string>> = {
  ...ALIASES,
  publish: "",
  init: "",
  sites: "list",
  status: "versions",
  remove: "delete",
  teardown: "delete",
};

/** A short foreign word would be near to any short word. */
const LONG_FOREIGN = Object.keys(FOREIGN).filter((word) => word.length > 4);

const typed = (command: string, rest: readonly string[]): string =>
  svc([command, ...rest.map(quoted)].filter(Boolean).join(" "));

const isForeign = (word: string): boolean => Object.hasOwn(FOREIGN, word);

/** Names the command that a foreign word means, and says what it does. */
function foreignSentence(word: string, rest: readonly string[]): string {
  const command = FOREIGN[word]!;
  const deploys = command === "" ? `: ${svc("<path>")} deploys` : "";
  return `There is no svc command ${word}${deploys}. Run: ${typed(command, rest)}`;
}

/** The first names are enough in a folder with very many. */
const MOST_NAMES = 1000;

function namesHere(): string[] {
  try {
    return readdirSync(".").slice(0, MOST_NAMES);
  } catch {
    return [];
  }
}

/** The call of a command, or of a file or folder here, that is near to `word`; null if none is. */
function meantBy(word: string, rest: readonly string[], commands: readonly Command[]): string | null {
  const names = ["help", ...namesOf(commands)];
  const guess = nearest(word, [...names, ...LONG_FOREIGN, ...namesHere()]);
  if (guess === null) return null;
  if (names.includes(guess)) return typed(guess, rest);
  return LONG_FOREIGN.includes(guess) ? typed(FOREIGN[guess]!, rest) : typed(quoted(guess), rest);
}

/** Refuses a first word that is neither a command nor a file. `words` are all that was typed from it on, flags too. */
function refuseMistaken(words: readonly string[], commands: readonly Command[]): void {
  const [word = "", ...rest] = words;
  if (!/^[\w-]+$/.test(word) || existsSync(word)) return;
  if (isForeign(word)) throw usage(foreignSentence(word, rest));
  const meant = meantBy(word, rest, commands);
  const hint =
    meant === null
      ? `${svc("help")} lists the commands.`
      : meant === svc()
        ? `To deploy a folder: ${svc("<folder>")}`
        : `Did you mean ${meant}?`;
  if (rest.length === 0) throw new Failure("not_found", `There is no file or folder ${word}. ${hint}`);
  if (meant !== null) throw usage(`There is no svc command ${word}. ${hint}`);
}

function noHelpOn(word: string, commands: readonly Command[]): Error {
  if (isForeign(word)) return usage(foreignSentence(word, []));
  const guess = nearest(word, namesOf(commands));
  const way = guess === null ? `See ${svc("--help")}.` : `Did you mean ${svc(`help ${guess}`)}?`;
  return usage(`There is no svc command ${word}. ${way}`);
}
