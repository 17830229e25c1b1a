/** The tests leave nothing running: a server ends with the run that started it, even where that is killed. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { ROOT } from "../kit/paths.ts";
import { childrenOf, parentOf, SVC_SERVER, temporaryFolder } from "../kit/process.ts";
import { until } from "../kit/until.ts";

const CLOCKED = [process.execPath, join(ROOT, "test/store/model/clocked-server.ts")];

/** What a test does, in a process that can be killed: it starts a server and prints its id. */
const startAndWait = (command: readonly string[], flags: readonly string[]): string => `
  import { startProcess } from ${JSON.stringify(join(ROOT, "test/kit/process.ts"))};
  const options = { command: ${JSON.stringify(command)}, env: { SVC_TEST_CLOCK: process.env.SVC_TEST_CLOCK } };
  console.log((await startProcess(${JSON.stringify(flags)}, options)).pid);
  await Bun.sleep(1e9);`;

test.skipIf(process.platform !== "linux").each([
  ["svc-server", SVC_SERVER, []],
  ["two workers", SVC_SERVER, ["--workers", "2"]],
  ["the server with a moved clock", CLOCKED, []],
] as const)("%s ends when the run that started it was killed", async (_, command, more) => {
  await using dir = await temporaryFolder();
  const clock = join(dir.path, "clock");
  await Bun.write(clock, new Uint8Array(8));
  const script = startAndWait(command, ["--data-dir", join(dir.path, "data"), "--log", "off", ...more]);
  const run = Bun.spawn([process.execPath, "-e", script], {
    stdout: "pipe",
    env: { ...process.env, SVC_TEST_CLOCK: clock },
  });
  const { value } = await run.stdout.getReader().read();
  const pid = Number(new TextDecoder().decode(value));
  const processes = [pid, ...childrenOf(pid)];
  expect(parentOf(pid)).toBe(run.pid);
  run.kill("SIGKILL");
  await until(() => processes.every((one) => parentOf(one) === null));
});
