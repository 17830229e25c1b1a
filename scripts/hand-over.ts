/** `bun test`, as somebody types it: the run goes on in processes of scripts/suite.ts, for limits and compiler must be known
 *  before a process starts, and what tests need is installed first. One file, or flags of `bun test`: one process. */
import { setDefaultTimeout } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { testEnvironment } from "./ready.ts";
import { main } from "./run.ts";
import { runOne, runTests, TEST_MS, testFiles } from "./suite.ts";

/** The arguments behind `bun test`; null where the system does not tell them one by one. `process.argv` has the file that is
 *  to be loaded in their place. */
function argumentsOf(pid: number): string[] | null {
  const path = `/proc/${pid}/cmdline`;
  if (existsSync(path)) return behindTest(readFileSync(path, "utf8").split("\0").slice(0, -1));
  if (process.platform === "win32") return null;
  const { stdout } = Bun.spawnSync(["ps", "-ww", "-o", "args=", "-p", String(pid)]);
  const given = behindTest(stdout.toString().trim().split(/\s+/));
  return given.some(isFlag) ? null : given; // a title may have spaces
}

const behindTest = (line: string[]): string[] => line.slice(line.indexOf("test") + 1);
const isFlag = (argument: string): boolean => argument.startsWith("-");

const given = argumentsOf(process.pid);

/** A worker of --parallel, or what waits for changes: it goes on in this process, with the compiler that it has. */
const stays =
  process.env["BUN_TEST_WORKER_ID"] !== undefined || given?.some((one) => /^--(?:watch|hot|inspect)/.test(one));

async function run(given: string[]): Promise<number> {
  const words = given.filter((argument) => !isFlag(argument));
  const files = await testFiles({ words, all: true });
  const file = files.length === 1 ? files[0]! : null;
  return file !== null || given.length > words.length ? runOne(given, file) : runTests({ words, all: false });
}

if (given === null || stays) {
  setDefaultTimeout(TEST_MS);
  Object.assign(process.env, await testEnvironment({ compiled: true }), { SVC_TEST_ALL: "1" });
} else {
  await main(() => run(given));
}
