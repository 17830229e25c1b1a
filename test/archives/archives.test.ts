/** RELIABILITY.md 3, Z1 to Z53 and the limits: the archive itself. Its names are in archives-names.test.ts. */
import { describe, expect, test } from "bun:test";
import { crc32, deflateRawSync } from "node:zlib";
import { fastest } from "../kit/cpu.ts";
import { accept, LIMITS, refusalOf } from "../kit/ingesting.ts";
import { boasters, consistentBoasters, countless, liar, quotedOverlap, sharedEntry, zeros } from "./zip-bombs.ts";
import { buildZip, concat, extraField, type Member, unicodePathExtra, zip64Extra, zipOf } from "../kit/zip.ts";

type Row = [id: string, what: string, zip: () => Uint8Array, reason: RegExp];

const PAGE: Member = { name: "index.html", data: "<!doctype html><title>Page</title><p>A page." };
const TEXT = "a text that deflate makes shorter, shorter, shorter, shorter";
/** A page and one entry with the given peculiarity. */
const withEntry = (peculiar: Partial<Member>): Uint8Array =>
  buildZip([PAGE, { name: "a.txt", data: TEXT, ...peculiar }]);
const honest = (): Uint8Array => withEntry({});
const both = (fields: Partial<NonNullable<Member["local"]>>): Partial<Member> => ({ local: fields, central: fields });
const bytes = (...values: number[]): Uint8Array => new Uint8Array(values);
const deflated = (text: string): Uint8Array => new Uint8Array(deflateRawSync(text));

function refuses(code: string, rows: readonly Row[]): void {
  test.each(rows.map((row) => [row[0], row[1], row] as const))(`%s: %s is refused as ${code}`, (_id, _what, row) => {
    const refusal = refusalOf(row[2]());
    expect(refusal.code as string).toBe(code);
    expect(refusal.message).toMatch(row[3]);
    expect(refusal.message).toMatch(/^[\x20-\x7e]+\.$/);
  });
}

function accepts(rows: readonly (readonly [id: string, what: string, zip: () => Uint8Array])[]): void {
  test.each(rows.map((row) => [...row] as const))("%s: %s is accepted", (_id, _what, zip) => {
    const { paths, text } = accept(zip());
    expect(paths).toEqual(["a.txt", "index.html"]);
    expect(text("a.txt")).toBe(TEXT);
  });
}

describe("no archive, or not all of one", () => {
  refuses("invalid_zip", [
    ["Z1", "an empty body", () => bytes(), /body is empty/],
    ["Z2", "300 bytes of HTML", () => Buffer.from("<p>html</p>".repeat(30).slice(0, 300)), /no zip file/],
    ["Z3", "a zip's first bytes and text", () => Buffer.from("PK\x03\x04 and then only text".repeat(9)), /cut off/],
    ["Z4", "a zip cut at half", () => honest().subarray(0, honest().length / 2), /cut off/],
    ["Z5", "a zip without its last byte", () => honest().subarray(0, -1), /cut off/],
  ]);
  refuses("empty_deploy", [
    ["Z6", "an end record alone", () => buildZip([]), /no files/],
    ["Z7", "a zip of folders", () => zipOf({ "a/": "", "a/b/": "" }), /no files/],
    [
      "Z8",
      "a zip of what macOS leaves behind",
      () => zipOf({ "__MACOSX/._a": "x", ".DS_Store": "x", "._x": "x" }),
      /no files/,
    ],
    [
      "Z8",
      "a zip of files that are never published",
      () => zipOf({ ".env": "x", ".git/config": "x" }),
      /never published/,
    ],
  ]);
});

