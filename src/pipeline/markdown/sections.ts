/** What a page says between its headings, for the search. */
import type { Token, Tokens } from "marked";
import { plainText } from "./text.ts";

/** The blocks in a token, one level down. */
export function childrenOf(token: Token): readonly Token[] {
  if (token.type === "list") return (token as Tokens.List).items;
  if (token.type !== "table") return ("tokens" in token && token.tokens) || [];
  const { header, rows } = token as Tokens.Table;
  return [...header, ...rows.flat()].flatMap((each) => each.tokens);
}

/** Blocks whose children are words. */
const WORDS = new Set(["paragraph", "text"]);

/** Without the mark that makes a quotation an alert. */
function oneLine(text: string): string {
  const line = /\s\s|[\n\t]/.test(text) ? text.replace(/\s+/g, " ") : text;
  return (line.startsWith("[!") ? line.replace(/^\[![a-z]{3,9}\] ?/i, "") : line).trim();
}

/** A text before the first heading, and one for each heading; paragraphs are lines. With a stack: quotations may be nested
 *  as deep as their text is long. */
export function sectionsOf(tokens: readonly Token[]): string[] {
  const sections: string[][] = [[]];
  const left = tokens.toReversed();
  for (let token = left.pop(); token; token = left.pop()) {
    if (token.type === "heading") sections.push([]);
    else if (token.type === "table") sections.at(-1)!.push(...rowsOf(token as Tokens.Table));
    else if (WORDS.has(token.type))
      sections.at(-1)!.push(oneLine(plainText(("tokens" in token && token.tokens) || [token])));
    else left.push(...childrenOf(token).toReversed());
  }
  return sections.map((lines) => lines.filter((line) => line !== "").join("\n"));
}

const rowsOf = ({ header, rows }: Tokens.Table): string[] =>
  [header, ...rows].map((row) => oneLine(row.map(({ tokens }) => plainText(tokens)).join(" ")));
