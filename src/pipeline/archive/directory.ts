/** The central directory: what the archive says it holds. */

import { crc32 } from "node:zlib";
import { showBytes } from "../show.ts";
import { type Directory, number64 } from "./end-record.ts";
import { invalidZip, refuseEntry } from "./refusals.ts";

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

const SIGNATURE = 0x02014b50;
const LENGTH = 46;

/** The end of the record at `at`, in an archive whose directory ends at `end`. */
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

// The extra fields of a header. Only two concern us; the others need to be well-formed, so that all readers agree on
// where they end.

interface Extra {
  /** Data of the ZIP64 field (0x0001). */
  zip64: Buffer | null;
  /** Info-ZIP's Unicode path (0x7075): the text, and whether it was made for the name in this header. */
  unicode_path: { text: Buffer; fits: boolean } | null;
}

/** Null if the fields do not fill their space exactly, or if one comes twice. Up to three NULs may pad the end. */
export function readExtra(extra: Buffer, name: Buffer): Extra | null {
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
export const narrow32 = (value: number): Narrow => ({ value, all_ones: 0xffffffff, wide: 8 });
const narrow16 = (value: number): Narrow => ({ value, all_ones: 0xffff, wide: 4 });

/** The true values. Null where the ZIP64 field is missing, or is longer or shorter than what is asked of it: readers
 *  differ over the rest. */
export function widen(fields: readonly Narrow[], zip64: Buffer | null): number[] | null {
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
  for (const { text } of entry.unicode_paths)
    if (decodeUtf8(text)?.normalize("NFC") !== decoded.name.normalize("NFC"))
      throw refuseEntry("invalid_zip", showBytes(entry.raw_name), "has another name in its Unicode path field");
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
