/** A site's versions as the dashboard lists them, and how they stand to each other. */
import { type AskedPage, type Changes, compareUploads, type ListPage, type Versions } from "../../serving.ts";
import type { Version } from "../../../base/types.ts";
import { type Db, type Op, statement } from "../db.ts";
import { receiptOf } from "../receipts.ts";
import { LISTED, manifestOf, VERSION_COLUMNS } from "../versions.ts";
import { spanOf } from "./pages.ts";

const count = statement<{ n: number }>(`select count(*) as n from versions where site_id = ? and ${LISTED}`);
const live = statement<{ live_version_id: string }>("select live_version_id from sites where site_id = ?");
const numbered = statement<Version>(
  `select ${VERSION_COLUMNS} from versions where version_no in (
     select version_no from versions where site_id = ? and ${LISTED} order by listed_no desc limit ? offset ?)
   order by listed_no desc`,
);

function* pageOf(site_id: string, asked: AskedPage): Op<ListPage<Version & { live: boolean }>> {
  const { offset, ...span } = spanOf(asked, (yield* count.get(site_id))!.n);
  const shown = yield* live.get(site_id);
  const versions = yield* numbered.all(site_id, asked.per_page, offset);
  const rows = versions.map((version) => ({ ...version, live: version.version_id === shown?.live_version_id }));
  return { ...span, rows };
}

const earlier = statement<Version>(
  `select ${VERSION_COLUMNS} from versions where site_id = ?1 and listed_no < (
     select listed_no from versions where site_id = ?1 and version_id = ?2)
   order by listed_no desc limit 1`,
);

function* compare(site_id: string, from: string | null, to: string): Op<Changes | null> {
  const [before, after] = [from === null ? null : yield* manifestOf(site_id, from), yield* manifestOf(site_id, to)];
  if (after === null || (from !== null && before === null)) return null;
  return compareUploads(before?.values() ?? [], after.values());
}

export const versionLists = (db: Db): Pick<Versions, "page" | "before" | "receipt" | "compare"> => ({
  page: (site_id, asked) => db.read(pageOf(site_id, asked)),
  before: (site_id, version_id) => db.read(earlier.get(site_id, version_id)),
  receipt: (site_id, version_id) => db.read(receiptOf(site_id, version_id)),
  compare: (site_id, from, to) => db.read(compare(site_id, from, to)),
});
