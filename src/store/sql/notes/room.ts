/** How many words a page's comments may hold: `threads` and `view` tell all of them at once, in the thread that serves. */
import { Refusal } from "../../../base/errors.ts";
import { type Op, statement } from "../db.ts";

/** Code points of all comments of a page: 5,000 of 200. Written out they are a few megabytes, where 5,000 of the longest
 *  would be a hundred. */
const MOST = 1_000_000;

const held = statement<{ n: number }>(
  `select coalesce(sum(length(c.text)), 0) as n from threads t join comments c on c.thread_no = t.thread_no
   where t.site_id = ?1 and t.page = ?2 and c.comment_no <> ?3`,
);
const pageOf = statement<{ page: string }>("select page from threads where thread_no = ?");

interface Said {
  site_id: string;
  text: string;
}

/** `instead_of`: comment_no of the one whose text this is to be; 0 of a new one. */
export function* refuseFullText({ site_id, text }: Said, page: string, instead_of = 0): Op<void> {
  const { n } = (yield* held.get(site_id, page, instead_of))!;
  if (n + [...text].length <= MOST) return;
  // How near it was would tell of words that wait.
  throw new Refusal("page_full", `The comments of this page would hold more than ${MOST} characters: say it shorter.`);
}

export function* refuseFullTextIn(said: Said, thread_no: number, instead_of = 0): Op<void> {
  yield* refuseFullText(said, (yield* pageOf.get(thread_no))!.page, instead_of);
}
