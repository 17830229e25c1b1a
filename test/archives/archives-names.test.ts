/** RELIABILITY.md 3, Z54 to Z69 and Z73 to Z76: the names in an archive and the kinds of its entries. */
import { describe, expect, test } from "bun:test";
import { accept, refusalOf } from "../kit/ingesting.ts";
import { buildZip, type Content, type Member, unicodePathExtra, zipOf } from "../kit/zip.ts";

const INDEX: Member = { name: "index.html", data: "<p>A page." };
/** A page beside entries of these names, each holding its place in the list. */
const named = (...names: Content[]): Uint8Array =>
  buildZip([INDEX, ...names.map((name, at): Member => ({ name, data: `file ${at}` }))]);
const raw = (...values: (string | number)[]): Uint8Array =>
  Buffer.concat(values.map((value) => (typeof value === "string" ? Buffer.from(value) : Buffer.of(value))));

type Refused = [id: string, what: string, zip: () => Uint8Array, reason: RegExp];

function refuses(code: string, rows: readonly Refused[]): void {
  test.each(rows.map((row) => [row[0], row[1], row] as const))(`%s: %s is refused as ${code}`, (_id, _what, row) => {
    const refusal = refusalOf(row[2]());
    expect(refusal.code as string).toBe(code);
    expect(refusal.message).toMatch(row[3]);
    expect(refusal.message).not.toMatch(/[\x00-\x1f\x7f-\x9f\u200b\u202e\ufeff]/);
    expect(refusal.message.length).toBeLessThan(400);
    expect(refusal.details.entry).toBeString();
  });
}

/** Names, and the paths that they are beside index.html. */
type Kept = [id: string, what: string, names: Content[], paths: string[], warnings?: string[]];

function keeps(rows: readonly Kept[]): void {
  test.each(rows.map((row) => [row[0], row[1], row] as const))(
    "%s: %s is kept",
    (_id, _what, [, , names, paths, warnings = []]) => {
      const result = accept(named(...names));
      expect(result.paths.filter((path) => path !== "index.html")).toEqual(paths.toSorted());
      expect(paths.map((path) => result.text(path))).toEqual(paths.map((_, at) => `file ${at}`));
      expect(result.warnings).toEqual(warnings);
    },
  );
}

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

describe("kinds of entries", () => {
  const entry = (over: Partial<Member>): Uint8Array => buildZip([INDEX, { name: "x", data: "/etc/passwd", ...over }]);
  refuses("unsafe_path", [
    ["Z68", "a symlink to /etc/passwd", () => entry({ mode: 0o120777 }), /"x" is a symbolic link/],
    [
      "Z68",
      "a symlink as a folder and a file through it",
      () => buildZip([INDEX, { name: "x", data: "/etc", mode: 0o120777 }, { name: "x/passwd" }]),
      /"x" is a symbolic link/,
    ],
    ["Z68", "a pipe", () => entry({ mode: 0o010644 }), /is a device or pipe/],
    ["Z68", "a device", () => entry({ mode: 0o020644 }), /is a device or pipe/],
    ["Z68", "a socket", () => entry({ mode: 0o140644 }), /is a device or pipe/],
  ]);
  refuses("invalid_zip", [
    ["Z69", "a folder that holds data", () => entry({ name: "x/" }), /"x\/" is a folder, but holds data/],
    [
      "Z69",
      "a folder with data that it does not declare",
      () => entry({ name: "x/", data: "", method: 8, stream: new Uint8Array(900) }),
      /is a folder, but holds data/,
    ],
    [
      "Z69",
      "a folder attribute on a file with data",
      () => entry({ central: { external: 0x10 } }),
      /marked as a folder, but holds data/,
    ],
    [
      "Z69",
      "a folder's mode on a file with data",
      () => entry({ mode: 0o040755 }),
      /marked as a folder, but holds data/,
    ],
  ]);
  test.each([
    ["Z69", "a set-uid mode counts for nothing", entry({ mode: 0o104755 })],
    ["Z69", "a mode of no kind counts for nothing", entry({ mode: 0 })],
    [
      "Z69",
      "an empty file is a file, even with a folder's attribute",
      entry({ data: "", central: { external: 0x10 } }),
    ],
  ])("%s: %s", (_id, _what, zip) => expect(accept(zip).paths).toEqual(["index.html", "x"]));
  test("Z69: 300 folder entries count for nothing", () => {
    const folders = Array.from({ length: 300 }, (_, at): Member => ({
      name: `d${at}/`,
      mode: 0o040755,
      central: { external: 0x10 },
    }));
    expect(accept(buildZip([INDEX, ...folders])).paths).toEqual(["index.html"]);
  });
  test.each([
    ["a symlink in node_modules/.bin", { name: "node_modules/.bin/x", mode: 0o120777 }],
    ["an encrypted .env", { name: ".env", flags: 1 }],
    ["junk with an unknown method", { name: "__MACOSX/._x", method: 99 }],
    ["a folder whose mode is a symlink's", { name: "d/", data: "", mode: 0o120777 }],
  ])("%s is dropped before its kind is judged", (_what, member) =>
    expect(accept(entry(member)).paths).toEqual(["index.html"]),
  );
});

