/** What a run of Markdown says without its markup: for anchors, contents, excerpts. */
import type { Token } from "marked";
import { decodeEntities } from "../../html/entities.ts";
import { withEmoji } from "./emoji.ts";

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
