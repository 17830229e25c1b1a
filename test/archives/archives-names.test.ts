/** RELIABILITY 3, Z54 to Z69 and Z73 to Z76: the names in an archive and the kinds of its entries. */
import { describe, expect, test } from "bun:test";
import { accept, refusalOf } from "../kit/ingesting.ts";
import { buildZip, type Content, unicodePathExtra, zipOf } from "../kit/zip.ts";
import { INDEX, keeps, type Kept, named, raw, type Refused, refuses } from "./entry-rows.ts";

describe("two entries at one path", () => {
  refuses("invalid_zip", [
    ["Z54", "the same name twice", () => named("a", "a"), /"a" is there twice \(a duplicate/],
    ["Z54", "index.html twice", () => named("index.html"), /"index.html" is there twice/],
    [
      "Z54",
      "a name in NFC and in NFD",
      () => named("caf\u00e9.txt", "cafe\u0301.txt"),
      /"cafe\u0301.txt" is a duplicate: it ends at the same path as "caf\u00e9.txt"/,
    ],
    [
      "Z54",
      "a slash and a backslash",
      () => named("d/a", "d\\a"),
      /"d\\a" is a duplicate: it ends at the same path as "d\/a"/,
    ],
    ["Z54", "a leading ./", () => named("a", "./a"), /"\.\/a" is a duplicate: it ends at the same path as "a"/],
    ["Z56", "a file and a folder", () => named("a", "a/b"), /"a" is a file and also a folder, by the entry "a\/b"/],
    [
      "Z56",
      "a folder and then a file",
      () => named("a/b/c", "a"),
      /"a" is a file and also a folder, by the entry "a\/b\/c"/,
    ],
    [
      "Z56",
      "a folder entry and a file",
      () => buildZip([INDEX, { name: "a/" }, { name: "a" }]),
      /"a" is a file and also a folder/,
    ],
  ]);
  keeps([
    ["Z55", "A.txt beside a.txt", ["A.txt", "a.txt"], ["A.txt", "a.txt"], ["case_collision a.txt"]],
    ["Z55", "straße beside STRASSE", ["straße", "STRASSE"], ["straße", "STRASSE"]],
  ]);
  test("Z56: index.html as a folder with files is kept beside another root file", () => {
    expect(accept(zipOf({ "index.html/a.txt": "a", "b.txt": "b" })).paths).toEqual(["b.txt", "index.html/a.txt"]);
  });
  test("a folder that is listed twice is no duplicate", () => {
    expect(accept(buildZip([INDEX, { name: "d/" }, { name: "d\\" }])).paths).toEqual(["index.html"]);
  });
});

describe("paths that lead elsewhere", () => {
  const absolute = ["/etc/passwd", "//h/x", "\\\\h\\s\\x", "/", "\\"];
  const drives = ["C:/x", "C:x", "C:\\x", "c:", "./C:x"];
  const climbing = ["../x", "a/../../x", "a/../b", "..\\x", "a/..", "..", "a/../"];
  refuses("unsafe_path", [
    ...absolute.map((name): Refused => ["Z57", `"${name}"`, () => named(name), /unsafe path: it is absolute/]),
    ...drives.map((name): Refused => [
      "Z57",
      `"${name}"`,
      () => named(name),
      /unsafe path: it starts with a drive letter/,
    ]),
    ...climbing.map((name): Refused => ["Z58", `"${name}"`, () => named(name), /unsafe path: it has a ".." segment/]),
    ...[".", "./.", "d/./a", "d/."].map((name): Refused => [
      "Z60",
      `"${name}"`,
      () => named(name),
      /it has a "." segment/,
    ]),
    ["Z60", "an empty name", () => named(""), /unsafe path: it is empty/],
    ...["d//a", "d//"].map((name): Refused => ["Z60", `"${name}"`, () => named(name), /it has an empty segment/]),
    ["Z60", `"d//a" beside "d/a"`, () => named("d/a", "d//a"), /"d\/\/a" has an unsafe path/],
    ["Z60", `"d/./a" beside "d/a"`, () => named("d/a", "d/./a"), /"d\/.\/a" has an unsafe path/],
    ["Z58", "a path that would be dropped anyway, but climbs", () => named("../.git/config"), /has a ".." segment/],
  ]);
  keeps([
    ["Z59", "two dots in a name", ["a..b", "~/x"], ["a..b", "~/x"]],
    ["Z59", "three dots as a name", [".../x"], [".../x"], ["windows_unsafe_name .../x"]],
    ["Z59", "a percent-encoded climb, which is a literal name", ["%2e%2e/x", "a%20b"], ["%2e%2e/x", "a%20b"]],
    ["Z59", "a name of URL characters", ["a#b", "a+b", "a b", "a&b=c;d"], ["a#b", "a+b", "a b", "a&b=c;d"]],
    ["Z59", "a query as a name", ["a#b?c"], ["a#b?c"], ["windows_unsafe_name a#b?c"]],
    ["Z59", "emoji, joined ones too", ["🎉.txt", "👩‍🚀.txt"], ["🎉.txt", "👩‍🚀.txt"]],
    ["Z60", "a leading ./", ["./a"], ["a"]],
    [
      "Z65",
      "names of JavaScript's own",
      ["__proto__", "constructor", "toString", "x/__proto__/y"],
      ["__proto__", "constructor", "toString", "x/__proto__/y"],
    ],
    ["Z65", "a folder __proto__", ["__proto__/x"], ["__proto__/x"]],
  ]);
  test("Z60: the folder entry ./ is dropped", () => {
    expect(accept(buildZip([{ name: "./" }, { name: "./index.html", data: "x" }])).paths).toEqual(["index.html"]);
  });
  test("Z61: backslashes are read as slashes, healed and told once", () => {
    const { paths, healed } = accept(named("d\\a", "d\\e\\b"));
    expect(paths).toEqual(["d/a", "d/e/b", "index.html"]);
    expect(healed).toEqual(["backslash_paths"]);
  });
});

describe("characters and lengths", () => {
  const hidden: [string, Content][] = [
    ["NUL", "a\0bc"],
    ["a line feed", "a\nb"],
    ["CRLF and a header", "a\r\nSet-Cookie: x"],
    ["ESC", "a\x1b[31mb"],
    ["DEL", "a\x7fb"],
    ["C1", "a\u0085b"],
    ["U+202E", "a\u202egnp.exe"],
    ["U+2066", "a\u2066b"],
    ["U+200B", "a\u200bb"],
    ["U+FEFF", "a\ufeffb"],
    ["U+FEFF at the start", "\ufeffa"],
    ["U+2028", "a\u2028b"],
  ];
  const long = (...lengths: number[]): string => lengths.map((length) => "a".repeat(length)).join("/");
  refuses("unsafe_path", [
    ...hidden.map(([what, name]): Refused => [
      "Z62",
      `${what} in a name`,
      () => named(name),
      /holds a control character or an inv/,
    ]),
    ["Z63", "a segment of 256 bytes", () => named(long(256)), /has a segment over 255 bytes/],
    ["Z63", "a segment of 128 letters of two bytes", () => named("é".repeat(128)), /has a segment over 255 bytes/],
    ["Z63", "a path of 513 bytes", () => named(long(255, 255, 1)), /is longer than 512 bytes/],
    [
      "Z63",
      "a name of 65,535 bytes",
      () => named(long(65_535)),
      /"a{120}…" has an unsafe path: it is longer than 512 bytes/,
    ],
    ["Z63", "500 levels", () => named(Array(500).fill("d").join("/")), /longer than 512 bytes|deeper than 64 levels/],
    ["Z63", "65 levels", () => named(Array(65).fill("d").join("/")), /deeper than 64 levels/],
    [
      "Z66",
      "a name flagged as UTF-8 that is not",
      () => buildZip([INDEX, { name: raw("caf", 0x82), flags: 0x800 }]),
      /"caf\\x82" is flagged as UTF-8/,
    ],
    [
      "Z66",
      "overlong UTF-8 under the flag",
      () => buildZip([INDEX, { name: raw(0xc0, 0xae, 0xc0, 0xae, "/x"), flags: 0x800 }]),
      /is flagged as UTF-8/,
    ],
  ]);
  test("Z62: the refusal shows the name escaped", () => {
    expect(refusalOf(named("a\x1b[31m\u202eb")).details.entry).toBe("a\\u{1b}[31m\\u{202e}b");
  });
  const levels = Array(64).fill("d").join("/");
  keeps([
    ["Z63", "a segment of 255 bytes", [long(255)], [long(255)]],
    ["Z63", "a path of 512 bytes", [long(255, 254, 1)], [long(255, 254, 1)]],
    ["Z63", "64 levels", [levels], [levels]],
    ["Z66", "CP437", [raw("caf", 0x82)], ["café"], ["name_encoding_guessed café"]],
    [
      "Z66",
      "Shift-JIS, as CP437",
      [raw(0x93, 0xfa, 0x96, 0x7b, ".txt")],
      ["ô·û{.txt"],
      ["name_encoding_guessed ô·û{.txt"],
    ],
    [
      "Z66",
      "overlong UTF-8, as CP437",
      [raw(0xc0, 0xae, 0xc0, 0xae, "/x")],
      ["└«└«/x"],
      ["name_encoding_guessed └«└«/x"],
    ],
    ["Z67", "UTF-8 without its flag", [raw("café")], ["café"]],
    ["Z67", "NFD, as NFC", ["cafe\u0301"], ["caf\u00e9"]],
  ]);
  test("Z66: where the bytes are of an unknown code page, a Unicode path made for them is the name", () => {
    const name = raw(0x93, 0xfa, 0x96, 0x7b, ".txt");
    const { paths, warnings } = accept(buildZip([INDEX, { name, extra: unicodePathExtra(name, "日本.txt") }]));
    expect([paths, warnings]).toEqual([["index.html", "日本.txt"], []]);
  });
  const windows = ["a.", "a ", "d./x", "CON", "aux.html", 'a<b>|?*"', "a.txt:evil", "d/lpt1.txt"];
  keeps(windows.map((name): Kept => ["Z64", `"${name}"`, [name], [name], [`windows_unsafe_name ${name}`]]));
  keeps([
    [
      "Z64",
      "what only looks like a device",
      ["console", "d/auxiliary.html", "com"],
      ["console", "d/auxiliary.html", "com"],
    ],
  ]);
});
