/** Sessions of people who are signed in. A session lives 90 days from its last use. */
import { UNIT_MS } from "../../base/units.ts";
import { note, type Op, read, statement, steps, write } from "../operation.ts";
import { refusals } from "../refusals.ts";

export interface NewSession {
  session_id: string;
  hash: string;
  client: string;
  /** The network from which the password was given, as a keyed hash: it is remembered with the account. */
  network_hash?: string;
}

/** A session that was accepted, to be asked again inside the transaction that acts on it. */
export interface SignedIn {
  account_id: string;
  session_id: string;
}

export interface Session {
  session_id: string;
  account_id: string;
  /** ISO 8601, like all times here. */
  created_at: string;
  last_used_at: string;
  /** When the password was last given; null if a device got the session. */
  signed_in_at: string | null;
  client: string;
}

const LIFETIME_MS = 90 * UNIT_MS.d;
/** The last use is written no more often than this: reading must not cost a write each time. */
const TOUCH_MS = UNIT_MS.m;

const COLUMNS = "session_id, account_id, created_at, last_used_at, signed_in_at, client";
const cutoff = (now: number): string => new Date(now - LIFETIME_MS).toISOString();

const insert = statement(
  `insert into sessions (session_id, hash, account_id, created_at, last_used_at, signed_in_at, client)
   values (?1, ?2, ?3, ?4, ?4, ?5, ?6)`,
);

/** `signed_in_at`: when the password was given; null for a device. */
const addSession = (
  { session_id, hash, client }: NewSession,
  account_id: string,
  at: string,
  signed_in_at: string | null,
): Op<void> => insert.do(session_id, hash, account_id, at, signed_in_at, client);

/** Networks that an account keeps, the newest ones; and how long after its last sign-in a network is forgotten. */
const NETWORKS_KEPT = 32;
const NETWORK_KEPT_MS = 180 * UNIT_MS.d;

const seeNetwork = statement(
  `insert into sign_in_networks (account_id, network_hash, seen_at) values (?, ?, ?)
   on conflict (account_id, network_hash) do update set seen_at = excluded.seen_at`,
);
const trimNetworks = statement(
  `delete from sign_in_networks where account_id = ?1 and network_hash not in (
     select network_hash from sign_in_networks where account_id = ?1 order by seen_at desc limit ?2)`,
);
const known = statement("select 1 from sign_in_networks where account_id = ? and network_hash = ? and seen_at > ?");
const forgetNetworks = statement("delete from sign_in_networks where seen_at <= ?");

/** Remembers the network from which the account's password was given. */
function* noteNetwork({ network_hash }: NewSession, account_id: string, now: number): Op<void> {
  if (network_hash === undefined) return;
  yield* seeNetwork.do(account_id, network_hash, now);
  yield* trimNetworks.do(account_id, NETWORKS_KEPT);
}

function* knowsNetwork(account_id: string, network_hash: string, now: number): Op<boolean> {
  return (yield* known.get(account_id, network_hash, now - NETWORK_KEPT_MS)) !== null;
}

const held = statement("select 1 from sessions where session_id = ? and account_id = ?");

/** Throws if the session has ended since it was accepted. */
function* refuseUnlessHeld({ session_id, account_id }: SignedIn): Op<void> {
  if ((yield* held.get(session_id, account_id)) !== null) return;
  throw refusals.sessionEnded();
}

const forget = statement("delete from sessions where last_used_at <= ?");

/** For the sweep: forgets sessions that were not used for 90 days, and networks of long ago. */
function* forgetOldSessions(now: number): Op<void> {
  yield* forget.do(cutoff(now));
  yield* forgetNetworks.do(now - NETWORK_KEPT_MS);
}

const byHash = statement<Session>(`select ${COLUMNS} from sessions where hash = ? and last_used_at > ?`);
const touch = statement("update sessions set last_used_at = ? where session_id = ?");
const sign = statement("update sessions set signed_in_at = ? where session_id = ?");
const ofAccount = statement<Session>(
  `select ${COLUMNS} from sessions where account_id = ? and last_used_at > ? order by created_at desc, session_id desc
   limit ?`,
);
const remove = statement("delete from sessions where session_id = ? and account_id = ?");
const removeOthers = statement("delete from sessions where account_id = ? and session_id <> ?");
// A login that was approved and not yet fetched would become a session afterwards.
const removeLogins = statement("delete from device_logins where account_id = ?");

const removeAll = statement("delete from sessions where account_id = ?");

function* endAllSessions(account_id: string): Op<void> {
  yield* removeLogins.do(account_id);
  yield* removeAll.do(account_id);
}

/** Answers how many sessions ended. */
function* endOtherSessions({ account_id, session_id }: SignedIn): Op<number> {
  yield* removeLogins.do(account_id);
  return (yield* removeOthers.run(account_id, session_id)).changes;
}

function* end({ session_id, account_id }: SignedIn): Op<boolean> {
  return (yield* remove.run(session_id, account_id)).changes > 0;
}

function* endOthers(keep: SignedIn): Op<number> {
  yield* refuseUnlessHeld(keep);
  return yield* endOtherSessions(keep);
}

const unchanged = statement(
  "select 1 from accounts where account_id = ? and password_hash = ? and disabled_reason is null",
);

/** Whether the account's password is still the one that was checked, and opens it. */
function* isItsPassword(account_id: string, password_hash: string): Op<boolean> {
  return (yield* unchanged.get(account_id, password_hash)) !== null;
}

/** Steps for other transactions that make, check or end sessions. */
export const sessionRows = {
  add: addSession,
  noteNetwork,
  knowsNetwork,
  refuseUnlessHeld,
  forgetOld: forgetOldSessions,
  endAll: endAllSessions,
  endOthers: endOtherSessions,
  isItsPassword,
};

function* start(session: NewSession, account_id: string, password_hash: string, now: number): Op<boolean> {
  if (!(yield* isItsPassword(account_id, password_hash))) return false;
  const at = new Date(now).toISOString();
  yield* addSession(session, account_id, at, at);
  yield* noteNetwork(session, account_id, now);
  return true;
}

const used = note(({ now }, session_id: string) => touch.do(new Date(now()).toISOString(), session_id));

export const SESSIONS = {
  /** By the token's hash; null if there is none or it has ended. Counts as a use. */
  find: steps("read", async (backend, hash: string): Promise<Session | null> => {
    const now = backend.now();
    const found = await backend.db.read(() => byHash.get(hash, cutoff(now)));
    const stale = found !== null && Date.parse(found.last_used_at) <= now - TOUCH_MS;
    if (stale) await (backend.noteUse?.session ?? used.on(backend))(found.session_id);
    return found;
  }),
  /** Notes a use of the session. On a full or busy disk that is left out, and nobody is refused for it. */
  used,
  /** False if the account's password is no longer the one that was checked, or opens it no more. */
  start: write(({ now }, session: NewSession, account: { account_id: string; password_hash: string }) =>
    start(session, account.account_id, account.password_hash, now()),
  ),
  /** Notes that the password was given once more. */
  confirm: write(({ now }, session_id: string) => sign.do(new Date(now()).toISOString(), session_id)),
  /** Newest first, at most `limit`. */
  list: read(({ now }, account_id: string, limit: number) => ofAccount.all(account_id, cutoff(now()), limit)),
  /** False if the account has no such session. */
  end: write((_, session: SignedIn) => end(session), { frees: true }),
  /** Ends all sessions of the account but this one, and device logins that are about to become one. Answers how many
   *  sessions. */
  endOthers: write((_, keep: SignedIn) => endOthers(keep), { frees: true }),
};
