/** Finds the start and the end of a page's head, each in one linear pass that stops there: HTMLRewriter is quadratic on
 *  hostile pages, matches a second head again, and sees no end if the page left its tags out (BUN 5). Both passes follow
 *  the tree builder of the HTML standard, from "initial" to "before head" and to "in head". */
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

/** The place at which the first child of a page's head would be. `text` has one character a byte (Latin-1), so that the
 *  result is a byte offset in every encoding. */
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

/** Elements that a head holds or that come before it. Those of the next list hold text; `template` nests and is read
 *  apart. */
const STAYS_IN_HEAD = new Set(["html", "head", "base", "basefont", "bgsound", "link", "meta"]);
const TEXT_IN_HEAD = new Set(["title", "script", "style", "noscript", "noframes"]);
/** End tags that end an open head; any other one without a partner is ignored. */
const ENDS_HEAD = new Set(["head", "body", "html", "br"]);

const SPACE = /[\t\n\f\r \0]*/y;

/** A construct that is never closed would swallow everything behind it. */
const swallows = (token: Tokenizer, text: string): boolean =>
  token.kind === "cut" || (token.kind === "comment" && token.closer !== "") || token.raw_end === text.length;

/** Reads up to the `</template>` that closes the template just opened: templates nest. False if there is none. */
function passTemplate(token: Tokenizer, text: string): boolean {
  let depth = 1;
  while (depth > 0) {
    if (!token.next() || swallows(token, text)) return false;
    if (token.name !== "template") continue;
    if (token.kind === "open") depth++;
    else if (token.kind === "close") depth--;
  }
  return true;
}

/** Whether the head goes on behind the current tag. */
function holds(token: Tokenizer, text: string): boolean {
  const { kind, name } = token;
  if (kind === "close") return !ENDS_HEAD.has(name);
  if (name === "template") return passTemplate(token, text);
  return STAYS_IN_HEAD.has(name) || TEXT_IN_HEAD.has(name);
}

/** The place at which a page's head ends: at `</head>`, or before the first thing that a head cannot hold. `text` is as
 *  for `headStart`. */
export function headEnd(text: string): number {
  const token = new Tokenizer(text);
  token.goOnAt(text.startsWith("\xef\xbb\xbf") ? 3 : 0);
  // The element whose text was read last, and the end of that text: an end tag that never ends leaves it open.
  let [holder, raw_end] = [0, -1];
  while (token.next()) {
    const { kind, from, to } = token;
    if (swallows(token, text)) return from === raw_end ? holder : from;
    if (kind === "comment") continue;
    if (kind === "text") {
      SPACE.lastIndex = from;
      SPACE.test(text);
      if (SPACE.lastIndex < to) return SPACE.lastIndex;
      continue;
    }
    if (!holds(token, text)) return from;
    [holder, raw_end] = [from, token.raw_end];
  }
  return text.length;
}
