/** Where the first child of a page's head would stand, in one pass that stops there, by the tree builder of the HTML standard
 *  from "initial" to "before head" (`head-end.ts` goes on from there). */
import { Tokenizer } from "./tokenizer.ts";

/** End tags that end what comes before the head, as if it began and ended there; any other one is ignored. */
const BEGINS_HEAD = new Set(["head", "body", "html", "br"]);
const NOT_SPACE = /[^\t\n\f\r \0]/;

/** Whether the token leaves a browser before the head. */
function isBefore({ kind, name, closer, from, to }: Tokenizer, text: string): boolean {
  if (kind === "comment") return closer === "";
  if (kind === "text") return !NOT_SPACE.test(text.slice(from, to));
  if (kind === "close") return !BEGINS_HEAD.has(name);
  return kind === "open" && name === "html";
}

/** `text` has one character a byte (Latin-1), so that the index is a byte offset whatever the page's encoding. */
export function headStart(text: string): number {
  const token = new Tokenizer(text);
  token.goOnAt(text.startsWith("\xef\xbb\xbf") ? 3 : 0);
  let begin = token.to;
  while (token.next()) {
    if (token.kind === "open" && token.name === "head") return token.to;
    if (!isBefore(token, text)) return token.from;
    begin = token.to;
  }
  return begin;
}
