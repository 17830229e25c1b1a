/** RELIABILITY H10 to H16: parts of files, from memory and from the disk alike. */
import { beforeAll, describe, expect, test } from "bun:test";
import { parseRange } from "../../src/http/conditional.ts";
import { MEDIA_TYPES } from "../../src/base/media-types.ts";
import { expectLinear } from "../kit/cpu.ts";
import { rawRequest, rawSite } from "../kit/raw-http.ts";
import { type DeployResult, startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";

/** Larger than anything that is kept in memory. */
const LARGE = 1_500_000;
const pattern = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => (i * 31 + (i >> 8)) & 255);
const files: Record<string, Uint8Array> = {
  "small.bin": pattern(100),
  "large.bin": pattern(LARGE),
  "large.mp4": pattern(LARGE),
  "empty.bin": new Uint8Array(0),
  "index.html": new TextEncoder().encode("<title>Ranges</title><p>text</p>"),
  "app.css": new TextEncoder().encode("a { color: red }\n".repeat(200)),
};

const server = await sharedServer();
const site = await server.deploy(files);

const get = (path: string, headers: string[] = [], method = "GET") =>
  rawSite(server.port, site.slug, path, headers, method);
const etag = (path: string): string => `"${site.version_id}:${path}"`;

describe.each(["small.bin", "large.bin"])("of %s", (name) => {
  const whole = files[name]!;
  const size = whole.length;

  test.each([
    ["0-4", 0, 4],
    ["95-", 95, size - 1],
    ["-5", size - 5, size - 1],
    ["0-0", 0, 0],
    ["0-9999999", 0, size - 1],
    ["-9999999", 0, size - 1],
    [`${size - 1}-`, size - 1, size - 1],
  ])("H10: Range: bytes=%s is a 206 of exactly those bytes", async (range, first, last) => {
    const answer = await get(`/${name}`, [`Range: bytes=${range}`]);
    expect(answer.status).toBe(206);
    expect(answer.headers.get("content-range")).toBe(`bytes ${first}-${last}/${size}`);
    expect(answer.headers.get("content-length")).toBe(String(last - first + 1));
    expect(Buffer.compare(answer.body, whole.subarray(first, last + 1))).toBe(0);
    expect(answer.headers.get("etag")).toBe(etag(`/${name}`));
    expect(answer.headers.get("accept-ranges")).toBe("bytes");
    expect(answer.headers.get("cache-control")).toBe("public, max-age=60, must-revalidate");
    expect(answer.headers.get("x-robots-tag")).toBe("noindex");
  });

  test.each([`${size}-`, `${size + 5}-${size + 9}`, "-0"])(
    "H11: Range: bytes=%s is a 416 that tells the size",
    async (range) => {
      const answer = await get(`/${name}`, [`Range: bytes=${range}`]);
      expect(answer.status).toBe(416);
      expect(answer.headers.get("content-range")).toBe(`bytes */${size}`);
      expect(answer.headers.get("cache-control")).toBe("no-store");
      expect(JSON.parse(answer.text)).toMatchObject({ code: "range_not_satisfiable" });
    },
  );

  test.each([
    "bytes=5-2",
    "bytes=a-b",
    "lines=0-1",
    "bytes=0-99999999999999999999",
    "bytes=99999999999999999999-",
    "bytes=",
    "bytes=-",
    "bytes",
    "0-4",
    "bytes=0-1,3-4",
    `bytes=${Array.from({ length: 1300 }, (_, i) => `${i}-`).join(",")}`,
  ])("H12: Range: %.40s is ignored: the whole file goes out", async (range) => {
    const answer = await get(`/${name}`, [`Range: ${range}`]);
    expect(answer.status).toBe(200);
    expect(Buffer.compare(answer.body, whole)).toBe(0);
    expect(answer.headers.has("content-range")).toBe(false);
  });

  test.each([
    ["the tag", () => etag(`/${name}`), 206],
    ["another tag", () => '"x"', 200],
    ["a weak tag", () => `W/${etag(`/${name}`)}`, 200],
    ["a date", () => "Sat, 01 Jan 2050 00:00:00 GMT", 200],
  ])("H13: a Range that comes with If-Range of %s", async (_, validator, status) => {
    const answer = await get(`/${name}`, ["Range: bytes=5-9", `If-Range: ${validator()}`]);
    expect(answer.status).toBe(status);
    expect(Buffer.compare(answer.body, status === 206 ? whole.subarray(5, 10) : whole)).toBe(0);
  });

  test("H14: a matching If-None-Match goes before the Range", async () => {
    expect((await get(`/${name}`, ["Range: bytes=0-4", `If-None-Match: ${etag(`/${name}`)}`])).status).toBe(304);
  });
  test("H14: HEAD knows no ranges", async () => {
    const answer = await get(`/${name}`, ["Range: bytes=0-4"], "HEAD");
    expect([answer.status, answer.headers.get("content-length")]).toEqual([200, String(size)]);
  });
  test("H1: HEAD has the fields of GET and no body", async () => {
    const [head, full] = [await get(`/${name}`, [], "HEAD"), await get(`/${name}`)];
    const fields = ({ headers }: { headers: Headers }) =>
      [...headers].map(([field, value]) => [field, field === "date" ? "a date" : value]);
    expect(fields(head)).toEqual(fields(full));
    expect(Date.parse(head.headers.get("date")!)).not.toBeNaN();
    expect([head.text, full.body.length]).toEqual(["", size]);
  });
});

