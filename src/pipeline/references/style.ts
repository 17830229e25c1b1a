/** Finds what a stylesheet loads, in one pass whose time grows only with the length. */
import { distinctReferences, LONGEST_URL, type Reference } from "./reference.ts";

const MARK = /\/\*|["']|\burl\(|@import\b|@font-face\b|[{};]/gi;
const FORMAT = /\s{0,20}format\(\s{0,20}["']?([\w-]+)/iy;
/** Formats that only browsers without woff ask for: no visitor sees their absence. */
const FORGOTTEN = /^(?:embedded-opentype|svg)$/i;
/** Only the first few of a long list of fonts count. */
const MOST_EARLIER = 4;
/** As much of a font's rule as names its family. */
const FACE = 1000;

/** The end of the string that begins after `from`: its quote, or the line's end if the quote is missing. */
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

/** Only old Internet Explorer knows this property. */
const FORGOTTEN_PROPERTY = /behavior\s{0,9}:\s{0,9}$/i;

class StyleReader {
  readonly found: Reference[] = [];
  private importing = false;
  private font = false;
  /** The sources of the font declaration being read. */
  private sources: string[] = [];
  /** The place where the rule being read may begin, and the place where its block does. */
  private prelude = 0;
  private block = 0;
  /** Null: not known, as behind a rule in a rule. */
  private selector: string | null = null;

  constructor(private readonly css: string) {}

  run(): Reference[] {
    MARK.lastIndex = 0;
    for (let mark = MARK.exec(this.css); mark; mark = MARK.exec(this.css)) {
      MARK.lastIndex = this.read(mark[0].toLowerCase(), mark.index, mark.index + mark[0].length);
    }
    return this.found;
  }

  /** Reads the construct that begins with the sign at `at`. Returns the place to go on. */
  private read(sign: string, at: number, after: number): number {
    if (sign === "/*") return this.comment(after);
    if (sign === '"' || sign === "'") return this.string(after, sign);
    if (sign === "url(") return this.url(at, after);
    if (sign === "@import") this.importing = true;
    else if (sign === "@font-face") this.font = true;
    else this.endDeclaration(sign, at, after);
    return after;
  }

  private comment(after: number): number {
    const end = this.css.indexOf("*/", after);
    return end < 0 ? this.css.length : end + 2;
  }

  private string(after: number, quote: string): number {
    const end = stringEnd(this.css, after, quote);
    if (this.importing) this.add(this.css.slice(after, end), end);
    return end + 1;
  }

  private url(at: number, after: number): number {
    const { url, end } = urlAt(this.css, after);
    if (!FORGOTTEN_PROPERTY.test(this.css.slice(Math.max(0, at - 30), at))) this.add(url, end);
    return end;
  }

  private endDeclaration(sign: string, at: number, after: number): void {
    this.importing = false;
    this.sources = [];
    this.prelude = sign === "{" ? this.open(at, after) : after;
    if (sign !== "}") return;
    this.selector = null;
    this.font = false;
  }

  private open(at: number, after: number): number {
    this.selector = this.css.slice(this.prelude, at);
    return (this.block = after);
  }

  private add(written: string, end: number): void {
    if (written.length > LONGEST_URL || written === "") return;
    const url = unescape(written);
    if (!this.importing && this.font) return this.addFont(url, end);
    if (this.importing) this.found.push({ url, use: "style" });
    else if (this.selector === null) this.found.push({ url, use: "image" });
    else this.found.push({ url, use: "image", selectors: [this.selector] });
    this.importing = false;
  }

  private addFont(url: string, end: number): void {
    FORMAT.lastIndex = end + 1;
    const format = FORMAT.exec(this.css)?.[1] ?? (/\.eot(?:[?#]|$)/i.test(url) ? "embedded-opentype" : "");
    if (FORGOTTEN.test(format)) return;
    const face = this.css.slice(this.block, this.block + FACE);
    this.found.push({ url, use: "font", earlier: [...this.sources], face });
    if (this.sources.length < MOST_EARLIER) this.sources.push(url);
  }
}

export const styleReferences = (css: string): Reference[] => distinctReferences(new StyleReader(css).run());
