/** HTML as text: the one tokenizer, what is read by it, where an address leads, the template of all pages. The tokenizer cuts HTML
 *  into tags, texts and comments at the places at which a browser does (HTML, 13.2.5), in one pass whose time grows only
 *  with the length. It builds no tree and repairs nothing. All code that asks what a page shows, loads, sends or leaves
 *  open uses it. */
import { asciiLower } from "./character-references.ts";
import { isSpace, tagEnd } from "./attributes.ts";
import { asBrowser, type Kind, type Namespaces } from "./foreign.ts";

const [BANG, SLASH, LESS, GREATER, QUESTION] = [33, 47, 60, 62, 63];
const COMMENT_END = /--!?>/g;

type TokenKind =
  | "open"
  | "close"
  | "text"
  /** A comment, a document type, an instruction, a CDATA section. */
  | "comment"
  /** A tag inside which the text ends: a browser drops it. */
  | "cut";

/** These fields describe the current token: an object for each of a million tags would cost more than to cut them. */
export class Tokenizer {
  kind: TokenKind = "text";
  /** The place of its first character. */
  from = 0;
  /** The place behind its last one. */
  to = 0;
  /** The name of a tag, in lower case. */
  name = "";
  /** The place at which a tag's attributes begin. They end before its `>`. */
  inside = 0;
  /** The kind of a tag. An end tag is `drawing` if it ends an element of a drawing. */
  is: Kind = "html";
  /** The place at which the text of a start tag's element ends, if the element holds text alone: at its end tag or at
   *  the page's end. Otherwise -1. */
  raw_end = -1;
  /** The characters that would end the comment; empty if it has its end. */
  closer = "";
  /** Whether a comment is a CDATA section, whose content is text. */
  cdata = false;

  constructor(
    private readonly html: string,
    private readonly namespaces: Namespaces = asBrowser(),
  ) {}

  /** To the next token; false at the end. */
  next(): boolean {
    const { html } = this;
    const from = this.raw_end < 0 ? this.to : this.raw_end;
    if (from >= html.length) return false;
    this.from = from;
    this.raw_end = -1;
    if (html.charCodeAt(from) !== LESS || !this.begins(from)) return this.text(from);
    const sign = html.charCodeAt(from + 1);
    if (isLetter(sign)) return this.tag("open", from + 1);
    if (sign === SLASH && isLetter(html.charCodeAt(from + 2))) return this.tag("close", from + 2);
    return this.declaration(sign);
  }

  /** Whether the `<` at `at` begins a tag or a comment. */
  private begins(at: number): boolean {
    const sign = this.html.charCodeAt(at + 1);
    return isLetter(sign) || sign === SLASH || sign === BANG || sign === QUESTION;
  }

  /** Goes on at `at`, as if the text there were not part of a tag, a comment or a raw text. */
  goOnAt(at: number): void {
    this.to = at;
    this.raw_end = -1;
  }

  /** A `<` that begins nothing is part of the text: a token for each would fill the memory. */
  private text(from: number): true {
    let end = this.html.indexOf("<", from + 1);
    while (end >= 0 && !this.begins(end)) end = this.html.indexOf("<", end + 1);
    this.kind = "text";
    this.to = end < 0 ? this.html.length : end;
    return true;
  }

  private tag(kind: "open" | "close", name_from: number): true {
    const { html } = this;
    let at = name_from + 1;
    while (at < html.length && !endsName(html.charCodeAt(at))) at++;
    this.name = asciiLower(html.slice(name_from, at));
    this.inside = at;
    const end = tagEnd(html, at);
    this.kind = end < 0 ? "cut" : kind;
    this.to = end < 0 ? html.length : end + 1;
    if (this.kind === "open") this.open(html.slice(at, end));
    else if (this.kind === "close") this.is = this.namespaces.close(this.name) ? "drawing" : "html";
    return true;
  }

  private open(attributes: string): void {
    const { name } = this;
    this.is = this.namespaces.open(name, attributes);
    if (this.is === "html" && holdsText(name)) this.raw_end = rawEnd(this.html, name, this.to);
  }

  private declaration(sign: number): true {
    const { html, from } = this;
    const { foreign, xml } = this.namespaces.inside();
    this.kind = "comment";
    this.cdata = foreign && html.startsWith("<![CDATA[", from);
    if (sign === BANG && html.startsWith("--", from + 2)) return this.comment(from + 4);
    if (this.cdata) return this.upTo("]]>", from + 9);
    return this.upTo(xml && sign === QUESTION ? "?>" : ">", from + 2);
  }

  private upTo(closer: string, from: number): true {
    const end = this.html.indexOf(closer, from);
    return this.endComment(closer, end < 0 ? -1 : end + closer.length);
  }

  /** `<!-->` and `<!--->` are whole comments. */
  private comment(inside: number): true {
    const { html } = this;
    if (html.charCodeAt(inside) === GREATER) return this.endComment("-->", inside + 1);
    if (html.startsWith("->", inside)) return this.endComment("-->", inside + 2);
    COMMENT_END.lastIndex = inside;
    return this.endComment("-->", COMMENT_END.test(html) ? COMMENT_END.lastIndex : -1);
  }

  private endComment(closer: string, end: number): true {
    this.closer = end < 0 ? closer : "";
    this.to = end < 0 ? this.html.length : end;
    return true;
  }
}

const isLetter = (code: number): boolean => (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
const endsName = (code: number): boolean => code === GREATER || code === SLASH || isSpace(code);

/** Elements whose content is text up to their own end tag, whatever it looks like, with the pattern of that end tag.
 *  `noscript` and `iframe` are among them: with scripts on, a browser reads their content as text. */
const NAMES = ["style", "title", "textarea", "noscript", "iframe", "xmp", "noembed", "noframes"];
const END = new Map(NAMES.map((name) => [name, new RegExp(`</${name}(?=[\\t\\n\\f\\r />])`, "gi")]));

const holdsText = (name: string): boolean => END.has(name) || name === "script" || name === "plaintext";

/** The place of the end tag of the element whose content begins at `from`; the length of `html` if there is none. */
function rawEnd(html: string, name: string, from: number): number {
  if (name === "plaintext") return html.length;
  if (name === "script") return scriptEnd(html, from);
  const end = END.get(name)!;
  end.lastIndex = from;
  return end.exec(html)?.index ?? html.length;
}

const SCRIPT_MARK = /<!--|-->|<\/?script(?=[\t\n\f\r />])/gi;

/** A script that opens a comment and then another `<script` ends at the second `</script>` (HTML, 13.2.5.15 to 31). */
function scriptEnd(html: string, from: number): number {
  let state: "code" | "comment" | "inner" = "code";
  SCRIPT_MARK.lastIndex = from;
  for (let found = SCRIPT_MARK.exec(html); found; found = SCRIPT_MARK.exec(html)) {
    const mark = found[0].toLowerCase();
    if (mark === "<!--") {
      SCRIPT_MARK.lastIndex = found.index + 2; // its dashes may be those of a `-->`
      if (state === "code") state = "comment";
    } else if (mark === "-->") state = "code";
    else if (mark === "<script") state = state === "code" ? "code" : "inner";
    else if (state === "inner") state = "comment";
    else return found.index;
  }
  return html.length;
}
