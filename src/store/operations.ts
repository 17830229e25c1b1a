/** The store as an operator's subcommand opens it: the server may be running, and sees each change at its next request. */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { AUDIT } from "./audit.ts";
import { backUp, type Copied } from "./sqlite/backup.ts";
import { type BackupPlace, backupPlaces } from "./disk/backup-place.ts";
import { snapshots, type SnapshotTaken } from "./sqlite/snapshots.ts";
import { folderCopies } from "./sqlite/tables.ts";
import { verifyAll } from "./sqlite/verify.ts";
import { openFigures } from "./disk/figures.ts";
import { DataDirInUse, prepareDataDir, refuseHalfRestored, refuseLost } from "./sqlite/prepare.ts";
import { MODERATION } from "./moderation.ts";
import { DOMAINS } from "./domains.ts";
import { NAMES } from "./names.ts";
import { NOTICE_STATE } from "./notes/outbox.ts";
import { bind, type Bound } from "./operation.ts";
import { OPERATOR_ACCOUNTS, type OperatorAccounts } from "./people/operator-accounts.ts";
import { REPORT_CLOSING, REPORTS, type Reports } from "./reports.ts";
import { SITES, type Sites } from "./sites.ts";
import { databaseFile, SCHEMA, type UpgradeTeller } from "./sqlite/database.ts";
import { findService, openBackend, type StoreAddress } from "./backends.ts";
import type { DataDir, Opened } from "./sqlite/data-dir.ts";
import { EMBEDDED } from "./sqlite/sweep.ts";
import { HOLDS } from "./sweep.ts";
import { type BackedUp, type Checked, type Figures, type SharedState, UPKEEP } from "./upkeep.ts";

export { restoreFrom, takeOut } from "./sqlite/backup.ts";
export { backupPlaces } from "./disk/backup-place.ts";
export type { S3Access } from "../config/setting.ts";
export { readBrands } from "./disk/alike.ts";
export { probeBucket } from "./backends.ts";
export { snapshots } from "./sqlite/snapshots.ts";
export { diskRoom } from "./disk/room.ts";
export { isServed, peekDataDir, type Peeked } from "./sqlite/peek.ts";

const { serverAddress, census, waiting } = UPKEEP;
const { standing: standingOfName, rename } = NAMES;
const { at: siteAtDomain } = DOMAINS;
const OPERATOR = {
  ...MODERATION,
  ...REPORT_CLOSING,
  ...AUDIT,
  ...NOTICE_STATE,
  ...HOLDS,
  serverAddress,
  census,
  waiting,
  standingOfName,
  siteAtDomain,
  rename,
};

type OfEmbedded = Pick<Bound<typeof EMBEDDED>, "sweep" | "missingBlobs" | "brands" | "putBrands">;

export interface Operations extends Bound<typeof OPERATOR>, OfEmbedded {
  /** Present where several servers have one state. */
  shared: SharedState | undefined;
  sites: Sites;
  /** Oldest first, closed ones among them. */
  reports: Reports["list"];
  accounts: OperatorAccounts;
  verify(): Promise<Checked>;
  /** `links`: hard links instead of copies, if the file system cannot share blocks. */
  backUp(folder: string, links: boolean): Promise<BackedUp>;
  /** Sends what is new to a place off the box; `keep` is how many snapshots stay there, null for all. */
  takeSnapshot(place: BackupPlace, keep: number | null): Promise<SnapshotTaken>;
  figures: Figures;
  close(): void | Promise<void>;
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
function upToDate(data_dir: string, tell: UpgradeTeller | undefined): void {
  using db = databaseFile.openStore(data_dir);
  if (databaseFile.schemaOf(db) === SCHEMA) return;
  try {
    prepareDataDir(data_dir, { tell }).close();
  } catch (error) {
    if (!(error instanceof DataDirInUse)) throw error;
    throw new Error(
      `The server that is running on ${data_dir} has another version than this program: use its own, or restart it.`,
    );
  }
}

interface OpenedBy extends StoreAddress {
  now: () => number;
  /** Hears how far an upgrade of the database is. */
  tell?: UpgradeTeller;
}

/** An empty folder in which backups were is the place of a disk that is not mounted: they would fill the disk below it. */
function refuseUnmounted({ name }: BackupPlace, trail: Awaited<ReturnType<Operations["audit"]>>): void {
  if (backupPlaces.namesBucket(name) || backupPlaces.holdsSnapshots(name)) return;
  const was = trail.some(({ action, reason }) => action === "backup" && reason?.startsWith(`${name}@`));
  if (!was) return;
  throw new Error(
    `There were backups in ${name}, and there is none: is its disk mounted? To begin anew there, make the folder ${name}/snapshots.`,
  );
}

/** A service as it is copied: a database server's has another way to a file of SQLite's. */
const copied = (data: Opened): Copied => ({ ...data, copies: data.copies ?? folderCopies(data as DataDir) });

export function openOperations({ now, tell, ...address }: OpenedBy): Operations {
  const { data_dir } = address;
  if (address.database_url === undefined) {
    refuseUnlessDataDir(data_dir);
    upToDate(data_dir, tell);
  }
  const data = openBackend(address, now);
  const [operator, embedded] = [bind(OPERATOR, data), bind(EMBEDDED, data)];
  return {
    ...operator,
    ...embedded,
    shared: data.shared,
    sites: bind(SITES, data),
    reports: REPORTS.list.on(data),
    accounts: bind(OPERATOR_ACCOUNTS, data),
    async sweep(...sweep) {
      await data.shared?.refuseForeign();
      return embedded.sweep(...sweep);
    },
    async verify() {
      await data.shared?.refuseForeign();
      return verifyAll(data);
    },
    backUp: (folder, links) => backUp(copied(data), folder, links),
    async takeSnapshot(place, keep) {
      refuseUnmounted(place, await operator.audit());
      return snapshots.take(copied(data), place, keep);
    },
    figures: openFigures(data_dir),
    close: () => data.close(),
  };
}

/** The same for a command: it finds a service, and its database is one that this program knows. Throws a sentence. */
export async function openFound(opened: OpenedBy): Promise<Operations> {
  if (opened.database_url !== undefined) await findService(opened.database_url, opened.now);
  return openOperations(opened);
}
