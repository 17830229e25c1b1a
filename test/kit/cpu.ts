/** Assertions on time that a busy machine does not change: processor time, never the clock on the wall. */
import { dlopen } from "bun:ffi";

/** Milliseconds that this process has worked so far, in all its threads. */
function worked(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const [LIBC, CLOCK_THREAD_CPUTIME_ID] =
  process.platform === "darwin" ? (["libSystem.B.dylib", 16] as const) : (["libc.so.6", 3] as const);
const libc = dlopen(LIBC, { clock_gettime: { args: ["int", "ptr"], returns: "int" } });
const timespec = new BigInt64Array(2);

/** Milliseconds that this thread alone has worked so far. Others of the process collect garbage and compile meanwhile: where the
 *  machine is busy, they had all the processor time three times in a row while this one had none, and a match of a microsecond
 *  seemed to take ten milliseconds. `process.threadCpuUsage` tells it in steps of some milliseconds (bun.md 8). */
function workedHere(): number {
  if (libc.symbols.clock_gettime(CLOCK_THREAD_CPUTIME_ID, timespec) !== 0)
    throw new Error("This system has no clock of a thread's work.");
  return Number(timespec[0]) * 1000 + Number(timespec[1]) / 1e6;
}

/** For work in this thread that ends before it returns. */
export function cpuOf(work: () => unknown): number {
  const before = workedHere();
  work();
  return workedHere() - before;
}

/** The same for work that waits: what else this process does meanwhile counts, too. */
export async function cpuOfAsync(work: () => Promise<unknown>): Promise<number> {
  const before = worked();
  await work();
  return worked() - before;
}

/** The least of some runs: what the work takes without what runs only once or by chance, as compiling it does. */
export const fastest = (runs: number, work: () => unknown): number =>
  Math.min(...Array.from({ length: runs }, () => cpuOf(work)));

/** Less is mostly what the machine makes of it. */
const MEASURABLE_MS = 2;
const PARTS = 4;
/** Linear work takes 4 times as long for 4 times the input, quadratic work 16 times: the middle of the two. */
const LIMIT = 8;
/** Milliseconds for one unit of input. So quick is only what goes through it a few times: and the pace of that differs
 *  between what fits in a cache and what does not. What looks at each pair of a million would take a thousand times it. */
const FEW_PASSES_MS = 1e-5;
/** The two are measured anew so often: what else the machine does, and collections of garbage, hit one of them alone. */
const ROUNDS = 15;

/** Chance is a small part of long work: it is looked at anew only where it seems too slow. */
const LONG_MS = 100;
const LONG_ROUNDS = 5;

/** How often the work must be done to be measured, and how many times that is measured. Warms it up as well. */
function measureOf(work: () => unknown): { times: number; runs: number } {
  for (let times = 1; ; times *= 2) {
    const took = cpuOf(repeated(work, times));
    if (took >= MEASURABLE_MS) return { times, runs: took >= LONG_MS ? 1 : 3 };
  }
}

const repeated = (work: () => unknown, times: number) => () => {
  for (let n = 0; n < times; n++) work();
};

/** After so much work as many rounds are enough as for what is long by itself: all of them would take a busy machine minutes. */
const MOST_WORK_MS = 5000;

/** So much less than what is enough that another look would not change it. */
const CLEAR = 0.6;

/** The least that `part` and `whole` took in all rounds: what else the machine does only ever adds, so with more rounds both
 *  come closer to what they take. Ends with the round in which the whole is clearly within what `enough` says. */
function compare(
  part: () => unknown,
  whole: () => unknown,
  { runs, rounds, enough }: { runs: number; rounds: number; enough: (part: number) => number },
): { part: number; all: number; enough: number } {
  let [least, all] = [Infinity, Infinity];
  const began = workedHere();
  const clear = (): boolean => all <= CLEAR * enough(least);
  const known = (round: number): boolean =>
    round > 0 && (clear() || (round >= LONG_ROUNDS && workedHere() - began > MOST_WORK_MS));
  for (let round = 0; round < rounds && !known(round); round++) {
    least = Math.min(least, fastest(runs, part));
    for (let run = 0; run < 5 && !(run > 0 && clear()); run++) all = Math.min(all, cpuOf(whole));
  }
  return { part: least, all, enough: enough(least) };
}

/** Throws where the work on an input of `size` takes more than its share of that on a quarter of it. Either counts by
 *  its fastest run. Long work is compared with that on four quarters, one behind the other: a quarter by itself may have room in
 *  a cache in which the whole has none. */
export function expectLinear<T>(size: number, inputOf: (size: number) => T, work: (input: T) => unknown): void {
  const quarterOf = () => inputOf(Math.floor(size / PARTS));
  const [quarter, whole] = [quarterOf(), inputOf(size)];
  const { times, runs } = measureOf(() => work(quarter));
  const is_long = runs === 1;
  const quarters = is_long ? [quarter, ...Array.from({ length: PARTS - 1 }, quarterOf)] : [quarter];
  const { part, all, enough } = compare(
    repeated(() => quarters.forEach((one) => work(one)), times),
    repeated(() => work(whole), times),
    {
      runs,
      rounds: is_long ? LONG_ROUNDS : ROUNDS,
      enough: (part) => Math.max((LIMIT / quarters.length) * part, FEW_PASSES_MS * size * times),
    },
  );
  if (all <= enough) return;
  const longer = (quarters.length * all) / part;
  throw new Error(`4 times the input takes ${longer.toFixed(1)} times as long: ${all / times} ms for ${size}`);
}

/** So many times too slow at first, work is not repeated. */
const HANGING = 20;

/** Throws where the work takes more than `factor` times what other work takes on the same machine, each by its fastest
 *  run. */
export function expectWithin(factor: number, other: () => unknown, work: () => unknown): void {
  const { times, runs } = measureOf(other);
  const tooSlow = (all: number, enough: number): Error =>
    new Error(`it takes ${all / times} ms, ${factor} times the other work are ${enough / times} ms`);
  const first = factor * cpuOf(repeated(other, times));
  let once = times * cpuOf(work); // which compiles it, and says little more than whether it hangs
  if (once > HANGING * first && once / times < LONG_MS) once = times * cpuOf(work); // what ran once only
  if (once > HANGING * first) throw tooSlow(once, first);
  const { all, enough } = compare(repeated(other, times), repeated(work, times), {
    runs,
    rounds: ROUNDS,
    enough: (part) => factor * part,
  });
  if (all > enough) throw tooSlow(all, enough);
}

/** The median of what each kind of work takes, asked in turns so that what disturbs one disturbs all. */
export async function medians(rounds: number, ...works: ((round: number) => Promise<unknown>)[]): Promise<number[]> {
  const took = works.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [which, work] of works.entries()) took[which]!.push(await cpuOfAsync(() => work(round)));
  }
  return took.map((list) => list.toSorted((a, b) => a - b)[rounds >> 1]!);
}

