/** The messages to and from a coding process. */
import type { Compression, Effort } from "../http/codings.ts";
import type { Bytes } from "../base/types.ts";

export interface CodingJob {
  bytes: Bytes;
  coding: Compression;
  effort: Effort;
  /** No visitor waits for it. All jobs of one process are such, or none. */
  ahead: boolean;
}

/** Null when it would not be smaller. */
export type Coded = Bytes | null;
