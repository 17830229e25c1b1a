/** Which versions wait to be looked at: of each site the newest alone, a bounded number in all, and of each place that
 *  they come from no more than leaves the others their part. A place is an account; of sites without an owner, a network. */
import type { RenderTask } from "../../renders.ts";
import { type Op, statement } from "../db.ts";
import { receiptOf } from "../receipts.ts";
import { tooMany } from "./shares.ts";

/** A quarter of an hour of pages; whoever deployed before that does not wait for a picture any more. */
const MOST_WAITING = 500;

const ask = statement(
  `insert into renders (version_no, site_id, status, asked_at)
   select version_no, site_id, 'pending', ?3 from versions where site_id = ?1 and version_id = ?2
   on conflict (version_no) do update set status = 'pending', asked_at = ?3, tries = 0
   where renders.status = 'failed'`,
);
const giveUpOthers = statement(
  `update renders set status = 'failed', reason = 'A newer version came before this one was looked at.'
   where site_id = ?1 and status = 'pending' and version_no <> (
     select version_no from versions where site_id = ?1 and version_id = ?2)`,
);

/** Inside the deploy's transaction, so that no version that went live is forgotten. */
export function* askRender(site_id: string, version_id: string, now: number): Op<void> {
  yield* ask.do(site_id, version_id, now);
  yield* giveUpOthers.do(site_id, version_id);
}

const count = statement<{ n: number }>("select count(*) as n from renders where status = 'pending'");

interface Place {
  place: string;
  owned: number;
  waiting: number;
}

const PLACE = "coalesce(owner_account_id, network, '')";
/** Those of owners first, then by who has waited longest. */
const places = statement<Place>(
  `select ${PLACE} as place, owner_account_id is not null as owned, count(*) as waiting
   from renders join sites on sites.site_id = renders.site_id
   where status = 'pending' group by place order by owned desc, min(asked_at), min(version_no)`,
);
const giveUpOldest = statement(
  `update renders set status = 'failed', reason = 'Too many versions were waiting to be looked at.'
   where version_no in (
     select version_no from renders join sites on sites.site_id = renders.site_id
     where status = 'pending' and ${PLACE} = ? order by asked_at, version_no limit ?)`,
);
const first = statement<Omit<RenderTask, "receipt">>(
  `select version_no, renders.site_id as site_id, slug, version_id, tries + 1 as tries
   from renders join versions using (version_no) join sites on sites.site_id = renders.site_id
   where status = 'pending' and ${PLACE} = ? order by asked_at, version_no limit 1`,
);
const begin = statement("update renders set tries = tries + 1 where version_no = ?");

export function* countWaiting(): Op<number> {
  return (yield* count.get())!.n;
}

/** Who was looked at last stands last. */
export type Turns = Set<string>;

/** The next in turn: of those that come first, one that had no turn yet, else whose turn is longest ago. */
function nextOf(waiting: readonly Place[], turns: Turns): string | null {
  const mine = waiting.filter(({ owned }) => owned === waiting[0]!.owned).map(({ place }) => place);
  const next = mine.find((place) => !turns.has(place)) ?? [...turns].find((place) => mine.includes(place));
  return next ?? null;
}

export function* takeFirst(turns: Turns): Op<RenderTask | null> {
  const waiting = yield* places.all();
  for (const [place, beyond] of tooMany(waiting, MOST_WAITING)) yield* giveUpOldest.do(place, beyond);
  if (waiting.length === 0) return null;
  const place = nextOf(waiting, turns)!;
  const task = yield* first.get(place);
  if (task === null) return null;
  for (const one of turns) if (!waiting.some((other) => other.place === one)) turns.delete(one);
  turns.delete(place);
  turns.add(place);
  yield* begin.do(task.version_no);
  return { ...task, receipt: yield* receiptOf(task.site_id, task.version_id) };
}
