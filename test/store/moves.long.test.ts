/** SCALE 7: a service goes from a data directory into a database and a bucket and back, by a move or by a backup, with all that it had;
 *  begun again after any kill, it ends the same. */
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SQL } from "bun";
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { contentHash } from "../../src/base/version-id.ts";
import type { StoreAddress } from "../../src/store/index.ts";
import { type Bucket, startBucket } from "../kit/bucket.ts";
import { settingsOf } from "../kit/database-server.ts";
import { expectOldFacts, type OldFacts, OLD_SCHEMAS, unpackOldFolder } from "../kit/old-folders.ts";
import { type PostgresServer, startPostgres } from "../kit/postgres.ts";
import { childrenOf, run, type ServerProcess, startProcess, SVC_SERVER, temporaryFolder } from "../kit/process.ts";
import { callsOf, type DeployResult } from "../kit/server.ts";
import { statistics, visit } from "../statistics/visiting.ts";
import { until } from "../kit/until.ts";

setDefaultTimeout(180_000);

let postgres: PostgresServer;
let home: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  postgres = await startPostgres();
  home = await temporaryFolder();
});
afterAll(async () => {
  await postgres?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

let made = 0;
const fresh = (): string => join(home.path, `folder-${made++}`);
const newest = OLD_SCHEMAS.at(-1)!;

interface Place extends AsyncDisposable {
  address: StoreAddress;
  bucket: Bucket;
  sql: SQL;
}

/** An empty database and an empty bucket. */
async function emptyPlace(): Promise<Place> {
  const bucket = startBucket();
  const database_url = await postgres.database();
  const sql = postgres.sql(database_url);
  const access = {
    ...{ endpoint: bucket.endpoint, region: "us-east-1", session_token: null },
    ...{ access_key_id: "key", secret_access_key: "secret" },
  };
  return {
    address: { data_dir: fresh(), database_url, bucket: { url: "s3://bucket/all", access, cache_bytes: 1 << 24 } },
    bucket,
    sql,
    async [Symbol.asyncDispose]() {
      await sql.close();
      bucket[Symbol.dispose]();
    },
  };
}

const embedded = (argv: string[], data_dir: string) => run([...SVC_SERVER, ...argv, "--data-dir", data_dir]);
const shared = (argv: string[], { address }: Place, env: Record<string, string> = {}) =>
  run([...SVC_SERVER, ...argv], { env: { ...settingsOf(address), ...env } });
/** The same, for a command that is not waited for. */
const begin = (argv: string[], { address }: Place, env: Record<string, string> = {}) =>
  Bun.spawn([...SVC_SERVER, ...argv], {
    env: { ...process.env, ...settingsOf(address), ...env },
    stdio: ["ignore", "ignore", "ignore"],
  });
const move = (to: string, place: Place, data_dir: string) =>
  shared(["move", "--to", to, "--data-dir", data_dir], place);
const startOn = ({ address }: Place, env: Record<string, string> = {}): Promise<ServerProcess> =>
  startProcess(["--log", "off"], { env: { ...settingsOf(address), ...env } });

async function stop(server: ServerProcess): Promise<void> {
  server.kill("SIGTERM");
  expect(await server.exited).toBe(0);
}

/** Rows that a command adds about itself. */
const OWN = new Set(["audit", "holds"]);
const sorted = (rows: unknown[]): string[] => rows.map((row) => JSON.stringify(row)).toSorted();

function tablesIn(db: Database): { name: string; columns: string }[] {
  const names = db.query<{ name: string }, []>(
    "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'",
  );
  return names
    .all()
    .filter(({ name }) => !OWN.has(name))
    .map(({ name }) => {
      const columns = db.query<{ name: string }, []>(`pragma table_info(${name})`).all();
      return { name, columns: columns.map((column) => column.name).join(", ") };
    });
}

function rowsOfFile(path: string): Record<string, string[]> {
  using db = new Database(path, { readonly: true });
  return Object.fromEntries(
    tablesIn(db).map(({ name, columns }) => [name, sorted(db.query(`select ${columns} from ${name}`).values())]),
  );
}

/** The same of the database server; its numbers come as texts. */
async function rowsOfServer(sql: SQL, like: string): Promise<Record<string, string[]>> {
  using db = new Database(like, { readonly: true });
  const all: Record<string, string[]> = {};
  for (const { name, columns } of tablesIn(db)) {
    const rows = (await sql.unsafe(`select ${columns} from ${name}`)) as Record<string, unknown>[];
    const numbers = (await sql.unsafe(
      `select column_name from information_schema.columns where table_name = '${name}' and data_type = 'bigint'`,
    )) as { column_name: string }[];
    const wide = new Set(numbers.map(({ column_name }) => column_name));
    const values = (row: Record<string, unknown>) =>
      columns
        .split(", ")
        .map((column) => (wide.has(column) && row[column] !== null ? Number(row[column]) : row[column]));
    all[name] = sorted(rows.map(values));
  }
  return all;
}

/** A stopped service of today's schema, with all that an older one had, and some more. */
async function service(): Promise<{ data_dir: string; facts: OldFacts; counted: DeployResult }> {
  const data_dir = fresh();
  await mkdir(data_dir, { mode: 0o700 });
  const facts = await unpackOldFolder(newest, data_dir);
  const server = await startProcess(["--log", "off", "--data-dir", data_dir]);
  const calls = callsOf(server);
  for (let n = 0; n < 6; n++) {
    const files = Object.fromEntries(Array.from({ length: 10 }, (_, k) => [`${k}.txt`, `text ${k} of ${n}`]));
    await calls.deploy({ "index.html": `<!doctype html><title>${n}</title><p>${"é☃".repeat(n)}`, ...files });
  }
  await writeFile(join(data_dir, "brands.txt"), "acme acme.example\n");
  const counted = await calls.deploy({ "index.html": "<p>visited" });
  for (const path of ["/", "/", "/gone"]) await visit(server, counted.slug, path);
  await expectVisits(server, counted);
  await stop(server);
  return { data_dir, facts, counted };
}

/** As they are told to its owner. */
async function expectVisits(server: ServerProcess, counted: DeployResult): Promise<void> {
  const told = async () => {
    const { totals, paths, misses } = await statistics(callsOf(server), counted);
    return { ...totals, paths, misses: misses.map(({ path }) => path) };
  };
  const all = { views: 2, visitors: 1, bots: 0, paths: [{ path: "/", views: 2 }], misses: ["/gone"] };
  await until(async () => Bun.deepEquals(await told(), all)).catch(() => {}); // what it is instead is told
  expect(await told()).toEqual(all);
}

/** As each of its blobs is in the bucket. */
async function expectBlobs({ sql, bucket }: Place): Promise<number> {
  const rows: { sha256: string; blob_no: string; stored: boolean }[] = await sql.unsafe(
    "select distinct sha256, blob_no, stored from files join blobs using (blob_no)",
  );
  for (const { sha256, blob_no, stored } of rows) {
    const object = bucket.objects.get(`all/blobs/${sha256.slice(0, 2)}/${sha256}-${blob_no}`);
    expect([stored, contentHash(object!.bytes as Uint8Array<ArrayBuffer>)]).toEqual([true, sha256]);
  }
  return rows.length;
}

test("move --to shared, and back: every row, blob, secret and brand; nothing starts on what was left", async () => {
  const { data_dir, facts, counted } = await service();
  await using place = await emptyPlace();
  const before = rowsOfFile(join(data_dir, "db"));
  const done = await move("shared", place, data_dir);
  expect(done).toMatchObject({ code: 0, stderr: expect.stringContaining(`moved from ${data_dir} into the database`) });
  expect(await rowsOfServer(place.sql, join(data_dir, "db"))).toEqual(before);
  expect(await expectBlobs(place)).toBeGreaterThan(60);
  const files: { name: string; body: string }[] = await place.sql.unsafe(
    "select name, body from shared_files order by name",
  );
  expect(files.map(({ name }) => name)).toEqual(["brands.txt", "secrets"]);
  for (const { name, body } of files) expect(body).toBe(await readFile(join(data_dir, name), "utf8"));

  const left = await embedded(["--port", "0"], data_dir);
  expect([left.code, left.stderr]).toEqual([
    1,
    expect.stringContaining(`The service of ${data_dir} was moved to a database`),
  ]);
  expect((await embedded(["sites"], data_dir)).code).toBe(1);
  expect(await move("shared", place, data_dir)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("by a call before this one"),
  });

  const [one, two] = [await startOn(place), await startOn(place, { SVC_DATA_DIR: fresh() })].map((server) => server);
  await stop(two!);
  await expectOldFacts(one!, facts);
  await expectVisits(one!, counted);
  const site = await callsOf(one!).deploy({ "index.html": "<p>on the bucket" });
  const numbers: { n: string }[] = await place.sql.unsafe("select max(version_no) as n from versions");
  expect(Number(numbers[0]!.n)).toBeGreaterThan(before["versions"]!.length);
  await stop(one!);

  const back = fresh();
  const after = await rowsOfServer(place.sql, join(data_dir, "db"));
  expect(await move("embedded", place, back)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`into ${back}: `),
  });
  expect(rowsOfFile(join(back, "db"))).toEqual(after);
  expect(await readFile(join(back, "secrets"), "utf8")).toBe(await readFile(join(data_dir, "secrets"), "utf8"));
  expect(await readFile(join(back, "brands.txt"), "utf8")).toBe("acme acme.example\n");
  await expect(startOn(place)).rejects.toThrow("The service of SVC_DATABASE_URL was moved to a data directory");
  expect((await shared(["sites"], place)).stderr).toContain("was moved to a data directory");
  expect(await move("embedded", place, fresh())).toMatchObject({ code: 1 });
  expect((await embedded(["verify"], back)).stderr).toContain("0 faults");
  const again = await startProcess(["--log", "off", "--data-dir", back]);
  await expectOldFacts(again, facts);
  await expectVisits(again, counted);
  const slug = new URL(site.url).hostname.split(".")[0]!;
  expect(await (await callsOf(again).site(slug)).text()).toContain("on the bucket");
  expect((await callsOf(again).redeploy(site, { "index.html": "<p>and on" })).site_id).toBe(site.site_id);
  await stop(again);
});

