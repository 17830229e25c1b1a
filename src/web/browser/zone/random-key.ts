/** The key of one drop: 32 characters that nobody guesses. `crypto.randomUUID` is not there on plain http. */
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** 64 letters: six bits of a byte are one, all equally likely. */
export const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(32)), (byte) => LETTERS[byte & 63]).join("");
