/** Rendering under a limit of time. `marked` is quadratic on some texts, and while it is at one nothing else runs in its
 *  thread; so it has one, and this one sleeps until it says something or its time is up. A thread that is in a regular
 *  expression does not even stop when it is ended: whoever runs deploys is told, and ends the process once it has
 *  answered (docs/decisions/markdown.md). */
import { MessageChannel, receiveMessageOnPort, Worker } from "node:worker_threads";
import { threadUrl } from "../../thread-url.ts";
import { stopwatch } from "./clock.ts";
import type { LinkTargets } from "./links.ts";
import type { Progress } from "../../types.ts";
import type { Rendered, RenderJob } from "./render.ts";
import type { ThreadReply, ThreadTask } from "./task.ts";

export interface TimeLimits {
  /** Milliseconds for all pages of a deploy. */
  deploy: number;
  /** Of them for one page. */
  page: number;
}

const RENDERING = "rendering Markdown";
/** A thread may go on after this: src/deploy/worker.ts goes by these very words. */
const GIVING_UP = "giving up on Markdown";

const TIME_LIMITS: TimeLimits = { deploy: 2000, page: 500 };

/** A thread is there in 30 ms; a machine that needs this long has other troubles. */
const START_MS = 5000;

interface Run {
  /** The next page; null when it took longer than `ms`. */
  next(ms: number): ThreadReply | null;
  /** `clean`: every page has come, and the thread may be given another deploy. */
  end(clean: boolean): void;
}

/** Waits for the counter to move on from `seen`. Time is what this process worked, so that a page does not pay for a
 *  machine that works for others; past twice the time on the clock it is up in any case. */
function waitFor(count: Int32Array, seen: number, ms: number): boolean {
  const elapsed = stopwatch();
  const moved = () => Atomics.load(count, 0) !== seen;
  // Woken is not told: the call may be the one for what was heard already.
  for (let left = ms; left > 0 && !moved();) {
    if (Atomics.wait(count, 0, seen, Math.max(1, left)) !== "timed-out") continue;
    const { cpu_ms, clock_ms } = elapsed();
    left = Math.min(ms - cpu_ms, 2 * ms - clock_ms);
  }
  return moved();
}

/** From an earlier deploy of this process. */
let warm: Worker | null = null;

function takeThread(): Worker {
  const worker = warm ?? new Worker(threadUrl("./src/pipeline/markdown/thread.ts"));
  warm = null;
  worker.unref();
  return worker;
}

function startRun(jobs: readonly RenderJob[], targets: LinkTargets): Run {
  const thread = takeThread();
  const said = new SharedArrayBuffer(4);
  const count = new Int32Array(said);
  const { port1, port2 } = new MessageChannel();
  thread.postMessage({ port: port2, said, jobs, targets } satisfies ThreadTask, [port2]);
  if (!waitFor(count, 0, START_MS)) throw new Error("the thread that renders Markdown did not start");
  let heard = 1;
  return {
    next(ms) {
      if (!waitFor(count, heard, ms)) return null;
      heard++;
      return receiveMessageOnPort(port1)!.message as ThreadReply;
    },
    end(clean) {
      port1.close();
      if (clean) warm = thread;
      else void thread.terminate();
    },
  };
}

/** Pages in the order of `jobs`; null for one that did not make it. Short texts go first, so that a hostile one takes
 *  the time of none but those that are longer. A thread that had to be ended is followed by a fresh one. */
export function renderWithin(
  jobs: readonly RenderJob[],
  targets: LinkTargets,
  progress: Progress,
  limits: TimeLimits = TIME_LIMITS,
): (Rendered | null)[] {
  const order = jobs.map((_, i) => i).toSorted((a, b) => jobs[a]!.text.length - jobs[b]!.text.length);
  const pages: (Rendered | null)[] = jobs.map(() => null);
  let left = limits.deploy;
  for (let at = 0; at < order.length && left > 0;) {
    const rest = order.slice(at);
    const run = startRun(
      rest.map((i) => jobs[i]!),
      targets,
    );
    let done = 0;
    for (const i of rest) {
      if (left <= 0) break;
      at++;
      progress(RENDERING, jobs[i]!.source);
      const reply = run.next(Math.min(limits.page, left));
      left -= reply?.cpu_ms ?? limits.page;
      pages[i] = reply?.rendered ?? null;
      if (!reply) progress(GIVING_UP, jobs[i]!.source);
      if (!reply) break;
      done++;
    }
    run.end(done === rest.length);
  }
  return pages;
}
