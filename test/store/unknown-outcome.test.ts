/** RELIABILITY 2: where nobody knows whether a COMMIT is on the disk, the process takes no further write and ends with
 *  70, so that whoever started it restarts it into recovery. The disk fails for real: under a limit on the size of its
 *  files, which is set while it runs, SQLite gets an I/O error for its next write. That takes Linux. */
import { expect, test } from "bun:test";
import { dlopen, FFIType, ptr } from "bun:ffi";
import { write } from "../kit/database.ts";
import { listed } from "../kit/operator.ts";
import { PASSWORD } from "../kit/people.ts";
import { deployProcesses, figure, local, type ServerProcess, startProcess, temporaryFolder } from "../kit/process.ts";
import type { DeployResult } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { zipOf } from "../kit/zip.ts";

const FILE_SIZE = 1; // RLIMIT_FSIZE

function refuseWrites({ pid }: ServerProcess): void {
  const { symbols } = dlopen("libc.so.6", {
    prlimit: { args: [FFIType.i32, FFIType.i32, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  });
  const limits = new BigUint64Array([4096n, 4096n]);
  for (const one of [pid, ...deployProcesses(pid)]) {
    expect(symbols.prlimit(one, FILE_SIZE, ptr(limits), null)).toBe(0);
  }
}

const deploy = (server: ServerProcess): Promise<Response> =>
  fetch(`${local(server)}/sites`, {
    method: "POST",
    body: zipOf({ "index.html": "a page" }),
    headers: { "content-type": "application/zip" },
  });
const page = (server: ServerProcess, { slug }: DeployResult): Promise<Response> =>
  fetch(`${local(server)}/`, { headers: { host: `${slug}.localhost:${server.port}` } });

const onLinux = test.skipIf(process.platform !== "linux");

onLinux(
  "a request is answered 503, the process takes no write after it, goes on serving, and ends with 70",
  async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path, "--log", "off"]);
    const site = (await (await deploy(server)).json()) as DeployResult;
    refuseWrites(server);
    const first = await deploy(server);
    expect([first.status, first.headers.get("retry-after")]).toEqual([503, null]);
    expect(await first.json()).toMatchObject({ error: expect.stringContaining("Look whether your change is there") });
    const [second, served] = await Promise.all([deploy(server), page(server, site)]);
    expect([second.status, second.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await second.json()).toMatchObject({ error: expect.stringContaining("Nothing was stored") });
    expect(await served.text()).toContain("a page");
    expect(await server.exited).toBe(70);

    const restarted = await startProcess(["--data-dir", dir.path, "--log", "off"]);
    expect((await page(restarted, site)).status).toBe(200);
    expect((await deploy(restarted)).status).toBe(200);
    await restarted.end();
  },
  60_000,
);

onLinux(
  "so is one whose write the thread of writes does",
  async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path, "--log", "off"]);
    const { slug } = (await (await deploy(server)).json()) as DeployResult;
    refuseWrites(server);
    const report = await fetch(`${local(server)}/_svc/report`, {
      method: "POST",
      headers: { host: `${slug}.localhost:${server.port}`, "content-type": "application/json" },
      body: JSON.stringify({ reason: "spam" }),
    });
    expect([report.status, report.headers.get("retry-after")]).toEqual([503, null]);
    expect(await server.exited).toBe(70);
  },
  60_000,
);

onLinux(
  "and where nobody waited for the write, a session's last use: the request is answered, and the process ends",
  async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path, "--log", "off"]);
    const signUp = await fetch(`${local(server)}/auth/signup`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email: "ann@example.org", password: PASSWORD }),
    });
    const { session_token } = (await signUp.json()) as { session_token: string };
    write(dir.path, "update sessions set last_used_at = ?", new Date(Date.now() - 3_600_000).toISOString());
    refuseWrites(server);
    const account = await fetch(`${local(server)}/account`, { headers: { authorization: `Bearer ${session_token}` } });
    expect(account.status).toBe(200);
    expect(await server.exited).toBe(70);
    expect(server.stderr()).toContain("a write that nobody waited for");
  },
  60_000,
);

onLinux.each(["1", "2"])(
  "the sweep ends a server of %s workers the same way",
  async (workers) => {
    await using dir = await temporaryFolder();
    const flags = ["--data-dir", dir.path, "--gc-interval", "1s", "--workers", workers];
    const server = await startProcess(flags);
    expect((await deploy(server)).status).toBe(200);
    await until(async () => (await figure(server, "svc_sweeps_total")) > 0); // its database is open: opening it is tried again
    refuseWrites(server);
    write(dir.path, "update sites set expires_at = ?", Date.now() - 1);
    expect(await server.exited).toBe(70);
    // Bringing the log into the database may have failed before anything was written, which ends nothing.
    expect(server.stderr().match(/sweep: disk I\/O error/g)!.length).toBeWithin(1, 3);

    const restarted = await startProcess(flags);
    await until(async () => (await listed(dir.path, "sites")).length === 0);
    await restarted.end();
  },
  60_000,
);
