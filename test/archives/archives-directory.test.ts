/** RELIABILITY 3: the directory against the entries, and the end record, by the reader alone. */
import { describe } from "bun:test";
import { buildZip, concat, extraField, unicodePathExtra } from "../kit/zip.ts";
import { accepts, bytes, PAGE, refuses, type Row, TEXT, withEntry } from "./archive-rows.ts";

describe("a directory that disagrees with the entries", () => {
  refuses("invalid_zip", [
    ["Z34", "two names", () => withEntry({ central: { name: "b.txt" } }), /"b.txt" has one name in the directory/],
    ["Z35", "two methods", () => withEntry({ central: { method: 0 } }), /has one compression method/],
    ["Z36", "two sizes", () => withEntry({ central: { size: 59 } }), /has one size or CRC-32/],
    ["Z36", "two packed sizes", () => withEntry({ local: { packed: 3 } }), /has one size or CRC-32/],
    ["Z36", "two CRC-32", () => withEntry({ local: { crc: 3 } }), /has one size or CRC-32/],
    ["Z37", "encryption in the directory alone", () => withEntry({ central: { flags: 1 } }), /has one set of flags/],
    ["Z37", "encryption in the entry alone", () => withEntry({ local: { flags: 1 } }), /has one set of flags/],
    [
      "Z44",
      "an entry that starts elsewhere",
      () => withEntry({ central: { offset: 3 } }),
      /"a.txt" has no header where/,
    ],
    ["Z44", "an entry past the end", () => withEntry({ central: { offset: 9e6 } }), /"a.txt" has no header where/],
    [
      "Z43",
      "an entry on another disk",
      () => withEntry({ central: { disk: 1 } }),
      /"a.txt" is said to lie on another disk/,
    ],
    [
      "Z52",
      "an extra field that runs over, in the entry",
      () => withEntry({ local: { extra: extraField(9, bytes(1), 900) } }),
      /broken extra fields in its own/,
    ],
    [
      "Z52",
      "an extra field that runs over, in the directory",
      () => withEntry({ central: { extra: extraField(9, bytes(1), 900) } }),
      /broken extra fields in the dir/,
    ],
    ["Z52", "half an extra field", () => withEntry({ extra: bytes(9, 0) }), /broken extra fields/],
    ...["b.txt", "../../x", ""].map((name): Row => [
      "Z53",
      `a Unicode path of "${name}"`,
      () => withEntry({ extra: unicodePathExtra("a.txt", name) }),
      /has another name in its Unicode path/,
    ]),
    [
      "Z53",
      "another Unicode path in the entry alone",
      () => withEntry({ local: { extra: unicodePathExtra("a.txt", "b.txt") } }),
      /has another name in its Unicode/,
    ],
    [
      "Z53",
      "another Unicode path made for another name",
      () => withEntry({ extra: unicodePathExtra("c.txt", "b.txt") }),
      /has another name in its Unicode path/,
    ],
    [
      "Z53",
      "two Unicode paths",
      () => withEntry({ extra: concat(unicodePathExtra("a.txt", "a.txt"), unicodePathExtra("a.txt", "a.txt")) }),
      /broken extra fields/,
    ],
  ]);
  accepts([
    ["Z53", "a Unicode path that is the name", () => withEntry({ extra: unicodePathExtra("a.txt", "a.txt") })],
    [
      "Z52",
      "an extra field of another program",
      () => withEntry({ extra: concat(extraField(0x5455, bytes(1, 2, 3, 4, 5)), bytes(0, 0, 0)) }),
    ],
  ]);
});

describe("the end record", () => {
  const end = (fields: object) => buildZip([PAGE, { name: "a.txt", data: TEXT }], { end: fields });
  const page = (): Uint8Array => buildZip([PAGE]);
  /** Three archives in a row, each of whose comments reaches to the end of the file. */
  const nested = (): Uint8Array => {
    const length = page().length;
    return concat(...[2, 1, 0].map((after) => buildZip([PAGE], { end: { comment_length: after * length } })));
  };
  refuses("invalid_zip", [
    ["Z39", "a directory elsewhere", () => end({ offset: 5 }), /does not lie where/],
    ["Z40", "a directory of another size", () => end({ size: 60 }), /does not lie where/],
    ["Z41", "a count that is less", () => end({ count: 1, disk_count: 1 }), /more than the entries/],
    ["Z41", "a count that is more", () => end({ count: 3, disk_count: 3 }), /too short for the 3|breaks off/],
    ["Z41", "a count of 0", () => end({ count: 0, disk_count: 0 }), /more than the entries/],
    ["Z42", "two counts", () => end({ disk_count: 1 }), /two different counts/],
    ["Z43", "a second disk", () => end({ disk: 1 }), /several disks/],
    ["Z43", "a directory on a second disk", () => end({ central_disk: 1 }), /several disks/],
    ["Z45", "a second archive in the comment", () => buildZip([PAGE], { comment: page() }), /ambiguous/],
    ["Z46", "two archives joined", () => concat(page(), page()), /does not lie where/],
    [
      "Z46",
      "two archives joined, with true offsets",
      () => buildZip([PAGE], { prefix: page(), move_offsets: true }),
      /has bytes in front of it/,
    ],
    ["Z47", "three end records with nested comments", nested, /ambiguous/],
    [
      "Z48",
      "a comment that is longer than said",
      () => buildZip([PAGE], { comment: "hello", end: { comment_length: 2 } }),
      /other bytes follow/,
    ],
    [
      "Z48",
      "a comment that is shorter than said",
      () => buildZip([PAGE], { comment: "hello", end: { comment_length: 9 } }),
      /cut off/,
    ],
  ]);
  const files = [PAGE, { name: "a.txt", data: TEXT }];
  accepts([
    ["Z49", "a comment of 5 bytes", () => buildZip(files, { comment: "hello" })],
    ["Z49", "a comment of 65,535 bytes", () => buildZip(files, { comment: "c".repeat(65_535) })],
    ["Z50", "a tail of NULs", () => buildZip(files, { tail: new Uint8Array(8000) })],
    ["Z50", "a tail of NULs after a comment", () => buildZip(files, { comment: "hi", tail: new Uint8Array(70_000) })],
  ]);
});
