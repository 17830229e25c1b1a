/** An archive from end to start: end record, directory, local headers. What comes out is a list of entries that every
 *  reader would find; nothing is inflated and no name is judged yet. */

import { normalForm } from "../../base/normal-form.ts";
import { largestThree, overLimit, zipTooLarge } from "../../base/over-limit.ts";
import type { Limits } from "../../base/types.ts";
import { show, showBytes } from "../show.ts";
import { type Directory, number64, readEnd } from "./end-record.ts";
import { invalidZip, refuseEntry } from "./refusals.ts";
import { crc32 } from "node:zlib";

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

const LOCAL_SIGNATURE = 0x04034b50;
const LOCAL_LENGTH = 30;
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
  if (at + LOCAL_LENGTH > directory.start || zip.readUInt32LE(at) !== LOCAL_SIGNATURE)
    throw refuseEntry("invalid_zip", showBytes(entry.raw_name), "has no header where the directory says");
  const name_end = at + LOCAL_LENGTH + zip.readUInt16LE(at + 26);
  const data = name_end + zip.readUInt16LE(at + 28);
  if (!zip.subarray(at + LOCAL_LENGTH, name_end).equals(entry.raw_name)) throw disagrees(entry, "name");
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

// The central directory: what the archive says it holds.

/** One central record. */
export interface ZipEntry {
  raw_name: Buffer;
  /** Version of the format that a reader needs, times ten. */
  version: number;
  flags: number;
  /** 0 stored, 8 deflate. */
  method: number;
  crc: number;
  /** Length of the stream in the archive. */
  packed: number;
  /** Length of the file as declared; what comes out must have it. */
  size: number;
  /** DOS attributes in the low byte, Unix mode in the upper half. */
  external: number;
  /** The offset of the local header. */
  offset: number;
  unicode_paths: NonNullable<Extra["unicode_path"]>[];
}

const RECORD_SIGNATURE = 0x02014b50;
const RECORD_LENGTH = 46;

/** The end of the record at `at`, in an archive whose directory ends at `end`. */
function recordEnd(zip: Buffer, at: number, end: number): number {
  const whole = at + RECORD_LENGTH <= end && zip.readUInt32LE(at) === RECORD_SIGNATURE;
  const close = whole
    ? at + RECORD_LENGTH + zip.readUInt16LE(at + 28) + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32)
    : Infinity;
  if (close > end) throw invalidZip("its directory breaks off, or holds fewer entries than its end record says");
  return close;
}

/** The start of each record. Numbers alone: a directory may list far more entries than a deploy may have. */
function recordStarts(zip: Buffer, { count, start, end }: Directory): Uint32Array {
  const starts = new Uint32Array(count);
  let at = start;
  for (let index = 0; index < count; index++) {
    starts[index] = at;
    at = recordEnd(zip, at, end);
  }
  if (at !== end) throw invalidZip("its directory holds more than the entries its end record counts");
  return starts;
}

const nameAt = (zip: Buffer, at: number): Buffer =>
  zip.subarray(at + RECORD_LENGTH, at + RECORD_LENGTH + zip.readUInt16LE(at + 28));

const declaredSizeAt = (zip: Buffer, at: number): number => zip.readUInt32LE(at + 24);

function readEntry(zip: Buffer, at: number): ZipEntry {
  const raw_name = nameAt(zip, at);
  const extra_start = at + RECORD_LENGTH + raw_name.length;
  const extra = readExtra(zip.subarray(extra_start, extra_start + zip.readUInt16LE(at + 30)), raw_name);
  if (!extra) throw refuseEntry("invalid_zip", showBytes(raw_name), "has broken extra fields in the directory");
  const numbers = widen(
    [
      ...[at + 24, at + 20, at + 42].map((field) => narrow32(zip.readUInt32LE(field))),
      narrow16(zip.readUInt16LE(at + 34)),
    ],
    extra.zip64,
  );
  if (!numbers) throw refuseEntry("invalid_zip", showBytes(raw_name), "has ZIP64 sizes that are missing or too many");
  const [size, packed, offset, disk] = numbers as [number, number, number, number];
  if (disk !== 0) throw refuseEntry("invalid_zip", showBytes(raw_name), "is said to lie on another disk");
  return {
    raw_name,
    version: zip.readUInt8(at + 6),
    flags: zip.readUInt16LE(at + 8),
    method: zip.readUInt16LE(at + 10),
    crc: zip.readUInt32LE(at + 16),
    packed,
    size,
    external: zip.readUInt32LE(at + 38),
    offset,
    unicode_paths: extra.unicode_path ? [extra.unicode_path] : [],
  };
}

