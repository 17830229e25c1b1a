/** Archives that cost a careless reader its memory or its time. */
import { crc32, deflateRawSync } from "node:zlib";
import type { Bytes } from "../../src/base/types.ts";
import { LOCAL, pack } from "../kit/zip-layouts.ts";
import { buildZip, concat, type Member, zipOf } from "../kit/zip.ts";

const MIB = 1 << 20;

/** Z9: 11 MiB of zeros in 11 KB, honestly declared. */
export const zeros = (): Bytes => zipOf({ z: new Uint8Array(11 * MIB) });

/** Z10: 50 MB of zeros that are said to be 100 bytes. */
export function liar(): Bytes {
  const data = new Uint8Array(50_000_000);
  return buildZip([{ name: "liar", data, local: { size: 100 }, central: { size: 100 } }]);
}

/** Z13: 199 entries of 3 bytes, each of which the directory says is 40 MiB. */
export const boasters = (): Bytes =>
  buildZip(Array.from({ length: 199 }, (_, at) => ({ name: `b${at}`, data: "abc", central: { size: 40 * MIB } })));

/** The same, with local headers that agree. */
export const consistentBoasters = (): Bytes =>
  buildZip(
    Array.from({ length: 199 }, (_, at) => {
      const size = 40 * MIB;
      return { name: `b${at}`, data: "abc", local: { size }, central: { size } };
    }),
  );

/** Z14: 100 directory records of one 4 MiB entry. */
export function sharedEntry(): Bytes {
  const shared: Member = { name: "shared", data: new Uint8Array(4 * MIB) };
  const again: Member = { ...shared, without: "local", central: { offset: 0 } };
  return buildZip([shared, ...Array.from({ length: 99 }, () => again)]);
}

const localHeader = (name: string, fields: object): Uint8Array =>
  concat(
    pack(LOCAL, { signature: 0x04034b50, version: 20, method: 8, name_length: name.length, ...fields }),
    Buffer.from(name),
  );

/** Z15: entries that quote the next one's header as stored data and so share the zeros of the last (Fifield, 2019). */
export function quotedOverlap(quotes = 60, size = 1 * MIB): Bytes {
  let plain: Uint8Array = new Uint8Array(size);
  let stream: Uint8Array = new Uint8Array(deflateRawSync(plain, { level: 9 }));
  const sums = () => ({ crc: crc32(plain), packed: stream.length, size: plain.length });
  const name = (level: number) => String(level).padStart(3, "0");
  let header = localHeader(name(quotes), sums());
  const records = [{ name: name(quotes), ...sums(), ahead: 0 }];
  for (let level = quotes - 1; level >= 0; level--) {
    const quote = new Uint8Array([0, header.length, 0, ~header.length & 255, 255]);
    stream = concat(quote, header, stream);
    plain = concat(header, plain);
    header = localHeader(name(level), sums());
    records.push({ name: name(level), ...sums(), ahead: header.length + quote.length });
  }
  let offset = 0;
  const members = records.reverse().map((record): Member => {
    const { name, crc, packed, size, ahead } = record;
    const member: Member = { name, without: "local", central: { method: 8, crc, packed, size, offset } };
    offset += ahead;
    return member;
  });
  return buildZip(members, { prefix: concat(header, stream), move_offsets: true });
}

const FFS_32 = 0xffffffff;

/** Z19: 98 bytes that claim 2^32 - 1 entries. */
export const countless = (count: number = FFS_32): Bytes =>
  buildZip([], { zip64: { end: { count, disk_count: count, offset: 0x7fffffff }, locator: { offset: 0 } } });
