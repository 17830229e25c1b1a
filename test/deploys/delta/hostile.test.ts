/** BEYOND 6: what is no delta, and what would be too much: refused with its reason, and nothing stored. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { deltaOf, LIST, listed, rawDelta, refusal, sendDelta, sha256 } from "../../kit/delta.ts";
import { type DeployResult, startServer, type TestServer } from "../../kit/server.ts";
import { sharedServer } from "../../kit/shared.ts";
import { buildZip, zipOf } from "../../kit/zip.ts";

const MAX = { files: 20, bytes: 100_000, zip: 50_000 };
const server = await sharedServer(
  ...["--max-files", String(MAX.files), "--max-bytes", String(MAX.bytes), "--max-zip-bytes", String(MAX.zip)],
);
const site = await server.deploy({ "index.html": "<title>1</title>", "big.txt": "b".repeat(60_000), "a.txt": "a" });

const stored = () => ["sites", "versions", "files", "blobs", "tokens"].map((table) => server.rows(table));
const INDEX = { path: "index.html", sha256: sha256("<title>1</title>") };
const named = (data: string | Uint8Array) => ({ name: sha256(data), data });

/** Sends it; it must be refused with nothing stored, and the site as it was. */
async function refused(body: Uint8Array<ArrayBuffer>): Promise<Record<string, unknown>> {
  const before = stored();
  const response = await sendDelta(server, site, body);
  const { request_id: _, ...told } = await refusal(response);
  expect(stored()).toEqual(before);
  return { status: response.status, ...told };
}

describe("the list", () => {
  const file = (path: unknown, hash: unknown = sha256("x")) => ({ path, sha256: hash });
  const deep = `{"files": ${"[".repeat(500)}${"]".repeat(500)}}`;
  const CASES: [string, unknown, string | undefined, string][] = [
    ["no JSON", "{", undefined, "cannot be parsed"],
    ["an empty entry", "", undefined, "cannot be parsed"],
    ["no UTF-8", Uint8Array.of(0x7b, 0xff, 0x7d), undefined, "not UTF-8"],
    ["deep nesting", deep, undefined, "nested deeper"],
    ["a list in place of an object", [INDEX], "files", "must be a list"],
    ["null", "null", "files", "must be a list"],
    ["no files", {}, "files", "must be a list"],
    ["files that are inherited", '{"__proto__": {"files": []}}', "files", "must be a list"],
    ["empty", { files: [] }, undefined, "lists no file"],
    ["an entry that is no object", { files: [INDEX, 7] }, "files[1]", "must be an object"],
    ["a path that is a list", { files: [file(["a"])] }, "files[0].path", "must be a string"],
    ["a huge number for a hash", `{"files": [{"path": "a", "sha256": 1e400}]}`, "files[0].sha256", "64 lower-case"],
    ["a hash in capitals", { files: [file("a", sha256("x").toUpperCase())] }, "files[0].sha256", "64 lower-case"],
    ["a path twice", { files: [INDEX, file("b"), INDEX] }, "files[2].path", 'names "index.html" a second time'],
    ["a folder", { files: [file("d/")] }, "files[0].path", "folder"],
  ];
  test.each(CASES)("%s: 400 invalid_delta, naming it", async (_, list, field, why) => {
    const told = await refused(
      rawDelta(typeof list === "object" && !(list instanceof Uint8Array) ? JSON.stringify(list) : list, []),
    );
    expect(told).toMatchObject({ status: 400, code: "invalid_delta", entry: LIST, ...(field && { field }) });
    expect(told["error"]).toContain(why);
  });

  const FIRST: [string, () => Uint8Array<ArrayBuffer>][] = [
    ["missing: a zip of files", () => zipOf({ "index.html": "i" })],
    ["missing: hashes alone", () => buildZip([named("x")])],
    [
      "not the first entry",
      () => buildZip([named("<title>1</title>"), { name: LIST, data: JSON.stringify({ files: [INDEX] }) }]),
    ],
    ["in another case", () => buildZip([{ name: "SVC-DELTA.JSON", data: JSON.stringify({ files: [INDEX] }) }])],
    ["in a folder", () => buildZip([{ name: `d/${LIST}`, data: JSON.stringify({ files: [INDEX] }) }])],
    ["first in the directory, and not in the file", () => swapped()],
    ["an empty archive", () => buildZip([])],
  ];
  test.each(FIRST)("%s: 400 invalid_delta", async (_, make) => {
    expect(await refused(make())).toMatchObject({ status: 400, code: "invalid_delta", entry: LIST });
  });

  /** The directory in another order than the entries stand in. */
  function swapped(): Uint8Array<ArrayBuffer> {
    const members = [named("<title>1</title>"), { name: LIST, data: JSON.stringify({ files: [INDEX] }) }];
    const zip = buildZip(members);
    const view = new DataView(zip.buffer, zip.byteOffset);
    const start = view.getUint32(zip.length - 6, true);
    const first = 46 + view.getUint16(start + 28, true);
    const [a, b] = [zip.slice(start, start + first), zip.slice(start + first, zip.length - 22)];
    zip.set(b, start);
    zip.set(a, start + b.length);
    return zip;
  }

  test("100,000 entries are not even unpacked", async () => {
    await using large = await startServer();
    const own = await large.deploy({ "index.html": "<title>1</title>" });
    const files = Array.from({ length: 100_000 }, (_, n) => ({ path: `${n}`, sha256: "0".repeat(64) }));
    const told = await refusal(await sendDelta(large, own, rawDelta({ files }, [])));
    expect(told).toMatchObject({ code: "invalid_delta", entry: LIST });
    expect(told["error"]).toContain("may have 204800");
  });

  test("a list that claims to be small and is a bomb stops where it passes what it said", async () => {
    const data = `{"files": []}${" ".repeat(30_000_000)}`;
    const told = await refused(buildZip([{ name: LIST, data, local: { size: 100 }, central: { size: 100 } }]));
    expect(told).toMatchObject({ status: 400, code: "invalid_zip" });
  });

  test("more files than five times those allowed: 413, as of a zip", async () => {
    const files = Array.from({ length: 5 * MAX.files + 1 }, (_, n) => ({ path: `${n}.txt`, sha256: sha256("a") }));
    expect(await refused(rawDelta({ files }, []))).toMatchObject({
      status: 413,
      code: "too_many_files",
      limit: MAX.files,
    });
  });
});

