/** The records of a zip archive, field by field with their widths in bytes. */

export const LOCAL = [
  ["signature", 4],
  ["version", 2],
  ["flags", 2],
  ["method", 2],
  ["time", 2],
  ["date", 2],
  ["crc", 4],
  ["packed", 4],
  ["size", 4],
  ["name_length", 2],
  ["extra_length", 2],
] as const;
export const CENTRAL = [
  ["signature", 4],
  ["made_by", 2],
  ["version", 2],
  ["flags", 2],
  ["method", 2],
  ["time", 2],
  ["date", 2],
  ["crc", 4],
  ["packed", 4],
  ["size", 4],
  ["name_length", 2],
  ["extra_length", 2],
  ["comment_length", 2],
  ["disk", 2],
  ["internal", 2],
  ["external", 4],
  ["offset", 4],
] as const;
export const END = [
  ["signature", 4],
  ["disk", 2],
  ["central_disk", 2],
  ["disk_count", 2],
  ["count", 2],
  ["size", 4],
  ["offset", 4],
  ["comment_length", 2],
] as const;
export const END_64 = [
  ["signature", 4],
  ["record_size", 8],
  ["made_by", 2],
  ["version", 2],
  ["disk", 4],
  ["central_disk", 4],
  ["disk_count", 8],
  ["count", 8],
  ["size", 8],
  ["offset", 8],
] as const;
export const LOCATOR = [
  ["signature", 4],
  ["disk", 4],
  ["offset", 8],
  ["disks", 4],
] as const;

export type Layout = readonly (readonly [field: string, width: number])[];
export type Fields<L extends Layout> = Record<L[number][0], number>;

/** Serialises numbers by layout, little-endian. Values wrap, as a lying writer's would. */
export function pack(layout: Layout, fields: Readonly<Record<string, unknown>>): Uint8Array {
  const view = new DataView(new ArrayBuffer(layout.reduce((sum, [, width]) => sum + width, 0)));
  let at = 0;
  for (const [field, width] of layout) {
    const value = Number(fields[field] ?? 0);
    if (width === 2) view.setUint16(at, value, true);
    else if (width === 4) view.setUint32(at, value, true);
    else view.setBigUint64(at, BigInt(value), true);
    at += width;
  }
  return new Uint8Array(view.buffer);
}
