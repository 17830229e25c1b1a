/** The end of a preview, and of a version that nothing else shows. */
import type { Site } from "../../../base/types.ts";
import { type Op, statement } from "../db.ts";
import type { Parts } from "../parts.ts";
import { removeVersion } from "../kept/remove.ts";
import { siteById } from "../sites.ts";
import { inSlices } from "../sweep.ts";

export interface PreviewRow {
  preview_no: number;
  version_no: number;
}

const unshown = statement(
  `select 1 from versions where version_no = ?1 and listed_no is null
     and not exists (select 1 from previews where version_no = ?1)`,
);

/** Where it never was live and no preview names it any more. Says how many rows of `files` went. */
export function* removeUnshown(site: Site, version_no: number): Op<number> {
  return (yield* unshown.get(version_no)) === null ? 0 : yield* removeVersion(site, version_no);
}

const remove = statement("delete from previews where preview_no = ?");

export function* endPreview(site: Site, { preview_no, version_no }: PreviewRow): Op<number> {
  yield* remove.do(preview_no);
  return yield* removeUnshown(site, version_no);
}

/** What one transaction ends: under 10 ms. */
const SLICE = { previews: 25, files: 200 };

const over = statement<PreviewRow & { site_id: string }>(
  "select preview_no, site_id, version_no from previews where expires_at <= ? order by expires_at limit ?",
);

interface Ended {
  slugs: string[];
  more: boolean;
}

function* endSome(now: number): Op<Ended> {
  const rows = yield* over.all(now, SLICE.previews);
  const slugs: string[] = [];
  let files = 0;
  for (const row of rows) {
    if (files >= SLICE.files) return { slugs, more: true };
    const site = yield* siteById.get(row.site_id);
    // Of a site that is gone the versions go with what it left.
    if (site === null) yield* remove.do(row.preview_no);
    else {
      files += yield* endPreview(site, row);
      slugs.push(site.slug);
    }
  }
  return { slugs, more: rows.length === SLICE.previews };
}

/** The sweep's part: those that were over by `now`. */
export const endPreviews = ({ db, place }: Pick<Parts, "db" | "place">, now: number): Promise<void> =>
  inSlices(place, async () => {
    const { more } = await db.change(
      () => endSome(now),
      ({ slugs }) => slugs,
    );
    return more;
  });
