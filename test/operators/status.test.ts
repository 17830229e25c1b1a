/** CONTRACT 7.3, 7.4: `status` shows how the server is on one screen, and each hour's busiest hosts are a record of the log. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { statSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import packageJson from "../../package.json";
import {
  bulletinBoard,
  createTraffic,
  errorsOf,
  hourOf,
  readBulletins,
  trafficOf,
  withoutSecrets,
} from "../../src/run/bulletin.ts";
import { certificateFor, pairFiles } from "../kit/certificate.ts";
import { write } from "../kit/database.ts";
import { blobFile, operator } from "../kit/operator.ts";
import { ROOT } from "../kit/paths.ts";
import { ended, local, type ServerProcess, sharedPages, startProcess, temporaryFolder } from "../kit/process.ts";
import { ZIP } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { zipOf } from "../kit/zip.ts";

setDefaultTimeout(60_000);

interface Status {
  running: boolean;
  traffic: { hour: string; hosts: { host: string; bytes: number }[] }[];
  errors: { at: string; message: string }[];
  certificate_ends_at: string | null;
  last_sweep_at: string | null;
  last_verify_at: string | null;
}

const statusOf = async (data_dir: string): Promise<Status> =>
  JSON.parse((await operator(data_dir, ["status", "--json"])).stdout) as Status;

async function deploy(server: ServerProcess, text: string): Promise<{ slug: string; site_id: string }> {
  const body = zipOf({ "index.html": text });
  const answer = await fetch(`${local(server)}/sites`, { method: "POST", headers: ZIP, body });
  return (await answer.json()) as { slug: string; site_id: string };
}

/** Bytes of a page as it is sent. */
async function ask(server: ServerProcess, slug: string): Promise<number> {
  const headers = { host: `${slug}.localhost:${server.port}`, "accept-encoding": "identity", connection: "close" };
  const answer = await fetch(`${local(server)}/`, { headers });
  expect(answer.status).toBe(200);
  return (await answer.arrayBuffer()).byteLength;
}

const bytesOf = ({ traffic }: Status, slug: string): number =>
  traffic
    .flatMap(({ hosts }) => hosts)
    .reduce((sum, { host, bytes }) => (host === `${slug}.localhost` ? sum + bytes : sum), 0);

