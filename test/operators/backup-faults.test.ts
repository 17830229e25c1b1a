/** Backups off the box where somebody or something is at fault: the place, the clock, the keys, the operator (RELIABILITY 2,
 *  B1 to B4). */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmod, mkdir, readdir, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { startBucket } from "../kit/bucket.ts";
import { operate, operator } from "../kit/operator.ts";
import { startProcess, temporaryFolder } from "../kit/process.ts";
import { startServer, TestServer, UNLIMITED } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { longTest } from "../kit/whole.ts";
import { exists, serverOn } from "./backups.ts";

setDefaultTimeout(60_000);

const PLACE = "s3://bucket/svc";
const SECOND = 1_100; // names differ by the second
const LONG_AGO_MS = 2 * 3_600_000;

const snapshotsIn = async (folder: string): Promise<string[]> =>
  (await readdir(join(folder, "snapshots")).catch(() => [])).filter((name) => name.endsWith(".db.zst")).toSorted();

describe("a folder that is something else is never written to", () => {
  test.each([
    ["a link to it", ({ link }: Folders) => link],
    ["a folder behind such a link", ({ link }: Folders) => join(link, "..backups")],
    ["the data directory of another server", ({ other }: Folders) => other],
    ["a whole copy", ({ copy }: Folders) => copy],
  ])("%s", async (_, choose) => {
    await using dir = await temporaryFolder();
    const folders: Folders = {
      data: join(dir.path, "data"),
      link: join(dir.path, "link"),
      other: join(dir.path, "other"),
      copy: join(dir.path, "copy"),
    };
    await using other = new TestServer(folders.other);
    await other.start([]);
    await other.deploy({ "index.html": "x" });
    await operate(folders.other, "backup", folders.copy);
    await symlink(folders.data, folders.link);
    const place = choose(folders);
    const server = await startProcess(["--data-dir", folders.data], {
      env: { SVC_BACKUP: place, SVC_BACKUP_EVERY: "1s" },
    });
    await until(() => / error backup/.test(server.stderr()));
    expect(server.stderr()).toMatch(/ error backup: .*name another folder/);
    const { stdout } = await operator(folders.data, ["doctor", "--json"], { env: { SVC_BACKUP: place } });
    const row = (JSON.parse(stdout) as { check: string; status: string; message: string }[]).find(
      ({ check }) => check === "backups",
    )!;
    expect([row.status, row.message]).toEqual(["fail", expect.stringContaining("name another folder")]);
    for (const name of ["latest", "snapshots"]) expect(await exists(join(place, name))).toBe(false);
    await server.end();
  });

  test.each(["", "/backups", "/..backups"])("in the data directory itself%s: no start", async (below) => {
    await using dir = await temporaryFolder();
    const env = { SVC_BACKUP: `${dir.path}/data${below}` };
    const { code, stderr } = await operator(join(dir.path, "data"), ["serve", "--port", "0"], { env });
    expect([code, stderr]).toEqual([2, expect.stringContaining("SVC_BACKUP lies in the data directory")]);
  });

  interface Folders {
    data: string;
    link: string;
    other: string;
    copy: string;
  }
});

test.each(["https://bucket.example/x", "S3://bucket/x", "sftp://host/x", "s3://bucket/../other"])(
  "%s is no folder: nothing is made of that name",
  async (place) => {
    await using server = await startServer();
    const env = { AWS_ACCESS_KEY_ID: "k", AWS_SECRET_ACCESS_KEY: "s", SVC_S3_ENDPOINT: "http://127.0.0.1:1" };
    const { code, stderr } = await operator(server.data_dir, ["backup", place], { env });
    expect([code, stderr]).toEqual([1, expect.stringContaining("names no bucket")]);
    expect(await exists(place.split("/")[0]!)).toBe(false);
  },
);

test("a folder's relative name means one folder to the server and to commands", async () => {
  await using dir = await temporaryFolder();
  const env = { SVC_BACKUP: "elsewhere", SVC_BACKUP_EVERY: "1s" };
  const server = await startProcess(["--data-dir", join(dir.path, "data")], { env, cwd: dir.path });
  await until(() => exists(join(dir.path, "elsewhere", "latest")));
  await server.end();
});