describe("a move that cannot be is refused with a sentence, and changes nothing", () => {
  test("a place with a service, servers at work, no service, a flag that is none", async () => {
    const { data_dir } = await service();
    await using place = await emptyPlace();
    const running = await startOn(place);
    const calls = callsOf(running);
    await calls.deploy({ "index.html": "<p>here" });
    const refused = async (to: string, folder: string, sentence: string, code = 1) => {
      const done = await move(to, place, folder);
      expect([done.code, done.stderr]).toEqual([code, expect.stringContaining(sentence)]);
    };
    await refused("shared", data_dir, "Servers run on the database of SVC_DATABASE_URL (");
    await refused("embedded", fresh(), "Servers run on the database of SVC_DATABASE_URL (");
    await stop(running);
    await refused("shared", data_dir, "has a service already: name an empty one, and an empty prefix");
    await refused("shared", fresh(), "There is no service in");
    await refused("embedded", data_dir, "is not empty");
    await refused("both", data_dir, '--to is "both": it must be shared or embedded.', 2);
    expect((await embedded(["move", "--to", "shared"], data_dir)).stderr).toContain("needs both places");
    const states: { state: string }[] = await place.sql.unsafe("select state from service");
    expect(states).toEqual([{ state: "whole" }]);
    expect(existsSync(join(data_dir, "moved"))).toBeFalse();
    const serving = await startProcess(["--log", "off", "--data-dir", data_dir]);
    await using other = await emptyPlace();
    expect((await move("shared", other, data_dir)).stderr).toContain("Another svc-server is running on");
    await stop(serving);
    await stop(await startOn(place));
  });

  test("a bucket's prefix of another service", async () => {
    const { data_dir } = await service();
    await using place = await emptyPlace();
    place.bucket.objects.set("all/owner", { bytes: Buffer.from("somebody"), at: Date.now() });
    const done = await move("shared", place, data_dir);
    expect([done.code, done.stderr]).toEqual([1, expect.stringContaining("has the files of another service")]);
    expect(await place.sql.unsafe("select state from service")).toEqual([{ state: "whole" }]);
    expect((await embedded(["verify"], data_dir)).code).toBe(0);
  });
});

