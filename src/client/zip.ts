/** Files into a zip. No `node:` here: the drop page bundles this module. */
import { Zip, ZipDeflate } from "fflate";

/** A fixed date, so that equal files make equal zips on every machine. */
const SOME_DAY = new Date(1980, 0, 1);

/** Written entry by entry: the function of fflate that takes an object loses a file named `__proto__`. */
export function zipFiles(files: Iterable<readonly [path: string, bytes: Uint8Array]>): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  const zip = new Zip((error, part) => {
    if (error) throw error;
    parts.push(part);
  });
  for (const [path, bytes] of files) {
    const entry = new ZipDeflate(path, { level: 6 });
    entry.mtime = SOME_DAY;
    zip.add(entry);
    entry.push(bytes, true);
  }
  zip.end();
  return joined(parts);
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
