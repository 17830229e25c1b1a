/** SCALE 4: several boxes on one database. The 200 of a change goes out when every box has dropped what it kept. */
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { JOBS } from "../../src/upkeep/jobs.ts";
import { certificateFor } from "../kit/certificate.ts";
import { type Boxes, startBoxes, type TestBox } from "../kit/boxes.ts";
import { type PostgresServer, startPostgres } from "../kit/postgres.ts";
import { temporaryFolder } from "../kit/process.ts";
import type { DeployResult } from "../kit/server.ts";
import { TELL } from "../../src/store/postgres/box.ts";
import { mono, openBoxPage, prepareBoxPage } from "../../src/store/postgres/box-page.ts";
import { openPool } from "../../src/store/postgres/connection.ts";
import { databaseRates } from "../../src/store/postgres/rates.ts";
import { migrate } from "../../src/store/postgres/schema.ts";
import { openStore } from "../../src/store/index.ts";
import { openOperations } from "../../src/store/operations.ts";
import { bearer, call } from "../kit/people.ts";
import { FIREFOX, NAVIGATION, statistics } from "../statistics/visiting.ts";
import { until } from "../kit/until.ts";
import { zipOf } from "../kit/zip.ts";

setDefaultTimeout(120_000);

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres[Symbol.asyncDispose]());

const pageOf = (n: number) => ({ "index.html": `<!doctype html><title>${n}</title><p>number ${n}` });
const numberAt = async (box: TestBox, { slug }: Pick<DeployResult, "slug">): Promise<number> =>
  Number(/number (\d+)/.exec(await (await box.page(slug)).text())?.[1]);
const elapsed = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now();
  await work();
  return performance.now() - began;
};
/** Both show it from what they keep. */
async function keptBy(boxes: readonly TestBox[], site: DeployResult, n: number): Promise<void> {
  for (const box of boxes) for (let i = 0; i < 3; i++) expect(await numberAt(box, site)).toBe(n);
}
/** A site of a new account's, and calls of that account's about it. */
async function ownedBy({ calls }: TestBox) {
  const account = { email: `ann${++people}@example.org`, password: "correct horse battery" };
  const ann = bearer((await call(calls, "POST", "/auth/signup", account)).body["session_token"]);
  const site = (await (await calls.post(zipOf(pageOf(1)), ann)).json()) as DeployResult;
  const ask = async (at: TestBox, method: string, more: string, body?: object) =>
    (await call(at.calls, method, `/sites/${site.site_id}${more}`, body, ann)).status;
  return { site, ask };
}
let people = 0;
const beats = async ({ sql }: Boxes): Promise<number> =>
  Number(
    (
      (await sql.unsafe("select count(*) as n from boxes where beat_at > now() - interval '2 s'")) as { n: string }[]
    )[0]!.n,
  );

