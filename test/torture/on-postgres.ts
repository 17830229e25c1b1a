/** SCALE 1 and 3: one box on PostgreSQL and a bucket passes the chapters of test/ that do not look into files: `bun
 *  test/torture/on-postgres.ts [--folder] [words of files…]`, or `SVC_TEST_STORE=shared bun run verify`, runs each file as it is, two at a
 *  time, on real servers of Debian's packages (PostgreSQL and Ceph's gateway, fetched by apt; with --folder the blobs are files), and tells
 *  what failed, and which tests are for an embedded store alone. Needs apt and, as root, setpriv; an hour. */
import { availableParallelism } from "node:os";
import { EXCEPT, runOnPostgres } from "../kit/on-postgres.ts";
import { ROOT } from "../kit/paths.ts";
import { addressOfBucket, startCeph } from "../kit/ceph.ts";
import { startPostgres } from "../kit/postgres.ts";

/** The others know no server of their own, drive browsers and engines, for which every store is alike, or are about an operator's files. */
const CHAPTERS = (
  "abuse,access,accounts,archives,cli,comments,deploys,domains,html,markdown,names,openapi,receipts,rules," +
  "serving,statistics,web,webhooks"
).split(",");

const in_folder = process.argv.includes("--folder");
const words = process.argv.slice(2).filter((word) => word !== "--folder");
const found = await Array.fromAsync(new Bun.Glob(`test/{${CHAPTERS.join(",")}}/**/*.test.ts`).scan({ cwd: ROOT }));
const files = found
  .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
  .filter((file) => !file.includes(".measured."))
  .toSorted();

await using postgres = await startPostgres();
await using ceph = in_folder ? null : await startCeph();
const bucket = ceph && (await addressOfBucket(ceph));
const total = { passed: 0, embedded: 0, failed: 0 };
const lane = async (): Promise<void> => {
  for (let file = files.shift(); file !== undefined; file = files.shift()) {
    const { passed, embedded, failed } = await runOnPostgres(postgres, file, EXCEPT[file], bucket);
    total.passed += passed;
    total.embedded += embedded.length;
    total.failed += failed.length;
    console.log(`${file}: ${passed} passed, ${embedded.length} of an embedded store alone, ${failed.length} failed`);
    for (const title of failed) console.log(`    ${title}`);
  }
};
await Promise.all(Array.from({ length: availableParallelism() }, lane));
console.log(`${total.passed} passed, ${total.embedded} of an embedded store alone, ${total.failed} failed`);
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;
