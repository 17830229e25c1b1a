/** Limits of what is written: a page's comments hold so many words, and what was said before waits for the owner. */
import { createHash } from "node:crypto";
import { Refusal } from "../../base/errors.ts";
import { type Op, statement } from "../operation.ts";

/** Shorter texts are equal by chance. */
const LONG = 40;
const BYTES = 6;

/** The value of `comments.text_hash`. */
export const hashOf = (text: string): number => createHash("sha256").update(text).digest().readUIntBE(0, BYTES);

// A second text with the same hash is the same text: two others are not likely to share one.
const saidBy = statement(
  "select 1 from comments where site_id = ?1 and text_hash = ?2 and comment_no <> ?3 and text = ?4 and person_id = ?5 limit 1",
);
const saidByAnybody = statement(
  "select 1 from comments where site_id = ?1 and text_hash = ?2 and comment_no <> ?3 and text = ?4 limit 1",
);

/** Whether the text was said before: spam waits for the owner in every mode (COMMENTS 4). `instead_of`: comment_no of the one
 *  whose text this is to be; 0 for a new one. */
export function* isRepeated(site_id: string, person_id: string, text: string, instead_of = 0): Op<boolean> {
  const values = [site_id, hashOf(text), instead_of, text] as const;
  if ([...text].length >= LONG) return (yield* saidByAnybody.get(...values)) !== null;
  return (yield* saidBy.get(...values, person_id)) !== null;
}

/** Code points of all comments of a page: 5,000 of 200. `threads` and `view` write out all of them at once, in the thread that
 *  serves: a few megabytes, where 5,000 of the longest would be a hundred. */
const MOST_TEXT = 1_000_000;

const held = statement<{ n: number }>(
  `select coalesce(sum(length(c.text)), 0) as n from threads t join comments c on c.thread_no = t.thread_no
   where t.site_id = ?1 and t.page = ?2 and c.comment_no <> ?3`,
);
const pageOf = statement<{ page: string }>("select page from threads where thread_no = ?");

interface NewText {
  site_id: string;
  text: string;
}

/** `instead_of`: as for `isRepeated`. */
export function* refuseFullText({ site_id, text }: NewText, page: string, instead_of = 0): Op<void> {
  const { n } = (yield* held.get(site_id, page, instead_of))!;
  if (n + [...text].length <= MOST_TEXT) return;
  // How near it was would tell of words that wait.
  throw new Refusal(
    "page_full",
    `The comments of this page would hold more than ${MOST_TEXT} characters: say it shorter.`,
  );
}

export function* refuseFullTextIn(said: NewText, thread_no: number, instead_of = 0): Op<void> {
  yield* refuseFullText(said, (yield* pageOf.get(thread_no))!.page, instead_of);
}