describe("a move that is killed is begun again, and ends the same", () => {
  /** Kills the move at its nth call of the bucket, or once `when` holds; then no server starts on either end that is not whole. */
  async function killed(
    to: string,
    place: Place,
    data_dir: string,
    at: { call: number } | { when(): Promise<boolean> },
  ) {
    let calls = 0;
    const reached = Promise.withResolvers<void>();
    place.bucket.before = async (method) => {
      if (method === (to === "shared" ? "PUT" : "GET") && "call" in at && ++calls === at.call) {
        reached.resolve();
        await Bun.sleep(100);
      }
      return undefined;
    };
    const child = begin(["move", "--to", to, "--data-dir", data_dir], place);
    if ("call" in at) await Promise.race([reached.promise, child.exited]);
    else await until(async () => child.exitCode !== null || (await at.when()));
    child.kill("SIGKILL");
    await child.exited;
    place.bucket.before = () => undefined;
    return child.signalCode === "SIGKILL";
  }

  const stateOf = async ({ sql }: Place) =>
    ((await sql.unsafe("select state from service").catch(() => [])) as { state: string }[])[0]?.state;

  test("into a database and a bucket", async () => {
    const { data_dir, facts, counted } = await service();
    const before = rowsOfFile(join(data_dir, "db"));
    await using place = await emptyPlace();
    for (const call of [2, 12, 24]) {
      expect(await killed("shared", place, data_dir, { call })).toBeTrue();
      expect(await stateOf(place)).toBe("filling");
      await expect(startOn(place)).rejects.toThrow(
        "A restore or a move into the database of SVC_DATABASE_URL was not finished",
      );
    }
    const puts = () => place.bucket.requests.filter((one) => one.startsWith("PUT all/blobs")).length;
    const until_now = puts();
    // Its own service starts all the same: nothing was taken away there.
    const own = await startProcess(["--log", "off", "--data-dir", data_dir]);
    await expectOldFacts(own, facts);
    await stop(own);
    const changed = rowsOfFile(join(data_dir, "db"));
    expect((await move("shared", place, data_dir)).code).toBe(0);
    expect(puts() - until_now).toBeLessThan(Object.keys(before["blobs"]!).length);
    expect(await rowsOfServer(place.sql, join(data_dir, "db"))).toEqual(changed);
    await expectBlobs(place);
    const server = await startOn(place);
    await expectOldFacts(server, facts);
    await stop(server);
  });

  test("between the marks: what was left is marked, and what it moved into is not whole yet", async () => {
    const { data_dir, facts, counted } = await service();
    await using place = await emptyPlace();
    expect((await move("shared", place, data_dir)).code).toBe(0);
    await place.sql.unsafe("update service set state = 'filling'");
    await expect(startOn(place)).rejects.toThrow("was not finished");
    expect((await embedded(["sites"], data_dir)).code).toBe(1);
    expect((await move("shared", place, data_dir)).code).toBe(0);
    const server = await startOn(place);
    await expectOldFacts(server, facts);
    await stop(server);

    const back = fresh();
    expect((await move("embedded", place, back)).code).toBe(0);
    const [{ id }] = (await place.sql.unsafe("select id from service")) as [{ id: string }];
    await writeFile(join(back, "moving"), `whole, from ${id}\n`);
    expect((await embedded(["sites"], back)).stderr).toContain(`A move into ${back} was not finished`);
    expect((await move("embedded", place, back)).code).toBe(0);
    expect((await embedded(["verify"], back)).code).toBe(0);
  });

  test("into a data directory", async () => {
    const { data_dir, facts, counted } = await service();
    await using place = await emptyPlace();
    expect((await move("shared", place, data_dir)).code).toBe(0);
    const rows = await rowsOfServer(place.sql, join(data_dir, "db"));
    const back = fresh();
    for (const call of [2, 12, 24]) {
      expect(await killed("embedded", place, back, { call })).toBeTrue();
      expect(await stateOf(place)).toBe("whole");
      const half = await embedded(["--port", "0"], back);
      expect([half.code, half.stderr]).toEqual([1, expect.stringContaining(`A move into ${back} was not finished`)]);
    }
    const server = await startOn(place); // it was not taken away yet
    await stop(server);
    expect((await move("embedded", place, back)).code).toBe(0);
    const own = (found: Record<string, string[]>) => ({ ...found, address: null });
    expect(own(rowsOfFile(join(back, "db")))).toEqual(own(rows));
    expect((await embedded(["verify"], back)).stderr).toContain("0 faults");
    const again = await startProcess(["--log", "off", "--data-dir", back]);
    await expectOldFacts(again, facts);
    await stop(again);
  });

  test("a stranger that writes in the middle waits, and is not lost", async () => {
    const { data_dir } = await service();
    await using place = await emptyPlace();
    expect((await move("shared", place, data_dir)).code).toBe(0);
    const late = Promise.withResolvers<void>();
    let asked = 0;
    place.bucket.before = async (method) => {
      if (method === "GET" && ++asked === 10) await late.promise;
      return undefined;
    };
    const moving = move("embedded", place, fresh());
    await until(() => asked >= 10);
    const written = place.sql.unsafe(`set lock_timeout = '1s'; select pg_advisory_xact_lock(${0x73_76_63})`);
    await expect(Promise.resolve(written)).rejects.toThrow("lock timeout");
    late.resolve();
    expect((await moving).code).toBe(0);
  });
});

