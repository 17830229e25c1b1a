/** Previews: versions that are shown beside the live one, by a name or by their own address alone (BEYOND 7). */
import type { Site } from "../base/types.ts";
import { auditRepeated } from "./audit.ts";
import { answering, type Backend, type Bound, change, inSlices, type Op, read, statement, steps } from "./operation.ts";
import { permission, type WriteBy } from "./permission.ts";
import { refusals } from "./refusals.ts";
import { askRender } from "./renders.ts";
import { keepNewest, removeVersion } from "./retention.ts";
import { type RolledBack, siteRows } from "./sites.ts";

/** A preview, as its address shows it. */
export interface ShownPreview {
  /** Null means the version's own address alone. */
  name: string | null;
  version_id: string;
  /** Epoch milliseconds: from then on it shows nothing, swept or not. */
  expires_at: number;
  /** Tells the row of a version that was never live, and ends with the last preview that shows it, from any other row. Null
   *  for a version that is or was live. */
  only: string | null;
}

/** As lists show it. */
export interface ListedPreview extends Omit<ShownPreview, "only"> {
  title: string | null;
  /** ISO 8601, of its last deploy. */
  created_at: string;
}

/** `preview`: its name, or the id of its version, which means all previews that show that version. */
export interface NamedPreview {
  site_id: string;
  by: WriteBy;
  preview: string;
}

export interface PromotedPreview extends RolledBack {
  version_id: string;
}

interface PreviewRow {
  preview_no: number;
  version_no: number;
}

const unshown = statement(
  `select 1 from versions where version_no = ?1 and listed_no is null
     and not exists (select 1 from previews where version_no = ?1)`,
);

/** Removes a version that never was live if no preview names it any more. Answers how many rows of `files` went. */
function* removeUnshown(site: Site, version_no: number): Op<number> {
  return (yield* unshown.get(version_no)) === null ? 0 : (yield* removeVersion(site, version_no)).files;
}

const remove = statement("delete from previews where preview_no = ?");

function* endPreview(site: Site, { preview_no, version_no }: PreviewRow): Op<number> {
  yield* remove.do(preview_no);
  return yield* removeUnshown(site, version_no);
}

/** Previews of a site; past them the oldest goes. */
const MOST = 20;

const numberOf = statement<{ version_no: number }>(
  "select version_no from versions where site_id = ? and version_id = ?",
);
const ofName = statement<PreviewRow>("select preview_no, version_no from previews where site_id = ? and name = ?");
const INSERT = "insert into previews (site_id, name, version_no, created_at, expires_at) values (?, ?, ?, ?, ?)";
const AGAIN = "created_at = excluded.created_at, expires_at = excluded.expires_at";
const insert = {
  named: statement<PreviewRow>(
    `${INSERT} on conflict (site_id, name) where name is not null
     do update set version_no = excluded.version_no, ${AGAIN} returning preview_no, version_no`,
  ),
  unnamed: statement<PreviewRow>(
    `${INSERT} on conflict (version_no) where name is null do update set ${AGAIN} returning preview_no, version_no`,
  ),
};
const beyond = statement<PreviewRow>(
  `select preview_no, version_no from previews where site_id = ? and preview_no <> ?
   order by created_at desc, preview_no desc limit 1000 offset ${MOST - 1}`,
);

/** Shows a version that was deployed to be looked at, inside the deploy's transaction, once its row is there. Answers until
 *  when. What the name showed before ends, unless another preview shows it too. */
function* showPreview(
  site: Site,
  version_id: string,
  { name, ttl }: { name: string | null; ttl: number },
  now: number,
): Op<number> {
  const { site_id } = site;
  const { version_no } = (yield* numberOf.get(site_id, version_id))!;
  const before = name === null ? null : yield* ofName.get(site_id, name);
  const expires_at = now + ttl;
  const row = [site_id, name, version_no, new Date(now).toISOString(), expires_at] as const;
  const { preview_no } = (yield* insert[name === null ? "unnamed" : "named"].get(...row))!;
  if (before !== null) yield* removeUnshown(site, before.version_no);
  for (const old of yield* beyond.all(site_id, preview_no)) yield* endPreview(site, old);
  return expires_at;
}

/** Previews that one transaction ends: under 10 ms. */
const SLICE = { previews: 25, files: 200 };

const over = statement<PreviewRow & { site_id: string }>(
  "select preview_no, site_id, version_no from previews where expires_at <= ? order by expires_at limit ?",
);