describe("the folder around everything", () => {
  test("Z73: one top folder is stripped, and the version is that of its content", () => {
    const wrapped = accept(zipOf({ "site/": "", "site/index.html": "x", "site/css/a.css": "y" }));
    expect(wrapped.paths).toEqual(["css/a.css", "index.html"]);
    expect(wrapped.healed).toEqual(["stripped_root_folder"]);
    expect(wrapped.draft.stripped_folder).toBe("site");
    expect(wrapped.version_id).toBe(accept(zipOf({ "index.html": "x", "css/a.css": "y" })).version_id);
  });
  test.each([
    ["two top folders", { "a/x": "", "b/x": "" }, ["a/x", "b/x"]],
    ["a folder and a root file", { "a/index.html": "", "x.txt": "" }, ["a/index.html", "x.txt"]],
    ["two folders of which one name begins the other", { "a/x": "", "ab/x": "" }, ["a/x", "ab/x"]],
    ["a .well-known alone", { ".well-known/security.txt": "" }, [".well-known/security.txt"]],
  ])("Z73: %s: nothing is stripped", (_what, files, paths) => {
    const { draft, healed, ...result } = accept(zipOf(files));
    expect([result.paths, healed, draft.stripped_folder]).toEqual([paths, [], null]);
  });
  test("Z73: an index two levels down is stripped by one", () => {
    expect(accept(zipOf({ "a/b/index.html": "x" })).paths).toEqual(["b/index.html"]);
  });
  test("Z73: junk and empty folders beside the one folder do not count", () => {
    expect(
      accept(zipOf({ "site/index.html": "x", "__MACOSX/._site": "x", ".DS_Store": "x", "empty/": "" })).paths,
    ).toEqual(["index.html"]);
  });
});

describe("the index under another name", () => {
  test.each([
    ["INDEX.HTML", { "INDEX.HTML": "x" }, ["index.html"]],
    ["index.htm", { "index.htm": "x" }, ["index.html"]],
    ["Index.HTM in a folder", { "index.html": "x", "d/Index.HTM": "x" }, ["d/index.html"]],
    ["index.htm beside index.html", { "index.html": "x", "index.htm": "y" }, []],
    ["another name that ends so", { "a.txt": "x", "myindex.html": "x", "index.html.txt": "y" }, []],
    ["README.md", { "README.md": "x" }, []],
    ["a/README.md", { "a/README.md": "x", "b/x": "" }, []],
    ["an index.html of 0 bytes", { "index.html": "" }, []],
  ])("Z74: %s", (_what, files, made) => {
    const result = accept(zipOf(files));
    expect(result.made).toEqual(made);
    expect(result.paths).toEqual(Object.keys(files).sort());
    expect(result.healed).toEqual(made.map(() => "index_case_fixed"));
  });
  test("Z74: Index.html goes before index.htm, and its bytes are the index", () => {
    const result = accept(zipOf({ "index.htm": "second", "Index.html": "first" }));
    expect(result.text("index.html")).toBe("first");
    expect(result.draft.healed[0]).toMatchObject({ code: "index_case_fixed", path: "Index.html" });
  });
  test("Z74: the copy is no part of the version id", () => {
    const files = { "INDEX.HTML": "x", "a.txt": "y" };
    expect(accept(zipOf(files)).version_id).not.toBe(accept(zipOf({ ...files, "index.html": "x" })).version_id);
  });
});

describe("names that mean something", () => {
  test("Z75: secrets are dropped with a warning, .well-known and .htaccess stay", () => {
    const { paths, warnings } = accept(
      zipOf({
        "index.html": "x",
        ".git/config": "x",
        ".env": "x",
        "node_modules/x": "x",
        ".well-known/x": "x",
        ".htaccess": "x",
      }),
    );
    expect(paths).toEqual([".htaccess", ".well-known/x", "index.html"]);
    expect(warnings).toEqual([".git/config", ".env", "node_modules/x"].map((path) => `secret_file_dropped ${path}`));
  });
  test("Z75: a folder of many secrets has one warning", () => {
    const { warnings, draft } = accept(named("app/node_modules/a.js", "app/node_modules/b/c.js", "app/.env.local"));
    expect(warnings).toEqual(["secret_file_dropped app/node_modules/", "secret_file_dropped app/.env.local"]);
    expect(draft.warnings[0]!.message).toContain("2 files");
  });
  keeps([
    ["Z76", "comments.json", ["comments.json"], ["comments.json"], ["reserved_path comments.json"]],
    [
      "Z76",
      "a page's comments.json",
      ["a.html.comments.json"],
      ["a.html.comments.json"],
      ["reserved_path a.html.comments.json"],
    ],
    ["Z76", "a file under _svc/", ["_svc/x"], ["_svc/x"], ["reserved_path _svc/x"]],
    [
      "Z76",
      "an ACME challenge",
      [".well-known/acme-challenge/x"],
      [".well-known/acme-challenge/x"],
      ["reserved_path .well-known/acme-challenge/x"],
    ],
    [
      "Z76",
      "what only looks reserved",
      ["my_svc/x", "mycomments.json", "_svcx"],
      ["my_svc/x", "mycomments.json", "_svcx"],
    ],
  ]);
  test("every warning has a recipe of one imperative sentence", () => {
    const { draft } = accept(named("A.txt", "a.txt", ".env", "_svc/x", "CON", raw("caf", 0x82)));
    expect(draft.warnings).toHaveLength(5);
    for (const { fix_recipe, message } of draft.warnings) {
      expect(fix_recipe).toMatch(/^(Rename|Leave|Make) [^.]*.*\.$/);
      expect(message).toEndWith(".");
    }
  });
});
