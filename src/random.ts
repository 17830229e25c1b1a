/** Randomness, drawn here alone: what nobody may guess and what nobody may get twice. Runs on Node 18 and Bun alike. */
import { randomBytes as drawBytes } from "node:crypto";

/** `count` numbers from 0 to `bound` - 1 (at most 255), without bias: bytes past the last whole multiple of `bound` are
 *  thrown away. */
function drawNumbers(bound: number, count: number): number[] {
  const usable = 256 - (256 % bound);
  const numbers: number[] = [];
  while (numbers.length < count) {
    for (const byte of drawBytes(count * 2)) {
      if (byte < usable && numbers.length < count) numbers.push(byte % bound);
    }
  }
  return numbers;
}

/** For what shall not be compressed or stored as a hole. */
export const randomBlock = (bytes: number): Uint8Array => drawBytes(bytes);

export const randomText = (characters: string, length: number): string =>
  drawNumbers(characters.length, length)
    .map((index) => characters[index])
    .join("");

/** `length` characters of 0-9a-z. */
export const randomName = (length: number): string => randomText("0123456789abcdefghijklmnopqrstuvwxyz", length);

/** So many random bytes as base64url. */
export const randomKey = (bytes: number): string => drawBytes(bytes).toString("base64url");

/** Of at most 256 words. */
export const randomWord = (words: readonly string[]): string => words[drawNumbers(words.length, 1)[0]!]!;
