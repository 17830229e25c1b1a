/** One entry's bytes. What comes out is never longer than declared, and must have the declared length and CRC-32. */
import { crc32, inflateRawSync } from "node:zlib";
import type { Bytes } from "../../base/types.ts";
import { show } from "../show.ts";
import type { LocatedEntry } from "./read.ts";
import { refuseEntry } from "./refusals.ts";

export function unpack(zip: Buffer, entry: LocatedEntry, name: string): Bytes {
  const damaged = (reason: string) => refuseEntry("invalid_zip", show(name), `is damaged: ${reason}`);
  const stream = zip.subarray(entry.data, entry.data + entry.packed);
  // A copy, as the zip's own memory may be reused once the deploy is through.
  const bytes = entry.method === 0 ? new Uint8Array(stream) : inflate(stream, entry.size, damaged);
  if (bytes.length !== entry.size) throw damaged(`it has ${bytes.length} bytes and is said to have ${entry.size}`);
  if (crc32(bytes) !== entry.crc) throw damaged("its CRC-32 is wrong");
  return bytes;
}

const REASONS: Readonly<Record<string, string>> = {
  ERR_BUFFER_TOO_LARGE: "more bytes come out than its size says",
  Z_BUF_ERROR: "its data break off",
  Z_DATA_ERROR: "its data are not deflate",
};

function inflate(stream: Buffer, size: number, damaged: (reason: string) => Error): Bytes {
  const { buffer, engine } = inflateWithin(stream, size, damaged);
  // zlib is content with what comes first; other readers may not be.
  if (engine.bytesWritten !== stream.length) throw damaged("bytes are left after the end of its data");
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length);
}

interface Inflated {
  buffer: Buffer<ArrayBuffer>;
  engine: { bytesWritten: number };
}

function inflateWithin(stream: Buffer, size: number, damaged: (reason: string) => Error): Inflated {
  try {
    // One chunk that takes it all saves a quarter of the time; the sizes were summed under the limit before.
    const options = { maxOutputLength: size || 1, chunkSize: Math.max(64, size + 1), info: true };
    // With `info` the answer has the engine besides the bytes, which the types do not know.
    return inflateRawSync(stream, options) as unknown as Inflated;
  } catch (error) {
    const reason = REASONS[(error as NodeJS.ErrnoException).code ?? ""];
    throw reason ? damaged(reason) : error;
  }
}