describe("clocks", () => {
  test("B4 snapshots of a clock that ran ahead do not push out the one that is taken now", async () => {
    await using server = await startServer();
    await using dir = await temporaryFolder();
    using bucket = startBucket();
    const future = `svc/snapshots/20990101T000000Z-${"f".repeat(64)}`;
    for (const end of [".db.zst", ".blobs.zst"])
      bucket.objects.set(future + end, { bytes: Bun.zstdCompressSync(Buffer.alloc(32)), at: Date.now() });
    const site = await server.deploy({ "index.html": "now" });
    const taken = (await operator(server.data_dir, ["backup", PLACE, "--keep", "1"], { env: bucket.env })).stdout;
    const kept = [...bucket.objects.keys()].filter((key) => key.endsWith(".db.zst"));
    expect(kept).toEqual([`svc/snapshots/${taken.trim()}.db.zst`]);
    const data_dir = join(dir.path, "data");
    expect((await operator(data_dir, ["restore", PLACE], { env: bucket.env })).code).toBe(0);
    await using restored = await serverOn(data_dir);
    expect(await (await restored.site(site.slug)).text()).toContain("now");
  });

  test("a server whose clock ran ahead by a year, and was put right, makes backups again", async () => {
    await using dir = await temporaryFolder();
    const place = join(dir.path, "place");
    await using server = new TestServer(join(dir.path, "data"));
    const year_ms = 366 * 86_400_000;
    server.advance(year_ms);
    await server.start([{ ...UNLIMITED, SVC_BACKUP: place, SVC_BACKUP_EVERY: "1s" }]);
    await until(async () => (await snapshotsIn(place)).length > 0);
    server.advance(-year_ms);
    const today = new Date().toISOString().slice(0, 4);
    await until(async () => (await snapshotsIn(place)).some((name) => name.startsWith(today)));
  });
});

