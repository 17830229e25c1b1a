/** The sweep of a data directory: expired sites at once, blob files that no version names and temporary files once they are an
 *  hour old; then the log is emptied, so that what is deleted is gone from the disk. */
import { chmod, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { UNIT_MS } from "../../base/units.ts";
import { certificateFiles } from "../disk/certificate-files.ts";
import { BRANDS, readBrands } from "../disk/alike.ts";
import { durable } from "../disk/durable.ts";
import { secretFiles } from "../disk/secrets.ts";
import { diskRoom } from "../disk/room.ts";
import { verifyTurn } from "./verify.ts";
import { previewRows } from "../previews.ts";
import { BACKUP_COPY_MS, isBackupCopy, sweeping } from "../sweep.ts";
import { makingRoom, steps } from "../operation.ts";
import type { Swept } from "../upkeep.ts";
import type { Opened } from "./data-dir.ts";

const ORPHAN_AGE_MS = UNIT_MS.h;

/** G3: signs that the database is not the one that belongs to these files. Throws a sentence for the log. */
async function refuseIfDoubtful(data: Opened): Promise<void> {
  const [fault] = data.engine.faults(true);
  if (fault !== undefined) throw new Error(`The database is damaged (${fault}): nothing is swept.`);
  await sweeping.refuseOldClock(data);
}

/** The time by the clock that wrote the files of a folder: the service's may be another, ahead of it by hours, and an upload that is
 *  under way is not old. It takes no room on a full disk. */
async function clockOf(folder: string): Promise<number> {
  await chmod(folder, 0o700);
  return (await stat(folder)).ctimeMs;
}

/** Files of deploys and folders of browsers whose process died. No upload, deploy or look at a page lasts for so long; a backup
 *  may, and removes what those before it left. */
async function removeTemporary({ data_dir }: Opened, service_now: number): Promise<number> {
  const tmp = join(data_dir, "tmp");
  const now = Math.min(service_now, await clockOf(tmp).catch(() => service_now));
  let removed = 0;
  for (const name of await readdir(tmp).catch(() => [])) {
    const path = join(tmp, name);
    const found = await stat(path).catch(() => null);
    const age_ms = isBackupCopy(name) ? BACKUP_COPY_MS : ORPHAN_AGE_MS;
    if (found === null || found.mtimeMs > now - age_ms) continue;
    await rm(path, { recursive: true, force: true });
    removed++;
  }
  return removed;
}

/** The part of a sweep that is each box's own, where a service has several: temporary files, statistics, the disk's reserve. */
async function tidy(data: Opened, now: number): Promise<number> {
  await data.forgetUncounted?.();
  const temporary = await removeTemporary(data, now);
  diskRoom.keep(data.data_dir);
  return temporary;
}

async function sweep(data: Opened, now: number, force: boolean): Promise<Swept> {
  if (!force) await refuseIfDoubtful(data);
  const sites = await sweeping.expireSites(data, now);
  await sweeping.clearLeftovers(data);
  await previewRows.end(data, now);
  await sweeping.forgetUnused(data, now);
  const [blobs] = await Promise.allSettled([data.upkeep.sweep(now, force)]); // a bucket may be out of reach
  const temporary = await tidy(data, now);
  await makingRoom(data.place, data.engine.emptyLog);
  if (blobs.status === "rejected") throw blobs.reason;
  return { sites, blobs: blobs.value, temporary };
}

/** Operations on the files of a data directory. */
export const EMBEDDED = {
  /** Removes what was over by `now`, which is no later than the clock: expired sites, what sites that are gone have left, old
   *  sessions and orphans. Throws a sentence if the data directory looks doubtful (G3), unless forced. */
  sweep: steps("change", (data: Opened, now: number, force?: boolean) => sweep(data, now, force ?? false)),
  /** A new key where the newest of a ring is old: a server that runs for months makes it, too. */
  turnSecrets: steps("write", async (data: Opened, now: number) => {
    if (data.shared_files === undefined) return secretFiles.turn(data.data_dir, now);
    return data.shared_files.change("secrets", (text) => secretFiles.turnedText(text, now));
  }),
  keepCertificate: steps(
    "write",
    async (data: Opened, name: string, { key, chain }: Record<"key" | "chain", string>) => {
      if (data.shared_files === undefined) return certificateFiles.put(data.data_dir, name, { key, chain });
      const [key_path, chain_path] = certificateFiles.pathsOf(name);
      return data.shared_files.put(new Map([[key_path, key], [chain_path, chain]])); // prettier-ignore
    },
  ),
  dropCertificate: steps("write", async (data: Opened, name: string) => {
    if (data.shared_files === undefined) return certificateFiles.remove(data.data_dir, name);
    return data.shared_files.put(new Map(certificateFiles.pathsOf(name).map((path) => [path, null])));
  }),
  /** The key of the account at the certificate authority: `made` where there is none yet. */
  acmeAccount: steps("write", ({ data_dir, shared_files }: Opened, made: string) =>
    shared_files === undefined
      ? certificateFiles.accountKey(data_dir, () => made)
      : shared_files.first(certificateFiles.ACCOUNT, made),
  ),
  /** The text of `brands.txt`; empty where there is none. */
  brands: steps("read", async ({ data_dir, shared_files }: Opened) =>
    shared_files === undefined ? readBrands(data_dir) : ((await shared_files.text(BRANDS)) ?? ""),
  ),
  putBrands: steps("write", async ({ data_dir, shared_files }: Opened, text: string) => {
    if (shared_files === undefined) return durable.putPrivate(data_dir, BRANDS, text);
    return shared_files.put(new Map([[BRANDS, text]]));
  }),
  tidy: steps("write", (data: Opened, now: number) => tidy(data, now)),
  /** Re-hashes the next slice of all blobs: called every `interval` ms, it has been through them in 30 days. */
  verifyTurn: steps("write", (data: Opened, interval: number) => verifyTurn(data, interval)),
  /** Start-up check S6: blobs that live versions name and that are not there. */
  missingBlobs: steps("read", ({ upkeep }: Opened) => upkeep.missing()),
};