describe("entries", () => {
  const list = { files: [INDEX, { path: "n.txt", sha256: sha256("new") }] };
  const CASES: [string, Parameters<typeof rawDelta>[1], string, string][] = [
    ["one that the list does not name", [named("new"), named("other")], "invalid_delta", sha256("other")],
    ["one under its path", [{ name: "n.txt", data: "new" }], "invalid_delta", "n.txt"],
    ["one whose bytes have another hash", [{ name: sha256("new"), data: "NEW" }], "invalid_delta", sha256("new")],
    ["an empty one for a hash", [{ name: sha256("new"), data: "" }], "invalid_delta", sha256("new")],
    [
      "one in capitals",
      [{ name: sha256("new").toUpperCase(), data: "new" }],
      "invalid_delta",
      sha256("new").toUpperCase(),
    ],
    ["one twice", [named("new"), named("new")], "invalid_delta", sha256("new")],
    ["a second list", [{ name: LIST, data: "{}" }], "invalid_delta", LIST],
    ["a folder", [{ name: "d/" }], "invalid_delta", "d/"],
    ["what is dropped from a zip", [{ name: ".DS_Store", data: "x" }], "invalid_delta", ".DS_Store"],
    ["an unsafe name", [{ name: "../../x", data: "x" }], "invalid_delta", "../../x"],
    ["a symbolic link", [{ ...named("new"), mode: 0o120777 }], "unsafe_path", sha256("new")],
    ["an encrypted one", [{ ...named("new"), flags: 1 }], "unsupported_zip", sha256("new")],
    ["another method", [{ ...named("new"), method: 12, stream: Buffer.from("x") }], "unsupported_zip", sha256("new")],
    ["a wrong CRC", [{ ...named("new"), local: { crc: 1 }, central: { crc: 1 } }], "invalid_zip", sha256("new")],
  ];
  test.each(CASES)("%s: named", async (_, members, code, entry) => {
    expect(await refused(rawDelta(list, members))).toMatchObject({ status: 400, code, entry });
  });

  test("the bytes of what is dropped are not unpacked, whatever they are and say", async () => {
    const dropped = { path: ".env", sha256: sha256("secret") };
    const bomb = { ...named("lies"), name: dropped.sha256, central: { size: 0xfffffff0 }, local: { size: 0xfffffff0 } };
    const delta = rawDelta({ files: [...list.files, dropped] }, [named("new"), bomb]);
    const whole = await sendDelta(server, site, delta, "?dry_run=1");
    expect([whole.status, await whole.json()]).toEqual([
      200,
      expect.objectContaining({ files: { added: ["n.txt"], changed: [], removed: ["a.txt", "big.txt"] } }),
    ]);
  });

  test("damaged archives are refused as any: every cut of a small delta", async () => {
    const delta = deltaOf({ "index.html": "<title>1</title>", "n.txt": "new" }, [sha256("new")]);
    const codes = new Set<unknown>();
    for (let length = 0; length < delta.length; length += 7) codes.add((await refused(delta.slice(0, length)))["code"]);
    expect([...codes]).toEqual(["invalid_zip"]);
  });

  test("a flipped bit anywhere is refused, or gives the very version", async () => {
    const files = { "index.html": "<title>1</title>", "n.txt": "flip" };
    const delta = deltaOf(files, [sha256("flip")]);
    const honest = ((await (await sendDelta(server, site, delta, "?dry_run=1")).json()) as DeployResult).version_id;
    for (let at = 0; at < delta.length; at += 5) {
      const bad = delta.slice();
      bad[at]! ^= 1 << (at % 8);
      const response = await sendDelta(server, site, bad, "?dry_run=1");
      if (response.status === 200) {
        // a changed path is another version, honestly listed; contents cannot differ
        const { files: changes } = (await response.json()) as { files: { added: string[] } };
        expect(changes.added).toHaveLength(1);
      } else expect([400, 409, 413]).toContain(response.status);
    }
    expect(honest).toMatch(/^[0-9a-f]{16}$/);
  });
});

