/** CONTRACT 6 and RELIABILITY H43 to H45: compression, negotiated and made ahead, and the types of files. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { acceptedCodings } from "../../src/http/codings.ts";
import { expectLinear } from "../kit/cpu.ts";
import { type RawAnswer, rawSite } from "../kit/raw-http.ts";
import { startExplained } from "../kit/explained.ts";
import { type DeployResult, type TestServer } from "../kit/server.ts";

const text = (lines: number): string =>
  Array.from({ length: lines }, (_, i) => `line ${i * 7919} of some text\n`).join("");
const BINARY = Uint8Array.from({ length: 20_000 }, (_, i) => (i * i * 31 + (i >> 3)) & 255);
/** Every byte value once: text by its name, and nothing that could shrink. */
const DENSE = Uint8Array.from({ length: 94 }, (_, i) => i + 33);

let server: TestServer;
let site: DeployResult;
beforeAll(async () => {
  server = await startExplained();
  site = await server.deploy({
    "index.html": `<title>Home</title><p>${text(200)}</p>`,
    "app.css": text(300),
    "huge.txt": text(60_000),
    "dense.txt": DENSE,
    "tiny.txt": "tiny",
    "photo.png": BINARY,
    "404.html": text(100),
  });
});
afterAll(() => server[Symbol.asyncDispose]());

const get = (path: string, headers: string[] = [], method = "GET"): Promise<RawAnswer> =>
  rawSite(server.port, site.slug, path, headers, method);
const accepting = (codings: string) => [`Accept-Encoding: ${codings}`];

function decoded({ headers, body }: RawAnswer): string {
  const bytes = new Uint8Array(body);
  switch (headers.get("content-encoding")) {
    case null:
      return Buffer.from(bytes).toString();
    case "br":
      return brotliDecompressSync(bytes).toString();
    case "zstd":
      return zstdDecompressSync(bytes).toString();
    case "gzip":
      return gunzipSync(bytes).toString();
    default:
      throw new Error(`coding ${headers.get("content-encoding")}`);
  }
}

describe("H43: Accept-Encoding is read as RFC 9110 says", () => {
  test.each([
    [null, null],
    ["", null],
    ["gzip", "gzip"],
    ["x-gzip", "gzip"],
    ["GZip", "gzip"],
    ["br", "br"],
    ["zstd", "zstd"],
    ["gzip, deflate, br, zstd", "br"],
    ["zstd, gzip", "zstd"],
    ["br;q=1, gzip;q=0.5", "br"],
    ["br;q=0.5, gzip;q=1", "gzip"],
    ["br;q=0.5,gzip ; q=0.8 ,zstd;Q=0.9", "zstd"],
    ["gzip;q=0", null],
    ["br;q=0, *", "zstd"],
    ["*", "br"],
    ["*;q=0", null],
    ["*;q=0, gzip", "gzip"],
    ["identity", null],
    ["identity, gzip;q=0.5", null],
    ["identity;q=0.5, gzip", "gzip"],
    ["identity;q=0", null],
    ["identity;q=0, gzip;q=0.1", "gzip"],
    ["gzip;q=2", null],
    ["gzip;q=-1", null],
    ["gzip;q=0.0001", null],
    ["gzip;q=0.000", null],
    ["gzip;level=9", null],
    ["deflate", null],
    [";;,,=, q=1", null],
    ["\u00ff\u00fe junk", null],
  ])("%p chooses %p", async (header, coding) => {
    const answer = await get("/app.css", header === null ? [] : accepting(header));
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-encoding")).toBe(coding);
    expect(answer.headers.get("vary")).toBe("Accept-Encoding");
    expect(answer.headers.get("accept-ranges")).toBe(coding === null ? "bytes" : "none");
    expect(answer.headers.get("content-length")).toBe(String(answer.body.length));
    expect(decoded(answer)).toBe(text(300));
  });

  test("two header lines are one list", async () => {
    const answer = await get("/app.css", ["Accept-Encoding: gzip", "Accept-Encoding: br;q=0.1"]);
    expect(answer.headers.get("content-encoding")).toBe("gzip");
  });
  test("16 KB of hostile header takes no time to speak of", () => {
    for (const [start, piece] of [
      ["", ","],
      ["gzip;q=", "0"],
      ["", "a;q=1,"],
      ["", " "],
    ] as const) {
      const header = (size: number) => start + piece.repeat(size / piece.length);
      expect(acceptedCodings(header(16_000))).toEqual(["identity"]);
      expectLinear(16_000, header, acceptedCodings);
    }
  });
});

