/** The passages of a site's threads, to be carried from one version to the next. */
import type { AnchorRow, CarriedRow } from "../notes.ts";
import { type Op, read, statement, write } from "../operation.ts";
import { changes } from "./changes.ts";
import { noteRows, type ThreadRow } from "./rows.ts";

const ofSite = statement<ThreadRow & { id: string }>(
  `select r.id, t.page, t.status, t.exact, t.prefix, t.suffix, t.carried, t.found_version_id, t.found_start, t.found_end
   from threads t join comments r on r.comment_no = t.thread_no
   where t.site_id = ? and t.exact is not null and r.state in ('public', 'pending', 'erased') order by t.thread_no`,
);

function* anchorsOf(site_id: string): Op<AnchorRow[]> {
  const rows = yield* ofSite.all(site_id);
  return rows.map((row) => ({
    id: row.id,
    page: row.page,
    status: row.status,
    quote: noteRows.quoteOf(row)!,
    carried: row.carried!,
    place: noteRows.placeOf(row),
  }));
}

// A thread that stays where it was has not changed for anybody.
const set = statement(
  `update threads set
     changed_no = case when carried is not distinct from ?3 and found_start is not distinct from coalesce(?5, found_start)
       and found_end is not distinct from coalesce(?6, found_end) then changed_no else ?7 end,
     carried = ?3, found_version_id = coalesce(?4, found_version_id),
     found_start = coalesce(?5, found_start), found_end = coalesce(?6, found_end)
   where site_id = ?1 and thread_no = (select comment_no from comments where id = ?2 and site_id = ?1)`,
);

/** Within the transaction that moves the live version, or after it. */
function* carryAnchors(site_id: string, rows: readonly CarriedRow[]): Op<void> {
  if (rows.length === 0) return;
  const no = yield* changes.nextNumber(site_id);
  const values = rows.map(({ id, carried, place }) => [
    site_id,
    id,
    carried,
    place?.version_id ?? null,
    place?.start ?? null,
    place?.end ?? null,
    no,
  ]);
  yield* set.each(values, "text text text text int8 int8 int8");
}

export const ANCHORS = {
  /** All threads of the site that have a quote. Empty if it never had comments: nothing is read then but an index. */
  anchors: read((_, site_id: string) => anchorsOf(site_id)),
  /** Stores the places that passages have after a change of the live version. */
  carry: write((_, site_id: string, rows: readonly CarriedRow[]) => carryAnchors(site_id, rows)),
};
