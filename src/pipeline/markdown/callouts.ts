/** Notes as documentation tools write them: `::: tip Title` … `:::` (VitePress, Docusaurus) and `!!! note "Title"` or
 *  `??? note` with an indented body (MkDocs). */

import type { Token, TokenizerAndRendererExtension, Tokens } from "marked";

/** How it looks, by what it is called. */
const LOOKS: Record<string, string> = {
  note: "note info abstract summary tldr todo seealso example quote cite details",
  tip: "tip hint success check done",
  important: "important question help faq",
  warning: "warning attention",
  caution: "caution danger error failure fail missing bug",
};
const LOOK = new Map(Object.entries(LOOKS).flatMap(([look, names]) => names.split(" ").map((name) => [name, look])));
/** The words after three colons that open a callout, and the blocks that are shown without a frame. */
const FENCED = new Set("note tip info warning danger caution important success details".split(" "));
const PLAIN = new Set("code-group raw v-pre".split(" "));

const FENCE = /^ {0,3}(:{3,9})[ \t]{0,9}([a-z][a-z-]{1,19})(?![a-z-])[ \t]{0,9}([^\n]*)(?:\n|$)/;
const MARKED =
  /^(!!!|\?\?\?\+?)[ \t]{1,9}([a-z][a-z-]{1,19})(?:[ \t]{1,9}(?:inline|end))*[ \t]{0,9}(?:"([^"\n]*)")?[ \t]*(?:\n|$)/i;