test.each(["br", "zstd", "gzip", "identity"])(
  "the same page comes out of %s, and its coding is smaller",
  async (coding) => {
    const [plain, coded] = [await get("/"), await get("/", accepting(coding))];
    expect(decoded(coded)).toBe(plain.text);
    if (coding !== "identity") expect(coded.body.length).toBeLessThan(plain.body.length / 2);
  },
);

test("H44: the tag is the same in every coding, and a 304 needs no body of any", async () => {
  const answers = await Promise.all(
    ["br", "zstd", "gzip", "identity"].map((coding) => get("/app.css", accepting(coding))),
  );
  const tags = new Set(answers.map((answer) => answer.headers.get("etag")));
  expect(tags).toEqual(new Set([`"${site.version_id}:/app.css"`]));
  const unchanged = await get("/app.css", [...accepting("br"), `If-None-Match: ${[...tags][0]}`]);
  expect([unchanged.status, unchanged.headers.get("vary")]).toEqual([304, "Accept-Encoding"]);
  expect(unchanged.headers.has("content-encoding")).toBe(false);
});

test("HEAD of a coded body tells its coding and length", async () => {
  const [head, full] = [await get("/app.css", accepting("br"), "HEAD"), await get("/app.css", accepting("br"))];
  expect(head.headers.get("content-encoding")).toBe("br");
  expect(head.headers.get("content-length")).toBe(String(full.body.length));
});

test.each(["/dense.txt", "/tiny.txt"])(
  "%s does not shrink, so it goes out as it is, and ranges with it",
  async (path) => {
    const answer = await get(path, accepting("br, gzip"));
    expect(answer.headers.has("content-encoding")).toBe(false);
    expect(answer.headers.get("vary")).toBe("Accept-Encoding");
    expect((await get(path, [...accepting("br, gzip"), "Range: bytes=0-0"])).status).toBe(206);
  },
);

test("a type that is compressed by itself is not negotiated", async () => {
  const answer = await get("/photo.png", accepting("br, gzip"));
  expect(Buffer.compare(answer.body, BINARY)).toBe(0);
  expect([answer.headers.get("vary"), answer.headers.get("content-encoding")]).toEqual([null, null]);
});

test("a text that is too large for memory is coded all the same", async () => {
  const whole = text(60_000);
  expect(decoded(await get("/huge.txt", accepting("br")))).toBe(whole);
  expect((await get("/huge.txt")).text).toBe(whole);
  expect((await get("/huge.txt", ["Range: bytes=10-19"])).text).toBe(whole.slice(10, 20));
});

test("the first request after a deploy's 200 already gets the coding, however many ask at once", async () => {
  const { slug } = await server.deploy({ "index.html": "x", "app.js": text(5_000) });
  const ask = () => rawSite(server.port, slug, "/app.js", accepting("br"));
  const answers = await Promise.all(Array.from({ length: 8 }, ask));
  expect(new Set(answers.map((answer) => answer.headers.get("content-encoding")))).toEqual(new Set(["br"]));
  expect(new Set(answers.map(decoded))).toEqual(new Set([text(5_000)]));
});

describe("H45: the type follows the name", () => {
  const types = {
    "a.html": "text/html; charset=utf-8",
    "a.css": "text/css; charset=utf-8",
    "a.js": "text/javascript; charset=utf-8",
    "a.mjs": "text/javascript; charset=utf-8",
    "a.json": "application/json; charset=utf-8",
    "a.svg": "image/svg+xml; charset=utf-8",
    "a.wasm": "application/wasm",
    "a.woff2": "font/woff2",
    "a.webmanifest": "application/manifest+json; charset=utf-8",
    "a.md": "text/markdown; charset=utf-8",
    "a.xml": "application/xml; charset=utf-8",
    "a.txt": "text/plain; charset=utf-8",
    "a.ico": "image/x-icon",
    "a.avif": "image/avif",
    "a.mp4": "video/mp4",
    LICENSE: "application/octet-stream",
    "B.HTML": "text/html; charset=utf-8",
    "a.unknown": "application/octet-stream",
  };
  let typed: DeployResult;
  beforeAll(async () => {
    const names = Object.keys(types).map((name) => [name, "x"]);
    typed = await server.deploy(Object.fromEntries([["index.html", "x"], ...names]));
  });
  test.each(Object.entries(types))("%s is %s, and nosniff", async (name, type) => {
    const answer = await server.site(typed.slug, `/${name}`);
    expect(answer.headers.get("content-type")?.toLowerCase()).toBe(type);
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
  });
});
