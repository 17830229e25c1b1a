/** One moving line that says what is going on. When it stops, it is removed. */
import { cyan, dim, text } from "./text.ts";

export interface Spinner {
  label(label: string): void;
  stop(): void;
  /** Whether anyone sees it, so that progress is worth measuring. */
  readonly visible: boolean;
}

/** For a pipe, a file and `-q`: shows nothing. */
export const noSpinner: Spinner = { label() {}, stop() {}, visible: false };

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

export function startSpinner(first: string, write: (frame: string) => void, columns: number, colors: boolean): Spinner {
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
