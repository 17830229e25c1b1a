/** Splits a command line into arguments and flags, in one way for svc, svc-server and its commands. What the words mean, and
 *  the sentence if they mean nothing, is each program's own. Runs on Node 18.7+ and Bun alike. */
import { parseArgs } from "node:util";

export interface KnownFlag {
  /** Without the dashes. */
  name: string;
  /** One letter, for a flag that takes no value. */
  short?: string;
  /** The name of its value in the help; a flag without one is on or off. */
  value?: string;
}

/** A flag as it was written, whether it is known or not. */
export interface WrittenFlag<Known extends KnownFlag> {
  kind: "flag";
  /** The row of the flag; undefined if the table does not have it. */
  known: Known | undefined;
  /** `--site` of `--site=x`, `-q` of `-qv`. */
  written: string;
  /** The argument that it is part of. */
  argument: string;
  /** The text behind `=`, or for a flag that takes a value the next argument, whatever that is. */
  value: string | undefined;
  /** Whether the value was written behind `=`. */
  inline: boolean;
}

type Word<Known extends KnownFlag> =
  | { kind: "argument"; argument: string; behindDashes: boolean }
  /** `--`: no word behind it is a flag. */
  | { kind: "dashes"; argument: string }
  | WrittenFlag<Known>;

/** If two rows have one name, the first counts. */
function optionsOf(table: readonly KnownFlag[]) {
  const options: Record<string, { type: "string" | "boolean" }> = Object.create(null);
  for (const { name, value } of table) options[name] ??= { type: value === undefined ? "boolean" : "string" };
  return options;
}

const isLetters = (argument: string): boolean => /^-[^-]/.test(argument);

/** Each letter of `-qv`. */
function* lettersOf<Known extends KnownFlag>(argument: string, table: readonly Known[]): Generator<WrittenFlag<Known>> {
  for (const letter of argument.slice(1)) {
    const known = table.find(({ short }) => short === letter);
    yield { kind: "flag", known, written: `-${letter}`, argument, value: undefined, inline: false };
  }
}

/** The words in their order. A flag that is given twice comes twice. */
export function* scanArguments<Known extends KnownFlag>(
  args: readonly string[],
  table: readonly Known[],
): Generator<Word<Known>> {
  // Letters go in as one: Node and Bun split `-q-x`, and characters beyond the first 65,536, in different ways.
  const masked = args.map((argument) => (isLetters(argument) ? "-?" : argument));
  const options = optionsOf(table);
  const { tokens } = parseArgs({ args: masked, options, tokens: true, strict: false, allowPositionals: true });
  let behindDashes = false;
  for (const token of tokens) {
    const argument = args[token.index]!;
    if (token.kind === "option-terminator") {
      behindDashes = true;
      yield { kind: "dashes", argument };
    } else if (token.kind === "positional") yield { kind: "argument", argument, behindDashes };
    else if (isLetters(argument)) yield* lettersOf(argument, table);
    else {
      const known = table.find(({ name }) => name === token.name);
      const inline = token.inlineValue === true;
      const value = inline || token.value === undefined ? token.value : args[token.index + 1];
      yield { kind: "flag", known, written: argument.split("=", 1)[0]!, argument, value, inline };
    }
  }
}

/** Whether the flag was given without a value: neither as the value of another flag nor behind `--`. */
export const hasFlag = (args: readonly string[], table: readonly KnownFlag[], name: string): boolean =>
  [...scanArguments(args, table)].some(
    (word) => word.kind === "flag" && word.known?.name === name && word.value === undefined,
  );
