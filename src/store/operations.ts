/** The store as an operator's subcommand opens it: the server may be running, and sees each change at its next request. */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { type AccountOperations, accountOperations } from "./sql/account-operations.ts";
import { readAddress, type ServerAddress } from "./sql/address.ts";
import { auditWriter } from "./sql/audit.ts";
import { auditReader, type AuditRow } from "./audit-log.ts";
import { type BackupReport, backUp } from "./backup/index.ts";
import { openDatabase, SCHEMA, schemaOf } from "./sqlite/database.ts";
import { makingRoom } from "./disk/failures.ts";
import { type Figures, openFigures } from "./disk/figures.ts";
import { openGeneration, prepareGeneration } from "./sqlite/generation.ts";
import type { Sites } from "./index.ts";
import { missingBlobs } from "./missing.ts";
import { type Act, moderator } from "./sql/takedown.ts";
import { DataDirInUse, prepareDataDir, refuseHalfRestored } from "./sqlite/prepare.ts";
import { type Quarantined, quarantineListing } from "./sql/quarantine.ts";
import { type Report, reportStore } from "./sql/reports.ts";
import { type ListedSite, siteListing } from "./sql/site-listing.ts";
import { siteReader } from "./sql/sites.ts";
import { sweeper, type Swept } from "./sql/sweep.ts";
import { type Checked, verifyAll } from "./backup/verify.ts";

export interface Operations {
  /** Where the server was reached when it last started; null where it never did. */
  address: ServerAddress | null;
  sites: Sites;
  listing(): Promise<ListedSite[]>;
  reports(): Promise<Report[]>;
  /** Sites that wait for an operator to clear them. */
  quarantined(): Promise<Quarantined[]>;
  /** Oldest first. */
  audit(): Promise<AuditRow[]>;
  accounts: AccountOperations;
  /** False where there was nothing to change. */
  moderate(act: Act): Promise<boolean>;
  sweep(now: number, force: boolean): Promise<Swept>;
  verify(): Promise<Checked>;
  /** Blobs that live versions name and that are not on disk. */
  missingBlobs(): Promise<string[]>;
  backUp(folder: string): Promise<BackupReport>;
  /** A line in the audit log for what concerns no single site or account. */
  record(action: string, reason: string): Promise<void>;
  figures: Figures;
  close(): void;
}

function refuseUnlessDataDir(data_dir: string): void {
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
  refuseHalfRestored(data_dir);
  upToDate(data_dir);
  prepareGeneration(data_dir);
  const db = openDatabase(data_dir);
  const generation = openGeneration(data_dir, db, false);
  const audit = auditWriter(db);
  const parts = { db, data_dir, generation, now };
  return {
    address: readAddress(db),
    sites: siteReader(db),
    listing: siteListing(db),
    reports: reportStore(db).list,
    quarantined: quarantineListing(db),
    audit: auditReader(db),
    accounts: accountOperations(db, now),
    moderate: moderator(parts),
    sweep: sweeper(parts),
    verify: () => verifyAll(parts),
    missingBlobs: () => missingBlobs(db, data_dir),
    backUp: (folder) => backUp(parts, folder),
    record: async (action, reason) =>
      makingRoom(data_dir, () => audit({ at: new Date(now()).toISOString(), actor: "operator", action, reason })),
    figures: openFigures(data_dir),
    close() {
      generation.close();
      db.close();
    },
  };
}
