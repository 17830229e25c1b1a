/** RELIABILITY 1 and 2: P1, P2 and I1 to I5 after kill -9 at random moments (K1 to K15 by chance). */
import { expect, test } from "bun:test";
import { crashRounds } from "./crash.ts";
import { temporaryFolder } from "../kit/process.ts";

test("20 rounds of kill -9 among deploys lose no answered deploy and never serve a mixture", async () => {
  await using dir = await temporaryFolder();
  const report = await crashRounds(dir.path, { rounds: 20, seed: Date.now() });
  expect(report.rounds).toBe(20);
  expect(report.sites).toBeGreaterThan(4);
  expect(report.met_in_flight).toBeGreaterThan(5);
}, 180_000);