describe("SCALE 4: P3 over two boxes", () => {
  test("a deploy that is answered is what the other box shows, each time, in both directions", async () => {
    await using boxes = await startBoxes(postgres);
    const [a, b] = [await boxes.start(), await boxes.start()];
    const site = await a.calls.deploy(pageOf(0));
    const old: number[] = [];
    for (let n = 1; n <= 150; n++) {
      if (n === 100) b.turn("slow"); // what it hears it hears late
      const [from, to] = n % 2 === 0 || n >= 100 ? [a, b] : [b, a];
      expect(await numberAt(to, site)).toBe(n - 1);
      await from.calls.redeploy(site, pageOf(n));
      if ((await numberAt(to, site)) !== n) old.push(n);
    }
    expect(old).toEqual([]);
  });

  test("so are another name, a password, and what an operator does", async () => {
    await using boxes = await startBoxes(postgres);
    const [a, b] = [await boxes.start(), await boxes.start()];
    for (let n = 0; n < 3; n++) {
      const { site, ask } = await ownedBy(a);
      await keptBy([a, b], site, 1);
      const slug = `quiet-quay-${n}`;
      expect(await ask(a, "PUT", "/slug", { slug })).toBe(200);
      expect((await b.page(site.slug)).headers.get("location")).toBe(`http://${slug}.sites.test/`);
      expect(await numberAt(b, { slug })).toBe(1);
      expect(await ask(a, "PUT", "/access", { password: "correct horse" })).toBe(200);
      expect((await b.page(slug)).status).toBe(401);
      const operations = openOperations({ ...b.address, now: Date.now });
      await operations.actOnSite({ action: "disable", site_id: site.site_id, reason: "spam" });
      expect((await a.page(slug)).status).toBe(451);
      await operations.actOnSite({ action: "delete", site_id: site.site_id });
      expect((await a.page(slug)).status).toBe(404);
      operations.close();
    }
  });

  test("so is a rollback", async () => {
    await using boxes = await startBoxes(postgres);
    const [a, b] = [await boxes.start(), await boxes.start()];
    const site = await a.calls.deploy(pageOf(1));
    const { version_id } = await a.calls.redeploy(site, pageOf(2));
    for (let n = 0; n < 20; n++) {
      await keptBy([a, b], site, 2);
      expect((await b.calls.rollback(site, site.version_id)).status).toBe(200);
      expect(await numberAt(a, site)).toBe(1);
      expect((await a.calls.rollback(site, version_id)).status).toBe(200);
      expect(await numberAt(b, site)).toBe(2);
    }
  });

  test("each of a box's processes has heard of it", async () => {
    await using boxes = await startBoxes(postgres);
    const [a, b] = [await boxes.start({}, ["--workers", "3"]), await boxes.start()];
    const site = await b.calls.deploy(pageOf(0));
    const ask = async () => {
      const answer = await a.page(site.slug, "/", { connection: "close" }); // the next one may come to another process
      return Number(/number (\d+)/.exec(await answer.text())?.[1]);
    };
    for (let n = 1; n <= 25; n++) {
      await Promise.all(Array.from({ length: 6 }, ask));
      await b.calls.redeploy(site, pageOf(n));
      expect(await Promise.all(Array.from({ length: 9 }, ask))).toEqual(Array(9).fill(n));
    }
    await a.calls.redeploy(site, pageOf(26));
    expect([await numberAt(b, site), ...(await Promise.all(Array.from({ length: 9 }, ask)))]).toEqual(
      Array(10).fill(26),
    );
  });

  test("pages of other sites stay in memory: a change sends few of them to the database", async () => {
    await using boxes = await startBoxes(postgres);
    const box = await boxes.start();
    const other = await box.calls.deploy(pageOf(2));
    // A machine that stands still for two seconds asks for all of them, and that is right: so one in five may do.
    const statuses: number[] = [];
    for (let n = 0; n < 5 && !statuses.includes(200); n++) {
      const site = await box.calls.deploy(pageOf(1));
      await keptBy([box], site, 1);
      await boxes.sql.unsafe("update sites set disabled_reason = 'spam' where site_id = $1", [site.site_id]); // unsaid
      await box.calls.redeploy(other, pageOf(3 + n));
      statuses.push((await box.page(site.slug)).status);
    }
    expect(statuses).toContain(200);
  });
});

describe("SCALE 4: boxes that are silent", () => {
  test("one that stands still holds a deploy up for 2.5 s, and shows what is new as soon as it goes on", async () => {
    await using boxes = await startBoxes(postgres);
    const [a, b] = [await boxes.start(), await boxes.start()];
    const site = await a.calls.deploy(pageOf(1));
    await keptBy([a, b], site, 1);
    b.process.kill("SIGSTOP");
    const took = await elapsed(() => a.calls.redeploy(site, pageOf(2)));
    expect(took).toBeGreaterThan(2400);
    expect(took).toBeLessThan(8000);
    b.process.kill("SIGCONT");
    expect(await numberAt(b, site)).toBe(2);
  });

  test("so do the processes of one whose first process, which listens for all, stands still", async () => {
    await using boxes = await startBoxes(postgres);
    const [a, b] = [await boxes.start({}, ["--workers", "2"]), await boxes.start()];
    const site = await b.calls.deploy(pageOf(1));
    for (let i = 0; i < 6; i++) await a.page(site.slug, "/", { connection: "close" });
    a.process.kill("SIGSTOP");
    await b.calls.redeploy(site, pageOf(2));
    const shown = await Promise.all(
      Array.from({ length: 6 }, async () => (await a.page(site.slug, "/", { connection: "close" })).text()),
    );
    a.process.kill("SIGCONT");
    expect(shown.filter((text) => !text.includes("number 2"))).toEqual([]);
  });

  test("one that was killed is waited for no more after five seconds; one that ended well at once", async () => {
    await using boxes = await startBoxes(postgres);
    const [a, b, c] = [await boxes.start(), await boxes.start(), await boxes.start()];
    const site = await a.calls.deploy(pageOf(1));
    await c.end();
    expect(await beats(boxes)).toBe(2);
    expect(await elapsed(() => a.calls.redeploy(site, pageOf(2)))).toBeLessThan(2000);
    await b.kill();
    expect(await elapsed(() => a.calls.redeploy(site, pageOf(3)))).toBeGreaterThan(2400);
    await Bun.sleep(5000);
    expect(await elapsed(() => a.calls.redeploy(site, pageOf(4)))).toBeLessThan(2000);
  });

  test("one whose ears the database has cut hears everything all the same", async () => {
    await using boxes = await startBoxes(postgres);
    const [a, b] = [await boxes.start(), await boxes.start()];
    const site = await a.calls.deploy(pageOf(0));
    for (let n = 1; n <= 10; n++) {
      await keptBy([b], site, n - 1);
      await boxes.sql.unsafe(
        "select pg_terminate_backend(pid) from pg_stat_activity where query ilike 'listen%' and datname = current_database()",
      );
      await a.calls.redeploy(site, pageOf(n));
      expect(await numberAt(b, site)).toBe(n);
    }
  });
});

