/** The thread that `marked` runs in, because only a thread can be stopped: texts in, pages out, one after the other. */
import { type MessagePort, workerData } from "node:worker_threads";
import { type LinkTargets } from "./docs-links.ts";
import { type Rendered, renderMarkdown, type RenderJob } from "./markdown-render.ts";

export interface ThreadData {
  port: MessagePort;
  /** One `Int32`: how many times the thread has said something. */
  said: SharedArrayBuffer;
  jobs: readonly RenderJob[];
  targets: LinkTargets;
}

export interface ThreadReply {
  /** Null: `marked` threw. */
  rendered: Rendered | null;
  /** Of this thread alone, so that a machine busy with other things costs no page its time. */
  cpu_ms: number;
}

const { port, said, jobs, targets } = workerData as ThreadData;
const count = new Int32Array(said);

function tell(): void {
  Atomics.add(count, 0, 1);
  Atomics.notify(count, 0);
}

function render(job: RenderJob): Rendered | null {
  try {
    return renderMarkdown(job, targets);
  } catch {
    return null; // deep nesting: a RangeError, after which this thread is as good as before
  }
}

tell();
for (const job of jobs) {
  const before = process.threadCpuUsage();
  const rendered = render(job);
  const { user, system } = process.threadCpuUsage(before);
  port.postMessage({ rendered, cpu_ms: (user + system) / 1000 } satisfies ThreadReply);
  tell();
}
port.close();
