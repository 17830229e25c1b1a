/** The store as an operator's subcommand opens it: the server may be running, and sees each change at its next request. */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Sites } from "./serving.ts";
import type {
  AccountOperations,
  AuditRow,
  BackedUp,
  Checked,
  Figures,
  ListedReport,
  ListedSite,
  Quarantined,
  ServerAddress,
  SiteAct,
  Swept,
} from "./upkeep.ts";
import { backUp } from "./backup/index.ts";
import { verifyAll } from "./backup/verify.ts";
import { blobIsFound } from "./disk/blobs.ts";
import { openFigures } from "./disk/figures.ts";
import { accountOperations } from "./sql/operator/account-operations.ts";
import { auditReader, operatorRecord } from "./sql/audit.ts";
import { siteListing } from "./sql/lists/site-listing.ts";
import { missingBlobs } from "./sql/named-blobs.ts";
import { quarantineListing } from "./sql/quarantine.ts";
import { reportCloser, reportStore } from "./sql/reports.ts";
import { readServerAddress } from "./sql/server-address.ts";
import { siteReader } from "./sql/sites.ts";
import { takedown } from "./sql/operator/takedown.ts";
import { openDatabase, SCHEMA, schemaOf } from "./sqlite/database.ts";
import { openDataDir } from "./sqlite/data-dir.ts";
import { DataDirInUse, prepareDataDir } from "./sqlite/prepare.ts";
import { refuseHalfRestored, refuseLost } from "./sqlite/refuse-start.ts";
import { sweeper } from "./sqlite/sweep.ts";

export { restoreFrom } from "./backup/restore.ts";
export { freeBytes } from "./disk/ballast.ts";
export { diskUse, hasRoomFor } from "./disk/room.ts";
export { isServed, peekDataDir, type Peeked } from "./sqlite/peek.ts";

export interface Operations {
  /** Where the server was reached when it last started; null where it never did. */
  serverAddress(): Promise<ServerAddress | null>;
  sites: Sites;
  listing(): Promise<ListedSite[]>;
  /** Oldest first, closed ones among them. */
  reports(): Promise<ListedReport[]>;
  /** False where it was closed already. Throws a sentence where there is none of that name. */
  closeReport(report_id: string): Promise<boolean>;
  /** Sites that wait for an operator to clear them. */
  quarantined(): Promise<Quarantined[]>;
  /** Oldest first. */
  audit(): Promise<AuditRow[]>;
  accounts: AccountOperations;
  /** False where there was nothing to change. */
  actOnSite(act: SiteAct): Promise<boolean>;
  sweep(now: number, force: boolean): Promise<Swept>;
  verify(): Promise<Checked>;
  /** Blobs that live versions name and that are not on disk. */
  missingBlobs(): Promise<string[]>;
  /** `links`: hard links in the place of copies, where the file system cannot share blocks. */
  backUp(folder: string, links: boolean): Promise<BackedUp>;
  /** A line in the audit log for what concerns no single site or account. */
  record(action: string, reason: string): Promise<void>;
  figures: Figures;
  close(): void;
}

function refuseUnlessDataDir(data_dir: string): void {
  refuseHalfRestored(data_dir);
  refuseLost(data_dir);
  if (!existsSync(join(data_dir, "db"))) {
    throw new Error(
      `There is no data of a svc-server in ${data_dir}: name its folder with --data-dir (SVC_DATA_DIR), or start the server once.`,
    );
  }
  const { uid } = statSync(data_dir);
  if (process.getuid && uid !== process.getuid()) {
    throw new Error(`The data directory ${data_dir} belongs to another user (uid ${uid}): run this as that user.`);
  }
}

/** Only a server may bring the schema up to date, and only while it has the data directory for itself. */
function upToDate(data_dir: string): void {
  using db = openDatabase(data_dir);
  if (schemaOf(db) === SCHEMA) return;
  try {
    prepareDataDir(data_dir).close();
  } catch (error) {
    if (!(error instanceof DataDirInUse)) throw error;
    throw new Error(
      `The server that is running on ${data_dir} has another version than this program: use its own, or restart it.`,
    );
  }
}

export function openOperations({ data_dir, now }: { data_dir: string; now: () => number }): Operations {
  refuseUnlessDataDir(data_dir);
  upToDate(data_dir);
  const parts = openDataDir(data_dir, now);
  const { db } = parts;
  return {
    serverAddress: () => readServerAddress(db),
    sites: siteReader(db),
    listing: siteListing(db),
    reports: reportStore(db).list,
    closeReport: reportCloser(parts),
    quarantined: quarantineListing(db),
    audit: auditReader(db),
    accounts: accountOperations(parts),
    actOnSite: takedown(parts),
    sweep: sweeper(parts),
    verify: () => verifyAll(parts),
    missingBlobs: () => missingBlobs(db, (blob) => blobIsFound(data_dir, blob)),
    backUp: (folder, links) => backUp(parts, folder, links),
    record: operatorRecord(parts),
    figures: openFigures(data_dir),
    close: parts.close,
  };
}
