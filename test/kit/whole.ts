/** `bun run torture render` and `patterns` take some tables whole that are too long for any run of the tests. */
export const WHOLE = process.env["SVC_TEST_WHOLE"] === "1";
/** Set by `verify --all` and `bun test`. Without it, as in `verify`, long tests are left out and long tables taken in part;
 *  a file that is left out as a whole is named `*.long.test.ts`. */
export const ALL = WHOLE || process.env["SVC_TEST_ALL"] === "1";

/** All rows of a long table, or `most` of them, spread over it. */
export const partOf = <Row>(rows: readonly Row[], most: number): Row[] =>
  rows.filter((_, n) => ALL || Math.floor((n * most) / rows.length) !== Math.floor(((n - 1) * most) / rows.length));
