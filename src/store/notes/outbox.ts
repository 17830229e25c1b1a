/** The outbox of webhooks: deliveries to the addresses that owners set for their sites' comments (COMMENTS 2). It is filled in
 *  the transaction of the event, and emptied by the one process that delivers. */
import { isShown, siteState } from "../../base/site-state.ts";
import { newDeliveryId } from "../../base/tokens.ts";
import type { Site } from "../../base/types.ts";
import type { Decided, CommentDecision, PublicComment, Webhook, WebhookEvent, Written } from "../notes.ts";
import { type Backend, type Bound, type Op, read, statement, write } from "../operation.ts";
import { siteRows } from "../sites.ts";
import { deliveredItem } from "./feed.ts";

export interface Delivery {
  /** `msg_…`, the same in all tries. */
  id: string;
  site_id: string;
  type: WebhookEvent;
  created_at: string;
  /** Tries that failed. */
  tries: number;
}

/** The content of a delivery, and its receiver, as things are now. */
export interface DeliveryContent {
  site: Site;
  webhook: Webhook;
  comment: PublicComment;
  /** Only the owner may know of what is pending. */
  visibility: "public" | "pending";
}

/** Deliveries that a site's receiver has not taken; past them none is added, for the receiver is not there. */
const MOST_WAITING = 1000;

const webhookOf = statement<{ webhook: string | null }>("select webhook from comment_settings where site_id = ?");
const waiting = statement<{ n: number }>("select count(*) as n from webhook_outbox where site_id = ?");
const insert = statement(
  `insert into webhook_outbox (id, site_id, type, comment_no, created_at, next_at)
   select ?1, site_id, ?3, comment_no, ?5, ?6 from comments where site_id = ?2 and id = ?4`,
);

function* webhook(site_id: string): Op<Webhook | null> {
  const row = yield* webhookOf.get(site_id);
  return row === null || row.webhook === null ? null : (JSON.parse(row.webhook) as Webhook);
}

interface AnnouncedEvent {
  type: WebhookEvent;
  site_id: string;
  comment_id: string;
}

/** Adds a delivery to the site's owner, if they asked for it. */
function* announce({ type, site_id, comment_id }: AnnouncedEvent, id: string, now: number): Op<void> {
  const asked = yield* webhook(site_id);
  if (asked === null || !asked.events.includes(type)) return;
  if ((yield* waiting.get(site_id))!.n >= MOST_WAITING) return;
  yield* insert.do(id, site_id, type, comment_id, new Date(now).toISOString(), now);
}

const COLUMNS = "id, site_id, type, created_at, tries";
// From site to site by the index: a thousand deliveries that wait for each cost no more than one.
const due = statement<Delivery>(
  `with recursive waiting (of) as (
     select min(site_id) from webhook_outbox
     union all
     select (select min(site_id) from webhook_outbox where site_id > waiting.of) from waiting where waiting.of is not null)
   select ${COLUMNS} from waiting join webhook_outbox on delivery_no = (
     select delivery_no from webhook_outbox where site_id = waiting.of and next_at <= ?1
     order by next_at, delivery_no limit 1)
   order by tries > 0, next_at, delivery_no limit ?2`,
);
const byId = statement<Delivery & { comment_no: number }>(
  `select ${COLUMNS}, comment_no from webhook_outbox where id = ?`,
);
const remove = statement("delete from webhook_outbox where id = ?");
const putOff = statement("update webhook_outbox set tries = tries + 1, next_at = ?2 where id = ?1");

function* contentOf(id: string, now: number): Op<DeliveryContent | null> {
  const row = yield* byId.get(id);
  if (row === null) return null;
  const site = yield* siteRows.byId.get(row.site_id);
  const asked = yield* webhook(row.site_id);
  const item = yield* deliveredItem(row.comment_no);
  if (site === null || !isShown(siteState(site, now)) || item === null) return null;
  return asked !== null && asked.events.includes(row.type) ? { site, webhook: asked, ...item } : null;
}

/** A change that an owner may have asked to hear of, in one transaction with its delivery. */
function* announcing<T>(
  { announces, now }: Backend,
  change: Op<T>,
  eventOf: (done: T) => AnnouncedEvent | null,
): Op<T> {
  const done = yield* change;
  const event = announces ? eventOf(done) : null;
  if (event !== null) yield* announce(event, newDeliveryId(), now());
  return done;
}

const begun = (type: "thread.created" | "reply.created", site_id: string, done: Written): AnnouncedEvent | null =>
  done.repeated ? null : { type, site_id, comment_id: done.comment_id };

function decided({ action, site_id }: CommentDecision, { changed, thread }: Decided): AnnouncedEvent | null {
  if (!changed || (action !== "resolve" && action !== "reopen")) return null;
  return { type: action === "resolve" ? "thread.resolved" : "thread.reopened", site_id, comment_id: thread.id };
}

/** Rows for the webhook, written in the transaction of their comment. */
export const outboxRows = {
  announcing,
  begun,
  decided,
};

export const OUTBOX = {
  /** The delivery that has been due longest, for each of at most `limit` sites; deliveries that were never tried come first. */
  due: read((_, at: number, limit: number) => due.all(at, limit)),
  /** The content of a delivery; null if it has no receiver or no content any more: then it is done. */
  content: read(({ now }, id: string) => contentOf(id, now())),
  done: write((_, id: string) => remove.do(id), { frees: true }),
  /** After a try that failed. `next_at`: epoch milliseconds. */
  later: write((_, id: string, next_at: number) => putOff.do(id, next_at)),
};
export type Outbox = Bound<typeof OUTBOX>;
