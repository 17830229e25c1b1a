/** SCALE 1 and 3: what a site is and who may do what with it is the same on a PostgreSQL server and a bucket: some chapters run there as they
 *  are. All others that do not look into files are run by `SVC_TEST_STORE=shared bun run verify`. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { EXCEPT, outcomeOf, runOnPostgres } from "../kit/on-postgres.ts";
import { addressOfBucket, type CephGateway, startCeph } from "../kit/ceph.ts";
import { type PostgresServer, startPostgres } from "../kit/postgres.ts";

setDefaultTimeout(300_000);

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres?.[Symbol.asyncDispose]());

describe("SCALE 1: one box on PostgreSQL passes the chapter", () => {
  test.each([
    "test/deploys/deploys.test.ts",
    "test/deploys/rollback.test.ts",
    "test/deploys/previews.test.ts",
    "test/accounts/accounts.test.ts",
    "test/accounts/claims.test.ts",
    "test/accounts/paging.test.ts",
    "test/comments/threads.test.ts",
    "test/comments/feed-protocol.test.ts",
    "test/comments/moderation.test.ts",
    "test/access/access.test.ts",
    "test/domains/domains.test.ts",
    "test/domains/serving.test.ts",
    "test/names/renames.test.ts",
  ])("%s", async (file) => {
    const { passed, failed } = await runOnPostgres(postgres, file, EXCEPT[file]);
    expect(failed).toEqual([]);
    expect(passed).toBeGreaterThan(5);
  });
});

describe("SCALE 3: one box on PostgreSQL and Ceph's gateway passes the chapter", () => {
  let ceph: CephGateway;
  beforeAll(async () => {
    ceph = await startCeph();
  });
  afterAll(() => ceph?.[Symbol.asyncDispose]());

  test.each([
    "test/deploys/deploys.test.ts",
    "test/deploys/delta/delta.test.ts",
    "test/deploys/take-away.test.ts",
    "test/deploys/previews.test.ts",
    "test/serving/large-pages.test.ts",
    "test/serving/serving-ranges.test.ts",
  ])("%s", async (file) => {
    const { passed, failed } = await runOnPostgres(postgres, file, EXCEPT[file], await addressOfBucket(ceph));
    expect(failed).toEqual([]);
    expect(passed).toBeGreaterThan(5);
  });
});

test("the runner itself tells tests that fail from those of an embedded store alone", () => {
  const output = `error: Only of an embedded store: its database is a file
(fail) a > looks into the file [1.20ms]
error: expect(received).toBe(expected)
(fail) a > is wrong [0.10ms]
(pass) a > is right [0.10ms]
`;
  expect(outcomeOf(output)).toEqual({ passed: 1, embedded: ["a > looks into the file"], failed: ["a > is wrong"] });
});
