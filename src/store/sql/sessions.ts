/** Sessions: who is signed in. A session lives 90 days from its last use. */
import type { Database } from "bun:sqlite";
import { Refusal } from "../../errors.ts";
import type { Commit } from "./commit.ts";
import { diskRefusal } from "../disk/failures.ts";

const LIFETIME_MS = 90 * 86_400_000;
/** The last use is written no more often than this: reading must not cost a write each time. */
const TOUCH_MS = 60_000;

export interface Session {
  session_id: string;
  account_id: string;
  /** ISO 8601, like all here. */
  created_at: string;
  last_used_at: string;
  /** When the password was last given; null where a device got the session. */
  signed_in_at: string | null;
  client: string;
}

export interface NewSession {
  session_id: string;
  hash: string;
  client: string;
}

/** A session that was accepted, to be asked again inside the transaction that acts on it. */
export interface SignedIn {
  account_id: string;
  session_id: string;
}

export interface Sessions {
  /** By the token's hash; null where there is none or it has ended. Counts as a use. */
  find(hash: string): Promise<Session | null>;
  /** False where the account's password is no longer the one that was checked. */
  start(session: NewSession, account: { account_id: string; password_hash: string }): Promise<boolean>;
  /** The password was given once more. */
  confirm(session_id: string): Promise<void>;
  /** Newest first. */
  list(account_id: string): Promise<Session[]>;
  /** False where the account has no such session. */
  end(session: SignedIn): Promise<boolean>;
}

const COLUMNS = "session_id, account_id, created_at, last_used_at, signed_in_at, client";
const cutoff = (now: number): string => new Date(now - LIFETIME_MS).toISOString();

/** For use inside a transaction. */
export function sessionWriter(db: Database) {
  const insert = db.prepare<unknown, (string | null)[]>(
    `insert into sessions (session_id, hash, account_id, created_at, last_used_at, signed_in_at, client)
     values (?1, ?2, ?3, ?4, ?4, ?5, ?6)`,
  );
  const held = db.prepare<unknown, [string, string]>("select 1 from sessions where session_id = ? and account_id = ?");
  return {
    add({ session_id, hash, client }: NewSession, account_id: string, at: string, signed_in_at: string | null): void {
      insert.run(session_id, hash, account_id, at, signed_in_at, client);
    },
    /** Throws where the session has ended since it was accepted. */
    refuseUnlessHeld({ session_id, account_id }: SignedIn): void {
      if (held.get(session_id, account_id) !== null) return;
      throw new Refusal("unauthorized", "Your session has ended. Sign in again.");
    },
  };
}

/** For the sweep: sessions that nobody used for 90 days. */
export const forgetOldSessions = (db: Database, now: number): void =>
  void db.run("delete from sessions where last_used_at <= ?", [cutoff(now)]);

/** On a full or busy disk who only reads is not refused because the use cannot be noted. */
function noted(write: () => void): void {
  try {
    write();
  } catch (error) {
    const refusal = diskRefusal(error);
    if (!(refusal instanceof Refusal)) throw refusal;
  }
}

export function sessionStore(db: Database, { quiet, deletion }: Commit, now: () => number): Sessions {
  const byHash = db.prepare<Session, [string, string]>(
    `select ${COLUMNS} from sessions where hash = ? and last_used_at > ?`,
  );
  const touch = db.prepare<unknown, [string, string]>("update sessions set last_used_at = ? where session_id = ?");
  const sign = db.prepare<unknown, [string, string]>("update sessions set signed_in_at = ? where session_id = ?");
  const list = db.prepare<Session, [string, string]>(
    `select ${COLUMNS} from sessions where account_id = ? and last_used_at > ? order by created_at desc, session_id`,
  );
  const end = db.prepare<{ session_id: string }, [string, string]>(
    "delete from sessions where session_id = ? and account_id = ? returning session_id",
  );
  const unchanged = db.prepare<unknown, [string, string]>(
    "select 1 from accounts where account_id = ? and password_hash = ?",
  );
  const { add } = sessionWriter(db);
  const iso = () => new Date(now()).toISOString();

  const start = db.transaction((session: NewSession, account_id: string, password_hash: string): boolean => {
    if (unchanged.get(account_id, password_hash) === null) return false;
    add(session, account_id, iso(), iso());
    return true;
  });
  return {
    async find(hash) {
      const found = byHash.get(hash, cutoff(now()));
      if (found && Date.parse(found.last_used_at) <= now() - TOUCH_MS) {
        noted(() => touch.run(iso(), found.session_id));
      }
      return found;
    },
    start: async (session, { account_id, password_hash }) =>
      quiet(() => start.immediate(session, account_id, password_hash)),
    confirm: async (session_id) => void quiet(() => sign.run(iso(), session_id)),
    list: async (account_id) => list.all(account_id, cutoff(now())),
    end: async ({ session_id, account_id }) => deletion(() => end.get(session_id, account_id)) !== null,
  };
}
