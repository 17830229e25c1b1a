/** Arguments by a table of flags. */
import { usage } from "./failure.ts";

export interface Flag {
  /** Without the dashes. */
  name: string;
  short?: string;
  /** What its value is called in the help; a flag without is on or off. */
  value?: string;
  help: string;
}

export interface Parsed {
  positionals: string[];
  /** How many positionals stand before a `--`: only those can name a command. */
  beforeDashes: number;
  /** The value of each flag that was given; the empty string for those that have none. */
  flags: Map<string, string>;
  /** Flags that the table does not have, as they were written. */
  unknown: string[];
}

interface Cursor {
  args: readonly string[];
  at: number;
}

function longFlag(cursor: Cursor, arg: string, table: readonly Flag[], parsed: Parsed): void {
  const equals = arg.indexOf("=");
  const written = equals === -1 ? arg : arg.slice(0, equals);
  const flag = table.find(({ name }) => `--${name}` === written);
  if (flag === undefined) return void parsed.unknown.push(written);
  if (flag.value === undefined) {
    if (equals !== -1) throw usage(`${written} takes no value.`);
    return void parsed.flags.set(flag.name, "");
  }
  parsed.flags.set(flag.name, equals === -1 ? nextValue(cursor, flag) : given(arg.slice(equals + 1), flag));
}

function shortFlags(cursor: Cursor, arg: string, table: readonly Flag[], parsed: Parsed): void {
  for (const letter of arg.slice(1)) {
    const flag = table.find(({ short }) => short === letter);
    if (flag === undefined) parsed.unknown.push(arg.length === 2 ? arg : `-${letter}`);
    else parsed.flags.set(flag.name, flag.value === undefined ? "" : nextValue(cursor, flag));
  }
}

function nextValue(cursor: Cursor, flag: Flag): string {
  const next = cursor.args[cursor.at];
  if (next === undefined || next.startsWith("-"))
    throw usage(`--${flag.name} needs a value: --${flag.name} <${flag.value}>`);
  cursor.at++;
  return given(next, flag);
}

function given(value: string, flag: Flag): string {
  if (value === "") throw usage(`--${flag.name} was given an empty value.`);
  return value;
}

export function parseArguments(args: readonly string[], table: readonly Flag[]): Parsed {
  const parsed: Parsed = { positionals: [], beforeDashes: 0, flags: new Map(), unknown: [] };
  const cursor: Cursor = { args, at: 0 };
  while (cursor.at < args.length) {
    const arg = args[cursor.at++]!;
    if (arg === "--") {
      parsed.beforeDashes = parsed.positionals.length;
      parsed.positionals.push(...args.slice(cursor.at));
      return parsed;
    }
    if (arg.startsWith("--")) longFlag(cursor, arg, table, parsed);
    else if (arg.startsWith("-") && arg !== "-") shortFlags(cursor, arg, table, parsed);
    else parsed.positionals.push(arg);
  }
  parsed.beforeDashes = parsed.positionals.length;
  return parsed;
}
