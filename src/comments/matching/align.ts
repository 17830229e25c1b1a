/** Two rows of words laid beside each other so that the most weight of equal ones meets, in order (Needleman and Wunsch,
 *  J. Mol. Biol. 48, 1970). Runs in browsers. */

/** What a word costs that is passed over between words that meet, in shares of its weight: words that lie together win
 *  over such as are strewn. */
const SKIP = 0.12;

/** Ways into a cell. */
const [LEFT, UP, MEET] = [0, 1, 2];

interface Row {
  ids: ArrayLike<number>;
  weights: ArrayLike<number>;
}

/** For each word of `a` the one of `b` that it meets, else -1. `like` says what share of its weight a word of `a` keeps
 *  that meets another one. What stands in `b` before the first meeting costs nothing if `free_start`, and what stands
 *  behind the last one never costs. */
export function align(a: Row, b: Row, free_start: boolean, like: (i: number, j: number) => number): Int32Array {
  const [rows, columns] = [a.ids.length, b.ids.length];
  const ways = new Uint8Array((rows + 1) * (columns + 1));
  let before = new Float64Array(columns + 1);
  let now = new Float64Array(columns + 1);
  if (!free_start) for (let j = 1; j <= columns; j++) before[j] = before[j - 1]! - SKIP * b.weights[j - 1]!;
  for (let i = 1; i <= rows; i++) {
    const weight = a.weights[i - 1]!;
    const at = i * (columns + 1);
    now[0] = before[0]!;
    ways[at] = UP;
    for (let j = 1; j <= columns; j++) {
      const skipped = now[j - 1]! - (i === rows ? 0 : SKIP * b.weights[j - 1]!);
      const missed = before[j]!;
      const share = a.ids[i - 1] === b.ids[j - 1] ? 1 : like(i - 1, j - 1);
      const met = share > 0 ? before[j - 1]! + share * weight : -Infinity;
      const best = Math.max(skipped, missed, met);
      now[j] = best;
      ways[at + j] = met === best ? MEET : missed === best ? UP : LEFT;
    }
    [before, now] = [now, before];
  }
  return back(ways, rows, columns);
}

function back(ways: Uint8Array, rows: number, columns: number): Int32Array {
  const meets = new Int32Array(rows).fill(-1);
  for (let i = rows, j = columns; i > 0;) {
    const way = j === 0 ? UP : ways[i * (columns + 1) + j]!;
    if (way === MEET) meets[--i] = --j;
    else if (way === UP) i--;
    else j--;
  }
  return meets;
}
