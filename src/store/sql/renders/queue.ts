/** Which versions wait to be looked at: of each site the newest alone, and a bounded number. */
import type { RenderTask } from "../../renders.ts";
import { type Op, statement } from "../db.ts";
import { receiptOf } from "../receipts.ts";

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
const giveUpOldest = statement(
  `update renders set status = 'failed', reason = 'Too many versions were waiting to be looked at.'
   where version_no in (
     select version_no from renders join sites on sites.site_id = renders.site_id where status = 'pending'
     order by owner_account_id is not null, asked_at, version_no limit ?)`,
);
const first = statement<Omit<RenderTask, "receipt">>(
  `select version_no, renders.site_id as site_id, slug, version_id, tries + 1 as tries
   from renders join versions using (version_no) join sites on sites.site_id = renders.site_id
   where status = 'pending' order by owner_account_id is null, asked_at, version_no limit 1`,
);
const begin = statement("update renders set tries = tries + 1 where version_no = ?");

export function* countWaiting(): Op<number> {
  return (yield* count.get())!.n;
}

export function* takeFirst(): Op<RenderTask | null> {
  const beyond = (yield* countWaiting()) - MOST_WAITING;
  if (beyond > 0) yield* giveUpOldest.do(beyond);
  const task = yield* first.get();
  if (task === null) return null;
  yield* begin.do(task.version_no);
  return { ...task, receipt: yield* receiptOf(task.site_id, task.version_id) };
}
