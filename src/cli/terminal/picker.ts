/** A list with ticks: arrows move, Space ticks, Enter takes them. */
import { readKeys } from "./keys.ts";
import type { Terminal } from "./index.ts";
import { bold, cyan, dim, text, type Text } from "./text.ts";

interface Choice {
  label: string;
  note: string;
  ticked: boolean;
}

/** Cut to one line of the terminal: a longer one could not be drawn over. */
function row({ label, note, ticked }: Choice, isHere: boolean, width: number): Text {
  const mark = `${isHere ? ">" : " "} [${ticked ? "x" : " "}] ${label}`.slice(0, width);
  const rest = note.slice(0, Math.max(0, width - mark.length - 2));
  return text`  ${isHere ? cyan(mark) : mark}  ${dim(rest)}`;
}

const MOVES: Readonly<Record<string, number>> = { up: -1, k: -1, down: 1, j: 1 };

/** Resolves to the indexes of the choices that are ticked at the end. */
export async function pick(terminal: Terminal, question: string, choices: readonly Choice[]): Promise<number[]> {
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
