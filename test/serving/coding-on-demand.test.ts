/** CONTRACT 6 and RELIABILITY 6: codings that are made because somebody asks cost neither memory nor anybody's time. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { unlinkSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";
import { createCoders } from "../../src/coding/coders.ts";
import { createEncoder } from "../../src/serve/encode.ts";
import type { Bytes } from "../../src/base/types.ts";
import { askWithoutReading, crawl, deploy, get, peakOf, prose, workOf } from "../kit/coding-attacks.ts";
import { blobFile } from "../kit/operator.ts";
import { type ServerProcess, startProcess, temporaryFolder } from "../kit/process.ts";
import { rawSite } from "../kit/raw-http.ts";
import { startServer } from "../kit/server.ts";
import { MB, residentBytes } from "../torture/parts/figures.ts";
import { longDescribe } from "../kit/whole.ts";

const bytesOf = (text: string): Bytes => new TextEncoder().encode(text);
const always = () => true;

describe("the encoder", () => {
  const coders = createCoders({ log: { error: () => {} } });
  // Its start is no part of what a visitor waits for here.
  beforeAll(async () => void (await coders.code(bytesOf("x"), "gzip", "quick")));
  afterAll(coders.stop);
  /** An encoder whose one slot is taken until `free`. */
  function busyEncoder() {
    const encoder = createEncoder(coders.code, 1);
    const { promise, resolve } = Promise.withResolvers<Bytes>();
    const first = encoder.now("gzip", () => promise, always);
    return { encoder, first, free: () => resolve(bytesOf("x".repeat(1000))) };
  }
  test("reads a body when its turn has come, and not before", async () => {
    const { encoder, first, free } = busyEncoder();
    let reads = 0;
    const second = encoder.now("gzip", async () => (reads++, bytesOf("y".repeat(1000))), always);
    await Bun.sleep(1);
    expect(reads).toBe(0);
    free();
    expect((await first)!.byteLength).toBeLessThan(100);
    expect((await second)!.byteLength).toBeLessThan(100);
    expect(reads).toBe(1);
  });
  test("lets nobody wait longer than a moment, and then has read nothing for him", async () => {
    const { encoder, free } = busyEncoder();
    let reads = 0;
    expect(await encoder.now("gzip", async () => (reads++, bytesOf("y")), always)).toBeUndefined();
    expect(reads).toBe(0);
    free();
  });
  test("has a line of some length, and turns away who comes behind it at once", async () => {
    const { encoder, free } = busyEncoder();
    const settled: number[] = [];
    const all = Array.from({ length: 200 }, (_, n) =>
      encoder.now("gzip", async () => bytesOf("y"), always).then((bytes) => bytes === undefined && settled.push(n)),
    );
    await Bun.sleep(1);
    expect(settled.length).toBeGreaterThan(150);
    expect(settled[0]).toBeGreaterThan(10);
    free();
    await Promise.all(all);
  });
  test("does nothing for a visitor who left while he waited", async () => {
    const { encoder, first, free } = busyEncoder();
    let reads = 0;
    const gone = encoder.now(
      "gzip",
      async () => (reads++, bytesOf("y")),
      () => false,
    );
    free();
    await first;
    expect(await gone).toBeUndefined();
    expect(reads).toBe(0);
  });
});

