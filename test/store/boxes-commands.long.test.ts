/** SCALE 7: the operator's commands on a state that several servers share. They need no data directory, and run beside servers. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { read } from "../kit/database.ts";
import { settingsOf } from "../kit/database-server.ts";
import { ROOT } from "../kit/paths.ts";
import { type Boxes, startBoxes, type TestBox } from "../kit/boxes.ts";
import { type PostgresServer, startPostgres } from "../kit/postgres.ts";
import { run, SVC_SERVER, temporaryFolder } from "../kit/process.ts";
import { until } from "../kit/until.ts";

setDefaultTimeout(120_000);

let postgres: PostgresServer;
let boxes: Boxes;
let [a, b]: TestBox[] = [];
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  postgres = await startPostgres();
  boxes = await startBoxes(postgres);
  [a, b] = [await boxes.start(), await boxes.start({ SVC_KEEP_VERSIONS: "9" })];
  folder = await temporaryFolder();
});
afterAll(async () => {
  await boxes?.[Symbol.asyncDispose]();
  await postgres?.[Symbol.asyncDispose]();
  await folder?.[Symbol.asyncDispose]();
});

/** The settings of the servers, on a machine that has no data directory. */
const elsewhere = (): Record<string, string> => ({
  ...settingsOf({ ...a!.address, data_dir: join(folder.path, "none") }),
  SVC_BASE_URL: "http://svc.test",
  SVC_SITES_DOMAIN: "sites.test",
});
const command = (argv: string[], env: Record<string, string> = {}) =>
  run([...SVC_SERVER, ...argv], { env: { ...elsewhere(), ...env } });
const page = (text: string) => ({ "index.html": `<!doctype html><title>x</title><p>${text}` });
const HOUR_MS = 3_600_000;
const blobsOf = () => [...boxes.bucket.objects].filter(([key]) => key.startsWith("all/blobs/"));

