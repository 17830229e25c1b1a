/** How much there is of each kind, as its owner is told. */
import type { NoteCounts } from "../../notes.ts";
import { type Op, statement } from "../db.ts";
import { IS_REPORTED } from "./queue.ts";

const threads = statement<Pick<NoteCounts, "open" | "resolved">>(
  `select count(*) filter (where t.status = 'open') as open, count(*) filter (where t.status = 'resolved') as resolved
   from threads t join comments r on r.comment_no = t.thread_no
   where t.site_id = ? and r.state in ('public', 'erased', 'pending')`,
);
const comments = statement<Pick<NoteCounts, "pending" | "reported" | "rejected">>(
  `select count(*) filter (where c.state = 'pending') as pending, count(*) filter (where ${IS_REPORTED}) as reported,
     count(*) filter (where c.state = 'rejected') as rejected
   from comments c where c.site_id = ?`,
);

export function* counts(site_id: string): Op<NoteCounts> {
  return { ...(yield* threads.get(site_id))!, ...(yield* comments.get(site_id))! };
}
