/** The thread that `marked` runs in, because only a thread can be stopped: texts in, pages out, one after the other. It
 *  waits for a next deploy a while, since code that has run before runs twice as fast. */
import { parentPort, workerData } from "node:worker_threads";
import { threadStopwatch } from "./clock.ts";
import type { LinkTargets } from "./links.ts";
import { type Rendered, renderMarkdown, type RenderJob } from "./render.ts";
import { THREAD_STATE, type ThreadReply, type ThreadTask } from "./task.ts";

const IDLE_MS = 30_000;
const state = new Int32Array(workerData as SharedArrayBuffer);
let leaving: Timer | undefined;

function render(job: RenderJob, targets: LinkTargets): Rendered | null {
  try {
    return renderMarkdown(job, targets);
  } catch {
    return null; // deep nesting: a RangeError, after which this thread is as good as before
  }
}

function run({ port, said, jobs, targets }: ThreadTask): void {
  const count = new Int32Array(said);
  const tell = () => {
    Atomics.add(count, 0, 1);
    Atomics.notify(count, 0);
  };
  tell();
  for (const job of jobs) {
    const elapsed = threadStopwatch();
    const rendered = render(job, targets);
    port.postMessage({ rendered, cpu_ms: elapsed() } satisfies ThreadReply);
    tell();
  }
  port.close();
}

function leave(): void {
  const { idle, gone } = THREAD_STATE;
  if (Atomics.compareExchange(state, 0, idle, gone) === idle) process.exit(); // ends this thread alone
  leaving = setTimeout(leave, IDLE_MS);
}

parentPort!.on("message", (task: ThreadTask) => {
  clearTimeout(leaving);
  run(task);
  leaving = setTimeout(leave, IDLE_MS);
});
