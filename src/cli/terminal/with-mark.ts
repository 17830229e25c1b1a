/** A sentence behind a mark. On a terminal it is wrapped so that its further lines begin below its first word. */
import type { Terminal } from "./index.ts";
import { text, wrapped, type Text } from "./text.ts";

const plain = (line: string): Text => text`${line}`;

export function sayWithMark(terminal: Terminal, mark: Text, words: string, tone = plain, indent = "  "): void {
  const lines = terminal.columns === null ? [words] : wrapped(words, terminal.columns - indent.length - 4);
  lines.forEach((line, i) => terminal.insist(text`${indent}${i === 0 ? mark : " "} ${tone(line)}`));
}
