/** All SQL and all disk. The functions are async although SQLite answers at once: the same interface is to stand on
 *  Postgres and S3 where one machine is outgrown (ARCHITECTURE.md, idea 3). */
import { type Accounts, accountStore } from "./sql/accounts.ts";
import { commits } from "./sql/commit.ts";
import { openDatabase } from "./sqlite/database.ts";
import { rememberAddress, type ServerAddress } from "./sql/address.ts";
import { type DeviceLogins, deviceLoginStore } from "./sql/device-logins.ts";
import { freeBytes, hasRoomFor } from "./disk/ballast.ts";
import { readBlobs } from "./disk/blobs.ts";
import { type Figures, openFigures } from "./disk/figures.ts";
import { openGeneration } from "./sqlite/generation.ts";
import { missingBlobs } from "./missing.ts";
import { type Ownership, ownershipStore } from "./sql/ownership.ts";
import type { WriteBy } from "./sql/permission.ts";
import { publisher } from "./sql/publish.ts";
import { type Reports, reportStore } from "./sql/reports.ts";
import { type Rollback, type RolledBack, rollbacker } from "./sql/rollback.ts";
import { type Census, siteCensus } from "./sql/site-listing.ts";
import { type Sessions, sessionStore, type SignedIn } from "./sql/sessions.ts";
import { siteReader, tokenReader, type Tokens } from "./sql/sites.ts";
import { sweeper, type Swept } from "./sql/sweep.ts";
import { type Damage, verifyTurn } from "./backup/verify.ts";
import { versionReader } from "./sql/versions.ts";
import type { BuiltVersion, Bytes, Manifest, Site, TokenKind, Tombstone, Version } from "../types.ts";

export interface Generation {
  /** Moves whenever a site changed anywhere: read it *before* a row, and keep the row under that value. 5 ns. */
  current(): number;
  /** After COMMIT and before the answer. */
  advance(): void;
}

export interface Sites {
  bySlug(slug: string): Promise<Site | null>;
  byId(site_id: string): Promise<Site | null>;
  /** What is left of a site that is gone, by its slug. */
  tombstone(slug: string): Promise<Tombstone | null>;
}

export interface Versions {
  get(site_id: string, version_id: string): Promise<Version | null>;
  /** Newest first. */
  list(site_id: string): Promise<Version[]>;
  manifest(site_id: string, version_id: string): Promise<Manifest | null>;
}

/** Stored bytes by their SHA-256. */
export interface Blobs {
  /** The bytes, checked against their name. Throws `DamagedBlob` where they are missing, short or not what they were. */
  read(sha256: string): Promise<Bytes>;
  /** The file of a blob that is too large to keep in memory: hashed off the thread before its first use in this
   *  process, and again when its size, mtime or inode has changed. Throws `DamagedBlob`. */
  open(sha256: string): Promise<Bun.BunFile>;
}

/** A blob that is missing or damaged: the answer is a 500, never a short 200 (RELIABILITY.md, P5). */
export class DamagedBlob extends Error {
  override readonly name = "DamagedBlob";
  constructor(
    readonly sha256: string,
    why: string,
  ) {
    super(`blob ${sha256} ${why}`);
  }
}

/** Everything serving needs of the store; a test passes its own. */
export interface ServingStore {
  generation: Pick<Generation, "current">;
  sites: Pick<Sites, "bySlug" | "tombstone">;
  versions: Pick<Versions, "get" | "manifest">;
  blobs: Blobs;
}

export interface NewToken {
  hash: string;
  kind: TokenKind;
}

/** Where a deploy goes. `by` is the credential that was accepted: it must still hold when the deploy commits. */
export type PublishTarget =
  | {
      kind: "new";
      site_id: string;
      /** Null: an anonymous site, which expires. */
      owner: SignedIn | null;
      expires_at: number | null;
      /** Tried in order until one was never given out. */
      slugs: string[];
      idempotency: { key_hash: string; address: string } | null;
    }
  | { kind: "existing"; site_id: string; by: WriteBy };

export interface Publish {
  target: PublishTarget;
  version: Pick<
    BuiltVersion,
    "version_id" | "digest" | "title" | "spa" | "files" | "bytes" | "manifest" | "blobs" | "suspicions"
  >;
  tokens: NewToken[];
  /** The owner's setting that came with the deploy; undefined leaves it as it is. */
  spa_override?: 0 | 1 | null;
}

export interface Published {
  site: Site;
  version_id: string;
  /** False where the content was live already. */
  changed: boolean;
}

export interface Store extends ServingStore {
  generation: Generation;
  sites: Sites;
  versions: Versions;
  tokens: Tokens;
  accounts: Accounts;
  sessions: Sessions;
  device_logins: DeviceLogins;
  ownership: Ownership;
  publish(publish: Publish): Promise<Published>;
  rollback(rollback: Rollback): Promise<RolledBack>;
  /** Expired sites and old orphans. Throws a sentence where the data directory looks doubtful, unless forced. */
  sweep(now: number, force?: boolean): Promise<Swept>;
  /** Whether the disk has room for an upload of this size (uncompressed bytes) and its bookkeeping. */
  hasRoomFor(bytes: number): boolean;
  /** Blobs that live versions name and that are not on disk. */
  missingBlobs(): Promise<string[]>;
  /** Re-hashes the next slice of all blobs: called every `interval` ms, it has been through them in 30 days. */
  verifyTurn(interval: number): Promise<Damage[]>;
  reports: Reports;
  census(now: number): Promise<Census>;
  freeBytes(): number;
  figures: Figures;
  /** For operators' commands, which have the data directory and not the settings. */
  rememberAddress(address: ServerAddress): Promise<void>;
  close(): void;
}

/** Opens a data directory that `prepareDataDir` has readied. `watch`: for a process that serves pages. */
export async function openStore(options: { data_dir: string; now: () => number; watch?: boolean }): Promise<Store> {
  const { data_dir, now } = options;
  const db = openDatabase(data_dir);
  const generation = openGeneration(data_dir, db, options.watch ?? false);
  const commit = commits(data_dir, generation);
  return {
    generation,
    sites: siteReader(db),
    versions: versionReader(db),
    tokens: tokenReader(db),
    accounts: accountStore(db, commit, now),
    sessions: sessionStore(db, commit, now),
    device_logins: deviceLoginStore(db, commit, now),
    ownership: ownershipStore(db, commit, now),
    blobs: readBlobs(data_dir),
    publish: publisher({ db, data_dir, generation, now }),
    rollback: rollbacker(db, generation, now),
    sweep: sweeper({ db, data_dir, generation }),
    hasRoomFor: (bytes) => hasRoomFor(data_dir, bytes),
    missingBlobs: () => missingBlobs(db, data_dir),
    verifyTurn: verifyTurn({ db, data_dir }),
    reports: reportStore(db),
    census: siteCensus(db),
    freeBytes: () => freeBytes(data_dir),
    figures: openFigures(data_dir),
    rememberAddress: async (address) => rememberAddress(db, address),
    close() {
      generation.close();
      db.close();
    },
  };
}
