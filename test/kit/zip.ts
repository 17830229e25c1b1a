/** Writes zip archives from plain data. Every field of every record can be overridden, so that a test can lie in it. */
import { crc32, deflateRawSync } from "node:zlib";
import type { Bytes } from "../../src/base/types.ts";
import { CENTRAL, END, END_64, type Fields, LOCAL, LOCATOR, pack } from "./zip-layouts.ts";

export type Content = string | Uint8Array;

/** One entry. Without overrides it is honest; `local` and `central` change one side's fields, null leaves it out. */
export interface Member {
  /** Bytes are written as they are; a string as UTF-8, with the UTF-8 flag where it is not ASCII. */
  name: Content;
  data?: Content;
  /** 8 (deflate) unless said otherwise, and 0 for empty data. */
  method?: number;
  level?: number;
  /** The compressed stream as it is, in place of what `data` gives. */
  stream?: Uint8Array;
  /** Added to both sides' flags. */
  flags?: number;
  /** Unix mode, file type included: 0o120777 is a symlink. */
  mode?: number;
  /** Extra fields of both sides, already serialised (see `extraField`). */
  extra?: Uint8Array;
  /** Sizes and CRC follow the data; the local header then has zeros. Bytes are written as they are. */
  descriptor?: "signed" | "bare" | "signed64" | "bare64" | Uint8Array;
  /** Sizes stand in the ZIP64 extra fields. */
  zip64?: boolean;
  /** Bytes in front of the local header that no record knows of. */
  gap?: Uint8Array;
  local?: Partial<Fields<typeof LOCAL>> & { name?: Content; extra?: Uint8Array };
  central?: Partial<Fields<typeof CENTRAL>> & { name?: Content; extra?: Uint8Array; comment?: Content };
  /** Leaves the local header and data out, or the central record. */
  without?: "local" | "central";
}

export interface Archive {
  comment?: Content;
  /** Bytes in front of everything; offsets are not moved by them unless `move_offsets`. */
  prefix?: Uint8Array;
  move_offsets?: boolean;
  before_central?: Uint8Array;
  after_central?: Uint8Array;
  /** Bytes after the end record. */
  tail?: Uint8Array;
  end?: Partial<Fields<typeof END>>;
  /** Writes ZIP64 end record and locator, honest but for these fields. */
  zip64?: { end?: Partial<Fields<typeof END_64>>; locator?: Partial<Fields<typeof LOCATOR>> } | true;
}

const asBytes = (content: Content): Uint8Array => (typeof content === "string" ? Buffer.from(content) : content);

export const concat = (...parts: Uint8Array[]): Bytes => new Uint8Array(Buffer.concat(parts));

/** `id`, length (or what is claimed for it) and data of one extra field. */
export const extraField = (id: number, data: Uint8Array, claimed = data.length): Uint8Array =>
  concat(new Uint8Array([id & 255, id >> 8, claimed & 255, claimed >> 8]), data);

/** The ZIP64 extra field with these 64-bit values. */
export const zip64Extra = (...values: number[]): Uint8Array =>
  extraField(1, new Uint8Array(new BigUint64Array(values.map(BigInt)).buffer));

/** An Info-ZIP Unicode path extra field that says `path` for an entry whose header says `name`. */
export function unicodePathExtra(name: Content, path: string): Uint8Array {
  const head = new DataView(new ArrayBuffer(5));
  head.setUint8(0, 1);
  head.setUint32(1, crc32(asBytes(name)), true);
  return extraField(0x7075, concat(new Uint8Array(head.buffer), Buffer.from(path)));
}

const isAscii = (bytes: Uint8Array): boolean => bytes.every((byte) => byte < 128);

/** What the records of an honest writer say about a member, and its stream. */
function describe(member: Member) {
  const data = asBytes(member.data ?? "");
  const name = asBytes(member.name);
  const method = member.method ?? (data.length > 0 && !member.stream ? 8 : 0);
  const stream =
    member.stream ?? (method === 8 ? new Uint8Array(deflateRawSync(data, { level: member.level ?? 6 })) : data);
  const utf8 = typeof member.name === "string" && !isAscii(name) ? 0x800 : 0;
  const flags = (member.flags ?? 0) | utf8 | (member.descriptor ? 8 : 0);
  const truth = { crc: crc32(data), packed: stream.length, size: data.length };
  return { name, stream, truth, shared: { version: member.zip64 ? 45 : 20, flags, method, time: 0, date: 0x5821 } };
}

