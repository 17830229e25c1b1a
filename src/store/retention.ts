/** How many versions a site keeps (BEYOND 9), and the end of a stored version, by its owner too: its rows, and its part in its
 *  site's figures. */
import { Refusal } from "../base/errors.ts";
import type { Site } from "../base/types.ts";
import { audit } from "./audit.ts";
import { answering, change, type Db, ifDiskAllows, type Op, statement } from "./operation.ts";
import type { SignedIn } from "./people/sessions.ts";
import { permission } from "./permission.ts";
import { BLOCKS_SQL, ROW_SQL, type Sizes } from "./quotas.ts";
import { RECEIPT_SQL, receipts } from "./receipts.ts";
import { refusals } from "./refusals.ts";
import { siteRows } from "./sites.ts";

const onlyHere = (sum: string, and = ""): string =>
  `(select coalesce(sum(${sum}), 0) from blobs
    where blob_no in (select blob_no from files where version_no = ?1 ${and}) and not exists (
      select 1 from files where files.blob_no = blobs.blob_no and site_no = ?2 and version_no <> ?1 ${and}))`;
const heldBy = statement<Sizes>(
  `select ${onlyHere("bytes", "and made = 0")} as uploaded, ${onlyHere(BLOCKS_SQL)} +
     (select coalesce(sum(${ROW_SQL}), 0) from files where version_no = ?1) +
     (select coalesce(sum(${RECEIPT_SQL}), 0) from receipts where version_no = ?1) +
     (select coalesce(sum(disk), 0) from renders where version_no = ?1) as disk`,
);
const removeFiles = statement("delete from files where version_no = ?");
const deleteVersion = statement("delete from versions where version_no = ?");
const uncount = statement(
  "update sites set stored_bytes = stored_bytes - ?, stored_disk = stored_disk - ? where site_id = ?",
);
// The number of a version that went may be given to another, which no operator has cleared.
const unclear = statement(
  `update sites set cleared_version_no = (
     select coalesce(max(version_no), 0) from versions where versions.site_id = sites.site_id
       and version_no <= sites.cleared_version_no)
   where site_id = ? and cleared_version_no is not null`,
);

interface RemovedVersion {
  /** Rows of `files` that went. */
  files: number;
  /** Bytes of the uploaded files that no other version of the site has. */
  uploaded: number;
}

/** Removes a version that no list counts any more, with its receipt, its pictures and the previews that show it. */
export function* removeVersion({ site_id, site_no }: Site, version_no: number): Op<RemovedVersion> {
  const { uploaded, disk } = (yield* heldBy.get(version_no, site_no))!;
  const { changes } = yield* removeFiles.run(version_no);
  yield* receipts.forgetNames(version_no);
  yield* deleteVersion.do(version_no);
  yield* uncount.do(uploaded, disk, site_id);
  yield* unclear.do(site_id);
  return { files: changes, uploaded };
}

/** Rows of `files` that one transaction removes, and versions: together under 10 ms. */
const SLICE = { files: 200, versions: 25 };
/** Transactions after one deploy: what is left of a long history goes with the next ones. */
const SLICES = 8;

const oldest = statement<{ version_no: number; shown: 0 | 1 }>(
  `select version_no,
     case when exists (select 1 from previews where previews.version_no = versions.version_no) then 1 else 0 end as shown
   from versions where site_id = ? and listed_no is not null and version_id <> ? order by listed_no limit 1`,
);
const leaveList = statement(
  "update versions set listed_no = null, live_since = null, live_until = null where version_no = ?",
);
const uncountListed = statement(
  "update sites set stored_versions = stored_versions - 1, removals = removals + 1 where site_id = ?",
);

/** Takes a version out of the list. `shown`: a preview goes on showing it. Answers how many rows of `files` went. */
function* unlist(site: Site, version_no: number, shown: boolean): Op<number> {
  yield* leaveList.do(version_no);
  yield* uncountListed.do(site.site_id);
  return shown ? 0 : (yield* removeVersion(site, version_no)).files;
}

/** Removes the oldest versions beyond `keep`, never the live one, until the slice is full. Answers whether any went. */
function* removeOldest(site_id: string, keep: number): Op<boolean> {
  const site = yield* siteRows.byId.get(site_id);
  if (site === null) return false;
  const beyond = Math.min(site.stored_versions - keep, SLICE.versions);
  for (let gone = 0, files = 0; gone < beyond && files < SLICE.files; gone++) {
    const found = yield* oldest.get(site_id, site.live_version_id);
    if (found === null) return gone > 0;
    files += yield* unlist(site, found.version_no, found.shown === 1);
  }
  return beyond > 0;
}

/** Removes, after a deploy, what is too much. Answers the site as it is then. What cannot be removed now goes with the next
 *  deploy. */
export async function keepNewest(db: Db, site: Site, keep: number | null): Promise<Site> {
  if (keep === null || site.stored_versions <= keep) return site;
  const { site_id, slug } = site;
  const slice = () =>
    db.change(
      () => removeOldest(site_id, keep),
      (any) => (any ? [slug] : []),
    );
  await ifDiskAllows(slices(slice));
  return (await db.read(() => siteRows.byId.get(site_id))) ?? site;
}

async function slices(slice: () => Promise<boolean>): Promise<void> {
  for (let left = SLICES; left > 0 && (await slice()); left--);
}

/** A version that its owner deletes. */
interface DeletedVersion {
  site_id: string;
  by: SignedIn;
  version_id: string;
}

const stored = statement<{ version_no: number; listed_no: number | null }>(
  "select version_no, listed_no from versions where site_id = ? and version_id = ?",
);

const versionLive = (version_id: string): Refusal =>
  new Refusal(
    "version_live",
    `Version ${version_id} is live. Deploy another one, or roll back to one, and then delete this one.`,
  );

interface Freed {
  slug: string;
  freed_bytes: number;
}

function* deleteOne({ site_id, by, version_id }: DeletedVersion, now: number): Op<Freed> {
  const site = yield* permission.writableSite({ site_id, by }, now);
  const found = yield* stored.get(site_id, version_id);
  if (found === null) throw refusals.unknownVersion();
  if (version_id === site.live_version_id) throw versionLive(version_id);
  if (found.listed_no !== null) yield* uncountListed.do(site_id);
  const { uploaded } = yield* removeVersion(site, found.version_no);
  const [at, actor] = [new Date(now).toISOString(), by.account_id];
  yield* audit({ at, actor, action: "delete-version", site_id, account_id: actor, reason: version_id });
  return { slug: site.slug, freed_bytes: uploaded };
}

export const RETENTION = {
  /** Deletes a version for good, one that only previews show too. Answers how many bytes of uploads no other version of the
   *  site has. Throws `version_live` or `unknown_version`. */
  deleteVersion: answering(
    change(
      ({ now }, version: DeletedVersion) => deleteOne(version, now()),
      ({ slug }) => [slug],
      { frees: true },
    ),
    ({ freed_bytes }) => freed_bytes,
  ),
};
