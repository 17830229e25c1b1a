/** RELIABILITY 3, Z1 to Z53 and the limits: the archive itself. Its names are in archives-names.test.ts. */
import { describe, expect, test } from "bun:test";
import { deflateRawSync } from "node:zlib";
import { expectWithin } from "../kit/cpu.ts";
import { accept, LIMITS, refusalOf } from "../kit/ingesting.ts";
import { both, bytes, PAGE, refuses, type Row, TEXT, withEntry } from "./archive-rows.ts";
import { boasters, consistentBoasters, liar, quotedOverlap, sharedEntry, zeros } from "./zip-bombs.ts";
import { buildZip, concat, type Member, zipOf } from "../kit/zip.ts";

const honest = (): Uint8Array => withEntry({});
const deflated = (text: string): Uint8Array => new Uint8Array(deflateRawSync(text));

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
    const reading = () => accept(zip, { ...roomy, max_files: 65_535 });
    expectWithin(0.5, reading, () => refusalOf(zip, roomy));
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