describe("lies about sizes", () => {
  refuses("deploy_too_large", [
    ["Z9", "11 MiB of zeros in 11 KB", zeros, /11534336 bytes unpacked/],
    ["Z13", "199 entries that all headers say are 40 MiB", consistentBoasters, /8346664960 bytes unpacked/],
  ]);
  refuses("invalid_zip", [
    ["Z10", "50 MB that are said to be 100 bytes", liar, /"liar" is damaged: more bytes come out/],
    [
      "Z11",
      "3 bytes that are said to be 9 MB",
      () => withEntry({ ...both({ size: 9e6 }) }),
      /"a.txt" is damaged: it has 60/,
    ],
    ["Z12", "an entry that says 4 GiB", () => withEntry(both({ size: 0xffffffff })), /"a.txt" has ZIP64 sizes/],
    ["Z13", "199 entries that the directory says are 40 MiB", boasters, /"b0" has one size or CRC-32/],
    ["Z26", "a wrong CRC-32 of a stored entry", () => withEntry({ method: 0, ...both({ crc: 1 }) }), /CRC-32 is wrong/],
    ["Z26", "a wrong CRC-32 of a deflated entry", () => withEntry(both({ crc: 1 })), /CRC-32 is wrong/],
    [
      "Z27",
      "garbage for a stream",
      () => withEntry({ method: 8, stream: bytes(255, 255, 255, 255) }),
      /are not deflate/,
    ],
    [
      "Z28",
      "bytes left after the stream",
      () => withEntry({ method: 8, stream: concat(deflated(TEXT), bytes(1, 2, 3, 4, 5, 6, 7, 8)) }),
      /bytes are left/,
    ],
    ["Z29", "a stream cut short", () => withEntry({ method: 8, stream: deflated(TEXT).subarray(0, -3) }), /break off/],
    ["Z30", "a stored entry with two sizes", () => withEntry({ method: 0, ...both({ size: 10 }) }), /it has 60 bytes/],
  ]);
});

