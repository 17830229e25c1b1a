/** One Markdown text becomes HTML, with the facts that its page needs. It runs under a time limit, in a thread of its own. */
import { Marked, type MarkedExtension, type RendererObject, type Token, type Tokens } from "marked";
import { alertOf, containers, hasContainers } from "./callouts.ts";
import { attributesOf } from "../../html/attributes.ts";
import { decodeEntities } from "../../html/character-references.ts";
import { excerptOf, hasEmoji, plainText, spelledText, withEmoji } from "./text.ts";
import { createFootnotes } from "./footnotes.ts";
import { highlight } from "./highlight.ts";
import { partsOf } from "../../html/page.ts";
import { createUndrawn, type Drawing } from "./undrawn.ts";
import { closeHtml, type Rewrite } from "../../html/close-html.ts";
import { type BrokenLink, createLinker, type LinkTargets } from "./links.ts";

export interface Heading {
  depth: number;
  text: string;
  id: string;
}

export interface Rendered {
  /** The page's body, whole in itself. */
  html: string;
  headings: Heading[];
  /** The text of its first `# heading`, else of an `<h1>` in raw HTML. */
  title: string | null;
  /** The title is from raw HTML: it may be a banner that is on many pages. */
  banner: boolean;
  /** It has a main heading of its own, with or without words. */
  titled: boolean;
  /** It shows nothing: no text, no picture. */
  empty: boolean;
  /** Text of the first paragraph that has any. */
  excerpt: string;
  /** The text before its first heading, then below each heading; one line for each paragraph. */
  sections: string[];
  broken: readonly BrokenLink[];
  /** The code in it that readers may expect to see drawn. */
  undrawn: readonly Drawing[];
}

export interface RenderJob {
  source: string;
  text: string;
  /** The folder of the page. */
  folder: string;
}

