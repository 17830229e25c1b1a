/** What was done to sites and accounts, and by whom: one row each, written in the transaction that does it. */
import type { AuditRow } from "../upkeep.ts";
import { type Db, type Op, statement } from "./db.ts";
import { makingRoom } from "./frame.ts";
import type { Parts } from "./parts.ts";

/** What is left out is null. */
type AuditEntry = Pick<AuditRow, "at" | "actor" | "action"> & {
  site_id?: string;
  account_id?: string;
  reason?: string;
};

const COLUMNS = "at, actor, action, site_id, account_id, reason";
const insert = statement(`insert into audit (${COLUMNS}) values (?, ?, ?, ?, ?, ?)`);

export const audit = ({ at, actor, action, site_id, account_id, reason }: AuditEntry): Op<void> =>
  insert.do(at, actor, action, site_id ?? null, account_id ?? null, reason ?? null);

const deletions = statement(
  `insert into audit (${COLUMNS})
   select ?1, ?2, 'delete', site_id, owner_account_id, 'the account was deleted' from sites
   where owner_account_id = ?3`,
);

/** One row for each site of an account that is about to go with it. */
export const auditDeletions = (account_id: string, actor: string, at: string): Op<void> =>
  deletions.do(at, actor, account_id);

const all = statement<AuditRow>(`select ${COLUMNS} from audit order by audit_no`);

/** Oldest first: in the order in which it was written, whatever the clock said. */
export const auditReader = (db: Db) => (): Promise<AuditRow[]> => db.read(all.all());

/** For what an operator did that concerns no single site or account. */
export const operatorRecord =
  ({ db, place, now }: Parts) =>
  (action: string, reason: string): Promise<void> => {
    const at = new Date(now()).toISOString();
    return makingRoom(place, () => db.write(() => audit({ at, actor: "operator", action, reason })));
  };
