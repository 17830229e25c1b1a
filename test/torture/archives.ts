/** Archives damaged at random, a million unless said otherwise: `bun test/torture/archives.ts [count] [seed]`. Each must be
 *  refused or read as what it was. */
import { fuzzArchives } from "../archives/archive-fuzz.ts";

const count = Number(process.argv[2] ?? 1_000_000);
const seed = Number(process.argv[3] ?? Date.now());
process.stdout.write(`archives: ${count} damages, seed ${seed}\n`);
process.stdout.write(`no violation: ${JSON.stringify(fuzzArchives(count, seed))}\n`);