describe("a bucket in which others have files, and which does not always tell the truth", () => {
  test("B4 files that are no blobs stay, whatever their age, and none passes for a blob", async () => {
    await using server = await startServer();
    using bucket = startBucket();
    await server.deploy({ "index.html": "x" });
    await operator(server.data_dir, ["backup", PLACE], { env: bucket.env });
    const blob = [...bucket.objects.keys()].find((key) => key.startsWith("svc/blobs/"))!;
    const { bytes } = bucket.objects.get(blob)!;
    bucket.objects.delete(blob);
    const others = [`${dirname(blob)}/notes.txt`, blob.replace(/\/(?=[^/]*$)/, "/deeper/"), "svc/snapshots/readme"];
    for (const key of others) bucket.objects.set(key, { bytes, at: Date.now() - LONG_AGO_MS });
    expect((await operator(server.data_dir, ["backup", PLACE, "--keep", "1"], { env: bucket.env })).code).toBe(0);
    expect([blob, ...others].filter((key) => !bucket.objects.has(key))).toEqual([]);
  });

  test("B4 a list of the snapshots that does not name the one just taken is not believed", async () => {
    await using server = await startServer();
    using bucket = startBucket();
    const site = await server.deploy({ "index.html": "only in the first" });
    await operator(server.data_dir, ["backup", PLACE], { env: bucket.env });
    const first = [...bucket.objects.keys()].filter((key) => key.startsWith("svc/blobs/"));
    for (const object of bucket.objects.values()) object.at -= LONG_AGO_MS;
    await operate(server.data_dir, "delete", site.slug);
    await Bun.sleep(SECOND);
    bucket.before = (method, key) =>
      method === "GET" && key === "svc/snapshots/"
        ? new Response("<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>")
        : undefined;
    const second = await operator(server.data_dir, ["backup", PLACE, "--keep", "5"], { env: bucket.env });
    expect(first.filter((key) => !bucket.objects.has(key))).toEqual([]);
    expect([second.code, second.stderr]).toEqual([1, expect.stringContaining("nothing was removed")]);
  });

  test("B4 keys that may not remove: the backup is made and named, and what stays is told", async () => {
    await using server = await startServer();
    using bucket = startBucket();
    await server.deploy({ "index.html": "x" });
    await operator(server.data_dir, ["backup", PLACE], { env: bucket.env });
    await Bun.sleep(SECOND);
    bucket.before = (method) =>
      method === "DELETE" ? new Response("<Error><Code>AccessDenied</Code></Error>", { status: 403 }) : undefined;
    const { code, stdout, stderr } = await operator(server.data_dir, ["backup", PLACE, "--keep", "1"], {
      env: bucket.env,
    });
    expect(bucket.objects.has(`svc/snapshots/${stdout.trim()}.db.zst`)).toBe(true);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/is made.*403 AccessDenied/)]);
    const env = { ...bucket.env, SVC_BACKUP: PLACE, SVC_BACKUP_EVERY: "1s", SVC_BACKUP_KEEP: "1" };
    const doctor = await operator(server.data_dir, ["doctor"], { env });
    expect(doctor.stdout).toMatch(/warn\s+backups\s.*403 AccessDenied.*Older backups stay/);
    await using dir = await temporaryFolder();
    const scheduled = await startProcess(["--data-dir", join(dir.path, "data")], { env });
    await until(() => / backup \d{8}T\d{6}Z-/.test(scheduled.stderr()) && /AccessDenied/.test(scheduled.stderr()));
    await scheduled.end();
  });

  test("B4 more files than one page of a list has are all seen", async () => {
    await using server = await startServer();
    using bucket = startBucket();
    await server.deploy({ "index.html": "x" });
    for (let n = 0; n < 2_100; n++) {
      const key = `svc/blobs/ab/ab${n.toString(16).padStart(62, "0")}`;
      bucket.objects.set(key, { bytes: Buffer.from("x"), at: Date.now() - LONG_AGO_MS });
    }
    expect((await operator(server.data_dir, ["backup", PLACE, "--keep", "1"], { env: bucket.env })).code).toBe(0);
    expect([...bucket.objects.keys()].filter((key) => key.startsWith("svc/blobs/ab/ab0"))).toEqual([]);
  });

  test("B2 a server that is ended in the middle of a backup ends at once, and the next start makes it; two workers make one", async () => {
    await using dir = await temporaryFolder();
    using bucket = startBucket();
    const env = { ...bucket.env, SVC_BACKUP: PLACE };
    const flags = ["--data-dir", join(dir.path, "data"), "--workers", "2"];
    const reached = Promise.withResolvers<void>();
    bucket.before = async (method) => {
      if (method !== "PUT") return undefined;
      reached.resolve();
      await Bun.sleep(60_000);
    };
    const first = await startProcess(flags, { env: { ...env, SVC_BACKUP_EVERY: "2s" } });
    await reached.promise;
    const began = performance.now();
    first.kill("SIGTERM");
    expect(await first.exited).toBe(0);
    expect(performance.now() - began).toBeLessThan(10_000);
    bucket.before = () => undefined;
    const second = await startProcess(flags, { env: { ...env, SVC_BACKUP_EVERY: "3s" } });
    await until(() => bucket.objects.has("svc/latest"));
    await Bun.sleep(500);
    expect([...bucket.objects.keys()].filter((key) => key.endsWith(".db.zst"))).toHaveLength(1);
    await second.end();
  });

  test("B3 what a list is refused for is said at once, and by its name", async () => {
    await using server = await startServer();
    using bucket = startBucket();
    let asked = 0;
    bucket.before = () => (asked++, new Response("<Error><Code>RequestTimeTooSkewed</Code></Error>", { status: 403 }));
    const { stderr } = await operator(server.data_dir, ["backup", PLACE], { env: bucket.env });
    expect([stderr, asked]).toEqual([expect.stringContaining("RequestTimeTooSkewed"), 1]);
    const env = { ...bucket.env, SVC_S3_ENDPOINT: "http://127.0.0.1:1" };
    expect((await operator(server.data_dir, ["backup", PLACE], { env })).stderr).toMatch(
      /does not answer \(\w*Refused\)/i,
    );
  });

  longTest(
    "B3 a restore takes as long as bytes come, over half a minute too",
    async () => {
      await using server = await startServer();
      await using dir = await temporaryFolder();
      using bucket = startBucket();
      await server.deploy({ "index.html": "x" });
      await operator(server.data_dir, ["backup", PLACE], { env: bucket.env });
      bucket.before = (method, key) => {
        if (method !== "GET" || !key.endsWith(".db.zst")) return undefined;
        const { bytes } = bucket.objects.get(key)!;
        const piece = Math.ceil(bytes.length / 20);
        async function* slowly() {
          for (let at = 0; at < bytes.length; at += piece) {
            yield bytes.slice(at, at + piece);
            await Bun.sleep(1_800);
          }
        }
        return new Response(slowly());
      };
      const back = await operator(join(dir.path, "data"), ["restore", PLACE], { env: bucket.env });
      expect([back.code, back.stderr]).toEqual([0, expect.stringContaining("0 faults")]);
    },
    120_000,
  );

  longTest("a bucket that refuses each time is asked less and less often", async () => {
    await using dir = await temporaryFolder();
    using bucket = startBucket();
    let asked = 0;
    bucket.before = () => (asked++, new Response("<Error><Code>AccessDenied</Code></Error>", { status: 403 }));
    const env = { ...bucket.env, SVC_BACKUP: PLACE, SVC_BACKUP_EVERY: "1s" };
    const server = await startProcess(["--data-dir", join(dir.path, "data")], { env });
    await until(() => asked > 0);
    await Bun.sleep(9_000);
    expect(asked).toBeLessThanOrEqual(5);
    expect(asked).toBeGreaterThan(1);
    await server.end();
  });
});

