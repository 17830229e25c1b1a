/** The suite's own runner: what fails is told and counted, and a runner that dies takes no other file with it. `bun test` hands
 *  over to it, with what tests need. */
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, describe, expect, test } from "bun:test";
import { ROOT } from "../../scripts/run.ts";
import { testFiles } from "../../scripts/suite.ts";

const folder = await mkdtemp(join(tmpdir(), "svc-test-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

const IMPORTS = `import { existsSync, writeFileSync } from "node:fs"; import { expect, test } from "bun:test";`;
const DIES = `process.kill(process.pid, "SIGSEGV")`;
const [MARK, LATE, ONCE] = ["died", "late", "once"].map((name) => JSON.stringify(join(folder, name)));

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
  [
    "a file that looks at clocks and fails beside others alone",
    `test("late", () => { performance.now(); if (!existsSync(${LATE})) { writeFileSync(${LATE}, ""); expect(1).toBe(2); } })`,
    /FAIL [^]*\nok [^]* failed beside others, ran again by itself and counts as it went then:\n[^]*\(fail\) late[^]* 1 pass\n 0 fail\n/,
    0,
  ],
  [
    "a file that looks at clocks and fails",
    `test("x", () => expect(performance.now()).toBe(0))`,
    /FAIL [^]*FAIL [^]* 0 pass\n 1 fail\n/,
    1,
  ],
  [
    "a file without clocks that fails once",
    `test("x", () => { if (!existsSync(${ONCE})) { writeFileSync(${ONCE}, ""); expect(1).toBe(2); } })`,
    / 0 pass\n 1 fail\n/,
    1,
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
  const [said, code] = await ran("hanging", `test("x", () => { for (;;) performance.now(); })`, ", 2_000");
  expect([said.includes("ran again"), code]).toEqual([false, 1]);
  expect(said).toMatch(/FAIL .* 0 passed, 1 failed[^]* 0 pass\n 1 fail\n/);
});

test("files that measure run when all others have ended, one behind the other", async () => {
  const order = join(folder, "order");
  const body = (name: string) => `${IMPORTS} import { appendFileSync } from "node:fs";
    test("x", async () => { for (const what of ["begins", "ends"]) { appendFileSync(${JSON.stringify(order)}, \`${name} \${what}\\n\`); await Bun.sleep(300); } });`;
  const names = ["a.measured", "b.measured.long", "c", "d"];
  for (const name of names) await Bun.write(join(folder, `${name}.test.ts`), body(name));
  const files = names.map((name) => relative(ROOT, join(folder, `${name}.test.ts`)));
  const script = `import { runSuite } from "./scripts/suite.ts"; process.exit(await runSuite(${JSON.stringify(files)}, 4, {}));`;
  const child = Bun.spawn([process.execPath, "-e", script], { cwd: ROOT, stderr: "pipe" });
  expect([await child.stderr.text(), await child.exited]).toEqual([expect.stringContaining(" 4 pass\n"), 0]);
  const lines = (await Bun.file(order).text()).trim().split("\n");
  expect(lines.slice(0, 4).toSorted()).toEqual(["c begins", "c ends", "d begins", "d ends"]);
  expect(lines.slice(4)).toEqual(
    ["a.measured", "b.measured.long"].flatMap((name) => [`${name} begins`, `${name} ends`]),
  );
});

describe("what is chosen", () => {
  const LONG = /\.long\.test\.ts$/;

  test("long files are left to --all, where nobody names them", async () => {
    const [part, all] = await Promise.all([false, true].map((all) => testFiles({ words: [], all })));
    expect(part!.filter((file) => LONG.test(file))).toEqual([]);
    expect(all!.filter((file) => !LONG.test(file)).toSorted()).toEqual(part!.toSorted());
    expect(all!.length).toBeGreaterThan(part!.length);
    const named = await testFiles({
      words: ["./test/render/bounds", join(ROOT, "test/web/words.test.ts")],
      all: false,
    });
    expect(named.toSorted()).toEqual(["test/render/bounds.long.test.ts", "test/web/words.test.ts"]);
  });
});

describe("bun test", () => {
  const { SVC_TEST_RUN: _run, SVC_TEST_ALL: _all, ...typed } = process.env;

  async function bunTest(cwd: string, args: string[], env: Record<string, string> = {}) {
    const options = { cwd, env: { ...typed, ...env }, stdin: "ignore", stdout: "pipe", stderr: "pipe" } as const;
    const child = Bun.spawn([process.execPath, "test", ...args], options);
    return { said: await child.stderr.text(), code: await child.exited };
  }

  /** A checkout of the scripts alone, whose tests say what they were given. */
  async function checkout(name: string): Promise<string> {
    const path = join(folder, name);
    await Promise.all(
      ["scripts", "bunfig.toml"].map((from) => cp(join(ROOT, from), join(path, from), { recursive: true })),
    );
    for (const at of [path, join(path, "test", "tools")]) {
      const dependencies = { y: "file:./y" };
      const workspaces = { "": { name: "x", dependencies } };
      const lock = { lockfileVersion: 2, configVersion: 1, workspaces, packages: { y: ["y@file:y", {}] } };
      await Bun.write(join(at, "y", "package.json"), `{ "name": "y", "version": "1.0.0" }`);
      await Bun.write(join(at, "package.json"), JSON.stringify({ name: "x", dependencies }));
      await Bun.write(join(at, "bun.lock"), JSON.stringify(lock));
    }
    const body = `const { SVC_TEST_SERVER, SVC_TEST_ALL, BUN_JSC_useDFGJIT } = process.env;
      test("x", () => console.error("given", SVC_TEST_SERVER, SVC_TEST_ALL, BUN_JSC_useDFGJIT)); if (BUN_JSC_useDFGJIT === undefined) test("late", () => Bun.sleep(5_200));`;
    for (const file of ["browser/a", "web/b"])
      await Bun.write(join(path, `test/${file}.test.ts`), `${IMPORTS}\n${body}`);
    return path;
  }
  const THERE = { BUN_CHROME_PATH: process.execPath, SVC_TEST_SERVER: "a-server" };

  test.concurrent("of one file has limits and compiler of the suite, and what tests need", async () => {
    const at = await checkout("one");
    const [a, b] = await Promise.all(
      ["browser/a", "web/b"].map((file) => bunTest(at, [`./test/${file}.test.ts`], THERE)),
    );
    expect([a, b]).toMatchObject([{ code: 0 }, { code: 0 }]);
    expect(a!.said).toContain("given a-server 1 0\n");
    expect(b!.said).toContain("given a-server 1 undefined\n");
    expect(`${a!.said}${b!.said}`.match(/^(packages|test tools): /gm)).toHaveLength(2); // one of both installed them
  });

  test.concurrent("of all runs each file in a process, and says what it leaves", async () => {
    const { said, code } = await bunTest(await checkout("all"), [], THERE);
    expect([said, code]).toEqual([expect.stringMatching(/ 3 pass\n 0 fail\n[^]*bun run verify --all/), 0]);
  });

  test.concurrent("where nothing can be installed says in a line what to do, and fails", async () => {
    const at = await checkout("offline");
    await Bun.write(join(at, "package.json"), `{ "dependencies": { "marked": "18.2.1" } }`);
    const nowhere = { BUN_CONFIG_REGISTRY: "http://127.0.0.1:1/", BUN_INSTALL_CACHE_DIR: join(at, "cache") };
    const { said, code } = await bunTest(at, ["web/b"], { ...THERE, ...nowhere });
    expect([said, code]).toEqual([
      expect.stringMatching(/^The packages could not be installed: .*npm registry.*\n$/m),
      1,
    ]);
  });
});
