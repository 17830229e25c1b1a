/** Where a text holds the very letters of another one, whatever words they are in. Runs in browsers. */

/** `indexOf` goes through the sought for each letter of a text that is nearly the same all over: seconds, where it is long. */
const BEGINNING = 16;
/** Of the places where its beginning stands, so many are looked at, from the first on. */
const MOST = 2000;

export function* lettersIn(text: string, sought: string): Generator<number> {
  const beginning = sought.slice(0, BEGINNING);
  let at = text.indexOf(beginning);
  for (let left = MOST; at >= 0 && left > 0; left--) {
    if (text.startsWith(sought, at)) yield at;
    at = text.indexOf(beginning, at + 1);
  }
}
