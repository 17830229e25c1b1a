/** Device logins (RFC 8628): a program shows a code, a person approves it in a browser, the program gets a session. */
import type { Database } from "bun:sqlite";
import type { Commit } from "./commit.ts";
import { type NewSession, sessionWriter, type SignedIn } from "./sessions.ts";

export const DEVICE_LIFETIME_MS = 900_000;
export const DEVICE_INTERVAL_S = 5;
/** A timer that fires a little early, or a packet that overtakes one, is no haste. */
const EARLY_MS = 500;

export interface DeviceLogin {
  user_code: string;
  address: string;
  client: string;
  /** ISO 8601. */
  created_at: string;
}

export type Polled =
  { state: "pending" | "slow_down" | "denied" | "unknown" } | { state: "approved"; account_id: string };

export interface DeviceLogins {
  /** False where the user code is in use: draw another. */
  start(login: Omit<DeviceLogin, "created_at"> & { device_hash: string }): Promise<boolean>;
  /** One that waits to be decided; null for an unknown, decided, used or expired code alike. */
  pending(user_code: string): Promise<DeviceLogin | null>;
  /** False where it no longer waits. */
  decide(user_code: string, decision: "approved" | "denied", by: SignedIn): Promise<boolean>;
  /** The device asks. An approved login gives `session` to it, once. */
  poll(device_hash: string, session: Omit<NewSession, "client">): Promise<Polled>;
}

interface Row {
  state: "pending" | "approved" | "denied";
  account_id: string | null;
  client: string;
  polled_at: number | null;
  interval: number;
}

/** For the sweep. */
export const forgetOldLogins = (db: Database, now: number): void =>
  void db.run("delete from device_logins where expires_at <= ?", [now]);

function poller(db: Database, now: () => number) {
  const find = db.prepare<Row, [string, number]>(
    "select state, account_id, client, polled_at, interval from device_logins where device_hash = ? and expires_at > ?",
  );
  const polled = db.prepare<unknown, [number, number, string]>(
    "update device_logins set polled_at = ?, interval = ? where device_hash = ?",
  );
  const remove = db.prepare<unknown, [string]>("delete from device_logins where device_hash = ?");
  const sessions = sessionWriter(db);

  const commit = db.transaction((device_hash: string, session: Omit<NewSession, "client">): Polled => {
    const login = find.get(device_hash, now());
    if (!login) return { state: "unknown" };
    const { state, account_id, client, polled_at, interval } = login;
    if (state === "denied") return { state };
    if (state === "approved") {
      remove.run(device_hash);
      sessions.add({ ...session, client }, account_id!, new Date(now()).toISOString(), null);
      return { state, account_id: account_id! };
    }
    const hasty = polled_at !== null && now() - polled_at < interval * 1000 - EARLY_MS;
    polled.run(now(), hasty ? interval + DEVICE_INTERVAL_S : interval, device_hash);
    return { state: hasty ? "slow_down" : "pending" };
  });
  /** Guesses at device codes must not queue for the write lock. */
  return (device_hash: string, session: Omit<NewSession, "client">): Polled =>
    find.get(device_hash, now()) === null ? { state: "unknown" } : commit.immediate(device_hash, session);
}

export function deviceLoginStore(db: Database, { quiet }: Commit, now: () => number): DeviceLogins {
  const insert = db.prepare<{ user_code: string }, (string | number)[]>(
    `insert into device_logins (device_hash, user_code, address, client, created_at, expires_at)
     values (?, ?, ?, ?, ?, ?) on conflict do nothing returning user_code`,
  );
  const pending = db.prepare<DeviceLogin, [string, number]>(
    `select user_code, address, client, created_at from device_logins
     where user_code = ? and state = 'pending' and expires_at > ?`,
  );
  const decide = db.prepare<{ user_code: string }, [string, string | null, string, number]>(
    `update device_logins set state = ?, account_id = ? where user_code = ? and state = 'pending' and expires_at > ?
     returning user_code`,
  );
  const { refuseUnlessHeld } = sessionWriter(db);
  const commit = db.transaction((user_code: string, decision: "approved" | "denied", by: SignedIn): boolean => {
    refuseUnlessHeld(by);
    return decide.get(decision, decision === "approved" ? by.account_id : null, user_code, now()) !== null;
  });
  const poll = poller(db, now);
  return {
    start: async ({ device_hash, user_code, address, client }) =>
      quiet(() => {
        const created_at = new Date(now()).toISOString();
        const row = [device_hash, user_code, address, client, created_at, now() + DEVICE_LIFETIME_MS];
        return insert.get(...row) !== null;
      }),
    pending: async (user_code) => pending.get(user_code, now()),
    decide: async (user_code, decision, by) => quiet(() => commit.immediate(user_code, decision, by)),
    poll: async (device_hash, session) => quiet(() => poll(device_hash, session)),
  };
}
