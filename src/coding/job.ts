/** What goes into a coding process and what comes out. */
import type { Compression, Effort } from "../http/codings.ts";
import type { Bytes } from "../base/types.ts";

export interface CodingJob {
  bytes: Bytes;
  coding: Compression;
  effort: Effort;
  /** Of one process all are, or none. */
  ahead: boolean;
}

/** Null where it would not be smaller. */
export type Coded = Bytes | null;
