/** Runs test files as they are on stores of a PostgreSQL server, and tells what failed there. */
import type { BucketAddress } from "../../src/config/setting.ts";
import { ROOT } from "./paths.ts";
import type { PostgresServer } from "./postgres.ts";

const FILE_MS = 900_000;
const TEST_MS = 90_000;
/** One test at a time: while one waits for rows of its database (database-server.ts) the servers of all of them stand still, and those ask
 *  for three seconds alone. */
const AT_ONCE = 1;

export interface RanThere {
  passed: number;
  /** Titles of tests that know an embedded store alone, by what they throw there. */
  embedded: string[];
  failed: string[];
}

/** Reads what a file's run says: each test's error stands above its line. */
export function outcomeOf(output: string): RanThere {
  const ran: RanThere = { passed: 0, embedded: [], failed: [] };
  let above = "";
  const [told = ""] = output.split(/^\d+ tests? failed:$/m); // which are told once more
  for (const line of told.split("\n")) {
    const [, what, title = ""] = /^\((pass|fail)\) (.*?)(?: \[[\d.]+ms\])?$/.exec(line) ?? [];
    if (what === "pass") ran.passed++;
    if (what === "fail") (above.includes("Only of an embedded store: ") ? ran.embedded : ran.failed).push(title);
    above = what === undefined ? `${above}${line}\n` : "";
  }
  return ran;
}

/** `except`: titles that this leaves out begin so. With a bucket the blobs are there. */
export async function runOnPostgres(
  postgres: PostgresServer,
  file: string,
  except: readonly string[] = [],
  bucket: BucketAddress | null = null,
): Promise<RanThere> {
  const url = new URL(await postgres.database());
  const env = {
    ...{ ...process.env, SVC_TEST_POSTGRES: url.href, SVC_TEST_RUN: "1" },
    ...(bucket !== null && { SVC_TEST_BUCKET: JSON.stringify(bucket) }),
  };
  const child = Bun.spawn(
    [process.execPath, "test", `--timeout=${TEST_MS}`, `--max-concurrency=${AT_ONCE}`, `./${file}`],
    {
      cwd: ROOT,
      env,
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
      timeout: FILE_MS,
    },
  );
  const output = await child.stderr.text();
  const ran = outcomeOf(output);
  if (!/^Ran \d+ tests? across/m.test(output)) ran.failed.push(`${file} did not end: ${output.slice(-2000)}`);
  return { ...ran, failed: ran.failed.filter((title) => !except.some((one) => title.includes(one))) };
}

/** Tests that fail there by what they know of the inside, each with the reason. */
export const EXCEPT: Readonly<Record<string, readonly string[]>> = {
  // Between a question to the store and what comes next there is a round trip.
  "test/accounts/sign-in-limits.test.ts": ["is taken in turn by network", "of one network at most 16 wait"],
  // The sweep of a bucket goes by the database's clock (SCALE 3).
  "test/deploys/quotas.test.ts": ["blobs that no version names any more go with a sweep"],
  "test/accounts/deletion.test.ts": ["blobs that nobody else has, go with the sweep"],
  // It writes certificates into the folder, which are a copy there of what all boxes share.
  "test/domains/certificates.test.ts": ["backup and restore keep keys and chains"],
  // The forms' own server counts in a file.
  "test/deploys/zip-form.test.ts": ["429 comes before the file is read"],
  // Calls are counted in rows there, which no power cut tears.
  "test/accounts/rate-limits-kept.test.ts": ["a file that a power cut tore"],
  // It edits the file of a data directory, which is a copy there: `svc-server brands` gives all boxes another.
  "test/abuse/brands.test.ts": ["is the operator's: read at the next deploy"],
  // The salt and the counts are rows there; what is restored there is in test/store/moves.long.test.ts.
  "test/statistics/visitors.test.ts": ["is there from the start on", "is overwritten once the day is over"],
  "test/statistics/kept.test.ts": [
    "nothing of them is left in the file or its log",
    "keeps 400 days",
    "is the server's user's alone",
    "a copy has statistics and never the salt",
    "so does a snapshot",
  ],
  // It damages a file below the data directory.
  "test/web/dashboard-changes.test.ts": ["a file whose content is damaged has its size alone"],
  // U+0000 is U+FFFD there (SCALE 2).
  "test/cli/visible.test.ts": ["in an operator's listing > NUL"],
  "test/accounts/owned-sites.test.ts": ["PATCH NUL and control characters stay text"],
};