describe("beside a running server", () => {
  test("--json has all of it, and exit code 0", async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path], { env: { SVC_GC_INTERVAL: "1s" } });
    await deploy(server, "<title>x</title>");
    await until(async () => (await statusOf(dir.path)).last_verify_at !== null, 500);
    const { code, stdout } = await operator(dir.path, ["status", "--json"]);
    const queue = { waiting: 0, oldest_seconds: null };
    const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(JSON.parse(stdout)).toEqual({
      running: true,
      version: packageJson.version,
      up_since: instant,
      processes: 1,
      address: server.base_url,
      data_dir: dir.path,
      disk: { free_bytes: expect.any(Number), used_percent: expect.any(Number), database_bytes: expect.any(Number) },
      sites: { live: 1, frozen: 0, disabled: 0, expired: 0, versions: 1 },
      queues: {
        deploys: { slots: expect.any(Number), running: 0, ...queue },
        codings: queue,
        renders: queue,
        webhooks: queue,
      },
      last_sweep_at: instant,
      last_verify_at: instant,
      last_backup_at: null,
      certificate_ends_at: null,
      open_reports: 0,
      quarantined: 0,
      notices: null,
      traffic: [
        { hour: expect.stringMatching(/:00:00\.000Z$/), hosts: expect.any(Array) },
        { hour: expect.stringMatching(/:00:00\.000Z$/), hosts: expect.any(Array) },
      ],
      errors: [],
    });
    expect(code).toBe(0);
    await server.end();
  });

  test("the screen says it in words; a site that was asked for is among the busiest hosts", async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path]);
    const { slug } = await deploy(server, "x".repeat(5000));
    await ask(server, slug);
    await until(async () => bytesOf(await statusOf(dir.path), slug) > 0, 300);
    const { code, stdout } = await operator(dir.path, ["status"]);
    expect(code).toBe(0);
    expect(stdout).toContain(`svc-server ${packageJson.version}, up since `);
    expect(stdout).toMatch(/^Sites +1 live; 1 version$/m);
    expect(stdout).toMatch(/^Deploys +0 of \d+ slots busy, none waiting$/m);
    expect(stdout).toMatch(/^Last backup +none$/m);
    expect(stdout).toMatch(/^Certificate +none: the server speaks HTTP$/m);
    expect(stdout).toMatch(new RegExp(`^Busiest hosts [\\s\\S]*KB  ${slug}\\.localhost$`, "m"));
    expect(stdout).toContain("No error since the start.");
    await server.end();
  });

  test.skipIf(process.platform !== "linux")("what several processes counted is added up", async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path, "--workers", "2"]);
    const [busy, quiet] = [await deploy(server, "b".repeat(3000)), await deploy(server, "quiet")];
    let sent = 0;
    for (let n = 0; n < 40; n++) sent += await ask(server, busy.slug);
    const little = await ask(server, quiet.slug);
    let status = await statusOf(dir.path);
    await until(async () => {
      status = await statusOf(dir.path);
      return bytesOf(status, busy.slug) >= sent && bytesOf(status, quiet.slug) >= little;
    }, 300);
    expect([bytesOf(status, busy.slug), bytesOf(status, quiet.slug)]).toEqual([sent, little]);
    expect(status).toMatchObject({ running: true, processes: 2 });
    await server.end();
  });

  test("what waits is told with the age of its oldest, and what is to be judged", async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path]);
    const { slug, site_id } = await deploy(server, "reported");
    const headers = { host: `${slug}.localhost:${server.port}`, "content-type": "application/json" };
    const body = JSON.stringify({ reason: "spam" });
    expect((await fetch(`${local(server)}/_svc/report`, { method: "POST", headers, body })).status).toBe(202);
    const hour_ago = Date.now() - 3_600_000;
    write(
      dir.path,
      "insert into webhook_outbox (id, site_id, type, comment_no, created_at) values ('msg_1', ?, 'thread.created', 1, ?)",
      site_id,
      new Date(hour_ago).toISOString(),
    );
    write(
      dir.path,
      "insert into renders (version_no, site_id, status, asked_at) select version_no, site_id, 'pending', ? from versions",
      hour_ago + 1_800_000,
    );
    const { queues, ...status } = JSON.parse((await operator(dir.path, ["status", "--json"])).stdout) as {
      queues: Record<string, { waiting: number; oldest_seconds: number }>;
    };
    expect(status).toMatchObject({ open_reports: 1, quarantined: 0 });
    expect([queues.webhooks!.waiting, queues.renders!.waiting]).toEqual([1, 1]);
    expect(queues.webhooks!.oldest_seconds).toBeGreaterThanOrEqual(3600);
    expect(queues.renders!.oldest_seconds).toBeGreaterThanOrEqual(1800);
    expect(queues.renders!.oldest_seconds).toBeLessThan(3600);
    const { stdout } = await operator(dir.path, ["status"]);
    expect(stdout).toMatch(/^Webhooks +1 waiting, the first for 1 h$/m);
    expect(stdout).toMatch(/^Renders +1 waiting, the first for 30 min$/m);
    expect(stdout).toMatch(/^To judge +1 open report, 0 sites in quarantine \(svc-server reports\)$/m);
    await server.end();
  });

  test.each(process.platform === "linux" ? [1, 2] : [1])(
    "the last errors are there with SVC_LOG=off too, for this user alone, each once: %p processes",
    async (n) => {
      await using dir = await temporaryFolder();
      const flags = ["--data-dir", dir.path, "--log", "off", "--workers", String(n)];
      let server = await startProcess(flags);
      await deploy(server, "a page that goes");
      await ended(server, "SIGTERM");
      unlinkSync(blobFile(dir.path, "a page that goes"));
      server = await startProcess(flags);
      await until(async () => (await statusOf(dir.path)).errors.length > 0, 300);
      await Bun.sleep(1500); // another process would tell of it in the same second
      const { errors } = await statusOf(dir.path);
      expect(errors).toEqual([
        { at: expect.any(String), message: expect.stringMatching(/^blob missing: [0-9a-f]{64} /) },
      ]);
      for (const page of sharedPages(dir.path)) expect(statSync(page).mode & 0o777).toBe(0o600);
      expect((await operator(dir.path, ["status"])).stdout).toMatch(/^Last errors\n {2}\S+ \S+ UTC {2}blob missing: /m);
      await server.end();
    },
  );
});

