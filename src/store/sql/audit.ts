/** What was done to sites and accounts, and by whom: one row each, written in the transaction that does it. */
import type { Database } from "bun:sqlite";

export interface AuditEntry {
  /** ISO 8601. */
  at: string;
  /** `operator`, `expiry`, or the account_id of who did it. */
  actor: string;
  /** `delete`, `expire`, `disable` …: a verb. */
  action: string;
  site_id?: string;
  account_id?: string;
  reason?: string;
}

/** For use inside a transaction. */
export function auditWriter(db: Database): (entry: AuditEntry) => void {
  const insert = db.prepare<unknown, (string | null)[]>(
    "insert into audit (at, actor, action, site_id, account_id, reason) values (?, ?, ?, ?, ?, ?)",
  );
  return ({ at, actor, action, site_id = null, account_id = null, reason = null }) =>
    void insert.run(at, actor, action, site_id, account_id, reason);
}
