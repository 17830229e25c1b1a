/** The long form of test/store/crash.test.ts: `bun test/torture/kill.ts [rounds] [seed]`. */
import { crashRounds } from "../store/crash.ts";
import { temporaryFolder } from "../kit/process.ts";

const rounds = Number(process.argv[2] ?? 200);
const seed = Number(process.argv[3] ?? Date.now());
process.stdout.write(`kill -9: ${rounds} rounds, seed ${seed}\n`);
await using dir = await temporaryFolder();
const onRound = (n: number) => n % 20 === 0 && process.stdout.write(`${n} rounds\n`);
const report = await crashRounds(dir.path, { rounds, seed, onRound });
process.stdout.write(`no violation: ${JSON.stringify(report)}\n`);
