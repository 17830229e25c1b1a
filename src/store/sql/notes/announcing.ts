/** The changes of comments that owners may ask to be told of: each puts what happened into the outbox, in one transaction
 *  with itself. */
import { newDeliveryId } from "../../../base/tokens.ts";
import type { Decided, Decision, Notes, Written } from "../../notes.ts";
import type { Op } from "../db.ts";
import type { Parts } from "../parts.ts";
import { decide } from "./decide.ts";
import { announce, type Event } from "./outbox.ts";
import { report } from "./queue.ts";
import { reply, start } from "./write.ts";

const begun = (type: "thread.created" | "reply.created", site_id: string, done: Written): Event | null =>
  done.repeated ? null : { type, site_id, comment_id: done.comment_id };

function decided({ action, site_id }: Decision, { changed, thread }: Decided): Event | null {
  if (!changed || (action !== "resolve" && action !== "reopen")) return null;
  return { type: action === "resolve" ? "thread.resolved" : "thread.reopened", site_id, comment_id: thread.id };
}

function* telling<T>(change: Op<T>, eventOf: (done: T) => Event | null, now: number): Op<T> {
  const done = yield* change;
  const event = eventOf(done);
  if (event !== null) yield* announce(event, newDeliveryId(), now);
  return done;
}

/** In the place of those that tell nobody. */
export const announcing = ({ db, now }: Parts): Pick<Notes, "start" | "reply" | "decide" | "report"> => ({
  start: (thread) =>
    db.write(() => telling(start(thread, now()), (done) => begun("thread.created", thread.site_id, done), now())),
  reply: (wanted) =>
    db.write(() => telling(reply(wanted, now()), (done) => begun("reply.created", wanted.site_id, done), now())),
  decide: (decision) => db.write(() => telling(decide(decision, now()), (done) => decided(decision, done), now())),
  report: (site_id, id, said) => {
    const event: Event = { type: "comment.reported", site_id, comment_id: id };
    return db.write(() => telling(report(site_id, id, said, now()), (done) => (done ? event : null), now()));
  },
});
