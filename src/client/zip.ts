/** Packs files into a zip. It uses no `node:`, as the drop page bundles it. */

/** A fixed date, so that equal files make equal zips on every machine. It is made when it is needed: the first local date of
 *  a process loads the time zones. */
const someDay = (): Date => new Date(1980, 0, 1);

/** Written entry by entry: the function of fflate that takes an object loses a file named `__proto__`. fflate is loaded
 *  here and not before: its tables take as long to make as the rest of the CLI takes to start. */
export async function zipFiles(
  files: Iterable<readonly [path: string, bytes: Uint8Array]>,
): Promise<Uint8Array<ArrayBuffer>> {
  const { Zip, ZipDeflate } = await import("fflate");
  const mtime = someDay();
  const parts: Uint8Array[] = [];
  const zip = new Zip((error, part) => {
    if (error) throw error;
    parts.push(part);
  });
  for (const [path, bytes] of files) {
    const entry = new ZipDeflate(path, { level: 6 });
    entry.mtime = mtime;
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