describe("two are never the service at once", () => {
  /** Holds the move at its nth object of the bucket until it is let go. */
  function heldAt(place: Place, call: number, method: "GET" | "PUT") {
    const go = Promise.withResolvers<void>();
    let asked = 0;
    place.bucket.before = async (asked_by, key) => {
      if (asked_by === method && key.startsWith("all/blobs/") && ++asked === call) await go.promise;
      return undefined;
    };
    return { reached: () => until(() => asked >= call), go: () => go.resolve() };
  }

  test("a server that was frozen while its service was moved away writes nothing more, and ends", async () => {
    const { data_dir } = await service();
    await using place = await emptyPlace();
    expect((await move("shared", place, data_dir)).code).toBe(0);
    const server = await startOn(place);
    const calls = callsOf(server);
    const site = await calls.deploy({ "index.html": "<p>before" });
    const all = [server.pid, ...childrenOf(server.pid)];
    for (const pid of all) process.kill(pid, "SIGSTOP");
    await Bun.sleep(11_000);
    expect((await move("embedded", place, fresh())).code).toBe(0);
    const before = await rowsOfServer(place.sql, join(data_dir, "db"));
    for (const pid of all) process.kill(pid, "SIGCONT");
    const answers = await Promise.all(
      Array.from({ length: 5 }, () =>
        calls.redeploy(site, { "index.html": `<p>${Math.random()}` }).then(
          () => "stored",
          () => "refused",
        ),
      ),
    );
    expect(new Set(answers)).toEqual(new Set(["refused"]));
    expect(await server.exited).toBe(0);
    expect(server.stderr()).toContain("was moved to a data directory");
    expect((await rowsOfServer(place.sql, join(data_dir, "db")))["versions"]).toEqual(before["versions"]!);
  });

  test("a start that was under way meanwhile is refused", async () => {
    const { data_dir } = await service();
    await using place = await emptyPlace();
    expect((await move("shared", place, data_dir)).code).toBe(0);
    const go = Promise.withResolvers<void>();
    let asked = 0;
    place.bucket.before = async (method, key) => {
      if (method === "GET" && key === "all/owner" && ++asked === 1) await go.promise;
      return undefined;
    };
    const starting = startOn(place).then(
      () => "started",
      (error: Error) => error.message,
    );
    await until(() => asked === 1);
    expect((await move("embedded", place, fresh())).code).toBe(0);
    go.resolve();
    expect(await starting).toContain("was moved to a data directory");
  });

  test("commands that wait for a move to end change nothing, and say so", async () => {
    const { data_dir, counted } = await service();
    await using place = await emptyPlace();
    const there = heldAt(place, 20, "PUT");
    const away = move("shared", place, data_dir);
    await there.reached();
    const late = embedded(["freeze", counted.slug], data_dir);
    await Bun.sleep(1500);
    there.go();
    expect((await away).code).toBe(0);
    const said = await late;
    expect([said.code, said.stderr]).toEqual([1, expect.stringMatching(/was moved to a database|was busy/)]);

    const back = heldAt(place, 20, "GET");
    const folder = fresh();
    const returning = move("embedded", place, folder);
    await back.reached();
    const freezing = shared(["freeze", counted.slug], place);
    await Bun.sleep(1500);
    back.go();
    expect((await returning).code).toBe(0);
    const refused = await freezing;
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/was moved to a data directory|is busy/)]);
    expect(rowsOfFile(join(folder, "db"))["sites"]!.some((row) => row.includes(counted.slug))).toBeTrue();
    const frozen = await embedded(["sites", "--json"], folder);
    expect(JSON.parse(frozen.stdout)).toContainEqual(expect.objectContaining({ slug: counted.slug, state: "live" }));
  });

  test.each(["two folders", "one folder"])(
    "of two moves at once out of a database into %s one is refused",
    async (what) => {
      const { data_dir } = await service();
      await using place = await emptyPlace();
      expect((await move("shared", place, data_dir)).code).toBe(0);
      const held = heldAt(place, 20, "GET");
      const [one, two] =
        what === "one folder"
          ? (["same", "same"] as const).map(() => join(home.path, "one-folder"))
          : [fresh(), fresh()];
      const first = move("embedded", place, one!);
      await held.reached();
      const second = move("embedded", place, two!);
      await Bun.sleep(1500);
      held.go();
      const codes = [await first, await second];
      expect(codes.map(({ code }) => code).toSorted()).toEqual(
        what === "one folder" ? expect.arrayContaining([0]) : [0, 1],
      );
      expect((await embedded(["verify"], one!)).stderr).toContain("0 faults");
      if (two !== one) expect((await embedded(["sites"], two!)).code).toBe(1);
    },
  );
});

