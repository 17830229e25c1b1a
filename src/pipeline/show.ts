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

/** The same for a name that is no text: every byte outside printable ASCII is escaped. */
export const showBytes = (name: Uint8Array): string =>
  show(Buffer.from(name).toString("latin1")).replace(
    /[\u0080-\u00ff]/g,
    (byte) => `\\x${byte.charCodeAt(0).toString(16)}`,
  );
