/** An archive from end to start: end record, directory, local headers. What comes out is a list of entries that every
 *  reader would find; nothing is inflated and no name is judged yet. */

import { largestThree, overLimit, zipTooLarge } from "../../base/over-limit.ts";
import type { Limits } from "../../base/types.ts";
import { show, showBytes } from "../show.ts";
import {
  declaredSizeAt,
  nameAt,
  narrow32,
  readEntry,
  readExtra,
  recordStarts,
  widen,
  type ZipEntry,
} from "./directory.ts";
import { type Directory, readEnd } from "./end-record.ts";
import { invalidZip, refuseEntry } from "./refusals.ts";

/** Folders and what is dropped are no files, but a directory of nothing else must end somewhere. */
const RECORDS_PER_FILE = 5;

export function readArchive(zip: Buffer, limits: Limits): LocatedEntry[] {
  if (zip.length > limits.max_zip_bytes) throw zipTooLarge(limits.max_zip_bytes, zip.length);
  const directory = readEnd(zip);
  const starts = recordStarts(zip, directory);
  if (starts.length > RECORDS_PER_FILE * limits.max_files) throw tooManyRecords(zip, starts, limits);
  const entries = Array.from(starts, (at) => readLocal(zip, readEntry(zip, at), directory));
  refuseLooseSpans(zip, entries, directory);
  return entries;
}

function tooManyRecords(zip: Buffer, starts: Uint32Array, { max_files }: Limits) {
  const files = starts.reduce((count, at) => count + (isFolderName(nameAt(zip, at)) ? 0 : 1), 0);
  const heaviest = largestThree(starts, (at) => declaredSizeAt(zip, at));
  const largest = heaviest.map((at) => ({ path: showBytes(nameAt(zip, at)), bytes: declaredSizeAt(zip, at) }));
  return tooManyEntries({ entries: starts.length, files }, max_files, largest);
}

/** `limit` is that of files wherever the entries that are no folders alone are past it: it is the one that can be raised. */
function tooManyEntries(
  { entries, files }: { entries: number; files: number },
  max_files: number,
  largest: readonly { path: string; bytes: number }[],
) {
  const most = RECORDS_PER_FILE * max_files;
  return overLimit(
    "too_many_files",
    `The upload lists ${entries} entries, ${files} of them files; at most ${max_files} files, and ${most} entries with folders and what is dropped, are taken. Leave out what the site does not need.`,
    files > max_files ? { limit: max_files, actual: files } : { limit: most, actual: entries },
    largest,
  );
}

/** The same of a list of files. */
export function refuseLongList(files: readonly { name: string; bytes: number }[], { max_files }: Limits): void {
  if (files.length <= RECORDS_PER_FILE * max_files) return;
  const heaviest = largestThree(files, ({ bytes }) => bytes);
  const largest = heaviest.map(({ name, bytes }) => ({ path: show(name), bytes }));
  throw tooManyEntries({ entries: files.length, files: files.length }, max_files, largest);
}

const isFolderName = (name: Buffer): boolean => name.at(-1) === 0x2f || name.at(-1) === 0x5c;

// Local headers: each must say what the directory says, and together with their data they must fill the archive from
// its first byte to the directory. Then no byte is read twice and none is left for another reader to find a file in.

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

function readLocal(zip: Buffer, entry: ZipEntry, directory: Directory): LocatedEntry {
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

/** Refuses records that overlap, and bytes between them that belong to no record. */
function refuseLooseSpans(zip: Buffer, entries: readonly LocatedEntry[], directory: Directory): void {
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

/** The end of the data and its descriptor; never past `next`. */
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
