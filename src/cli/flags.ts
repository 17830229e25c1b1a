/** Arguments by a table of flags. */
import { scanArguments, type KnownFlag, type WrittenFlag } from "../base/arguments.ts";
import { usage } from "./failure.ts";

export interface Flag extends KnownFlag {
  help: string;
}

export interface Parsed {
  positionals: string[];
  /** How many positionals stand before a `--`: only those can name a command. */
  beforeDashes: number;
  /** The value of each flag that was given, true for one that takes none. */
  flags: Map<string, string | true>;
  /** Every value of a flag, in order: some may be given more than once. */
  values: Map<string, string[]>;
  /** Flags that the table does not have, as they were written. */
  unknown: string[];
}

/** What a flag is given, true where it takes no value. A value that begins with a dash stands behind
 *  `=`, else the flag before it was left without one. */
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

function take({ flags, values }: Parsed, name: string, value: string | true): void {
  flags.set(name, value);
  if (value !== true) values.set(name, [...(values.get(name) ?? []), value]);
}

export function parseArguments(args: readonly string[], table: readonly Flag[]): Parsed {
  const parsed: Parsed = { positionals: [], beforeDashes: 0, flags: new Map(), values: new Map(), unknown: [] };
  for (const word of scanArguments(args, table)) {
    if (word.kind === "argument") {
      parsed.positionals.push(word.argument);
      if (!word.behindDashes) parsed.beforeDashes++;
    } else if (word.kind === "flag") {
      if (word.known === undefined) parsed.unknown.push(word.written);
      else take(parsed, word.known.name, valueOf(word.known, word));
    }
  }
  return parsed;
}
