/** Abuse reports of visitors, for the operator to read. */
import type { Database } from "bun:sqlite";
import { diskRefusal } from "../disk/failures.ts";

export interface Report {
  report_id: string;
  site_id: string;
  slug: string;
  reason: string;
  text: string | null;
  email: string | null;
  /** ISO 8601. */
  created_at: string;
}

export interface Reports {
  add(report: Report): Promise<void>;
  /** Oldest first. */
  list(): Promise<Report[]>;
}

const COLUMNS = "report_id, site_id, slug, reason, text, email, created_at";

export function reportStore(db: Database): Reports {
  const insert = db.prepare<unknown, (string | null)[]>(
    `insert into reports (${COLUMNS}) values (?, ?, ?, ?, ?, ?, ?)`,
  );
  const list = db.prepare<Report, []>(`select ${COLUMNS} from reports order by report_no`);
  return {
    async add({ report_id, site_id, slug, reason, text, email, created_at }) {
      try {
        insert.run(report_id, site_id, slug, reason, text, email, created_at);
      } catch (error) {
        throw diskRefusal(error);
      }
    },
    list: async () => list.all(),
  };
}
