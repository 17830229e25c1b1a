/** Turns a selection into what can be found again (COMMENTS 3): a passage of whole graphemes with the text around it,
 *  or a part of the page. */
import type { Quote } from "../../anchoring/quote.ts";
import { documentText } from "../page-text.ts";
import { pathTo, rangeOf } from "./parts.ts";
import type { Selected } from "./selecting.ts";

const CONTEXT = 64;
/** Code points. */
export const LONGEST_PASSAGE = 1200;

/** The nearest edge of a grapheme at or before `at`, or at or behind it. */
function snapped(text: string, at: number, forward: boolean): number {
  const from = Math.max(0, at - CONTEXT);
  const segments = new Intl.Segmenter().segment(text.slice(from, at + CONTEXT));
  const segment = segments.containing(at - from);
  if (!segment || segment.index + from === at) return at;
  return from + segment.index + (forward ? segment.segment.length : 0);
}

/** The text before a passage: as many whole words as there is room for. */
function contextBefore(text: string, start: number): string {
  const before = text.slice(Math.max(0, start - CONTEXT), start);
  return start > CONTEXT ? before.replace(/^\S*\s(?=\S)/, "").replace(/^[\udc00-\udfff]/, "") : before;
}
function contextBehind(text: string, end: number): string {
  const behind = text.slice(end, end + CONTEXT);
  return end + CONTEXT < text.length ? behind.replace(/(\S)\s\S*$/, "$1").replace(/[\ud800-\udbff]$/, "") : behind;
}

export interface Passage {
  /** Null for a part of the page. */
  quote: Quote | null;
  /** The CSS selector of the part; null without one. */
  element: string | null;
  range: Range;
}

/** The passage of a selection; null if that holds no text of the page. */
export function passageOf({ range: selected, part }: Selected): Passage | null {
  if (part) return { quote: null, element: pathTo(part), range: rangeOf(part) };
  const page = documentText();
  const { text } = page;
  let start = page.offset(selected.startContainer, selected.startOffset);
  let end = page.offset(selected.endContainer, selected.endOffset);
  while (start < end && text[start] === " ") start++;
  while (end > start && text[end - 1] === " ") end--;
  [start, end] = [snapped(text, start, false), snapped(text, end, true)];
  const range = page.range(start, end);
  if (!range) return null;
  const exact = text.slice(start, end);
  return {
    range,
    element: null,
    quote: { exact, prefix: contextBefore(text, start), suffix: contextBehind(text, end) },
  };
}
