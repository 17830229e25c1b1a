/** Finds the one end record of an archive. Readers that disagree about which one counts see different files in the same
 *  bytes, so whatever leaves a choice is refused. */
import { invalidZip } from "./refusals.ts";

/** The central directory: `count` records from `start` to `end`. */
export interface Directory {
  count: number;
  start: number;
  end: number;
}

interface EndFields {
  disk: number;
  central_disk: number;
  disk_count: number;
  count: number;
  size: number;
  offset: number;
}

const SIGNATURE = Buffer.from("PK\x05\x06");
const LENGTH = 22;
const LONGEST_COMMENT = 0xffff;
const LOCATOR_SIGNATURE = 0x07064b50;
const LOCATOR_LENGTH = 20;
const SIGNATURE_64 = 0x06064b50;
const LENGTH_64 = 56;

/** The place of the central directory, from an end record that agrees with itself, its ZIP64 form and the file's
 *  length. */
export function readEnd(zip: Buffer): Directory {
  const at = findEnd(zip);
  const locator = at - LOCATOR_LENGTH;
  if (locator < 0 || zip.readUInt32LE(locator) !== LOCATOR_SIGNATURE) return directoryOf(fieldsAt(zip, at), at);
  const at_64 = locateEnd64(zip, locator);
  const whole = fieldsAt64(zip, at_64);
  refuseDisagreement(fieldsAt(zip, at), whole);
  return directoryOf(whole, at_64);
}

function findEnd(zip: Buffer): number {
  let last = zip.length - 1;
  // bsdtar fills its last block with NULs.
  while (last >= 0 && zip[last] === 0) last--;
  let at = zip.indexOf(SIGNATURE, Math.max(0, last + 1 - LENGTH - LONGEST_COMMENT));
  while (at !== -1 && !reachesEnd(zip, at, last)) at = zip.indexOf(SIGNATURE, at + 1);
  if (at === -1) throw invalidZip(whyNoEnd(zip));
  const second = zip.indexOf(SIGNATURE, at + 1);
  if (second !== -1) throw invalidZip("it is ambiguous, with a second end record in its comment");
  return at;
}

/** Whether the record and its comment take in all bytes that count. */
function reachesEnd(zip: Buffer, at: number, last: number): boolean {
  if (at + LENGTH > zip.length) return false;
  const close = at + LENGTH + zip.readUInt16LE(at + 20);
  return close > last && close <= zip.length;
}

function whyNoEnd(zip: Buffer): string {
  if (zip.length === 0) return "the body is empty";
  if (zip.includes(SIGNATURE)) return "it is cut off, or other bytes follow its end record";
  return zip.subarray(0, 2).toString("latin1") === "PK"
    ? "it has no end record, so it was cut off"
    : "these bytes are no zip file";
}

const fieldsAt = (zip: Buffer, at: number): EndFields => ({
  disk: zip.readUInt16LE(at + 4),
  central_disk: zip.readUInt16LE(at + 6),
  disk_count: zip.readUInt16LE(at + 8),
  count: zip.readUInt16LE(at + 10),
  size: zip.readUInt32LE(at + 12),
  offset: zip.readUInt32LE(at + 16),
});

const fieldsAt64 = (zip: Buffer, at: number): EndFields => ({
  disk: zip.readUInt32LE(at + 16),
  central_disk: zip.readUInt32LE(at + 20),
  disk_count: number64(zip, at + 24),
  count: number64(zip, at + 32),
  size: number64(zip, at + 40),
  offset: number64(zip, at + 48),
});

/** Above 2^53 it is rounded, which no comparison with a file's length can notice. */
export const number64 = (zip: Buffer, at: number): number => Number(zip.readBigUInt64LE(at));

function locateEnd64(zip: Buffer, locator: number): number {
  const at = number64(zip, locator + 8);
  const one_disk = zip.readUInt32LE(locator + 4) === 0 && zip.readUInt32LE(locator + 16) <= 1;
  const fits = at + LENGTH_64 <= locator && zip.readUInt32LE(at) === SIGNATURE_64;
  if (!one_disk || !fits || at + 12 + number64(zip, at + 4) !== locator)
    throw invalidZip("its ZIP64 end record is not where its locator says");
  return at;
}

/** A field of the short record is the long record's, or all ones for "look there". */
function refuseDisagreement(short: EndFields, whole: EndFields): void {
  for (const field of ["disk", "central_disk", "disk_count", "count", "size", "offset"] as const) {
    const look_there = field === "size" || field === "offset" ? 0xffffffff : 0xffff;
    if (short[field] !== look_there && short[field] !== whole[field])
      throw invalidZip(`its two end records disagree (${field})`);
  }
}

const SHORTEST_RECORD = 46;

function directoryOf(fields: EndFields, end: number): Directory {
  const { disk, central_disk, disk_count, count, size, offset } = fields;
  if (disk !== 0 || central_disk !== 0) throw invalidZip("it is one part of an archive on several disks");
  if (disk_count !== count) throw invalidZip("its end record gives two different counts of entries");
  if (offset + size !== end) throw invalidZip("its directory does not lie where its end record says");
  if (count * SHORTEST_RECORD > size) throw invalidZip(`its directory is too short for the ${count} entries it claims`);
  return { count, start: offset, end };
}
