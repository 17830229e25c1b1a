/** The thread that `marked` runs in, because only a thread can be given up while the deploy goes on: texts in, pages out,
 *  one after the other. It stays for the next deploy, since code that has run before runs twice as fast. */

import { type MessagePort, parentPort } from "node:worker_threads";
import { threadStopwatch } from "./clock.ts";
import type { LinkTargets } from "./links.ts";
import { type Rendered, type RenderJob, renderMarkdown } from "./render.ts";

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

parentPort!.on("message", run);

// The messages between a deploy and the thread that renders its Markdown.

export interface ThreadTask {
  port: MessagePort;
  /** One `Int32`: how many times the thread has said something about this task. */
  said: SharedArrayBuffer;
  jobs: readonly RenderJob[];
  targets: LinkTargets;
}

export interface ThreadReply {
  /** Null: `marked` threw. */
  rendered: Rendered | null;
  /** The processor time of this thread alone, so that a machine busy with other things costs no page its time. */
  cpu_ms: number;
}
