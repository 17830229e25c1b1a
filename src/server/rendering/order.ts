/** What the engine's thread and whoever started it say to each other. */
import type { Looked } from "../../render/engine.ts";

/** What the thread is started with. */
export interface RenderData {
  data_dir: string;
  base_url: string;
  sites_domain: string;
  /** Where the server listens, for a program of its machine: `http://127.0.0.1:8787`. */
  server: string;
  chrome: string | null;
}

/** Look at what waits (by this clock); or end what runs, and say so. */
export type RenderOrder = { now: number } | "stop";

/** `done` ends each order to look. */
export type RenderReply =
  | { looked: Looked; waiting: number }
  | { say: string }
  | { done: true; error: string | null }
  /** Only a restart into recovery can mend it. */
  | { fatal: string }
  | "stopped";