describe("a move that is begun for something else", () => {
  test("files that are not there, or cannot be read, end it before any mark; --with-gaps moves without those that are lost", async () => {
    const { data_dir, facts } = await service();
    await using place = await emptyPlace();
    await rename(join(data_dir, "blobs"), join(data_dir, "..", "elsewhere"));
    await mkdir(join(data_dir, "blobs"), { mode: 0o700 });
    const done = await move("shared", place, data_dir);
    expect([done.code, done.stderr]).toEqual([
      1,
      expect.stringContaining("so nothing is marked as moved: is everything mounted?"),
    ]);
    await rm(join(data_dir, "blobs"), { recursive: true });
    await rename(join(data_dir, "..", "elsewhere"), join(data_dir, "blobs"));
    const own = await startProcess(["--log", "off", "--data-dir", data_dir]);
    await stop(own);
    expect((await move("shared", place, data_dir)).code).toBe(0);
    const lost = [...place.bucket.objects.keys()].find((key) => key.startsWith("all/blobs/"))!;
    place.bucket.objects.delete(lost);
    const back = fresh();
    expect((await move("embedded", place, back)).stderr).toContain("so nothing is marked as moved");
    const server = await startOn(place);
    await stop(server);
    const anyway = await shared(["move", "--to", "embedded", "--with-gaps", "--data-dir", back], place);
    expect([anyway.code, anyway.stderr]).toEqual([
      1,
      expect.stringContaining("was missing or damaged there, and is missing here"),
    ]);
    const again = await startProcess(["--log", "off", "--data-dir", back]);
    await stop(again);
    expect(facts.sites.length).toBe(2);
  });

  test("another folder, another database: refused, and each goes on as it was begun", async () => {
    const [a, b] = [await service(), await service()];
    await using place = await emptyPlace();
    let puts = 0;
    place.bucket.before = (method, key) =>
      method === "PUT" && key.startsWith("all/blobs/") && ++puts > 5 ? new Response("", { status: 403 }) : undefined;
    expect((await move("shared", place, a.data_dir)).code).toBe(1);
    place.bucket.before = () => undefined;
    const other = await move("shared", place, b.data_dir);
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining("Another call began to fill the database")]);
    expect((await move("shared", place, a.data_dir)).code).toBe(0);
    await using second = await emptyPlace();
    expect((await move("shared", second, b.data_dir)).code).toBe(0);
    expect((await move("shared", second, a.data_dir)).stderr).toContain("was moved away, and is not in this database");
    const half = fresh();
    await mkdir(half, { mode: 0o700 });
    await writeFile(join(half, "moving"), "whole, from somebody\n");
    expect((await move("embedded", second, half)).stderr).toContain("Another service began to move into");
  });

  test("brands that are no text are told before anything is moved", async () => {
    const { data_dir } = await service();
    await using place = await emptyPlace();
    await writeFile(join(data_dir, "brands.txt"), Buffer.from([0x61, 0xff, 0x0a]));
    const done = await move("shared", place, data_dir);
    expect([done.code, done.stderr]).toEqual([1, expect.stringContaining("The file brands.txt is no text in UTF-8")]);
    expect(place.bucket.requests.filter((one) => one.startsWith("PUT all/blobs"))).toEqual([]);
    await writeFile(join(data_dir, "brands.txt"), "acme acme.example\n");
    expect((await move("shared", place, data_dir)).code).toBe(0);
  });

  test("a signal leaves no copy of the database or its keys behind", async () => {
    const { data_dir } = await service();
    const folder = fresh();
    expect((await embedded(["backup", folder], data_dir)).code).toBe(0);
    await using place = await emptyPlace();
    const tmp = fresh();
    await mkdir(tmp);
    const held = Promise.withResolvers<void>();
    let asked = false;
    place.bucket.before = async (method, key) => {
      if (method === "PUT" && key.startsWith("all/blobs/")) {
        asked = true;
        await held.promise;
      }
      return undefined;
    };
    const child = begin(["restore", folder], place, { TMPDIR: tmp });
    await until(() => asked);
    expect((await readdir(tmp)).filter((name) => name.startsWith("svc-"))).not.toEqual([]);
    child.kill("SIGINT");
    await child.exited;
    held.resolve();
    expect((await readdir(tmp)).filter((name) => name.startsWith("svc-"))).toEqual([]);
    expect(child.exitCode).toBe(130);
  });

  test("two backups of a service to a place at once: one is refused", async () => {
    const { data_dir } = await service();
    await using place = await emptyPlace();
    expect((await move("shared", place, data_dir)).code).toBe(0);
    await using kept = { path: fresh(), [Symbol.asyncDispose]: async () => {} };
    await mkdir(join(kept.path, "snapshots"), { recursive: true });
    const go = Promise.withResolvers<void>();
    let asked = 0;
    place.bucket.before = async (method) => {
      if (method === "GET" && ++asked === 10) await go.promise;
      return undefined;
    };
    const env = { SVC_BACKUP: kept.path };
    const first = shared(["backup"], place, env);
    await until(() => asked >= 10);
    const second = await shared(["backup"], place, env);
    expect([second.code, second.stderr]).toEqual([
      1,
      expect.stringContaining("Another backup of this service is under way"),
    ]);
    go.resolve();
    expect((await first).code).toBe(0);
  });
});

