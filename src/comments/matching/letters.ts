/** Where a text holds the very letters of another one, whatever words they are in, in time by the text's length alone (Knuth,
 *  Morris and Pratt, SIAM J. Comput. 6, 1977): `indexOf` goes through the sought for each letter of a text that is nearly the
 *  same all over. Runs in browsers. */

/** For each letter of `sought` how many before and with it are its beginning again. */
function bordersOf(sought: string): Int32Array {
  const borders = new Int32Array(sought.length);
  for (let at = 1, same = 0; at < sought.length; at++) {
    const code = sought.charCodeAt(at);
    while (same > 0 && code !== sought.charCodeAt(same)) same = borders[same - 1]!;
    if (code === sought.charCodeAt(same)) same++;
    borders[at] = same;
  }
  return borders;
}

/** At most so many places, from the first on. */
export function* lettersIn(text: string, sought: string, most: number): Generator<number> {
  const borders = bordersOf(sought);
  let left = most;
  for (let at = 0, same = 0; at < text.length && left > 0; at++) {
    const code = text.charCodeAt(at);
    while (same > 0 && code !== sought.charCodeAt(same)) same = borders[same - 1]!;
    if (code === sought.charCodeAt(same)) same++;
    if (same < sought.length) continue;
    left--;
    yield at + 1 - same;
    same = borders[same - 1]!;
  }
}
