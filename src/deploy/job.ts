/** What goes into a deploy's worker and what comes out: plain data, for `structuredClone` keeps no classes. */
import type { PlainRefusal } from "../errors.ts";
import type { NewToken, Published, PublishTarget } from "../store/changes.ts";
import type { BuiltVersion, Bytes, Limits, SiteContext } from "../types.ts";

interface Upload {
  /** Handed over: its memory belongs to the worker afterwards. */
  zip: Bytes;
  /** The worker reads the brands itself. */
  site: Omit<SiteContext, "brands">;
}

export interface DeployJob extends Upload {
  target: PublishTarget;
  tokens: NewToken[];
  /** The owner's setting that came with the deploy; undefined leaves it as it is. */
  spa_override?: 0 | 1 | null;
}

/** A dry run: all of a deploy up to the point where something would be stored. */
export interface RehearsalJob extends Upload {
  /** The site and version that it is compared with; null for a new site. */
  against: { site_id: string; version_id: string } | null;
}

export type Rehearsed = Pick<BuiltVersion, "version_id" | "title" | "spa" | "healed" | "warnings"> & {
  /** Paths of uploaded files, against what is live. */
  files: { added: string[]; changed: string[]; removed: string[] };
};

export type Deployed = Published &
  Pick<BuiltVersion, "title" | "healed" | "warnings" | "files" | "bytes"> & {
    /** Stage → milliseconds, in the order in which they began (CONTRACT 7). */
    stages: Record<string, number>;
  };

export type Job = DeployJob | RehearsalJob;

export type WorkerJob = Job & {
  data_dir: string;
  limits: Limits;
  /** By the service's clock, when the job begins. */
  now: number;
  hand_over: SharedArrayBuffer;
};

export interface PlainError {
  name: string;
  message: string;
  stack: string | undefined;
}

export type Outcome =
  { deployed: Deployed } | { rehearsed: Rehearsed } | { refusal: PlainRefusal } | { error: PlainError };

/** `close`: leave the database in order, and end. */
export type ToWorker = WorkerJob | "close";