test.each(["0-", "0-0", "-5", "-0"])("H11: Range: bytes=%s of an empty file is a 416", async (range) => {
  const answer = await get("/empty.bin", [`Range: bytes=${range}`]);
  expect([answer.status, answer.headers.get("content-range")]).toEqual([416, "bytes */0"]);
});

describe("H13: on a type that is coded the tag is shared by the codings", () => {
  test("a Range with If-Range gets the whole body", async () => {
    const answer = await get("/app.css", ["Range: bytes=0-4", `If-Range: ${etag("/app.css")}`]);
    expect([answer.status, answer.body.length]).toEqual([200, files["app.css"]!.length]);
  });
  test("a Range without If-Range is served where identity is chosen", async () => {
    const answer = await get("/app.css", ["Range: bytes=0-4"]);
    expect([answer.status, answer.text]).toEqual([206, "a { c"]);
    expect(answer.headers.get("vary")).toBe("Accept-Encoding");
  });
  test("where a coding is chosen, the whole coded body goes out", async () => {
    const answer = await get("/app.css", ["Range: bytes=0-4", "Accept-Encoding: gzip"]);
    expect([answer.status, answer.headers.get("accept-ranges")]).toEqual([200, "none"]);
    expect(Buffer.from(Bun.gunzipSync(new Uint8Array(answer.body))).toString()).toBe(
      Buffer.from(files["app.css"]!).toString(),
    );
  });
});

test("H15: a range of a page is of the page as it is served, attribution included", async () => {
  const whole = await get("/");
  const parts = [await get("/", ["Range: bytes=0-39"]), await get("/", ["Range: bytes=40-"])];
  expect(parts.map((part) => part.status)).toEqual([206, 206]);
  expect(parts.map((part) => part.text).join("")).toBe(whole.text);
  expect(parts[1]!.headers.get("content-range")).toBe(`bytes 40-${whole.body.length - 1}/${whole.body.length}`);
});

test("H16: two parts that are asked for across a redeploy are never put together from two versions", async () => {
  const moving = await server.deploy({ "index.html": "x", "data.bin": new Uint8Array(100).fill(1) });
  const part = (range: string, headers: string[] = []) =>
    rawRequest(server.port, `${moving.slug}.localhost:${server.port}`, "GET", "/data.bin", [
      `Range: bytes=${range}`,
      ...headers,
    ]);
  const first = await part("0-49");
  await server.redeploy(moving, { "index.html": "x", "data.bin": new Uint8Array(100).fill(2) });
  const rest = await part("50-", [`If-Range: ${first.headers.get("etag")}`]);
  expect(first.status).toBe(206);
  expect(rest.status).toBe(200);
  expect(new Set(rest.body)).toEqual(new Set([2]));
  expect(rest.body.length).toBe(100);
});

describe("H48: a file from the disk is never called after its hash", () => {
  const types = Object.entries(MEDIA_TYPES).map(([type, extensions]) => [type, extensions.split(" ")[0]!] as const);
  let typed: DeployResult;
  beforeAll(async () => {
    const shared = new Uint8Array(1024 * 1024);
    const name = (extension: string): [string, Uint8Array] => [`large.${extension}`, shared];
    await using own = await startServer("--max-bytes", "300000000");
    typed = await own.deploy({
      "index.html": "x",
      ...Object.fromEntries(types.map(([, extension]) => name(extension))),
    });
    for (const [type, extension] of types) {
      const { headers, body } = await own.site(typed.slug, `/large.${extension}`, {
        headers: { "accept-encoding": "identity" },
      });
      named.set(type, headers.get("content-disposition"));
      await body?.cancel();
    }
  }, 60_000);
  const named = new Map<string, string | null>();
  test.each(types)("%s", (type) => {
    expect(named.get(type)).toBeOneOf([null, "inline"]);
  });
});

test("reading 16 KB of hostile Range takes no time to speak of", () => {
  for (const [start, piece] of [
    ["bytes=", "1"],
    ["bytes=", " "],
    ["", "bytes=0-,"],
  ] as const) {
    const header = (size: number) => start + piece.repeat(size / piece.length);
    expect(parseRange(header(16_000), 100)).toBeNull();
    expectLinear(16_000, header, (hostile) => parseRange(hostile, 100));
  }
});
