/** SCALE 3: blobs in a bucket, on a real PostgreSQL: here beside a bucket that fails on demand. Beside a real one chapters run in
 *  on-postgres.long.test.ts. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { contentHash } from "../../src/base/version-id.ts";
import type { Bytes } from "../../src/base/types.ts";
import { openCache } from "../../src/store/bucket/cache.ts";
import { openOperations } from "../../src/store/operations.ts";
import { type Bucket, startBucket } from "../kit/bucket.ts";
import { read, write } from "../kit/database.ts";
import { databases } from "../kit/database-server.ts";
import { type PostgresServer, startPostgres } from "../kit/postgres.ts";
import { type DeployResult, startServer, type TestServer, ZIP } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { zipOf } from "../kit/zip.ts";

setDefaultTimeout(60_000);

let postgres: PostgresServer;
let bucket: Bucket;
let server: TestServer;
const home = process.env["SVC_TEST_POSTGRES"];

beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(async () => {
  databases.serveAt(home);
  await postgres?.[Symbol.asyncDispose]();
});
beforeEach(async () => {
  bucket = startBucket();
  const access = {
    endpoint: bucket.endpoint,
    region: "us-east-1",
    access_key_id: bucket.env["AWS_ACCESS_KEY_ID"]!,
    secret_access_key: bucket.env["AWS_SECRET_ACCESS_KEY"]!,
    session_token: null,
  };
  databases.serveAt(await postgres.database(), { url: "s3://bucket/all", access, cache_bytes: 1 << 30 });
  server = await startServer();
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  bucket[Symbol.dispose]();
});

const PAGE = "<!doctype html><title>Home</title><p>home";
const pageOf = (text: string): string => `${PAGE} ${text}`;
const hashOf = (text: string): string => contentHash(Buffer.from(text) as Bytes);
const blobs = () => [...bucket.objects.keys()].filter((key) => key.includes("/blobs/"));
const keysOf = (text: string): string[] => blobs().filter((key) => key.includes(`/${hashOf(text)}-`));
const requests = (method: string, text: string): string[] =>
  bucket.requests.filter((one) => one.startsWith(method) && one.includes(hashOf(text)));
const rowOf = (text: string) =>
  read<{ blob_no: number; stored: boolean }>(
    server.data_dir,
    "select blob_no, stored from blobs where sha256 = ?",
    hashOf(text),
  )[0];
const doomed = () => read<{ object: string }>(server.data_dir, "select object from doomed").map(({ object }) => object);
const ageAll = (): void => write(server.data_dir, "update blobs set touched_at = now() - interval '61 minutes'");
const sweep = () => server.running.store.sweep(server.now());
const shown = async ({ slug }: Pick<DeployResult, "slug">, path = "/") => {
  const response = await server.site(slug, path);
  return [response.status, await response.text()] as const;
};
/** As another process would begin: what was kept in memory is gone, and the cache too where that is asked for. */
async function beginAnew(keeps_cache = false): Promise<void> {
  await server.stop();
  if (!keeps_cache) await rm(join(server.data_dir, "cache"), { recursive: true, force: true });
  await server.start([]);
  bucket.requests.length = 0;
}
const deployTo = (site: DeployResult, files: Record<string, string>) =>
  server.api(`/sites/${site.site_id}/deploys`, {
    method: "POST",
    body: zipOf(files),
    headers: { ...ZIP, authorization: `Bearer ${site.manage_token}` },
  });
/** As its owner would, and a sweep takes its files afterwards. */
async function removeSite(site: DeployResult): Promise<void> {
  const operations = openOperations({ ...server.address, now: server.now });
  await operations.actOnSite({ action: "delete", site_id: site.site_id });
  operations.close();
}
const away = () => new Response("<Error><Code>InternalError</Code></Error>", { status: 500 });

