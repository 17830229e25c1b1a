/** Abuse reports of visitors, for the operator to read. */
import type { Report, Reports } from "../upkeep.ts";
import { type Db, statement } from "./db.ts";

const COLUMNS = "report_id, site_id, slug, reason, text, email, created_at";
const insert = statement(`insert into reports (${COLUMNS}) values (?, ?, ?, ?, ?, ?, ?)`);
const all = statement<Report>(`select ${COLUMNS} from reports order by report_no`);

export const reportStore = (db: Db): Reports => ({
  add: ({ report_id, site_id, slug, reason, text, email, created_at }) =>
    db.write(() => insert.do(report_id, site_id, slug, reason, text, email, created_at)),
  list: () => db.read(all.all()),
});
