/** What no host can leave out of a deploy: unzipping, hashing and flushing its files. */
import { createHash } from "node:crypto";
import { mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { inflateRawSync } from "node:zlib";

/** Every local entry, by the sizes that the central directory gives: no check, no limit, nothing but the bytes. */
function* entriesOf(zip: Uint8Array): Generator<Uint8Array> {
  const view = Buffer.from(zip.buffer, zip.byteOffset, zip.length);
  let at = view.readUInt32LE(view.length - 6);
  for (let left = view.readUInt16LE(view.length - 12); left > 0; left--) {
    const [method, packed, local] = [
      view.readUInt16LE(at + 10),
      view.readUInt32LE(at + 20),
      view.readUInt32LE(at + 42),
    ];
    const start = local + 30 + view.readUInt16LE(local + 26) + view.readUInt16LE(local + 28);
    const data = view.subarray(start, start + packed);
    yield method === 8 ? inflateRawSync(data) : data;
    at += 46 + view.readUInt16LE(at + 28) + view.readUInt16LE(at + 30) + view.readUInt16LE(at + 32);
  }
}

async function flushed(path: string, bytes: Uint8Array | null): Promise<void> {
  const file = await open(path, bytes ? "wx" : "r");
  if (bytes) await file.write(bytes);
  await file.sync();
  await file.close();
}

/** Into a new folder: 8 writers at once, then the folder itself. */
export async function floor(zip: Uint8Array, folder: string): Promise<void> {
  await mkdir(folder);
  const files = [...entriesOf(zip)].map((bytes, n) => ({
    name: `${n}-${createHash("sha256").update(bytes).digest("hex")}`,
    bytes,
  }));
  const lane = async () => {
    for (let file = files.pop(); file; file = files.pop()) await flushed(join(folder, file.name), file.bytes);
  };
  await Promise.all(Array.from({ length: 8 }, lane));
  await flushed(folder, null);
}
