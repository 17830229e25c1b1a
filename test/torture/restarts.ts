/** Starts with workers after kill -9 of the supervisor: `bun test/torture/restarts.ts [starts]`, 300 unless said otherwise:
 *  about four minutes. Each start on the port and the data directory of the one before must come up by itself. */
import { temporaryFolder } from "../kit/process.ts";
import { restarts } from "../store/restarts.ts";
import { progress } from "./parts/figures.ts";

const starts = Number(process.argv[2] ?? 300);
await using dir = await temporaryFolder();
const report = await restarts(dir.path, starts, (n) => progress(`${n} starts`));
process.stdout.write(`no violation: ${report.starts} starts, the slowest ready ${report.slowest} ms after the kill\n`);
