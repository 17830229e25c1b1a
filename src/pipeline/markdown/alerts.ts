/** GitHub's alerts: a quotation whose first line is `[!NOTE]` and the like. */
import type { Token, Tokens } from "marked";

const KINDS = new Map([
  ["NOTE", "Note"],
  ["TIP", "Tip"],
  ["IMPORTANT", "Important"],
  ["WARNING", "Warning"],
  ["CAUTION", "Caution"],
]);
const FIRST_LINE = /^\[!([a-z]{3,9})\][ \t]*(?:\n|$)/i;

interface Alert {
  /** As a class name. */
  kind: string;
  title: string;
  tokens: Token[];
}

/** Tokens without their first `length` characters of source. */
function skip(tokens: readonly Token[], length: number): Token[] {
  let [at, left] = [0, length];
  while (at < tokens.length && tokens[at]!.raw.length <= left) left -= tokens[at++]!.raw.length;
  const [first, ...rest] = tokens.slice(at);
  if (!first) return [];
  if (left === 0 || first.type !== "text") return [first, ...rest];
  return [{ type: "text", raw: first.raw.slice(left), text: first.raw.slice(left) }, ...rest];
}

export function alertOf({ tokens }: Tokens.Blockquote): Alert | null {
  const [first, ...rest] = tokens;
  if (first?.type !== "paragraph") return null;
  const line = FIRST_LINE.exec(first.raw);
  const title = line && KINDS.get(line[1]!.toUpperCase());
  if (!title) return null;
  const inside = skip((first as Tokens.Paragraph).tokens, line[0].length);
  const kept = inside.length > 0 ? [{ ...first, tokens: inside } as Token, ...rest] : rest;
  return { kind: title.toLowerCase(), title, tokens: kept };
}