describe("beside a stopped server", () => {
  test.each(["SIGTERM", "SIGKILL"] as const)(
    "after %s it says so, with what the folder tells, and exit code 1",
    async (signal) => {
      await using dir = await temporaryFolder();
      const server = await startProcess(["--data-dir", dir.path]);
      const { slug } = await deploy(server, "stays");
      await ask(server, slug);
      if (signal === "SIGTERM") await ended(server, signal);
      else await server.end();
      const { code, stdout } = await operator(dir.path, ["status"]);
      expect(code).toBe(1);
      expect(stdout).toMatch(/^No server runs on this data folder\.\n/);
      expect(stdout).toMatch(/^Sites +1 live; 1 version$/m);
      const json = await operator(dir.path, ["status", "--json"]);
      expect(json.code).toBe(1);
      expect(JSON.parse(json.stdout)).toMatchObject({ running: false, up_since: null, version: null, errors: [] });
      expect(bytesOf(JSON.parse(json.stdout) as Status, slug)).toBe(0);
    },
  );
});

test("an hour's busiest hosts are one record of the log, an hour without an answer none", async () => {
  await using dir = await temporaryFolder();
  const server = await startProcess(["--data-dir", dir.path, "--log", "json"], {
    command: [process.execPath, join(ROOT, "test/operators/moved-server.ts")],
  });
  const { slug } = await deploy(server, "p".repeat(2000));
  const began = Math.floor(Date.now() / 3_600_000) * 3_600_000;
  const sent = (await ask(server, slug)) + (await ask(server, slug));
  const records = () =>
    server
      .stderr()
      .split("\n")
      .flatMap((line) => (line.includes('"event":"traffic"') ? [JSON.parse(line) as Record<string, unknown>] : []));
  await until(async () => bytesOf(await statusOf(dir.path), slug) >= sent, 300);
  server.kill("SIGHUP");
  await until(() => records().length > 0);
  expect(records()).toMatchObject([
    { level: "info", hour: new Date(began).toISOString(), hosts: { [`${slug}.localhost`]: sent } },
  ]);
  server.kill("SIGHUP"); // nothing was asked in this hour
  await Bun.sleep(5000);
  expect(records().length).toBe(1);
  await ask(server, slug);
  await Bun.sleep(1500);
  server.kill("SIGHUP");
  await until(() => records().length > 1);
  expect(records().slice(1)).toMatchObject([{ hosts: { [`${slug}.localhost`]: sent / 2 } }]);
  await server.end();
});

describe("the certificate's end", () => {
  test("is a figure, a fact of status, and from 14 days before on an error of the log; a renewal ends that", async () => {
    await using dir = await temporaryFolder();
    const files = pairFiles(dir.path);
    const valid = (days: number) => certificateFor(["localhost", "*.localhost"], { from: Date.now() - 1000, days });
    await files.write(valid(10));
    const data_dir = join(dir.path, "data");
    const server = await startProcess(["--data-dir", data_dir, "--log", "off", ...files.flags]);
    const days = async () => {
      const answer = await fetch(`https://127.0.0.1:${server.port}/metrics`, { tls: { rejectUnauthorized: false } });
      const seconds = /^svc_certificate_expires_seconds (\S+)$/m.exec(await answer.text())?.[1];
      return seconds === undefined ? null : Math.round(Number(seconds) / 86_400);
    };
    expect(await days()).toBe(10);
    await until(() => server.stderr().includes(" error certificate: "));
    expect(server.stderr()).toMatch(/ error certificate: new connections get one that ends at \S+Z: renew it, /);
    const end = Date.parse((await statusOf(data_dir)).certificate_ends_at!);
    expect(Math.round((end - Date.now()) / 86_400_000)).toBe(10);
    await files.write(valid(90));
    server.kill("SIGHUP");
    await until(async () => (await days()) === 90, 200);
    expect((await operator(data_dir, ["status"])).stdout).toMatch(/^Certificate +ends \S+ \S+ UTC, in (89|90) days$/m);
    await server.end();
  });

  test("without one the figure is described and has no line, and an alert on it stays silent", async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path]);
    const text = await (await fetch(`${local(server)}/metrics`)).text();
    expect(text).toContain("# TYPE svc_certificate_expires_seconds gauge\n");
    expect(text).not.toMatch(/^svc_certificate_expires_seconds /m);
    await server.end();
  });
});