describe("a folder", () => {
  test("what is written there is this user's alone", async () => {
    await using dir = await temporaryFolder();
    const place = join(dir.path, "place");
    const env = { SVC_BACKUP: place, SVC_BACKUP_EVERY: "1h" };
    await using server = await startServer();
    await server.deploy({ "index.html": "x" });
    const blobs = (await readdir(join(server.data_dir, "blobs"), { recursive: true })).filter((one) => one.length > 60);
    for (const name of blobs) await chmod(join(server.data_dir, "blobs", name), 0o644);
    await server.stop();
    const scheduled = await startProcess(["--data-dir", server.data_dir], { env: { ...env, SVC_BACKUP_EVERY: "1s" } });
    await until(() => exists(join(place, "latest")));
    await scheduled.end();
    const modes = await Promise.all(
      (await readdir(place, { recursive: true })).map(async (name) => {
        const found = await stat(join(place, name));
        return [name, (found.mode & 0o777).toString(8), found.isDirectory() ? "700" : "600"] as const;
      }),
    );
    expect(modes.filter(([, mode, wanted]) => mode !== wanted)).toEqual([]);
  });

  test("what backups that were cut short have left goes with a later one, there and here", async () => {
    await using dir = await temporaryFolder();
    const [place, data] = [join(dir.path, "place"), join(dir.path, "data")];
    const env = { SVC_BACKUP: place, SVC_BACKUP_EVERY: "1s" };
    await mkdir(join(place, "blobs", "ab"), { recursive: true });
    await mkdir(join(place, "snapshots"), { recursive: true });
    const halves = [join(place, "blobs", "ab", ".new-abc"), join(place, "snapshots", ".new-abc")];
    for (const half of halves) {
      await writeFile(half, "half");
      await utimes(half, 1, 1);
    }
    const server = await startProcess(["--data-dir", data], { env });
    const copy = join(data, "tmp", "backup-abc.db");
    await writeFile(copy, "of a backup that was killed");
    await until(async () => (await snapshotsIn(place)).length > 1);
    for (const half of [...halves, copy]) expect([half, await exists(half)]).toEqual([half, false]);
    await server.end();
  });

  test("one without snapshots is said to have none, and --list makes no folder", async () => {
    await using dir = await temporaryFolder();
    const list = (place: string) => operator(join(dir.path, "data"), ["backup", "--list", place, "--json"]);
    const typed = join(dir.path, "misspelt");
    const missing = await list(typed);
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining(`There is no folder ${typed}.`)]);
    expect(await exists(typed)).toBe(false);
    const { code, stdout, stderr } = await list(dir.path);
    expect([code, JSON.parse(stdout)]).toEqual([0, { snapshots: [] }]);
    expect(stderr).toContain(`There is no snapshot in ${dir.path}`);
  });

  test("one that takes no file is named, with the reason", async () => {
    await using dir = await temporaryFolder();
    const place = join(dir.path, "place");
    await mkdir(place);
    await writeFile(join(place, "snapshots"), "a file where a folder belongs");
    const env = { SVC_BACKUP: place, SVC_BACKUP_EVERY: "1s" };
    const server = await startProcess(["--data-dir", join(dir.path, "data")], { env });
    await until(() => / error backup/.test(server.stderr()));
    expect(server.stderr()).toMatch(/ error backup: \S+\/place could not keep snapshots\/\S+: E(EXIST|NOTDIR)/);
    await server.end();
  });

  test("B2 a first snapshot is one before there is the word which is the latest", async () => {
    await using dir = await temporaryFolder();
    const place = join(dir.path, "place");
    const server = await startProcess(["--data-dir", join(dir.path, "data")], {
      env: { SVC_BACKUP: place, SVC_BACKUP_EVERY: "1s" },
    });
    await until(() => exists(join(place, "latest")));
    await server.end();
    await Bun.file(join(place, "latest")).delete();
    expect((await operator(join(dir.path, "back"), ["restore", place])).code).toBe(0);
  });
});
