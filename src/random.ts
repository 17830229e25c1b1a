/** Randomness, drawn here alone: what nobody may guess and what nobody may get twice. Runs on Node 18 and Bun alike. */
import { randomBytes, webcrypto } from "node:crypto";

/** Names take a quarter of the time when bytes are drawn in bulk. Each is given out once, and forgotten. */
const drawn = new Uint8Array(4096);
let next = drawn.length;

function drawByte(): number {
  if (next === drawn.length) {
    webcrypto.getRandomValues(drawn);
    next = 0;
  }
  const byte = drawn[next]!;
  drawn[next++] = 0;
  return byte;
}

/** Bytes from here on would make the first of `bound` values (at most 256) likelier than the others. */
const usableBytes = (bound: number): number => 256 - (256 % bound);

/** For what shall not be compressed or stored as a hole. */
export const randomBlock = (bytes: number): Uint8Array => randomBytes(bytes);

export function randomText(characters: string, length: number): string {
  const usable = usableBytes(characters.length);
  const codes = Buffer.from(characters, "latin1");
  const text = Buffer.alloc(length);
  for (let filled = 0; filled < length;) {
    const byte = drawByte();
    if (byte < usable) text[filled++] = codes[byte % codes.length]!;
  }
  return text.toString("latin1");
}

const ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz";
/** Half as many steps to a name, one of which each request has. */
const PAIRS = Array.from(ALPHABET, (a) => Array.from(ALPHABET, (b) => a + b)).flat();
const USABLE_PAIRS = 65_536 - (65_536 % PAIRS.length);

/** `length` characters of 0-9a-z. */
export function randomName(length: number): string {
  let text = "";
  while (text.length < length) {
    const drawn_pair = (drawByte() << 8) | drawByte();
    if (drawn_pair < USABLE_PAIRS) text += PAIRS[drawn_pair % PAIRS.length];
  }
  return text.slice(0, length);
}

const eight = new Uint8Array(8);

/** 64 bits as 16 characters. On Bun alone. */
export const randomHex = (): string => webcrypto.getRandomValues(eight).toHex();

/** So many random bytes as base64url. */
export const randomKey = (bytes: number): string => randomBytes(bytes).toString("base64url");

/** Of at most 256 words. */
export function randomWord(words: readonly string[]): string {
  let byte = drawByte();
  while (byte >= usableBytes(words.length)) byte = drawByte();
  return words[byte % words.length]!;
}
