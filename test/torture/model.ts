/** The long form of test/store/model.long.test.ts: `bun test/torture/model.ts [minutes] [seed]`, an hour unless said otherwise.
 *  Deploy, redeploy, rollback, claim, attach, delete, expiry, sweep, backup and kill -9 in random order and side by side,
 *  of the server, of a worker, of a deploy's process, or a process that stands still, with one worker or two, and with all
 *  versions kept or few, against a model in memory, while readers hold each answer against what may have been live. Needs test/tools' packages. */
import { temporaryFolder } from "../kit/process.ts";
import { modelRuns } from "../store/model/run.ts";

const minutes = Number(process.argv[2] ?? 60);
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
process.stdout.write(`model: ${minutes} minutes, seed ${seed}\n`);
await using dir = await temporaryFolder();
const onRun = (report: object) => process.stderr.isTTY && process.stderr.write(`\r${JSON.stringify(report)} `);
const report = await modelRuns(dir.path, { ms: minutes * 60_000, seed, onRun });
process.stdout.write(`no violation: ${JSON.stringify(report)}\n`);
