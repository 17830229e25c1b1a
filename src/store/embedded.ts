/** The whole store on a data directory, in the thread that asks it: all SQL and all disk. */
import type {
  Admitted,
  Bounds,
  Charged,
  Ownership,
  Publish,
  Published,
  Rollback,
  RolledBack,
  Tokens,
} from "./changes.ts";
import type { Accounts, DeployTokens, DeviceLogins, Sessions } from "./people.ts";
import type { Notes } from "./notes.ts";
import type { Outbox } from "./outbox.ts";
import type { Previews } from "./previews.ts";
import type { Renders } from "./renders.ts";
import type { ServingStore, Sites, Versions } from "./serving.ts";
import type { Census, Damage, Figures, Reports, ServerAddress, Swept } from "./upkeep.ts";
import { verifyTurn } from "./backup/verify.ts";
import { freeBytes } from "./disk/ballast.ts";
import { blobIsFound, readBlobs } from "./disk/blobs.ts";
import { openFigures } from "./disk/figures.ts";
import { diskUse, hasRoomFor } from "./disk/room.ts";
import { accountStore } from "./sql/accounts.ts";
import { deployTokenStore } from "./sql/deploy-tokens.ts";
import { deviceLoginStore } from "./sql/device-logins.ts";
import { leftVersions } from "./sql/lists/left-versions.ts";
import { siteCensus } from "./sql/lists/site-listing.ts";
import { versionLists } from "./sql/lists/site-versions.ts";
import { missingBlobs } from "./sql/named-blobs.ts";
import { announcing } from "./sql/notes/announcing.ts";
import { noteStore } from "./sql/notes/index.ts";
import { outbox } from "./sql/notes/outbox.ts";
import { ownershipStore } from "./sql/ownership.ts";
import { previewStore } from "./sql/previews/index.ts";
import { possession } from "./sql/possession.ts";
import { publisher } from "./sql/publish.ts";
import { admit } from "./sql/quotas.ts";
import { renderStore } from "./sql/renders/index.ts";
import { reportStore } from "./sql/reports.ts";
import { rollbacker } from "./sql/rollback.ts";
import { rememberServerAddress } from "./sql/server-address.ts";
import { sessionStore } from "./sql/sessions.ts";
import { siteReader, tokenReader } from "./sql/sites.ts";
import { versionReader } from "./sql/versions.ts";
import { type DataDir, openDataDir } from "./sqlite/data-dir.ts";
import { sweeper } from "./sqlite/sweep.ts";

export interface Store extends ServingStore {
  sites: Sites;
  versions: Versions;
  previews: Previews;
  tokens: Tokens;
  accounts: Accounts;
  sessions: Sessions;
  deploy_tokens: DeployTokens;
  device_logins: DeviceLogins;
  ownership: Ownership;
  notes: Notes;
  /** For the one process that delivers. */
  outbox: Outbox;
  /** Taking and settling is for the one process that looks. */
  renders: Renders;
  publish(publish: Publish): Promise<Published>;
  /** Throws `quota_exceeded` where `publish` would for want of room in a quota. */
  admit(site: Charged, version: Admitted, bounds: Bounds): Promise<void>;
  rollback(rollback: Rollback): Promise<RolledBack>;
  /** Removes what was over by `now`: expired sites, what sites that are gone have left, old sessions and orphans. Throws a
   *  sentence where the data directory looks doubtful, unless forced. */
  sweep(now: number, force?: boolean): Promise<Swept>;
  /** Whether the disk has room for an upload of this size (uncompressed bytes, files) and its bookkeeping. */
  hasRoomFor(bytes: number, files: number, beside?: number): boolean;
  /** Percent of the disk that are in use. */
  diskUse(): number;
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
  /** Resolves when what was asked of it is done and the files are closed. */
  close(): Promise<void>;
}

interface Ways {
  /** How the last use of a session is written down; without it whoever finds the session waits for it. */
  noteUse?: (session_id: string) => void;
  /** The same of a deploy token. */
  noteTokenUse?: (token_id: string) => void;
  /** What happens in comments goes into the outbox. */
  announces?: boolean;
}

export function storeOn(parts: DataDir, { noteUse, noteTokenUse, announces = false }: Ways = {}): Store {
  const { db, data_dir } = parts;
  return {
    generation: parts.generation,
    sites: siteReader(db),
    versions: { ...versionReader(db), ...versionLists(db), ...leftVersions(db), ...possession(db) },
    previews: previewStore(parts),
    tokens: tokenReader(db),
    accounts: accountStore(parts),
    sessions: sessionStore(parts, noteUse),
    deploy_tokens: deployTokenStore(parts, noteTokenUse),
    device_logins: deviceLoginStore(parts),
    ownership: ownershipStore(parts),
    notes: { ...noteStore(parts), ...(announces && announcing(parts)) },
    outbox: outbox(parts),
    renders: renderStore(parts),
    blobs: readBlobs(data_dir),
    publish: publisher(parts),
    admit: (site, version, bounds) => db.read(admit(site, version, bounds, parts.now())),
    rollback: rollbacker(parts),
    sweep: sweeper(parts),
    hasRoomFor: (...upload) => hasRoomFor(data_dir, ...upload),
    diskUse: () => diskUse(data_dir),
    missingBlobs: () => missingBlobs(db, (blob) => blobIsFound(data_dir, blob)),
    verifyTurn: verifyTurn(parts),
    reports: reportStore(db),
    census: siteCensus(db),
    freeBytes: () => freeBytes(data_dir),
    figures: openFigures(data_dir),
    rememberServerAddress: (address) => rememberServerAddress(db, address),
    close: async () => parts.close(),
  };
}

/** A write that does not get the lock for so long is refused. */
export const PATIENCE_MS = 5000;

/** Opens a data directory that `prepareDataDir` has readied, for what may wait for its writes: a deploy, the sweep. */
export const openStore = async (options: { data_dir: string; now: () => number; watch?: boolean }): Promise<Store> =>
  storeOn(openDataDir(options.data_dir, options.now, { ...options, patience_ms: PATIENCE_MS }));
