/** RELIABILITY Z79: seconds of archives damaged at random, others each time; `verify --all` takes half a minute, `bun run
 *  torture archives` goes on to a million. */
import { expect, test } from "bun:test";
import { ALL } from "../kit/whole.ts";
import { fuzzArchives } from "./archive-fuzz.ts";

const LASTS_MS = ALL ? 30_000 : 2_000;
const SLICE = 5_000;

test("archives damaged at random are refused, or read as what they were", async () => {
  const end = performance.now() + LASTS_MS;
  const seen = { refused: 0, same: 0 };
  for (let seed = Date.now() % 2 ** 31; performance.now() < end; seed++) {
    const { refused, same } = fuzzArchives(SLICE, seed); // throws with its seed
    seen.refused += refused;
    seen.same += same;
    await Bun.sleep(0);
  }
  expect(seen.refused).toBeGreaterThan(SLICE / 2);
  expect(seen.same).toBeGreaterThan(0);
}, 120_000);
