/** The part of the store that serves pages. The functions are async although SQLite answers at once: a database and a bucket of
 *  other machines have the same interface (ARCHITECTURE, idea 3). */
import type { Bytes } from "../base/types.ts";
import type { Previews } from "./previews.ts";
import type { Domains } from "./domains.ts";
import type { Sites } from "./sites.ts";
import type { Stored, Versions } from "./versions.ts";

export interface Generation {
  /** Moves whenever the site of this slug changed anywhere: read it *before* a row, and keep the row under that value.
   *  The embedded store counts the changes of all sites together. 5 ns. */
  current(slug: string): number;
  /** Whether what was read while it stood at this value may still be shown. On several boxes not where this one may have missed
   *  a change; where it can ask nobody, it may for a while (SCALE 4). */
  holds(slug: string, value: number): boolean;
  /** Waits for what is read anew, or null as soon as what was read at this value may be shown after all. Left out where nothing that
   *  was kept is ever read anew without a change. */
  orHeld?<Row>(slug: string, value: number, reading: Promise<Row>): Promise<Row | null>;
}

/** A box of a service with several, as its operator watches it (SCALE 1). */
export interface BoxFigures {
  /** Whether the database answered when it was last asked. */
  database_up: boolean;
  /** Milliseconds since it last did; 0 while it does. */
  stale_ms: number;
  /** Whether the bucket did what it was last asked for. */
  bucket_up: boolean;
  /** Bytes of it that are kept on this disk. */
  cache_bytes: number;
  /** Boxes that are there, this one among them; and others whose settings differ. */
  boxes: number;
  differing: number;
  /** Milliseconds that the database's clock is ahead of this machine's. */
  ahead_ms: number;
}

/** Stored bytes, found by what a manifest says of them. */
export interface Blobs {
  /** The bytes, checked against their hash. Throws `DamagedBlob` if they are missing, short or not what they were. */
  read(file: Stored): Promise<Bytes>;
  /** The file of a blob that is too large to keep in memory: hashed off the thread before its first use in this
   *  process, and again when its size, mtime or inode has changed; at once if it is known. Throws `DamagedBlob`. */
  open(file: Stored): Bun.BunFile | Promise<Bun.BunFile>;
}

/** Everything serving needs of the store; a test passes its own. */
export interface ServingStore {
  generation: Generation;
  sites: Pick<Sites, "bySlug" | "movedTo" | "tombstone">;
  versions: Pick<Versions, "get" | "stored" | "manifest" | "left" | "firstUpload">;
  previews: Pick<Previews, "shown">;
  domains: Pick<Domains, "at" | "activeOf">;
  blobs: Blobs;
}
