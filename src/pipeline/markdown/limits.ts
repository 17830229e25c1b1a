/** Rendering within a time limit. `marked` is quadratic on some texts, and blocks its thread meanwhile; so it has a
 *  thread of its own, and this one sleeps until that one answers or its time is up. A thread inside a regular
 *  expression does not even stop when it is ended: the process that runs deploys is informed, and ends once it has
 *  answered (docs/decisions/deploys.md). */
import { MessageChannel, receiveMessageOnPort } from "node:worker_threads";
import { newThread, threadUrl } from "../../run/thread.ts";
import { stopwatch } from "./clock.ts";
import type { LinkTargets } from "./links.ts";
import { GIVING_UP_ON_MARKDOWN, type Progress } from "../../base/types.ts";
import type { Rendered, RenderJob } from "./render.ts";
import type { ThreadReply, ThreadTask } from "./thread.ts";

export interface TimeLimits {
  /** Milliseconds for all pages of a deploy. */
  deploy: number;
  /** The part of them for one page. */
  page: number;
}

const TIME_LIMITS: TimeLimits = { deploy: 2000, page: 500 };

/** A thread is there in 30 ms; a machine that needs this long has other troubles. */
const START_MS = 5000;
/** The deploy has ten seconds on the clock: past this many, slow pages cost it no more of them. */
const PATIENCE_MS = 4000;

interface Run {
  /** The next page; null when it took longer than `ms` of work, or `clock` on the clock. */
  next(ms: number, clock: number): ThreadReply | null;
  /** `clean`: every page has come, and the thread may be given another deploy. */
  end(clean: boolean): void;
}

/** Threads that were ended in the middle of a text and may be at work still. */
let runaways = 0;

/** The rendering thread's share of the processor time of the process. A runaway never counts for more than the
 *  clock, and gets no more of a busy machine than the thread itself. */
const shareOf = ({ cpu_ms, clock_ms }: { cpu_ms: number; clock_ms: number }): number =>
  Math.max(cpu_ms - runaways * clock_ms, cpu_ms / (1 + runaways));

/** Waits for the counter to move on from `seen`. Time is what this process worked: a machine that works for others costs
 *  no page its time. `clock`: milliseconds on the clock, in any case. */
function waitFor(count: Int32Array, seen: number, ms: number, clock: number): boolean {
  const elapsed = stopwatch();
  const moved = () => Atomics.load(count, 0) !== seen;
  // Being woken proves nothing: the call may be for a message that was read already.
  for (let left = ms; left > 0 && !moved();) {
    if (Atomics.wait(count, 0, seen, Math.max(1, left)) !== "timed-out") continue;
    const spent = elapsed();
    left = Math.min(ms - shareOf(spent), clock - spent.clock_ms);
  }
  return moved();
}

/** A thread that does not start uses no processor time, so only here the clock decides. */
function waitForStart(count: Int32Array): boolean {
  for (const elapsed = stopwatch(); Atomics.load(count, 0) === 0 && elapsed().clock_ms < START_MS;)
    Atomics.wait(count, 0, 0, 100);
  return Atomics.load(count, 0) !== 0;
}

/** From an earlier deploy of this process. */
let warm: Worker | null = null;

function takeThread(): Worker {
  const worker = warm ?? newThread(threadUrl("./src/pipeline/markdown/thread.ts"));
  warm = null;
  worker.unref();
  return worker;
}

async function endThread(thread: Worker): Promise<void> {
  runaways++;
  await thread.terminate();
  runaways--;
}

function startRun(jobs: readonly RenderJob[], targets: LinkTargets): Run {
  const thread = takeThread();
  const said = new SharedArrayBuffer(4);
  const count = new Int32Array(said);
  const { port1, port2 } = new MessageChannel();
  thread.postMessage({ port: port2, said, jobs, targets } satisfies ThreadTask, [port2]);
  if (!waitForStart(count)) throw new Error("the thread that renders Markdown did not start");
  let heard = 1;
  return {
    next(ms, clock) {
      if (!waitFor(count, heard, ms, clock)) return null;
      heard++;
      return receiveMessageOnPort(port1)!.message as ThreadReply;
    },
    end(clean) {
      port1.close();
      if (clean) warm = thread;
      else void endThread(thread);
    },
  };
}

/** A text that was rendered, or why it was not. */
interface Outcome {
  /** Null: it was given up, or `marked` threw. */
  rendered: Rendered | null;
  /** Milliseconds of work that it took. */
  spent: number;
  /** It was given up before it had a page's share: the time of the deploy was spent by others. */
  crowded_out: boolean;
}

/** The texts of a deploy, and what became of them. */
interface Rendering {
  jobs: readonly RenderJob[];
  targets: LinkTargets;
  progress: Progress;
  outcomes: Outcome[];
  /** Milliseconds that a page has before it counts as slow. */
  page: number;
  /** Milliseconds of work for all that is still to come. */
  left: number;
  /** The clock counts too: two texts were given up, or slow ones have their second try. */
  hurried: boolean;
  elapsed: ReturnType<typeof stopwatch>;
}

/** On the clock: an honest upload on a busy machine has all the time that it works. */
const patience = ({ hurried, elapsed }: Rendering): number => (hurried ? PATIENCE_MS - elapsed().clock_ms : Infinity);

/** Whether the text made it. */
function renderNext(all: Rendering, run: Run, i: number, share: number): boolean {
  const clock = patience(all);
  if (clock <= 0) all.left = 0;
  const ms = Math.min(share, all.left);
  all.progress("rendering Markdown", all.jobs[i]!.source);
  const reply = ms > 0 ? run.next(ms, clock) : null;
  const spent = reply?.cpu_ms ?? ms;
  all.left -= spent;
  const before = all.outcomes[i]!.spent;
  const crowded_out = reply === null && before + spent < all.page;
  all.outcomes[i] = { rendered: reply?.rendered ?? null, spent: before + spent, crowded_out };
  return reply !== null;
}

/** Gives each page at most `share`; tells those that need more. */
function runThrough(all: Rendering, order: readonly number[], share: number): number[] {
  const slow: number[] = [];
  for (let rest = order; rest.length > 0 && all.left > 0;) {
    const run = startRun(
      rest.map((i) => all.jobs[i]!),
      all.targets,
    );
    const stopped = rest.findIndex((i) => !renderNext(all, run, i, share));
    run.end(stopped < 0);
    if (stopped < 0) break;
    all.progress(GIVING_UP_ON_MARKDOWN, all.jobs[rest[stopped]!]!.source);
    slow.push(rest[stopped]!);
    all.hurried ||= slow.length > 1;
    rest = rest.slice(stopped + 1);
  }
  return slow;
}

/** Pages in the order of `jobs`. Short texts go first, and each gets its share; those
 *  that need more come last, one after the other, with all that is left: a slow text takes the time of no other. A thread
 *  that had to be ended is followed by a fresh one. */
export function renderWithin(
  jobs: readonly RenderJob[],
  targets: LinkTargets,
  progress: Progress,
  limits: TimeLimits = TIME_LIMITS,
): Outcome[] {
  const outcomes = jobs.map((): Outcome => ({ rendered: null, spent: 0, crowded_out: true }));
  const [{ page, deploy: left }, elapsed] = [limits, stopwatch()];
  const all: Rendering = { jobs, targets, progress, outcomes, page, left, hurried: false, elapsed };
  const by_length = jobs.map((_, i) => i).toSorted((a, b) => jobs[a]!.text.length - jobs[b]!.text.length);
  const slow = runThrough(all, by_length, limits.page);
  runThrough({ ...all, hurried: true }, slow, Infinity);
  return all.outcomes;
}