function descriptorBytes(kind: Member["descriptor"], truth: { crc: number; packed: number; size: number }): Uint8Array {
  if (!kind || typeof kind !== "string") return kind ?? new Uint8Array();
  const width = kind.endsWith("64") ? 8 : 4;
  const body = pack([["crc", 4] as const, ["packed", width] as const, ["size", width] as const], truth);
  return kind.startsWith("signed") ? concat(Buffer.from("PK\x07\x08"), body) : body;
}

const MAX_32 = 0xffffffff;

function localRecord(member: Member): Uint8Array {
  if (member.without === "local") return new Uint8Array();
  const { name, stream, truth, shared } = describe(member);
  const written = member.zip64 ? { crc: truth.crc, packed: MAX_32, size: MAX_32 } : truth;
  const sizes = member.descriptor ? {} : written;
  const own_name = asBytes(member.local?.name ?? name);
  const zip64 = member.zip64 && !member.descriptor ? zip64Extra(truth.size, truth.packed) : new Uint8Array();
  const extra = member.local?.extra ?? concat(zip64, member.extra ?? new Uint8Array());
  const lengths = { name_length: own_name.length, extra_length: extra.length };
  const header = pack(LOCAL, { signature: 0x04034b50, ...shared, ...sizes, ...lengths, ...member.local });
  return concat(
    member.gap ?? new Uint8Array(),
    header,
    own_name,
    extra,
    stream,
    descriptorBytes(member.descriptor, truth),
  );
}

function centralRecord(member: Member, offset: number): Uint8Array {
  if (member.without === "central") return new Uint8Array();
  const { name, truth, shared } = describe(member);
  const sizes = member.zip64 ? { crc: truth.crc, packed: MAX_32, size: MAX_32 } : truth;
  const own_name = asBytes(member.central?.name ?? name);
  const comment = asBytes(member.central?.comment ?? "");
  const zip64 = member.zip64 ? zip64Extra(truth.size, truth.packed) : new Uint8Array();
  const extra = member.central?.extra ?? concat(zip64, member.extra ?? new Uint8Array());
  const header = pack(CENTRAL, {
    signature: 0x02014b50,
    made_by: 0x0314,
    ...shared,
    ...sizes,
    name_length: own_name.length,
    extra_length: extra.length,
    comment_length: comment.length,
    external: ((member.mode ?? 0o100644) << 16) >>> 0,
    offset,
    ...member.central,
  });
  return concat(header, own_name, extra, comment);
}

/** ZIP64 end record and locator; `at` is where they will stand. */
function zip64Records(
  zip64: NonNullable<Archive["zip64"]>,
  facts: { count: number; size: number; offset: number },
  at: number,
) {
  const { end = {}, locator = {} } = zip64 === true ? {} : zip64;
  const honest = {
    signature: 0x06064b50,
    record_size: 44,
    made_by: 45,
    version: 45,
    disk_count: facts.count,
    ...facts,
  };
  return concat(
    pack(END_64, { ...honest, ...end }),
    pack(LOCATOR, { signature: 0x07064b50, offset: at, disks: 1, ...locator }),
  );
}

/** Local records in order, central directory, end record: honest wherever nothing is overridden. */
export function buildZip(members: readonly Member[], archive: Archive = {}): Bytes {
  const none = new Uint8Array();
  const { prefix = none, before_central = none, after_central = none, tail = none } = archive;
  let at = archive.move_offsets ? prefix.length : 0;
  const locals: Uint8Array[] = [];
  const centrals: Uint8Array[] = [];
  for (const member of members) {
    const local = localRecord(member);
    centrals.push(centralRecord(member, at + (member.gap?.length ?? 0)));
    locals.push(local);
    at += local.length;
  }
  const central = concat(...centrals);
  const facts = {
    count: centrals.filter((record) => record.length > 0).length,
    size: central.length,
    offset: at + before_central.length,
  };
  const zip64 = archive.zip64
    ? zip64Records(archive.zip64, facts, facts.offset + central.length + after_central.length)
    : none;
  const comment = asBytes(archive.comment ?? "");
  const said = archive.zip64
    ? { count: 0xffff, disk_count: 0xffff, size: MAX_32, offset: MAX_32 }
    : { ...facts, disk_count: facts.count };
  const end = pack(END, { signature: 0x06054b50, ...said, comment_length: comment.length, ...archive.end });
  return concat(prefix, ...locals, before_central, central, after_central, zip64, end, comment, tail);
}

/** An honest zip of these files, deflated, in the order given. */
export function zipOf(
  files: Readonly<Record<string, Content>> | ReadonlyMap<string, Content>,
  archive: Archive = {},
): Bytes {
  const entries = files instanceof Map ? [...files] : Object.entries(files as Readonly<Record<string, Content>>);
  return buildZip(
    entries.map(([name, data]) => ({ name, data })),
    archive,
  );
}
