/** What whoever shows pages asks of the store. The functions are async although SQLite answers at once: the same
 *  interface stands on a database and a bucket of other machines (ARCHITECTURE, idea 3). */
import type { Bytes, ManifestFile, Site, Tombstone, Version } from "../types.ts";

export interface Generation {
  /** Moves whenever the site of this slug changed anywhere: read it *before* a row, and keep the row under that value.
   *  The embedded store counts the changes of all sites together. 5 ns. */
  current(slug: string): number;
}

export interface Sites {
  bySlug(slug: string): Promise<Site | null>;
  byId(site_id: string): Promise<Site | null>;
  /** What is left of a site that is gone, by its slug. */
  tombstone(slug: string): Promise<Tombstone | null>;
}

/** A file of a stored version. */
export interface StoredFile extends ManifestFile {
  /** Of its blob's row. */
  blob_no: number;
}

/** Path → file. A Map, never an object: `__proto__` is an honest file name. */
export type StoredManifest = ReadonlyMap<string, StoredFile>;

export interface Versions {
  get(site_id: string, version_id: string): Promise<Version | null>;
  /** Newest first, from the newest on or from the one after `before`. Throws `unknown_version` where there is none of
   *  that name. `more`: older ones are left. */
  list(
    site_id: string,
    page: { limit: number; before: string | null },
  ): Promise<{ versions: Version[]; more: boolean }>;
  manifest(site_id: string, version_id: string): Promise<StoredManifest | null>;
}

/** What finding a file's bytes takes. */
export type Stored = Pick<StoredFile, "sha256" | "bytes" | "blob_no">;

/** Stored bytes, by what a manifest says of them. */
export interface Blobs {
  /** The bytes, checked against their hash. Throws `DamagedBlob` where they are missing, short or not what they were. */
  read(file: Stored): Promise<Bytes>;
  /** The file of a blob that is too large to keep in memory: hashed off the thread before its first use in this
   *  process, and again when its size, mtime or inode has changed; at once where it is known. Throws `DamagedBlob`. */
  open(file: Stored): Bun.BunFile | Promise<Bun.BunFile>;
}

/** Everything serving needs of the store; a test passes its own. */
export interface ServingStore {
  generation: Generation;
  sites: Pick<Sites, "bySlug" | "tombstone">;
  versions: Pick<Versions, "get" | "manifest">;
  blobs: Blobs;
}
