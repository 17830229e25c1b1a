/** Packs the uploaded files of a stored version into a zip: in the order of their paths, with one date, so that the bytes are the same
 *  at every call (BEYOND 9). Runs in a deploy's process. */
import { crc32, deflateRawSync } from "node:zlib";
import { wrappingFolder } from "../../base/version-id.ts";
import type { Bytes } from "../../base/types.ts";

/** 1 January 1980, the first day that a zip knows. */
const SOME_DAY = 0x21;
const UTF_8 = 1 << 11;
const DEFLATED = 8;
const LEVEL = 6;
/** 2.0: folders and deflate. */
const NEEDED = 20;

interface WrittenFile {
  name: Buffer;
  crc: number;
  packed: number;
  bytes: number;
  offset: number;
}

/** The part that both headers of a file have in common. */
function facts({ name, crc, packed, bytes }: WrittenFile): Buffer {
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(NEEDED, 0);
  fields.writeUInt16LE(UTF_8, 2);
  fields.writeUInt16LE(DEFLATED, 4);
  fields.writeUInt16LE(SOME_DAY, 8);
  fields.writeUInt32LE(crc, 10);
  fields.writeUInt32LE(packed, 14);
  fields.writeUInt32LE(bytes, 18);
  fields.writeUInt16LE(name.length, 22);
  return fields;
}

const localHeader = (entry: WrittenFile): Buffer =>
  Buffer.concat([Buffer.from("PK\x03\x04"), facts(entry), entry.name]);

function centralHeader(entry: WrittenFile): Buffer {
  const more = Buffer.alloc(14);
  more.writeUInt32LE(entry.offset, 10);
  return Buffer.concat([Buffer.from("PK\x01\x02\x14\x00"), facts(entry), more, entry.name]);
}

function endOf(entries: number, bytes: number, offset: number): Buffer {
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries, 4);
  end.writeUInt16LE(entries, 6);
  end.writeUInt32LE(bytes, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([Buffer.from("PK\x05\x06"), end]);
}

/** The zip, part by part. Its files lie in a folder of its own where they would lie in one anyway: a deploy takes one such folder
 *  away, and the version_id follows from the paths. */
export async function* packed(
  paths: readonly string[],
  read: (path: string) => Promise<Bytes>,
  folder: string,
): AsyncGenerator<Uint8Array> {
  const prefix = wrappingFolder(paths) === null ? "" : `${folder}/`;
  const entries: WrittenFile[] = [];
  let offset = 0;
  for (const path of paths) {
    const content = await read(path);
    const body = deflateRawSync(content, { level: LEVEL });
    const sizes = { crc: crc32(content), packed: body.length, bytes: content.length };
    const entry = { name: Buffer.from(prefix + path), ...sizes, offset };
    entries.push(entry);
    const header = localHeader(entry);
    offset += header.length + body.length;
    yield header;
    yield body;
  }
  const directory = Buffer.concat(entries.map(centralHeader));
  yield directory;
  yield endOf(entries.length, directory.length, offset);
}
