/** Device logins (RFC 8628): a program shows a code, a person approves it in a browser, the program gets a session. */
import { UNIT_MS } from "../../base/units.ts";
import { type Op, read, statement, steps, write } from "../operation.ts";
import { type NewSession, sessionRows, type SignedIn } from "./sessions.ts";

export const DEVICE_LIFETIME_MS = 15 * UNIT_MS.m;
export const DEVICE_INTERVAL_S = 5;

export interface DeviceLogin {
  user_code: string;
  /** The address of the client that asks. */
  address: string;
  client: string;
  /** ISO 8601. */
  created_at: string;
}

type NewLogin = Omit<DeviceLogin, "created_at"> & { device_hash: string };

type Polled = { state: "pending" | "slow_down" | "denied" | "unknown" } | { state: "approved"; account_id: string };

/** A timer may fire a little early, or a packet overtake another: that is no haste. */
const EARLY_MS = 500;
/** Seconds: the longest interval. From then on haste is not written down any more, for each of these writes is a flush of
 *  the disk. */
const LONGEST_INTERVAL_S = 60;

interface LoginRow {
  state: "pending" | "approved" | "denied";
  account_id: string | null;
  client: string;
  polled_at: number | null;
  interval: number;
}

const forget = statement("delete from device_logins where expires_at <= ?");

/** For the sweep: forgets expired logins. */
export const forgetOldLogins = (now: number): Op<void> => forget.do(now);

const insert = statement(
  `insert into device_logins (device_hash, user_code, address, client, created_at, expires_at)
   values (?, ?, ?, ?, ?, ?) on conflict do nothing`,
);

function* start({ device_hash, user_code, address, client }: NewLogin, now: number): Op<boolean> {
  const created_at = new Date(now).toISOString();
  const { changes } = yield* insert.run(device_hash, user_code, address, client, created_at, now + DEVICE_LIFETIME_MS);
  return changes > 0;
}

const pending = statement<DeviceLogin>(
  `select user_code, address, client, created_at from device_logins
   where user_code = ? and state = 'pending' and expires_at > ?`,
);
const setState = statement(
  `update device_logins set state = ?, account_id = ? where user_code = ? and state = 'pending' and expires_at > ?`,
);

function* decide(user_code: string, decision: "approved" | "denied", by: SignedIn, now: number): Op<boolean> {
  yield* sessionRows.refuseUnlessHeld(by);
  const account_id = decision === "approved" ? by.account_id : null;
  return (yield* setState.run(decision, account_id, user_code, now)).changes > 0;
}

const find = statement<LoginRow>(
  "select state, account_id, client, polled_at, interval from device_logins where device_hash = ? and expires_at > ?",
);
const isHasty = ({ polled_at, interval }: LoginRow, now: number): boolean =>
  polled_at !== null && now - polled_at < interval * 1000 - EARLY_MS;

const notePoll = statement("update device_logins set polled_at = ?, interval = ? where device_hash = ?");
const remove = statement("delete from device_logins where device_hash = ?");

function* poll(device_hash: string, session: Omit<NewSession, "client">, now: number): Op<Polled> {
  const login = yield* find.get(device_hash, now);
  if (!login) return { state: "unknown" };
  const { state, account_id, client, interval } = login;
  if (state === "denied") return { state };
  if (state === "approved") {
    yield* remove.do(device_hash);
    yield* sessionRows.add({ ...session, client }, account_id!, new Date(now).toISOString(), null);
    return { state, account_id: account_id! };
  }
  const hasty = isHasty(login, now);
  yield* notePoll.do(now, hasty ? interval + DEVICE_INTERVAL_S : interval, device_hash);
  return { state: hasty ? "slow_down" : "pending" };
}

export const DEVICE_LOGINS = {
  /** False if the user code is in use: draw another. */
  start: write(({ now }, login: NewLogin) => start(login, now())),
  /** A login that waits to be decided; null for an unknown, decided, used or expired code alike. */
  pending: read(({ now }, user_code: string) => pending.get(user_code, now())),
  /** False if it no longer waits. */
  decide: write(({ now }, user_code: string, decision: "approved" | "denied", by: SignedIn) =>
    decide(user_code, decision, by, now()),
  ),
  /** The device asks. An approved login gives `session` to it, once. */
  poll: steps(
    "write",
    async ({ db, now }, device_hash: string, session: Omit<NewSession, "client">): Promise<Polled> => {
      // Neither guesses at device codes nor a loop of polls may queue for the write lock.
      const login = await db.read(() => find.get(device_hash, now()));
      if (login === null) return { state: "unknown" };
      if (login.state === "pending" && login.interval >= LONGEST_INTERVAL_S && isHasty(login, now())) {
        return { state: "slow_down" };
      }
      return db.write(() => poll(device_hash, session, now()));
    },
  ),
};