describe("backup and restore between both kinds", () => {
  test("beside servers, into a folder; out of it into a data directory, and into a database and a bucket", async () => {
    const { data_dir, facts, counted } = await service();
    await using place = await emptyPlace();
    expect((await move("shared", place, data_dir)).code).toBe(0);
    const server = await startOn(place);
    const folder = fresh();
    expect(await shared(["backup", folder], place)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("backed up"),
    });
    expect((await shared(["backup", fresh(), "--link"], place)).code).toBe(2);
    const sums = await run(["sha256sum", "--quiet", "-c", "SHA256SUMS"], { cwd: folder });
    expect([sums.code, sums.stdout]).toEqual([0, ""]);
    expect((await readdir(folder)).toSorted()).toEqual([
      "SHA256SUMS",
      "blobs",
      "brands.txt",
      "db",
      "secrets",
      "stats.db",
    ]);
    await callsOf(server).deploy({ "index.html": "<p>after the backup" });
    await stop(server);

    const data = fresh();
    expect((await embedded(["restore", folder], data)).stderr).toContain("0 faults");
    const own = await startProcess(["--log", "off", "--data-dir", data]);
    await expectOldFacts(own, facts);
    await expectVisits(own, counted);
    await stop(own);

    await using other = await emptyPlace();
    expect(await shared(["restore", folder], other)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("0 faults"),
    });
    expect((await rowsOfServer(other.sql, join(folder, "db")))["versions"]).toEqual(
      rowsOfFile(join(folder, "db"))["versions"]!,
    );
    const restored = await startOn(other);
    await expectOldFacts(restored, facts);
    await expectVisits(restored, counted);
    await stop(restored);
    const again = await shared(["restore", folder], other);
    const finished = `was filled by a restore of ${folder}, to its end: svc-server verify checks it.`;
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining(finished)]);
  });

  test("a backup of a data directory, of an older schema, into a database and a bucket; a blob of it that is damaged is told", async () => {
    const old = fresh();
    await mkdir(old, { mode: 0o700 });
    const facts = await unpackOldFolder(OLD_SCHEMAS.at(-3)!, old);
    const { data_dir } = await service();
    const folder = fresh();
    expect((await embedded(["backup", folder], data_dir)).code).toBe(0);
    await using place = await emptyPlace();
    const [first] = (await readdir(join(folder, "blobs"))).toSorted();
    const [hash] = await readdir(join(folder, "blobs", first!));
    await writeFile(join(folder, "blobs", first!, hash!), "other bytes");
    const done = await shared(["restore", folder], place);
    expect([done.code, done.stdout]).toEqual([1, expect.stringContaining(`blob ${hash} is missing`)]);
    expect(await place.sql.unsafe(`select stored from blobs where sha256 = '${hash}'`)).toEqual([{ stored: false }]);
    await using other = await emptyPlace();
    const started = await startProcess(["--log", "off", "--data-dir", old]); // brings it up to date
    await stop(started);
    const of_old = fresh();
    expect((await embedded(["backup", of_old], old)).code).toBe(0);
    expect((await shared(["restore", of_old], other)).code).toBe(0);
    const server = await startOn(other);
    await expectOldFacts(server, facts);
    await stop(server);
  });

  test("SVC_BACKUP: one server sends what is new; a snapshot of it makes either kind again", async () => {
    const { data_dir, facts, counted } = await service();
    await using place = await emptyPlace();
    expect((await move("shared", place, data_dir)).code).toBe(0);
    const kept = fresh();
    await mkdir(kept);
    const settings = { SVC_BACKUP: kept, SVC_BACKUP_EVERY: "10s" };
    const servers = [await startOn(place, settings), await startOn(place, { ...settings, SVC_DATA_DIR: fresh() })];
    await until(() => existsSync(join(kept, "latest")));
    await Bun.sleep(3000);
    expect((await readdir(join(kept, "snapshots"))).filter((name) => name.endsWith(".db.zst"))).toHaveLength(1);
    const rows = JSON.parse((await shared(["boxes", "--json"], place)).stdout) as { turns: string[] }[];
    expect(rows.flatMap(({ turns }) => turns).filter((turn) => turn === "backup")).toHaveLength(1);
    for (const server of servers) await stop(server);
    expect((await shared(["backup", "--list", kept], place)).stdout).toMatch(/^2\d{3}-/);

    const data = fresh();
    expect((await embedded(["restore", kept], data)).stderr).toContain("0 faults");
    await using other = await emptyPlace();
    expect((await shared(["restore", kept], other)).stderr).toContain("0 faults");
    const restored = await startOn(other);
    await expectOldFacts(restored, facts);
    await expectVisits(restored, counted);
    await stop(restored);
  });

  test("a restore that is killed is begun again", async () => {
    const { data_dir, facts, counted } = await service();
    const folder = fresh();
    expect((await embedded(["backup", folder], data_dir)).code).toBe(0);
    await using place = await emptyPlace();
    let puts = 0;
    const reached = Promise.withResolvers<void>();
    place.bucket.before = async (method) => {
      if (method === "PUT" && ++puts === 25) {
        reached.resolve();
        await Bun.sleep(100);
      }
      return undefined;
    };
    const child = begin(["restore", folder], place);
    await reached.promise;
    child.kill("SIGKILL");
    await child.exited;
    await expect(startOn(place)).rejects.toThrow("A restore or a move into the database");
    expect((await shared(["restore", folder], place)).code).toBe(0);
    const server = await startOn(place);
    await expectOldFacts(server, facts);
    await stop(server);
  });
});
