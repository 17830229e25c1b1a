/** Input from a person, key by key and without an echo: a line, or ticks in a list; and a line from a pipe. */
import { emitKeypressEvents } from "node:readline";
import type { Terminal } from "./index.ts";
import { bold, cyan, dim, text, type Text } from "./text.ts";

interface Key {
  /** `up`, `return`, `space`, `a` and so on. */
  name: string;
  /** The text that it types. */
  typed: string;
  ctrl: boolean;
}

interface Pressed {
  name?: string;
  ctrl?: boolean;
}

/** Calls `onKey` for each key until it returns a result. The terminal's echo is off before `show` shows the question.
 *  Ctrl-C interrupts the program, as it does everywhere else. */
function readKeys<Result>(show: () => void, onKey: (key: Key) => Result | undefined): Promise<Result> {
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

interface ListChoice {
  label: string;
  note: string;
  ticked: boolean;
}

/** A choice as one line of the terminal, cut: a longer one could not be drawn over. */
function row({ label, note, ticked }: ListChoice, isHere: boolean, width: number): Text {
  const mark = `${isHere ? ">" : " "} [${ticked ? "x" : " "}] ${label}`.slice(0, width);
  const rest = note.slice(0, Math.max(0, width - mark.length - 2));
  return text`  ${isHere ? cyan(mark) : mark}  ${dim(rest)}`;
}

const MOVES: Readonly<Record<string, number>> = { up: -1, k: -1, down: 1, j: 1 };

/** Shows a list with ticks: arrows move, Space ticks, Enter takes them. Resolves to the indexes of the ticked choices. */
export async function pick(terminal: Terminal, question: string, choices: readonly ListChoice[]): Promise<number[]> {
  const rows = choices.map((choice) => ({ ...choice }));
  let here = 0;
  const draw = () =>
    terminal.draw([
      bold(`  ${question}`),
      ...rows.map((choice, i) => row(choice, i === here, terminal.columns! - 4)),
      dim("  Arrows move, Space ticks, Enter writes."),
    ]);
  await readKeys(draw, ({ name }) => {
    if (name === "return" || name === "enter") return true;
    if (name === "space") rows[here]!.ticked = !rows[here]!.ticked;
    here = (here + (MOVES[name] ?? 0) + rows.length) % rows.length;
    draw();
    return undefined;
  });
  terminal.draw([]);
  return rows.flatMap(({ ticked }, i) => (ticked ? [i] : []));
}

/** Reads a line typed or pasted on a terminal. A secret is not shown, so it stays out of recordings and scroll-back. */
export async function readTyped(terminal: Terminal, question: string, how: "hidden" | "shown"): Promise<string> {
  let typed = "";
  const show = () => terminal.draw([text`${question}${how === "shown" ? typed : ""}`]);
  const answer = await readKeys(show, (key) => {
    if (key.name === "return" || key.name === "enter" || (key.ctrl && key.name === "d")) return typed;
    if (key.name === "backspace") typed = typed.slice(0, -1);
    else if (key.ctrl && key.name === "u") typed = "";
    else if (!key.ctrl && /^[^\x00-\x1f\x7f]+$/.test(key.typed)) typed += key.typed;
    if (how === "shown") show();
    return undefined;
  });
  terminal.draw([]);
  return answer;
}

/** Asks for a secret twice, without showing it; `same`: whether both were. */
export async function readTwice(terminal: Terminal, question: string): Promise<{ secret: string; same: boolean }> {
  const secret = await readTyped(terminal, question, "hidden");
  return { secret, same: secret === "" || secret === (await readTyped(terminal, "  Once more: ", "hidden")) };
}

/** Reads to the end of the first line only: the program that pipes it in may keep the pipe open. */
export async function pipedLine(): Promise<string> {
  const { stdin } = process;
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stdin as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes("\n")) break;
  }
  stdin.destroy();
  return text.split(/\r?\n/, 1)[0]!;
}
