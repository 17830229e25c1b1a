/** Single keys from a terminal, without their echo. */
import { emitKeypressEvents } from "node:readline";

interface Key {
  /** `up`, `return`, `space`, `a` … */
  name: string;
  /** What it types. */
  typed: string;
  ctrl: boolean;
}

interface Pressed {
  name?: string;
  ctrl?: boolean;
}

/** Calls `onKey` for each key until it returns a result. The terminal's echo is off before `show` shows the question.
 *  Ctrl-C interrupts the program, as it does everywhere else. */
export function readKeys<Result>(show: () => void, onKey: (key: Key) => Result | undefined): Promise<Result> {
  const { stdin } = process;
  return new Promise((resolve) => {
    const restore = () => void stdin.setRawMode(false);
    const stop = () => {
      stdin.off("keypress", pressed);
      process.off("exit", restore);
      restore();
      stdin.pause();
    };
    const pressed = (typed: string | undefined, { name = "", ctrl = false }: Pressed) => {
      if (ctrl && name === "c") {
        stop();
        return void process.emit("SIGINT");
      }
      const result = onKey({ name, typed: typed ?? "", ctrl });
      if (result === undefined) return;
      stop();
      resolve(result);
    };
    emitKeypressEvents(stdin);
    process.once("exit", restore);
    stdin.setRawMode(true);
    stdin.on("keypress", pressed);
    stdin.resume();
    show();
  });
}