describe("SCALE 4: a change that a box has missed", () => {
  const LISTENER = "select pid from pg_stat_activity where query ilike 'listen%' and datname = current_database()";
  /** A change as a store makes it, at whose COMMIT no box listens; its number. */
  async function missed({ sql }: Boxes, { site_id, slug }: DeployResult): Promise<number> {
    return sql.begin(async (on) => {
      await on.unsafe("update sites set disabled_reason = 'spam' where site_id = $1", [site_id]);
      const [told] = (await on.unsafe(TELL, [slug])) as [{ n: number }];
      await on.unsafe(`select pg_terminate_backend(pid) from (${LISTENER}) as listeners`);
      return told.n;
    });
  }
  const seenBy = async ({ sql }: Boxes): Promise<number> =>
    ((await sql.unsafe("select seen::float8 as seen from boxes")) as { seen: number }[])[0]!.seen;

  test("counts as seen no sooner than what it kept is gone, whatever else it hears meanwhile", async () => {
    await using boxes = await startBoxes(postgres);
    const box = await boxes.start();
    const other = await box.calls.deploy(pageOf(0));
    for (let round = 0; round < 8; round++) {
      const site = await box.calls.deploy(pageOf(1));
      await Bun.sleep(600 + 50 * round);
      await keptBy([box], site, 1);
      const n = await missed(boxes, site);
      await until(async () => {
        await boxes.sql.unsafe(TELL, [other.slug]);
        return (await seenBy(boxes)) >= n;
      }, 2);
      expect((await box.page(site.slug)).status).toBe(451);
    }
  });

  test("is caught up with even where the first try fails", async () => {
    await using boxes = await startBoxes(postgres);
    const box = await boxes.start();
    const site = await box.calls.deploy(pageOf(1));
    await keptBy([box], site, 1);
    const side = postgres.sql(box.address.database_url!);
    await missed(boxes, site);
    await boxes.sql.begin(async (on) => {
      await on.unsafe("lock table changes in access exclusive mode");
      await until(async () => {
        const ended: unknown[] = await side.unsafe(
          "select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database() and query ilike 'select n::float8%'",
        );
        return ended.length > 0;
      });
    });
    await until(async () => (await box.page(site.slug)).status === 451);
    await Bun.sleep(1500);
    expect((await box.page(site.slug)).status).toBe(451);
    await side.close();
  });

  test("a box whose disk takes no file goes on hearing of pages, and has the file as soon as it can be written", async () => {
    await using boxes = await startBoxes(postgres);
    const [a, b] = [await boxes.start(), await boxes.start()];
    const site = await a.calls.deploy(pageOf(1));
    const brands = join(b.address.data_dir, "brands.txt");
    await rm(brands);
    await mkdir(brands);
    await boxes.sql.unsafe(`select pg_terminate_backend(pid) from (${LISTENER}) as listeners`);
    await Bun.sleep(3000);
    expect(await beats(boxes)).toBe(2);
    await keptBy([b], site, 1);
    expect(await elapsed(() => a.calls.redeploy(site, pageOf(2)))).toBeLessThan(2000);
    expect(await numberAt(b, site)).toBe(2);
    await rm(brands, { recursive: true });
    await until(() => existsSync(brands));
  });
});

