/** The audit log as it is read. */
import type { Database } from "bun:sqlite";

export interface AuditRow {
  /** ISO 8601. */
  at: string;
  actor: string;
  action: string;
  site_id: string | null;
  account_id: string | null;
  reason: string | null;
}

/** Oldest first: in the order in which it was written, whatever the clock said. */
export function auditReader(db: Database): () => Promise<AuditRow[]> {
  const all = db.prepare<AuditRow, []>(
    "select at, actor, action, site_id, account_id, reason from audit order by audit_no",
  );
  return async () => all.all();
}
