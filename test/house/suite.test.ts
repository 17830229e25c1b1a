/** The suite's own runner: what fails is told and counted, and a runner that dies takes no other file with it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, expect, test } from "bun:test";
import { ROOT } from "../../scripts/run.ts";

const folder = await mkdtemp(join(tmpdir(), "svc-test-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

const IMPORTS = `import { existsSync, writeFileSync } from "node:fs"; import { expect, test } from "bun:test";`;
const DIES = `process.kill(process.pid, "SIGSEGV")`;
const MARK = JSON.stringify(join(folder, "died"));

const CASES: [title: string, body: string, said: RegExp, code: number][] = [
  ["a file that passes", `test("x", () => {})`, /ok .*: 1 passed, .*\n\n 1 pass\n 0 fail\n/, 0],
  ["a skipped test is counted as one", `test("x", () => {}); test.skip("y", () => {})`, / 1 pass\n 1 skip\n 0 fail/, 0],
  ["a test that fails", `test("x", () => expect(1).toBe(2))`, /FAIL .*\n[^]*failed:\n[^]*\(fail\) x[^]* 1 fail\n/, 1],
  ["a file that does not load", `import "./nothing.ts"`, /Cannot find module[^]* 0 pass\n 1 fail\n/, 1],
  ["a file without a test", ``, / 0 pass\n 1 fail\n/, 1],
  ["a runner that always dies", `test("x", () => ${DIES})`, /died \(SIGSEGV\)[^]* 0 pass\n 1 fail\n/, 1],
  [
    "a runner that dies once",
    `test("x", () => { if (!existsSync(${MARK})) { writeFileSync(${MARK}, ""); ${DIES}; } })`,
    /The runner died in .* \(SIGSEGV\); the file ran again[^]* 1 pass\n 0 fail\n/,
    0,
  ],
  ["an exit in mid-file", `test("x", () => process.exit(0))`, / 0 pass\n 1 fail\n/, 1],
];

/** What is said of a file of tests, and the exit code. `more`: further arguments. */
async function ran(title: string, body: string, more = ""): Promise<[said: string, code: number]> {
  const file = join(folder, `${title.replaceAll(" ", "-")}.test.ts`);
  await Bun.write(file, `${IMPORTS}\n${body};\n`);
  const script = `import { runSuite } from "./scripts/suite.ts";
    process.exit(await runSuite(${JSON.stringify([relative(ROOT, file)])}, 2, {}${more}));`;
  const child = Bun.spawn([process.execPath, "-e", script], { cwd: ROOT, stderr: "pipe" });
  return [await child.stderr.text(), await child.exited];
}

test.concurrent.each(CASES)("%s", async (title, body, said, code) => {
  expect(await ran(title, body)).toEqual([expect.stringMatching(said), code]);
});

test("a file that hangs is ended, has failed, and does not hang a second time", async () => {
  const [said, code] = await ran("hanging", `test("x", () => { for (;;); })`, ", 2_000");
  expect([said.includes("ran again"), code]).toEqual([false, 1]);
  expect(said).toMatch(/FAIL .* 0 passed, 1 failed[^]* 0 pass\n 1 fail\n/);
});
