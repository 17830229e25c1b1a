/** A Markdown file as text, and what it says of itself before its first line. */

import { isUtf8 } from "node:buffer";

export interface Source {
  path: string;
  /** Without front matter, newlines as `\n`. */
  text: string;
  front: FrontMatter;
  /** The file was not UTF-8. */
  recoded: boolean;
}

const MARKDOWN = /[^/]\.(?:md|markdown)$/i;
const IN_DOT_FOLDER = /(?:^|\/)\.[^/]*\//;

export const isMarkdownName = (path: string): boolean => MARKDOWN.test(path);

/** Whether a file becomes a page. Markdown in a dot folder (`.github/`) belongs to some tool. */
export const isSource = (path: string): boolean => MARKDOWN.test(path) && !IN_DOT_FOLDER.test(path);

/** UTF-16 has a mark that says so; anything else that is not UTF-8 is read as Windows-1252, where every byte has a character. */
function decode(bytes: Uint8Array): { text: string; recoded: boolean } {
  if (isUtf8(bytes)) return { text: new TextDecoder().decode(bytes), recoded: false };
  const utf16 = bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : bytes[0] === 0xfe && bytes[1] === 0xff;
  const encoding = utf16 === true ? "utf-16be" : utf16 || "windows-1252";
  return { text: new TextDecoder(encoding).decode(bytes), recoded: true };
}

/** Controls have no meaning in text and are errors in HTML. */
const CONTROLS = /[\0-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f\ufdd0-\ufdef\ufffe\uffff]/g;

/** `import X from "y"` and `import { A, B } from "y"`, which MDX has before its text. */
const IMPORT =
  /^\s{0,99}import\s{1,9}(?:type\s{1,9})?(?:[\w$*][\w$* ,]{0,200})?(?:\{[\w$\s,]{0,2000}\})?\s{0,9}from\s{0,9}(?:"[^"\n]{1,500}"|'[^'\n]{1,500}');?[ \t]{0,99}(?:\n|$)/;

function withoutImports(text: string): string {
  let at = 0;
  for (let found = IMPORT.exec(text); found; found = IMPORT.exec(text.slice(at, at + 4000))) at += found[0].length;
  return at === 0 ? text : text.slice(at);
}

export function readSource(path: string, bytes: Uint8Array): Source {
  const { text, recoded } = decode(bytes);
  const { front, body } = splitFrontMatter(text.replace(CONTROLS, "\ufffd"));
  return { path, text: withoutImports(body.replace(/\r\n?/g, "\n")), front, recoded };
}

// The lines before a page that only programs read. A subset of YAML, read without a YAML parser: one level of `key:
// value`, quoted or plain or a block of text. What is beyond it is skipped, never shown and never an error.

interface FrontMatter {
  title: string | null;
  order: number | null;
  /** `hero.name`, what VitePress calls the site by on its home page. */
  hero: string | null;
}

const NONE: FrontMatter = { title: null, order: null, hero: null };
const OPENING = /^---[ \t]*\r?\n/;
const CLOSING = /^(?:---|\.\.\.)[ \t]*(?:\r?\n|$(?![^]))/gm;
const KEY = /^([A-Za-z_][\w-]*|"[^"\n]*"|'[^'\n]*')[ \t]*:(?:[ \t]+([^]*))?$/;

const ESCAPES = new Map(Object.entries({ n: "\n", t: "\t", r: "\r", "0": "\0", '"': '"', "\\": "\\", "/": "/" }));

const escaped = (_: string, hex2?: string, hex4?: string, hex8?: string, letter?: string): string => {
  if (letter !== undefined) return ESCAPES.get(letter) ?? letter;
  const code = parseInt((hex2 ?? hex4 ?? hex8)!, 16);
  return code > 0x10ffff ? "\ufffd" : String.fromCodePoint(code);
};

/** No title comes near. Where a quoted value is so long that the engine's stack is full, it takes 0.2 µs a character. */
const LONGEST = 8192;

/** Quoted, or plain up to a comment. */
function scalar(text: string): string {
  if (text.length > LONGEST) return text.slice(0, LONGEST);
  const double = /^"((?:[^"\\]|\\.)*)"[ \t]*(?:#.*)?$/.exec(text);
  if (double) {
    return double[1]!.replace(/\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|(.))/g, escaped);
  }
  const single = /^'((?:[^']|'')*)'[ \t]*(?:#.*)?$/.exec(text);
  if (single) return single[1]!.replaceAll("''", "'");
  const comment = text.startsWith("#") ? 0 : text.search(/[ \t]#/);
  return (comment < 0 ? text : text.slice(0, comment)).trim();
}

/** `lines` below a key belong to it when they are indented: a block (`|`, `>`) or the rest of a long value. */
function value(first: string, lines: readonly string[]): string {
  const rest = lines.map((line) => line.trim()).filter((line) => line !== "");
  const words = /^[|>][-+\d]*[ \t]*(?:#.*)?$/.test(first) ? rest : [first, ...rest];
  return words === rest ? rest.join(" ") : scalar(words.join(" "));
}

/** One level deeper: the first of that name. */
function memberOf(lines: readonly string[], name: string): string {
  for (const line of lines) {
    const [, key, first] = KEY.exec(line.trim()) ?? [];
    if (key === name) return scalar(first ?? "");
  }
  return "";
}

/** A Map, never an object: `__proto__: x` is a key like any other. */
function entries(block: string): Map<string, string> {
  const found = new Map<string, string>();
  const lines = block.split(/\r?\n/);
  for (let i = 0; i < lines.length; i++) {
    const [, key, first] = KEY.exec(lines[i]!.trimEnd()) ?? [];
    if (key === undefined) continue;
    let end = i + 1;
    while (end < lines.length && /^(?:[ \t]|$)/.test(lines[end]!)) end++;
    found.set(scalar(key), value(first ?? "", lines.slice(i + 1, end)));
    if (key === "hero") found.set("hero.name", memberOf(lines.slice(i + 1, end), "name"));
    i = end - 1;
  }
  return found;
}

function numberIn(text: string | undefined): number | null {
  const number = text === undefined || text === "" ? NaN : Number(text.replaceAll("_", ""));
  return Number.isFinite(number) ? number : null;
}

/** A page without its front matter, and what that said. An opening `---` that nothing ends is a line across the page. */
function splitFrontMatter(text: string): { front: FrontMatter; body: string } {
  const opening = OPENING.exec(text)?.[0].length;
  if (opening === undefined) return { front: NONE, body: text };
  CLOSING.lastIndex = opening;
  const closing = CLOSING.exec(text);
  if (!closing) return { front: NONE, body: text };
  const said = entries(text.slice(opening, closing.index));
  const front = {
    title: said.get("title") || null,
    order: numberIn(said.get("order")),
    hero: said.get("hero.name") || null,
  };
  return { front, body: text.slice(closing.index + closing[0].length) };
}
