/** The two streams of the CLI: the result goes to stdout, everything for a person goes to stderr. */
import { writeSync } from "node:fs";
import { isatty } from "node:tty";
import { codeOf } from "../failure.ts";
import { sleepSync } from "../sleep-sync.ts";
import { noSpinner, startSpinner, type Spinner } from "./spinner.ts";
import { visibleJson, visibleLine } from "../../base/visible.ts";
import { bold, cyan, text, type Text } from "./text.ts";

export type Env = Readonly<Record<string, string | undefined>>;

export interface Terminal {
  /** A line on stderr for a person; nothing with `-q`. */
  say(line?: Text): void;
  /** A line on stderr that is shown with `-q` too. */
  insist(line: Text): void;
  /** A line of the result. */
  result(line: string): void;
  /** The site's URL, the result of most commands: easy to find on a terminal, bare in a pipe. */
  url(url: string): void;
  json(value: unknown): void;
  /** Shows that work is going on, if stdout and stderr are a terminal. */
  spinner(label: string): Spinner;
  /** Replaces the lines drawn before by these and leaves the cursor behind the last one. No lines: only removes. */
  draw(lines: readonly Text[]): void;
  /** Whether there is a person who reads and types. */
  readonly interactive: boolean;
  /** Whether a person reads stderr in a window of this many columns; null in a pipe or a file. */
  readonly columns: number | null;
  /** Whether a person reads stdout. */
  readonly resultIsRead: boolean;
  /** Sets the sentence for a person who stops the program from now on; null for none. */
  ifStopped(words: string | null): void;
  /** Leaves the terminal as it was found. */
  restore(): void;
  /** The same after the program was stopped from outside. */
  stopped(): void;
}

/** FORCE_COLOR and NO_COLOR as most programs read them: the first one that is set decides. */
function wantsColor(env: Env, isTerminal: boolean): boolean {
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined && forced !== "") return forced !== "0" && forced !== "false";
  return isTerminal && !env["NO_COLOR"] && env["TERM"] !== "dumb";
}

/** A reader that went away (`svc versions | head -1`) is no failure. */
function write(descriptor: 1 | 2, line: string): void {
  for (let rest = Buffer.from(line); rest.length > 0;) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      if (codeOf(error) !== "EAGAIN") return;
      sleepSync(5);
    }
  }
}

/** The last sentence of a program that is stopped. The line with the terminal's `^C` is wiped. */
function farewell(isTerminal: boolean, say: (line: Text) => void, restore: () => void) {
  let words: string | null = null;
  return {
    ifStopped: (next: string | null) => void (words = next),
    stopped: () => {
      if (isTerminal) write(2, "\r\x1b[2K");
      if (words !== null) say(text`  ${words}`);
      restore();
    },
  };
}

export function openTerminal(env: Env, options: { json: boolean; quiet: boolean }): Terminal {
  // Not asked of the streams: that would make them, which takes as long as half of the start.
  const [outIsTerminal, errIsTerminal] = [isatty(1), isatty(2)];
  const [outColors, errColors] = [outIsTerminal && wantsColor(env, true), wantsColor(env, errIsTerminal)];
  const quiet = options.quiet && !options.json;
  const animated = outIsTerminal && errIsTerminal && !quiet && !options.json && env["TERM"] !== "dumb";
  const columns = errIsTerminal ? Math.max(40, Math.min(process.stderr.columns || 80, 100)) : null;
  const interactive = errIsTerminal && isatty(0) && !quiet && !options.json && env["TERM"] !== "dumb";
  let spinner = noSpinner;
  let drawn = 0;
  const toErr = (line: Text | undefined) => write(2, `${line?.render(errColors) ?? ""}\n`);
  const draw = (lines: readonly Text[]) => {
    const up = drawn > 1 ? `\x1b[${drawn - 1}A` : "";
    write(2, `${drawn > 0 ? `${up}\r\x1b[J` : ""}${lines.map((line) => line.render(errColors)).join("\n")}`);
    drawn = lines.length;
  };
  const restore = () => {
    spinner.stop();
    if (drawn > 0) draw([]);
  };
  return {
    columns,
    resultIsRead: outIsTerminal,
    interactive,
    draw,
    say: (line) => (quiet ? undefined : toErr(line)),
    insist: toErr,
    result: (line) => write(1, `${visibleLine(line)}\n`),
    json: (value) => write(1, `${visibleJson(value)}\n`),
    url: (url) =>
      write(1, outIsTerminal && !quiet ? `\n  ${bold(cyan(url)).render(outColors)}\n\n` : `${visibleLine(url)}\n`),
    spinner: (label) =>
      animated ? (spinner = startSpinner(label, (frame) => write(2, frame), columns!, errColors)) : noSpinner,
    restore,
    ...farewell(errIsTerminal, toErr, restore),
  };
}
