/** How it goes with the webhooks of sites (COMMENTS 2): the outcome of each try, the wait that follows, and what a site's
 *  owner is told of both. The wait is the site's, not the letter's: one letter is sent to find out whether the receiver is
 *  there again. */
import { UNIT_MS } from "../../base/units.ts";
import { type NoticeType, SERVER } from "../notices.ts";
import type { LetterOutcome, ListedDelivery, Webhook, WebhookEvent, WebhookState } from "../notes.ts";
import { type Op, read, statement, write } from "../operation.ts";

/** A site's letters tell of its comments, the server's own of what its operator must know. */
type LetterType = WebhookEvent | NoticeType;

/** A letter that waits. */
export interface Delivery {
  /** `msg_…`, the same in all tries. */
  id: string;
  site_id: string;
  type: LetterType;
  created_at: string;
  /** Tries of it that failed. */
  tries: number;
}

/** After the first try of a site that failed and each that follows. */
const WAITS_MS = [
  10 * UNIT_MS.s,
  UNIT_MS.m,
  5 * UNIT_MS.m,
  30 * UNIT_MS.m,
  2 * UNIT_MS.h,
  8 * UNIT_MS.h,
  24 * UNIT_MS.h,
];
/** No site waits longer: a time beyond was written while the clock ran ahead. */
export const LONGEST_WAIT = WAITS_MS.at(-1)!;
/** A letter is given up when so many tries of its site have failed since it came. */
const MOST_PROBES = WAITS_MS.length + 1;
/** A letter that failed so often goes behind those that wait with it: the receiver may refuse this one alone. */
const KEEPS_ITS_PLACE = 2;
/** Letters of a site that are listed. */
const LISTED = 50;
const GONE = 410;
/** The longest wait behind an answer that may be about the letter alone, for notices. */
const SERVER_WAIT_MS = 5 * UNIT_MS.m;
const refusesLetter = (status: number | null): boolean =>
  status !== null && status >= 400 && status < 500 && ![408, GONE, 429].includes(status);

interface StateRow extends Omit<WebhookState, "waiting"> {
  misses: number;
}

type WaitingRow = Delivery & { comment_no: number };

const COLUMNS = "id, site_id, type, created_at, tries";
/** `notice`: the content of the server's own letters. */
const byId = statement<WaitingRow & { notice: string | null }>(
  `select ${COLUMNS}, comment_no, notice from webhook_outbox where id = ?`,
);
const remove = statement("delete from webhook_outbox where id = ?");
const stateOf = statement<StateRow>(
  `select last_delivered_at, failing_since, last_error, ended_at, lost, misses from webhook_states where site_id = ?`,
);
const waitingOf = statement<{ n: number }>("select count(*) as n from webhook_outbox where site_id = ?");

