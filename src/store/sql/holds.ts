/** While a backup copies blobs, none may be swept. A hold that nobody renews lapses after an hour. */
import { every } from "../../run/every.ts";
import { randomName } from "../../base/random.ts";
import { UNIT_MS } from "../../base/units.ts";
import { type Op, statement } from "./db.ts";
import { ifDiskAllows } from "./frame.ts";
import type { Parts } from "./parts.ts";

const HOLD_MS = UNIT_MS.h;
const RENEW_MS = 10 * UNIT_MS.m;

const live = statement("select 1 from holds where expires_at > ? limit 1");

/** Inside the sweep's transaction. */
export function* isHeld(now: number): Op<boolean> {
  return (yield* live.get(now)) !== null;
}

const put = statement(
  `insert into holds (hold_id, expires_at) values (?, ?)
   on conflict (hold_id) do update set expires_at = excluded.expires_at`,
);
const remove = statement("delete from holds where hold_id = ? or expires_at <= ?");

/** Takes a hold and renews it until it is released. One that cannot be renewed now is renewed the next time, whatever the
 *  reason: it lasts for six of them, and a timer's error would end the process. */
export async function takeHold({ db, now }: Pick<Parts, "db" | "now">): Promise<{ release(): Promise<void> }> {
  const hold_id = `hold_${randomName(20)}`;
  const renew = () => db.write(() => put.do(hold_id, now() + HOLD_MS));
  await renew();
  const timer = every(RENEW_MS, renew, () => {}); // six turns before it lapses
  return {
    release() {
      timer.stop();
      return ifDiskAllows(db.write(() => remove.do(hold_id, now()))); // else it lapses
    },
  };
}
