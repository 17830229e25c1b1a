/** Verify: stored files are hashed again, so that bit rot is found before a visitor finds it (RELIABILITY 2). */
import type { Database } from "bun:sqlite";
import { renameSync, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { UNIT_MS } from "../../base/units.ts";
import { blobFiles } from "../disk/blobs.ts";
import { durable } from "../disk/durable.ts";
import { type Op, statement } from "../operation.ts";
import { type BlobRow, namedBlobs } from "../named-blobs.ts";
import { wrongFigures } from "../quotas.ts";
import type { DataDir } from "./data-dir.ts";
import type { Checked, Damage, Loss } from "../upkeep.ts";

/** The folder of blobs that no request and no deploy shall find. */
const SET_ASIDE = "quarantine";

type Bad = { why: "missing" } | { why: "unreadable" } | { why: "damaged"; seen: string };
type Condition = { why: "whole" } | Bad;

/** `unreadable` only if disk, owner or mode are to blame: too many open files prove nothing about a file. */
async function conditionOf(path: string, sha256: string): Promise<Condition> {
  try {
    const found = await stat(path);
    return (await blobFiles.hash(path)) === sha256
      ? { why: "whole" }
      : { why: "damaged", seen: blobFiles.fingerprint(found) };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "";
    if (code === "ENOENT" || code === "ENOTDIR") return { why: "missing" };
    if (["EIO", "EACCES", "EPERM"].includes(code)) return { why: "unreadable" };
    throw error;
  }
}

const lossesBy = statement<Omit<Loss, "live"> & { live: number }>(
  `select sites.site_id as site_id, slug, version_id, path,
     case when live_version_id = version_id then 1 else 0 end as live
   from (select blob_no, version_no, path from files where blob_no = ?1
     union all select blob_no, version_no, 'screenshot ' || size from pictures where blob_no = ?1) as named
   join versions using (version_no) join sites on sites.site_id = versions.site_id
   order by live desc, slug, version_no desc, path`,
);

function setAside(data_dir: string, sha256: string): void {
  durable.makeFolder(join(data_dir, SET_ASIDE));
  renameSync(blobFiles.path(data_dir, sha256), join(data_dir, SET_ASIDE, sha256));
  durable.flushFolderSync(join(data_dir, SET_ASIDE));
  durable.flushFolderSync(blobFiles.folder(data_dir, sha256));
}

/** Decides under the write lock, while no deploy can be about to name the file: one that puts the blob anew at this
 *  very moment looks for it inside its own transaction, afterwards. What cannot be read may be whole all the same, and is
 *  left where it is. Null if it was healed or swept meanwhile. */
function* settle(data_dir: string, { blob_no, sha256 }: BlobRow, condition: Bad): Op<Damage | null> {
  const losses = (yield* lossesBy.all(blob_no)).map((loss) => ({ ...loss, live: loss.live === 1 }));
  const { why } = condition;
  if (losses.length === 0) return null;
  if (why === "unreadable") return { sha256, why, losses };
  const found = statSync(blobFiles.path(data_dir, sha256), { throwIfNoEntry: false });
  if (why === "missing") return found ? null : { sha256, why, losses };
  if (!found || blobFiles.fingerprint(found) !== condition.seen) return null;
  setAside(data_dir, sha256);
  return { sha256, why, losses };
}

/** Checks one blob; one with other bytes is set aside. */
async function check({ db, data_dir }: DataDir, blob: BlobRow): Promise<Damage | null> {
  const condition = await conditionOf(blobFiles.path(data_dir, blob.sha256), blob.sha256);
  return condition.why === "whole" ? null : db.write(() => settle(data_dir, blob, condition));
}

/** A rule that is no foreign key: a version belongs to a site, or to what one that is gone has left. */
const ASTRAY = `select version_id, site_id from versions where site_id not in (select site_id from sites)
  and site_id not in (select site_id from leftovers)`;

/** Two more: a version is shown somewhere, and a preview shows its own site's version. */
const UNSHOWN = `select version_id, site_id from versions join sites using (site_id) where case when listed_no is null
  then not exists (select 1 from previews where previews.version_no = versions.version_no) or live_version_id = version_id
  else live_since is null end`;
const MISPLACED = `select name, previews.site_id as site_id from previews join versions using (version_no)
  where previews.site_id <> versions.site_id`;

/** A former name is nobody's present one, and its site is there or has a tombstone (BEYOND 17). */
const MISNAMED = `select slug, site_id from former_slugs where slug in (select slug from sites)
  or (site_id not in (select site_id from sites) and site_id not in (select site_id from tombstones))`;

function databaseFaults(db: Database): string[] {
  const found = db.query<{ integrity_check: string }, []>("PRAGMA integrity_check").all();
  const dangling = db.query<{ table: string; parent: string }, []>("PRAGMA foreign_key_check").all();
  const astray = db.query<{ version_id: string; site_id: string }, []>(ASTRAY).all();
  const unshown = db.query<{ version_id: string; site_id: string }, []>(UNSHOWN).all();
  const misplaced = db.query<{ name: string | null; site_id: string }, []>(MISPLACED).all();
  const misnamed = db.query<{ slug: string; site_id: string }, []>(MISNAMED).all();
  return [
    ...found.map((row) => row.integrity_check).filter((text) => text !== "ok"),
    ...dangling.map(({ table, parent }) => `a row of ${table} names a row of ${parent} that is not there`),
    ...astray.map(({ version_id, site_id }) => `the version ${version_id} names a site that is not there: ${site_id}`),
    ...unshown.map(
      ({ version_id, site_id }) => `nothing shows the version ${version_id} of ${site_id} as it is stored`,
    ),
    ...misplaced.map(({ name, site_id }) => `the preview ${name} of ${site_id} shows another site's version`),
    ...misnamed.map(({ slug, site_id }) => `the former name ${slug} of ${site_id} leads to no site, or is one's own`),
  ];
}

/** Verifies everything, as fast as the disk can. */
export async function verifyAll(parts: DataDir): Promise<Checked> {
  const database = [...databaseFaults(parts.sqlite), ...(await wrongFigures(parts.db))];
  const checked: Checked = { blobs: 0, bytes: 0, damages: [], database };
  for await (const page of namedBlobs.pages(parts.db)) {
    for (const blob of page) {
      const damage = await check(parts, blob);
      if (damage) checked.damages.push(damage);
      checked.blobs++;
      checked.bytes += blob.bytes;
    }
  }
  return checked;
}

const TURN_MS = 30 * UNIT_MS.d;
const BYTES_PER_MS = 10_000;

const turn = statement<{ blob_no: number; blobs: number }>(
  "select blob_no, (select count(*) from blobs) as blobs from verify_turn",
);
const moveTurn = statement("update verify_turn set blob_no = ?");

/** A slice of the slow turn: called every `interval` milliseconds, it has seen every blob after 30 days. It reads no
 *  faster than 10 MB/s, and remembers in the database how far it came. */
export async function verifyTurn(data: DataDir, interval: number): Promise<Damage[]> {
  const { db } = data;
  const { blob_no, blobs } = (await db.read(turn.get()))!;
  const share = Math.ceil((blobs * interval) / TURN_MS);
  const slice = await namedBlobs.after(db, blob_no, share);
  const damages: Damage[] = [];
  for (const blob of slice) {
    const damage = await check(data, blob);
    if (damage) damages.push(damage);
    await Bun.sleep(blob.bytes / BYTES_PER_MS);
  }
  await db.write(() => moveTurn.do(slice.at(-1)?.blob_no ?? 0));
  return damages;
}
