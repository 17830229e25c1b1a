/** Anchors as GitHub makes them from headings, so that links written for GitHub lead to the same place here; and those that
 *  authors give themselves. */
import type { Token } from "marked";

/** What GitHub takes out: everything but letters, marks, numbers, connectors, hyphens and spaces. */
const DROPPED = /[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu;

/** Nothing is trimmed: the space between a picture and a word is a hyphen. */
const slug = (text: string): string => text.toLowerCase().replace(DROPPED, "").replaceAll(" ", "-");

export interface Anchors {
  /** For a heading with this text. */
  made(text: string): string;
  /** For a heading that names its own. */
  given(id: string): string;
}

/** `used` begins with the ids of the author's own HTML. A heading without a letter is `section`, for an id must not be empty. */
export function createAnchors(used: Set<string>): Anchors {
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
export const notTheFrames = (id: string): string => id.replace(/^(docs|fn|fnref):/, "$1-");

/** `{#id}`, `{ #id .class }` or `{: #id}` at a heading's end. */
const OWN_ID = /\{:?[ \t]{0,9}#([\p{L}\p{M}\p{N}_.:-]{1,200})(?:[ \t][^{}\n]{0,200})?\}[ \t]{0,99}$/u;

/** The heading's id of its own, and its tokens without it. */
export function splitOwnId(tokens: readonly Token[]): { id: string | null; tokens: Token[] } {
  const last = tokens.at(-1);
  const words = last?.type === "text" && "text" in last ? String(last.text) : "";
  const found = OWN_ID.exec(words);
  if (!found) return { id: null, tokens: [...tokens] };
  const text = words.slice(0, found.index).trimEnd();
  return { id: found[1]!, tokens: [...tokens.slice(0, -1), { type: "text", raw: text, text, escaped: false }] };
}