const forget = statement("delete from webhook_deliveries where id = ?");
const list = statement(
  `insert into webhook_deliveries (id, site_id, type, comment_no, created_at, at, outcome, status, tries)
   values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
);
const forgetOld = statement(
  `delete from webhook_deliveries where site_id = ?1 and outcome_no <= (
     select outcome_no from webhook_deliveries where site_id = ?1 order by outcome_no desc limit 1 offset ${LISTED})`,
);

interface ListedOutcome {
  outcome: LetterOutcome;
  status: number | null;
  tries: number;
}

/** Puts it at the top of its site's list. */
function* listed(row: WaitingRow, { outcome, status, tries }: ListedOutcome, now: number): Op<void> {
  const { id, site_id, type, comment_no, created_at } = row;
  yield* forget.do(id);
  const at = new Date(now).toISOString();
  yield* list.do(id, site_id, type, comment_no, created_at, at, outcome, status, tries);
  yield* forgetOld.do(site_id);
}

const tookIt = statement(
  `insert into webhook_states (site_id, last_delivered_at, turn_at, took_ms) values (?1, ?2, ?3, ?4)
   on conflict (site_id) do update set last_delivered_at = ?2, turn_at = ?3, took_ms = ?4,
     failing_since = null, last_error = null, misses = 0, next_at = 0`,
);

/** The answer to a try. */
interface TryEnd {
  id: string;
  /** The address that was asked. */
  url: string;
  /** Null: there was none. */
  status: number | null;
  took_ms: number;
}

const webhookOf = statement<{ webhook: string | null }>("select webhook from comment_settings where site_id = ?");

/** Whether the address is the site's still: what a former one answered says nothing of the one that is set now. */
function* isStillAsked(site_id: string, url: string): Op<boolean> {
  if (site_id === SERVER) return true;
  const { webhook = null } = (yield* webhookOf.get(site_id)) ?? {};
  return webhook !== null && (JSON.parse(webhook) as Webhook).url === url;
}

/** `recovered`: the try before failed. Null if the letter is gone with its site. */
function* delivered({ id, url, status, took_ms }: TryEnd, now: number): Op<{ recovered: boolean } | null> {
  const row = yield* byId.get(id);
  if (row === null) return null;
  const before = yield* stateOf.get(row.site_id);
  yield* remove.do(id);
  yield* listed(row, { outcome: "delivered", status, tries: row.tries + 1 }, now);
  if (!(yield* isStillAsked(row.site_id, url))) return { recovered: false };
  yield* tookIt.do(row.site_id, new Date(now).toISOString(), now, took_ms);
  return { recovered: before !== null && before.failing_since !== null };
}

const putOff = statement("update webhook_outbox set tries = tries + 1 where id = ?");
const toTheEnd = statement(
  "update webhook_outbox set delivery_no = (select max(delivery_no) + 1 from webhook_outbox) where id = ?",
);
const probed = statement("update webhook_outbox set probes = probes + 1 where site_id = ?");
const hopeless = statement<WaitingRow>(
  `select ${COLUMNS}, comment_no from webhook_outbox where site_id = ? and probes >= ? order by delivery_no`,
);
const missed = statement(
  `insert into webhook_states (site_id, failing_since, last_error, ended_at, lost, misses, next_at, turn_at, took_ms)
   values (?1, ?2, ?3, ?4, ?5, 1, ?6, ?7, ?8)
   on conflict (site_id) do update set failing_since = coalesce(webhook_states.failing_since, ?2), last_error = ?3,
     ended_at = ?4, lost = webhook_states.lost + ?5, misses = webhook_states.misses + 1, next_at = ?6, turn_at = ?7, took_ms = ?8`,
);

/** A try that failed: `told` says why to the site's owner. */
interface Failure extends TryEnd {
  told: string;
}

export interface Missed {
  /** The site's receiver took the letter before. */
  first: boolean;
  /** It answered 410. */
  ended: boolean;
  /** Letters that are given up with this try. */
  lost: Pick<Delivery, "id" | "type" | "tries">[];
}

/** Null if the letter is gone with its site, or its webhook has another address by now, to which it goes next. */
function* failed({ id, url, status, took_ms, told }: Failure, now: number): Op<Missed | null> {
  const row = yield* byId.get(id);
  if (row === null || !(yield* isStillAsked(row.site_id, url))) return null;
  const { site_id } = row;
  const before = yield* stateOf.get(site_id);
  const misses = before?.misses ?? 0;
  const ended = status === GONE;
  const tries = row.tries + 1;
  yield* putOff.do(id);
  yield* probed.do(site_id);
  const lost = yield* hopeless.all(site_id, ended ? 0 : MOST_PROBES);
  for (const one of lost) yield* remove.do(one.id);
  for (const one of lost.filter((other) => other.id !== id).slice(-LISTED)) {
    yield* listed(one, { outcome: "given_up", status: null, tries: one.tries }, now);
  }
  const outcome = lost.some((one) => one.id === id) ? "given_up" : "failed";
  yield* listed(row, { outcome, status, tries }, now);
  if (tries > KEEPS_ITS_PLACE) yield* toTheEnd.do(id);
  const at = new Date(now).toISOString();
  const wait_ms = WAITS_MS[Math.min(misses, WAITS_MS.length - 1)]!;
  // A receiver that refuses one letter may take the next: those of the server tell of different things.
  const next_at = now + (site_id === SERVER && refusesLetter(status) ? Math.min(wait_ms, SERVER_WAIT_MS) : wait_ms);
  yield* missed.do(site_id, at, told, ended ? at : null, lost.length, next_at, now, took_ms);
  return { first: before === null || before.failing_since === null, ended, lost };
}

const refuse = statement(
  `insert into webhook_states (site_id, lost, refused) values (?, 1, 1)
   on conflict (site_id) do update set lost = webhook_states.lost + 1, refused = webhook_states.refused + 1`,
);
const countRefused = statement<{ n: number | null }>("select sum(refused) as n from webhook_states");
const forgetRefused = statement("update webhook_states set refused = 0 where refused > 0");

/** Letters that came when no more could wait, since this was last asked. */
function* takeRefused(): Op<number> {
  const n = (yield* countRefused.get())?.n ?? 0;
  if (n > 0) yield* forgetRefused.do();
  return n;
}

const tryNow = statement("update webhook_states set misses = 0, next_at = 0, ended_at = null where site_id = ?");
/** Its receiver is another one, or is there again: it is tried at once, and what it did before is not told. */
const forgetFailures = statement(
  `update webhook_states set misses = 0, next_at = 0, ended_at = null, failing_since = null, last_error = null
   where site_id = ?`,
);
/** For another address, of which nothing is known yet. */
const forgetHistory = statement(
  `update webhook_states set last_delivered_at = null, failing_since = null, last_error = null, lost = 0
   where site_id = ?`,
);

const setBy = statement(
  `insert into webhook_states (site_id, customer) values (?1, ?2)
   on conflict (site_id) do update set customer = ?2`,
);

/** The webhook was set: its receiver is tried at once. */
function* setAnew(site_id: string, customer: string | null): Op<void> {
  yield* setBy.do(site_id, customer);
  yield* tryNow.do(site_id);
}

const NO_LETTER_YET = { last_delivered_at: null, failing_since: null, last_error: null, ended_at: null, lost: 0 };

function* webhookState(site_id: string): Op<WebhookState> {
  const { last_delivered_at, failing_since, last_error, ended_at, lost } =
    (yield* stateOf.get(site_id)) ?? NO_LETTER_YET;
  const waiting = (yield* waitingOf.get(site_id))!.n;
  return { last_delivered_at, failing_since, last_error, ended_at, lost, waiting };
}

const SHOWN = "id, type, at, outcome, status, tries";
const latest = statement<ListedDelivery>(
  `select ${SHOWN} from webhook_deliveries where site_id = ? order by outcome_no desc`,
);
const listedLetter = statement<ListedDelivery & WaitingRow>(
  `select ${SHOWN}, site_id, comment_no, created_at from webhook_deliveries where site_id = ? and id = ?`,
);

/** Statements and steps for the outbox and the settings. */
export const deliveryRows = {
  byId,
  remove,
  stateOf,
  webhookOf,
  waitingOf,
  refuse,
  listed,
  listedLetter,
  setAnew,
  forgetHistory,
  tryNow,
  forgetFailures,
  webhookState,
};

/** Rows for the one process that delivers. A full disk must not have a letter sent again. */
export const OUTCOMES = {
  delivered: write(({ now }, answer: TryEnd) => delivered(answer, now()), { frees: true }),
  failed: write(({ now }, failure: Failure) => failed(failure, now()), { frees: true }),
  takeRefused: write(() => takeRefused()),
};

/** Rows for the site's owner. */
export const DELIVERIES = {
  webhookState: read((_, site_id: string) => webhookState(site_id)),
  /** The last 50, the latest first. */
  deliveries: read((_, site_id: string) => latest.all(site_id)),
};
