/** RELIABILITY 3, Z79, and P10: whatever the bytes, the answer is a refusal or exactly the honest files, soon and
 *  within bounded memory. */
import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expectWithin } from "../kit/cpu.ts";
import { bitFlips, digestOf, fuzzArchives, noise, truncations } from "./archive-fuzz.ts";
import { accept, refusalOf } from "../kit/ingesting.ts";
import { consistentBoasters, countless, liar, quotedOverlap, sharedEntry, zeros } from "./zip-bombs.ts";
import { buildZip, concat, extraField, type Member, unicodePathExtra, zip64Extra, zipOf } from "../kit/zip.ts";

describe("Z79: damaged archives", () => {
  const small = zipOf({ "index.html": "<p>hi hi hi hi", "a.txt": "ab", empty: "" });
  const honest = digestOf(small)!;

  test("the archive that is damaged here is honest and has about 300 bytes", () => {
    expect(honest).toHaveLength(64);
    expect(small.length).toBeWithin(250, 350);
  });

  test("every flip of one bit is refused or changes nothing", () => {
    const others = [...bitFlips(small)].filter(([, damaged]) => ![null, honest].includes(digestOf(damaged)));
    expect(others.map(([what]) => what)).toEqual([]);
  });

  test("flips in names, sizes, CRC, offsets and streams are all refused", () => {
    const accepted = [...bitFlips(small)].filter(([, damaged]) => digestOf(damaged) !== null).length;
    // Versions, times, attributes, how hard deflate tried and spare bits of deflate: nothing that a file depends on.
    expect(accepted).toBeWithin(1, small.length * 8 * 0.25);
  });

  test("every truncation is refused", () => {
    for (const [, damaged] of truncations(small)) expect(digestOf(damaged)).toBeNull();
  });

  test.each([1, 2, 3])("5 MiB of random bytes (seed %i) are refused, also dressed as an archive", (seed) => {
    const bytes = noise(5 << 20, seed);
    expect(digestOf(bytes)).toBeNull();
    const end = buildZip([], { end: { count: 40, disk_count: 40, size: 4 << 20, offset: (1 << 20) - 22 } });
    bytes.set(end, bytes.length - end.length);
    expect(digestOf(bytes)).toBeNull();
    bytes.set(Buffer.from("PK\x03\x04"));
    expect(digestOf(bytes)).toBeNull();
  });

  test("5 MiB of end record signatures are refused", () => {
    expect(digestOf(new Uint8Array(5 << 20).fill(0).map((_, at) => [80, 75, 5, 6][at & 3]!))).toBeNull();
  });

  test("archives of real programs, damaged at random, are refused or read as they were", () => {
    const { refused, same } = fuzzArchives(3000);
    expect(refused).toBeGreaterThan(1500);
    expect(same).toBeGreaterThan(0);
  });
});

describe("Z79: the 14 ways in which readers differ (ZipDiff), each refused or read in one way", () => {
  const FILE: Member = { name: "test", data: "test test test test" };
  const one = (over: Partial<Member>): Uint8Array => buildZip([{ ...FILE, ...over }]);
  test.each<[type: string, what: string, zip: () => Uint8Array, code: string]>([
    ["A1", "stored by the entry, deflated by the directory", () => one({ local: { method: 0 } }), "invalid_zip"],
    ["A2", "a size of 0 in the directory", () => one({ method: 0, central: { size: 0 } }), "invalid_zip"],
    [
      "A2",
      "sizes of 0 everywhere but in the descriptor",
      () => one({ descriptor: "signed", central: { size: 0, packed: 0 } }),
      "invalid_zip",
    ],
    ["A2", "two ZIP64 fields", () => one({ zip64: true, extra: zip64Extra(0, 0) }), "invalid_zip"],
    ["A3", "two names", () => one({ local: { name: "tess" } }), "invalid_zip"],
    [
      "A3",
      "a Unicode path of version 2",
      () => one({ extra: extraField(0x7075, Buffer.from("\x02\0\0\0\0other")) }),
      "invalid_zip",
    ],
    ["A4", "a slash at the end of a name with data", () => one({ name: "test/" }), "invalid_zip"],
    ["A4", "a backslash at the end of a name with data", () => one({ name: "test\\" }), "invalid_zip"],
    ["A5", "encryption of the first entry alone, on one side", () => one({ local: { flags: 1 } }), "invalid_zip"],
    ["B1", "a duplicate", () => buildZip([FILE, { ...FILE, data: "b" }]), "invalid_zip"],
    ["B2", "a NUL in a name", () => one({ name: "a\0b" }), "unsafe_path"],
    [
      "B3",
      "a path that is the same once it is resolved",
      () => buildZip([{ name: "a/b" }, { name: "c/../a/b" }]),
      "unsafe_path",
    ],
    [
      "B3",
      "a path that is the same without its ./",
      () => buildZip([{ name: "a/b" }, { name: "./a/b" }]),
      "invalid_zip",
    ],
    ["C1", "an entry for those who stream", () => buildZip([FILE, { name: "b", without: "central" }]), "invalid_zip"],
    ["C1", "an entry inside another's data", nestedEntry, "invalid_zip"],
    ["C1", "an entry inside the directory's comments", entryInComment, "invalid_zip"],
    ["C2", "end records in comments", () => one({ central: { comment: "PK\x05\x06" } }), ""],
    ["C2", "an end record in the comment", () => buildZip([FILE], { comment: buildZip([]) }), "invalid_zip"],
    [
      "C3",
      "a count of 1 for 65,537 entries",
      () => buildZip([FILE, { ...FILE, name: "b" }], { end: { count: 1, disk_count: 1 } }),
      "invalid_zip",
    ],
    [
      "C4",
      "a directory beside another that is skipped",
      () => buildZip([FILE], { before_central: buildZip([FILE]) }),
      "invalid_zip",
    ],
    [
      "C4",
      "offsets that count from the end of a prefix",
      () => buildZip([FILE], { prefix: Buffer.from("junk") }),
      "invalid_zip",
    ],
    [
      "C5",
      "a ZIP64 end record that differs",
      () => buildZip([FILE], { zip64: { end: { count: 0, disk_count: 0 } } }),
      "invalid_zip",
    ],
    [
      "C5",
      "a ZIP64 end record for those who look for one",
      () => buildZip([FILE], { zip64: true, end: { count: 0, disk_count: 0 } }),
      "invalid_zip",
    ],
  ])("%s: %s", (_type, _what, zip, code) => {
    if (code === "") expect(accept(zip()).paths).toEqual(["test"]);
    else expect(refusalOf(zip()).code as string).toBe(code);
  });
  test("B4: names that differ by case alone are both files", () => {
    expect(accept(zipOf({ "test.txt": "a", "test.TXT": "b" })).paths).toEqual(["test.TXT", "test.txt"]);
  });
  test("A3: a Unicode path that is the name is read in one way", () => {
    expect(accept(one({ extra: unicodePathExtra("test", "test") })).paths).toEqual(["test"]);
  });
});