describe("limits count the whole, and max_zip_bytes the body", () => {
  test("files that the site has are counted: max_bytes by a body of a few hundred bytes", async () => {
    const big = sha256("b".repeat(60_000));
    const list = { files: [INDEX, { path: "1.txt", sha256: big }, { path: "2.txt", sha256: big }] };
    expect(await refused(rawDelta(list, []))).toMatchObject({
      status: 413,
      code: "deploy_too_large",
      limit: MAX.bytes,
      actual: 120_016,
      largest: [
        { path: "1.txt", bytes: 60_000 },
        { path: "2.txt", bytes: 60_000 },
        { path: "index.html", bytes: 16 },
      ],
    });
  });

  test("max_files by paths of one content", async () => {
    const files = Array.from({ length: MAX.files + 1 }, (_, n) => ({ path: `${n}.txt`, sha256: sha256("a") }));
    expect(await refused(rawDelta({ files }, []))).toMatchObject({ status: 413, code: "too_many_files", actual: 21 });
  });

  test("a body over max_zip_bytes: 413 before it is read; exactly that many bytes are taken", async () => {
    const noise = randomBytes(40_000);
    const files = new Map<string, string | Uint8Array>([
      ["index.html", "<title>1</title>"],
      ["n.bin", noise],
    ]);
    const delta = rawDelta(listed(files), [{ ...named(noise), method: 0 }]);
    const pad = (length: number) => {
      const comment = "c".repeat(length - delta.length);
      return rawDelta(listed(files), [{ ...named(noise), method: 0 }], { comment });
    };
    expect((await sendDelta(server, site, pad(MAX.zip), "?dry_run=1")).status).toBe(200);
    expect(await refused(pad(MAX.zip + 1))).toMatchObject({ status: 413, code: "zip_too_large", limit: MAX.zip });
  });

  const BOMB = new Uint8Array(20_000_000);
  test("an entry that says what it is: too large, before it is inflated", async () => {
    const list = { files: [{ path: "z.bin", sha256: sha256(BOMB) }] };
    expect(await refused(rawDelta(list, [named(BOMB)]))).toMatchObject({ status: 413, code: "deploy_too_large" });
  });

  test("an entry that lies about its size stops where it passes what it said", async () => {
    const list = { files: [{ path: "z.bin", sha256: sha256(BOMB) }] };
    const lie = { ...named(BOMB), local: { size: 100 }, central: { size: 100 } };
    expect(await refused(rawDelta(list, [lie]))).toMatchObject({ status: 400, code: "invalid_zip" });
  });

  test("one entry under many paths counts at each of them", async () => {
    const half = "h".repeat(60_000);
    const list = {
      files: [
        { path: "1", sha256: sha256(half) },
        { path: "2", sha256: sha256(half) },
      ],
    };
    expect(await refused(rawDelta(list, [named(half)]))).toMatchObject({ status: 413, actual: 120_000 });
  });
});

