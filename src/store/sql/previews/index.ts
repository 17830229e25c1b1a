/** Previews by the site that they are of: listed, made live, ended. */
import type { ListedPreview, NamedPreview, Previews, PromotedPreview } from "../../previews.ts";
import type { ShownPreview } from "../../serving.ts";
import { unknownPreview } from "../../refusals.ts";
import type { Site } from "../../../base/types.ts";
import { type Op, statement } from "../db.ts";
import { makingRoom } from "../frame.ts";
import type { Parts } from "../parts.ts";
import { noteUse, writableSite } from "../permission.ts";
import { keepNewest } from "../kept/newest.ts";
import { askRender } from "../renders/queue.ts";
import { moveLive } from "../sites.ts";
import { endPreview, type PreviewRow } from "./end.ts";

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
  if (rows.length === 0) throw unknownPreview();
  return rows as Meant;
}

function* promote(asked: NamedPreview, renders: boolean, now: number): Op<PromotedPreview> {
  const site = yield* writableSite(asked, now);
  const rows = yield* find(asked, now);
  const [{ version_id }] = rows;
  const { site_id, live_version_id } = site;
  yield* noteUse(asked.by, now);
  const moved = live_version_id === version_id ? site : yield* moveLive(site_id, version_id, now);
  for (const row of rows) yield* endPreview(moved, row);
  if (renders) yield* askRender(site_id, version_id, now);
  return { site: moved, version_id, previous_version_id: live_version_id };
}

function* end(asked: NamedPreview, now: number): Op<Site> {
  const site = yield* writableSite(asked, now);
  const rows = yield* find(asked, now);
  yield* noteUse(asked.by, now);
  for (const row of rows) yield* endPreview(site, row);
  return site;
}

export const previewStore = ({ db, place, now }: Parts): Previews => ({
  list: (site_id) => db.read(listed.all(site_id, now())),
  shown: (site_id) => db.read(shown.all(site_id)),
  async promote({ keep_versions, renders, ...asked }) {
    const promoted = await db.change(
      () => promote(asked, renders, now()),
      ({ site }) => [site.slug],
    );
    return { ...promoted, site: await keepNewest(db, promoted.site, keep_versions) };
  },
  end: (asked) =>
    makingRoom(place, async () => {
      await db.change(
        () => end(asked, now()),
        ({ slug }) => [slug],
      );
    }),
});
