/** Archives damaged at random, a million unless said otherwise: `bun test/torture/archives.ts [count] [seed]`. Each must be
 *  refused or read as what it was. Needs nothing; half a minute to a minute. */
import { fuzzArchives } from "../archives/archive-fuzz.ts";

/** A slice has a seed of its own, counted up from the one that was given: what fails is told with it. */
const SLICE = 10_000;
const count = Number(process.argv[2] ?? 1_000_000);
const seed = Number(process.argv[3] ?? Date.now());
process.stdout.write(`archives: ${count} damages, seed ${seed}\n`);
const seen = { refused: 0, same: 0 };
for (let done = 0, slice = 0; done < count; slice++) {
  const size = Math.min(SLICE, count - done);
  const { refused, same } = fuzzArchives(size, seed + slice);
  seen.refused += refused;
  seen.same += same;
  done += size;
  if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${count} `);
}
process.stdout.write(`no violation: ${JSON.stringify(seen)}\n`);
