/** How much a run takes of what is long. `verify` tries every promise once; `verify --all` adds each state of a page, longer random
 *  runs, what waits for clocks, and the rest of long tables. A file that is long as a whole is named `*.long.test.ts`. */
import { describe, test } from "bun:test";

/** `bun run torture render`, `patterns` and `looks` take some tables whole that are too long for any run of the tests. */
export const WHOLE = process.env["SVC_TEST_WHOLE"] === "1";
/** Set by `verify --all`, and for files that are named. */
export const ALL = WHOLE || process.env["SVC_TEST_ALL"] === "1";

/** All rows of a long table, or `most` of them, spread over it. */
export const partOf = <Row>(rows: readonly Row[], most: number): Row[] =>
  rows.filter((_, n) => ALL || Math.floor((n * most) / rows.length) !== Math.floor(((n - 1) * most) / rows.length));

const leaveOut = Object.assign(() => {}, { serial: () => {}, each: () => () => {}, if: () => () => {} });

/** A test of `verify --all`. A run without it does not declare it, so it does not count as skipped. */
export const longTest = ALL ? test : (leaveOut as unknown as typeof test);
/** A group of such tests. */
export const longDescribe = ALL ? describe : (leaveOut as unknown as typeof describe);
