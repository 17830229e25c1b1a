/** Sessions: who is signed in. A session lives 90 days from its last use. */
import { UNIT_MS } from "../../base/units.ts";
import type { NewSession, Session, Sessions, SignedIn } from "../people.ts";
import { sessionEnded } from "../refusals.ts";
import { type Op, statement } from "./db.ts";
import { ifDiskAllows, makingRoom } from "./frame.ts";
import type { Parts } from "./parts.ts";

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
export const addSession = (
  { session_id, hash, client }: NewSession,
  account_id: string,
  at: string,
  signed_in_at: string | null,
): Op<void> => insert.do(session_id, hash, account_id, at, signed_in_at, client);

/** So many networks an account, the oldest go first; and how long after its last sign-in one is forgotten. */
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

/** The account's password was given from there. */
export function* noteNetwork({ network_hash }: NewSession, account_id: string, now: number): Op<void> {
  if (network_hash === undefined) return;
  yield* seeNetwork.do(account_id, network_hash, now);
  yield* trimNetworks.do(account_id, NETWORKS_KEPT);
}

export function* knowsNetwork(account_id: string, network_hash: string, now: number): Op<boolean> {
  return (yield* known.get(account_id, network_hash, now - NETWORK_KEPT_MS)) !== null;
}

const held = statement("select 1 from sessions where session_id = ? and account_id = ?");

/** Throws where the session has ended since it was accepted. */
export function* refuseUnlessHeld({ session_id, account_id }: SignedIn): Op<void> {
  if ((yield* held.get(session_id, account_id)) !== null) return;
  throw sessionEnded();
}

const forget = statement("delete from sessions where last_used_at <= ?");

/** For the sweep: sessions that nobody used for 90 days, and networks of long ago. */
export function* forgetOldSessions(now: number): Op<void> {
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
// One that was approved and not yet fetched would become a session afterwards.
const removeLogins = statement("delete from device_logins where account_id = ?");

const removeAll = statement("delete from sessions where account_id = ?");

export function* endAllSessions(account_id: string): Op<void> {
  yield* removeLogins.do(account_id);
  yield* removeAll.do(account_id);
}

/** Says how many sessions. */
export function* endOtherSessions({ account_id, session_id }: SignedIn): Op<number> {
  yield* removeLogins.do(account_id);
  return (yield* removeOthers.run(account_id, session_id)).changes;
}

function* endOthers(keep: SignedIn): Op<number> {
  yield* refuseUnlessHeld(keep);
  return yield* endOtherSessions(keep);
}

const unchanged = statement(
  "select 1 from accounts where account_id = ? and password_hash = ? and disabled_reason is null",
);

/** Whether the account's password is still the one that was checked, and opens it. */
export function* isItsPassword(account_id: string, password_hash: string): Op<boolean> {
  return (yield* unchanged.get(account_id, password_hash)) !== null;
}

function* start(session: NewSession, account_id: string, password_hash: string, now: number): Op<boolean> {
  if (!(yield* isItsPassword(account_id, password_hash))) return false;
  const at = new Date(now).toISOString();
  yield* addSession(session, account_id, at, at);
  yield* noteNetwork(session, account_id, now);
  return true;
}

/** `noteUse`: instead of `used`, where nobody is to wait for it. */
export function sessionStore({ db, place, now }: Parts, noteUse?: (session_id: string) => void): Sessions {
  const iso = () => new Date(now()).toISOString();
  const used = (session_id: string) => ifDiskAllows(db.write(() => touch.do(iso(), session_id)));
  return {
    used,
    async find(hash) {
      const found = await db.read(byHash.get(hash, cutoff(now())));
      if (found && Date.parse(found.last_used_at) <= now() - TOUCH_MS) await (noteUse ?? used)(found.session_id);
      return found;
    },
    start: (session, { account_id, password_hash }) => db.write(() => start(session, account_id, password_hash, now())),
    confirm: (session_id) => db.write(() => sign.do(iso(), session_id)),
    list: (account_id, limit) => db.read(ofAccount.all(account_id, cutoff(now()), limit)),
    async end({ session_id, account_id }) {
      const { changes } = await makingRoom(place, () => db.write(() => remove.run(session_id, account_id)));
      return changes > 0;
    },
    endOthers: (keep) => makingRoom(place, () => db.write(() => endOthers(keep))),
  };
}
