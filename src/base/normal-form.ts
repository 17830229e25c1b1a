/** Unicode's normal forms of a stranger's text, in as many steps as it has characters. ICU sorts the marks of a letter by putting
 *  each where it belongs, so 16 KB of marks behind one letter take it half a second, and 64 KB two (RELIABILITY A24). */

/** The most marks that are sorted as one run; those behind them are the next run. No writing has as many on a letter: Unicode's
 *  own stream-safe texts have 30 at most (UAX 15). */
const MOST_MARKS = 32;
const FLOOD = new RegExp(`\\p{M}{${MOST_MARKS + 1}}`, "u");
const PIECE = new RegExp(`\\P{M}+\\p{M}{0,${MOST_MARKS}}|\\p{M}{1,${MOST_MARKS}}`, "gu");
const ASCII = /^[\x00-\x7f]*$/;

export function normalForm(text: string, form: "NFC" | "NFKC" | "NFKD" = "NFC"): string {
  if (ASCII.test(text)) return text;
  if (!FLOOD.test(text)) return text.normalize(form);
  return text.replace(PIECE, (piece) => piece.normalize(form));
}