describe("SCALE 4: a box that cannot reach the database", () => {
  test.each(["mute", "closed"] as const)(
    "shows what it keeps, refuses the rest within four seconds, and is back by itself (%s)",
    async (door) => {
      await using boxes = await startBoxes(postgres);
      const [a, b] = [await boxes.start(), await boxes.start()];
      const [site, unknown] = [await a.calls.deploy(pageOf(1)), await a.calls.deploy(pageOf(7))];
      await keptBy([b], site, 1);
      b.turn(door);
      for (let i = 0; i < 60; i++) {
        expect(await numberAt(b, site)).toBe(1); // while it does not know yet, when it asks, and when it knows
        await Bun.sleep(100);
      }
      for (const ask of [() => b.page(unknown.slug), () => b.calls.post(zipOf(pageOf(9)))]) {
        const began = performance.now();
        expect((await ask()).status).toBe(503);
        expect(performance.now() - began).toBeLessThan(4000);
      }
      expect((await b.calls.api("/healthz")).status).toBe(200);
      // The others wait no longer for it than for one that is gone, and it alone goes on showing what it knew.
      await until(async () => (await elapsed(() => a.calls.redeploy(site, pageOf(2)))) < 2000);
      expect([await numberAt(a, site), await numberAt(b, site)]).toEqual([2, 1]);
      b.turn("open");
      await until(async () => (await numberAt(b, site)) === 2);
      await b.calls.redeploy(site, pageOf(3));
      expect([await numberAt(a, site), await numberAt(b, site)]).toEqual([3, 3]);
      expect(await numberAt(b, unknown)).toBe(7);
    },
  );

  test("shows it no longer than SVC_STALE, then 503 with Retry-After", async () => {
    await using boxes = await startBoxes(postgres);
    const box = await boxes.start({ SVC_STALE: "4s" });
    const site = await box.calls.deploy(pageOf(1));
    await keptBy([box], site, 1);
    box.turn("closed");
    const began = performance.now();
    await until(async () => (await box.page(site.slug)).status === 503);
    expect(performance.now() - began).toBeGreaterThan(4000);
    expect((await box.page(site.slug)).headers.get("retry-after")).not.toBe(null);
    box.turn("open");
    await until(async () => (await box.page(site.slug)).status === 200);
  });
});

describe("SCALE 4: turns", () => {
  interface Held {
    name: string;
    box: string;
  }
  const held = (boxes: Boxes): Promise<Held[]> =>
    boxes.sql.unsafe("select name, box from turns where until > now() order by name") as never;

  test("each work that one box does for all has a place in what its processes share", async () => {
    await using folder = await temporaryFolder();
    const remove = prepareBoxPage(folder.path);
    const page = openBoxPage(folder.path, Date.now, 0, false);
    const names = JOBS.map(({ name }) => name);
    for (const name of names) {
      page.beaten({
        box: 1,
        ahead_ms: 0,
        turns: [name],
        others: 0,
        differing: 0,
        sent: { mono: mono(), wall: Date.now() },
      });
      expect(names.filter((one) => page.has(one))).toEqual([name]);
    }
    page.close();
    remove();
  });

  test("a box that stands still loses them, and begins nothing with them when it goes on", async () => {
    await using boxes = await startBoxes(postgres);
    const [a, b] = [await boxes.start(), await boxes.start()];
    const [first] = await held(boxes);
    const rows: { box: string }[] = await boxes.sql.unsafe("select box from boxes order by started_at");
    const [holder, other] = rows[0]!.box === first!.box ? [a, b] : [b, a];
    holder.process.kill("SIGSTOP");
    await until(async () => (await held(boxes)).filter(({ box }) => box !== first!.box).length === 3);
    holder.process.kill("SIGCONT");
    await Bun.sleep(2000);
    expect(new Set((await held(boxes)).map(({ box }) => box)).size).toBe(1);
    expect((await held(boxes)).some(({ box }) => box === first!.box)).toBe(false);
    expect(openBoxPage(holder.address.data_dir, Date.now, 0, false).has("sweep")).toBe(false);
    expect(openBoxPage(other.address.data_dir, Date.now, 0, false).has("sweep")).toBe(true);
  });

  test("one box has them; another takes them over within eleven seconds of a kill, and at once after a good end", async () => {
    await using boxes = await startBoxes(postgres);
    const [a, b, c] = [await boxes.start(), await boxes.start(), await boxes.start()];
    const first = await held(boxes);
    expect(first.map(({ name }) => name)).toEqual(["domains", "sweep", "verify"]);
    const [holder] = new Set(first.map(({ box }) => box));
    expect(new Set(first.map(({ box }) => box)).size).toBe(1);
    await Bun.sleep(1500);
    expect(await held(boxes)).toEqual(first);
    const taken = async () => {
      const now = await held(boxes);
      return now.length === 3 && now.every(({ box }) => box !== holder);
    };
    expect(
      await elapsed(async () => {
        await a.kill();
        await until(taken);
      }),
    ).toBeLessThan(12_000);
    const [next] = await held(boxes);
    const rows: { box: string; started_at: Date }[] = await boxes.sql.unsafe(
      "select box, started_at from boxes order by started_at",
    );
    const [well, other] = rows.at(-2)!.box === next!.box ? [b, c] : [c, b];
    await well.end();
    await until(async () => (await held(boxes)).some(({ box }) => box !== next!.box));
    expect((await other.calls.api("/healthz")).status).toBe(200);
  });
});

