/** SCALE 6: when something of a service on several machines fails, each with real servers on a real PostgreSQL. What a server's own
 *  database connection and one bucket do alone is in postgres.long and bucket.long; silent boxes are in boxes.long. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type Boxes, startBoxes, type TestBox } from "../kit/boxes.ts";
import { canMount, mountMemory } from "../kit/memory-disk.ts";
import { bearer, call } from "../kit/people.ts";
import { type PostgresServer, startPostgres } from "../kit/postgres.ts";
import { temporaryFolder } from "../kit/process.ts";
import { type DeployResult, ZIP } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { zipOf } from "../kit/zip.ts";

setDefaultTimeout(180_000);

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres?.[Symbol.asyncDispose]());

const page = (text: string) => ({ "index.html": `<!doctype html><title>x</title><p>number ${text}` });
const took = async <T>(work: Promise<T>): Promise<[T, number]> => {
  const began = performance.now();
  return [await work, performance.now() - began];
};
const redeploy = (box: TestBox, site: DeployResult, text: string) =>
  box.calls.api(`/sites/${site.site_id}/deploys`, {
    method: "POST",
    body: zipOf(page(text)),
    headers: { ...ZIP, ...bearer(site.manage_token) },
  });
const statusOf = async (box: TestBox, { slug }: DeployResult): Promise<number> => (await box.page(slug)).status;
const textOf = async (box: TestBox, { slug }: DeployResult): Promise<string> => (await box.page(slug)).text();
const metricsOf = async (box: TestBox): Promise<string> =>
  (await box.calls.reach("/metrics", { headers: { host: "localhost" } })).text();
const isUp = (what: "database" | "bucket", up: 0 | 1) => async (box: TestBox) =>
  (await metricsOf(box)).includes(`\nsvc_${what}_up ${up}\n`);

/** Two boxes, a site that both keep, and one that neither has been asked for. */
async function two(boxes: Boxes) {
  const [a, b] = [await boxes.start(), await boxes.start()];
  const kept = await a.calls.deploy(page("1"));
  const unkept = await a.calls.deploy(page("2"));
  for (const box of [a, b]) for (let n = 0; n < 2; n++) expect(await statusOf(box, kept)).toBe(200);
  return { a, b, kept, unkept };
}

/** By itself, as soon as it can. */
async function works(box: TestBox, site: DeployResult, text: string): Promise<void> {
  await until(async () => (await redeploy(box, site, text)).status === 200, 250);
  expect(await textOf(box, site)).toContain(`number ${text}`);
}

