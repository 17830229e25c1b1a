/** RELIABILITY 3: ZIP64 and data descriptors, by the reader alone. */
import { describe, expect, test } from "bun:test";
import { crc32 } from "node:zlib";
import { expectWithin } from "../kit/cpu.ts";
import { refusalOf } from "../kit/ingesting.ts";
import { accepts, both, bytes, PAGE, refuses, TEXT, withEntry } from "./archive-rows.ts";
import { countless } from "./zip-bombs.ts";
import { buildZip, zip64Extra } from "../kit/zip.ts";

describe("ZIP64", () => {
  const ffs = {
    disk: 0xffff,
    central_disk: 0xffff,
    count: 0xffff,
    disk_count: 0xffff,
    size: 0xffffffff,
    offset: 0xffffffff,
  };
  const zip64 = (end: object) => buildZip([PAGE], { zip64: { end } });
  refuses("invalid_zip", [
    ["Z19", "a count of 2^32 - 1", () => countless(), /does not lie where/],
    [
      "Z19",
      "a count of 2^32 - 1 in an archive that is true but for it",
      () => zip64({ count: 2 ** 32 - 1, disk_count: 2 ** 32 - 1 }),
      /too short for the 4294967295 entries/,
    ],
    ["Z20", "a count of 2^40", () => zip64({ count: 2 ** 40, disk_count: 2 ** 40 }), /too short for the 1099511627776/],
    ["Z21", "a directory at 2^60", () => zip64({ offset: 2 ** 60 }), /does not lie where/],
    ["Z22", "a directory of 2^62 bytes", () => zip64({ size: 2 ** 62 }), /does not lie where/],
    [
      "Z23",
      "sizes of all ones without a ZIP64 field",
      () => withEntry(both({ size: 0xffffffff, packed: 0xffffffff })),
      /ZIP64 sizes that are missing/,
    ],
    [
      "Z23",
      "a ZIP64 field that is too short",
      () => withEntry({ ...both({ size: 0xffffffff, packed: 0xffffffff }), extra: zip64Extra(60) }),
      /ZIP64 sizes/,
    ],
    ["Z23", "a ZIP64 field that nothing asks for", () => withEntry({ extra: zip64Extra(60, 60) }), /ZIP64 sizes/],
    [
      "Z24",
      "a locator that points past the end",
      () => buildZip([PAGE], { zip64: { locator: { offset: 2 ** 40 } } }),
      /not where its locator says/,
    ],
    [
      "Z24",
      "a locator that points at another place",
      () => buildZip([PAGE], { zip64: { locator: { offset: 0 } } }),
      /not where its locator says/,
    ],
    [
      "Z24",
      "a locator of two disks",
      () => buildZip([PAGE], { zip64: { locator: { disks: 2 } } }),
      /not where its locator says/,
    ],
    ["Z24", "all ones without a ZIP64 end record", () => buildZip([PAGE], { end: ffs }), /several disks/],
    [
      "Z24",
      "two end records that disagree",
      () => buildZip([PAGE], { zip64: true, end: { count: 2 } }),
      /disagree \(count\)/,
    ],
  ]);
  test.each([
    ["Z19", () => countless()],
    ["Z20", () => zip64({ count: 2 ** 40, disk_count: 2 ** 40 })],
    ["Z22", () => zip64({ size: 2 ** 62 })],
  ] as const)("%s is refused as quickly as a wrong count of 3: what it claims costs nothing", (_id, make) => {
    const [zip, three] = [make(), zip64({ count: 3, disk_count: 3 })];
    expectWithin(10, () => refusalOf(three), () => refusalOf(zip)); // prettier-ignore
  });
  accepts([
    [
      "Z25",
      "a small file with a ZIP64 end record",
      () => buildZip([PAGE, { name: "a.txt", data: TEXT }], { zip64: true }),
    ],
    ["Z25", "a small file with ZIP64 sizes", () => withEntry({ zip64: true })],
    [
      "Z25",
      "all of ZIP64 at once",
      () =>
        buildZip([PAGE, { name: "a.txt", data: TEXT, zip64: true, descriptor: "signed64" }], { zip64: true, end: ffs }),
    ],
  ]);
});

describe("data descriptors", () => {
  const forms = ["signed", "bare", "signed64", "bare64"] as const;
  accepts(
    forms.flatMap((descriptor) =>
      [0, 8].map(
        (method) =>
          [
            "Z33",
            `a ${descriptor} descriptor after method ${method}`,
            () => withEntry({ method, descriptor }),
          ] as const,
      ),
    ),
  );
  const wrong = (crc: number, packed: number, size: number) =>
    new Uint8Array(new Uint32Array([0x08074b50, crc, packed, size]).buffer);
  refuses("invalid_zip", [
    [
      "Z33",
      "a descriptor with a wrong CRC-32",
      () => withEntry({ method: 0, descriptor: wrong(1, 60, 60) }),
      /descriptor that agrees/,
    ],
    [
      "Z33",
      "a descriptor with a wrong size",
      () => withEntry({ method: 0, descriptor: wrong(crc32(TEXT), 60, 61) }),
      /descriptor that agrees/,
    ],
    ["Z33", "a descriptor that is not there", () => withEntry({ descriptor: bytes() }), /descriptor that agrees/],
    [
      "Z33",
      "a descriptor that no flag tells of",
      () => withEntry({ descriptor: "signed", ...both({ flags: 0 }) }),
      /size or CRC-32/,
    ],
  ]);
});