describe("what is counted of hosts is bounded", () => {
  test("a flood of names takes no more memory, and hides no busy host", () => {
    const traffic = createTraffic();
    const now = 5 * 3_600_000;
    traffic.hours(now);
    const busy = traffic.of("busy.example");
    busy.add(1_000_000);
    for (let n = 0; n < 200_000; n++) traffic.of(`flood-${n}.example`).add(10);
    busy.add(1_000_000); // as a shortcut does, which keeps it
    traffic.of("Busy.Example:8787").add(1);
    const [hour] = traffic.hours(now);
    expect(hour.hosts.length).toBeLessThanOrEqual(60);
    expect(hour.hosts[0]).toEqual(["busy.example", 2_000_001]);
  });

  test("a count that was forgotten begins anew, and one host is told once", () => {
    const traffic = createTraffic();
    traffic.hours(0);
    const early = traffic.of("early.example");
    early.add(1);
    for (let n = 0; n < 20_000; n++) traffic.of(`big-${n}.example`).add(1000);
    early.add(5_000_000);
    traffic.of("early.example").add(5_000_000);
    const [{ hosts }] = traffic.hours(0);
    expect(hosts[0]).toEqual(["early.example", 10_000_000]);
    const [next, last] = traffic.hours(3_600_000);
    expect([next.hosts, last.hosts[0]]).toEqual([[], ["early.example", 10_000_000]]);
    early.add(7);
    expect(traffic.hours(3_600_000)[0].hosts).toEqual([["early.example", 7]]);
  });

  test("a bulletin that is too long for its place tells of fewer hosts, and of all errors", () => {
    const hosts = Array.from({ length: 60 }, (_, n): [string, number] => [`${n}`.padStart(100, "h"), 60 - n]);
    const errors = Array.from({ length: 10 }, () => ({ at: new Date(0).toISOString(), message: "e".repeat(300) }));
    const shown: string[] = [];
    const put = (text: string) => text.length < 12_000 && shown.push(text) > 0;
    const tell = bulletinBoard(
      put,
      () => ({ errors, errors_in_all: 10 }),
      () => [7, 6].map((hour) => ({ hour, hosts })),
    );
    tell();
    tell(); // nothing is new
    expect(shown.length).toBe(1);
    const told = readBulletins([...shown, "cut sh"]);
    expect([told.length, told[0]!.errors.length, trafficOf(told, 6).length]).toEqual([1, 10, 20]);
  });

  test("twenty hosts of an hour, those of all processes together", () => {
    const of = (hosts: [string, number][], hour = 7) => ({
      version: "1",
      errors: [],
      errors_in_all: 0,
      traffic: [{ hour, hosts }],
    });
    const many = Array.from({ length: 40 }, (_, n): [string, number] => [`h${n}`, 100 - n]);
    const all = trafficOf([of(many), of([["h39", 1000]]), of([["h1", 5000]], 6)], 7);
    expect(all.length).toBe(20);
    expect(all.slice(0, 2)).toEqual([
      ["h39", 1061],
      ["h0", 100],
    ]);
    expect(hourOf(7 * 3_600_000 + 1)).toBe(7);
  });

  test("the last ten errors of all processes, by their time", () => {
    const line = (n: number) => ({ at: new Date(n * 1000).toISOString(), message: `${n}` });
    const of = (...numbers: number[]) => ({ version: "1", errors: numbers.map(line), errors_in_all: 0, traffic: [] });
    const told = errorsOf([of(1, 3, 5, 7, 9, 11, 13), of(2, 4, 6, 8, 10, 12)]);
    expect(told.map(({ message }) => message)).toEqual(["4", "5", "6", "7", "8", "9", "10", "11", "12", "13"]);
  });
});

test.each([
  ["sweep: it failed\n    at sweep.ts:3", "sweep: it failed"],
  ["request failed: Error: svc_manage_abc-DEF_12 is no token", "request failed: Error: svc_manage_… is no token"],
  ["connect postgres://svc:pass@db/x: refused", "connect postgres://…@db/x: refused"],
  ["fetch https://a.example/x?key=1 failed", "fetch https://a.example/x?… failed"],
  ["whsec_c2VjcmV0 is bad", "whsec_… is bad"],
])("no secret is kept of a line: %j", (line, kept) => expect(withoutSecrets(line)).toBe(kept));

test("a host with kilobytes of blanks behind it counts as that host", () => {
  const traffic = createTraffic();
  expect(traffic.of(`A.localhost${"\u00a0".repeat(15_000)}`)).toBe(traffic.of("a.localhost"));
});
