/** What the search looks through: titles, headings and text, as much as is worth loading. */
import { relativeUrl } from "../markdown/links.ts";
import type { DocsPage } from "./tree.ts";

/** Bytes of the index: a reader loads it at the first key. */
const MOST = 300_000;

/** A section: its heading and that heading's id (both empty before the first, and below the page's title), its text. */
type Section = [heading: string, id: string, text: string];
/** A page: its title, its address from the site's root, its sections. */
type Entry = [title: string, url: string, sections: Section[]];

/** What is kept of each page; `scope` tells readers, behind "Search". */
interface Level {
  scope: string;
  shorten(text: string): string;
  /** The deepest heading. */
  depth: number;
}

/** A sentence of which more is not kept: some texts have none. */
const LONGEST_SENTENCE = 300;
/** Where words stand without spaces, sentences do too. */
const SENTENCE_END = /[.!?](?=\s)|[。！？]/;

function firstSentence(line: string): string {
  const end = line.search(SENTENCE_END) + 1 || line.length;
  return end <= LONGEST_SENTENCE ? line.slice(0, end) : line.slice(0, LONGEST_SENTENCE).replace(/[\ud800-\udbff]$/, "");
}

const whole: Level = { scope: "titles and text", shorten: (text) => text, depth: 6 };
const sentences: Level = {
  scope: "titles and first sentences",
  shorten: (text) => text.split("\n").map(firstSentence).join("\n"),
  depth: 6,
};
const headingsTo = (depth: number): Level => ({ scope: "titles and headings", shorten: () => "", depth });
const SHORTER = [sentences, headingsTo(6), headingsTo(3), headingsTo(2)];

/** What a reader may search, and what for. */
interface SearchIndex {
  json: string;
  scope: string;
}

function sectionsOf({ title, headings, sections }: DocsPage, { shorten, depth: deepest }: Level): Section[] {
  const below = (i: number): string => shorten(sections[i] ?? "");
  const all = headings.map(({ text, id, depth }, i): Section =>
    text === title || depth > deepest ? ["", "", below(i + 1)] : [text, id, below(i + 1)],
  );
  return [["", "", below(0)] as Section, ...all].filter(([heading, , text]) => heading !== "" || text !== "");
}

const indexOf = (pages: readonly DocsPage[], level: Level): Entry[] =>
  pages.map((page) => [page.title, relativeUrl("", page.address), sectionsOf(page, level)]);

/** Titles alone, as many as there is room for. */
function titles(pages: readonly DocsPage[]): string {
  const entries: string[] = [];
  let room = MOST - 2;
  for (const page of pages) {
    const entry = JSON.stringify([page.title, relativeUrl("", page.address), []]);
    room -= Buffer.byteLength(entry) + 1;
    if (room < 0) break;
    entries.push(entry);
  }
  return `[${entries.join()}]`;
}

/** All text; where that is too much the first sentence of each paragraph, then headings alone, as deep as there is room. */
export function searchIndex(pages: readonly DocsPage[]): SearchIndex {
  const written = pages.filter(({ source }) => source !== null);
  const length = written.reduce((sum, { sections }) => sum + sections.reduce((all, text) => all + text.length, 0), 0);
  for (const level of length > MOST ? SHORTER : [whole, ...SHORTER]) {
    const json = JSON.stringify(indexOf(written, level));
    if (Buffer.byteLength(json) <= MOST) return { json, scope: level.scope };
  }
  return { json: titles(written), scope: "titles" };
}