describe("SCALE 4: the files of all boxes", () => {
  const textOf = ({ address }: TestBox, name = "secrets") => readFile(join(address.data_dir, name), "utf8");

  test("boxes that start together, and a later one, have the same secrets and brands, for their user alone", async () => {
    await using boxes = await startBoxes(postgres);
    const first = await Promise.all([boxes.start(), boxes.start(), boxes.start()]);
    await boxes.sql.unsafe("update shared_files set body = body || 'Tideway\n' where name = 'brands.txt'");
    const all = [...first, await boxes.start()];
    expect(new Set(await Promise.all(all.map((box) => textOf(box)))).size).toBe(1);
    expect(await textOf(all[3]!, "brands.txt")).toEndWith("Tideway\n");
    for (const { address } of all) expect((await stat(join(address.data_dir, "secrets"))).mode & 0o777).toBe(0o600);
  });

  test("a new key of a ring is on every box before the one that made it serves", async () => {
    await using boxes = await startBoxes(postgres);
    const [a, b] = [await boxes.start(), await boxes.start()];
    const keys = Object.entries(JSON.parse(await textOf(a)) as Record<string, string>);
    const long_ago = (Math.floor(Date.now() / 86_400_000) - 100).toString(36);
    const older = keys.map(([name, key]) => [name.replace(/^(comment_visitor)\..*/, `$1.${long_ago}`), key]);
    await boxes.sql.unsafe("update shared_files set body = $1 where name = 'secrets'", [
      JSON.stringify(Object.fromEntries(older)),
    ]);
    const c = await boxes.start();
    const names = (text: string) =>
      Object.keys(JSON.parse(text) as object).filter((name) => name.startsWith("comment_visitor."));
    expect(names(await textOf(c)).length).toBe(2);
    for (const box of [a, b]) expect(await textOf(box)).toBe(await textOf(c));
  });

  test("a certificate that one box has ordered is on all of them, and gone with it; an operator's own stays", async () => {
    await using boxes = await startBoxes(postgres);
    const [a, b] = [await boxes.start(), await boxes.start()];
    const pathIn = ({ address }: TestBox, path: string) => join(address.data_dir, "certs", path);
    const pair = certificateFor(["www.example.org"]);
    await mkdir(pathIn(b, "own.example.org"), { recursive: true });
    for (const name of ["key.pem", "chain.pem", "manual"]) await writeFile(pathIn(b, `own.example.org/${name}`), "");
    const store = await openStore({ ...a.address, now: Date.now });
    const account = await store.acmeAccount("first");
    expect([account, await store.acmeAccount("second")]).toEqual(["first", "first"]);
    await store.keepCertificate("www.example.org", { key: pair.key, chain: pair.cert });
    await store.keepCertificate("*.sites.example.org", { key: pair.key, chain: pair.cert });
    const c = await boxes.start();
    for (const box of [a, b, c]) {
      for (const folder of ["www.example.org", "_.sites.example.org"]) {
        expect(await readFile(pathIn(box, `${folder}/key.pem`), "utf8")).toBe(pair.key);
        expect(await readFile(pathIn(box, `${folder}/chain.pem`), "utf8")).toBe(pair.cert);
        expect((await stat(pathIn(box, `${folder}/key.pem`))).mode & 0o777).toBe(0o600);
      }
      expect(await readFile(pathIn(box, "account.pem"), "utf8")).toBe("first");
    }
    await store.dropCertificate("www.example.org");
    const left = await Promise.all([a, b, c].map(async (box) => (await readdir(pathIn(box, ""))).toSorted()));
    const rest = ["_.sites.example.org", "account.pem", "changed"];
    expect(left).toEqual([rest, [...rest, "own.example.org"].toSorted(), rest]);
    await store.close();
  });

  test("what one box has signed the other takes: whoever gave a site's password at one is let in by the other", async () => {
    await using boxes = await startBoxes(postgres);
    const [a, b] = [await boxes.start(), await boxes.start()];
    const { site, ask } = await ownedBy(a);
    expect(await ask(a, "PUT", "/access", { password: "correct horse" })).toBe(200);
    const host = `${site.slug}.sites.test`;
    const json = { method: "POST", headers: { host, "content-type": "application/json", accept: "application/json" } };
    const right = await a.calls.reach("/_svc/access", { ...json, body: `{"password":"correct horse"}` });
    const [cookie] = right.headers.getSetCookie();
    expect((await b.page(site.slug)).status).toBe(401);
    const inside = await b.calls.reach("/", { headers: { host, cookie: cookie!.split(";")[0]! } });
    expect(await inside.text()).toContain("number 1");
  });
});

