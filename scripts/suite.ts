/**
 * The tests, each file by a `bun test` of its own. `bun test --parallel` costs the same processor time (bun.md, 7), but there
 * a process that a signal ends takes all others with it, nothing ends a file that hangs, and the compiler cannot be set by
 * file: the runtime's second compiler spoils the memory of a process that is a server, its client and a test in one (bun.md,
 * 6), mostly where the client is a browser. Here a file whose process dies runs once again, and the end says so; files with
 * a browser go without that compiler. Servers and commands that tests start as processes have it. A file that looks at clocks, or
 * drives a browser, and fails beside others runs once more by itself, when they have ended, and the end says so, too.
 */
import { closeSync, existsSync, openSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { isAbsolute, join, relative } from "node:path";
import { CACHE, testEnvironment } from "./ready.ts";
import { ROOT, say, StepFailed } from "./run.ts";
import { makeScratch } from "./scratch.ts";

/** The limit of a test. It is long, because browsers, servers and compiled binaries use the same cores as the tests. */
export const TEST_MS = 90_000;
/** The limit of a file: one that hangs in spite of the tests' limits is ended and has failed. */
const FILE_MS = 600_000;
/** Files wait for clocks, disks and browsers: so many more of them may run at once than there are cores, as long as the cores
 *  have time left. More on full cores end no sooner, and each waits longer for what it waits for. */
const MORE_LANES = 2;
const LEFT = 0.2;
const LOOK_MS = 1000;
/** Folders with long files, for a first run: these begin first, so that no lane is idle at the end. */
const LONG_FOLDERS = [
  "test/render/",
  "test/browser/",
  "test/webhooks/",
  "test/receipts/",
  "test/store/",
  "test/comments/",
];
/** Seconds of each file in its last run. */
const TIMINGS = join(CACHE, "timings.json");

/** Files that a run without `--all` leaves out. */
const LONG = /\.long\.test\.ts$/;
/** Files that compare times: they run when all others have ended, one behind the other. */
const MEASURED = /\.measured\.(?:long\.)?test\.ts$/;
const BROWSERS = /^test\/(?:browser|render)\//;
/** A file with one of these measures how long something takes, by itself or by a helper: others may make it late. */
const CLOCKS = /\bperformance\.now\(|\/(?:kit\/cpu|kit\/patterns\/slowest|archive-fuzz|archive-peak)\.ts"/;
/** More than so many files are not late by chance: they have failed as they are. */
const MOST_LATE = 5;
/** Tests of the disk stay on a disk: only the others take the TMPDIR that they are given. */
const ON_DISK = /^test\/(?:store|operators|render)\//;

const COUNTS = ["pass", "skip", "todo", "fail"] as const;
type Counts = Record<(typeof COUNTS)[number], number>;

interface Outcome extends Counts {
  file: string;
  output: string;
  seconds: number;
  /** Seconds of a core, with all processes that it started and saw end. */
  cpu: number;
  /** Why the runner ended before it had counted its tests; empty where it did count, or hung. */
  died: string;
}

export interface Chosen {
  /** Parts of paths; what is named runs whole. */
  words: string[];
  /** Long files, and long tables whole. */
  all: boolean;
}

async function secondsBefore(): Promise<Record<string, number>> {
  return existsSync(TIMINGS)
    ? await Bun.file(TIMINGS)
        .json()
        .catch(() => ({}))
    : {};
}

/** The test files whose path contains one of `words`, all without words; those that take longest first. */
export async function testFiles({ words, all }: Chosen): Promise<string[]> {
  const found = new Bun.Glob("test/**/*.test.ts").scan({ cwd: ROOT });
  const files = (await Array.fromAsync(found)).filter((file) => !file.includes("node_modules"));
  const asked = words.map((word) => (isAbsolute(word) ? relative(ROOT, word) : word.replace(/^\.\//, "")));
  const chosen = files.filter((file) =>
    asked.length === 0 ? all || !LONG.test(file) : asked.some((word) => file.includes(word)),
  );
  const seconds = await secondsBefore();
  const first = (file: string) => seconds[file] ?? (LONG_FOLDERS.some((folder) => file.startsWith(folder)) ? 10 : 1);
  return chosen.sort().sort((a, b) => first(b) - first(a));
}

/** Makes ready what tests need and runs the chosen files; the exit code. */
export async function runTests(chosen: Chosen): Promise<number> {
  const files = await testFiles(chosen);
  if (files.length === 0) throw new StepFailed(`No test file's path contains ${chosen.words.join(" or ")}.`);
  const ready = await testEnvironment({ compiled: true });
  const scratch = await makeScratch();
  try {
    const whole = chosen.all || chosen.words.length > 0;
    const env = { ...ready, ...scratch.env, ...(whole && { SVC_TEST_ALL: "1" }) };
    const code = await runSuite(files, availableParallelism() + MORE_LANES, env);
    if (!whole) say("Without what is long: `bun run verify --all` takes that, too.");
    return code;
  } finally {
    scratch.remove();
  }
}

/** Runs one `bun test` with `args`, in this terminal; the exit code. */
export async function runOne(args: string[], file: string | null): Promise<number> {
  const ready = await testEnvironment({ compiled: file === null });
  const child = Bun.spawn([process.execPath, "test", `--timeout=${TEST_MS}`, ...args], {
    cwd: ROOT,
    env: { ...process.env, ...environmentOf(file ?? "test/browser/", { ...ready, SVC_TEST_ALL: "1" }) },
    stdio: ["inherit", "inherit", "inherit"],
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  return await child.exited;
}

/** Runs `files` in `lanes` at a time and prints what failed and the counts; the exit code. */
export async function runSuite(
  files: string[],
  lanes: number,
  env: Record<string, string>,
  file_ms = FILE_MS,
): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "svc-suite-"));
  const started = performance.now();
  const outcomes: Outcome[] = [];
  const again: string[] = [];
  const late: Outcome[] = [];
  const turn = turns();
  const lane = async (number: number, waiting: string[]): Promise<void> => {
    for (;;) {
      await turn.begins();
      const file = waiting.shift();
      if (file === undefined) return turn.ended();
      const log = join(folder, `${number}.log`);
      let outcome = await runFile(file, log, env, file_ms);
      if (outcome.died !== "") {
        again.push(`The runner died in ${file} (${outcome.died}); the file ran again and counts as it went then.`);
        say(outcome.output);
        say(`${file}: the runner died (${outcome.died}); it runs once again.`);
        outcome = await runFile(file, log, env, file_ms);
      }
      show(outcome);
      const has_time_left = outcome.seconds < file_ms / 1000; // one that hangs would hang again
      const may_be_late = outcome.fail > 0 && outcome.died === "" && waiting === others && has_time_left;
      if (may_be_late && (await looksAtClocks(file))) late.push(outcome);
      else outcomes.push(outcome);
      turn.ended();
    }
  };
  const others = files.filter((file) => !MEASURED.test(file));
  try {
    await Promise.all(Array.from({ length: lanes }, (_, number) => lane(number, others)));
    if (late.length > MOST_LATE) outcomes.push(...late.splice(0));
    const alone = late.map(({ file }) => file);
    await lane(0, [...alone, ...files.filter((file) => MEASURED.test(file))]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  await keepSeconds(outcomes);
  for (const { file, output } of late) {
    const sentence = `${file} failed beside others, ran again by itself and counts as it went then:`;
    again.push([sentence, ...complaintsOf(output)].join("\n  "));
  }
  return summary(outcomes, again, (performance.now() - started) / 1000);
}

/** Whether others beside it may make a file's tests fail. */
const looksAtClocks = async (file: string): Promise<boolean> =>
  BROWSERS.test(file) || CLOCKS.test(await readFile(join(ROOT, file), "utf8"));

/** How long the cores have had nothing to do so far, and anything at all. */
function coresSoFar(): { idle: number; all: number } {
  const all = cpus().map(({ times }) => times);
  return { idle: sum(all.map(({ idle }) => idle)), all: sum(all.flatMap((times) => Object.values(times))) };
}
const sum = (numbers: number[]): number => numbers.reduce((total, one) => total + one, 0);

/** One file a core may begin at any time; a further one where the cores had time left since the last one began. */
function turns(): { begins(): Promise<void>; ended(): void } {
  let running = 0;
  let last = Promise.resolve();
  async function begin(): Promise<void> {
    for (let before = coresSoFar(); running >= availableParallelism();) {
      await Bun.sleep(LOOK_MS);
      const now = coresSoFar();
      if ((now.idle - before.idle) / (now.all - before.all) > LEFT) break;
      before = now;
    }
    running++;
  }
  return {
    begins: () => (last = last.then(begin)),
    ended: () => void running--,
  };
}

async function keepSeconds(outcomes: Outcome[]): Promise<void> {
  const seconds = Object.fromEntries(outcomes.map((outcome) => [outcome.file, Number(outcome.seconds.toFixed(1))]));
  await Bun.write(TIMINGS, JSON.stringify({ ...(await secondsBefore()), ...seconds }));
}

/** SVC_TEST_RUN: the preload has nothing more to do (scripts/preload.ts). */
function environmentOf(file: string, { TMPDIR, ...env }: Record<string, string>): Record<string, string> {
  return {
    ...env,
    SVC_TEST_RUN: "1",
    ...(BROWSERS.test(file) && { BUN_JSC_useDFGJIT: "0" }),
    ...(TMPDIR !== undefined && !ON_DISK.test(file) && { TMPDIR }),
  };
}

async function runFile(file: string, log: string, env: Record<string, string>, file_ms: number): Promise<Outcome> {
  const started = performance.now();
  const output = openSync(log, "w");
  const child = Bun.spawn([process.execPath, "test", `--timeout=${TEST_MS}`, `./${file}`], {
    cwd: ROOT,
    env: { ...process.env, ...environmentOf(file, env) },
    stdin: "ignore",
    stdout: output,
    stderr: output,
    timeout: file_ms,
    killSignal: "SIGKILL",
  });
  await child.exited;
  closeSync(output);
  const text = await readFile(log, "utf8");
  const counts = Object.fromEntries(COUNTS.map((word) => [word, counted(text, word)])) as Counts;
  const seconds = (performance.now() - started) / 1000;
  const cpu = Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6;
  const ended = seconds >= file_ms / 1000 || /^Ran \d+ tests? across/m.test(text);
  const died = ended ? "" : `${child.signalCode ?? child.exitCode}`;
  const empty = COUNTS.every((word) => counts[word] === 0);
  if ((died !== "" || child.exitCode !== 0 || empty) && counts.fail === 0) counts.fail = 1;
  return { file, output: text, seconds, cpu, died, ...counts };
}

/** The runner's own summary: " 12 pass". */
function counted(text: string, word: string): number {
  const lines = [...text.matchAll(new RegExp(`^ *(\\d+) ${word}$`, "gm"))];
  return Number(lines.at(-1)?.[1] ?? 0);
}

/** A line where all is well; else all that the file said. */
function show({ file, fail, skip, todo, pass, seconds, cpu, output }: Outcome): void {
  if (fail > 0) say(output);
  const others = [fail && `${fail} failed`, skip && `${skip} skipped`, todo && `${todo} to do`].filter(Boolean);
  say(
    [
      `${fail > 0 ? "FAIL" : "ok"} ${file}: ${pass} passed`,
      ...others,
      `${seconds.toFixed(1)} s, ${cpu.toFixed(1)} s of a core`,
    ].join(", "),
  );
}

const complaintsOf = (output: string): string[] => output.split("\n").filter((line) => /^(\(fail\)|error:)/.test(line));

function summary(outcomes: Outcome[], again: string[], seconds: number): number {
  const total = (word: keyof Counts): number => outcomes.reduce((sum, outcome) => sum + outcome[word], 0);
  for (const { file, output } of outcomes.filter(({ fail }) => fail > 0)) {
    say(`\n${file} failed:`);
    for (const line of complaintsOf(output)) say(`  ${line}`);
  }
  for (const sentence of again) say(sentence);
  say("");
  for (const word of COUNTS) if (word === "pass" || word === "fail" || total(word) > 0) say(` ${total(word)} ${word}`);
  say(`Ran ${outcomes.length} files in ${seconds.toFixed(0)} s`);
  return outcomes.length > 0 && total("fail") === 0 ? 0 : 1;
}
