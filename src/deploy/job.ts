/** The messages to and from a deploy's process: plain data, for a channel keeps no classes. */
import type { PlainFailure } from "../base/errors.ts";
import type { BuiltVersion, Bytes, Limits, SiteContext } from "../base/types.ts";
import type { ReviewThread } from "../comments/carry.ts";
import type { Published, PublishTarget } from "../store/publish.ts";
import type { Bounds, Charged } from "../store/quotas.ts";
import type { ChangeCounts } from "../store/receipts.ts";
import type { NewToken } from "../store/sites.ts";
import type { StoreAddress } from "../store/index.ts";
import type { UploadFile } from "./zip-files.ts";

/** The bytes of an upload. */
export interface UploadBody {
  /** A file of `DeployPool.receive`, or the bytes themselves. The caller must not use it afterwards. */
  zip: UploadFile | Bytes;
  /** The zip is a delta: the site whose files complete it. */
  joins?: string | null;
}

interface UploadJob extends UploadBody {
  /** The process reads the brands itself. */
  site: Omit<SiteContext, "brands">;
  /** The customer waits for a slot in turn with others: an IPv4 address or an IPv6 /48. The network is its /64. */
  customer: string;
  network: string;
}

export interface DeployJob extends UploadJob {
  target: PublishTarget;
  tokens: NewToken[];
  bounds: Bounds;
  /** The owner's setting that came with the deploy; undefined leaves it as it is. */
  spa_override?: 0 | 1 | null;
  /** A browser shall look at the version: the keyed hash of the customer that deploys it. */
  renders?: string | null;
}

/** A dry run: all of a deploy up to the point where something would be stored. */
export interface RehearsalJob extends UploadJob {
  /** The site and version that it is compared with; null for a new site. */
  against: { site_id: string; version_id: string } | null;
  charged: Charged;
  bounds: Bounds;
}

export type Rehearsed = Pick<BuiltVersion, "version_id" | "title" | "spa" | "healed" | "warnings" | "checked"> & {
  /** The size of the upload. */
  size: Pick<BuiltVersion, "files" | "bytes">;
  /** Against what is live; null for a new site. */
  changes: ChangeCounts | null;
  /** Paths of uploaded files, against what is live. */
  files: { added: string[]; changed: string[]; removed: string[] };
};

export type Deployed = Published &
  Pick<BuiltVersion, "title" | "healed" | "warnings" | "checked" | "files" | "bytes"> & {
    /** Open threads of comments whose passage it edited or took away. */
    review: ReviewThread[];
    /** For a preview: compared with what is live. */
    compared?: Rehearsed["files"];
    /** Why its comments were left where they were. */
    not_carried?: string;
    /** Stage → milliseconds, in the order in which they began (CONTRACT 7). */
    stages: Record<string, number>;
  };

/** After another change of the live pointer than a deploy: the threads of its comments go along. */
export interface CarryJob {
  carry: { site_id: string };
  /** Waits for a slot in turn with others. */
  customer: string;
  network: string;
}

/** Asks what an upload of these files would be (BEYOND 6). Nothing is stored. */
export interface PlanJob {
  plan: { site_id: string };
  /** JSON. The caller must not use it afterwards. */
  list: Bytes;
  customer: string;
  network: string;
}

export interface Planned {
  version_id: string;
  live: boolean;
  stored: boolean;
  /** Hashes of what the site lacks, in the order of the list. */
  need: string[];
}

/** Asks for a stored version as a zip (BEYOND 9). The file for it is named by the pool. */
export interface PackJob {
  pack: { site_id: string; version_id: string };
  customer: string;
  network: string;
}

/** Members that do not go to the process. */
type Uploaded = "zip" | "list" | "customer" | "network";

type JobOf =
  | Omit<DeployJob, Uploaded>
  | Omit<RehearsalJob, Uploaded>
  | Omit<CarryJob, Uploaded>
  | Omit<PlanJob, Uploaded>
  | { pack: PackJob["pack"] & { path: string } };

/** The same with the zip as a file. */
export type ProcessJob = JobOf &
  StoreAddress & {
    /** In DATA/tmp; of a plan it is the list, of a job without either a file that is not there. */
    zip_path: string;
    limits: Limits;
    /** By the service's clock, when the job begins. */
    now: number;
    /** The version of the program that asks. */
    version: string;
  };

/** `other_version`: the program was exchanged while it ran, and this process is the new one. */
export type DeployOutcome =
  | { deployed: Deployed }
  | { rehearsed: Rehearsed }
  | { carried: ReviewThread[] }
  | { planned: Planned }
  | { packed: { bytes: number } }
  | PlainFailure
  | { other_version: string };

/** `spent`: the process must not be given another job. */
export interface DeployAnswer {
  outcome: DeployOutcome;
  spent: boolean;
}

/** `publish`: the yes to the process's question. `close`, which every child hears: leave the database in order, and end. */
export type ToProcess = ProcessJob | "publish";
