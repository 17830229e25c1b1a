/** What a run of Markdown says without its markup: for anchors, contents, excerpts. */
import type { Token } from "marked";
import { decodeEntities } from "../../html/entities.ts";

/** A picture says nothing here: badges before a heading's words are no part of its anchor. */
const SILENT = new Set(["html", "image", "checkbox", "footnote_reference"]);

export function plainText(tokens: readonly Token[]): string {
  return tokens.map(plain).join("");
}

function plain(token: Token): string {
  if (SILENT.has(token.type)) return "";
  if (token.type === "br") return " ";
  if ("tokens" in token && token.tokens) return plainText(token.tokens);
  const text = "text" in token ? String(token.text) : "";
  return token.type === "text" ? decodeEntities(text) : text;
}
