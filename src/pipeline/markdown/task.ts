/** What is said between a deploy and the thread that renders its Markdown. */
import type { MessagePort } from "node:worker_threads";
import type { LinkTargets } from "./links.ts";
import type { Rendered, RenderJob } from "./render.ts";

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
  /** Of this thread alone, so that a machine busy with other things costs no page its time. */
  cpu_ms: number;
}
