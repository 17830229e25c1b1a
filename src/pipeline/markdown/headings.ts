/** Anchors as GitHub makes them from headings, so that links written for GitHub lead to the same place here; and those that
 *  authors give themselves. */

import type { MarkedExtension, Token, Tokens } from "marked";
import { plainText } from "./text.ts";

/** The characters that GitHub removes: all but letters, marks, numbers, connectors, hyphens and spaces. */
const DROPPED = /[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu;

/** The text is not trimmed: the space between a picture and a word becomes a hyphen. */
const slug = (text: string): string => text.toLowerCase().replace(DROPPED, "").replaceAll(" ", "-");

export interface Anchors {
  /** For a heading with this text. */
  made(text: string): string;
  /** For a heading that names its own. */
  given(id: string): string;
}

/** `used` begins with the ids of the author's own HTML. A heading without a letter is `section`, for an id must not be empty. */
export function createAnchors(used: Set<string>): Anchors {
  const repeats = new Map<string, number>();
  function given(base: string): string {
    let id = base;
    for (let n = repeats.get(base) ?? 0; used.has(id);) {
      id = `${base}-${++n}`;
      repeats.set(base, n);
    }
    used.add(id);
    return id;
  }
  return { made: (text) => given(slug(text) || "section"), given };
}

/** The frame's own ids, and those of footnotes, have a colon behind these. */
export const notTheFrames = (id: string): string => id.replace(/^(docs|fn|fnref):/, "$1-");

/** `{#id}`, `{ #id .class }` or `{: #id}` at a heading's end. */
const OWN_ID = /\{:?[ \t]{0,9}#([\p{L}\p{M}\p{N}_.:-]{1,200})(?:[ \t][^{}\n]{0,200})?\}[ \t]{0,99}$/u;

/** The heading's id of its own, and its tokens without it. */
export function splitOwnId(tokens: readonly Token[]): { id: string | null; tokens: Token[] } {
  const last = tokens.at(-1);
  const words = last?.type === "text" && "text" in last ? String(last.text) : "";
  const found = OWN_ID.exec(words);
  if (!found) return { id: null, tokens: [...tokens] };
  const text = words.slice(0, found.index).trimEnd();
  return { id: found[1]!, tokens: [...tokens.slice(0, -1), { type: "text", raw: text, text, escaped: false }] };
}

// The text of a page between its headings, for the search.

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

// Headings that are underlined, without `marked`'s thirst: it looks for the line of `=` or `-` through a whole
// paragraph and remembers each letter on the way, 200 MB for a paragraph of one.

/** Characters within which a paragraph ends or is underlined, or is no heading. */
const SOON = 10_000;
const END = /\n[ \t]*(?:\n|$)|\n {0,3}(?:=+|-+) *(?:\n|$)/;

export const underlined: MarkedExtension = {
  tokenizer: {
    // `false`: as `marked` itself would.
    lheading: (src) => (src.length > SOON && !END.test(src.slice(0, SOON)) ? undefined : false),
  },
};
