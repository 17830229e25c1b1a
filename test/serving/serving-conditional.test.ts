/** RELIABILITY H2 to H9: what a browser that already has a page is told. */
import { beforeAll, describe, expect, test } from "bun:test";
import { ifMatch, ifNoneMatch } from "../../src/http/conditional.ts";
import { expectLinear } from "../kit/cpu.ts";
import { rawSite } from "../kit/raw-http.ts";
import { type DeployResult } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";

let site: DeployResult;
const server = await sharedServer();
beforeAll(async () => {
  site = await server.deploy({
    "index.html": "<title>Home</title>",
    "a,b.html": "comma",
    'a"b': "quote",
    é: "accent",
    "a|b": "pipe",
    "data.bin": new Uint8Array(100),
  });
});

const tag = (path: string, version = site.version_id): string => `"${version}:${path}"`;
const get = (path: string, headers: string[] = [], method = "GET") =>
  rawSite(server.port, site.slug, path, headers, method);

describe("H2: a matching If-None-Match is a 304", () => {
  test.each([
    ["the tag itself", (e: string) => [`If-None-Match: ${e}`]],
    ["a weak one, for the comparison is weak", (e: string) => [`If-None-Match: W/${e}`]],
    ["the second of two", (e: string) => [`If-None-Match: "x", ${e}`]],
    ["a list with odd spaces", (e: string) => [`If-None-Match:  ,\t"x" ,W/"y",,  ${e}\t,`]],
    ["two header lines", (e: string) => ['If-None-Match: "x"', `If-None-Match: ${e}`]],
    ["a star", () => ["If-None-Match: *"]],
  ])("%s", async (_, headers) => {
    const answer = await get("/", headers(tag("/")));
    expect(answer.status).toBe(304);
    expect(answer.text).toBe("");
    expect(answer.headers.has("content-length")).toBe(false);
    expect(answer.headers.get("etag")).toBe(tag("/"));
    expect(answer.headers.get("cache-control")).toBe("public, max-age=60, must-revalidate");
    expect(answer.headers.get("vary")).toBe("Accept-Encoding");
    expect(answer.headers.get("x-robots-tag")).toBe("noindex");
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
  });
  test("for HEAD too", async () => {
    expect((await get("/", [`If-None-Match: ${tag("/")}`], "HEAD")).status).toBe(304);
  });
});

test.each([
  ["another tag", () => '"other"'],
  ["the tag without its quotes", () => tag("/").slice(1, -1)],
  ["the tag of another path of the same version", () => tag("/a,b.html")],
  ["the tag of another version", () => tag("/", "0000000000000000")],
  ["an empty tag", () => '""'],
  ["8 KB of junk", () => 'x"y '.repeat(2000)],
  ["8 KB of commas", () => ",".repeat(8000)],
  ["an open quote", () => `"${site.version_id}:/`],
  ["junk before the tag", () => `junk ${tag("/")}`],
])("H3: If-None-Match of %s is a 200", async (_, value) => {
  const answer = await get("/", [`If-None-Match: ${value()}`]);
  expect(answer.status).toBe(200);
  expect(answer.text).toContain("<title>Home</title>");
});

test.each([
  ["alone", (e: string) => e],
  ["in a list", (e: string) => `"x", ${e}, "y"`],
])("H4: the tag of a path with a comma matches %s", async (_, value) => {
  expect((await get("/a,b.html", [`If-None-Match: ${value(tag("/a,b.html"))}`])).status).toBe(304);
});

test.each([
  ["/a%22b", "/a%22b", "quote"],
  ["/%C3%A9", "/%C3%A9", "accent"],
  ["/a|b", "/a|b", "pipe"],
  ["/a%7Cb", "/a%7Cb", "pipe"],
])("H5: the tag of %s is the percent-encoded path as parsed", async (path, expected, body) => {
  const answer = await get(path);
  expect(answer.status).toBe(200);
  expect(answer.text).toBe(body);
  expect(answer.headers.get("etag")).toBe(tag(expected));
  expect(answer.headers.get("etag")!.slice(1, -1)).toMatch(/^[\x21\x23-\x7e]+$/);
  expect((await get(path, [`If-None-Match: ${tag(expected)}`])).status).toBe(304);
});

