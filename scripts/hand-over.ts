/** `bun test`, as somebody types it: the run goes on in processes of scripts/suite.ts, for limits and compiler must be known
 *  before a process starts, and what tests need is installed first. One file, or flags of `bun test`: one process. */
import { existsSync, readFileSync } from "node:fs";
import { testEnvironment } from "./ready.ts";
import { main } from "./run.ts";
import { runOne, runTests, testFiles } from "./suite.ts";

/** The arguments behind `bun test`. `process.argv` has the file that is to be loaded in their place. */
function argumentsOf(pid: number): string[] {
  const path = `/proc/${pid}/cmdline`;
  const line = existsSync(path)
    ? readFileSync(path, "utf8").split("\0").slice(0, -1)
    : Bun.spawnSync(["ps", "-ww", "-o", "args=", "-p", String(pid)])
        .stdout.toString()
        .trim()
        .split(/\s+/);
  return line.slice(line.indexOf("test") + 1);
}

const given = argumentsOf(process.pid);
const words = given.filter((argument) => !argument.startsWith("-"));

/** A worker of --parallel, or what waits for changes: it goes on in this process, with the compiler that it has. */
const stays =
  process.env["BUN_TEST_WORKER_ID"] !== undefined || given.some((one) => /^--(?:watch|hot|inspect)/.test(one));

async function run(): Promise<number> {
  const files = await testFiles({ words, all: true });
  const file = files.length === 1 ? files[0]! : null;
  return file !== null || given.length > words.length ? runOne(given, file) : runTests({ words, all: false });
}

if (stays) Object.assign(process.env, await testEnvironment({ compiled: true }));
else await main(run);
