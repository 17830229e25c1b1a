/** The extra fields of a header. Only two concern us; the others need to be well-formed, so that all readers agree on
 *  where they end. */
import { crc32 } from "node:zlib";
import { number64 } from "./end-record.ts";

export interface Extra {
  /** Data of the ZIP64 field (0x0001). */
  zip64: Buffer | null;
  /** Info-ZIP's Unicode path (0x7075): the text, and whether it was made for the name in this header. */
  unicode_path: { text: Buffer; fits: boolean } | null;
}

/** Null where the fields do not fill their space exactly, or one stands there twice. Up to three NULs may pad the end. */
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
export const narrow16 = (value: number): Narrow => ({ value, all_ones: 0xffff, wide: 4 });

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