describe("SCALE 6: the database", () => {
  test("ends and comes back: pages that are kept as ever, others and the API 503 within 4 s, then all by itself", async () => {
    await using server = await startPostgres(["fsync=on"]); // which is ended
    await using boxes = await startBoxes(server);
    const { a, b, kept, unkept } = await two(boxes);
    await server.stop();
    for (const box of [a, b]) await until(() => isUp("database", 0)(box));
    for (const box of [a, b]) {
      expect(await statusOf(box, kept)).toBe(200);
      const [lost, lost_ms] = await took(box.page(unkept.slug));
      expect([lost.status, lost.headers.has("retry-after")]).toEqual([503, true]);
      const [refused, refused_ms] = await took(redeploy(box, kept, "3"));
      expect([refused.status, refused.headers.has("retry-after")]).toEqual([503, true]);
      expect(((await refused.json()) as { code: string }).code).toBe("unavailable");
      expect(Math.max(lost_ms, refused_ms)).toBeLessThan(4000);
      expect((await box.calls.reach("/healthz")).status).toBe(200);
      expect(await metricsOf(box)).toMatch(/\nsvc_stale_seconds [1-9]|\nsvc_stale_seconds 0\.\d*[1-9]/);
      expect(await metricsOf(box)).not.toContain("\nsvc_versions ");
    }
    await server.start();
    await works(b, kept, "4");
    expect(await textOf(a, kept)).toContain("number 4");
    for (const box of [a, b]) {
      await until(() => isUp("database", 1)(box));
      expect(await statusOf(box, unkept)).toBe(200);
      expect(await metricsOf(box)).toMatch(/\nsvc_stale_seconds 0\n/);
    }
  });

  test("every connection is cut: kept pages as ever, others are read once more; a deploy works or says so", async () => {
    await using boxes = await startBoxes(postgres);
    const { a, b, kept, unkept } = await two(boxes);
    const cut = () =>
      boxes.sql.unsafe(
        "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()",
      );
    await cut();
    expect(await Promise.all([a, b].map((box) => statusOf(box, kept)))).toEqual([200, 200]);
    await cut();
    expect(await Promise.all([a, b].map((box) => statusOf(box, unkept)))).toEqual([200, 200]);
    for (let n = 10; n < 20; n++) {
      const cutting = Bun.sleep(n % 5).then(cut);
      const answer = await redeploy(n % 2 === 0 ? a : b, kept, String(n));
      await cutting;
      expect([200, 503]).toContain(answer.status);
      const shown = await Promise.all([a, b].map((box) => textOf(box, kept)));
      if (answer.status === 200) for (const text of shown) expect(text).toContain(`number ${n}`);
    }
  });

  test.each([
    [
      "takes no writes any more, as after a failover",
      "alter database {} set default_transaction_read_only = on",
      503,
      "unavailable",
    ],
    [
      "is full",
      "create function full_disk() returns trigger language plpgsql as $$ begin raise exception 'no room' using errcode = '53100'; end $$;" +
        "create trigger full_disk before insert on versions for each row execute function full_disk()",
      507,
      "storage_full",
    ],
  ])("%s: all pages as ever, deploys are refused, and work again by themselves", async (_, statement, status, code) => {
    await using boxes = await startBoxes(postgres);
    const { a, b, kept, unkept } = await two(boxes);
    const [{ name }] = (await boxes.sql.unsafe("select current_database() as name")) as [{ name: string }];
    for (const one of statement.replace("{}", name).split("$$;"))
      await boxes.sql.unsafe(one.includes("begin raise") ? `${one}$$` : one);
    await boxes.sql.unsafe(
      "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()",
    );
    for (const box of [a, b]) {
      await until(async () => (await redeploy(box, kept, "3")).status === status, 250);
      expect((await (await redeploy(box, kept, "3")).json()) as object).toMatchObject({ code });
      expect([await textOf(box, kept), await textOf(box, unkept)]).toEqual([
        expect.stringContaining("number 1"),
        expect.stringContaining("number 2"),
      ]);
    }
    const sql = postgres.sql(a.address.database_url!);
    await sql.unsafe("set default_transaction_read_only = off");
    await sql.unsafe(`alter database ${name} reset default_transaction_read_only`);
    await sql.unsafe("drop function if exists full_disk cascade");
    await sql.unsafe(
      "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()",
    );
    await sql.close();
    await works(a, kept, "4");
    expect(await textOf(b, kept)).toContain("number 4");
  });

  test.concurrent.each([2, 200])("answers %i ms late: everything works, and P3 holds", async (ms) => {
    await using boxes = await startBoxes(postgres);
    const { a, b, kept, unkept } = await two(boxes);
    for (const box of [a, b]) box.turn("slow", ms);
    for (let n = 10; n < 14; n++) {
      const [at, other] = n % 2 === 0 ? [a, b] : [b, a];
      expect((await redeploy(at, kept, String(n))).status).toBe(200);
      expect(await textOf(other, kept)).toContain(`number ${n}`);
    }
    expect(await statusOf(b, unkept)).toBe(200);
    expect(await isUp("database", 1)(a)).toBe(true);
  });
});

const answering = (status: number, code: string) => async () =>
  new Response(`<Error><Code>${code}</Code></Error>`, { status });