test("H6: a tag follows the version: it matches again after A, B, A and after a rollback", async () => {
  const a = { "index.html": "A" };
  const b = { "index.html": "B" };
  const moving = await server.deploy(a);
  const status = async (etag: string) =>
    (await rawSite(server.port, moving.slug, "/", [`If-None-Match: ${etag}`])).status;
  const tag_a = tag("/", moving.version_id);
  expect(await status(tag_a)).toBe(304);
  const tag_b = tag("/", (await server.redeploy(moving, b)).version_id);
  expect([await status(tag_a), await status(tag_b)]).toEqual([200, 304]);
  await server.redeploy(moving, a);
  expect([await status(tag_a), await status(tag_b)]).toEqual([304, 200]);
  const rollback = await server.api(`/sites/${moving.site_id}/rollback`, {
    method: "POST",
    headers: { authorization: `Bearer ${moving.manage_token}`, "content-type": "application/json" },
    body: JSON.stringify({ version_id: tag_b.slice(1, 17) }),
  });
  expect(rollback.status).toBe(200);
  expect([await status(tag_a), await status(tag_b)]).toEqual([200, 304]);
});

describe("H7: dates say nothing here, for no Last-Modified is sent", () => {
  const date = "Sat, 01 Jan 2050 00:00:00 GMT";
  test("If-Modified-Since alone is a 200", async () => {
    const answer = await get("/", [`If-Modified-Since: ${date}`]);
    expect(answer.status).toBe(200);
    expect(answer.headers.has("last-modified")).toBe(false);
  });
  test("beside If-None-Match it is ignored", async () => {
    expect((await get("/", [`If-Modified-Since: ${date}`, 'If-None-Match: "x"'])).status).toBe(200);
    expect((await get("/", [`If-Modified-Since: ${date}`, `If-None-Match: ${tag("/")}`])).status).toBe(304);
  });
});

test.each([
  ["the tag", () => `If-Match: ${tag("/")}`, 200],
  ["the tag in a list", () => `If-Match: "x", ${tag("/")}`, 200],
  ["another tag", () => 'If-Match: "x"', 412],
  ["a star", () => "If-Match: *", 200],
  ["a weak tag, for the comparison is strong", () => `If-Match: W/${tag("/")}`, 412],
  [
    "If-Unmodified-Since in the past, which is ignored",
    () => "If-Unmodified-Since: Sat, 01 Jan 2000 00:00:00 GMT",
    200,
  ],
])("H8: a condition on %s is answered as RFC 9110 says", async (_, header, status) => {
  const answer = await get("/", [header()]);
  expect(answer.status).toBe(status);
  if (status === 412) {
    expect(JSON.parse(answer.text)).toMatchObject({ code: "precondition_failed" });
    expect(answer.headers.get("cache-control")).toBe("no-store");
  }
});

test("H8: If-Match is asked before If-None-Match", async () => {
  expect((await get("/", ['If-Match: "x"', `If-None-Match: ${tag("/")}`])).status).toBe(412);
});

test.each(["If-None-Match: *", "If-Match: *", 'If-Match: "x"'])(
  "H9: a missing file is a 404 under %s",
  async (header) => {
    expect((await get("/nowhere.txt", [header])).status).toBe(404);
  },
);

test("comparing 16 KB of hostile header takes no time to speak of", () => {
  for (const piece of [" ", '"', 'W/"a",', '"a" ']) {
    const header = (size: number) => piece.repeat(size / piece.length);
    for (const compare of [ifNoneMatch, ifMatch]) {
      expect(compare(header(16_000), '"etag"')).toBe(false);
      expectLinear(16_000, header, (hostile) => compare(hostile, '"etag"'));
    }
  }
});