describe("SCALE 3: a deploy to a bucket", () => {
  test("puts each content once, checked, under its hash and its row's number, and nothing in the data directory", async () => {
    const site = await server.deploy({ "index.html": PAGE, "a/b.css": "p{}", "copy.html": PAGE });
    expect(keysOf(PAGE)).toEqual([
      `all/${databases.urlOf(server.data_dir)!.split("/").at(-1)}/blobs/${hashOf(PAGE).slice(0, 2)}/${hashOf(PAGE)}-${rowOf(PAGE)!.blob_no}`,
    ]);
    expect(keysOf("p{}")).toHaveLength(1);
    expect(rowOf(PAGE)!.stored).toBeTruthy();
    expect(existsSync(join(server.data_dir, "blobs")) ? readdirSync(join(server.data_dir, "blobs")) : []).toEqual([]);
    bucket.requests.length = 0;
    const other = await server.deploy({ "index.html": PAGE, "new.css": "b{}" });
    expect([requests("PUT", PAGE), requests("PUT", "b{}").length]).toEqual([[], 1]);
    expect([await shown(site), await shown(other)]).toEqual([
      [200, expect.stringContaining("home")],
      [200, expect.stringContaining("home")],
    ]);
  });

  test("a bucket that refuses what was damaged on its way, or does not answer, refuses the deploy and nothing else", async () => {
    const site = await server.deploy({ "index.html": PAGE });
    for (const answer of [away, () => new Response("<Error><Code>BadDigest</Code></Error>", { status: 400 })]) {
      bucket.before = (method) => (method === "PUT" ? answer() : undefined);
      const failed = await deployTo(site, { "index.html": pageOf("two") });
      expect([failed.status, await failed.json()]).toEqual([503, expect.objectContaining({ code: "unavailable" })]);
      expect(failed.headers.get("retry-after")).toBe("1");
      expect(await shown(site)).toEqual([200, expect.stringContaining("home")]);
    }
    expect(rowOf(pageOf("two"))!.stored).toBeFalsy();
    bucket.before = () => undefined;
    expect((await deployTo(site, { "index.html": pageOf("two") })).status).toBe(200);
    expect(await shown(site)).toEqual([200, expect.stringContaining("two")]);
  });

  test.each([301, 303, 307, 308])(
    "an answer %i leads nowhere: what is elsewhere is not stored here",
    async (status) => {
      const site = await server.deploy({ "index.html": PAGE });
      const elsewhere: string[] = [];
      using other = Bun.serve({
        hostname: "127.0.0.1",
        port: 0,
        fetch: (request) => (elsewhere.push(request.method), new Response("welcome")),
      });
      bucket.before = () => new Response(null, { status, headers: { location: other.url.href } });
      expect((await deployTo(site, { "index.html": pageOf("two") })).status).toBe(503);
      expect([elsewhere, rowOf(pageOf("two"))!.stored]).toEqual([[], expect.anything()]);
      expect(rowOf(pageOf("two"))!.stored).toBeFalsy();
    },
  );

  test("while the bucket is down what asks for no blob works: delete, rollback, kept pages", async () => {
    const site = await server.deploy({ "index.html": PAGE });
    const first = site.version_id;
    await server.redeploy(site, { "index.html": pageOf("two") });
    const other = await server.deploy({ "index.html": pageOf("other") });
    expect((await shown(site))[0]).toBe(200);
    bucket.before = away;
    expect((await shown(site))[0]).toBe(200);
    expect((await server.rollback(site, first)).status).toBe(200);
    await removeSite(other);
    expect((await shown(other))[0]).toBe(404);
  });

  test("a row that a sweep takes while its object is put is made anew, under another number", async () => {
    let taken = false;
    bucket.before = (method, key) => {
      if (method !== "PUT" || taken || !key.includes(hashOf(PAGE))) return undefined;
      taken = true;
      write(server.data_dir, "delete from blobs where sha256 = ?", hashOf(PAGE));
      // Another deploy has begun, and its object is not there yet.
      write(server.data_dir, "insert into blobs (sha256, bytes) values (?, ?)", hashOf(PAGE), PAGE.length);
      return undefined;
    };
    const site = await server.deploy({ "index.html": PAGE });
    expect(taken).toBe(true);
    expect(keysOf(PAGE)).toHaveLength(2);
    expect(keysOf(PAGE).filter((key) => key.endsWith(`-${rowOf(PAGE)!.blob_no}`))).toHaveLength(1);
    await beginAnew();
    expect(await shown(site)).toEqual([200, expect.stringContaining("home")]);
  });

  test("deploys that share their new contents never wait for each other in a circle", async () => {
    const shared = Array.from({ length: 150 }, (_, n) => `shared ${n}`);
    for (let round = 0; round < 4; round++) {
      const deploys = Array.from({ length: 6 }, (_, n) => {
        const mine = shared.map((text, i) => [`${(i * 7 + n * 31) % 150}.txt`, `${text} of ${round}`] as const);
        return server.deploy({ "index.html": pageOf(`${round} ${n}`), ...Object.fromEntries(mine) });
      });
      await Promise.all([...deploys, sweep()]);
    }
    const sql = postgres.sql(databases.urlOf(server.data_dir)!);
    const [{ deadlocks }] = await sql.unsafe(
      "select deadlocks from pg_stat_database where datname = current_database()",
    );
    expect(Number(deadlocks)).toBe(0);
    await sql.close();
  });

  test("a row that is taken again and again ends the deploy after three tries", async () => {
    bucket.before = (method, key) => {
      if (method === "PUT" && key.includes(hashOf(PAGE))) {
        write(server.data_dir, "delete from blobs where sha256 = ?", hashOf(PAGE));
      }
      return undefined;
    };
    await expect(server.deploy({ "index.html": PAGE })).rejects.toThrow();
    expect(requests("PUT", PAGE)).toHaveLength(3);
    expect(read(server.data_dir, "select * from sites")).toEqual([]);
  });
});

