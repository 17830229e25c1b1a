/** What operations stand on. */
import type { BuiltVersion, ManifestFile } from "../../base/types.ts";
import type { Db, Op } from "./db.ts";

/** Where blobs lie. */
export interface BlobPlace {
  /** When it resolves, every blob survives a power cut under its name. Throws as a write of `Db` does. */
  put(version: Pick<BuiltVersion, "blobs" | "manifest">): Promise<void>;
  /** Inside the deploy's transaction: false where a sweep took one since it was put. */
  allThere(manifest: readonly ManifestFile[]): Op<boolean>;
  /** For a full disk, on which not even a deletion can be written. False where there is nothing left to give up. */
  makeRoom(): boolean;
}

export interface Parts {
  db: Db;
  place: BlobPlace;
  now: () => number;
}
