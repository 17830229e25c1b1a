/** Local headers: each must say what the directory says, and together with their data they must fill the archive from its
 *  first byte to the directory. Then no byte is read twice and none is left for another reader to find a file in. */
import type { ZipEntry } from "./directory.ts";
import type { Directory } from "./end-record.ts";
import { narrow32, readExtra, widen } from "./extra-fields.ts";
import { invalidZip, refuseEntry } from "./refusals.ts";
import { showBytes } from "../show.ts";

const SIGNATURE = 0x04034b50;
const LENGTH = 30;
const DESCRIPTOR_SIGNATURE = 0x08074b50;
/** Sizes and CRC follow the data. */
const STREAMED = 0x8;
/** How hard deflate tried: writers fill these bits in on one side alone. */
const EFFORT = 0x6;

/** An entry whose local header agrees; `data` is where its stream starts. */
export interface LocatedEntry extends ZipEntry {
  data: number;
}

const disagrees = (entry: ZipEntry, what: string) =>
  refuseEntry(
    "invalid_zip",
    showBytes(entry.raw_name),
    `has one ${what} in the directory and another in its own header`,
  );

export function readLocal(zip: Buffer, entry: ZipEntry, directory: Directory): LocatedEntry {
  const at = entry.offset;
  if (at + LENGTH > directory.start || zip.readUInt32LE(at) !== SIGNATURE)
    throw refuseEntry("invalid_zip", showBytes(entry.raw_name), "has no header where the directory says");
  const name_end = at + LENGTH + zip.readUInt16LE(at + 26);
  const data = name_end + zip.readUInt16LE(at + 28);
  if (!zip.subarray(at + LENGTH, name_end).equals(entry.raw_name)) throw disagrees(entry, "name");
  if ((zip.readUInt16LE(at + 6) ^ entry.flags) & ~EFFORT) throw disagrees(entry, "set of flags");
  if (zip.readUInt16LE(at + 8) !== entry.method) throw disagrees(entry, "compression method");
  const extra = readExtra(zip.subarray(name_end, data), entry.raw_name);
  if (!extra) throw refuseEntry("invalid_zip", showBytes(entry.raw_name), "has broken extra fields in its own header");
  const sizes = widen(
    [at + 22, at + 18].map((field) => narrow32(zip.readUInt32LE(field))),
    extra.zip64,
  );
  if (!sizes || !sameSums(entry, [zip.readUInt32LE(at + 14), ...sizes])) throw disagrees(entry, "size or CRC-32");
  const unicode_paths = extra.unicode_path ? [...entry.unicode_paths, extra.unicode_path] : entry.unicode_paths;
  return { ...entry, unicode_paths, data };
}

/** A streaming writer leaves zero what it does not know yet. */
function sameSums(entry: ZipEntry, local: readonly number[]): boolean {
  const central = [entry.crc, entry.size, entry.packed];
  return central.every((value, index) => local[index] === value || (entry.flags & STREAMED && local[index] === 0));
}

/** Refuses records that overlap, and bytes between them that belong to none. */
export function refuseLooseSpans(zip: Buffer, entries: readonly LocatedEntry[], directory: Directory): void {
  const sorted = [...entries].sort((a, b) => a.offset - b.offset);
  let at = 0;
  for (const [index, entry] of sorted.entries()) {
    if (entry.offset < at) throw refuseEntry("invalid_zip", showBytes(entry.raw_name), "overlaps another entry");
    if (entry.offset > at)
      throw refuseEntry("invalid_zip", showBytes(entry.raw_name), "has bytes in front of it that belong to no entry");
    at = spanEnd(zip, entry, sorted[index + 1]?.offset ?? directory.start);
  }
  const last = sorted.at(-1);
  if (at === directory.start) return;
  if (!last) throw invalidZip("it holds bytes, but its directory lists no entry");
  throw refuseEntry("invalid_zip", showBytes(last.raw_name), "is followed by bytes that belong to no entry");
}

/** Where data and descriptor end; never past `next`. */
function spanEnd(zip: Buffer, entry: LocatedEntry, next: number): number {
  const end = entry.data + entry.packed;
  const shown = showBytes(entry.raw_name);
  if (end > next) throw refuseEntry("invalid_zip", shown, "overlaps what comes after it");
  if (!(entry.flags & STREAMED)) return end;
  if (!isDescriptor(zip.subarray(end, next), entry))
    throw refuseEntry("invalid_zip", shown, "is not followed by a data descriptor that agrees with the directory");
  return next;
}

/** CRC-32 and both sizes of 4 or 8 bytes, with or without a signature: all four forms are in use. */
function isDescriptor(bytes: Buffer, { crc, packed, size }: ZipEntry): boolean {
  const signed = bytes.length === 16 || bytes.length === 24;
  const body = bytes.subarray(signed ? 4 : 0);
  if (signed && bytes.readUInt32LE(0) !== DESCRIPTOR_SIGNATURE) return false;
  if (body.length === 12)
    return body.readUInt32LE(0) === crc && body.readUInt32LE(4) === packed && body.readUInt32LE(8) === size;
  if (body.length !== 20 || body.readUInt32LE(0) !== crc) return false;
  return body.readBigUInt64LE(4) === BigInt(packed) && body.readBigUInt64LE(12) === BigInt(size);
}