describe("SCALE 3: reading from a bucket", () => {
  test("ten readers of one page fetch it once, and another process finds it in the cache", async () => {
    const site = await server.deploy({ "index.html": PAGE });
    await beginAnew();
    const answers = await Promise.all(Array.from({ length: 10 }, () => shown(site)));
    expect(answers).toEqual(Array(10).fill([200, expect.stringContaining("home")]));
    expect(requests("GET", PAGE)).toHaveLength(1);
    await beginAnew(true);
    expect((await shown(site))[0]).toBe(200);
    expect(bucket.requests).toEqual([]);
  });

  test("one blob as several files, and in every coding, all asked for at once", async () => {
    const text = `${PAGE}${"word ".repeat(2000)}`;
    const site = await server.deploy({ "index.html": text, "copy.html": text, "copy.txt": text });
    await beginAnew();
    bucket.before = async () => (await Bun.sleep(100), undefined);
    const asked = ["/", "/copy", "/copy.txt"].flatMap((path) =>
      ["gzip", "br", "identity"].map((coding) => [path, coding] as const),
    );
    const shownTexts = await Promise.all(
      asked.map(async ([path, coding]) => {
        const response = await server.site(site.slug, path, { headers: { "accept-encoding": coding } });
        return [path, coding, response.status, (await response.text()).includes("word word")];
      }),
    );
    expect(shownTexts).toEqual(asked.map(([path, coding]) => [path, coding, 200, true]));
    expect(requests("GET", text)).toHaveLength(1);
  });

  test("a copy with other bytes is fetched anew", async () => {
    const site = await server.deploy({ "index.html": PAGE });
    await beginAnew();
    await shown(site);
    await server.stop();
    const copy = join(server.data_dir, "cache", hashOf(PAGE).slice(0, 2), hashOf(PAGE));
    expect((await stat(copy)).mode & 0o777).toBe(0o600);
    await writeFile(copy, "other bytes");
    await server.start([]);
    expect(await shown(site)).toEqual([200, expect.stringContaining("home")]);
    expect(await Bun.file(copy).text()).toBe(PAGE);
  });

  test("large files too: whole, by range, and where the cache takes no write", async () => {
    const video = new Uint8Array(3 << 20).map((_, i) => i * 31);
    const site = await server.deploy({ "index.html": PAGE, "film.mp4": video });
    const part = async () => {
      const response = await server.site(site.slug, "/film.mp4", { headers: { range: "bytes=1000000-1000009" } });
      return [response.status, ...(await response.bytes())];
    };
    for (const keeps of [true, false]) {
      await beginAnew();
      if (!keeps) await writeFile(join(server.data_dir, "cache"), "a file in place of the folder");
      expect(await part()).toEqual([206, ...video.slice(1_000_000, 1_000_010)]);
      const whole = await server.site(site.slug, "/film.mp4");
      expect(contentHash((await whole.bytes()) as Bytes)).toBe(contentHash(video as Bytes));
    }
    await rm(join(server.data_dir, "cache"));
  });

  test.each<[string, (key: string) => void, number]>([
    ["missing", (key) => void bucket.objects.delete(key), 500],
    ["of other bytes", (key) => void bucket.objects.set(key, { bytes: Buffer.from("<p>evil"), at: 0 }), 500],
    ["far too long", (key) => void bucket.objects.set(key, { bytes: Buffer.alloc(64 << 20, PAGE), at: 0 }), 500],
    ["cut short", (key) => void bucket.objects.set(key, { bytes: Buffer.from(PAGE).subarray(9), at: 0 }), 500],
    ["out of reach", () => void (bucket.before = away), 503],
    [
      "in a bucket that is gone",
      () => void (bucket.before = () => new Response("<Error><Code>NoSuchBucket</Code></Error>", { status: 404 })),
      503,
    ],
  ])("an object that is %s is never shown, and nothing short", async (_, harm, status) => {
    const site = await server.deploy({ "index.html": PAGE });
    const [key] = keysOf(PAGE) as [string];
    await beginAnew();
    harm(key);
    const response = await server.site(site.slug);
    expect([response.status, await response.text()]).toEqual([status, expect.not.stringContaining("evil")]);
    if (status === 503) expect(response.headers.get("retry-after")).toBe("1");
    bucket.before = () => undefined;
    if (status === 503) expect((await shown(site))[0]).toBe(200);
  });

  test("a hundred large files at once: at most 16 are on their way, and all come", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 100 }, (_, n) => [`${n}.bin`, new Uint8Array(90_000).fill(n)] as const),
    );
    const site = await server.deploy({ "index.html": PAGE, ...files });
    await beginAnew();
    let [now, most] = [0, 0];
    bucket.before = async () => {
      most = Math.max(most, ++now);
      await Bun.sleep(20);
      now--;
      return undefined;
    };
    const answers = await Promise.all(Object.keys(files).map((name) => server.site(site.slug, `/${name}`)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    for (const [n, answer] of answers.entries()) expect((await answer.bytes()).every((byte) => byte === n)).toBe(true);
    expect(most).toBeWithin(2, 17);
  });

  test("a bucket that hangs is 503 within ten seconds, and by itself again afterwards", async () => {
    const site = await server.deploy({ "index.html": PAGE });
    await beginAnew();
    const let_go = Promise.withResolvers<void>();
    bucket.before = async () => {
      await let_go.promise;
      return undefined;
    };
    const begun = performance.now();
    expect((await shown(site))[0]).toBe(503);
    expect(performance.now() - begun).toBeLessThan(12_000);
    bucket.before = () => undefined;
    let_go.resolve();
    expect((await shown(site))[0]).toBe(200);
  });
});