// The extra fields of a header. Only two concern us; the others need to be well-formed, so that all readers agree on
// where they end.

interface Extra {
  /** Data of the ZIP64 field (0x0001). */
  zip64: Buffer | null;
  /** Info-ZIP's Unicode path (0x7075): the text, and whether it was made for the name in this header. */
  unicode_path: { text: Buffer; fits: boolean } | null;
}

/** Null if the fields do not fill their space exactly, or if one comes twice. Up to three NULs may pad the end. */
function readExtra(extra: Buffer, name: Buffer): Extra | null {
  const found: Extra = { zip64: null, unicode_path: null };
  let at = 0;
  while (at + 4 <= extra.length) {
    const id = extra.readUInt16LE(at);
    const data = extra.subarray(at + 4, at + 4 + extra.readUInt16LE(at + 2));
    at += 4 + extra.readUInt16LE(at + 2);
    if (at > extra.length || !take(found, id, data, name)) return null;
  }
  return extra.subarray(at).every((byte) => byte === 0) ? found : null;
}

function take(found: Extra, id: number, data: Buffer, name: Buffer): boolean {
  if (id === 0x0001) {
    if (found.zip64) return false;
    found.zip64 = data;
  }
  if (id === 0x7075) {
    if (found.unicode_path || data.length < 5) return false;
    found.unicode_path = { text: data.subarray(5), fits: data[0] === 1 && data.readUInt32LE(1) === crc32(name) };
  }
  return true;
}

/** A header's field, and how many bytes the ZIP64 field has for it where the header holds all ones. */
interface Narrow {
  value: number;
  all_ones: number;
  wide: 4 | 8;
}
const narrow32 = (value: number): Narrow => ({ value, all_ones: 0xffffffff, wide: 8 });
const narrow16 = (value: number): Narrow => ({ value, all_ones: 0xffff, wide: 4 });

/** The true values. Null where the ZIP64 field is missing, or is longer or shorter than what is asked of it: readers
 *  differ over the rest. */
function widen(fields: readonly Narrow[], zip64: Buffer | null): number[] | null {
  const length = fields.reduce((sum, field) => sum + (field.value === field.all_ones ? field.wide : 0), 0);
  if (length !== (zip64?.length ?? 0)) return null;
  let at = 0;
  return fields.map(({ value, all_ones, wide }) => {
    if (value !== all_ones) return value;
    at += wide;
    return wide === 8 ? number64(zip64!, at - 8) : zip64!.readUInt32LE(at - 4);
  });
}

// Turns the bytes of an entry's name into text.

const UTF8 = 0x800;
/** A byte order mark stays, to be refused with the other invisible characters. */
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return strict.decode(bytes);
  } catch {
    return null;
  }
}

/** `guessed`: nothing says which characters the bytes are. */
interface EntryName {
  name: string;
  guessed: boolean;
}

export function decodeName(entry: ZipEntry): EntryName {
  const decoded = decodeRawName(entry);
  for (const { text } of entry.unicode_paths) {
    const other = decodeUtf8(text);
    if (other === null || normalForm(other) !== normalForm(decoded.name))
      throw refuseEntry("invalid_zip", showBytes(entry.raw_name), "has another name in its Unicode path field");
  }
  return decoded;
}

/** Debian's zip writes UTF-8 without its flag, so text that is UTF-8 is taken for that before any code page. */
function decodeRawName({ raw_name, flags, unicode_paths }: ZipEntry): EntryName {
  const utf8 = decodeUtf8(raw_name);
  if (utf8 !== null) return { name: utf8, guessed: false };
  if (flags & UTF8)
    throw refuseEntry("unsafe_path", showBytes(raw_name), "is flagged as UTF-8, but its name is not UTF-8");
  const told = unicode_paths.find((path) => path.fits);
  const name = told ? decodeUtf8(told.text) : null;
  return name === null ? { name: decodeCp437(raw_name), guessed: true } : { name, guessed: false };
}

/** The code page of the first IBM PC: what a zip name is in when nothing says otherwise and it is no UTF-8. */
const CP437_UPPER =
  "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐" +
  "└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0";

const decodeCp437 = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => (byte < 128 ? String.fromCharCode(byte) : CP437_UPPER[byte - 128])).join("");
