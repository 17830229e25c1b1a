/** The one source of randomness, for what no one may guess and what may never come twice. Runs on Node 18 and Bun. */
import { randomBytes, webcrypto } from "node:crypto";

const drawBytes = (count: number): Uint8Array => webcrypto.getRandomValues(new Uint8Array(count));

/** How many byte values are used to choose among `bound` (at most 256): the rest would make the first ones likelier. */
const usableBytes = (bound: number): number => 256 - (256 % bound);

/** Bytes that cannot be compressed, or stored as a hole. */
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

/** 64 bits as 16 characters, for the id of a request. Runs on Bun only. */
export const randomHex = (): string => webcrypto.getRandomValues(eight).toHex();

/** Random bytes as base64url. */
export const randomKey = (bytes: number): string => randomBytes(bytes).toString("base64url");

/** One of at most 256 words. */
export function randomWord(words: readonly string[]): string {
  let [byte] = drawBytes(1);
  while (byte! >= usableBytes(words.length)) [byte] = drawBytes(1);
  return words[byte! % words.length]!;
}
