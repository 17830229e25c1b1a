/** RELIABILITY 2: what is opened beside another process that opens, closes or was just killed. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { childrenOf, ended, parentOf, run, SVC_SERVER, startProcess, temporaryFolder } from "../kit/process.ts";
import { until } from "../kit/until.ts";
import { restarts } from "./restarts.ts";
import { ALL } from "../kit/whole.ts";

setDefaultTimeout(120_000);

const OPENINGS = ALL ? 400 : 100;
const STARTS = ALL ? 20 : 5;

test(`${2 * OPENINGS} openings by two processes: none fails`, async () => {
  await using dir = await temporaryFolder();
  await ended(await startProcess(["--data-dir", dir.path, "--log", "off"]), "SIGTERM");
  const open = () => run([process.execPath, join(import.meta.dir, "opens-database.ts"), dir.path, String(OPENINGS)]);
  const both = await Promise.all([open(), open()]);
  expect(both.map(({ stdout, stderr }) => [stdout, stderr])).toEqual([
    ["[]", ""],
    ["[]", ""],
  ]);
});

test(`K31 ${STARTS} starts with workers right after kill -9 of the supervisor, on the same port`, async () => {
  await using dir = await temporaryFolder();
  expect(await restarts(dir.path, STARTS)).toMatchObject({ starts: STARTS });
});

test.skipIf(process.platform !== "linux").each(["1", "2"])(
  "K31 with %s workers: a start waits for the port that a killed supervisor's workers still hold",
  async (workers) => {
    await using dir = await temporaryFolder();
    const before = await startProcess(["--data-dir", dir.path, "--workers", "2", "--log", "off"]);
    const held = childrenOf(before.pid);
    for (const pid of held) process.kill(pid, "SIGSTOP"); // they end when they hear of it, which is later
    before.kill("SIGKILL");
    await until(() => parentOf(before.pid) === null);
    const flags = ["--data-dir", dir.path, "--workers", workers, "--log", "off", "--port", String(before.port)];
    const after = startProcess(flags);
    await Bun.sleep(400);
    for (const pid of held) process.kill(pid, "SIGCONT");
    await ended(await after, "SIGTERM");
  },
);

test("a port that another program holds: the start is refused after a second, with its number", async () => {
  await using dir = await temporaryFolder();
  using taken = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  for (const workers of ["1", "2"]) {
    const flags = ["--data-dir", dir.path, "--port", String(taken.port), "--workers", workers];
    const { code, stderr } = await run([...SVC_SERVER, ...flags]);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`Is port ${taken.port} in use?`)]);
  }
});
