/** What whoever shows pages asks of the store. The functions are async although SQLite answers at once: the same
 *  interface stands on a database and a bucket of other machines (ARCHITECTURE, idea 3). */
import type { Bytes, Healed, ManifestFile, Site, Tombstone, Version, Warning } from "../base/types.ts";

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

/** What the service said of the deploy that made a version. */
export interface Receipt {
  healed: readonly Healed[];
  warnings: readonly Warning[];
  /** How many entries were too much to be kept. */
  left_out: number;
}

/** Which page of a list, from 1, and of how many rows. */
export interface AskedPage {
  page: number;
  per_page: number;
}

/** One page of a list. */
export interface ListPage<Row> {
  rows: Row[];
  /** Past the end the last page is told; there is always a first. */
  page: number;
  pages: number;
  /** Rows of all pages. */
  matching: number;
}

/** A file that two versions do not hold alike: its bytes in the one and in the other; null where it has none. */
export interface ChangedFile {
  path: string;
  before: number | null;
  after: number | null;
}

/** What a version has otherwise than another: files as they were uploaded, by path. */
export interface Changes {
  added: ChangedFile[];
  changed: ChangedFile[];
  removed: ChangedFile[];
  unchanged: number;
}

/** Files that the service made are no part of it: they follow from the others. */
export function compareUploads(before: Iterable<ManifestFile>, after: Iterable<ManifestFile>): Changes {
  const uploaded = (files: Iterable<ManifestFile>) =>
    new Map([...files].filter(({ made }) => !made).map((file) => [file.path, file]));
  const [old, fresh] = [uploaded(before), uploaded(after)];
  const paths = [...new Set([...old.keys(), ...fresh.keys()])].sort();
  const files = paths.map((path) => ({
    path,
    before: old.get(path)?.bytes ?? null,
    after: fresh.get(path)?.bytes ?? null,
    same: old.get(path)?.sha256 === fresh.get(path)?.sha256,
  }));
  const only = (wanted: (file: (typeof files)[number]) => boolean): ChangedFile[] =>
    files.filter(wanted).map(({ path, before, after }) => ({ path, before, after }));
  return {
    added: only((file) => file.before === null),
    changed: only((file) => file.before !== null && file.after !== null && !file.same),
    removed: only((file) => file.after === null),
    unchanged: only((file) => file.same).length,
  };
}

/** A version that was live once, and is not now. */
export interface LeftVersion {
  version_no: number;
  version_id: string;
  /** Epoch milliseconds: when it was left, for the last time. */
  live_until: number;
  /** 1: a secret was seen in it. */
  withhold: 0 | 1;
}

export interface Versions {
  /** Those that were left, the one that was left last first; at most `limit`. */
  left(site_id: string, limit: number): Promise<LeftVersion[]>;
  /** The file that somebody uploaded at exactly that path, in the first of these versions that has one. */
  firstUpload(version_nos: readonly number[], path: string): Promise<{ version_no: number; file: StoredFile } | null>;
  /** One that is or was live. */
  get(site_id: string, version_id: string): Promise<Version | null>;
  /** Also one that only a preview shows. */
  stored(site_id: string, version_id: string): Promise<Version | null>;
  /** Newest first, from the newest on or from the one after `before`. Throws `unknown_version` where there is none of
   *  that name. `more`: older ones are left. */
  list(
    site_id: string,
    page: { limit: number; before: string | null },
  ): Promise<{ versions: Version[]; more: boolean }>;
  manifest(site_id: string, version_id: string): Promise<StoredManifest | null>;
  /** By number of page, newest first. */
  page(site_id: string, asked: AskedPage): Promise<ListPage<Version & { live: boolean }>>;
  /** The one that was made last before it; null for the first. */
  before(site_id: string, version_id: string): Promise<Version | null>;
  /** Null: the site has no such version, or none was kept (it is older than receipts that are). */
  receipt(site_id: string, version_id: string): Promise<Receipt | null>;
  /** Between two versions; from null everything is added. Null where the site has no such version. */
  compare(site_id: string, from: string | null, to: string): Promise<Changes | null>;
  /** Of these contents those that an uploaded file of one of its versions has, previews' too; by hash. */
  possessed(site_id: string, hashes: readonly string[]): Promise<Map<string, Stored>>;
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

/** What an address of a preview shows. */
export interface ShownPreview {
  /** Null: the version's own address alone. */
  name: string | null;
  version_id: string;
  /** Epoch milliseconds: from then on it shows nothing, swept or not. */
  expires_at: number;
  /** Of a version that was never live, and ends with the last preview that shows it: what tells its row from any other.
   *  Null of one that is or was live. */
  only: string | null;
}

export interface PreviewAddresses {
  /** Those that have ended and are not swept yet among them. */
  shown(site_id: string): Promise<ShownPreview[]>;
}

/** Everything serving needs of the store; a test passes its own. */
export interface ServingStore {
  generation: Generation;
  sites: Pick<Sites, "bySlug" | "tombstone">;
  versions: Pick<Versions, "get" | "stored" | "manifest" | "left" | "firstUpload">;
  previews: PreviewAddresses;
  blobs: Blobs;
}
