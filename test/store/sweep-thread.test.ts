/** RELIABILITY 2: what keeps a sweep from running is told and counted, and the next one runs again; no timer's error ends
 *  the server. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { dlopen, FFIType, ptr } from "bun:ffi";
import { renameSync } from "node:fs";
import { join } from "node:path";
import { figure, local, type ServerProcess, startProcess, temporaryFolder } from "../kit/process.ts";
import { until } from "../kit/until.ts";

setDefaultTimeout(60_000);

const OPEN_FILES = 7; // RLIMIT_NOFILE

function limitOpenFiles({ pid }: ServerProcess, most: bigint): void {
  const { symbols } = dlopen("libc.so.6", {
    prlimit: { args: [FFIType.i32, FFIType.i32, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  });
  const limits = new BigUint64Array(2);
  expect(symbols.prlimit(pid, OPEN_FILES, null, ptr(limits))).toBe(0);
  limits[0] = most < limits[1]! ? most : limits[1]!;
  expect(symbols.prlimit(pid, OPEN_FILES, ptr(limits), null)).toBe(0);
}

const sweeps = (server: ServerProcess) => figure(server, "svc_sweeps_total");
const failures = (server: ServerProcess) => figure(server, "svc_sweep_failures_total");

async function goesOn(server: ServerProcess): Promise<void> {
  const before = await sweeps(server);
  await until(async () => (await sweeps(server)) > before);
  expect((await fetch(`${local(server)}/healthz`)).status).toBe(200);
}

// The first of several processes, which sweeps and serves nothing.
test.skipIf(process.platform !== "linux")(
  "a sweep that finds no descriptors is counted as a failed one, and the next one runs",
  async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path, "--gc-interval", "5s", "--workers", "2"]);
    limitOpenFiles(server, 3n); // before the first sweep, which opens the database
    await until(() => /sweep: /.test(server.stderr()));
    limitOpenFiles(server, 4096n);
    await goesOn(server);
    expect(await failures(server)).toBeGreaterThan(0);
    await server.end();
  },
);

test("a database that cannot be opened is a failed sweep, and once it is back the sweeps go on", async () => {
  await using dir = await temporaryFolder();
  const server = await startProcess(["--data-dir", dir.path, "--gc-interval", "1s"]);
  const path = join(dir.path, "db");
  renameSync(path, `${path}-away`); // before the first sweep
  await until(async () => (await failures(server)) > 0);
  renameSync(`${path}-away`, path);
  await goesOn(server);
  await server.end();
});
