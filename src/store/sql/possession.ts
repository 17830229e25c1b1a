/** Which contents a site has (BEYOND 6): those of the uploaded files of its own versions, and of nobody else's. */
import type { Stored, Versions } from "../serving.ts";
import { type Db, type Op, statement } from "./db.ts";
import { siteById } from "./sites.ts";

/** Asked so many at a time: one by one they cost five times as much. */
const AT_ONCE = 50;

/** A hash that others have takes the same two steps as one that nobody has: who asks cannot tell them apart by the time. */
const ofSite = statement<Stored>(
  `with asked (sha256) as (values ${Array(AT_ONCE).fill("(?)").join(", ")}),
     known as (select sha256, coalesce((select blob_no from blobs where blobs.sha256 = asked.sha256), 0) as blob_no
       from asked)
   select sha256, blob_no, (select bytes from blobs where blobs.blob_no = known.blob_no) as bytes from known
   where exists (select 1 from files where files.blob_no = known.blob_no and site_no = ? and made = 0)`,
);

function* possessedBy(site_id: string, hashes: readonly string[]): Op<Map<string, Stored>> {
  const found = new Map<string, Stored>();
  const site = yield* siteById.get(site_id);
  if (site === null) return found;
  for (let at = 0; at < hashes.length; at += AT_ONCE) {
    const some = hashes.slice(at, at + AT_ONCE);
    const rows = yield* ofSite.all(...some, ...Array<string>(AT_ONCE - some.length).fill(""), site.site_no);
    for (const row of rows) found.set(row.sha256, row);
  }
  return found;
}

export const possession = (db: Db): Pick<Versions, "possessed"> => ({
  possessed: (site_id, hashes) => db.read(possessedBy(site_id, hashes)),
});
