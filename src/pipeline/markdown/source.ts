/** A Markdown file as text, and what it says of itself before its first line. */
import { isUtf8 } from "node:buffer";
import { type FrontMatter, splitFrontMatter } from "./front-matter.ts";

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

/** What becomes a page; Markdown under a dot folder (`.github/`) is some tool's. */
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
