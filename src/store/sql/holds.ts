/** While a backup copies blobs, none may be swept. A hold that nobody renews lapses after an hour. */
import type { Database } from "bun:sqlite";
import { randomName } from "../../random.ts";

const HOLD_MS = 60 * 60_000;
const RENEW_MS = 10 * 60_000;

/** For use inside the sweep's transaction. */
export function holdReader(db: Database): (now: number) => boolean {
  const held = db.prepare<unknown, [number]>("select 1 from holds where expires_at > ? limit 1");
  return (now) => held.get(now) !== null;
}

/** Takes a hold and renews it until it is released. */
export function takeHold(db: Database, now: () => number): { release(): void } {
  const put = db.prepare<unknown, [string, number]>(
    "insert into holds (hold_id, expires_at) values (?, ?) on conflict do update set expires_at = excluded.expires_at",
  );
  const remove = db.prepare<unknown, [string, number]>("delete from holds where hold_id = ? or expires_at <= ?");
  const hold_id = `hold_${randomName(20)}`;
  put.run(hold_id, now() + HOLD_MS);
  const timer = setInterval(() => put.run(hold_id, now() + HOLD_MS), RENEW_MS);
  return {
    release() {
      clearInterval(timer);
      remove.run(hold_id, now());
    },
  };
}