interface EndedPreviews {
  slugs: string[];
  more: boolean;
}

function* endSome(now: number): Op<EndedPreviews> {
  const rows = yield* over.all(now, SLICE.previews);
  const slugs: string[] = [];
  let files = 0;
  for (const row of rows) {
    if (files >= SLICE.files) return { slugs, more: true };
    const site = yield* siteRows.byId.get(row.site_id);
    // The versions of a site that is gone go with what it left.
    if (site === null) yield* remove.do(row.preview_no);
    else {
      files += yield* endPreview(site, row);
      slugs.push(site.slug);
    }
  }
  return { slugs, more: rows.length === SLICE.previews };
}

/** The sweep's part: ends the previews that were over by `now`. */
const endPreviews = ({ db, place }: Pick<Backend, "db" | "place">, now: number): Promise<void> =>
  inSlices(place, async () => {
    const { more } = await db.change(
      () => endSome(now),
      ({ slugs }) => slugs,
    );
    return more;
  });

/** Steps for other transactions that show or end previews. */
export const previewRows = {
  show: showPreview,
  end: endPreviews,
};

const OF_SITE = "from previews join versions using (version_no) where previews.site_id = ?";
const listed = statement<ListedPreview>(
  `select name, version_id, title, previews.created_at as created_at, expires_at ${OF_SITE} and expires_at > ?
   order by previews.created_at desc, preview_no desc`,
);
const shown = statement<ShownPreview>(
  `select name, version_id, expires_at,
     case when listed_no is null then version_no || ' ' || digest end as only ${OF_SITE}`,
);
const meant = statement<PreviewRow & { version_id: string }>(
  `select preview_no, version_no, version_id ${OF_SITE} and expires_at > ? and (name = ? or version_id = ?)
   order by preview_no`,
);

type Meant = [PreviewRow & { version_id: string }, ...PreviewRow[]];

function* find({ site_id, preview }: NamedPreview, now: number): Op<Meant> {
  const rows = yield* meant.all(site_id, now, preview, preview);
  if (rows.length === 0) throw refusals.unknownPreview();
  return rows as Meant;
}

function* promote(asked: NamedPreview, renders: string | null, now: number): Op<PromotedPreview> {
  const site = yield* permission.writableSite(asked, now);
  const rows = yield* find(asked, now);
  const [{ version_id }] = rows;
  const { site_id, live_version_id } = site;
  yield* permission.noteUse(asked.by, now);
  const moved = live_version_id === version_id ? site : yield* siteRows.moveLive(site_id, version_id, now);
  const reason = `from ${live_version_id} to ${version_id}`;
  const at = new Date(now).toISOString();
  yield* auditRepeated({ at, ...permission.actorOf(asked.by), action: "promote", site_id, reason });
  for (const row of rows) yield* endPreview(moved, row);
  if (renders !== null) yield* askRender(site_id, version_id, renders, now);
  return { site: moved, version_id, previous_version_id: live_version_id };
}

function* end(asked: NamedPreview, now: number): Op<Site> {
  const site = yield* permission.writableSite(asked, now);
  const rows = yield* find(asked, now);
  yield* permission.noteUse(asked.by, now);
  for (const row of rows) yield* endPreview(site, row);
  return site;
}

export const PREVIEWS = {
  /** Previews of the site; those that have ended and are not swept yet are among them. */
  shown: read((_, site_id: string) => shown.all(site_id)),
  /** Newest first; those that have not ended. */
  list: read(({ now }, site_id: string) => listed.all(site_id, now())),
  /** Makes its version live and ends it. `renders`: a browser shall look at the version. Throws `unknown_version` if there is
   *  none. */
  promote: steps(
    "change",
    async (
      { db, now }: Backend,
      { keep_versions, renders, ...asked }: NamedPreview & { keep_versions: number | null; renders: string | null },
    ): Promise<PromotedPreview> => {
      const promoted = await db.change(
        () => promote(asked, renders, now()),
        ({ site }) => [site.slug],
      );
      return { ...promoted, site: await keepNewest(db, promoted.site, keep_versions) };
    },
  ),
  /** Nothing that is or was live moves. Throws as `promote`. */
  end: answering(
    change(
      ({ now }, asked: NamedPreview) => end(asked, now()),
      ({ slug }) => [slug],
      { frees: true },
    ),
    () => undefined,
  ),
};
export type Previews = Bound<typeof PREVIEWS>;
