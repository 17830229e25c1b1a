/** What must not reach a terminal, a log or a page as it is: controls, line breaks, and marks that turn or hide text. */
export const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\u200b\u2060\ufeff]/u;

const EVERY_UNPRINTABLE = new RegExp(UNPRINTABLE, "gu");
const LONGEST = 120;

/** A name out of an upload, safe in a sentence: unprintable characters escaped, the end of a very long one left out. */
export function show(name: string): string {
  const characters = [...name.slice(0, 2 * LONGEST)];
  const short = characters.length > LONGEST ? `${characters.slice(0, LONGEST).join("")}…` : name;
  return short.replace(EVERY_UNPRINTABLE, (mark) => `\\u{${mark.codePointAt(0)!.toString(16)}}`);
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The same for a name that may be no text: then every byte outside printable ASCII is escaped. */
export function showBytes(name: Uint8Array): string {
  try {
    return show(strict.decode(name));
  } catch {
    return show(Array.from(name, showByte).join(""));
  }
}

const showByte = (byte: number): string =>
  byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, "0")}`;
