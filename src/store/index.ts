/** The store as a server opens it: all SQL and all disk. */
import type { Ownership, Publish, Published, Rollback, RolledBack, Tokens } from "./changes.ts";
import type { Accounts, DeviceLogins, Sessions } from "./people.ts";
import type { ServingStore, Sites, Versions } from "./serving.ts";
import type { Census, Damage, Figures, Reports, ServerAddress, Swept } from "./upkeep.ts";
import { verifyTurn } from "./backup/verify.ts";
import { freeBytes, hasRoomFor } from "./disk/ballast.ts";
import { blobIsFound, readBlobs } from "./disk/blobs.ts";
import { openFigures } from "./disk/figures.ts";
import { accountStore } from "./sql/accounts.ts";
import { deviceLoginStore } from "./sql/device-logins.ts";
import { missingBlobs } from "./sql/named-blobs.ts";
import { ownershipStore } from "./sql/ownership.ts";
import { publisher } from "./sql/publish.ts";
import { reportStore } from "./sql/reports.ts";
import { rollbacker } from "./sql/rollback.ts";
import { rememberServerAddress } from "./sql/server-address.ts";
import { sessionStore } from "./sql/sessions.ts";
import { siteCensus } from "./sql/site-listing.ts";
import { siteReader, tokenReader } from "./sql/sites.ts";
import { versionReader } from "./sql/versions.ts";
import { openDataDir } from "./sqlite/data-dir.ts";
import { sweeper } from "./sqlite/sweep.ts";

export { readBrands } from "./disk/brands.ts";
export { openFigures } from "./disk/figures.ts";
export { readSecrets, type Secrets } from "./disk/secrets.ts";
export { prepareDataDir } from "./sqlite/prepare.ts";
export { SCHEMA } from "./sqlite/database.ts";
export { openRates } from "./sqlite/rates.ts";

export interface Store extends ServingStore {
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
  rememberServerAddress(address: ServerAddress): Promise<void>;
  close(): void;
}

/** Opens a data directory that `prepareDataDir` has readied. `watch`: for a process that serves pages. */
export async function openStore(options: { data_dir: string; now: () => number; watch?: boolean }): Promise<Store> {
  const { data_dir } = options;
  const parts = openDataDir(data_dir, options.now, options.watch);
  const { db } = parts;
  return {
    generation: parts.generation,
    sites: siteReader(db),
    versions: versionReader(db),
    tokens: tokenReader(db),
    accounts: accountStore(parts),
    sessions: sessionStore(parts),
    device_logins: deviceLoginStore(parts),
    ownership: ownershipStore(parts),
    blobs: readBlobs(data_dir),
    publish: publisher(parts),
    rollback: rollbacker(parts),
    sweep: sweeper(parts),
    hasRoomFor: (bytes) => hasRoomFor(data_dir, bytes),
    missingBlobs: () => missingBlobs(db, (blob) => blobIsFound(data_dir, blob)),
    verifyTurn: verifyTurn(parts),
    reports: reportStore(db),
    census: siteCensus(db),
    freeBytes: () => freeBytes(data_dir),
    figures: openFigures(data_dir),
    rememberServerAddress: (address) => rememberServerAddress(db, address),
    close: parts.close,
  };
}
