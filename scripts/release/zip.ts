/** A zip archive for Windows, of files that the threads of zlib deflate: a program of 100 MB would take fflate a minute. */
import { promisify } from "node:util";
import { crc32, deflateRaw } from "node:zlib";
import { Zip, type ZipInputFile } from "fflate";
import type { PackedFile } from "../../src/base/tar.ts";

const deflated = promisify(deflateRaw);

const UNIX = 3;
const DEFLATE = 8;
const REGULAR_FILE = 0o100_000;

const described = ({ name, bytes, mode }: PackedFile): ZipInputFile => ({
  filename: name,
  size: bytes.length,
  crc: crc32(bytes),
  compression: DEFLATE,
  os: UNIX,
  attrs: ((REGULAR_FILE | mode) << 16) >>> 0,
  mtime: new Date(1980, 0, 1),
});

export async function zipOf(entries: readonly PackedFile[]): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  const zip = new Zip((error, part) => {
    if (error) throw error;
    parts.push(part);
  });
  for (const entry of entries) {
    const file = described(entry);
    zip.add(file);
    file.ondata!(null, await deflated(entry.bytes, { level: 9 }), true);
  }
  zip.end();
  return Buffer.concat(parts);
}
