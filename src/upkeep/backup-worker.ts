/** The process that makes backups off the box: it reads and hashes every file that is new, behind the server's own work. */
import { lowerPriority, serveParent } from "../run/serve-parent.ts";
import { backupPlaces, openOperations, type Operations, type S3Access, snapshots } from "../store/operations.ts";
import type { StoreAddress } from "../store/index.ts";

type SnapshotTaken = Awaited<ReturnType<Operations["takeSnapshot"]>>;

export interface BackupJob {
  address: StoreAddress;
  /** As the setting has it. */
  place: string;
  access: S3Access;
  keep: number;
  /** How old the last backup may be. */
  every_ms: number;
  /** The machine's clock. */
  now: number;
}

/** `at` is when the last good backup was taken, in epoch milliseconds. */
export type BackupAnswer = { at: number; taken: SnapshotTaken | null } | { failed: string };

const NICE = 10;

async function backUpIfDue({
  address,
  place: text,
  access,
  keep,
  every_ms,
  now: began,
}: BackupJob): Promise<BackupAnswer> {
  const started = performance.now();
  const now = (): number => Math.round(began + performance.now() - started);
  try {
    const place = backupPlaces.open(text, access);
    const last = await snapshots.latestAt(place);
    // One that was taken in the future was taken by a clock that was wrong.
    if (last !== null && last <= now() && now() - last < every_ms) return { at: last, taken: null };
    const operations = openOperations({ ...address, now });
    try {
      const taken = await operations.takeSnapshot(place, keep);
      await operations.record("backup", `${place.name}@${taken.name}`, "server");
      return { at: Date.parse(taken.taken_at), taken };
    } finally {
      await operations.close();
    }
  } catch (error) {
    return { failed: (error as Error).message };
  }
}

export function serveBackups(): void {
  lowerPriority(NICE);
  serveParent<BackupJob>("svc-backup", async (job) => process.send!(await backUpIfDue(job)));
}