test.each<[argv: string[], code: number, said: RegExp]>([
  [["sites"], 0, /^SITE +URL/],
  [["sites", "--json"], 0, /^\[/],
  [["reports", "--json"], 0, /^\[/],
  [["audit", "--json"], 0, /^\[/],
  [["account", "list", "--json"], 0, /^\[/],
  [["account", "invite", "ann@example.org"], 0, /http:\/\/svc\.test\//],
  [["gc"], 0, /swept 0 expired sites/],
  [["verify"], 0, /checked \d+ blobs?, \d+ bytes: 0 faults/],
  [["status"], 1, /No server runs on this data folder/],
  [["boxes"], 0, /^HOST +VERSION +STARTED +HEARD +SEEN +TURNS\n/],
  [["hold", "1h"], 0, /no stored file is removed until 20/],
  [["hold", "8d"], 2, /it must be a duration of 7d at most, such as 6h, or off/],
  [["hold", "never"], 2, /it must be a duration of 7d at most/],
  [["hold", "off"], 0, /the hold is over/],
  [["brands"], 0, /paypal\.com/],
  [["gc", "--bucket"], 0, /removed 0 stray objects of the bucket/],
  [["backup", "/tmp/never-made", "--link"], 2, /--link is for the files of a data directory: the bucket's are copied/],
  [["restore", "/tmp/never-made"], 1, /There is no folder \/tmp\/never-made/],
  [["move", "--to", "embedded"], 1, /Servers run on the database of SVC_DATABASE_URL \(/],
])("svc-server %j ends with %i and says so", async (argv, code, said) => {
  const done = await command(argv).catch((error: Error) => ({ code: -1, stdout: "", stderr: error.message }));
  expect(`${done.stdout}${done.stderr}`).toMatch(said);
  expect(done.code).toBe(code);
});

test.each(["boxes", "gc --bucket"])("svc-server %s is refused on a data directory of its own", async (words) => {
  const done = await run([...SVC_SERVER, ...words.split(" "), "--data-dir", folder.path]);
  expect(done.code).toBe(2);
  expect(done.stderr).toContain(
    "is for several servers with one state: set SVC_DATABASE_URL and SVC_BLOBS as they have them.",
  );
});

test("boxes --json is one array, a row each with what it does for all", async () => {
  const { stdout } = await command(["boxes", "--json"]);
  const rows = JSON.parse(stdout) as Record<string, unknown>[];
  expect(rows).toHaveLength(2);
  expect(Object.keys(rows[0]!).toSorted()).toEqual(["beat_s", "box", "host", "seen", "started_at", "turns", "version"]);
  expect(rows.flatMap(({ turns }) => turns as string[]).toSorted()).toEqual(["domains", "sweep", "verify"]);
  for (const { beat_s, started_at } of rows) {
    expect(beat_s as number).toBeWithin(0, 10);
    expect(Date.parse(started_at as string)).toBeWithin(Date.now() - 10 * 60_000, Date.now() + 1000);
  }
});

test("when a command ends every server shows what it did", async () => {
  const site = await a!.calls.deploy(page("mine"));
  for (const box of [a!, b!]) expect((await box.page(site.slug)).status).toBe(200);
  expect((await command(["disable", site.slug, "--reason", "spam"])).code).toBe(0);
  expect(await Promise.all([a!, b!].map(async (box) => (await box.page(site.slug)).status))).toEqual([451, 451]);
  expect((await command(["enable", site.slug])).code).toBe(0);
  expect(await Promise.all([a!, b!].map(async (box) => (await box.page(site.slug)).status))).toEqual([200, 200]);
});

test("brands takes a list from a file, for every server; one that cannot be read changes nothing", async () => {
  const [good, bad] = [join(folder.path, "good.txt"), join(folder.path, "bad.txt")];
  await writeFile(good, '# ours\n"Our Bank" ourbank.example\nacme acme.example acme.test # two\n');
  await writeFile(bad, "acme acme.example\nno-domain\n");
  expect(await command(["brands", bad])).toMatchObject({ code: 1, stderr: expect.stringContaining('"no-domain" in') });
  expect((await command(["brands", good])).stderr).toBe(`2 brands from ${good}\n`);
  for (const { address } of [a!, b!]) {
    expect(await readFile(join(address.data_dir, "brands.txt"), "utf8")).toBe(await readFile(good, "utf8"));
  }
  expect((await command(["brands"])).stdout).toBe(await readFile(good, "utf8"));
});

test.each(["sites", "gc", "hold 1h", "doctor --json"])(
  "%s on a machine whose clock is 40 s off is refused",
  async (words) => {
    const clock = join(folder.path, "clock.ts");
    await writeFile(clock, "const { now } = Date;\nDate.now = () => now() - 40_000;\n");
    const source = [process.execPath, "--preload", clock, join(ROOT, "server.ts")];
    const done = await run([...source, ...words.split(" ")], { env: elsewhere() });
    // The way of the answer counts as difference, too.
    const sentence =
      /The clock of this machine is 4\d s behind that of the database \(SVC_DATABASE_URL\): set the clocks/;
    expect(`${done.stdout}${done.stderr}`).toMatch(sentence);
    expect(done.code).toBe(1);
  },
);

test("brands sets those of a data directory too, and hold holds there", async () => {
  const data_dir = join(folder.path, "own");
  const flags = ["--data-dir", data_dir, "--port", "0", "--log", "off"];
  const server = Bun.spawn([...SVC_SERVER, ...flags], { stdout: "pipe", stderr: "ignore" });
  await until(async () => (await run([...SVC_SERVER, "sites", "--data-dir", data_dir])).code === 0);
  const list = join(folder.path, "list.txt");
  await writeFile(list, "acme acme.example\n");
  expect((await run([...SVC_SERVER, "brands", list, "--data-dir", data_dir])).code).toBe(0);
  expect((await run([...SVC_SERVER, "brands", "--data-dir", data_dir])).stdout).toBe("acme acme.example\n");
  const holds = () => read<{ n: number }>(data_dir, "select count(*) as n from holds where expires_at > ?", Date.now());
  expect((await run([...SVC_SERVER, "hold", "1h", "--data-dir", data_dir])).code).toBe(0);
  expect(holds()).toEqual([{ n: 1 }]);
  expect((await run([...SVC_SERVER, "hold", "off", "--data-dir", data_dir])).code).toBe(0);
  expect(holds()).toEqual([{ n: 0 }]);
  server.kill("SIGTERM");
  await server.exited;
});

test("hold keeps what nothing names any more, until it is over", async () => {
  const site = await a!.calls.deploy(page("held"));
  const named = new Set(blobsOf().map(([key]) => key));
  expect((await command(["hold", "2h"])).code).toBe(0);
  expect((await command(["delete", site.slug])).code).toBe(0);
  await boxes.sql.unsafe("update blobs set touched_at = now() - interval '2 hours'");
  expect((await command(["gc"])).stderr).toContain("0 orphaned files");
  expect(new Set(blobsOf().map(([key]) => key))).toEqual(named);
  expect((await command(["hold", "off"])).code).toBe(0);
  expect((await command(["gc"])).stderr).toContain("1 orphaned file");
  expect(blobsOf().length).toBe(named.size - 1);
});

describe("gc --bucket", () => {
  test("removes objects over an hour old that no row names, and none else; verify counts them", async () => {
    const site = await a!.calls.deploy(page("stays"));
    await until(async () => (await b!.page(site.slug)).status === 200);
    const hash = (letter: string) => letter.repeat(64);
    const put = (name: string, at: number) =>
      boxes.bucket.objects.set(`all/blobs/${name.slice(0, 2)}/${name}`, { bytes: Buffer.from("x"), at });
    put(`${hash("a")}-7000`, Date.now() - 2 * HOUR_MS); // of a time that the database knows nothing of
    put(`${hash("b")}-1`, Date.now() - 2 * HOUR_MS); // a row's number under another hash
    put(`${hash("c")}-7001`, Date.now() - HOUR_MS / 2); // of a deploy that is under way
    put(`${hash("d")}-7002`, Date.now() - 2 * HOUR_MS); // that a sweep is about to delete
    await boxes.sql.unsafe("insert into doomed (object) values ($1)", [`${hash("d")}-7002`]);
    boxes.bucket.objects.set("all/blobs/aa/a-file-of-somebody's", { bytes: Buffer.from("x"), at: 0 });
    for (const [key, object] of blobsOf()) if (!/7001$/.test(key)) object.at = Date.now() - 2 * HOUR_MS;
    const before = blobsOf().map(([key]) => key);
    const checked = await command(["verify"]);
    expect(checked.stderr).toContain("2 objects of the bucket have no row: svc-server gc --bucket removes them\n");
    expect(checked.code).toBe(0);
    expect((await command(["gc", "--bucket"])).stderr).toContain("removed 2 stray objects of the bucket");
    const gone = before.filter((key) => !boxes.bucket.objects.has(key)).map((key) => key.split("/").at(-1)!);
    // The last one by the sweep.
    expect(gone.toSorted()).toEqual([`${hash("a")}-7000`, `${hash("b")}-1`, `${hash("d")}-7002`]);
    expect((await a!.page(site.slug)).status).toBe(200);
  });

  test.each(["gc", "gc --bucket", "verify"])(
    "%s touches no prefix of another service, and none of nobody's",
    async (argv) => {
      const words = argv.split(" ");
      const rows = () => boxes.sql.unsafe("select blob_no, stored from blobs order by blob_no");
      const [before, keys] = [await rows(), [...boxes.bucket.objects.keys()]];
      const nobody = await command(words, { SVC_BLOBS: "s3://bucket/nobody" });
      expect(nobody).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("s3://bucket/nobody of SVC_BLOBS has no object owner"),
      });
      boxes.bucket.objects.set("theirs/owner", { bytes: Buffer.from("another"), at: 0 });
      const theirs = await command(words, { SVC_BLOBS: "s3://bucket/theirs" });
      expect(theirs).toMatchObject({ code: 1, stderr: expect.stringContaining("has the files of another service") });
      boxes.bucket.objects.delete("theirs/owner");
      expect(await rows()).toEqual(before);
      expect([...boxes.bucket.objects.keys()]).toEqual(keys);
    },
  );

  test("the sequence never goes back, and what stands in a prefix below is not its own", async () => {
    const number = async () =>
      ((await boxes.sql.unsafe("select last_value::float8 as n from blobs_blob_no_seq")) as [{ n: number }])[0].n;
    await boxes.sql.unsafe("select setval('blobs_blob_no_seq', 500)");
    const inner = [`all/blobs/blobs/ff/${"f".repeat(64)}-3`, `all/blobs/ff/${"f".repeat(64)}-9223372036854775807`];
    for (const key of inner) boxes.bucket.objects.set(key, { bytes: Buffer.from("x"), at: 0 });
    boxes.bucket.objects.set(`all/blobs/ff/${"f".repeat(64)}-4`, { bytes: Buffer.from("x"), at: 0 });
    expect((await command(["gc", "--bucket"])).stderr).toContain("removed 1 stray object of the bucket");
    expect(await number()).toBe(500);
    for (const key of inner) expect(boxes.bucket.objects.delete(key)).toBe(true);
  });

  test("no number of what it found is given again: a deletion that comes late hits nothing in use", async () => {
    boxes.bucket.objects.set(`all/blobs/ee/${"e".repeat(64)}-9000`, { bytes: Buffer.from("x"), at: 0 });
    expect((await command(["gc", "--bucket"])).code).toBe(0);
    await a!.calls.deploy(page("after that"));
    const [row] = (await boxes.sql.unsafe("select max(blob_no)::int as n from blobs")) as [{ n: number }];
    expect(row.n).toBeGreaterThan(9000);
  });
});

describe("doctor", () => {
  const findings = async (env: Record<string, string> = {}) => {
    const { stdout } = await command(["doctor", "--json"], env);
    const rows = JSON.parse(stdout) as { check: string; status: string; message: string }[];
    return Object.fromEntries(rows.map(({ check, status, message }) => [check, `${status}: ${message}`]));
  };

  test("looks at the database, the bucket and the servers", async () => {
    const found = await findings();
    expect(found["database"]).toMatch(
      /^fail: PostgreSQL \d+\S* .*answers in [\d.]+ ms, with \d+ of 500 connections in use. Its fsync is off/,
    );
    expect(found["bucket"]).toMatch(/^ok: s3:\/\/bucket\/all keeps, gives back and removes what it is given\.$/);
    expect(found["boxes"]).toMatch(
      /^warn: 2 servers: .* Settings differ: SVC_KEEP_VERSIONS\. Give all of them the same\.$/,
    );
    expect([...boxes.bucket.objects.keys()].filter((key) => key.includes("probe"))).toEqual([]);
  });

  test("says what is wrong with a bucket and with a database, and goes on", async () => {
    const found = await findings({
      SVC_S3_ENDPOINT: "http://127.0.0.1:1",
      SVC_DATABASE_URL: "postgres://svc:hidden@127.0.0.1:1/x",
    });
    expect(found["bucket"]).toMatch(
      /^fail: s3:\/\/bucket\/all could not be asked to keep probe-\w+: it does not answer/,
    );
    expect(found["database"]).toBe("fail: The database of SVC_DATABASE_URL cannot be used: it does not answer.");
    expect(JSON.stringify(found)).not.toContain("hidden");
    expect(found["disk"]).toMatch(/^(ok|warn): /);
  });
});

test.each([
  [
    "an empty database",
    async () => {},
    "There is no service in the database of SVC_DATABASE_URL: start the server once.",
  ],
  [
    "a database of a newer program",
    async (sql: Bun.SQL) => {
      await sql.unsafe("create table schema_steps (step bigint, needs bigint, at timestamptz)");
      await sql.unsafe("insert into schema_steps (step, needs) values (99, 99)");
    },
    "The database was written by a newer svc-server (schema 99",
  ],
  [
    "a database of an older program",
    async (sql: Bun.SQL) => {
      await sql.unsafe("create table schema_steps (step bigint, needs bigint, at timestamptz)");
      await sql.unsafe("insert into schema_steps (step, needs) values (2, 2)");
    },
    "The database of SVC_DATABASE_URL is of an older svc-server: start this version first.",
  ],
])("a command on %s ends with 1 and a sentence", async (_, prepare, sentence) => {
  const url = await postgres.database();
  const sql = postgres.sql(url);
  await prepare(sql);
  await sql.close();
  const done = await command(["sites"], { SVC_DATABASE_URL: url });
  expect(done).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(sentence) });
});

test("a command has no folder left behind", async () => {
  await using other = await temporaryFolder();
  await mkdir(join(other.path, "tmp"));
  await command(["sites"], { TMPDIR: join(other.path, "tmp") });
  expect([...new Bun.Glob("**").scanSync({ cwd: join(other.path, "tmp"), onlyFiles: false })]).toEqual([]);
});