const CODE_FENCE = /^ {0,9}(`{3,}|~{3,})/;
/** Whether a text may have any: extensions are asked at every paragraph. */
export const hasContainers = (text: string): boolean => /^(?: {0,3}:::|!!! |\?\?\?)/m.test(text);

const NAME = "container";

interface Container extends Tokens.Generic {
  look: string | null;
  folds: boolean;
  open: boolean;
  /** Empty if it has none. */
  title: Token[];
  tokens: Token[];
}

const inWords = (name: string): string => name[0]!.toUpperCase() + name.slice(1).replaceAll("-", " ");

/** The lines up to one of as many colons, or to the end; code in between may show some. */
function fencedBody(src: string, from: number, colons: number): { body: string; end: number } {
  let code = "";
  for (let at = from; at < src.length;) {
    const found = src.indexOf("\n", at);
    const end = found < 0 ? src.length : found + 1;
    const line = src.slice(at, end);
    const mark = CODE_FENCE.exec(line)?.[1] ?? "";
    if (code === "") {
      if (new RegExp(`^ {0,3}:{${colons},}[ \\t]*\\n?$`).test(line)) return { body: src.slice(from, at), end };
      code = mark;
    } else if (mark[0] === code[0] && mark.length >= code.length) code = "";
    at = end;
  }
  return { body: src.slice(from), end: src.length };
}

/** The lines that are indented, and empty ones among them. */
function indentedBody(src: string, from: number): { body: string; end: number } {
  const lines: string[] = [];
  let end = from;
  for (let at = from; at < src.length;) {
    const found = src.indexOf("\n", at);
    const next = found < 0 ? src.length : found + 1;
    const line = src.slice(at, next);
    if (/^(?: {4}|\t)/.test(line)) end = next;
    else if (line.trim() !== "") break;
    lines.push(line.replace(/^(?: {4}|\t)/, ""));
    at = next;
  }
  return { body: lines.join(""), end };
}

/** `[Title]` and `Title {open}`, as Docusaurus and VitePress have them. */
function fenceTitle(rest: string): { title: string; open: boolean } {
  const attributes = /\{[^{}]*\}\s*$/.exec(rest)?.[0] ?? "";
  const words = rest.slice(0, rest.length - attributes.length).trim();
  const bracketed = words.startsWith("[") && words.endsWith("]") ? words.slice(1, -1) : words;
  const named = /\btitle=["']([^"']*)["']/.exec(attributes)?.[1];
  return { title: named ?? bracketed, open: /\bopen\b/.test(attributes) };
}

interface OpenedCallout {
  raw: string;
  body: string;
  name: string;
  title: string | undefined;
  folds: boolean;
  open: boolean;
}

function opened(src: string): OpenedCallout | null {
  const fence = FENCE.exec(src);
  if (fence && (FENCED.has(fence[2]!) || PLAIN.has(fence[2]!))) {
    const { body, end } = fencedBody(src, fence[0].length, fence[1]!.length);
    const { title, open } = fenceTitle(fence[3]!);
    return {
      raw: src.slice(0, end),
      body,
      name: fence[2]!,
      title: title || undefined,
      folds: fence[2] === "details",
      open,
    };
  }
  const [head, mark, name, title] = MARKED.exec(src) ?? [];
  if (head === undefined) return null;
  const { body, end } = indentedBody(src, head.length);
  return {
    raw: src.slice(0, end),
    body,
    name: name!.toLowerCase(),
    title,
    folds: mark![0] === "?",
    open: mark!.endsWith("+"),
  };
}

export const containers: TokenizerAndRendererExtension = {
  name: NAME,
  level: "block",
  start: (src) => {
    const at = src.search(/\n(?: {0,3}:::|!!! |\?\?\?)/);
    return at < 0 ? undefined : at + 1;
  },
  tokenizer(src): Container | undefined {
    const found = opened(src);
    if (found === null) return undefined;
    const { raw, body, name, title = inWords(name), folds, open } = found;
    const look = PLAIN.has(name) ? null : (LOOK.get(name) ?? "note");
    const token: Container = { type: NAME, raw, look, folds, open, title: [], tokens: [] };
    this.lexer.inline(title, token.title);
    this.lexer.blockTokens(body, token.tokens);
    return token;
  },
  renderer(token) {
    const { look, folds, open, title, tokens } = token as Container;
    const inside = this.parser.parse(tokens);
    if (look === null) return inside;
    const words = this.parser.parseInline(title);
    if (folds)
      return `<details class="alert ${look}"${open ? " open" : ""}>\n<summary>${words}</summary>\n${inside}</details>\n`;
    const head = words && `<p class="alert-title">${words}</p>\n`;
    return `<div class="alert ${look}" role="note">\n${head}${inside}</div>\n`;
  },
};

// GitHub's alerts: a quotation whose first line is `[!NOTE]` or the like. Words after it are its title.

const KINDS = new Map([
  ["NOTE", "Note"],
  ["TIP", "Tip"],
  ["IMPORTANT", "Important"],
  ["WARNING", "Warning"],
  ["CAUTION", "Caution"],
]);
const FIRST_LINE = /^\[!([a-z]{3,9})\][ \t]*([^\n]*)(?:\n|$)/i;

interface Alert {
  /** As a class name. */
  kind: string;
  /** The title on its first line. */
  title: Token[];
  tokens: Token[];
}

const textToken = (text: string): Token => ({ type: "text", raw: text, text, escaped: false });

/** Tokens cut behind `length` characters of their source. */
function cut(tokens: readonly Token[], length: number): [before: Token[], after: Token[]] {
  let [at, left] = [0, length];
  while (at < tokens.length && tokens[at]!.raw.length <= left) left -= tokens[at++]!.raw.length;
  const [before, [first, ...rest]] = [tokens.slice(0, at), tokens.slice(at)];
  if (!first) return [before, []];
  if (left === 0 || first.type !== "text") return [before, [first, ...rest]];
  return [
    [...before, textToken(first.raw.slice(0, left))],
    [textToken(first.raw.slice(left)), ...rest],
  ];
}

export function alertOf({ tokens }: Tokens.Blockquote): Alert | null {
  const [first, ...rest] = tokens;
  if (first?.type !== "paragraph") return null;
  const line = FIRST_LINE.exec(first.raw);
  const kind = line && KINDS.get(line[1]!.toUpperCase());
  if (!kind) return null;
  const [whole, mark = "", words = ""] = line;
  const before = whole.indexOf(words, mark.length + 3);
  const [head, inside] = cut((first as Tokens.Paragraph).tokens, whole.length);
  const [, title] = cut(cut(head, before + words.length)[0], before);
  const kept = inside.length > 0 ? [{ ...first, tokens: inside } as Token, ...rest] : rest;
  return { kind: kind.toLowerCase(), title: words ? title : [textToken(kind)], tokens: kept };
}
