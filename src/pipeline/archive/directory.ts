/** The central directory: what the archive says it holds. */
import type { Directory } from "./end-record.ts";
import { type Extra, narrow16, narrow32, readExtra, widen } from "./extra-fields.ts";
import { invalidZip, refuseEntry } from "./refusals.ts";
import { showBytes } from "../show.ts";

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
  /** Where the local header starts. */
  offset: number;
  unicode_paths: NonNullable<Extra["unicode_path"]>[];
}

const SIGNATURE = 0x02014b50;
const LENGTH = 46;

/** Where the record at `at` ends, in an archive whose directory ends at `end`. */
function recordEnd(zip: Buffer, at: number, end: number): number {
  const whole = at + LENGTH <= end && zip.readUInt32LE(at) === SIGNATURE;
  const close = whole
    ? at + LENGTH + zip.readUInt16LE(at + 28) + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32)
    : Infinity;
  if (close > end) throw invalidZip("its directory breaks off, or holds fewer entries than its end record says");
  return close;
}

/** The start of each record. Numbers alone: a directory may list far more entries than a deploy may have. */
export function recordStarts(zip: Buffer, { count, start, end }: Directory): Uint32Array {
  const starts = new Uint32Array(count);
  let at = start;
  for (let index = 0; index < count; index++) {
    starts[index] = at;
    at = recordEnd(zip, at, end);
  }
  if (at !== end) throw invalidZip("its directory holds more than the entries its end record counts");
  return starts;
}

export const nameAt = (zip: Buffer, at: number): Buffer =>
  zip.subarray(at + LENGTH, at + LENGTH + zip.readUInt16LE(at + 28));

export const declaredSizeAt = (zip: Buffer, at: number): number => zip.readUInt32LE(at + 24);

export function readEntry(zip: Buffer, at: number): ZipEntry {
  const raw_name = nameAt(zip, at);
  const extra_start = at + LENGTH + raw_name.length;
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
