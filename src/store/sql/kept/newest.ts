/** How many versions a site keeps (BEYOND 9). */
import type { Site } from "../../../base/types.ts";
import { type Db, type Op, statement } from "../db.ts";
import { ifDiskAllows } from "../frame.ts";
import { siteById } from "../sites.ts";
import { removeVersion } from "./remove.ts";

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

/** The end of one that is in the list. `shown`: a preview goes on showing it. Says how many rows of `files` went. */
function* unlist(site: Site, version_no: number, shown: boolean): Op<number> {
  yield* leaveList.do(version_no);
  yield* uncountListed.do(site.site_id);
  return shown ? 0 : yield* removeVersion(site, version_no);
}

/** Removes the oldest versions beyond `keep`, never the live one, until the slice is full. Says whether any went. */
function* removeOldest(site_id: string, keep: number): Op<boolean> {
  const site = yield* siteById.get(site_id);
  if (site === null) return false;
  const beyond = Math.min(site.stored_versions - keep, SLICE.versions);
  for (let gone = 0, files = 0; gone < beyond && files < SLICE.files; gone++) {
    const found = yield* oldest.get(site_id, site.live_version_id);
    if (found === null) return gone > 0;
    files += yield* unlist(site, found.version_no, found.shown === 1);
  }
  return beyond > 0;
}

/** After a deploy. Says the site as it is then. What cannot be removed now goes with the next deploy. */
export async function keepNewest(db: Db, site: Site, keep: number | null): Promise<Site> {
  if (keep === null || site.stored_versions <= keep) return site;
  const { site_id, slug } = site;
  const slice = () =>
    db.change(
      () => removeOldest(site_id, keep),
      (any) => (any ? [slug] : []),
    );
  await ifDiskAllows(slices(slice));
  return (await db.read(siteById.get(site_id))) ?? site;
}

async function slices(slice: () => Promise<boolean>): Promise<void> {
  for (let left = SLICES; left > 0 && (await slice()); left--);
}
