/** RELIABILITY 1 and 2: P1, P2 and I1 to I5 after kill -9 at random moments (K1 to K15 by chance). */
import { expect, test } from "bun:test";
import { crashRounds } from "./crash.ts";
import { temporaryFolder } from "../kit/process.ts";
import { ALL } from "../kit/whole.ts";

const ROUNDS = ALL ? 20 : 6;

test(`${ROUNDS} rounds of kill -9 among deploys lose no answered deploy and never serve a mixture`, async () => {
  await using dir = await temporaryFolder();
  const report = await crashRounds(dir.path, { rounds: ROUNDS, seed: Date.now() });
  expect(report.rounds).toBe(ROUNDS);
  expect(report.sites).toBeGreaterThan(ALL ? 4 : 0);
  expect(report.met_in_flight).toBeGreaterThan(ALL ? 5 : 0);
}, 180_000);
