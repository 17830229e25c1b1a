/** Looks for a text in a text in as many steps as both have characters, whatever these are (Knuth, Morris and Pratt).
 *  JavaScriptCore's own `lastIndexOf` compares wherever the sums of the letters agree, and `indexOf` wherever a few letters
 *  do: with an anagram of what is looked for that is everywhere, and the time is the product of both lengths (RELIABILITY
 *  A24). */

/** The place of an occurrence that is whole between `from` and `to`. -1 if there is none. */
type Find = (inside: string, from: number, to: number) => number;

/** Finds the first occurrence of a text that is not empty. Its table is made here, once for all searches. */
export function firstOf(text: string): Find {
  const word = readyFor(Uint16Array.from({ length: text.length }, (_, n) => text.charCodeAt(n)));
  return (inside, from, to) => {
    for (let at = from, matched = 0; at < to; at++) {
      matched = longer(word, matched, inside.charCodeAt(at));
      if (matched === text.length) return at + 1 - matched;
    }
    return -1;
  };
}

/** Finds the last occurrence. */
export function lastOf(text: string): Find {
  const word = readyFor(Uint16Array.from({ length: text.length }, (_, n) => text.charCodeAt(text.length - 1 - n)));
  return (inside, from, to) => {
    // It ends behind what matched so far: where that is too early, no place is left.
    for (let at = to - 1, matched = 0; at + matched >= from + text.length - 1; at--) {
      matched = longer(word, matched, inside.charCodeAt(at));
      if (matched === text.length) return at;
    }
    return -1;
  };
}

interface Word {
  codes: Uint16Array;
  /** For each number of characters, how many of these, fewer than all, are both the word's beginning and their own end. */
  borders: Uint32Array;
}

/** How many characters of the word match once `code` follows the first `matched` of them. */
function longer({ codes, borders }: Word, matched: number, code: number): number {
  while (matched > 0 && codes[matched] !== code) matched = borders[matched]!;
  return codes[matched] === code ? matched + 1 : 0;
}

function readyFor(codes: Uint16Array): Word {
  const word = { codes, borders: new Uint32Array(codes.length + 1) };
  for (let length = 1, border = 0; length < codes.length; length++) {
    border = longer(word, border, codes[length]!);
    word.borders[length + 1] = border;
  }
  return word;
}
