/** RELIABILITY 3: archives as real programs write them, and Z77: what a version_id depends on. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { Zip, ZipDeflate, ZipPassThrough, zipSync } from "fflate";
import { join } from "node:path";
import { accept } from "../kit/ingesting.ts";
import { FIXTURES } from "../kit/paths.ts";
import { buildZip, concat, type Content, extraField, type Member, zipOf } from "../kit/zip.ts";

const fixture = (name: string): Uint8Array => readFileSync(join(FIXTURES, "archives", `${name}.zip`));

const SITE = "64f7e776323349c0";
const PATHS = ["café.txt", "css/a.css", "docs/deep/x.txt", "empty.txt", "index.html"];
/** The site of the fixtures, by path. */
const site = new Map(accept(fixture("zip")).draft.files);

test.each([
  ["zip"],
  ["zip-pipe"],
  ["zip-0"],
  ["zip-c-locale"],
  ["7z"],
  ["bsdtar"],
  ["bsdtar-pipe"],
  ["jar-m"],
  ["python-make-archive"],
  ["python-unseekable"],
  ["python-force64"],
  ["jszip"],
  ["jszip-deflate"],
  ["jszip-streamed"],
  ["adm-zip"],
  ["yazl"],
  ["yazl-stream"],
  ["yazl-zip64"],
  ["archiver"],
  ["archiver-zip64"],
])("an archive written by %s is accepted with the version_id of its files", (name) => {
  expect(accept(fixture(name))).toMatchObject({ version_id: SITE, paths: PATHS, healed: [], warnings: [] });
});

test("a folder zipped from outside by zip -r is stripped to the same version_id", () => {
  expect(accept(fixture("zip-folder"))).toMatchObject({ version_id: SITE, healed: ["stripped_root_folder"] });
});

test("an archive written by jar is accepted, its manifest being one more file", () => {
  expect(accept(fixture("jar")).paths).toEqual(["META-INF/MANIFEST.MF", ...PATHS]);
});

test.each([0, 6, 9] as const)(
  "an archive written by fflate at level %i is accepted with the same version_id",
  (level) => {
    expect(accept(zipSync(Object.fromEntries(site), { level })).version_id).toBe(SITE);
  },
);

test("an archive streamed by fflate is accepted with the same version_id", () => {
  const chunks: Uint8Array[] = [];
  const zip = new Zip((error, chunk) => {
    if (error) throw error;
    chunks.push(chunk);
  });
  for (const [path, bytes] of site) {
    const file = path.endsWith(".txt") ? new ZipPassThrough(path) : new ZipDeflate(path);
    zip.add(file);
    file.push(bytes, true);
  }
  zip.end();
  expect(accept(concat(...chunks)).version_id).toBe(SITE);
});

describe("archives imitated by bytes, as their programs run on other systems", () => {
  test("macOS Archive Utility: one folder, decomposed names, descriptors, __MACOSX and .DS_Store", () => {
    const ux = extraField(0x5855, new Uint8Array(8));
    const file = (name: string, data: Content): Member => ({
      name: Buffer.from(name.normalize("NFD")),
      data,
      descriptor: "signed",
      extra: ux,
      central: { made_by: 0x0315 },
    });
    const files = [...site].flatMap(([path, bytes]) => [
      file(`site/${path}`, bytes),
      file(`__MACOSX/site/._${path}`, "\0\x05\x16\x07"),
    ]);
    const folders = ["site/", "site/css/", "__MACOSX/"].map((name): Member => ({ name, extra: ux, mode: 0o040755 }));
    const { version_id, healed, warnings } = accept(buildZip([...folders, file("site/.DS_Store", "Bud1"), ...files]));
    expect([version_id, healed, warnings]).toEqual([SITE, ["stripped_root_folder"], []]);
  });

  const dos = { made_by: 0x0014, external: 0x20 };

  test("Windows Explorer: DOS attributes, no folder entries, names in UTF-8 with the flag", () => {
    const members = [...site].map(([name, data]): Member => ({ name, data, central: dos }));
    expect(accept(buildZip(members))).toMatchObject({ version_id: SITE, warnings: [] });
  });

  test("Windows Explorer before Windows 11: names in CP437, read as that with a warning", () => {
    const cp437 = (name: string): Uint8Array => Buffer.from(name.replace("é", "\x82"), "latin1");
    const members = [...site].map(([name, data]): Member => ({ name: cp437(name), data, central: dos }));
    expect(accept(buildZip(members))).toMatchObject({ version_id: SITE, warnings: ["name_encoding_guessed café.txt"] });
  });

  test("PowerShell 5 Compress-Archive: backslashes, and an empty folder with one at its end", () => {
    const members = [...site].map(([name, data]): Member => ({ name: name.replaceAll("/", "\\"), data, central: dos }));
    const { version_id, healed } = accept(buildZip([{ name: "leer\\", central: dos }, ...members]));
    expect([version_id, healed]).toEqual([SITE, ["backslash_paths"]]);
  });
});

describe("Z77: a version_id is that of the files alone", () => {
  const files = { "index.html": "<p>One", "a/b.txt": "two" };
  const members = Object.entries(files).map(([name, data]): Member => ({ name, data }));
  const { version_id } = accept(zipOf(files));
  test.each([
    ["the order", buildZip(members.toReversed())],
    ["the compression", buildZip(members.map((member) => ({ ...member, method: 0 })))],
    ["the level", buildZip(members.map((member) => ({ ...member, level: 9 })))],
    ["the time", buildZip(members.map((member) => ({ ...member, local: { date: 1 }, central: { date: 1, time: 9 } })))],
    ["the mode", buildZip(members.map((member) => ({ ...member, mode: 0o100755 })))],
    ["folder entries", buildZip([{ name: "a/" }, ...members])],
    ["junk", buildZip([...members, { name: "__MACOSX/._x", data: "x" }, { name: "a/.DS_Store", data: "x" }])],
    ["dropped secrets", buildZip([...members, { name: ".env", data: "KEY=1" }])],
    [
      "ZIP64",
      buildZip(
        members.map((member) => ({ ...member, zip64: true })),
        { zip64: true },
      ),
    ],
    ["a comment", buildZip(members, { comment: "hello" })],
    ["a folder around it", buildZip(members.map((member) => ({ ...member, name: `site/${member.name}` })))],
    [
      "backslashes",
      buildZip(members.map((member) => ({ ...member, name: (member.name as string).replace("/", "\\") }))),
    ],
  ])("%s does not change it", (_what, zip) => expect(accept(zip).version_id).toBe(version_id));
  test.each([
    ["one byte", { ...files, "a/b.txt": "twp" }],
    ["one name", { "index.html": "<p>One", "a/c.txt": "two" }],
    ["a byte that moves from name to content", { "index.html": "<p>One", "a/b.tx": "ttwo" }],
    ["a file more", { ...files, c: "" }],
    ["a file less", { "index.html": "<p>One" }],
    ["contents that change places", { "index.html": "two", "a/b.txt": "<p>One" }],
  ])("%s changes it", (_what, other) => expect(accept(zipOf(other)).version_id).not.toBe(version_id));
  test("it is the one that the contract's formula gives", () => {
    const hash = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex");
    const lines = `a/b.txt\0${hash("two")}\nindex.html\0${hash("<p>One")}\n`;
    expect(version_id).toBe(hash(lines).slice(0, 16));
  });
});
