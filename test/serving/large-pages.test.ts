/** CONTRACT 6 on pages that are too large for memory: they go out from the disk, with their attribution, in pieces. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { brotliDecompressSync } from "node:zlib";
import { prose } from "../kit/coding-attacks.ts";
import { rawSite } from "../kit/raw-http.ts";
import { startExplained } from "../kit/explained.ts";
import { type DeployResult, type TestServer } from "../kit/server.ts";
import { until } from "../kit/until.ts";

const BODY = prose(1_300_000, 1);
const PAGE = `<!doctype html><html><head><title>Large</title></head><body>${BODY}</body></html>`;
const HEAD_END = PAGE.indexOf("</head>");
/** UTF-16, which takes no tags. */
const WIDE = new Uint8Array(Buffer.from(`\ufeff${PAGE}`, "utf16le"));

let server: TestServer;
let site: DeployResult;
let whole: string;
beforeAll(async () => {
  server = await startExplained();
  site = await server.deploy({
    "index.html": PAGE,
    "404.html": PAGE.replace("Large", "Gone"),
    "wide.html": WIDE,
    "about.html": "<title>About</title>About",
  });
  whole = (await get("/")).text;
});
afterAll(() => server[Symbol.asyncDispose]());

const get = (path: string, headers: string[] = [], method = "GET") =>
  rawSite(server.port, site.slug, path, headers, method);

test("attribution stands before </head>, and nothing else is changed", () => {
  expect(whole.slice(0, HEAD_END)).toBe(PAGE.slice(0, HEAD_END));
  expect(whole.slice(HEAD_END)).toStartWith('<meta name="generator" content="svc">');
  expect(whole).toContain(`<meta name="svc:version" content="${site.version_id}">`);
  expect(whole).toEndWith(PAGE.slice(HEAD_END));
});

test("UTF-16 goes out as it is", async () => {
  expect(Buffer.compare((await get("/wide.html")).body, WIDE)).toBe(0);
});

describe("H15: a range is of the page as it is served", () => {
  const tags = HEAD_END + 50;
  test.each([
    [0, 99],
    [HEAD_END - 5, HEAD_END + 5],
    [tags, tags + 3],
    [HEAD_END - 20, HEAD_END + 2_000],
    [HEAD_END + 1_000, HEAD_END + 200_000],
    [1_299_000, 1_299_999],
  ])("bytes=%i-%i", async (first, last) => {
    const answer = await get("/", [`Range: bytes=${first}-${last}`]);
    expect(answer.status).toBe(206);
    expect(answer.headers.get("content-range")).toBe(`bytes ${first}-${last}/${whole.length}`);
    expect(answer.text === whole.slice(first, last + 1)).toBe(true);
  });
  test("a malformed one is ignored", async () => {
    expect((await get("/", ["Range: bytes=a-b"])).text === whole).toBe(true);
  });
  test("one behind the end is a 416 that tells the size as it is served", async () => {
    const answer = await get("/", [`Range: bytes=${whole.length}-`]);
    expect([answer.status, answer.headers.get("content-range")]).toEqual([416, `bytes */${whole.length}`]);
  });
});

test("HEAD has the fields of GET, and tells the length of what goes out in chunks", async () => {
  const [head, full] = [await get("/", [], "HEAD"), await get("/")];
  const names = ({ headers }: { headers: Headers }) =>
    [...headers.keys()].filter((name) => !["content-length", "transfer-encoding"].includes(name));
  expect(names(head)).toEqual(names(full));
  expect([head.headers.get("content-length"), head.text]).toEqual([String(whole.length), ""]);
});

test("the site's own 404 page may be as large", async () => {
  const [missing, head] = [await get("/nowhere"), await get("/nowhere", [], "HEAD")];
  expect([missing.status, missing.headers.get("etag"), missing.headers.get("cache-control")]).toEqual([
    404,
    null,
    "no-store",
  ]);
  expect(missing.text === whole.replace("Large", "Gone")).toBe(true);
  expect([head.status, head.headers.get("content-length")]).toEqual([404, String(missing.text.length)]);
});

test("its coding is made ahead, and goes out from then on", async () => {
  const coded = () => get("/", ["Accept-Encoding: br"]);
  await until(async () => (await coded()).headers.get("content-encoding") === "br");
  const answer = await coded();
  expect(brotliDecompressSync(answer.body).toString() === whole).toBe(true);
  expect(answer.headers.get("accept-ranges")).toBe("none");
});

test("any coding that is asked for is made in its own time", async () => {
  await until(async () => (await get("/", ["Accept-Encoding: zstd"])).headers.get("content-encoding") === "zstd");
});
