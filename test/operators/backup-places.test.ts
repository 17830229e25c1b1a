/** Backups off the box (CONTRACT 7, RELIABILITY 2, B1 to B4): only what is new is sent, the last good one is whole whatever
 *  happens, and one command brings it back. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startBucket } from "../kit/bucket.ts";
import { operator } from "../kit/operator.ts";
import { local, type ServerProcess, startProcess, SVC_SERVER, temporaryFolder } from "../kit/process.ts";
import { startServer, ZIP } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { zipOf } from "../kit/zip.ts";
import { exists, serverOn } from "./backups.ts";

setDefaultTimeout(60_000);

const NAME = /^\d{8}T\d{6}Z-[0-9a-f]{64}$/;
const BLOB = /^blobs\/[0-9a-f]{2}\/[0-9a-f]{64}$/;
const PLACE = "s3://bucket/svc";

async function deploy(server: ServerProcess, text: string): Promise<{ slug: string }> {
  const body = zipOf({ "index.html": `<title>${text}</title>`, "shared.txt": "the same in all" });
  const answer = await fetch(`${local(server)}/sites`, { method: "POST", headers: ZIP, body });
  return (await answer.json()) as { slug: string };
}

const snapshotsIn = async (folder: string): Promise<string[]> =>
  (await readdir(join(folder, "snapshots")).catch(() => [])).filter((name) => name.endsWith(".db.zst")).toSorted();

describe("by the server itself, into a folder", () => {
  test("it begins where there is none, sends each file once, keeps as many as it should, and each comes back", async () => {
    await using dir = await temporaryFolder();
    const place = join(dir.path, "elsewhere");
    const env = { SVC_BACKUP: place, SVC_BACKUP_EVERY: "1s", SVC_BACKUP_KEEP: "3" };
    const server = await startProcess(["--data-dir", join(dir.path, "data")], { env });
    const sites = [await deploy(server, "one")];
    await until(() => / 2 files, 2 of them sent now/.test(server.stderr()));
    const first = (await snapshotsIn(place))[0]!;
    const shared = (await readdir(join(place, "blobs"), { recursive: true })).filter((name) => name.length > 60);
    expect(shared).toHaveLength(2);
    const { mtimeMs } = await stat(join(place, "blobs", shared[0]!));
    sites.push(await deploy(server, "two"));
    await until(async () => (await snapshotsIn(place)).every((name) => name !== first));
    expect((await snapshotsIn(place)).length).toBeLessThanOrEqual(3);
    expect((await stat(join(place, "blobs", shared[0]!))).mtimeMs).toBe(mtimeMs);
    const metrics = await (await fetch(`${local(server)}/metrics`)).text();
    const at = Number(/^svc_last_backup_timestamp_seconds (\S+)$/m.exec(metrics)![1]);
    expect(Math.abs(at - Date.now() / 1000)).toBeLessThan(60);
    expect(server.stderr()).toMatch(/ backup \d{8}T\d{6}Z-[0-9a-f]{64}: 2 files, 2 of them sent now/);
    server.kill("SIGTERM");
    expect(await server.exited).toBe(0);

    const names = await snapshotsIn(place);
    for (const asked of ["", `@${names[0]!.slice(0, 16)}`]) {
      const data_dir = join(dir.path, `restored${asked.length}`);
      const { code, stderr } = await operator(data_dir, ["restore", `${place}${asked}`]);
      expect([code, stderr]).toEqual([0, expect.stringContaining("0 faults")]);
      // They came in the database, and nothing of them stays there (RELIABILITY A32).
      const secrets = await readFile(join(data_dir, "secrets"));
      expect(secrets.length).toBeGreaterThan(32);
      const middle = secrets.subarray(secrets.length >> 1, (secrets.length >> 1) + 16);
      expect((await readFile(join(data_dir, "db"))).includes(middle)).toBe(false);
      await using restored = await serverOn(data_dir);
      // The older one may have been taken before the second site was there.
      for (const { slug } of asked === "" ? sites : sites.slice(0, 1))
        expect((await restored.site(slug, "/shared.txt")).status).toBe(200);
    }
  });

  test("a place that cannot be written to stops no start; the log says so, and when it can it is written", async () => {
    await using dir = await temporaryFolder();
    const place = join(dir.path, "not-yet");
    await writeFile(place, "a file where the folder should be");
    const env = { SVC_BACKUP: place, SVC_BACKUP_EVERY: "1s" };
    const server = await startProcess(["--data-dir", join(dir.path, "data")], { env });
    await until(() => / error backup/.test(server.stderr()));
    expect((await fetch(`${local(server)}/healthz`)).status).toBe(200);
    await Bun.file(place).delete();
    await until(() => exists(join(place, "latest")));
    await server.end();
  });
});

test("a folder that had backups and has none is taken for a disk that is not mounted, until somebody begins anew there", async () => {
  await using dir = await temporaryFolder();
  const place = join(dir.path, "disk");
  const env = { SVC_BACKUP: place, SVC_BACKUP_EVERY: "1s" };
  const server = await startProcess(["--data-dir", join(dir.path, "data")], { env });
  await until(() => exists(join(place, "latest")));
  await rm(place, { recursive: true, force: true });
  await until(() =>
    server.stderr().includes(`There were backups in ${place}, and there is none: is its disk mounted?`),
  );
  expect(await exists(place)).toBe(false);
  await mkdir(join(place, "snapshots"), { recursive: true });
  await until(() => exists(join(place, "latest")));
  await server.end();
});

describe("into a bucket", () => {
  test("the second sends nothing that is there; --list shows them, --keep removes, and what only they had goes after an hour", async () => {
    await using server = await startServer();
    using bucket = startBucket();
    const back = (...argv: string[]) => operator(server.data_dir, argv, { env: bucket.env });
    const site = await server.deploy({ "index.html": "first" });
    const one = await back("backup", PLACE);
    expect([one.code, one.stdout.trim()]).toEqual([0, expect.stringMatching(NAME)]);
    bucket.requests.length = 0;
    await Bun.sleep(1_100); // names differ by the second
    const two = await back("backup", PLACE);
    expect(bucket.requests.filter((line) => line.startsWith("PUT svc/blobs/"))).toEqual([]);
    const listed = await back("backup", "--list", PLACE, "--json");
    const { snapshots } = JSON.parse(listed.stdout) as { snapshots: { name: string }[] };
    expect(snapshots.map(({ name }) => name)).toEqual([one, two].map(({ stdout }) => stdout.trim()).toSorted());

    const first_blobs = [...bucket.objects.keys()].filter((key) => BLOB.test(key.replace("svc/", "")));
    await server.redeploy(site, { "index.html": "second" });
    await operator(server.data_dir, ["delete", site.slug]);
    await server.deploy({ "index.html": "third" });
    expect((await back("backup", PLACE, "--keep", "1")).code).toBe(0);
    expect(first_blobs.every((key) => bucket.objects.has(key))).toBe(true); // younger than an hour
    for (const key of first_blobs) bucket.objects.get(key)!.at -= 2 * 3_600_000;
    expect((await back("backup", PLACE, "--keep", "1")).code).toBe(0);
    expect(first_blobs.filter((key) => bucket.objects.has(key))).toEqual([]);
  });

  test("B4 a snapshot that stays keeps what it names, however old, also where a newer one does not name it", async () => {
    await using server = await startServer();
    await using dir = await temporaryFolder();
    using bucket = startBucket();
    const back = (...argv: string[]) => operator(server.data_dir, argv, { env: bucket.env });
    const site = await server.deploy({ "index.html": "only in the first" });
    const first = (await back("backup", PLACE)).stdout.trim();
    for (const object of bucket.objects.values()) object.at -= 2 * 3_600_000;
    await operator(server.data_dir, ["delete", site.slug]);
    await Bun.sleep(1_100); // names differ by the second
    expect((await back("backup", PLACE, "--keep", "2")).code).toBe(0);
    const data_dir = join(dir.path, "data");
    expect((await operator(data_dir, ["restore", `${PLACE}@${first}`], { env: bucket.env })).code).toBe(0);
    await using restored = await serverOn(data_dir);
    expect(await (await restored.site(site.slug)).text()).toContain("only in the first");
  });

  test.each(["svc/blobs/", "svc/snapshots/", "svc/latest"])(
    "B2 kill -9 while %s is sent leaves the last good one whole, and the next one ends well",
    async (where) => {
      await using server = await startServer();
      await using dir = await temporaryFolder();
      using bucket = startBucket();
      const site = await server.deploy({ "index.html": "good" });
      const good = (await operator(server.data_dir, ["backup", PLACE], { env: bucket.env })).stdout.trim();
      await server.redeploy(site, { "index.html": "better" });
      const reached = Promise.withResolvers<void>();
      bucket.before = async (method, key) => {
        if (method !== "PUT" || !key.startsWith(where)) return undefined;
        reached.resolve();
        await Bun.sleep(60_000);
      };
      const child = Bun.spawn([...SVC_SERVER, "backup", PLACE, "--data-dir", server.data_dir], {
        env: { PATH: process.env["PATH"] ?? "", ...bucket.env },
        stdio: ["ignore", "ignore", "ignore"],
      });
      await reached.promise;
      child.kill("SIGKILL");
      await child.exited;
      bucket.before = () => undefined;
      const latest = Buffer.from(bucket.objects.get("svc/latest")!.bytes).toString().trim();
      expect(latest).toBe(good);
      const data_dir = join(dir.path, "data");
      const { code } = await operator(data_dir, ["restore", PLACE], { env: bucket.env });
      expect(code).toBe(0);
      await using restored = await serverOn(data_dir);
      expect(await (await restored.site(site.slug)).text()).toContain("good");
      const next = await operator(server.data_dir, ["backup", PLACE], { env: bucket.env });
      expect([next.code, next.stdout.trim()]).toEqual([0, expect.stringMatching(NAME)]);
      expect(Buffer.from(bucket.objects.get("svc/latest")!.bytes).toString().trim()).toBe(next.stdout.trim());
    },
  );

  test("what fails twice is tried a third time; what a bucket refuses is said at once, without a key", async () => {
    await using server = await startServer();
    using bucket = startBucket();
    await server.deploy({ "index.html": "x" });
    let failures = 2;
    bucket.before = (method) =>
      method === "PUT" && failures-- > 0 ? new Response("busy", { status: 503 }) : undefined;
    expect((await operator(server.data_dir, ["backup", PLACE], { env: bucket.env })).code).toBe(0);
    await server.deploy({ "index.html": "y" });
    bucket.before = (method) =>
      method === "PUT" ? new Response("<Error><Code>AccessDenied</Code></Error>", { status: 403 }) : undefined;
    const refused = await operator(server.data_dir, ["backup", PLACE], { env: bucket.env });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(
      /s3:\/\/bucket\/svc could not be asked to keep blobs\/\S+: it answered 403 AccessDenied\./,
    );
    expect(refused.stderr).not.toContain(bucket.env["AWS_SECRET_ACCESS_KEY"]!);
  });

  test("two at once: the second says that another is under way", async () => {
    await using server = await startServer();
    using bucket = startBucket();
    await server.deploy({ "index.html": "x" });
    const held = Promise.withResolvers<undefined>();
    const reached = Promise.withResolvers<void>();
    bucket.before = (method) => (method === "PUT" ? (reached.resolve(), held.promise) : undefined);
    const first = operator(server.data_dir, ["backup", PLACE], { env: bucket.env });
    await reached.promise;
    const second = await operator(server.data_dir, ["backup", PLACE], { env: bucket.env });
    expect([second.code, second.stderr]).toEqual([1, expect.stringContaining("Another backup")]);
    held.resolve(undefined);
    expect((await first).code).toBe(0);
  });

  test("a file that is damaged here is not sent and is named; one that is damaged there comes back as none", async () => {
    await using server = await startServer();
    await using dir = await temporaryFolder();
    using bucket = startBucket();
    await server.deploy({ "index.html": "whole", "b.txt": "to be damaged" });
    const blobs = join(server.data_dir, "blobs");
    const paths = (await readdir(blobs, { recursive: true })).filter((name) => name.length > 60);
    const damaged = (
      await Promise.all(paths.map(async (name) => [name, await readFile(join(blobs, name), "utf8")]))
    ).find(([, text]) => text === "to be damaged")![0]!;
    await writeFile(join(blobs, damaged), "has been harmed");
    const taken = await operator(server.data_dir, ["backup", PLACE], { env: bucket.env });
    expect([taken.code, taken.stderr]).toEqual([
      1,
      expect.stringContaining(`blob ${damaged.slice(3)} is missing or damaged`),
    ]);
    expect(bucket.objects.has(`svc/blobs/${damaged}`)).toBe(false);

    const other = [...bucket.objects.keys()].find((key) => BLOB.test(key.replace("svc/", "")))!;
    bucket.objects.get(other)!.bytes = Buffer.from("changed");
    const back = await operator(join(dir.path, "data"), ["restore", PLACE], { env: bucket.env });
    expect([back.code, back.stdout]).toEqual([1, expect.stringContaining(`blob ${other.slice(-64)} is missing`)]);
    const snapshot = [...bucket.objects.keys()].find((key) => key.endsWith(".db.zst"))!;
    bucket.objects.get(snapshot)!.bytes = Buffer.from("changed");
    const refused = await operator(join(dir.path, "more"), ["restore", PLACE], { env: bucket.env });
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining("is damaged: it does not match its name"),
    ]);
  });
});

describe("what is written wrongly is told, and makes no folder", () => {
  test.each([
    [["backup", "s3://"], {}, "names no bucket"],
    [["backup", "s3:/bucket"], {}, "names no bucket"],
    [["backup", PLACE], {}, "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be set"],
    [["backup", "folder", "--keep", "2"], {}, "--keep is for s3://bucket/prefix"],
    [["backup", PLACE, "--keep", "0"], {}, "--keep takes how many snapshots stay"],
    [["backup", PLACE, "--link"], {}, "--link is for a whole copy in a folder of this machine"],
    [["backup"], {}, "Name a place, a new folder or s3://bucket/prefix, or set SVC_BACKUP."],
    [["backup", "--list"], {}, "Name a place"],
    [["backup", "folder", "--json"], {}, "--json is for --list"],
    [
      ["restore", PLACE],
      { AWS_ACCESS_KEY_ID: "k", AWS_SECRET_ACCESS_KEY: "s", SVC_S3_ENDPOINT: "http://127.0.0.1:1" },
      "it does not answer",
    ],
  ] as [string[], Record<string, string>, string][])("%j", async (argv, env, says) => {
    await using server = await startServer();
    await using dir = await temporaryFolder();
    const data_dir = argv[0] === "restore" ? join(dir.path, "data") : server.data_dir;
    const { code, stderr } = await operator(data_dir, argv, { env });
    expect([code, stderr]).toEqual([1, expect.stringContaining(says)]);
    expect(await exists("s3:")).toBe(false);
  });

  test("doctor writes to the place, reads it back and tells the last backup's age", async () => {
    await using server = await startServer();
    using bucket = startBucket();
    const env = { ...bucket.env, SVC_BACKUP: PLACE };
    const row = async (more = {}): Promise<string> => {
      const { stdout } = await operator(server.data_dir, ["doctor", "--json"], { env: { ...env, ...more } });
      const rows = JSON.parse(stdout) as { check: string; status: string; message: string }[];
      const { status, message } = rows.find(({ check }) => check === "backups")!;
      return `${status}: ${message}`;
    };
    expect(await row()).toContain(`warn: There is no backup in ${PLACE} yet`);
    await operator(server.data_dir, ["backup", PLACE], { env });
    expect(await row()).toContain("ok: The last backup");
    expect([...bucket.objects.keys()].filter((key) => key.endsWith("probe"))).toEqual([]);
    bucket.before = (method) => (method === "PUT" ? new Response("", { status: 403 }) : undefined);
    expect(await row()).toContain("fail: ");
    expect(await row({ SVC_BACKUP: "" })).toContain("skip: ");
  });
});

test("without a place it is SVC_BACKUP's, folder or bucket: one is made there now, and --list shows it", async () => {
  await using server = await startServer();
  await using dir = await temporaryFolder();
  using bucket = startBucket();
  const folder = join(dir.path, "disk");
  for (const [place, more] of [
    [folder, {}],
    [PLACE, bucket.env],
  ] as const) {
    const env = { ...more, SVC_BACKUP: place };
    const made = await operator(server.data_dir, ["backup"], { env });
    expect([made.code, made.stderr]).toEqual([0, expect.stringContaining(` to ${place}`)]);
    expect(made.stdout.trim()).toMatch(NAME);
    const listed = await operator(server.data_dir, ["backup", "--list", "--json"], { env });
    expect((JSON.parse(listed.stdout) as { snapshots: { name: string }[] }).snapshots.map(({ name }) => name)).toEqual([
      made.stdout.trim(),
    ]);
  }
  await rm(folder, { recursive: true });
  const unmounted = await operator(server.data_dir, ["backup"], { env: { SVC_BACKUP: folder } });
  expect([unmounted.code, unmounted.stderr]).toEqual([1, expect.stringContaining("is its disk mounted?")]);
  expect(await exists(folder)).toBe(false);
});

test("a folder with snapshots is one, and a half file in it is none", async () => {
  await using dir = await temporaryFolder();
  const place = join(dir.path, "place");
  const env = { SVC_BACKUP: place, SVC_BACKUP_EVERY: "1s", SVC_BACKUP_KEEP: "1" };
  const server = await startProcess(["--data-dir", join(dir.path, "data")], { env });
  await deploy(server, "x");
  await until(async () => (await snapshotsIn(place)).length > 0 && (await readdir(join(place, "blobs"))).length > 0);
  await writeFile(join(place, "snapshots", ".new-abc"), "half");
  await utimes(join(place, "snapshots", ".new-abc"), 1, 1);
  await server.end();
  const { stdout } = await operator(join(dir.path, "data"), ["backup", "--list", place]);
  expect(
    stdout
      .trim()
      .split("\n")
      .every((line) => NAME.test(line.split("  ")[2]!)),
  ).toBe(true);
});
