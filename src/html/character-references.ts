/** Character references in a page's text, each as a browser reads it (HTML, 13.2.5.72 to 80): every name of the standard,
 *  and of the old names those without `;`, too, also as the beginning of a longer word. */
import { LEGACY, numbered } from "./entities.ts";

const REFERENCE = /&(?:#[xX]([\da-fA-F]+);?|#(\d+);?|([A-Za-z][A-Za-z\d]*)(;?))/g;
const LONGEST_LEGACY = 6;
/** A page of made-up names must not fill the memory. */
const MOST_KEPT = 4096;

/** The runtime's Markdown knows all names of the standard, as CommonMark asks. */
const kept = new Map<string, string | null>();

function fromStandard(name: string): string | null {
  const reference = `&${name};`;
  const shown = Bun.markdown.html(`x${reference}x`).slice("<p>x".length, -"x</p>\n".length);
  return shown === `&amp;${name};` ? null : (WRITTEN.get(shown) ?? shown);
}

/** What a page's source must not hold as it is. */
const WRITTEN = new Map([
  ["&amp;", "&"],
  ["&lt;", "<"],
  ["&gt;", ">"],
  ["&quot;", '"'],
]);

function named(name: string): string | null {
  const known = kept.get(name);
  if (known !== undefined) return known;
  const found = fromStandard(name);
  if (kept.size < MOST_KEPT) kept.set(name, found);
  return found;
}

function byName(whole: string, name: string, end: string): string {
  const found = end === ";" ? named(name) : null;
  if (found !== null) return found;
  for (let length = Math.min(name.length, LONGEST_LEGACY); length > 1; length--) {
    const old = LEGACY.get(name.slice(0, length));
    if (old !== undefined) return old + whole.slice(1 + length);
  }
  return whole;
}

export const decodeText = (text: string): string =>
  !text.includes("&")
    ? text
    : text.replace(REFERENCE, (whole, hex, decimal, name, end) =>
        name === undefined ? numbered(hex ? parseInt(hex, 16) : parseInt(decimal, 10)) : byName(whole, name, end),
      );
