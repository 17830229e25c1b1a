/** Randomness, drawn here alone: what nobody may guess and what nobody may get twice. Runs on Node 18 and Bun alike. */
import { randomBytes, webcrypto } from "node:crypto";

const drawBytes = (count: number): Uint8Array => webcrypto.getRandomValues(new Uint8Array(count));

/** Bytes from here on would make the first of `bound` values (at most 256) likelier than the others. */
const usableBytes = (bound: number): number => 256 - (256 % bound);

/** For what shall not be compressed or stored as a hole. */
export const randomBlock = (bytes: number): Uint8Array => randomBytes(bytes);

export function randomText(characters: string, length: number): string {
  const usable = usableBytes(characters.length);
  let text = "";
  while (text.length < length) {
    for (const byte of drawBytes(length * 2)) {
      if (byte < usable && text.length < length) text += characters[byte % characters.length];
    }
  }
  return text;
}

/** `length` characters of 0-9a-z. */
export const randomName = (length: number): string => randomText("0123456789abcdefghijklmnopqrstuvwxyz", length);

const eight = new Uint8Array(8);

/** 64 bits as 16 characters, for the id of a request. On Bun alone. */
export const randomHex = (): string => webcrypto.getRandomValues(eight).toHex();

/** So many random bytes as base64url. */
export const randomKey = (bytes: number): string => randomBytes(bytes).toString("base64url");

/** Of at most 256 words. */
export function randomWord(words: readonly string[]): string {
  let [byte] = drawBytes(1);
  while (byte! >= usableBytes(words.length)) [byte] = drawBytes(1);
  return words[byte! % words.length]!;
}