describe("SCALE 6: the bucket", () => {
  test.concurrent.each<[string, () => Promise<Response | undefined>, boolean]>([
    ["is down (500)", answering(500, "InternalError"), true],
    ["refuses (403)", answering(403, "AccessDenied"), true],
    ["hangs", () => Bun.sleep(30_000).then(() => undefined), true],
    ["answers a second late", () => Bun.sleep(1000).then(() => undefined), false],
  ])(
    "%s: kept pages, a rollback, a claim and a delete as ever; deploys and other pages as it can",
    async (_, before, refuses) => {
      await using boxes = await startBoxes(postgres);
      const { a, b, kept, unkept } = await two(boxes);
      const first = kept.version_id;
      expect((await redeploy(a, kept, "5")).status).toBe(200);
      for (const box of [a, b]) expect(await textOf(box, kept)).toContain("number 5");
      boxes.bucket.before = before;
      for (const box of [a, b]) expect(await textOf(box, kept)).toContain("number 5");
      const [answer, ms] = await took(redeploy(b, kept, "6"));
      expect(answer.status).toBe(refuses ? 503 : 200);
      expect(ms).toBeLessThan(60_000);
      if (refuses) {
        expect(answer.headers.has("retry-after")).toBe(true);
        expect(await isUp("bucket", 0)(b)).toBe(true);
        await until(() =>
          /a deploy was refused: .*s3:\/\/bucket\/all could not be asked to keep blobs\//.test(b.process.stderr()),
        );
        const [lost, lost_ms] = await took(b.page(unkept.slug));
        expect(lost.status).toBe(503);
        expect(lost_ms).toBeLessThan(11_000);
      }
      const token = bearer(kept.manage_token);
      const rolled = await call(a.calls, "POST", `/sites/${kept.site_id}/rollback`, { version_id: first }, token);
      expect(rolled.status).toBe(200);
      if (refuses) expect(await textOf(a, kept)).toContain("number 1"); // a kept one
      const account = { email: "ann@example.org", password: "correct horse battery" };
      const ann = bearer((await call(a.calls, "POST", "/auth/signup", account)).body["session_token"]);
      const claim = { claim_token: kept.claim_token };
      expect((await call(b.calls, "POST", `/sites/${kept.site_id}/claim`, claim, ann)).status).toBe(200);
      expect((await call(a.calls, "DELETE", `/account/sites/${kept.site_id}`, undefined, ann)).status).toBe(200);
      expect(await Promise.all([a, b].map((box) => statusOf(box, kept)))).toEqual([404, 404]);
      boxes.bucket.before = () => undefined;
      expect(await statusOf(b, unkept)).toBe(200);
      await works(b, unkept, "7");
      expect(await isUp("bucket", 1)(b)).toBe(true);
    },
  );
});

test.skipIf(!(await canMount()))(
  "SCALE 6: the disk of a box's DATA is full: pages come from the bucket, its uploads are 507, the other's work",
  async () => {
    await using boxes = await startBoxes(postgres);
    await using folder = await temporaryFolder();
    const disk = join(folder.path, "disk");
    mkdirSync(disk);
    const end = mountMemory(disk, "48m")!;
    try {
      const [full, other] = [await boxes.start({ SVC_DATA_DIR: join(disk, "data") }), await boxes.start()];
      const site = await other.calls.deploy(page("1"));
      for (let bytes = 1 << 20; bytes >= 1 << 12; bytes /= 4) {
        for (let n = 0; ; n++) {
          try {
            writeFileSync(join(disk, `fill-${bytes}-${n}`), new Uint8Array(bytes));
          } catch {
            break;
          }
        }
      }
      expect(await textOf(full, site)).toContain("number 1");
      const refused = await redeploy(full, site, "2");
      expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([507, "storage_full"]);
      expect((await redeploy(other, site, "3")).status).toBe(200);
      expect(await textOf(full, site)).toContain("number 3");
      await full.end();
    } finally {
      end();
    }
  },
);