describe("bytes that are used twice, or by nobody", () => {
  const three = (missing: number): Uint8Array =>
    buildZip(
      ["a.txt", "b.txt", "c.txt"].map((name, at): Member => ({
        name,
        data: TEXT,
        ...(at === missing && { without: "central" }),
      })),
    );
  refuses("invalid_zip", [
    ["Z14", "100 directory records of one entry", sharedEntry, /"shared" overlaps/],
    ["Z15", "61 entries that quote each other", quotedOverlap, /"000" overlaps/],
    [
      "Z16",
      "data that reach over the next entry",
      () => buildZip([{ ...PAGE, ...both({ packed: 70 }) }, PAGE]),
      /"index.html" overlaps/,
    ],
    ["Z17", "data that reach into the directory", () => withEntry(both({ packed: 300 })), /"a.txt" overlaps/],
    ["Z38", "a first entry that the directory leaves out", () => three(0), /"b.txt" has bytes in front of it/],
    ["Z38", "a middle entry that the directory leaves out", () => three(1), /"c.txt" has bytes in front of it/],
    ["Z38", "a last entry that the directory leaves out", () => three(2), /"b.txt" is followed by bytes/],
    ["Z51", "a self-extractor", () => buildZip([PAGE], { prefix: Buffer.from("#!/bin/sh\n") }), /does not lie where/],
    [
      "Z51",
      "a self-extractor with true offsets",
      () => buildZip([PAGE], { prefix: Buffer.from("#!/bin/sh\n"), move_offsets: true }),
      /"index.html" has bytes in front of it/,
    ],
    ["Z51", "bytes after the end", () => buildZip([PAGE], { tail: Buffer.from("JUNK") }), /other bytes follow its end/],
    [
      "Z51",
      "bytes before the directory",
      () => buildZip([PAGE], { before_central: bytes(1, 2, 3) }),
      /is followed by bytes/,
    ],
    [
      "Z51",
      "bytes after the directory",
      () => buildZip([PAGE], { after_central: bytes(1, 2, 3) }),
      /does not lie where/,
    ],
    [
      "Z51",
      "bytes and an end record",
      () => buildZip([], { prefix: bytes(1, 2, 3), move_offsets: true }),
      /lists no entry/,
    ],
    ["Z51", "bytes between two entries", () => withEntry({ gap: bytes(1) }), /"a.txt" has bytes in front of it/],
  ]);
  test("Z18: a zip in a zip is a plain file, a bomb inside or not", () => {
    const inner = zeros();
    const outer = buildZip([PAGE, { name: "inner.zip", data: inner, method: 0 }]);
    expect(accept(outer).draft.files.get("inner.zip")).toEqual(inner);
  });
});

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
  ] as const)("%s is refused within a millisecond", (_id, make) => {
    const zip = make();
    expect(fastest(30, () => refusalOf(zip))).toBeLessThan(1);
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

describe("what a site's file cannot be", () => {
  refuses("unsupported_zip", [
    ["Z31", "an encrypted entry", () => withEntry({ flags: 1 }), /"a.txt" is encrypted/],
    ["Z31", "strong encryption", () => withEntry({ flags: 0x41 }), /"a.txt" is encrypted/],
    ["Z31", "a masked directory", () => withEntry({ flags: 0x2000 }), /"a.txt" is encrypted/],
    ["Z31", "AES (method 99)", () => withEntry({ method: 99 }), /method 99/],
    ...[1, 6, 9, 12, 14, 93, 95, 98].map((method): Row => [
      "Z32",
      `method ${method}`,
      () => withEntry({ method }),
      new RegExp(`method ${method}:`),
    ]),
    ["Z32", "a version of the format that does not exist", () => withEntry(both({ version: 84 })), /needs version 8.4/],
    ["Z32", "a patch", () => withEntry({ flags: 0x20 }), /"a.txt" is a patch/],
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

describe("limits", () => {
  const empties = (count: number) => buildZip(Array.from({ length: count }, (_, at) => ({ name: at.toString(16) })));
  const raise = (flag: string) => [
    expect.objectContaining({ action: "raise_limit", command: expect.stringContaining(flag) }),
  ];
  test("Z70: 200 files are accepted", () => expect(accept(empties(200)).paths).toHaveLength(200));
  test("Z70: 201 files are refused with the limit, the count and the three largest", () => {
    const zip = buildZip([
      ...Array.from({ length: 198 }, (_, at) => ({ name: `f${at}` })),
      ...[3, 1, 2].map((size) => ({ name: `s${size}`, data: "x".repeat(size) })),
    ]);
    const { code, status, details } = refusalOf(zip);
    expect([code, status]).toEqual(["too_many_files", 413]);
    expect(details).toMatchObject({
      limit: 200,
      actual: 201,
      largest: [
        { path: "s3", bytes: 3 },
        { path: "s2", bytes: 2 },
        { path: "s1", bytes: 1 },
      ],
      next_actions: raise("--max-files 201"),
    });
  });
  test("Z70: 65,535 files are refused by their number alone, without a record of each", () => {
    const zip = empties(65_535);
    const roomy = { ...LIMITS, max_zip_bytes: 1e8 };
    expect(refusalOf(zip, roomy)).toMatchObject({ code: "too_many_files", details: { limit: 200, actual: 65_535 } });
    expect(refusalOf(zip, roomy).details.largest).toHaveLength(3);
    expect(fastest(5, () => refusalOf(zip, roomy))).toBeLessThan(100);
    expect(refusalOf(zip).code).toBe("zip_too_large");
  });
  test("Z70: 65,535 entries are read where the limits allow it", () => {
    const many = { ...LIMITS, max_files: 65_535, max_zip_bytes: 1e8 };
    expect(accept(empties(65_535), many).paths).toHaveLength(65_535);
  });
  test("Z70: more folders than five times the files are refused too", () => {
    const folders = buildZip([PAGE, ...Array.from({ length: 1000 }, (_, at) => ({ name: `${at}/` }))]);
    expect(refusalOf(folders)).toMatchObject({ code: "too_many_files", details: { limit: 1000, actual: 1001 } });
  });
  test("Z71: 10,485,760 bytes are accepted, one more is refused with limit, actual and largest", () => {
    const sized = (length: number) =>
      buildZip([PAGE, { name: "big", data: "x".repeat(length - (PAGE.data as string).length) }]);
    expect(accept(sized(10_485_760)).paths).toEqual(["big", "index.html"]);
    const { code, status, details } = refusalOf(sized(10_485_761));
    expect([code, status]).toEqual(["deploy_too_large", 413]);
    expect(details).toMatchObject({ limit: 10_485_760, actual: 10_485_761, next_actions: raise("--max-bytes") });
    expect(details.largest).toEqual([
      { path: "big", bytes: 10_485_717 },
      { path: "index.html", bytes: 44 },
    ]);
  });
  test("Z71: a zip of 5,242,880 bytes is accepted, one more is refused unread", () => {
    const packed = (length: number) => {
      const frame = buildZip([{ name: "big", method: 0 }]).length;
      return buildZip([{ name: "big", method: 0, data: new Uint8Array(length - frame).fill(7) }]);
    };
    expect(accept(packed(5_242_880)).paths).toEqual(["big"]);
    const { code, details } = refusalOf(packed(5_242_881));
    expect(code).toBe("zip_too_large");
    expect(details).toMatchObject({ limit: 5_242_880, actual: 5_242_881, next_actions: raise("--max-zip-bytes") });
    expect(details).not.toHaveProperty("largest");
  });
  test("what is dropped counts neither as a file nor as bytes", () => {
    const dropped = Array.from({ length: 300 }, (_, at) => ({
      name: `node_modules/${at}.js`,
      data: "x".repeat(50_000),
    }));
    expect(accept(buildZip([PAGE, ...dropped])).paths).toEqual(["index.html"]);
  });
});