/** Fewer rounds may be alike by chance. */
const LEAST_ROUNDS = 10;
/** So many standard errors of a median set chance aside; one is half the root of n ranks. */
const BEYOND = 3;

/** How many times as long `one` took as `other`, round by round: the median, and what it is at least where chance is set aside. */
function longerBy(one: readonly number[], other: readonly number[]): { median: number; atLeast: number } {
  const ratios = one.map((took, round) => took / other[round]!).toSorted((a, b) => a - b);
  const middle = ratios.length >> 1;
  const rank = Math.floor(middle - (BEYOND * Math.sqrt(ratios.length)) / 2);
  return { median: ratios[middle]!, atLeast: ratios[Math.max(0, rank)]! };
}

/** Throws if some kind of work takes more than `spread` (0.05 means 5 %) longer than another. Two kinds are compared within each
 *  round, where the machine did much the same for both, and the median of the rounds counts: a machine that gets slower or
 *  quicker on the way changes nothing. Ends with the first round that finds them alike; after the last, a difference counts that
 *  chance does not make. The order turns from round to round, so that no kind always comes first. */
export async function expectAlike(
  spread: number,
  rounds: number,
  works: Readonly<Record<string, () => Promise<unknown>>>,
): Promise<void> {
  const kinds = Object.entries(works).map(([name, work]) => ({ name, work, took: [] as number[] }));
  const compared = (): ReturnType<typeof longerBy>[] =>
    kinds.flatMap(({ took }) => kinds.map((other) => longerBy(took, other.took)));
  for (let round = 1; round <= rounds; round++) {
    const turn = round % kinds.length;
    for (const { work, took } of [...kinds.slice(turn), ...kinds.slice(0, turn)]) took.push(await cpuOfAsync(work));
    if (round >= LEAST_ROUNDS && compared().every(({ median }) => median <= 1 + spread)) return;
  }
  if (compared().every(({ atLeast }) => atLeast <= 1 + spread)) return;
  const first = kinds[0]!;
  const told = kinds.map(({ name, took }) => `${name} ${longerBy(took, first.took).median.toFixed(3)}`);
  throw new Error(`they can be told apart by the time they take, each in times of ${first.name}: ${told.join(", ")}`);
}
