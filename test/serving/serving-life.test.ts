/** RELIABILITY P3, P5, P6 and H54 to H56: what is served while the disk fails, readers are slow and deploys go on. */
import { beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { blobFile } from "../kit/operator.ts";
import { rawSite } from "../kit/raw-http.ts";
import { type DeployResult } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { until } from "../kit/until.ts";
import { longTest } from "../kit/whole.ts";

/** Larger than anything that is kept in memory. */
const LARGE = 1_500_000;
const noise = (length: number, seed: number): Uint8Array =>
  Uint8Array.from({ length }, (_, i) => ((i + seed) * 2_654_435_761) >>> 24);

const server = await sharedServer();

const takeAsBlob = (bytes: Uint8Array): string => blobFile(server.data_dir, bytes);
const get = ({ slug }: DeployResult, path: string, headers: string[] = [], method = "GET") =>
  rawSite(server.port, slug, path, headers, method);

const HARM: [string, (blob: string, bytes: Uint8Array) => void][] = [
  ["is gone", (blob) => rmSync(blob)],
  ["cannot be read", (blob) => (rmSync(blob), mkdirSync(blob))],
  ["was cut", (blob) => truncateSync(blob, 10)],
  ["is empty", (blob) => truncateSync(blob, 0)],
  [
    "has one flipped bit",
    (blob, bytes) =>
      writeFileSync(
        blob,
        bytes.map((byte, i) => (i === 77 ? byte ^ 1 : byte)),
      ),
  ],
];
let seed = 0;

describe.each([
  ["kept in memory", 5_000],
  ["too large for memory", LARGE],
] as const)("H54, P5: a file %s", (_, size) => {
  test.each(HARM)(
    "that %s is a 500 for GET, HEAD and Range: never a short 200, never other bytes",
    async (_name, harm) => {
      const bytes = noise(size, (seed += 999));
      const site = await server.deploy({ "index.html": "<p>fine</p>", "photo.png": bytes });
      harm(takeAsBlob(bytes), bytes);
      for (const [method, headers] of [
        ["GET", []],
        ["HEAD", []],
        ["GET", ["Range: bytes=0-4"]],
      ] as const) {
        const answer = await get(site, "/photo.png", [...headers], method);
        expect([answer.status, answer.headers.get("cache-control")]).toEqual([500, "no-store"]);
        if (method === "GET") expect(Object.keys(JSON.parse(answer.text))).toEqual(["error", "code", "request_id"]);
      }
      expect((await get(site, "/")).status).toBe(200);
    },
  );
});

test("H54: a large file that is harmed after it was served is noticed", async () => {
  const bytes = noise(LARGE, (seed += 999));
  const site = await server.deploy({ "index.html": "x", "photo.png": bytes });
  expect((await get(site, "/photo.png")).status).toBe(200);
  writeFileSync(takeAsBlob(bytes), noise(LARGE, (seed += 999)));
  expect((await get(site, "/photo.png")).status).toBe(500);
});

test("H54: a page whose file is damaged is a 500 in every coding, and the same bytes deployed again heal it", async () => {
  const page = "<title>Page</title>" + "text ".repeat(1_000);
  const site = await server.deploy({ "index.html": "x", "page.html": page, "404.html": page });
  const blob = takeAsBlob(Buffer.from(page));
  await server.stop();
  rmSync(blob);
  await server.start([]);
  for (const coding of ["identity", "br", "gzip"]) {
    expect((await get(site, "/page.html", [`Accept-Encoding: ${coding}`])).status).toBe(500);
    expect((await get(site, "/nowhere", [`Accept-Encoding: ${coding}`])).status).toBe(500);
  }
  await server.deploy({ "index.html": page });
  expect((await get(site, "/page.html")).status).toBe(200);
});

describe("H55: slow readers", () => {
  /** Reads a path whole, doing `meanwhile` after the first piece. */
  function readSlowly(site: DeployResult, path: string, meanwhile: (socket: Socket) => Promise<void>): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      const socket = connect(server.port, "127.0.0.1", () =>
        socket.write(`GET ${path} HTTP/1.1\r\nHost: ${site.slug}.localhost\r\nConnection: close\r\n\r\n`),
      );
      socket.once("data", () => {
        socket.pause();
        meanwhile(socket).then(() => socket.resume(), reject);
      });
      socket.on("data", (chunk: Buffer) => chunks.push(chunk));
      socket.on("close", () => resolve(Buffer.concat(chunks)));
      socket.on("error", reject);
    });
  }
  let site: DeployResult;
  const video = noise(LARGE * 4, 5);
  beforeAll(async () => void (site = await server.deploy({ "index.html": "x", "video.mp4": video })));

  // The one wait of this length: it is Bun's timeout of 10 s, looked at every 4 s, that must not act.
  longTest(
    "one that stops for longer than Bun's own timeout gets the whole file",
    async () => {
      const got = await readSlowly(site, "/video.mp4", () => Bun.sleep(13_000));
      const body = got.subarray(got.indexOf("\r\n\r\n") + 4);
      expect(Buffer.compare(body, video)).toBe(0);
    },
    60_000,
  );

  test("clients that go away leave no descriptor open", async () => {
    const open = () => readdirSync("/dev/fd").length;
    await get(site, "/video.mp4");
    const before = open();
    await Promise.all(
      Array.from({ length: 50 }, () => readSlowly(site, "/video.mp4", async (socket) => void socket.destroy())),
    );
    await until(() => open() <= before);
  });
});

