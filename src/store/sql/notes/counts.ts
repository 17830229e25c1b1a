/** How much there is of each kind, as its owner is told. */
import type { NoteCounts } from "../../notes.ts";
import { type Op, statement } from "../db.ts";
import { IS_OPEN_TO_REPORTS } from "./queue.ts";

const threads = statement<Pick<NoteCounts, "open" | "resolved">>(
  `select count(*) filter (where t.status = 'open') as open, count(*) filter (where t.status = 'resolved') as resolved
   from threads t join comments r on r.comment_no = t.thread_no
   where t.site_id = ? and r.state in ('public', 'erased', 'pending')`,
);
const comments = statement<Pick<NoteCounts, "pending" | "reported" | "rejected">>(
  `select (select count(*) from comments where site_id = ?1 and state = 'pending') as pending,
     (select count(*) from comments where site_id = ?1 and state = 'rejected') as rejected,
     (select count(distinct c.comment_no) from comment_reports join comments c using (comment_no)
      where comment_reports.site_id = ?1 and ${IS_OPEN_TO_REPORTS}) as reported`,
);

export function* counts(site_id: string): Op<NoteCounts> {
  return { ...(yield* threads.get(site_id))!, ...(yield* comments.get(site_id))! };
}
