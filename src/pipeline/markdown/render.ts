/** One Markdown text becomes HTML, with the facts that its page needs. It runs under a time limit, in a thread of its own. */
import { Marked, type RendererObject, type Token, type Tokens } from "marked";
import { alertOf, containers, hasContainers } from "./callouts.ts";
import { attributesOf } from "../../html/attributes.ts";
import { decodeEntities } from "../../html/character-references.ts";
import {
  type Anchors,
  childrenOf,
  createAnchors,
  notTheFrames,
  sectionsOf,
  splitOwnId,
  underlined,
} from "./headings.ts";
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