describe("SCALE 3: the sweep of a bucket", () => {
  test("takes what nothing names for an hour, objects and rows, and leaves the rest", async () => {
    const [site, other] = [
      await server.deploy({ "index.html": PAGE, "a.css": "p{}" }),
      await server.deploy({ "index.html": PAGE }),
    ];
    await removeSite(site);
    await sweep();
    expect(keysOf("p{}")).toHaveLength(1); // it was touched less than an hour ago
    ageAll();
    expect(await sweep()).toMatchObject({ blobs: 1 });
    expect([keysOf("p{}"), rowOf("p{}"), doomed(), keysOf(PAGE).length]).toEqual([[], undefined, [], 1]);
    await beginAnew();
    expect((await shown(other))[0]).toBe(200);
  });

  test("takes nothing while a backup holds the blobs", async () => {
    const site = await server.deploy({ "index.html": PAGE });
    await removeSite(site);
    ageAll();
    server.holdBlobs(server.now() + 3_600_000);
    expect(await sweep()).toMatchObject({ blobs: 0 });
    expect(keysOf(PAGE)).toHaveLength(1);
    server.endHolds();
    expect(await sweep()).toMatchObject({ blobs: 1 });
    expect(blobs()).toEqual([]);
  });

  test("a deletion that fails is tried by the next sweep; the row is gone meanwhile", async () => {
    const site = await server.deploy({ "index.html": PAGE });
    const { blob_no } = rowOf(PAGE)!;
    await removeSite(site);
    ageAll();
    bucket.before = (method) => (method === "DELETE" ? away() : undefined);
    await expect(sweep()).rejects.toThrow("bucket");
    expect([rowOf(PAGE), doomed(), keysOf(PAGE).length]).toEqual([undefined, [`${hashOf(PAGE)}-${blob_no}`], 1]);
    bucket.before = () => undefined;
    expect(await sweep()).toMatchObject({ blobs: 0 });
    expect([doomed(), blobs()]).toEqual([[], []]);
  });

  test("objects that cannot be deleted hold up no others, nor the rest of the sweep", async () => {
    const files = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`${n}.txt`, `text ${n}`]));
    await removeSite(await server.deploy({ "index.html": PAGE, ...files }));
    ageAll();
    let kept = 0;
    bucket.before = (method, key) => {
      if (method !== "DELETE" || key > keysOf("text 7")[0]!) return undefined;
      kept++;
      return new Response("<Error><Code>AccessDenied</Code></Error>", { status: 403 });
    };
    const old = join(server.data_dir, "tmp/old");
    await writeFile(old, "left");
    await utimes(old, 1000, 1000);
    await expect(sweep()).rejects.toThrow("bucket");
    expect(kept).toBeGreaterThan(0);
    expect([blobs().length, doomed().length]).toEqual([kept, kept]);
    expect(existsSync(old)).toBe(false);
  });

  test("a bucket that does not answer is asked about no more objects than are deleted at once", async () => {
    const files = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`${n}.txt`, `text ${n}`]));
    await removeSite(await server.deploy({ "index.html": PAGE, ...files }));
    ageAll();
    bucket.before = (method) => (method === "DELETE" ? away() : undefined);
    await expect(sweep()).rejects.toThrow("bucket");
    expect(new Set(bucket.requests.filter((one) => one.startsWith("DELETE"))).size).toBeLessThanOrEqual(16);
    expect(doomed()).toHaveLength(61);
  });

  test("a deletion that comes late hits nothing: the same content is deployed meanwhile, under another key", async () => {
    const site = await server.deploy({ "index.html": PAGE });
    await removeSite(site);
    ageAll();
    const late = Promise.withResolvers<void>();
    bucket.before = async (method) => {
      if (method === "DELETE") await late.promise;
      return undefined;
    };
    const swept = sweep();
    await until(() => bucket.requests.some((one) => one.startsWith("DELETE")));
    const again = await server.deploy({ "index.html": PAGE });
    late.resolve();
    await swept;
    expect(keysOf(PAGE)).toEqual([expect.stringContaining(`-${rowOf(PAGE)!.blob_no}`)]);
    await beginAnew();
    expect(await shown(again)).toEqual([200, expect.stringContaining("home")]);
  });

  test("a deploy that renews a row while a sweep looks keeps it", async () => {
    const site = await server.deploy({ "index.html": PAGE });
    await removeSite(site);
    ageAll();
    const put = Promise.withResolvers<void>();
    bucket.before = async (method, key) => {
      if (method === "PUT" && key.includes(hashOf("b{}"))) await put.promise;
      return undefined;
    };
    const deploy = server.deploy({ "index.html": PAGE, "b.css": "b{}" });
    await until(() => requests("PUT", "b{}").length > 0);
    expect(await sweep()).toMatchObject({ blobs: 0 });
    put.resolve();
    const again = await deploy;
    await beginAnew();
    expect((await shown(again))[0]).toBe(200);
  });
});

