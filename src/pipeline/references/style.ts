/** What a stylesheet loads. One pass whose time grows with the length alone. */
import { distinctReferences, LONGEST_URL, type Reference } from "./reference.ts";

const MARK = /\/\*|["']|\burl\(|@import\b|@font-face\b|[{};]/gi;
const FORMAT = /\s{0,20}format\(\s{0,20}["']?([\w-]+)/iy;
/** Formats that only browsers without woff ask for: their absence is seen by nobody. */
const FORGOTTEN = /^(?:embedded-opentype|svg)$/i;
/** Of a long list of fonts the first few decide. */
const MOST_EARLIER = 4;

/** Where the string that begins behind `from` ends: at its quote, or at the line's end where that is missing. */
function stringEnd(css: string, from: number, quote: string): number {
  for (let at = from; at < css.length; at++) {
    const character = css[at];
    if (character === quote || character === "\n") return at;
    if (character === "\\") at++;
  }
  return css.length;
}

const unescape = (text: string): string =>
  text.includes("\\")
    ? text.replace(/\\(?:([\da-f]{1,6})\s?|\r?\n|([^]))/gi, (_, hex: string | undefined, plain: string | undefined) =>
        hex === undefined ? (plain ?? "") : String.fromCodePoint(Math.min(parseInt(hex, 16), 0x10ffff)),
      )
    : text;

/** The address of the `url(` whose inside begins at `from`, and where it ends. */
function urlAt(css: string, from: number): { url: string; end: number } {
  let at = from;
  while (at < css.length && css.charCodeAt(at) <= 32) at++;
  const quote = css[at];
  if (quote === '"' || quote === "'") {
    const end = stringEnd(css, at + 1, quote);
    return { url: css.slice(at + 1, end), end: end + 1 };
  }
  const closing = css.indexOf(")", at);
  const end = closing < 0 ? css.length : closing;
  return { url: css.slice(at, end).trim(), end };
}

function read(css: string): Reference[] {
  const found: Reference[] = [];
  let importing = false;
  let font = false;
  let sources: string[] = []; // of the font's declaration that is being read
  const add = (url: string, end: number) => {
    if (url.length > LONGEST_URL || url === "") return;
    const address = unescape(url);
    if (importing) found.push({ url: address, use: "style" });
    else if (!font) found.push({ url: address, use: "image" });
    else {
      FORMAT.lastIndex = end + 1;
      const format = FORMAT.exec(css)?.[1] ?? (/\.eot(?:[?#]|$)/i.test(address) ? "embedded-opentype" : "");
      if (FORGOTTEN.test(format)) return;
      found.push({ url: address, use: "font", earlier: [...sources] });
      if (sources.length < MOST_EARLIER) sources.push(address);
    }
    importing = false;
  };
  MARK.lastIndex = 0;
  for (let mark = MARK.exec(css); mark; mark = MARK.exec(css)) {
    const after = mark.index + mark[0].length;
    const sign = mark[0].toLowerCase();
    if (sign === "/*") {
      const end = css.indexOf("*/", after);
      if (end < 0) return found;
      MARK.lastIndex = end + 2;
    } else if (sign === '"' || sign === "'") {
      const end = stringEnd(css, after, sign);
      if (importing) add(css.slice(after, end), end);
      MARK.lastIndex = end + 1;
    } else if (sign === "url(") {
      const { url, end } = urlAt(css, after);
      // Only old Internet Explorer knows this property.
      if (!/behavior\s{0,9}:\s{0,9}$/i.test(css.slice(Math.max(0, mark.index - 30), mark.index))) add(url, end);
      MARK.lastIndex = end;
    } else if (sign === "@import") importing = true;
    else if (sign === "@font-face") font = true;
    else {
      importing = false;
      sources = [];
      if (sign === "}") font = false;
    }
  }
  return found;
}

export const styleReferences = (css: string): Reference[] => distinctReferences(read(css));
