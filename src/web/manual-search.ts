/** The search of the manual: finds sections that have all the words, those first that have them in their title. */

export interface Hit {
  chapter: Chapter;
  title: string;
  /** The section's anchor in its chapter; empty for the chapter's beginning. */
  id: string;
  /** Text around the first place, in pieces: every second one is a word that was looked for. */
  pieces: readonly string[];
}

const LONGEST = 100;
const MOST_WORDS = 8;
const MOST_HITS = 30;
const BEFORE = 60;
const AFTER = 160;

/** The words of a query, cut to what the search takes. */
export const asked = (q: string | null): string => (q ?? "").slice(0, LONGEST).trim();

const plain = (text: string): string => text.toLowerCase();

/** The text from a little before the first of the words on, cut at spaces. */
function around(text: string, words: readonly string[]): string {
  const first = Math.min(...words.map((word) => plain(text).indexOf(word)).filter((at) => at >= 0));
  const from = first > BEFORE && first !== Infinity ? text.indexOf(" ", first - BEFORE) + 1 : 0;
  const to = from + AFTER < text.length ? text.lastIndexOf(" ", from + AFTER) : text.length;
  return `${from > 0 ? "… " : ""}${text.slice(from, to > from ? to : from + AFTER)}${to < text.length ? " …" : ""}`;
}

/** The text cut at the words, each of which is a piece of its own. */
function piecesOf(text: string, words: readonly string[]): string[] {
  const shown = around(text, words);
  const lower = plain(shown);
  const pieces: string[] = [];
  for (let at = 0; ;) {
    const places = words.map((word) => ({ word, from: lower.indexOf(word, at) })).filter(({ from }) => from >= 0);
    const [next] = places.toSorted((a, b) => a.from - b.from || b.word.length - a.word.length);
    if (!next) return [...pieces, shown.slice(at)];
    const to = next.from + next.word.length;
    pieces.push(shown.slice(at, next.from), shown.slice(next.from, to));
    at = to;
  }
}

export function search(chapters: readonly Chapter[], q: string): Hit[] {
  const words = [...new Set(plain(q).split(/\s+/).filter(Boolean))].slice(0, MOST_WORDS);
  if (words.length === 0) return [];
  const found = chapters.flatMap((chapter) =>
    chapter.sections.flatMap(({ id, title, text }) => {
      const [name, whole] = [plain(title), plain(`${title} ${text}`)];
      if (!words.every((word) => whole.includes(word))) return [];
      const rank = words.filter((word) => name.includes(word)).length;
      return [{ rank, chapter, title, id, text }];
    }),
  );
  return found
    .toSorted((a, b) => b.rank - a.rank)
    .slice(0, MOST_HITS)
    .map(({ text, ...hit }) => ({ ...hit, pieces: piecesOf(text, words) }));
}

/** The text below one heading, as words alone: the search looks through it. */
export interface Section {
  /** Its anchor; empty for the text above the first heading. */
  id: string;
  depth: number;
  title: string;
  text: string;
}

export interface Chapter {
  /** The name of its file in docs/, and of its address. */
  name: string;
  title: string;
  html: string;
  sections: readonly Section[];
}
