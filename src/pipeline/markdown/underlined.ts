/** Headings that are underlined, without `marked`'s thirst: it looks for the line of `=` or `-` through a whole paragraph
 *  and remembers each letter on the way, 200 MB for a paragraph of one. */
import type { MarkedExtension } from "marked";

/** Characters within which a paragraph ends or is underlined, or is no heading. */
const SOON = 10_000;
const END = /\n[ \t]*(?:\n|$)|\n {0,3}(?:=+|-+) *(?:\n|$)/;

export const underlined: MarkedExtension = {
  tokenizer: {
    // `false`: as `marked` itself would.
    lheading: (src) => (src.length > SOON && !END.test(src.slice(0, SOON)) ? undefined : false),
  },
};
