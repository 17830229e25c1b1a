/** CONTRACT 6 and RELIABILITY H19 to H33: which file answers which path. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { resolve } from "../../src/base/resolve.ts";
import { decodePath } from "../../src/base/percent.ts";
import { expectLinear, expectWithin } from "../kit/cpu.ts";
import type { RawAnswer } from "../kit/raw-http.ts";
import { startExplained } from "../kit/explained.ts";
import type { TestServer } from "../kit/server.ts";
import { pathSites } from "./path-sites.ts";

let server: TestServer;
const { sites, deployAll, get, seen } = pathSites(() => server);
beforeAll(async () => {
  server = await startExplained();
  await deployAll();
});
afterAll(() => server[Symbol.asyncDispose]());

const code = (answer: RawAnswer): string => (JSON.parse(answer.text) as { code: string }).code;

test.each([
  ["/a/../b", "file b"],
  ["/%2e%2e/b", "file b"],
  ["/a\\..\\b", "file b"],
  ["/a/./b", "file a/b"],
  ["/a/b/..", "folder a"],
])("H19 (B): %s is normalised before it is looked up", async (path, body) => {
  expect(await seen("plain", path)).toEqual([200, body]);
});

test.each(["/..%2fetc", "/%2e%2e%2f", "/a%5c..%5cb", "/a%00b", "/%0d%0aX:y", "/a%7fb", "/x/..%2f..%2fy"])(
  "H20: %s is refused, and nothing of it gets into a header",
  async (path) => {
    const answer = await get("plain", path);
    expect([answer.status, code(answer)]).toEqual([400, "invalid_path"]);
    expect(answer.headers.has("x")).toBe(false);
  },
);

test("H21: a path is decoded once", async () => {
  expect(await seen("plain", "/%252e%252e/x")).toEqual([200, "a literal name"]);
  expect((await get("app", "/%252e%252e/x.txt")).status).toBe(404);
});

test.each(["/%c0%ae", "/%ff", "/%zz", "/%", "/a/%e2%82"])(
  "H22: %s is no UTF-8 in percent-encoding: 400",
  async (path) => {
    const answer = await get("plain", path);
    expect([answer.status, code(answer)]).toEqual([400, "invalid_path"]);
  },
);

test("H23 (B): a raw UTF-8 path is served; a raw byte E9 is no name of anything", async () => {
  expect(await seen("plain", "/café.txt")).toEqual([200, "accent"]);
  expect((await get("plain", Uint8Array.from([...Buffer.from("/caf"), 0xe9, ...Buffer.from(".txt")]))).status).toBe(
    404,
  );
});

test("H24: names match in NFC, and each request path has its own tag", async () => {
  const composed = await get("plain", "/caf%C3%A9.txt");
  const decomposed = await get("plain", "/cafe%CC%81.txt");
  expect([composed.text, decomposed.text]).toEqual(["accent", "accent"]);
  expect(composed.headers.get("etag")).toEndWith(':/caf%C3%A9.txt"');
  expect(decomposed.headers.get("etag")).toEndWith(':/cafe%CC%81.txt"');
});
test("H24: a name that was uploaded decomposed is found by both forms", async () => {
  const { slug } = await server.deploy({ "index.html": "x", "cafe\u0301.txt": "accent" });
  const status = async (path: string) => (await server.site(slug, path)).status;
  expect([await status("/caf%C3%A9.txt"), await status("/cafe%CC%81.txt")]).toEqual([200, 200]);
});

test.each([
  ["/a..b.html", "dots"],
  ["/100%25.html", "percent"],
  ["/a+b", "plus"],
  ["/a%2Bb", "plus"],
  ["/a%20b", "space"],
  ["/a;b=c", "semicolon"],
  ["/a&b", "ampersand"],
  ["/%E6%97%A5%E6%9C%AC.txt", "japanese"],
  ["/__proto__", "an honest name"],
  ["/comments.json", "the site's own"],
])("H25: %s names a file", async (path, body) => {
  expect(await seen("plain", path)).toEqual([200, body]);
});

test.each(["/A.html", "/DOCS/", "/Comments.json", "/constructor", "/toString"])(
  "H26: %s is no file of the site",
  async (path) => {
    expect((await get("plain", path)).status).toBe(404);
  },
);

test.each(["/b?v=1", "/b?", "/b?../../x", "/b?a=/docs/"])(
  "H27: the query of %s changes neither file nor tag",
  async (path) => {
    const answer = await get("plain", path);
    expect([answer.status, answer.text]).toEqual([200, "file b"]);
    expect(answer.headers.get("etag")).toBe(`"${sites.plain!.version_id}:/b"`);
  },
);

describe("H28: a folder has a slash at its end", () => {
  test.each([
    ["/docs", "/docs/"],
    ["/docs?a=1&b=/x", "/docs/?a=1&b=/x"],
    ["/docs/deep", "/docs/deep/"],
    ["/d%6fcs", "/d%6fcs/"],
  ])("%s is redirected to %s, by a relative address", async (path, location) => {
    const answer = await get("plain", path);
    expect([answer.status, answer.headers.get("location")]).toEqual([308, location]);
    expect(answer.headers.get("cache-control")).toBe("public, max-age=60, must-revalidate");
    expect(answer.text).toBe("");
  });
  test.each(["/docs/", "/docs/index.html", "/docs/index"])("%s is its index", async (path) => {
    expect(await seen("plain", path)).toEqual([200, "docs"]);
  });
});

test.each([
  ["//evil.com", null],
  ["//evil.com/docs", "/evil.com/docs/"],
  ["///evil.com/docs", "/evil.com/docs/"],
  ["/\\evil.com/docs", "/evil.com/docs/"],
  ["/%2fevil.com/docs", "/evil.com/docs/"],
  ["/%2f%2fevil.com/docs", "/evil.com/docs/"],
  ["/docs//deep", "/docs/deep/"],
  ["//docs", "/docs/"],
])("H29: %s never leads to another host: a run of slashes is one", async (path, location) => {
  const answer = await get("plain", path);
  expect([answer.status, answer.headers.get("location")]).toEqual([location === null ? 404 : 308, location]);
});

test.each([
  ["/about", 200, "about page"],
  ["/about.html", 200, "about page"],
  ["/about/", 404, null],
  ["/about.html/", 404, null],
  ["/exact", 200, "exact file"],
  ["/exact.html", 200, "exact page"],
  ["/both", 200, "both page"],
  ["/both/", 200, "both folder"],
  ["/docs/deep/index", 200, "deep"],
])("H30: clean URLs: %s is a %i", async (path, status, body) => {
  const [got, text] = await seen("plain", path);
  expect(got).toBe(status);
  if (body !== null) expect(text).toBe(body);
});

test.each(["/empty-folder", "/empty-folder/"])("H31: %s has no index and is not listed", async (path) => {
  const answer = await get("plain", path);
  expect([answer.status, code(answer)]).toEqual([404, "not_found"]);
  expect(answer.text).not.toContain("file.txt");
});

test.each([
  "/.well-known/acme-challenge/token",
  "/.well-known/acme%2dchallenge/token",
  "/.well-known/acme-challenge%2ftoken",
])("Z76: %s is never served, for it would get the site's author a certificate", async (path) => {
  expect((await get("plain", path)).status).toBe(404);
});
test("Z76: what else lies under .well-known/ is served, what lies under _svc/ is not", async () => {
  expect(await seen("plain", "/.well-known/security.txt")).toEqual([200, "contact"]);
  expect((await get("plain", "/_svc/x")).status).toBe(404);
  expect((await get("plain", "/%5Fsvc%2Fx")).status).toBe(404);
});

test.each([
  ["letters", "a"],
  ["encoded letters", "%61"],
])("RELIABILITY A24: a path of 15 KB of %s is decoded once for all that a request asks of it", (_, letters) => {
  const files = new Map([["index.html", 1]]);
  let n = 0;
  const path = () => `/${letters.repeat(15_000 / letters.length)}${n++}`;
  const request = (one: string) => {
    for (let step = 0; step < 6; step++) decodePath(one);
    return resolve(files, one);
  };
  expectWithin(
    3,
    () => decodeURIComponent(path()),
    () => request(path()),
  );
});

test("resolving 16 KB of hostile path takes no time to speak of", () => {
  for (const piece of ["/", "/a", "%C3%A9/", "e%CC%81"]) {
    const path = (size: number) => `/${piece.repeat(size / piece.length)}`;
    expect(resolve(new Map(), path(16_000)).kind).toBe("unmatched");
    expectLinear(16_000, path, (hostile) => resolve(new Map(), hostile));
  }
});