describe("SCALE 3: verify", () => {
  test.each<[string, (key: string) => void, string]>([
    ["damaged", (key) => void bucket.objects.set(key, { bytes: Buffer.from("rot"), at: 0 }), "damaged"],
    ["missing", (key) => void bucket.objects.delete(key), "missing"],
  ])("tells what is %s, and the next deploy of the same content heals it under its key", async (_, harm, why) => {
    const site = await server.deploy({ "index.html": PAGE });
    const [key] = keysOf(PAGE) as [string];
    await beginAnew();
    await shown(site); // the cache has it: verify looks past it
    harm(key);
    const operations = openOperations({ ...server.address, now: Date.now });
    const { damages, blobs: seen } = await operations.verify();
    expect((await operations.verify()).damages).toEqual(damages);
    operations.close();
    expect(seen).toBe(1);
    expect(damages).toEqual([
      {
        sha256: hashOf(PAGE),
        why: why as "damaged",
        losses: [expect.objectContaining({ live: true, path: "index.html" })],
      },
    ]);
    expect(rowOf(PAGE)!.stored).toBeFalsy();
    expect(await server.running.store.missingBlobs()).toEqual([hashOf(PAGE)]);
    const aside = [...bucket.objects]
      .filter(([name]) => name.includes("/quarantine/"))
      .map(([, { bytes }]) => String(Buffer.from(bytes)));
    expect(aside).toEqual(why === "damaged" ? ["rot"] : []);
    await server.deploy({ "index.html": PAGE, "other.txt": "more" });
    expect(keysOf(PAGE)).toEqual([key]);
    expect(await server.running.store.missingBlobs()).toEqual([]);
    await beginAnew();
    expect((await shown(site))[0]).toBe(200);
  });
});

