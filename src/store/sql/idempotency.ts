/** `Idempotency-Key` of anonymous deploys (CONTRACT.md 4.3): for use inside the publishing transaction. */
import type { Database } from "bun:sqlite";
import { Refusal } from "../../errors.ts";

const LIFETIME_MS = 10 * 60_000;

interface Key {
  key_hash: string;
  /** The client's network that sent it first: from another the same key makes a new site. */
  address: string;
}

export function idempotencyKeys(db: Database) {
  const find = db.prepare<{ site_id: string; version_id: string }, [string, string]>(
    "select site_id, version_id from idempotency_keys where key_hash = ? and address = ?",
  );
  const insert = db.prepare<unknown, [string, string, string, string, number]>(
    "insert into idempotency_keys (key_hash, address, site_id, version_id, created_at) values (?, ?, ?, ?, ?)",
  );
  const prune = db.prepare<unknown, [number]>("delete from idempotency_keys where created_at <= ?");
  const conflict = (): Refusal =>
    new Refusal(
      "idempotency_conflict",
      "This Idempotency-Key was used for another deploy in the last 10 minutes. Send a fresh random key.",
    );
  return {
    conflict,
    /** The site that this key made. Another content under the same key is a conflict. */
    find({ key_hash, address }: Key, version_id: string, now: number): { site_id: string } | null {
      prune.run(now - LIFETIME_MS);
      const found = find.get(key_hash, address);
      if (found && found.version_id !== version_id) throw conflict();
      return found;
    },
    add({ key_hash, address }: Key, site_id: string, version_id: string, now: number): void {
      insert.run(key_hash, address, site_id, version_id, now);
    },
  };
}
