/** Abuse reports of visitors, for the operator to read and to close. */
import type { ListedReport, Reports } from "../upkeep.ts";
import { audit } from "./audit.ts";
import { type Db, type Op, statement } from "./db.ts";
import type { Parts } from "./parts.ts";

const COLUMNS = "report_id, site_id, slug, reason, text, email, created_at";
const insert = statement(`insert into reports (${COLUMNS}) values (?, ?, ?, ?, ?, ?, ?)`);

const all = statement<ListedReport>(`select ${COLUMNS}, closed_at from reports order by report_no`);

export const reportStore = (db: Db): Reports => ({
  add: ({ report_id, site_id, slug, reason, text, email, created_at }) =>
    db.write(() => insert.do(report_id, site_id, slug, reason, text, email, created_at)),
  list: () => db.read(all.all()),
});

const byId = statement<Pick<ListedReport, "site_id" | "closed_at">>(
  "select site_id, closed_at from reports where report_id = ?",
);
const setClosed = statement("update reports set closed_at = ? where report_id = ?");

function* close(report_id: string, at: string): Op<boolean> {
  const found = yield* byId.get(report_id);
  if (!found) throw new Error(`There is no report ${report_id}: svc-server reports lists them.`);
  if (found.closed_at !== null) return false;
  yield* setClosed.do(at, report_id);
  yield* audit({ at, actor: "operator", action: "close-report", site_id: found.site_id, reason: report_id });
  return true;
}

/** False where it was closed already. Throws a sentence where there is none of that name. */
export const reportCloser =
  ({ db, now }: Pick<Parts, "db" | "now">) =>
  (report_id: string): Promise<boolean> =>
    db.write(() => close(report_id, new Date(now()).toISOString()));

const some = statement(
  "delete from reports where site_id = ?1 and report_no in (select report_no from reports where site_id = ?1 limit ?2)",
);

/** At most `room` of a site that is gone; says how many. */
export function* removeSomeReports(site_id: string, room: number): Op<number> {
  return (yield* some.run(site_id, room)).changes;
}
