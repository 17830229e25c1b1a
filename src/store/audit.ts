/** The audit log: what was done to sites and accounts, and by whom. A row is written in the transaction that does it. Acts
 *  that a site's keepers may repeat without end leave so many rows a site, so that no loop fills the disk. */
import { type Op, read, statement, write } from "./operation.ts";

interface AuditRow {
  /** ISO 8601. */
  at: string;
  /** `operator`, `server` (a backup by itself), `expiry`, the account_id that did it, its deploy token's token_id, or `manage_token`. */
  actor: string;
  /** `delete`, `expire`, `disable` …: a verb. */
  action: string;
  site_id: string | null;
  account_id: string | null;
  reason: string | null;
}

/** Members that are left out are null. */
type AuditEntry = Pick<AuditRow, "at" | "actor" | "action"> & {
  site_id?: string;
  account_id?: string;
  reason?: string;
};

const COLUMNS = "at, actor, action, site_id, account_id, reason";
const insert = statement(`insert into audit (${COLUMNS}) values (?, ?, ?, ?, ?, ?)`);

export const audit = ({ at, actor, action, site_id, account_id, reason }: AuditEntry): Op<void> =>
  insert.do(at, actor, action, site_id ?? null, account_id ?? null, reason ?? null);

// By the index of these actions; of each the newest are kept, so that none of them can push another's out.
const OFTEN = "action in ('rollback', 'promote', 'set-comments', 'set-access', 'set-domain')";
const KEPT = 20;
const forgetOld = statement(
  `delete from audit where site_id = ?1 and ${OFTEN} and action = ?3 and audit_no <= (
     select audit_no from audit where site_id = ?1 and ${OFTEN} and action = ?3 order by audit_no desc limit 1 offset ?2)`,
);

interface RepeatedAct extends AuditEntry {
  action: "rollback" | "promote" | "set-comments" | "set-access" | "set-domain";
  site_id: string;
}

/** Keeps the newest of such acts of each site. */
export function* auditRepeated(act: RepeatedAct): Op<void> {
  yield* audit(act);
  yield* forgetOld.do(act.site_id, KEPT, act.action);
}

const deletions = statement(
  `insert into audit (${COLUMNS})
   select ?1, ?2, 'delete', site_id, owner_account_id, 'the account was deleted' from sites
   where owner_account_id = ?3`,
);

/** One row for each site of an account that is about to go with it. */
export const auditDeletions = (account_id: string, actor: string, at: string): Op<void> =>
  deletions.do(at, actor, account_id);

const all = statement<AuditRow>(`select ${COLUMNS} from audit order by audit_no`);

const record = (action: string, reason: string, actor: "operator" | "server", now: number): Op<void> =>
  audit({ at: new Date(now).toISOString(), actor, action, reason });

export const AUDIT = {
  /** Oldest first: in the order in which it was written, whatever the clock said. */
  audit: read(() => all.all()),
  /** A line for an act of the operator, or of the server by itself, that concerns no single site or account. */
  record: write(
    ({ now }, action: string, reason: string, actor: "operator" | "server" = "operator") =>
      record(action, reason, actor, now()),
    { frees: true },
  ),
};
