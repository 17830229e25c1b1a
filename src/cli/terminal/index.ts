/** The two streams of the CLI: the result goes to stdout, everything for a person goes to stderr. */
import { writeSync } from "node:fs";
import { isatty } from "node:tty";
import { codeOf } from "../failure.ts";
import { sleepSync } from "../sleep-sync.ts";
import { visibleJson, visibleLine } from "../../base/visible.ts";
import { bold, cyan, dim, text, type Text } from "./text.ts";

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

// One moving line that says what is going on. When it stops, it is removed.

export interface Spinner {
  label(label: string): void;
  stop(): void;
  /** Whether anyone sees it, so that progress is worth measuring. */
  readonly visible: boolean;
}

/** For a pipe, a file and `-q`: shows nothing. */
const noSpinner: Spinner = { label() {}, stop() {}, visible: false };

/** Shows the spinner until `work` has succeeded or failed. */
export async function whileSpinning<Result>(
  terminal: { spinner(label: string): Spinner },
  work: (spinner: Spinner) => Promise<Result>,
  label = "Reading files",
): Promise<Result> {
  const spinner = terminal.spinner(label);
  try {
    return await work(spinner);
  } finally {
    spinner.stop();
  }
}

const FRAMES = [..."⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"];
const [HIDE_CURSOR, SHOW_CURSOR, CLEAR_LINE] = ["\x1b[?25l", "\x1b[?25h", "\r\x1b[2K"];

function startSpinner(first: string, write: (frame: string) => void, columns: number, colors: boolean): Spinner {
  let [label, frame, running] = [first, 0, true];
  const paint = () => {
    // A line that is wider than the terminal could not be removed again.
    const line = text`  ${cyan(FRAMES[frame++ % FRAMES.length]!)} ${dim(label.slice(0, columns - 6))}`;
    write(CLEAR_LINE + line.render(colors));
  };
  write(HIDE_CURSOR);
  paint();
  const timer = setInterval(paint, 80);
  return {
    visible: true,
    label: (next) => void (label = next),
    stop: () => {
      if (!running) return;
      running = false;
      clearInterval(timer);
      write(CLEAR_LINE + SHOW_CURSOR);
    },
  };
}