/** A stored entry holds a whole entry, and the directory names both. */
function nestedEntry(): Uint8Array {
  const inner = buildZip([{ name: "in", data: "in", method: 0 }]).subarray(0, 34);
  const outer: Member = { name: "out", data: inner, method: 0 };
  return buildZip([outer, { name: "in", data: "in", method: 0, without: "local", central: { offset: 33 } }]);
}

/** The comment of the first record is an entry, and the second record points there. */
function entryInComment(): Uint8Array {
  const hidden = buildZip([{ name: "in", data: "in", method: 0 }]).subarray(0, 34);
  const first: Member = { name: "a", data: "a", method: 0, central: { comment: hidden } };
  return buildZip([first, { name: "in", data: "in", method: 0, without: "local", central: { offset: 32 + 47 } }]);
}

describe("P10: time and memory", () => {
  /** 200 files of 10 MiB in all, in an archive of nearly 5 MiB. */
  const fullUpload = (): Uint8Array => {
    const bytes = 52_428;
    const half = Array.from({ length: 200 }, (_, at) => concat(noise(24_000, at + 1), new Uint8Array(bytes - 24_000)));
    return zipOf(new Map(half.map((data, at) => [`f${at}.bin`, data])));
  };
  test("no archive takes long or 100 MB, all in a row", async () => {
    const folder = mkdtempSync(join(tmpdir(), "svc-archives-"));
    try {
      const archives = { fullUpload, zeros, liar, consistentBoasters, sharedEntry, quotedOverlap, countless };
      for (const [name, make] of Object.entries(archives)) writeFileSync(join(folder, name), make());
      writeFileSync(join(folder, "claims"), claims());
      writeFileSync(join(folder, "noise"), noise(5 << 20, 4));
      const child = Bun.spawn([process.execPath, join(import.meta.dir, "archive-peak.ts"), folder], { stdout: "pipe" });
      const { took, peak_bytes } = await child.stdout.json();
      expect(took).toHaveLength(9);
      expect(took.find(({ name }: { name: string }) => name === "fullUpload").outcome).toBe("200 files");
      // Ten times the promise: this is to find what hangs, on a slow machine too.
      for (const { ms } of took) expect(ms).toBeLessThan(20_000);
      expect(peak_bytes).toBeLessThan(100e6);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }, 60_000);

  /** One entry that claims all that a deploy may have, and gives 3 bytes (Z11). */
  const claims = (): Uint8Array => {
    const size = 10_485_760;
    return buildZip([{ name: "claim", data: "abc", method: 8, local: { size }, central: { size } }]);
  };
  test.each([
    ["Z9", zeros],
    ["Z10", liar],
    ["Z11", claims],
    ["Z14", sharedEntry],
    ["Z15", quotedOverlap],
  ] as const)("%s is refused in less than half the time of an honest deploy of 10 MiB", (_id, make) => {
    const [zip, honest] = [make(), zipOf({ z: new Uint8Array(10 << 20) })];
    expectWithin(
      0.5,
      () => expect(digestOf(honest)).not.toBeNull(),
      () => expect(digestOf(zip)).toBeNull(),
    );
  });
});
