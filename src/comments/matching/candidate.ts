/** A place where a quoted passage may be, and how like the quote it is. Runs in browsers. */

export interface Candidate {
  start: number;
  end: number;
  /** How like the quote the passage is, and how like the prefix and the suffix is what stands around it: 0 to 1, and null
   *  where the quote has none. */
  likeness: number;
  /** What of the quote is there, whatever else is there too. */
  kept: number;
  before: number | null;
  behind: number | null;
}

/** A word that stands at the passage's side says more than the farthest one, by this. */
const FAR = 0.5;

/** What the `nth` of `count` words, counted from the passage on, weighs of its own weight. */
export const nearness = (nth: number, count: number): number => 1 - (FAR * nth) / count;
