/** Rows for a terminal and JSON for programs. What came from outside cannot move the cursor or add a line. */
import { visible, visibleJson } from "../base/visible.ts";
import type { CallWords, OperatorContext } from "./command.ts";

type Cell = string | number | null;

type Columns<Row> = Readonly<Record<string, (row: Row) => Cell>>;

/** An empty cell is shown as `-`. */
const cellsOf = <Row>(row: Row, columns: Columns<Row>): string[] =>
  Object.values(columns).map((cellOf) => {
    const cell = cellOf(row);
    return cell === null ? "-" : visible(String(cell));
  });

const lineOf = (cells: readonly string[], widths: readonly number[]): string =>
  `${cells.map((cell, column) => cell.padEnd(widths[column]!)).join("  ")}`.trimEnd() + "\n";

export const json = (value: unknown): string => `${visibleJson(value, 2)}\n`;

/** Prints a table for people (columns of equal width under a headline), or with `--json` all fields of each row for
 *  programs. There may be more rows than memory should hold: `pages` gives some at a time, and for a table it is read twice,
 *  first for the widths. */
export async function listPages<Row>(
  { print }: OperatorContext,
  given: CallWords,
  pages: () => AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>,
  columns: Columns<Row>,
): Promise<void> {
  if (given.json) return printArray(print, pages());
  const headline = Object.keys(columns);
  const widths = headline.map((name) => name.length);
  for await (const rows of pages()) {
    for (const row of rows)
      for (const [n, cell] of cellsOf(row, columns).entries()) widths[n] = Math.max(widths[n]!, cell.length);
  }
  print(lineOf(headline, widths));
  for await (const rows of pages()) print(rows.map((row) => lineOf(cellsOf(row, columns), widths)).join(""));
}

/** As `json` prints an array. */
async function printArray<Row>(
  print: OperatorContext["print"],
  pages: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>,
): Promise<void> {
  let before = "[";
  for await (const rows of pages) {
    for (const row of rows) {
      print(`${before}\n  ${visibleJson(row, 2).replaceAll("\n", "\n  ")}`);
      before = ",";
    }
  }
  print(before === "[" ? "[]\n" : "\n]\n");
}

/** The same for rows that are there at once. */
export const list = <Row>(
  context: OperatorContext,
  given: CallWords,
  rows: readonly Row[],
  columns: Columns<Row>,
): Promise<void> => listPages(context, given, () => [rows], columns);

export const counted = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;
