/** Footnotes: `[^name]` in the text, `[^name]: …` anywhere. Numbered in the order they are first referred to. */
import type { MarkedExtension, Token, TokenizerAndRendererExtension, Tokens } from "marked";

interface Note {
  tokens: Token[];
  /** 0: not referred to yet. */
  number: number;
  references: number;
}

const DEFINITION = /^ {0,3}\[\^([^\]\s^]+)\]:[ \t]*/;
const REFERENCE = /^\[\^([^\]\s^]+)\]/;
const INDENT = /^(?: {1,4}|\t)/;
/** The beginning of a line that does not continue the paragraph above it. */
const OTHER_BLOCK = /^ {0,3}(?:\[\^|#{1,6}(?:\s|$)|>|```|~~~|[-*+]\s|\d{1,9}[.)]\s|<|\||(?:-{3}|\*{3}|_{3}))/;

/** The definition's lines: all that are indented, and those that go on a paragraph. */
function bodyLines(src: string): string[] {
  const lines: string[] = [];
  let blank = 0;
  for (let at = 0; at < src.length;) {
    const end = src.indexOf("\n", at);
    const line = src.slice(at, end < 0 ? src.length : end);
    at = end < 0 ? src.length : end + 1;
    const goesOn = lines.length === 0 || INDENT.test(line) || (blank === 0 && !OTHER_BLOCK.test(line));
    if (line.trim() !== "" && !goesOn) break;
    blank = line.trim() === "" ? blank + 1 : 0;
    lines.push(line);
  }
  return blank > 0 ? lines.slice(0, -blank) : lines;
}

/** Ids with a colon: no anchor of a heading has one. */
function listItem(note: Note, html: string): string {
  const back = Array.from({ length: note.references }, (_, i) => {
    const label = `Back to reference ${note.number}${i > 0 ? `-${i + 1}` : ""}`;
    return ` <a class="back" href="#${referenceId(note.number, i + 1)}" aria-label="${label}">↩</a>`;
  }).join("");
  const end = html.trimEnd().endsWith("</p>") ? html.trimEnd().length - 4 : html.length;
  return `<li id="fn:${note.number}">${html.slice(0, end)}${back}${html.slice(end)}</li>\n`;
}

const referenceId = (number: number, nth: number): string => `fnref:${number}${nth > 1 ? `-${nth}` : ""}`;

type Notes = Map<string, Note>;

const definitions = (notes: Notes): TokenizerAndRendererExtension => ({
  name: "footnote_definition",
  level: "block",
  start: (src) => (/\n {0,3}\[\^[^\]\s^]+\]:/.exec(src)?.index ?? -2) + 1 || undefined,
  tokenizer(src) {
    const [marker, name] = DEFINITION.exec(src) ?? [];
    if (marker === undefined) return undefined;
    const lines = bodyLines(src);
    const raw = src.slice(0, lines.join("\n").length + 1);
    const [first = "", ...rest] = lines;
    const text = [first.slice(marker.length), ...rest.map((line) => line.replace(INDENT, ""))].join("\n");
    const tokens: Token[] = [];
    const key = name!.toLowerCase();
    if (!notes.has(key)) notes.set(key, { tokens: this.lexer.blockTokens(text, tokens), number: 0, references: 0 });
    return { type: "footnote_definition", raw, tokens };
  },
  renderer: () => "",
});

const references = (notes: Notes, shown: Note[]): TokenizerAndRendererExtension => ({
  name: "footnote_reference",
  level: "inline",
  start: (src) => src.indexOf("[^"),
  tokenizer(src): Tokens.Generic | undefined {
    const [raw, name] = REFERENCE.exec(src) ?? [];
    const note = name === undefined ? undefined : notes.get(name.toLowerCase());
    return note && { type: "footnote_reference", raw: raw!, note };
  },
  renderer(token) {
    const note = token.note as Note;
    if (note.number === 0) note.number = shown.push(note);
    const { number } = note;
    const id = referenceId(number, ++note.references);
    return `<sup class="ref"><a id="${id}" href="#fn:${number}" aria-label="Footnote ${number}">${number}</a></sup>`;
  },
});

interface Footnotes {
  extension: MarkedExtension;
  /** The list below the page, once the page itself is written. */
  list(write: (tokens: Token[]) => string): string;
}

export function createFootnotes(): Footnotes {
  const notes: Notes = new Map();
  const shown: Note[] = [];
  const list = (write: (tokens: Token[]) => string): string => {
    const bodies: string[] = [];
    // Counted, not iterated: a footnote may be the first to refer to another.
    for (let i = 0; i < shown.length; i++) bodies.push(write(shown[i]!.tokens));
    const items = shown.map((note, i) => listItem(note, bodies[i]!)).join("");
    return items && `<section class="footnotes" aria-label="Footnotes">\n<ol>\n${items}</ol>\n</section>\n`;
  };
  return { extension: { extensions: [definitions(notes), references(notes, shown)] }, list };
}
