/** The text of a file, in the encoding a browser would take. */
import { isUtf8 } from "node:buffer";

/** The encoding that a file declares. A browser looks for it in the first 1024 bytes, and so does this file. */
const DECLARED = /<meta[^>]{0,200}?charset\s{0,9}=\s{0,9}["']?\s{0,9}([\w.:-]{1,40})/i;

function byteOrderMark(bytes: Uint8Array): "utf-16le" | "utf-16be" | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  return bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : null;
}

function declared(bytes: Uint8Array): TextDecoder {
  const label = DECLARED.exec(Buffer.from(bytes.subarray(0, 1024)).toString("latin1"))?.[1] ?? "windows-1252";
  try {
    // A page cannot name UTF-16 in ASCII letters: browsers then read it as UTF-8.
    return new TextDecoder(label.toLowerCase().startsWith("utf-16") ? "utf-8" : (label as "utf-8"));
  } catch {
    return new TextDecoder("windows-1252");
  }
}

/** A script as text: the server calls it UTF-8, and a byte order mark beats that. */
export const decodeScript = (bytes: Uint8Array): string =>
  new TextDecoder(byteOrderMark(bytes) ?? "utf-8").decode(bytes);

/** An HTML file as text: byte order mark, then UTF-8 if the bytes are valid, then its own meta, then Windows-1252. */
export function decodeHtml(bytes: Uint8Array): string {
  const marked = byteOrderMark(bytes);
  if (marked) return new TextDecoder(marked).decode(bytes);
  return isUtf8(bytes) ? new TextDecoder().decode(bytes) : declared(bytes).decode(bytes);
}
