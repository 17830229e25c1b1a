/** What goes into a deploy's thread and what comes out: plain data, for `structuredClone` keeps no classes. */
import type { PlainRefusal } from "../errors.ts";
import type { NewToken, Published, PublishTarget } from "../store/index.ts";
import type { BuiltVersion, Bytes, Limits } from "../types.ts";

export interface DeployJob {
  /** Handed over: its memory belongs to the thread afterwards. */
  zip: Bytes;
  target: PublishTarget;
  tokens: NewToken[];
  /** The owner's setting that came with the deploy; undefined leaves it as it is. */
  spa_override?: 0 | 1 | null;
}

export type Deployed = Published & Pick<BuiltVersion, "title" | "healed" | "warnings">;

export interface ThreadJob extends DeployJob {
  data_dir: string;
  limits: Limits;
  /** Milliseconds between the service's clock and this machine's. */
  clock_offset: number;
  hand_over: SharedArrayBuffer;
}

export interface PlainError {
  name: string;
  message: string;
  stack: string | undefined;
}

export type Outcome = { deployed: Deployed } | { refusal: PlainRefusal } | { error: PlainError };

/** `close`: leave the database in order, and end. */
export type ToThread = ThreadJob | "close";