describe("P3: a change is seen by the next request", () => {
  test("a deploy, a rollback, an operator's word: no request that starts after them sees the old state", async () => {
    const site = await server.deploy({ "index.html": "version 0" });
    const body = async () => (await get(site, "/")).text;
    for (let n = 1; n <= 20; n++) {
      await server.redeploy(site, { "index.html": `version ${n}` });
      expect(await body()).toEndWith(`version ${n}`);
    }
    await server.api(`/sites/${site.site_id}/rollback`, {
      method: "POST",
      headers: { authorization: `Bearer ${site.manage_token}`, "content-type": "application/json" },
      body: JSON.stringify({ version_id: site.version_id }),
    });
    expect(await body()).toEndWith("version 0");
    server.disable(site, "x");
    expect((await get(site, "/")).status).toBe(451);
  });

  test("H56: readers beside a deploy loop see one version whole each, and never one older than the last 200", async () => {
    const content = (n: number) => ({
      "index.html": `<p>${`${n} `.repeat(2_000)}</p>`,
      "data.bin": new Uint8Array(30_000).fill(n),
    });
    const site = await server.deploy(content(0));
    let answered = 0;
    let reading = true;
    let reads = 0;
    const read = async (path: string) => {
      while (reading) {
        const known = answered;
        const answer = await server.site(site.slug, path);
        const bytes = await answer.bytes();
        expect(answer.status).toBe(200);
        const numbers =
          path === "/"
            ? Buffer.from(bytes)
                .toString()
                .match(/(?<=[> ])\d+(?= )/g)!
                .map(Number)
            : [...bytes];
        expect(new Set(numbers).size).toBe(1);
        expect(numbers.length).toBe(path === "/" ? 2_000 : 30_000);
        expect(numbers[0]!).toBeGreaterThanOrEqual(known);
        reads++;
      }
    };
    const readers = Array.from({ length: 64 }, (_, i) => read(i % 2 === 0 ? "/" : "/data.bin"));
    while (answered < 8 || (reads <= 128 && answered < 255)) {
      await server.redeploy(site, content(answered + 1));
      answered++;
    }
    reading = false;
    await Promise.all(readers);
    expect(reads).toBeGreaterThan(128);
  }, 60_000);
});

test("P6: what is in memory is served though the file is gone", async () => {
  const bytes = noise(5_000, (seed += 999));
  const site = await server.deploy({ "index.html": "x", "photo.png": bytes });
  expect((await get(site, "/photo.png")).status).toBe(200);
  rmSync(takeAsBlob(bytes));
  expect(Buffer.compare((await get(site, "/photo.png")).body, bytes)).toBe(0);
  expect(() => readFileSync(takeAsBlob(bytes))).toThrow();
});
