/** The outbox: letters to the addresses that owners set for their sites' comments (COMMENTS 2), and notices to the operator. It is
 *  filled in the transaction of the event, and emptied by the one process that delivers. */
import { Refusal } from "../../base/errors.ts";
import { isShown, siteState } from "../../base/site-state.ts";
import { newDeliveryId } from "../../base/tokens.ts";
import type { Site } from "../../base/types.ts";
import type {
  Decided,
  CommentDecision,
  ListedDelivery,
  PublicComment,
  Webhook,
  WebhookEvent,
  WebhookState,
  Written,
} from "../notes.ts";
import { NOTICE_TYPES, type NoticeContent, noticeContent, noticeRows, type NoticeType, SERVER } from "../notices.ts";
import { type Backend, type Bound, type Op, read, statement, write } from "../operation.ts";
import { permission, type WriteBy } from "../permission.ts";
import { siteRows } from "../sites.ts";
import { type Delivery, deliveryRows, LONGEST_WAIT, OUTCOMES } from "./deliveries.ts";
import { deliveredItem } from "./feed.ts";

const {
  byId,
  forgetFailures,
  listed,
  listedLetter,
  refuse,
  remove,
  stateOf,
  tryNow,
  waitingOf,
  webhookOf,
  webhookState,
} = deliveryRows;

/** A letter that is due, with what decides whose turn it is. */
export interface DueDelivery extends Delivery {
  /** The site's owner; without one the customer (an IPv4 address, an IPv6 /48) that set the webhook. They share the slots. */
  place: string;
  /** When a letter of its site was last sent; 0 if never. */
  turn_at: number;
  /** How long that took. */
  took_ms: number;
  failing: 0 | 1;
}

/** The content of a site's letter, and its receiver, as things are now. */
interface CommentContent {
  site: Site;
  webhook: Webhook;
  comment: PublicComment;
  /** Only the owner may know of what is pending. */
  visibility: "public" | "pending";
}

export type DeliveryContent = CommentContent | { notice: NoticeContent };

/** Deliveries that a site's receiver has not taken; past them none is added, for the receiver is not there. */
const MOST_WAITING = 1000;

