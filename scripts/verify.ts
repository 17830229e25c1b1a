/** `bun run verify [--all] [path…]`: packages, types, and the tests as `bun test` runs them. Needs Node and nothing else.
 *  `--all` adds what takes long: the files named *.long.test.ts, and tables of which the others take a part. With
 *  `SVC_TEST_STORE=shared` the chapters run on a PostgreSQL server and a bucket of Debian's packages, without those that look into files. */
import { parseArgs } from "node:util";
import { testEnvironment } from "./ready.ts";
import { bun, main, say, step } from "./run.ts";
import { runTests } from "./suite.ts";

const SHARED = "test/torture/on-postgres.ts";

await main(async () => {
  const { values, positionals } = parseArgs({ options: { all: { type: "boolean" } }, allowPositionals: true });
  const { BUN_CHROME_PATH } = await testEnvironment({ compiled: true });
  say(`browser: ${BUN_CHROME_PATH}`);
  await step("types", ["check"]);
  if (process.env["SVC_TEST_STORE"] === "shared") return bun([SHARED, ...positionals]);
  return runTests({ words: positionals, all: values.all ?? false });
});
