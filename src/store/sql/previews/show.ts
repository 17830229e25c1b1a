/** A version that was deployed to be looked at: inside the deploy's transaction, once its row is there. */
import type { Site } from "../../../base/types.ts";
import type { PublishTarget } from "../../changes.ts";
import { type Op, statement } from "../db.ts";
import { endPreview, type PreviewRow, removeUnshown } from "./end.ts";

/** Of a site: the oldest goes. */
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

type Shown = Extract<PublishTarget, { kind: "preview" }>;

/** Says until when. What the name showed before ends, unless another preview shows it too. */
export function* showPreview(site: Site, version_id: string, { name, ttl }: Shown, now: number): Op<number> {
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
