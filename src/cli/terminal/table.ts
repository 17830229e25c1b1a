/** Columns for a person; what a program reads is JSON. */
import { visibleLine } from "../../base/visible.ts";

/** Characters of one width are assumed: a name in wide letters moves its row, and loses nothing. */
const lengthOf = (cell: string): number => [...cell].length;

/** Made harmless, and at most so long. */
export function cut(words: string, width: number): string {
  const letters = [...visibleLine(words)];
  return letters.length <= width
    ? letters.join("")
    : `${letters
        .slice(0, width - 1)
        .join("")
        .trimEnd()}…`;
}

/** Two spaces part the columns. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => lengthOf(row[column] ?? ""))));
  const padded = (cell: string, column: number) => cell + " ".repeat(widths[column]! - lengthOf(cell));
  return rows.map((row) => row.map(padded).join("  ").trimEnd());
}