const insert = statement(
  `insert into webhook_outbox (id, site_id, type, comment_no, created_at)
   select ?1, site_id, ?3, comment_no, ?5 from comments where site_id = ?2 and id = ?4`,
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

/** Adds a delivery to the site's owner, if they asked for it and their receiver is not gone for good. */
function* announce({ type, site_id, comment_id }: AnnouncedEvent, id: string, now: number): Op<void> {
  const asked = yield* webhook(site_id);
  if (asked === null || !asked.events.includes(type)) return;
  const state = yield* stateOf.get(site_id);
  if (state !== null && state.ended_at !== null) return;
  if ((yield* waitingOf.get(site_id))!.n >= MOST_WAITING) return yield* refuse.do(site_id);
  yield* insert.do(id, site_id, type, comment_id, new Date(now).toISOString());
}

// From site to site by the index: a thousand deliveries that wait for each cost no more than one.
const due = statement<DueDelivery>(
  `with recursive waiting (of) as (
     select min(site_id) from webhook_outbox
     union all
     select (select min(site_id) from webhook_outbox where site_id > waiting.of) from waiting where waiting.of is not null)
   select letter.id, letter.site_id, type, letter.created_at, tries,
     coalesce(owner_account_id, customer, network, '') as place,
     case when turn_at is null or turn_at > ?1 then 0 else turn_at end as turn_at,
     coalesce(took_ms, 0) as took_ms, failing_since is not null as failing
   from waiting
     join webhook_outbox as letter on delivery_no = (
       select min(delivery_no) from webhook_outbox where site_id = waiting.of)
     left join webhook_states on webhook_states.site_id = letter.site_id
     left join sites on sites.site_id = letter.site_id
   where coalesce(next_at, 0) <= ?1 or next_at > ?1 + ${LONGEST_WAIT}
   order by 7, delivery_no limit ?2`,
);
const waitingNow = statement<{ waiting: number; oldest: string | null }>(
  `select count(*) as waiting, min(created_at) as oldest from webhook_outbox where site_id <> '${SERVER}'`,
);

function* contentOf(id: string, now: number): Op<DeliveryContent | null> {
  const row = yield* byId.get(id);
  if (row === null) return null;
  if (row.notice !== null) {
    const notice = yield* noticeContent(row.type as NoticeType, row.notice);
    return notice && { notice };
  }
  const type = row.type as WebhookEvent;
  const site = yield* siteRows.byId.get(row.site_id);
  const asked = yield* webhook(row.site_id);
  const item = yield* deliveredItem(row.comment_no);
  if (site === null || !isShown(siteState(site, now)) || item === null) return null;
  return asked !== null && asked.events.includes(type) ? { site, webhook: asked, ...item } : null;
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

const noSuchLetter = (): Refusal =>
  new Refusal("not_found", "This site has no such letter among its last 50: list them for their ids.");
const cannotSend = (why: string): Refusal => new Refusal("invalid_input", why);

const sendAgain = statement(
  `insert into webhook_outbox (id, site_id, type, comment_no, created_at, tries)
   select id, site_id, type, comment_no, created_at, tries from webhook_deliveries where id = ?`,
);

/** A letter of the list is sent once more, under its id, and its receiver is tried at once. */
function* again(
  { announces = false }: Backend,
  { site_id, by, id }: { site_id: string; by: WriteBy; id: string },
  now: number,
): Op<ListedDelivery> {
  yield* permission.settableSite({ site_id, by }, now);
  if (!announces) throw cannotSend("The operator of this server has turned webhooks off: nothing is sent.");
  const row = yield* listedLetter.get(site_id, id);
  if (row === null) throw noSuchLetter();
  if ((yield* webhook(site_id)) === null) throw cannotSend("This site has no webhook: set one, then send it again.");
  if ((yield* stateOf.get(site_id))?.ended_at) {
    throw cannotSend("The receiver said that it is gone for good (410): set the webhook anew, then send it again.");
  }
  if ((yield* byId.get(id)) === null) {
    if ((yield* waitingOf.get(site_id))!.n >= MOST_WAITING) {
      throw cannotSend(`${MOST_WAITING} letters wait already: send it again once the receiver takes them.`);
    }
    yield* sendAgain.do(id);
    if ((yield* contentOf(id, now)) === null) {
      throw new Refusal("not_found", "What it told of is gone, or the webhook does not ask for it any more.");
    }
    yield* listed(row, { ...row, outcome: "waiting" }, now);
  }
  yield* tryNow.do(site_id);
  const { type, at, outcome, status, tries } = (yield* listedLetter.get(site_id, id))!;
  return { id, type, at, outcome, status, tries };
}

export const OUTBOX = {
  ...OUTCOMES,
  /** The first letter of each of at most `limit` sites whose time has come; the site that was sent one longest ago first. */
  due: read((_, at: number, limit: number) => due.all(at, limit)),
  /** The content of a delivery; null if it has no receiver or no content any more: then it is done. */
  content: read(({ now }, id: string) => contentOf(id, now())),
  /** A letter that has no receiver or no content any more. */
  drop: write((_, id: string) => remove.do(id), { frees: true }),
  /** Sites' letters that wait, and when the oldest of them came. */
  waiting: read(() => waitingNow.get()),
};
export type Outbox = Bound<typeof OUTBOX>;

/** Null without an address for notices. */
function* noticeState(): Op<WebhookState | null> {
  return (yield* noticeRows(0)).length === 0 ? null : yield* webhookState(SERVER);
}

/** The first letter that is taken of those that wait says that they are taken again. Without any nothing would. */
function* retryNotices(): Op<void> {
  const { waiting } = yield* webhookState(SERVER);
  yield* (waiting > 0 ? tryNow : forgetFailures).do(SERVER);
}

export interface LettersAtStart {
  /** Webhooks are off: what waits to be delivered never is. */
  drops_deliveries?: boolean;
  /** Whether there is an address for notices; left out, nothing changes. */
  notices?: boolean;
}

const ofSites = statement("select 1 from webhook_outbox where site_id <> ? limit 1");
const dropOfSites = statement("delete from webhook_outbox where site_id <> ?");
const noteType = statement("insert into notices (type) values (?) on conflict do nothing");
const noteNothing = statement("delete from notices");
const OF_SERVER = ["webhook_outbox", "webhook_states", "webhook_deliveries"].map((table) =>
  statement(`delete from ${table} where site_id = ?`),
);

/** When a server starts: drops the deliveries of sites' webhooks that wait; lets what happens be noted for the operator, or forgets
 *  all that was. */
export function* lettersAtStart({ drops_deliveries = false, notices }: LettersAtStart): Op<void> {
  if (drops_deliveries && (yield* ofSites.get(SERVER)) !== null) yield* dropOfSites.do(SERVER);
  if (notices === true) {
    for (const type of NOTICE_TYPES) yield* noteType.do(type);
    yield* forgetFailures.do(SERVER);
  }
  if (notices === false) {
    yield* noteNothing.do();
    for (const remove of OF_SERVER) yield* remove.do(SERVER);
  }
}

/** For the operator. */
export const NOTICE_STATE = {
  noticeState: read(() => noticeState()),
  /** The receiver of notices is there again: what waits is sent at once. */
  retryNotices: write(retryNotices),
};

/** For the site's owner. */
export const RESENDING = {
  sendAgain: write((backend, asked: { site_id: string; by: WriteBy; id: string }) =>
    again(backend, asked, backend.now()),
  ),
};
