/** `verify` takes a part of some long tables; `bun run torture render` and `patterns` take them whole. */
export const WHOLE = process.env.SVC_TEST_WHOLE === "1";