const LANGUAGE = /^[\w+#.-]+/;

const cell = ({ header, align, tokens }: Tokens.TableCell, inline: (tokens: Token[]) => string): string => {
  const name = header ? "th" : "td";
  return `<${name}${align ? ` class="${align}"` : ""}>${inline(tokens)}</${name}>\n`;
};

function codeBlock({ text, lang }: Tokens.Code): string {
  const language = LANGUAGE.exec(lang ?? "")?.[0];
  const name = language ? ` class="language-${Bun.escapeHTML(language)}"` : "";
  const shown = language ? ` data-language="${Bun.escapeHTML(language)}"` : "";
  return `<div class="code"${shown}><pre tabindex="0"><code${name}>${highlight(text, language)}\n</code></pre></div>\n`;
}

const checkBox = ({ checked }: Tokens.Checkbox): string =>
  `<input type="checkbox" disabled${checked ? " checked" : ""} aria-label="${checked ? "Done" : "To do"}"> `;

/** `marked` writes obsolete attributes, bare checkboxes and no ids; what scrolls sideways must take the focus. */
function renderer(headings: Heading[], anchors: Anchors, rewrite: Rewrite): RendererObject {
  return {
    link(token) {
      token.href = rewrite("a", { name: "href", value: token.href }, []) ?? token.href;
      return false; // `marked` does the rest
    },
    image(token) {
      token.href = rewrite("img", { name: "src", value: token.href }, []) ?? token.href;
      return false;
    },
    heading({ tokens: all, depth }) {
      const { id: own, tokens } = splitOwnId(all);
      const text = plainText(tokens).trim();
      const id = own === null ? anchors.made(spelledText(tokens)) : anchors.given(notTheFrames(own));
      headings.push({ depth, text, id });
      const link = depth > 1 ? `<a class="anchor" href="#${id}" aria-hidden="true" tabindex="-1"></a>` : "";
      return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}${link}</h${depth}>\n`;
    },
    blockquote(token) {
      const alert = alertOf(token);
      if (!alert) return `<blockquote>\n${this.parser.parse(token.tokens)}</blockquote>\n`;
      const title = `<p class="alert-title">${this.parser.parseInline(alert.title)}</p>\n`;
      return `<div class="alert ${alert.kind}" role="note">\n${title}${this.parser.parse(alert.tokens)}</div>\n`;
    },
    table({ header, rows }) {
      const row = (cells: Tokens.TableCell[]): string =>
        `<tr>\n${cells.map((each) => cell(each, (tokens) => this.parser.parseInline(tokens))).join("")}</tr>\n`;
      const body = rows.length > 0 ? `<tbody>${rows.map(row).join("")}</tbody>` : "";
      return `<div class="table" tabindex="0"><table>\n<thead>${row(header)}</thead>\n${body}</table></div>\n`;
    },
    listitem({ task, tokens }) {
      return `<li${task ? ' class="task"' : ""}>${this.parser.parse(tokens)}</li>\n`;
    },
    checkbox: checkBox,
  };
}

/** Asked of every word: only texts that may have emoji pay for it. */
const EMOJI: RendererObject = {
  text(token) {
    token.text = withEmoji(token.text);
    return false;
  },
};

/** The author's own HTML. A stack instead of `marked`'s walk, whose time is the square of the depth. */
function* rawHtml(tokens: readonly Token[]): Generator<string> {
  const left: Token[] = [...tokens];
  for (let token = left.pop(); token; token = left.pop()) {
    if (token.type === "html") yield token.raw;
    for (const inside of childrenOf(token)) left.push(inside);
  }
}

function* idsIn(html: string): Generator<string> {
  for (const part of partsOf(html)) {
    const id = part.kind === "open" ? attributesOf(part.attributes).get("id") : undefined;
    if (id) yield id;
  }
}

/** The most characters read of a raw `<h1>`: badges and a logo come before its words. */
const LONGEST_HEADING = 4000;

/** The text of the first `<h1>…</h1>`: many a README centres its title that way. Null if there is none. */
function mainHeading(html: string): string | null {
  let words: string | null = null;
  for (const part of partsOf(html)) {
    if (part.kind === "text") words = words === null ? null : words + part.text;
    else if (part.name === "h1" && part.kind === "open") words ??= "";
    else if (part.name === "h1" && words !== null) return decodeEntities(words).trim();
    if (words !== null && words.length > LONGEST_HEADING) return "";
  }
  return words === null ? null : "";
}

/** Elements that a page shows without any letter. */
const SHOWN = new Set("img picture svg canvas video audio iframe object embed input hr".split(" "));

function showsNothing(html: string): boolean {
  for (const part of partsOf(html)) {
    if (part.kind === "text" ? part.text.trim() !== "" : SHOWN.has(part.name)) return false;
  }
  return true;
}

export function renderMarkdown({ source, text, folder }: RenderJob, targets: LinkTargets): Rendered {
  const headings: Heading[] = [];
  const ids = new Set<string>();
  const { rewrite, broken } = createLinker(source, folder, targets);
  // The output of `marked` is well formed. Only a page with its author's own HTML is read tag by tag, links and all.
  let raw = false;
  const ours: Rewrite = (...url) => (raw ? null : rewrite(...url));
  const footnotes = createFootnotes();
  const undrawn = createUndrawn(text, codeBlock);
  const marked = new Marked({ renderer: { ...renderer(headings, createAnchors(ids), ours), code: undrawn.code } });
  marked.use(underlined);
  // An extension's start() is asked at every paragraph: only pages with footnotes pay for it.
  if (text.includes("[^")) marked.use(footnotes.extension);
  if (hasEmoji(text)) marked.use({ renderer: EMOJI });
  if (hasContainers(text)) marked.use({ extensions: [containers] });
  if (undrawn.extension) marked.use(undrawn.extension);
  const tokens = marked.lexer(text);
  for (const html of rawHtml(tokens)) {
    raw = true;
    for (const id of idsIn(html)) ids.add(id);
  }
  const write = (inside: Token[]): string => (raw ? closeHtml(marked.parser(inside), rewrite) : marked.parser(inside));
  const body = write(tokens);
  const notes = footnotes.list(write);
  const heading = headings.find(({ depth, text: words }) => depth === 1 && words !== "")?.text;
  const main = heading ?? mainHeading(body);
  const title = main || null;
  const titled = main !== null;
  const banner = heading === undefined && title !== null;
  const excerpt = firstParagraph(tokens);
  const empty = excerpt === "" && headings.length === 0 && showsNothing(body);
  const sections = sectionsOf(tokens);
  const left = { broken: broken(), undrawn: undrawn.found() };
  return { html: body + notes, headings, title, banner, titled, empty, excerpt, sections, ...left };
}

function firstParagraph(tokens: readonly Token[]): string {
  for (const token of tokens) {
    const text = token.type === "paragraph" ? excerptOf(plainText(token.tokens ?? [])) : "";
    if (text) return text;
  }
  return "";
}

// Anchors as GitHub makes them from headings, so that links written for GitHub lead to the same place here; and those that
// authors give themselves.

/** The characters that GitHub removes: all but letters, marks, numbers, connectors, hyphens and spaces. */
const DROPPED = /[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu;

/** The text is not trimmed: the space between a picture and a word becomes a hyphen. */
const slug = (text: string): string => text.toLowerCase().replace(DROPPED, "").replaceAll(" ", "-");

interface Anchors {
  /** For a heading with this text. */
  made(text: string): string;
  /** For a heading that names its own. */
  given(id: string): string;
}

/** `used` begins with the ids of the author's own HTML. A heading without a letter is `section`, for an id must not be empty. */
function createAnchors(used: Set<string>): Anchors {
  const repeats = new Map<string, number>();
  function given(base: string): string {
    let id = base;
    for (let n = repeats.get(base) ?? 0; used.has(id);) {
      id = `${base}-${++n}`;
      repeats.set(base, n);
    }
    used.add(id);
    return id;
  }
  return { made: (text) => given(slug(text) || "section"), given };
}

/** The frame's own ids, and those of footnotes, have a colon behind these. */
const notTheFrames = (id: string): string => id.replace(/^(docs|fn|fnref):/, "$1-");

/** `{#id}`, `{ #id .class }` or `{: #id}` at a heading's end. */
const OWN_ID = /\{:?[ \t]{0,9}#([\p{L}\p{M}\p{N}_.:-]{1,200})(?:[ \t][^{}\n]{0,200})?\}[ \t]{0,99}$/u;

/** The heading's id of its own, and its tokens without it. */
function splitOwnId(tokens: readonly Token[]): { id: string | null; tokens: Token[] } {
  const last = tokens.at(-1);
  const words = last?.type === "text" && "text" in last ? String(last.text) : "";
  const found = OWN_ID.exec(words);
  if (!found) return { id: null, tokens: [...tokens] };
  const text = words.slice(0, found.index).trimEnd();
  return { id: found[1]!, tokens: [...tokens.slice(0, -1), { type: "text", raw: text, text, escaped: false }] };
}

// The text of a page between its headings, for the search.

/** The blocks in a token, one level down. */
function childrenOf(token: Token): readonly Token[] {
  if (token.type === "list") return (token as Tokens.List).items;
  if (token.type !== "table") return ("tokens" in token && token.tokens) || [];
  const { header, rows } = token as Tokens.Table;
  return [...header, ...rows.flat()].flatMap((each) => each.tokens);
}

/** Blocks whose children are words. */
const WORDS = new Set(["paragraph", "text"]);

/** Without the mark that makes a quotation an alert. */
function oneLine(text: string): string {
  const line = /\s\s|[\n\t]/.test(text) ? text.replace(/\s+/g, " ") : text;
  return (line.startsWith("[!") ? line.replace(/^\[![a-z]{3,9}\] ?/i, "") : line).trim();
}

/** A text before the first heading, and one for each heading; paragraphs are lines. With a stack: quotations may be nested
 *  as deep as their text is long. */
function sectionsOf(tokens: readonly Token[]): string[] {
  const sections: string[][] = [[]];
  const left = tokens.toReversed();
  for (let token = left.pop(); token; token = left.pop()) {
    if (token.type === "heading") sections.push([]);
    else if (token.type === "table") sections.at(-1)!.push(...rowsOf(token as Tokens.Table));
    else if (WORDS.has(token.type))
      sections.at(-1)!.push(oneLine(plainText(("tokens" in token && token.tokens) || [token])));
    else left.push(...childrenOf(token).toReversed());
  }
  return sections.map((lines) => lines.filter((line) => line !== "").join("\n"));
}

const rowsOf = ({ header, rows }: Tokens.Table): string[] =>
  [header, ...rows].map((row) => oneLine(row.map(({ tokens }) => plainText(tokens)).join(" ")));

// Headings that are underlined, without `marked`'s thirst: it looks for the line of `=` or `-` through a whole
// paragraph and remembers each letter on the way, 200 MB for a paragraph of one. From 4.2 KB on its expression runs without
// the JIT, 20 to 40 ms for a paragraph. So only what is underlined is given to it.

/** The most characters of a heading. Within them its line comes, before an empty line and the text's end, or it is none. */
const SOON = 3000;
const END = /\n[ \t]*(?:\n|$)|\n {0,3}(=+|-+) *(?:\n|$)/;

const underlined: MarkedExtension = {
  tokenizer: {
    // `false`: as `marked` itself would.
    lheading: (src) => (END.exec(src.slice(0, SOON))?.[1] === undefined ? undefined : false),
  },
};
