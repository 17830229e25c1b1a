/** RELIABILITY 2: P1, P2, P3, P4, P7 and P8 by random runs of everything that changes a site, beside readers, sweeps, backups,
 *  kill -9 of the server, of a worker and of deploys' processes, and processes that stand still. `bun run torture model`
 *  goes on for an hour. */
import { expect, test } from "bun:test";
import { temporaryFolder } from "../kit/process.ts";
import { modelRuns } from "./model/run.ts";

test("random runs of all that changes a site show what the model says, to each reader at each moment", async () => {
  await using dir = await temporaryFolder();
  const report = await modelRuns(dir.path, { ms: 20_000, seed: Date.now() % 2 ** 31 });
  expect(report.runs).toBeGreaterThan(0);
  expect(report.reads).toBeGreaterThan(100);
}, 180_000);
