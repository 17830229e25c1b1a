/** Loaded before each test file (bunfig.toml). What is started as `bun test` is handed over; the processes of a run, which have
 *  SVC_TEST_RUN, pass. */
if (process.env["SVC_TEST_RUN"] === undefined) await import("./hand-over.ts");
export {};
