/** SCALE 1 and 7: servers that share a database and a bucket, by the settings alone; and the starts that are refused. */
import { readFileSync } from "node:fs";
import { chmod, chown, copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { settingsOf } from "../kit/database-server.ts";
import { type Boxes, startBoxes, type TestBox } from "../kit/boxes.ts";
import { type PostgresServer, startPostgres } from "../kit/postgres.ts";
import { ROOT, TLS_CERT, TLS_KEY } from "../kit/paths.ts";
import { childrenOf, run, startProcess, SVC_SERVER, temporaryFolder } from "../kit/process.ts";
import { startServer } from "../kit/server.ts";
import { until } from "../kit/until.ts";

setDefaultTimeout(120_000);

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres[Symbol.asyncDispose]());

/** Settings with which another box of this service would start, on a folder of its own. */
const another = ({ address }: TestBox, data_dir: string): Record<string, string> => ({
  ...settingsOf({ ...address, data_dir }),
  SVC_BASE_URL: "http://svc.test",
  SVC_SITES_DOMAIN: "sites.test",
});

/** A database in which that was done. */
async function databaseWith(...statements: string[]): Promise<string> {
  const url = await postgres.database();
  const sql = postgres.sql(url);
  for (const statement of statements) await sql.unsafe(statement);
  await sql.close();
  return url;
}

/** A start that ends: its sentence and exit code. */
const refusedStart = (env: Record<string, string>) => run([...SVC_SERVER, "--port", "0", "--log", "off"], { env });

const metricsOf = async (box: TestBox): Promise<string> =>
  (await box.calls.reach("/metrics", { headers: { host: "localhost" } })).text();

