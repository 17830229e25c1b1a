/** The outbox of webhooks: filled in the transaction of what it tells of, emptied by whoever delivers. */
import type { Webhook, WebhookEvent } from "../../notes.ts";
import type { Delivery, Letter, Outbox } from "../../outbox.ts";
import { isShown, siteState } from "../../../base/site-state.ts";
import { type Op, statement } from "../db.ts";
import { makingRoom } from "../frame.ts";
import type { Parts } from "../parts.ts";
import { siteById } from "../sites.ts";
import { toldItem } from "./feed.ts";

/** What a site's receiver has not taken; past them nothing is added, for it is not there. */
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

export interface Event {
  type: WebhookEvent;
  site_id: string;
  comment_id: string;
}

/** To be told to the site's owner, if they asked for it. */
export function* announce({ type, site_id, comment_id }: Event, id: string, now: number): Op<void> {
  const asked = yield* webhook(site_id);
  if (asked === null || !asked.events.includes(type)) return;
  if ((yield* waiting.get(site_id))!.n >= MOST_WAITING) return;
  yield* insert.do(id, site_id, type, comment_id, new Date(now).toISOString(), now);
}

const COLUMNS = "id, site_id, type, created_at, tries";
// From site to site by the index: a thousand letters that wait for each cost no more than one.
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

function* letterOf(id: string, now: number): Op<Letter | null> {
  const row = yield* byId.get(id);
  if (row === null) return null;
  const site = yield* siteById.get(row.site_id);
  const asked = yield* webhook(row.site_id);
  const told = yield* toldItem(row.comment_no);
  if (site === null || !isShown(siteState(site, now)) || told === null) return null;
  return asked !== null && asked.events.includes(row.type) ? { site, webhook: asked, ...told } : null;
}

export const outbox = ({ db, place, now }: Parts): Outbox => ({
  due: (at, limit) => db.read(due.all(at, limit)),
  letter: (id) => db.read(letterOf(id, now())),
  done: (id) => makingRoom(place, () => db.write(() => remove.do(id))),
  later: (id, next_at) => db.write(() => putOff.do(id, next_at)),
});
