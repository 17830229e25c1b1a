/** `Idempotency-Key` of anonymous deploys (CONTRACT 4.3), inside the publishing transaction. */
import { Refusal } from "../../base/errors.ts";
import { UNIT_MS } from "../../base/units.ts";
import { type Op, statement } from "./db.ts";

const LIFETIME_MS = 10 * UNIT_MS.m;

interface Key {
  key_hash: string;
  /** The client's network that sent it first: from another the same key makes a new site. */
  address: string;
}

const find = statement<{ site_id: string; version_id: string }>(
  "select site_id, version_id from idempotency_keys where key_hash = ? and address = ?",
);
const insert = statement(
  "insert into idempotency_keys (key_hash, address, site_id, version_id, created_at) values (?, ?, ?, ?, ?)",
);
const prune = statement("delete from idempotency_keys where created_at <= ?");

export const idempotencyConflict = (): Refusal =>
  new Refusal(
    "idempotency_conflict",
    "This Idempotency-Key was used for another deploy in the last 10 minutes. Send a fresh random key.",
  );

/** The site that this key made; null where it made none. Another content under the same key is a conflict. */
export function* siteOfKey({ key_hash, address }: Key, version_id: string, now: number): Op<string | null> {
  yield* prune.do(now - LIFETIME_MS);
  const found = yield* find.get(key_hash, address);
  if (found && found.version_id !== version_id) throw idempotencyConflict();
  return found && found.site_id;
}

/** The same without a change: whether the key made a site with this content. */
export function* isRepeated({ key_hash, address }: Key, version_id: string): Op<boolean> {
  return (yield* find.get(key_hash, address))?.version_id === version_id;
}

export const rememberKey = ({ key_hash, address }: Key, site_id: string, version_id: string, now: number): Op<void> =>
  insert.do(key_hash, address, site_id, version_id, now);
