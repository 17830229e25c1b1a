/** The command line, in one frame for svc and svc-server. A program is a table of commands: the words of a call name one of
 *  them (`commandNamed`), and what is left of the words becomes what that command is given (`Words`). Each program refuses
 *  wrong words in sentences of its own. Runs on Node 18.7+ and Bun alike. */
import type { KnownFlag } from "./arguments.ts";

export interface Flag extends KnownFlag {
  /** The command cannot do without it. */
  required?: true;
}

/** The arguments and flags that a call gives its command. */
export interface CallWords {
  /** The first argument. */
  argument: string | undefined;
  /** All arguments, in order. */
  all: readonly string[];
  /** Whether `--json` was given: the result is printed for a program. */
  json: boolean;
  has(flag: string): boolean;
  /** The last value of a flag. */
  value(flag: string): string | undefined;
  /** Every value of a flag, in order. */
  values(flag: string): readonly string[];
}

export interface Command<Context, Row extends Flag = Flag> {
  /** All its words: `comments token create`. */
  name: string;
  /** Its arguments as the help shows them: `<site>`, `[path]`, or `[<site>…]` for any number. */
  arguments: readonly string[];
  flags: readonly Row[];
  /** One line for the list of commands. */
  summary: string;
  /** Further lines of its own help. */
  details: readonly string[];
  /** Resolves to the exit code if that is not 0. Throws an error whose message is a sentence. */
  run(context: Context, given: CallWords): Promise<number | void>;
}

type NamedCommand = Pick<Command<never>, "name">;

const wordsOf = ({ name }: NamedCommand): string[] => (name === "" ? [] : name.split(" "));

/** The command with the longest name that `words` begin with. */
export function commandNamed<Row extends NamedCommand>(
  commands: readonly Row[],
  words: readonly string[],
): Row | undefined {
  const matches = commands.filter((command) => {
    const own = wordsOf(command);
    return own.length > 0 && own.every((word, i) => word === words[i]);
  });
  return matches.sort((a, b) => wordsOf(b).length - wordsOf(a).length)[0];
}

/** The commands whose names have one word more than `name`: `comments token` has `comments token create`, … */
export const commandsBelow = <Row extends NamedCommand>(commands: readonly Row[], name: string): Row[] =>
  commands.filter(
    (command) => command.name.startsWith(`${name} `) && !command.name.slice(name.length + 1).includes(" "),
  );

/** The words of a call behind the command's name, as they are read. A flag that takes no value is kept with an empty list. */
export class Words {
  readonly positionals: string[] = [];
  readonly flags = new Map<string, string[]>();

  addFlag(name: string, value: string | true): void {
    this.flags.set(name, [...(this.flags.get(name) ?? []), ...(value === true ? [] : [value])]);
  }

  given(): CallWords {
    const { positionals, flags } = this;
    return {
      argument: positionals[0],
      all: positionals,
      json: flags.has("json"),
      has: (flag) => flags.has(flag),
      value: (flag) => flags.get(flag)?.at(-1),
      values: (flag) => flags.get(flag) ?? [],
    };
  }
}

/** A flag as the help shows it: `--site <id>`. */
export const flagText = ({ name, value }: KnownFlag): string => `--${name}${value === undefined ? "" : ` <${value}>`}`;

/** Two columns, indented by two spaces, with `gap` spaces behind the longest cell of the left one. */
export function columns(rows: readonly (readonly [left: string, right: string])[], gap: number): string[] {
  const width = Math.max(...rows.map(([left]) => left.length)) + gap;
  return rows.map(([left, right]) => `  ${left.padEnd(width)}${right}`);
}
