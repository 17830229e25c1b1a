/** Randomness, drawn here alone: what nobody may guess and what nobody may get twice. */

/** `count` numbers from 0 to `bound` - 1 (at most 255), without bias: bytes past the last whole multiple of `bound` are
 *  thrown away. */
function draw(bound: number, count: number): number[] {
  const usable = 256 - (256 % bound);
  const numbers: number[] = [];
  while (numbers.length < count) {
    for (const byte of crypto.getRandomValues(new Uint8Array(count * 2))) {
      if (byte < usable && numbers.length < count) numbers.push(byte % bound);
    }
  }
  return numbers;
}

export const randomText = (characters: string, length: number): string =>
  draw(characters.length, length)
    .map((index) => characters[index])
    .join("");

/** `length` characters of 0-9a-z. */
export const randomName = (length: number): string => randomText("0123456789abcdefghijklmnopqrstuvwxyz", length);

/** So many random bytes as base64url. */
export const randomKey = (bytes: number): string =>
  crypto.getRandomValues(new Uint8Array(bytes)).toBase64({ alphabet: "base64url", omitPadding: true });

/** Of at most 256 words. */
export const randomWord = (words: readonly string[]): string => words[draw(words.length, 1)[0]!]!;
