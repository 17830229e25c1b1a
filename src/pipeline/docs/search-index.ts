/** What the search looks through: titles, headings and text, as much as is worth loading. */
import { relativeUrl } from "../markdown/links.ts";
import type { DocsSite } from "./site.ts";
import type { DocsPage } from "./tree.ts";

/** Bytes of the index: a reader loads it at the first key. */
const MOST = 300_000;

/** A section: its heading and that heading's id (both empty before the first, and below the page's title), its text. */
type Section = [heading: string, id: string, text: string];
/** A page: its title, its address from the site's root, its sections. */
type Entry = [title: string, url: string, sections: Section[]];

type Shorten = (text: string) => string;
const whole: Shorten = (text) => text;
/** Of each paragraph. */
const firstSentences: Shorten = (text) =>
  text
    .split("\n")
    .map((line) => line.slice(0, line.search(/[.!?。！？]\s/) + 1 || line.length))
    .join("\n");
const nothing: Shorten = () => "";

function sectionsOf({ title, headings, sections }: DocsPage, shorten: Shorten): Section[] {
  const below = (i: number): string => shorten(sections[i] ?? "");
  const all = headings.map(({ text, id }, i): Section =>
    text === title ? ["", "", below(i + 1)] : [text, id, below(i + 1)],
  );
  return [["", "", below(0)] as Section, ...all].filter(([heading, , text]) => heading !== "" || text !== "");
}

const indexOf = (pages: readonly DocsPage[], shorten: Shorten): Entry[] =>
  pages.map((page) => [page.title, relativeUrl("", page.address), sectionsOf(page, shorten)]);

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

/** All text; where that is too much the first sentence of each paragraph, then headings alone. */
export function searchIndex({ pages }: DocsSite): string {
  const written = pages.filter(({ source }) => source !== null);
  const length = written.reduce((sum, { sections }) => sum + sections.reduce((all, text) => all + text.length, 0), 0);
  for (const shorten of length > MOST ? [firstSentences, nothing] : [whole, firstSentences, nothing]) {
    const index = JSON.stringify(indexOf(written, shorten));
    if (Buffer.byteLength(index) <= MOST) return index;
  }
  return titles(written);
}