describe("SCALE 1: a start is refused with exit code 1 and a sentence without the URL", () => {
  const PASSWORD = "a-password-that-no-sentence-says";
  const withPassword = (url: string): string => url.replace("svc@", `svc:${PASSWORD}@`);
  type Wrong = (env: Record<string, string>, boxes: Boxes) => Record<string, string> | Promise<Record<string, string>>;

  test.concurrent.each<[string, string, Wrong]>([
    [
      "a database that is not there, after 15 s of trying",
      "The database of SVC_DATABASE_URL cannot be used: there is none of that name. Create it first.",
      (env) => ({ ...env, SVC_DATABASE_URL: withPassword(env["SVC_DATABASE_URL"]!).replace(/\w+$/, "nothing_here") }),
    ],
    [
      "a database server that is not there, after 15 s of trying",
      "The database of SVC_DATABASE_URL cannot be used: it does not answer.",
      (env) => ({ ...env, SVC_DATABASE_URL: withPassword(env["SVC_DATABASE_URL"]!).replace(/:\d+\//, ":1/") }),
    ],
    [
      "a user whom the database does not know, after 15 s of trying",
      "The database of SVC_DATABASE_URL cannot be used: it refuses that user or its password.",
      (env) => ({ ...env, SVC_DATABASE_URL: env["SVC_DATABASE_URL"]!.replace("svc@", `nobody:${PASSWORD}@`) }),
    ],
    [
      "a database without TLS where that is asked for, after 15 s of trying",
      "The database of SVC_DATABASE_URL cannot be used: it speaks no TLS, which its sslmode asks for.",
      (env) => ({ ...env, SVC_DATABASE_URL: `${withPassword(env["SVC_DATABASE_URL"]!)}?sslmode=verify-full` }),
    ],
    [
      "a bucket that is not there, after 15 s of trying",
      "The bucket of SVC_BLOBS cannot be used: s3://bucket/all could not be asked to read owner: it does not answer",
      (env) => ({ ...env, SVC_S3_ENDPOINT: "http://127.0.0.1:1" }),
    ],
    [
      "a bucket that refuses, after 15 s of trying",
      "The bucket of SVC_BLOBS cannot be used: s3://bucket/closed could not be asked to read owner: it answered 403 AccessDenied.",
      (env, { bucket }) => {
        const before = bucket.before;
        bucket.before = (method, key) =>
          key.startsWith("closed")
            ? new Response("<Error><Code>AccessDenied</Code></Error>", { status: 403 })
            : before(method, key);
        return { ...env, SVC_BLOBS: "s3://bucket/closed" };
      },
    ],
    [
      "a prefix that another service has",
      "s3://bucket/taken of SVC_BLOBS has the files of another service, with another database: name a prefix of its own.",
      (env, { bucket }) => {
        bucket.objects.set("taken/owner", { bytes: Buffer.from("another-id"), at: 0 });
        return { ...env, SVC_BLOBS: "s3://bucket/taken" };
      },
    ],
    [
      "a prefix with files that this database does not know, where nothing says whose they are",
      "s3://bucket/lost of SVC_BLOBS has files of a service that this database does not know: name a prefix of its own.",
      (env, { bucket }) => {
        const object = `${"a".repeat(64)}-1`;
        bucket.objects.set(`lost/blobs/aa/${object}`, { bytes: Buffer.from("x"), at: 0 });
        return { ...env, SVC_BLOBS: "s3://bucket/lost" };
      },
    ],
    [
      "an empty prefix, where the files of this database are in another",
      "s3://bucket/typo of SVC_BLOBS has none of the files of this database: name the bucket and prefix that its servers have.",
      async (env, { start }) => {
        await (await start()).calls.deploy({ "index.html": "<!doctype html><title>x</title>" });
        return { ...env, SVC_BLOBS: "s3://bucket/typo" };
      },
    ],
    [
      "a file of sslrootcert that is not there",
      "The database of SVC_DATABASE_URL cannot be used: the file of its sslrootcert cannot be read.",
      (env) => ({
        ...env,
        SVC_DATABASE_URL: `${withPassword(env["SVC_DATABASE_URL"]!)}?sslmode=verify-full&sslrootcert=/none.pem`,
      }),
    ],
    [
      "a data directory with a service of its own",
      "There is a service with a database of its own in",
      async (env) => {
        await mkdir(env["SVC_DATA_DIR"]!, { recursive: true });
        await writeFile(join(env["SVC_DATA_DIR"]!, "db"), "");
        return env;
      },
    ],
    [
      "another base URL than a server that is there",
      "has the base URL http://svc.test and the sites domain sites.test, this one http://other.test and sites.test: give all of them the same",
      (env) => ({ ...env, SVC_BASE_URL: "http://other.test" }),
    ],
    [
      "another sites domain than a server that is there",
      "this one http://svc.test and other.test: give all of them the same --base-url and --sites-domain.",
      (env) => ({ ...env, SVC_SITES_DOMAIN: "other.test" }),
    ],
    [
      "a database of a newer program",
      "The database was written by a newer svc-server (schema 99, this one knows",
      async (env) => ({
        ...env,
        SVC_DATABASE_URL: await databaseWith(
          "create table schema_steps (step bigint, needs bigint, at timestamptz)",
          "insert into schema_steps (step, needs) values (99, 99)",
        ),
      }),
    ],
    [
      "a database with tables of something else",
      "The database of SVC_DATABASE_URL has tables of something else (wages): name one for svc alone.",
      async (env) => ({ ...env, SVC_DATABASE_URL: await databaseWith("create table wages (n bigint)") }),
    ],
    [
      "a user who may make no tables",
      "The database of SVC_DATABASE_URL cannot be used: it lets its user make no tables",
      async (env) => {
        const url = await databaseWith("create role guest login", "revoke create on schema public from public");
        return { ...env, SVC_DATABASE_URL: url.replace("svc@", "guest@") };
      },
    ],
  ])("%s", async (title, sentence, wrong) => {
    await using boxes = await startBoxes(postgres);
    await using folder = await temporaryFolder();
    const box = await boxes.start();
    const began = performance.now();
    const env = await wrong(another(box, join(folder.path, "data")), boxes);
    const { code, stdout, stderr } = await refusedStart(env);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(sentence);
    expect(stderr.trim().split("\n")).toHaveLength(1);
    expect(stderr).not.toContain("postgres://");
    expect(stderr).not.toContain(PASSWORD);
    if (title.includes("15 s")) expect(performance.now() - began).toBeGreaterThan(15_000);
    const seen = (await boxes.sql.unsafe("select count(*)::int as n from boxes")) as { n: number }[];
    expect(seen[0]!.n).toBe(title.startsWith("an empty prefix") ? 2 : 1); // nobody waits for it
  });
});

describe("SCALE 1: servers of one service by their settings", () => {
  test("docs/scaling.md lists every figure of /metrics that a server without others has not", async () => {
    await using boxes = await startBoxes(postgres);
    await using alone = await startServer();
    const namesIn = (text: string) => [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!);
    const others = new Set(namesIn(await (await fetch(`${alone.base_url}/metrics`)).text()));
    const own = namesIn(await metricsOf(await boxes.start())).filter((name) => !others.has(name));
    const page = await Bun.file(join(ROOT, "docs/scaling.md")).text();
    const listed = [...page.matchAll(/^\| `(svc_\w+)`/gm)].map(([, name]) => name!);
    expect(listed.toSorted()).toEqual(own.toSorted());
    expect(own.length).toBe(7);
  });

  test("a database that comes back within 15 s is waited for", async () => {
    await using boxes = await startBoxes(postgres);
    await using folder = await temporaryFolder();
    const box = await boxes.start();
    box.turn("closed");
    const starting = startProcess(["--log", "off"], { env: another(box, join(folder.path, "data")) });
    await Bun.sleep(3000);
    box.turn("open");
    const second = await starting;
    second.kill("SIGTERM");
    expect(await second.exited).toBe(0);
  });

  test("the first start makes the prefix its own; whoever is as quick has the same id, and the next start finds it", async () => {
    await using boxes = await startBoxes(postgres);
    const all = await Promise.all([boxes.start(), boxes.start(), boxes.start()]);
    const [{ id }] = (await boxes.sql.unsafe("select id from service")) as [{ id: string }];
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    const owner = boxes.bucket.objects.get("all/owner");
    expect(Buffer.from(owner!.bytes).toString()).toBe(id);
    await all[0]!.end();
    await boxes.start();
  });

  test("an owner that was lost is made anew where the database knows the files", async () => {
    await using boxes = await startBoxes(postgres);
    const first = await boxes.start();
    await first.calls.deploy({ "index.html": "<!doctype html><title>x</title>" });
    const owner = Buffer.from(boxes.bucket.objects.get("all/owner")!.bytes).toString();
    boxes.bucket.objects.delete("all/owner");
    await boxes.start();
    expect(Buffer.from(boxes.bucket.objects.get("all/owner")!.bytes).toString()).toBe(owner);
    boxes.bucket.objects.get("all/owner")!.bytes = Buffer.from(`${owner}\n`); // by hand
    await boxes.start();
  });

  test("pages for which the bucket does not answer are 503, and the log says so once a minute, with why", async () => {
    await using boxes = await startBoxes(postgres);
    const site = await (await boxes.start()).calls.deploy({ "index.html": "<!doctype html><title>x</title><p>there" });
    const box = await boxes.start();
    boxes.bucket.before = () => new Response("<Error><Code>SlowDown</Code></Error>", { status: 503 });
    for (const _ of [1, 2]) expect((await box.page(site.slug)).status).toBe(503);
    const lines = box.process.stderr().trim().split("\n");
    expect(lines).toEqual([
      expect.stringMatching(
        /^\S+Z error the bucket that all boxes share: requests that it did not answer \(503\) since the last such line: 1; the last one: .*SlowDown/,
      ),
    ]);
    boxes.bucket.before = () => undefined;
    expect((await box.page(site.slug)).status).toBe(200);
  });

  test("variables of libpq lead to no other database, user or password", async () => {
    await using boxes = await startBoxes(postgres);
    const wrong = { PGHOST: "127.0.0.9", PGPORT: "1", PGUSER: "nobody", PGPASSWORD: "x", PGDATABASE: "postgres" };
    const box = await boxes.start(wrong);
    const site = await box.calls.deploy({ "index.html": "<!doctype html><title>x</title><p>there" });
    expect(await (await box.page(site.slug)).text()).toContain("there");
    expect(((await boxes.sql.unsafe("select count(*)::int as n from sites")) as { n: number }[])[0]!.n).toBe(1);
  });

  test("settings that differ are told by their names, in the log and by svc_settings_differ; what a server has of its own is not", async () => {
    await using boxes = await startBoxes(postgres);
    const first = await boxes.start();
    const own = { SVC_CACHE_BYTES: "2GB", SVC_DISK_HIGH: "95%", SVC_NOTIFY_SECRET: "k".repeat(16) };
    const hook = { SVC_NOTIFY: "https://hooks.example" };
    const alike = await boxes.start({ ...own, ...hook });
    expect(await metricsOf(alike)).toContain("\nsvc_settings_differ 0\n");
    const other = await boxes.start({ SVC_KEEP_VERSIONS: "7", SVC_RATE_CLAIM: "off" }, ["--log", "text"]);
    await until(() => other.process.stderr().includes("has other settings"));
    expect(other.process.stderr()).toMatch(/has other settings than this server: SVC_KEEP_VERSIONS, SVC_RATE_CLAIM\n/);
    await until(async () => /\nsvc_settings_differ 2\n/.test(await metricsOf(other)));
    await until(async () => /\nsvc_settings_differ 1\n/.test(await metricsOf(first)));
    expect(await metricsOf(first)).toMatch(/\nsvc_boxes 3\n/);
    await other.end();
    await until(async () => /\nsvc_settings_differ 0\n/.test(await metricsOf(first)));
    expect(await metricsOf(first)).toMatch(/\nsvc_boxes 2\n/);
  });

  test("several workers have their settings from their first process by message: no secret is in their environment", async () => {
    await using boxes = await startBoxes(postgres);
    const secrets = {
      AWS_SECRET_ACCESS_KEY: "a-secret-key",
      SVC_NOTIFY: "https://h.example",
      SVC_NOTIFY_SECRET: "n".repeat(20),
    };
    const box = await boxes.start({ SVC_METRICS_TOKEN: "m".repeat(20), ...secrets }, ["--workers", "2"]);
    const workers = childrenOf(box.process.pid);
    expect(workers.length).toBeGreaterThanOrEqual(2);
    for (const pid of workers) {
      const environment = readFileSync(`/proc/${pid}/environ`, "utf8");
      expect(environment).toContain("SVC_RATE_DEPLOY=off"); // it is the server's own
      expect(environment).not.toMatch(/DATABASE_URL|SECRET|ACCESS_KEY|NOTIFY|TOKEN|postgres:/);
    }
    const site = await box.calls.deploy({ "index.html": "<!doctype html><title>x</title><p>there" });
    expect(await (await box.page(site.slug)).text()).toContain("there");
    for (const pid of childrenOf(workers[0]!))
      expect(readFileSync(`/proc/${pid}/cmdline`, "utf8")).not.toContain("postgres");
  });
});

describe("SCALE 1: TLS to the database", () => {
  test("is by an authority that the system, NODE_EXTRA_CA_CERTS or sslrootcert names, for deploys too; else the start is refused", async () => {
    await using folder = await temporaryFolder();
    await chmod(folder.path, 0o711);
    const [cert, key] = [join(folder.path, "cert.pem"), join(folder.path, "key.pem")];
    await Promise.all([copyFile(TLS_CERT, cert), copyFile(TLS_KEY, key)]);
    await chmod(key, 0o600);
    if (process.getuid?.() === 0) for (const path of [cert, key]) await chown(path, 65_534, 65_534);
    await using server = await startPostgres(["ssl=on", `ssl_cert_file=${cert}`, `ssl_key_file=${key}`]);
    await using boxes = await startBoxes(server);
    const url = `${(await boxes.start()).address.database_url}?sslmode=verify-full`;
    const ways: Record<string, string>[] = [
      { SVC_DATABASE_URL: `${url}&sslrootcert=${cert}` },
      { SVC_DATABASE_URL: url, NODE_EXTRA_CA_CERTS: cert },
    ];
    for (const env of ways) {
      const box = await boxes.start(env);
      const site = await box.calls.deploy({ "index.html": `<!doctype html><title>x</title><p>${Object.keys(env)}` });
      expect((await box.page(site.slug)).status).toBe(200);
    }
    await expect(boxes.start({ SVC_DATABASE_URL: url })).rejects.toThrow(
      /The database of SVC_DATABASE_URL cannot be used: its certificate is not trusted/,
    );
  });
});