describe("SCALE 3: verify of a bucket that says other things", () => {
  const verify = async () => {
    const operations = openOperations({ ...server.address, now: Date.now });
    try {
      return (await operations.verify()).damages.map(({ why }) => why);
    } finally {
      operations.close();
    }
  };

  test("what cannot be read may be whole, and holds up no other; what is back is there again", async () => {
    await server.deploy({ "index.html": PAGE, "a.css": "p{}" });
    const [page, css] = [keysOf(PAGE)[0]!, keysOf("p{}")[0]!];
    bucket.before = (_, key) =>
      key === page ? new Response("<Error><Code>AccessDenied</Code></Error>", { status: 403 }) : undefined;
    expect(await verify()).toEqual(["unreadable"]);
    expect(rowOf(PAGE)!.stored).toBeTruthy();
    bucket.before = () => undefined;
    const { bytes } = bucket.objects.get(css)!;
    bucket.objects.delete(css);
    expect(await verify()).toEqual(["missing"]);
    bucket.objects.set(css, { bytes, at: 0 });
    expect(await verify()).toEqual([]);
    expect(await server.running.store.missingBlobs()).toEqual([]);
  });

  test("a proxy's 404, and one wrong answer, mark nothing as lost", async () => {
    await server.deploy({ "index.html": PAGE });
    const [page] = keysOf(PAGE);
    bucket.before = (_, key) => (key === page ? new Response("default backend - 404", { status: 404 }) : undefined);
    expect(await verify()).toEqual(["unreadable"]);
    let wrong = true;
    bucket.before = (_, key) => (key === page && wrong ? ((wrong = false), new Response("<p>another's")) : undefined);
    expect(await verify()).toEqual([]);
    expect(rowOf(PAGE)!.stored).toBeTruthy();
  });

  test("the slow turn goes on where it was", async () => {
    await server.deploy({ "index.html": PAGE });
    bucket.objects.clear();
    expect((await server.running.store.verifyTurn(30 * 86_400_000)).map(({ why }) => why)).toEqual(["missing"]);
    expect(read(server.data_dir, "select blob_no from verify_turn")).toEqual([{ blob_no: rowOf(PAGE)!.blob_no }]);
  });
});

describe("SCALE 3: the cache", () => {
  const content = (n: number) => Buffer.alloc(100_000, n) as Bytes;
  const copies = async (folder: string) => {
    const found = await readdir(join(folder, "cache"), { recursive: true, withFileTypes: true }).catch(() => []);
    return found.filter((entry) => entry.isFile()).map(({ name }) => name);
  };
  async function world() {
    const folder = await mkdtemp(join(tmpdir(), "svc-cache-"));
    await mkdir(join(folder, "tmp"));
    return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
  }

  test("past its bytes those go that were not used for the longest time", async () => {
    await using at = await world();
    const cache = openCache(at.folder, 1_000_000, { in_use_ms: 0, isFull: () => false });
    const put: string[] = [];
    for (let n = 0; n < 30; n++) {
      if (await cache.put(contentHash(content(n)), content(n))) put.push(contentHash(content(n)));
      cache.used(contentHash(content(0)));
      await Bun.sleep(20);
    }
    await until(async () => (await copies(at.folder)).length <= 10);
    const left = await copies(at.folder);
    expect(left).toContain(contentHash(content(0)));
    expect(left).toContain(put.at(-1)!);
    expect(left).not.toContain(contentHash(content(1)));
  });

  test("none of the last ten minutes goes: past its bytes by a quarter nothing more is kept", async () => {
    await using at = await world();
    const cache = openCache(at.folder, 300_000, { isFull: () => false });
    const kept: string[] = [];
    for (let n = 0; n < 20; n++) {
      if (await cache.put(contentHash(content(n)), content(n))) kept.push(contentHash(content(n)));
      await Bun.sleep(20);
    }
    expect((await copies(at.folder)).toSorted()).toEqual(kept.toSorted());
    expect(kept.length).toBeWithin(3, 10);
    expect(await cache.put("f".repeat(64), Buffer.alloc(300_001) as Bytes)).toBe(false);
  });

  test("on a full disk it is given up, and nothing is kept until there is room; a full database is no reason", async () => {
    await using at = await world();
    let full = false;
    const cache = openCache(at.folder, 1_000_000, { isFull: () => full });
    await cache.put(contentHash(content(1)), content(1));
    expect(cache.drop()).toBe(false);
    expect(await copies(at.folder)).toHaveLength(1);
    full = true;
    expect(cache.drop()).toBe(true);
    expect(cache.drop()).toBe(false);
    expect(await copies(at.folder)).toEqual([]);
    expect(await cache.put(contentHash(content(1)), content(1))).toBe(false);
    full = false;
    expect(await cache.put(contentHash(content(1)), content(1))).toBe(true);
  });
});