test("what is no page is coded once for all versions and sites that have it", async () => {
  await using server = await startServer();
  const script = prose(50_000, 1);
  const first = await server.deploy({ "index.html": "one", "a.js": script });
  const br = ["Accept-Encoding: br"];
  expect((await rawSite(server.port, first.slug, "/a.js", br)).headers.get("content-encoding")).toBe("br");
  const second = await server.deploy({ "index.html": "two", "library/b.txt": script });
  // Nobody can read it any more: whoever gets it gets what was made before.
  unlinkSync(blobFile(server.data_dir, script));
  const shared = await rawSite(server.port, second.slug, "/library/b.txt", br);
  expect([shared.status, shared.headers.get("content-encoding")]).toEqual([200, "br"]);
  expect(shared.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  expect(shared.headers.get("etag")).toBe(`"${second.version_id}:/library/b.txt"`);
  expect(brotliDecompressSync(shared.body).toString()).toBe(script);
  expect((await rawSite(server.port, second.slug, "/library/b.txt")).status).toBe(500);
});

test("a text that goes out as it is because its coding is not made yet goes out whole, Range or not", async () => {
  await using server = await startServer();
  const text = prose(3_000_000, 3);
  const { slug, version_id } = await server.deploy({ "index.html": "x", "large.txt": text });
  const answer = await rawSite(server.port, slug, "/large.txt", ["Accept-Encoding: gzip", "Range: bytes=5-9"]);
  expect([answer.status, answer.headers.get("content-encoding")]).toEqual([200, null]);
  expect(answer.headers.get("vary")).toBe("Accept-Encoding");
  expect(answer.headers.get("etag")).toBe(`"${version_id}:/large.txt"`);
  expect(answer.text).toBe(text);
});

longDescribe.if(process.platform === "linux")("strangers who ask for everything in every coding", () => {
  const folders: AsyncDisposable[] = [];
  const servers: ServerProcess[] = [];
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.end()));
    await Promise.all(folders.map((folder) => folder[Symbol.asyncDispose]()));
  });
  /** A server that has kept nothing of the deploys. */
  async function restarted<T>(prepare: (server: ServerProcess) => Promise<T>): Promise<[ServerProcess, T]> {
    const folder = await temporaryFolder();
    folders.push(folder);
    const start = async () =>
      servers[servers.push(await startProcess(["--data-dir", folder.path, "--log", "off"])) - 1]!;
    const first = await start();
    const prepared = await prepare(first);
    await first.end();
    servers.length--;
    return [await start(), prepared];
  }

  test("and do not read it: large texts of many versions take neither memory nor work, and other pages come", async () => {
    const [server, { slugs, other }] = await restarted(async (first) => {
      const large = prose(4_000_000, 1);
      let site = await deploy(first, { "index.html": "0", "large.json": large });
      const hosts = [`${site.version_id}--${site.slug}`];
      for (let n = 1; n < 10; n++) {
        site = await deploy(first, { "index.html": String(n), "large.json": large }, site);
        hosts.push(`${site.version_id}--${site.slug}`);
      }
      return { slugs: hosts, other: await deploy(first, { "index.html": prose(20_000, 2) }) };
    });
    const before = residentBytes(server.pid);
    using peak = peakOf(server);
    const work = await workOf(server, async () => {
      const sockets = await askWithoutReading(server, slugs, "/large.json");
      const page = await get(server, other.slug, "/", "br");
      expect(page.headers.get("content-encoding")).toBe("br");
      for (const socket of sockets) socket.destroy();
    });
    expect((peak.bytes() - before) / MB).toBeLessThan(80);
    expect(work).toBeLessThan(3);
  }, 180_000);

  test("and read it: a crawl of more than the cache holds stays under 192 MB", async () => {
    const paths = Array.from({ length: 90 }, (_, n) => `/f${n}.js`);
    const text = prose(100_000, 1);
    const [server, slugs] = await restarted(async (first) => {
      const made: string[] = [];
      for (let n = 0; n < 12; n++) {
        const files = paths.map((path, f) => [path.slice(1), `/* ${n} ${f} */ ${text}`] as const);
        made.push((await deploy(first, { "index.html": "x", ...Object.fromEntries(files) })).slug);
      }
      return made;
    });
    using peak = peakOf(server);
    await crawl(server, slugs, paths, ["zstd"]);
    expect(peak.bytes() / MB).toBeLessThan(192);
  }, 180_000);

  test("with a Range that is ignored, and do not read it: each holds next to nothing", async () => {
    const [server, site] = await restarted((first) =>
      deploy(first, { "index.html": "x", "large.bin": "x".repeat(9_000_000) }),
    );
    await (await get(server, site.slug, "/large.bin", "identity")).arrayBuffer();
    const before = residentBytes(server.pid);
    const sockets = await askWithoutReading(server, Array(20).fill(site.slug), "/large.bin", "Range: bytes=0-1,3-4");
    await Bun.sleep(500);
    const grown = residentBytes(server.pid) - before;
    for (const socket of sockets) socket.destroy();
    expect(grown / MB).toBeLessThan(20);
  }, 180_000);
});