describe("full size: 5 MB sent, 10 MB in all", () => {
  const MB = 1024 * 1024;
  let large: TestServer;
  let own: DeployResult;
  const [old, fresh] = [randomBytes(5 * MB - 4000), randomBytes(5 * MB - 4000)];
  beforeAll(async () => {
    large = await startServer();
    own = await large.deploy({ "index.html": "<title>l</title>", "old.bin": old });
  });
  afterAll(() => large[Symbol.asyncDispose]());
  const files = (rest: number) =>
    new Map<string, string | Uint8Array>([
      ["old.bin", old],
      ["fresh.bin", fresh],
      ["rest.txt", "r".repeat(rest)],
    ]);
  const need = (rest: number) => [sha256(fresh), sha256("r".repeat(rest))];

  test("to the byte: 10 MB are taken, and one more is not", async () => {
    expect((await sendDelta(large, own, deltaOf(files(8000), need(8000)))).status).toBe(200);
    expect(await (await large.site(own.slug, "/fresh.bin")).bytes()).toEqual(new Uint8Array(fresh));
    expect(await refusal(await sendDelta(large, own, deltaOf(files(8001), need(8001))))).toMatchObject({
      code: "deploy_too_large",
      actual: 10 * MB + 1,
    });
  });

  test("5 MB of noise are no archive, and a list of 200 KiB takes no time", async () => {
    const noise = new Uint8Array(randomBytes(5 * MB));
    expect(await refusal(await sendDelta(large, own, noise))).toMatchObject({ code: "invalid_zip" });
    const name = (n: number) => `${"d/".repeat(60)}${n}`.padEnd(700, "n").slice(0, 700);
    const list = { files: Array.from({ length: 200 }, (_, n) => ({ path: name(n), sha256: sha256("l") })) };
    expect(JSON.stringify(list).length).toBeGreaterThan(150_000);
    expect(await refusal(await sendDelta(large, own, rawDelta(list, [])))).toMatchObject({ code: "unsafe_path" });
  });
});

describe("names of the list are judged as those of a zip", () => {
  const CASES: [string, string][] = [
    ["../x", "unsafe_path"],
    ["/etc/passwd", "unsafe_path"],
    ["C:\\x", "unsafe_path"],
    ["a\u0000b", "unsafe_path"],
    ["a\r\nSet-Cookie: x", "unsafe_path"],
    ["\u001b[31m", "unsafe_path"],
    ["a\u202Eb", "unsafe_path"],
    ["\ufeff", "unsafe_path"],
    ["", "unsafe_path"],
    [".", "unsafe_path"],
    ["n".repeat(600), "unsafe_path"],
  ];
  test.each(CASES)("%j", async (path, code) => {
    expect(await refused(rawDelta({ files: [INDEX, { path, sha256: sha256("a") }] }, []))).toMatchObject({ code });
  });

  test("half a character", async () => {
    const list = `{"files": [{"path": "\\udc00.txt", "sha256": "${sha256("a")}"}]}`;
    expect(await refused(rawDelta(list, []))).toMatchObject({ status: 400, code: "unsafe_path" });
  });

  test("two that end at one path, and a file that is a folder too", async () => {
    const both = (a: string, b: string) => ({ files: [a, b].map((path) => ({ path, sha256: sha256("a") })) });
    expect(await refused(rawDelta(both("d/a", "d\\a"), []))).toMatchObject({ code: "invalid_zip" });
    expect(await refused(rawDelta(both("d", "d/a"), []))).toMatchObject({ code: "invalid_zip" });
  });
});
