/** GitHub's alerts: a quotation whose first line is `[!NOTE]` and the like. Words behind it are its title. */
import type { Token, Tokens } from "marked";

const KINDS = new Map([
  ["NOTE", "Note"],
  ["TIP", "Tip"],
  ["IMPORTANT", "Important"],
  ["WARNING", "Warning"],
  ["CAUTION", "Caution"],
]);
const FIRST_LINE = /^\[!([a-z]{3,9})\][ \t]*([^\n]*)(?:\n|$)/i;

interface Alert {
  /** As a class name. */
  kind: string;
  /** Of its first line. */
  title: Token[];
  tokens: Token[];
}

const textToken = (text: string): Token => ({ type: "text", raw: text, text, escaped: false });

/** Tokens cut behind `length` characters of their source. */
function cut(tokens: readonly Token[], length: number): [before: Token[], after: Token[]] {
  let [at, left] = [0, length];
  while (at < tokens.length && tokens[at]!.raw.length <= left) left -= tokens[at++]!.raw.length;
  const [before, [first, ...rest]] = [tokens.slice(0, at), tokens.slice(at)];
  if (!first) return [before, []];
  if (left === 0 || first.type !== "text") return [before, [first, ...rest]];
  return [
    [...before, textToken(first.raw.slice(0, left))],
    [textToken(first.raw.slice(left)), ...rest],
  ];
}

export function alertOf({ tokens }: Tokens.Blockquote): Alert | null {
  const [first, ...rest] = tokens;
  if (first?.type !== "paragraph") return null;
  const line = FIRST_LINE.exec(first.raw);
  const kind = line && KINDS.get(line[1]!.toUpperCase());
  if (!kind) return null;
  const [whole, mark = "", words = ""] = line;
  const before = whole.indexOf(words, mark.length + 3);
  const [head, inside] = cut((first as Tokens.Paragraph).tokens, whole.length);
  const [, title] = cut(cut(head, before + words.length)[0], before);
  const kept = inside.length > 0 ? [{ ...first, tokens: inside } as Token, ...rest] : rest;
  return { kind: kind.toLowerCase(), title: words ? title : [textToken(kind)], tokens: kept };
}
