/** Abuse reports of visitors, for the operator to read and to close. */
import { audit } from "./audit.ts";
import { notice } from "./notices.ts";
import { type Bound, type Op, read, statement, write } from "./operation.ts";

/** A visitor's report of a site to the operator. */
interface Report {
  report_id: string;
  site_id: string;
  slug: string;
  reason: string;
  text: string | null;
  email: string | null;
  /** ISO 8601. */
  created_at: string;
}

export interface ListedReport extends Report {
  /** When an operator was done with it (ISO 8601); null while it is open. */
  closed_at: string | null;
}

const COLUMNS = "report_id, site_id, slug, reason, text, email, created_at";
const insert = statement(`insert into reports (${COLUMNS}) values (?, ?, ?, ?, ?, ?, ?)`);

const all = statement<ListedReport>(`select ${COLUMNS}, closed_at from reports order by report_no`);

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

const some = statement(
  "delete from reports where site_id = ?1 and report_no in (select report_no from reports where site_id = ?1 limit ?2)",
);

/** Removes at most `room` reports of a site that is gone; answers how many. */
export function* removeSomeReports(site_id: string, room: number): Op<number> {
  return (yield* some.run(site_id, room)).changes;
}

function* add({ report_id, site_id, slug, reason, text, email, created_at }: Report): Op<void> {
  yield* insert.do(report_id, site_id, slug, reason, text, email, created_at);
  yield* notice("report.opened", report_id);
}

export const REPORTS = {
  add: write((_, report: Report) => add(report)),
  /** Oldest first, closed ones among them; of sites that are gone too, until a sweep has removed them. */
  list: read(() => all.all()),
};
export type Reports = Bound<typeof REPORTS>;

export const REPORT_CLOSING = {
  /** False if it was closed already. Throws a sentence if there is none of that name. */
  closeReport: write(({ now }, report_id: string) => close(report_id, new Date(now()).toISOString())),
};
