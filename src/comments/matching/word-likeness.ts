/** How like each other two words are that differ at one place, such as by their ending: 0, or 0.48 to 0.8. */

const LEAST = 0.6;
const SHORTEST = 4;
/** An equal word counts for more than any other. */
const NEVER_WHOLE = 0.8;

/** Of `a` from `from` to `to`, of `b` from `start` to `end`. */
export function wordLikeness(a: string, from: number, to: number, b: string, start: number, end: number): number {
  const longest = Math.max(to - from, end - start);
  const most = Math.min(to - from, end - start);
  if (longest < SHORTEST || most < LEAST * longest) return 0;
  let head = 0;
  while (head < most && a.charCodeAt(from + head) === b.charCodeAt(start + head)) head++;
  let tail = 0;
  while (tail < most - head && a.charCodeAt(to - 1 - tail) === b.charCodeAt(end - 1 - tail)) tail++;
  const share = (head + tail) / longest;
  return share < LEAST ? 0 : share * NEVER_WHOLE;
}
