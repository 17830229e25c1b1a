/** Text for the terminal. Every value that enters a text is made harmless first: a server's sentence or a file's name must
 *  not move the cursor, change the title or look like something else. */
import { visibleLine } from "../../base/visible.ts";

export class Text {
  constructor(readonly render: (colors: boolean) => string) {}
}

type TextValue = Text | string | number;

const asText = (value: TextValue): Text => (value instanceof Text ? value : new Text(() => visibleLine(String(value))));

/** A line of text. Values are made harmless unless they are texts themselves. */
export const text = (parts: TemplateStringsArray, ...values: TextValue[]): Text => {
  const texts = values.map(asText);
  return new Text((colors) => parts.reduce((line, part, i) => line + texts[i - 1]!.render(colors) + part));
};

const style =
  (on: string, off: number) =>
  (value: TextValue): Text =>
    new Text((colors) => {
      const inner = asText(value).render(colors);
      return colors ? `\x1b[${on}m${inner}\x1b[${off}m` : inner;
    });

export const bold = style("1", 22);
export const dim = style("2", 22);
export const red = style("31", 39);
export const green = style("32", 39);
export const yellow = style("33", 39);
export const cyan = style("36", 39);

/** Parts words into lines of at most `width` characters. A longer word (a URL) gets a line of its own, uncut. */
function wrapped(words: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of visibleLine(words).split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Assumes that all characters have one width: wide letters move their row, and nothing is lost. */
const lengthOf = (cell: string): number => [...cell].length;

/** Words made harmless, and cut to a width. */
export function cut(words: string, width: number): string {
  const letters = [...visibleLine(words)];
  return letters.length <= width
    ? letters.join("")
    : `${letters
        .slice(0, width - 1)
        .join("")
        .trimEnd()}…`;
}

/** Rows with their columns aligned, two spaces apart. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => lengthOf(row[column] ?? ""))));
  const padded = (cell: string, column: number) => cell + " ".repeat(widths[column]! - lengthOf(cell));
  return rows.map((row) => row.map(padded).join("  ").trimEnd());
}

interface Lines {
  readonly columns: number | null;
  insist(line: Text): void;
}

const plain = (line: string): Text => text`${line}`;

/** Prints a sentence behind a mark. On a terminal it is wrapped so that its further lines begin below its first word. */
export function sayWithMark(terminal: Lines, mark: Text, words: string, tone = plain, indent = "  "): void {
  const lines = terminal.columns === null ? [words] : wrapped(words, terminal.columns - indent.length - 4);
  lines.forEach((line, i) => terminal.insist(text`${indent}${i === 0 ? mark : " "} ${tone(line)}`));
}
