/** Rows for a terminal and JSON for programs. What came from outside cannot move the cursor or add a line. */
import { visible, visibleJson } from "../base/visible.ts";
import type { CallWords, OperatorContext } from "./command.ts";

type Cell = string | number | null;

/** Columns of equal width under a headline; an empty cell is shown as `-`. */
function table(headline: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const lines = [headline, ...rows.map((row) => row.map((cell) => (cell === null ? "-" : visible(String(cell)))))];
  const widths = headline.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  return lines
    .map((line) => `${line.map((cell, column) => cell.padEnd(widths[column]!)).join("  ")}`.trimEnd() + "\n")
    .join("");
}

export const json = (value: unknown): string => `${visibleJson(value, 2)}\n`;

/** Prints a table for people, or with `--json` all fields of each row for programs. */
export function list<Row>(
  { print }: OperatorContext,
  given: CallWords,
  rows: readonly Row[],
  columns: Readonly<Record<string, (row: Row) => Cell>>,
): void {
  if (given.json) return print(json(rows));
  const cells = Object.values(columns);
  print(
    table(
      Object.keys(columns),
      rows.map((row) => cells.map((cell) => cell(row))),
    ),
  );
}

export const counted = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;
