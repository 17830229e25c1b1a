/** Randomness, drawn here alone: what nobody may guess and what nobody may get twice. Runs on Node 18 and Bun alike. */
import { randomBytes, webcrypto } from "node:crypto";

/** Every 404 of a site draws its request's id: this takes half of what `randomBytes` does. */
const drawBytes = (count: number): Uint8Array => webcrypto.getRandomValues(new Uint8Array(count));

/** Bytes from here on would make the first of `bound` values (at most 256) likelier than the others. */
const usableBytes = (bound: number): number => 256 - (256 % bound);

/** For what shall not be compressed or stored as a hole. */
export const randomBlock = (bytes: number): Uint8Array => randomBytes(bytes);

export function randomText(characters: string, length: number): string {
  const usable = usableBytes(characters.length);
  const codes = Buffer.from(characters, "latin1");
  const text = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const drawn = drawBytes(length - filled + (length >> 3));
    // By index: an iterator over typed arrays takes several times as long.
    for (let n = 0; n < drawn.length && filled < length; n++) {
      const byte = drawn[n]!;
      if (byte < usable) text[filled++] = codes[byte % codes.length]!;
    }
  }
  return text.toString("latin1");
}

/** `length` characters of 0-9a-z. */
export const randomName = (length: number): string => randomText("0123456789abcdefghijklmnopqrstuvwxyz", length);

/** So many random bytes as base64url. */
export const randomKey = (bytes: number): string => randomBytes(bytes).toString("base64url");

/** Of at most 256 words. */
export function randomWord(words: readonly string[]): string {
  let [byte] = drawBytes(1);
  while (byte! >= usableBytes(words.length)) [byte] = drawBytes(1);
  return words[byte! % words.length]!;
}
