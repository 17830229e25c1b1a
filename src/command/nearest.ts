/** Guesses what someone meant to type. */

/** How many insertions, deletions, changes and swaps of neighbours lead from one word to the other. */
function distance(a: string, b: string): number {
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, i) => i)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row[j] = Math.min(last[j]! + 1, row[j - 1]! + 1, changed);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) row[j] = Math.min(row[j]!, before[j - 2]! + 1);
    }
    [before, last] = [last, row];
  }
  return last[b.length]!;
}

/** How many steps count as near: two steps lead from almost any word to one of three letters. */
const nearSteps = (written: string, word: string): number =>
  written.length < 4 ? 1 : Math.max(2, Math.floor(word.length * 0.4));

/** The nearest of the known words, or null if none is near. */
export function nearest(written: string, known: readonly string[]): string | null {
  const isStart = known.find((word) => written.length > 3 && word.startsWith(written));
  if (isStart !== undefined) return isStart;
  const ranked = known.map((word) => ({ word, steps: distance(written, word) })).sort((a, b) => a.steps - b.steps);
  const best = ranked[0];
  return best !== undefined && best.steps <= nearSteps(written, best.word) ? best.word : null;
}

/** The end of a sentence that says which flag is not known. `names` are the known flags, without dashes. */
export function flagMeant(written: string, names: readonly string[], otherwise: string): string {
  const guess = nearest(written.replace(/^-+/, ""), names);
  return guess === null ? otherwise : `did you mean --${guess}?`;
}
