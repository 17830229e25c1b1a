/** Makes names from an upload harmless in sentences. */
import { visible } from "../base/visible.ts";

const LONGEST = 120;

/** A name from an upload, harmless in a sentence and cut if it is very long. */
export function show(name: string): string {
  const characters = [...name.slice(0, 2 * LONGEST)];
  const short = characters.length > LONGEST ? `${characters.slice(0, LONGEST).join("")}…` : name;
  return visible(short);
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The same for bytes that may be no text: then every byte outside printable ASCII is escaped. */
export function showBytes(name: Uint8Array): string {
  try {
    return show(strict.decode(name));
  } catch {
    return show(Array.from(name, showByte).join(""));
  }
}

const showByte = (byte: number): string =>
  byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, "0")}`;