describe("SCALE 5: what else was one box's", () => {
  test("a limit is one for all boxes, to the last call", async () => {
    await using boxes = await startBoxes(postgres);
    const limited = { SVC_RATE_DEPLOY: "7/1h" };
    const [a, b] = [await boxes.start(limited), await boxes.start(limited)];
    const zip = zipOf(pageOf(1));
    const answers = await Promise.all(Array.from({ length: 24 }, (_, n) => (n % 2 === 0 ? a : b).calls.post(zip)));
    expect(answers.filter(({ status }) => status === 200).length).toBe(7);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBe(17);
    expect(Number(refused[0]!.headers.get("retry-after"))).toBeGreaterThan(3500);
    const [{ n }] = (await boxes.sql.unsafe("select count(*)::int as n from hits where key like 'rate_deploy %'")) as [
      { n: number },
    ];
    expect(n).toBe(7); // a refused call writes nothing
  });

  test("so it is where a box's time is a second and a half behind, and where the database isolates its transactions", async () => {
    const url = await postgres.database();
    const sql = postgres.sql(url);
    await migrate(sql);
    await sql.unsafe(
      `alter database ${new URL(url).pathname.slice(1)} set default_transaction_isolation = 'repeatable read'`,
    );
    const pools = [openPool(url, 8), openPool(url, 8)];
    const boxes = pools.map((pool, n) =>
      databaseRates(
        pool,
        "key",
        () => Date.now() - 1500 * n,
        () => false,
      ),
    );
    const window = [{ count: 7, window_ms: 3_600_000 }];
    await Promise.all([...Array(16).keys()].map((n) => boxes[n % 2]!.take("warm", String(n), window))); // connections
    const taken = await Promise.all([...Array(40).keys()].map((n) => boxes[n % 2]!.take("limit", "ann", window)));
    expect(taken.filter(({ allowed }) => allowed).length).toBe(7);
    await taken.find(({ allowed }) => allowed)!.undo();
    const again = await boxes[1]!.take("limit", "ann", window);
    expect([again.allowed, again.windows[0]!.remaining]).toEqual([true, 0]);
    for (const pool of pools) await pool.close();
    await sql.close();
  });

  test("visits are counted together: a visitor of both boxes is one, and either tells the owner all", async () => {
    const settings = { SVC_STATS_FLUSH: "1s" };
    await using own = await startBoxes(postgres);
    const [one, two] = [await own.start(settings), await own.start(settings)];
    const site = await one.calls.deploy({ ...pageOf(1), "b.html": "<p>b" });
    const other = { ...NAVIGATION, "user-agent": `${FIREFOX} another` };
    for (const box of [one, two]) {
      for (const path of ["/", "/b"]) expect((await box.page(site.slug, path, NAVIGATION)).status).toBe(200);
      expect((await box.page(site.slug, "/gone", NAVIGATION)).status).toBe(404);
    }
    expect((await two.page(site.slug, "/", other)).status).toBe(200);
    const told = async (box: TestBox) => {
      const { totals, paths, misses } = await statistics(box.calls, site);
      return { ...totals, paths, missed: misses.map(({ path, hits }) => [path, hits]) };
    };
    const all = {
      ...{ views: 5, visitors: 2, bots: 0, misses: 2 },
      paths: [
        { path: "/", views: 3 },
        { path: "/b", views: 2 },
      ],
      missed: [["/gone", 2]],
    };
    for (const box of [one, two]) {
      await until(async () => Bun.deepEquals(await told(box), all)).catch(() => {}); // what it is instead is told
      expect(await told(box)).toEqual(all);
    }
    const salts: { n: number }[] = await own.sql.unsafe("select count(*)::int as n from stats_salt");
    expect(salts).toEqual([{ n: 1 }]);
    expect(existsSync(join(one.address.data_dir, "stats.db"))).toBeFalse();
    const operations = openOperations({ ...one.address, now: Date.now });
    await operations.actOnSite({ action: "delete", site_id: site.site_id });
    await operations.close();
    const left: { n: number }[] = await own.sql.unsafe(
      "select (select count(*) from stats_days) + (select count(*) from stats_names) as n",
    );
    expect(Number(left[0]!.n)).toBe(0);
  });

  test("a start with SVC_WEBHOOKS=off forgets letters only where no box has it on", async () => {
    await using boxes = await startBoxes(postgres);
    const on = await boxes.start({ SVC_WEBHOOKS: "on" });
    const site = await on.calls.deploy(pageOf(1));
    on.process.kill("SIGSTOP"); // it would send the letter
    await boxes.sql.unsafe("update turns set until = now() + interval '1 hour'"); // as if it beat on, however slowly others start
    await boxes.sql.unsafe(
      "insert into webhook_outbox (id, site_id, type, comment_no, created_at) values ('msg_x', $1, 'comment.created', 1, '2026')",
      [site.site_id],
    );
    const letters = async () =>
      ((await boxes.sql.unsafe("select count(*)::int as n from webhook_outbox")) as { n: number }[])[0]!.n;
    const off = await boxes.start({ SVC_WEBHOOKS: "off" });
    expect(await letters()).toBe(1);
    await on.kill();
    await off.end();
    await boxes.sql.unsafe("delete from turns");
    await boxes.start({ SVC_WEBHOOKS: "off" });
    expect(await letters()).toBe(0);
  });

  test("time is the database's: boxes whose clocks are 40 s apart say the same of a site, in the same second", async () => {
    await using boxes = await startBoxes(postgres);
    const short = { SVC_ANONYMOUS_TTL: "14s" };
    const [fast, slow] = [
      await boxes.start({ ...short, SVC_TEST_CLOCK: "20000" }),
      await boxes.start({ ...short, SVC_TEST_CLOCK: "-20000" }),
    ];
    for (const [made, shown] of [
      [fast, slow],
      [slow, fast],
    ] as const) {
      const site = await made.calls.deploy(pageOf(1));
      const left_ms = site.expires_at! - Date.now();
      expect(left_ms).toBeGreaterThan(4000);
      expect(left_ms).toBeLessThan(15_000);
      expect([await numberAt(made, site), await numberAt(shown, site)]).toEqual([1, 1]);
      await Bun.sleep(site.expires_at! - Date.now() + 200);
      expect([(await made.page(site.slug)).status, (await shown.page(site.slug)).status]).toEqual([410, 410]);
    }
  });

  test("a start is refused where the clock is 30 s off, and nobody waits for that box", async () => {
    await using boxes = await startBoxes(postgres);
    await boxes.start();
    await expect(boxes.start({ SVC_TEST_CLOCK: "-40000" })).rejects.toThrow(
      /The clock of this machine is 4\d s behind that of the database \(SVC_DATABASE_URL\): set the clocks, then start again\./,
    );
    expect(await beats(boxes)).toBe(1);
  });
});
