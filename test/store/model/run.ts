/** Runs of random steps against the real server and the model, by fast-check: what fails is made small and told with its
 *  seed. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { checkStored } from "../../kit/tracked-sites.ts";
import type { Operation } from "./operations.ts";
import { readers } from "./reading.ts";
import { checkAll, checkFigures, type Step, takeStep } from "./steps.ts";
import { makeWorld, type Setup } from "./world.ts";

const ACCOUNTS = 2;
const READERS = 4;
const HOUR = 60 * 60_000;
const DAY = 24 * HOUR;
/** Making a failing run small ends after this. */
const SHRINK_MS = 60_000;

/** What is used of fast-check, which test/tools brings: the types are not there before it is installed. */
interface Arbitrary<T> {
  readonly of?: T;
}
interface FastCheck {
  nat(most: number): Arbitrary<number>;
  constant<T>(value: T): Arbitrary<T>;
  constantFrom<T>(...values: T[]): Arbitrary<T>;
  array<T>(of: Arbitrary<T>, options: { minLength: number; maxLength: number; size?: "max" }): Arbitrary<T[]>;
  record<T>(model: { [K in keyof T]: Arbitrary<T[K]> }): Arbitrary<T>;
  oneof<T>(...choices: { weight: number; arbitrary: Arbitrary<T> }[]): Arbitrary<T>;
  asyncProperty<T>(of: Arbitrary<T>, holds: (value: T) => Promise<void>): unknown;
  check(property: unknown, options: object): Promise<{ failed: boolean; errorInstance?: unknown }>;
  defaultReportMessage(found: unknown): string | undefined;
}
const FAST_CHECK = join(import.meta.dir, "..", "..", "tools", "node_modules", "fast-check", "lib", "fast-check.js");

function operationOf(fc: FastCheck): Arbitrary<Operation> {
  const site = fc.nat(7); // of few sites, so that each meets much
  const sites = fc.array(site, { minLength: 1, maxLength: 4 });
  const account = fc.nat(ACCOUNTS - 1);
  const owner = fc.constantFrom(null, null, 0, 1);
  const what = fc.constantFrom("new" as const, "new" as const, "same" as const, "older" as const);
  const by = fc.constantFrom("token" as const, "token" as const, "owner" as const);
  const how = fc.constantFrom("zip" as const, "delta" as const);
  const choice = <T extends Operation>(weight: number, model: { [K in keyof T]: Arbitrary<T[K]> }) => ({
    weight,
    arbitrary: fc.record<T>(model) as Arbitrary<Operation>,
  });
  type Of<Name extends Operation["op"]> = Extract<Operation, { op: Name }>;
  return fc.oneof(
    choice<Of<"deploy">>(2, { op: fc.constant("deploy"), owner }),
    choice<Of<"redeploy">>(6, { op: fc.constant("redeploy"), site, what, by, how }),
    choice<Of<"preview">>(4, { op: fc.constant("preview"), site, what, how }),
    choice<Of<"promote">>(3, { op: fc.constant("promote"), site }),
    choice<Of<"rollback">>(5, { op: fc.constant("rollback"), site, to: fc.nat(9) }),
    choice<Of<"drop">>(3, { op: fc.constant("drop"), site, version: fc.nat(9) }),
    choice<Of<"claim">>(2, { op: fc.constant("claim"), site, account }),
    choice<Of<"attach">>(1, { op: fc.constant("attach"), sites, account }),
    choice<Of<"delete">>(1, { op: fc.constant("delete"), sites, account }),
  );
}

function stepOf(fc: FastCheck): Arbitrary<Step> {
  return fc.record<Step>({
    operations: fc.array(operationOf(fc), { minLength: 0, maxLength: 8 }),
    beside: fc.oneof<Step["beside"]>(
      { weight: 12, arbitrary: fc.constant(null) },
      { weight: 3, arbitrary: fc.constant("sweep") },
      { weight: 1, arbitrary: fc.constant("backup") },
    ),
    crash_after: fc.oneof<number | null>(
      { weight: 5, arbitrary: fc.constant(null) },
      { weight: 1, arbitrary: fc.nat(60) },
    ),
    harm: fc.oneof<Step["harm"]>(
      { weight: 6, arbitrary: fc.constant(null) },
      {
        weight: 4,
        arbitrary: fc.record<NonNullable<Step["harm"]>>({
          what: fc.constantFrom(
            "stop" as const,
            "kill deploy" as const,
            "kill deploy" as const,
            "kill worker" as const,
          ),
          after: fc.nat(80),
          pick: fc.nat(250),
        }),
      },
    ),
    age: fc.constantFrom(0, 0, 0, 0, 0, 2 * HOUR, 2 * HOUR, 5 * DAY, 15 * DAY),
  });
}

interface Run extends Setup {
  steps: Step[];
}

interface ModelReport {
  runs: number;
  steps: number;
  crashes: number;
  /** Processes that stood still or were killed, but for the crashes. */
  harms: number;
  operations: number;
  reads: number;
  /** Sweeps that took the clock for wrong: nothing is lost by them. */
  refused_sweeps: number;
}

/** One run, from an empty data directory to a last kill -9. Past `deadline` no further step is begun. */
async function oneRun(folder: string, { steps, ...setup }: Run, report: ModelReport, deadline: number): Promise<void> {
  mkdirSync(folder);
  const world = await makeWorld(folder, ACCOUNTS, setup);
  const visitors = readers(READERS, world);
  try {
    for (const [turn, step] of steps.entries()) {
      if (performance.now() > deadline) break;
      await takeStep(world, step, turn);
      visitors.check();
      report.steps++;
      report.operations += step.operations.length;
      if (step.crash_after !== null) report.crashes++;
      if (step.harm !== null) report.harms++;
    }
    await checkAll(world);
    await visitors.stop();
    visitors.check();
    await world.crash();
    await world.restart();
    await checkStored(world.data_dir);
    await checkFigures(world);
  } catch (violation) {
    const said = world.said();
    if (violation instanceof Error && said !== "") violation.message += `\nThe server said:\n${said}`;
    throw violation;
  } finally {
    await visitors.stop();
    await world.stop();
  }
  report.reads += visitors.reads();
  report.refused_sweeps += world.refused_sweeps;
  report.runs++;
}

/** Runs until the time is over. Throws fast-check's report of the first violation. */
export async function modelRuns(
  folder: string,
  options: { ms: number; seed: number; onRun?: (report: ModelReport) => void },
): Promise<ModelReport> {
  const fc = (await import(FAST_CHECK)) as FastCheck;
  const report: ModelReport = { runs: 0, steps: 0, crashes: 0, harms: 0, operations: 0, reads: 0, refused_sweeps: 0 };
  const end = performance.now() + options.ms;
  let deadline = end;
  let count = 0;
  const property = fc.asyncProperty(
    fc.record<Run>({
      workers: fc.constantFrom(1, 1, 2),
      keep: fc.constantFrom<number | null>(null, null, 1, 3),
      steps: fc.array(stepOf(fc), { minLength: 4, maxLength: 60, size: "max" }),
    }),
    async (planned) => {
      if (performance.now() > deadline) return;
      try {
        await oneRun(join(folder, `run-${++count}`), planned, report, deadline);
      } catch (violation) {
        deadline = Math.max(deadline, end + SHRINK_MS);
        throw violation;
      }
      options.onRun?.(report);
    },
  );
  for (let seed = options.seed; performance.now() < end; seed++) {
    const found = await fc.check(property, { seed, numRuns: 5, unbiased: true });
    if (found.failed) throw new Error(fc.defaultReportMessage(found), { cause: found.errorInstance });
  }
  return report;
}
