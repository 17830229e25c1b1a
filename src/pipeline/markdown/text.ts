/** The text of a run of Markdown without its markup: for anchors, contents, excerpts. */

import type { Token } from "marked";
import { decodeEntities } from "../../html/character-references.ts";
import list from "./emoji.txt" with { type: "text" };

/** A picture says nothing here: badges before a heading's words are no part of its anchor. */
const SILENT = new Set(["html", "image", "checkbox", "footnote_reference"]);

/** As a person reads it. */
export const plainText = (tokens: readonly Token[]): string => withEmoji(spelledText(tokens));

/** With emoji by their names, as anchors have them. */
export function spelledText(tokens: readonly Token[]): string {
  let text = "";
  for (const token of tokens) text += spelled(token);
  return text;
}

function spelled(token: Token): string {
  if (SILENT.has(token.type)) return "";
  if (token.type === "br") return " ";
  if ("tokens" in token && token.tokens) return spelledText(token.tokens);
  const text = "text" in token ? String(token.text) : "";
  return token.type === "text" && text.includes("&") ? decodeEntities(text) : text;
}

// `:rocket:` is 🚀: the names that GitHub has, a list of facts that `emoji.txt` holds as `🚀 rocket, 👍 +1 thumbsup, …`
// (scripts/emoji.ts writes it).

let known: ReadonlyMap<string, string> | undefined;

function read(): ReadonlyMap<string, string> {
  const emoji = new Map<string, string>();
  for (const entry of list.split(/, |\n/)) {
    const [character, ...names] = entry.trim().split(" ");
    for (const name of names) emoji.set(name, character!);
  }
  return emoji;
}

/** Between letters or digits a colon is a colon: `10:100:20`. */
const SHORTCODE = /(?<![\p{L}\p{N}]):([a-z\d_+-]{1,50}):(?![\p{L}\p{N}])/gu;

/** Whether a text may have any. */
export const hasEmoji = (text: string): boolean => /:[a-z\d_+-]+:/.test(text);

export function withEmoji(text: string): string {
  if (!text.includes(":") || text.indexOf(":") === text.lastIndexOf(":")) return text;
  return text.replace(SHORTCODE, (written, name: string) => (known ??= read()).get(name) ?? written);
}

// Names as words, and texts cut to a length, for titles, navigation and the overview.

/** Longer titles would be repeated on every page. */
const LONGEST_TITLE = 150;
const LONGEST_EXCERPT = 220;

function cut(text: string, longest: number): string {
  const line = text
    .slice(0, longest * 8)
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .toWellFormed();
  const characters = [...line];
  if (characters.length <= longest) return line;
  const kept = characters.slice(0, longest).join("");
  const word = kept.lastIndexOf(" ");
  return `${(word > longest * 0.6 ? kept.slice(0, word) : kept).trimEnd()}…`;
}

export const shortTitle = (text: string): string => cut(text, LONGEST_TITLE);
export const excerptOf = (text: string): string => cut(text, LONGEST_EXCERPT);

/** `02-getting_started` → `Getting started`; `README` stays as it is shouted. */
export function inWords(name: string): string {
  const words =
    name
      .replace(/^\d+[\s._-]+(?=\S)/, "")
      .replace(/[\s_-]+/g, " ")
      .trim() || name;
  const [first = ""] = words;
  return shortTitle(first.toLocaleUpperCase("en") + words.slice(first.length));
}

export const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** With its slash; empty for the root. */
export const folderOf = (path: string): string => path.slice(0, path.lastIndexOf("/") + 1);

export const withoutExtension = (path: string): string => path.slice(0, path.lastIndexOf("."));
