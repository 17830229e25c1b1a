/** Threads that are begun, replies to them within what a site may hold (COMMENTS 2), and an author's second thoughts. */
import { createHash } from "node:crypto";
import { Refusal } from "../../base/errors.ts";
import type { Author, Carried, FoundComment, Quote, QuotePlace, Viewpoint, Writing, Written } from "../notes.ts";
import { type Op, read, statement, write } from "../operation.ts";
import { type Held, permission } from "../permission.ts";
import { refusals } from "../refusals.ts";
import { changes, type NumberedChange } from "./changes.ts";
import { outboxRows } from "./outbox.ts";
import { personRows } from "./people.ts";
import { noteRows, type State } from "./rows.ts";
import { viewerValues, find, readThread } from "./view.ts";

interface Edit {
  site_id: string;
  id: string;
  by: Pick<Author, "id" | "kind" | "owner_epoch">;
  text: string;
  /** The entity tags that were sent; null means any. Throws `changed` if the comment has none of them. */
  revs: readonly string[] | null;
  /** Written before this (ISO 8601), a visitor's cannot be changed any more; throws `edit_window_over`. */
  written_after: string;
  /** A public comment goes back to wait. */
  waits: boolean;
  most_waiting: number;
}

interface NewReply extends Writing, Held {
  /** The id of any comment of the thread. */
  thread_id: string;
  /** Throws `unknown_thread` if this viewpoint may not see the thread. */
  as: Viewpoint;
}

interface NewThread extends Writing {
  page: string;
  version_id: string;
  version_created_at: string;
  quote: Quote | null;
  element: string | null;
  carried: Carried | null;
  place: QuotePlace | null;
}

const MOST = { threads: 500, replies: 200, comments: 5000, pages: 1000 };

type WritingPerson = Pick<Writing["by"], "id" | "kind">;

/** The viewpoint of the author, who sees their own words while they wait. */
const asAuthor = (by: WritingPerson): Viewpoint =>
  by.kind === "visitor" ? { kind: "visitor", person_id: by.id } : { kind: "owner" };

const earlier = statement<{ id: string; state: State }>(
  "select id, state from comments where site_id = ? and person_id = ? and canonical = ?",
);

/** Null if the person wrote nothing under this key. Throws 410 if it is gone, and 404 if it was rejected: then it is none for
 *  its author either. */
function* writtenBefore(site_id: string, by: WritingPerson, canonical: string): Op<Written | null> {
  const before = yield* earlier.get(site_id, by.id, canonical);
  if (before === null) return null;
  if (before.state === "deleted" || before.state === "erased") throw refusals.commentDeleted();
  const found = yield* find(site_id, before.id, asAuthor(by));
  if (found === null || found === "deleted") throw refusals.unknownComment();
  return { thread: found.thread, comment_id: before.id, repeated: true };
}

// Rejected ones take no place: else whoever fills a page fills it for good (RELIABILITY A26).
const counts = statement<{ n: number }>(
  "select count(*) as n from comments where site_id = ? and state in ('public', 'pending')",
);
const onPage = statement<{ n: number }>(
  `select count(*) as n from threads t join comments r on r.comment_no = t.thread_no
   where t.site_id = ? and t.page = ? and r.state in ('public', 'pending', 'erased')`,
);
const pages = statement<{ n: number }>(
  `select count(distinct t.page) as n from threads t join comments r on r.comment_no = t.thread_no
   where t.site_id = ? and r.state in ('public', 'pending', 'erased')`,
);
const inThread = statement<{ n: number }>(
  "select count(*) as n from comments where thread_no = ?1 and comment_no <> ?1 and state in ('public', 'pending', 'erased')",
);

function* refuseFullSite(site_id: string): Op<void> {
  if ((yield* counts.get(site_id))!.n >= MOST.comments) {
    throw new Refusal("site_full", `This site has ${MOST.comments} comments, and takes no more.`);
  }
}

function* refuseFullPage({ site_id, page }: Pick<NewThread, "site_id" | "page">): Op<void> {
  const { n } = (yield* onPage.get(site_id, page))!;
  if (n >= MOST.threads) throw new Refusal("page_full", `This page has ${n} threads, and takes no more.`);
  if (n === 0 && (yield* pages.get(site_id))!.n >= MOST.pages) {
    throw new Refusal("site_full", `${MOST.pages} pages of this site have comments, and no other page takes any.`);
  }
}

/** Shorter texts are equal by chance. */
const LONG = 40;
const BYTES = 6;

/** The value of `comments.text_hash`. */
const hashOf = (text: string): number => createHash("sha256").update(text).digest().readUIntBE(0, BYTES);

// A second text with the same hash is the same text: two others are not likely to share one.
const saidBy = statement(
  "select 1 from comments where site_id = ?1 and text_hash = ?2 and comment_no <> ?3 and text = ?4 and person_id = ?5 limit 1",
);
const saidByAnybody = statement(
  "select 1 from comments where site_id = ?1 and text_hash = ?2 and comment_no <> ?3 and text = ?4 limit 1",
);

/** Whether the text was said before: spam waits for the owner in every mode (COMMENTS 4). `instead_of`: comment_no of the one
 *  whose text this is to be; 0 for a new one. */
function* isRepeated(site_id: string, person_id: string, text: string, instead_of = 0): Op<boolean> {
  const values = [site_id, hashOf(text), instead_of, text] as const;
  if ([...text].length >= LONG) return (yield* saidByAnybody.get(...values)) !== null;
  return (yield* saidBy.get(...values, person_id)) !== null;
}

/** Bytes of all texts and passages of a page as they are written out: 5,000 comments of 200 letters. `threads` writes all of
 *  them, in the thread that serves: 5,000 of the longest would be a hundred megabytes (RELIABILITY A27). */
const MOST_WRITTEN = 1_000_000;

const HELD_THREADS = `threads t join comments r on r.comment_no = t.thread_no and r.state in ('public', 'pending', 'erased')`;
const held = statement<{ n: number }>(
  `select coalesce(sum(written), 0) as n from (
     select t.written from ${HELD_THREADS} where t.site_id = ?1 and t.page = ?2
     union all
     select c.written from ${HELD_THREADS} join comments c on c.thread_no = t.thread_no
     where t.site_id = ?1 and t.page = ?2 and c.comment_no <> ?3 and c.state in ('public', 'pending')) as lengths`,
);
const pageOf = statement<{ page: string }>("select page from threads where thread_no = ?");

/** `instead_of`: as for `isRepeated`. */
function* refuseFullText(site_id: string, page: string, written: number, instead_of = 0): Op<void> {
  const { n } = (yield* held.get(site_id, page, instead_of))!;
  if (n + written <= MOST_WRITTEN) return;
  // The number of bytes left would betray words that wait.
  throw new Refusal(
    "page_full",
    `The comments of this page would hold more than ${MOST_WRITTEN} bytes as they are written out: say it shorter.`,
  );
}

function* refuseFullTextIn(site_id: string, thread_no: number, text: string, instead_of = 0): Op<void> {
  yield* refuseFullText(site_id, (yield* pageOf.get(thread_no))!.page, noteRows.writtenBytes(text), instead_of);
}

const quoteBytes = (quote: Quote | null): number =>
  quote === null ? 0 : noteRows.writtenBytes(quote.exact + quote.prefix + quote.suffix);

const threadWritten = statement<{ n: number }>(
  `select t.written + (select coalesce(sum(c.written), 0) from comments c where c.thread_no = t.thread_no
     and (c.comment_no = ?1 or c.state in ('public', 'pending'))) as n from threads t where t.thread_no = ?1`,
);
const commentWritten = statement<{ n: number }>("select written as n from comments where comment_no = ?");

/** Throws 409 if a rejected comment finds no place any more where it was; the first one of a thread brings its replies. */
export function* refuseReturn(
  site_id: string,
  { comment_no, thread_no }: { comment_no: number; thread_no: number },
): Op<void> {
  const { page } = (yield* pageOf.get(thread_no))!;
  const is_root = comment_no === thread_no;
  yield* refuseFullSite(site_id);
  if (is_root) yield* refuseFullPage({ site_id, page });
  yield* refuseFullText(site_id, page, (yield* (is_root ? threadWritten : commentWritten).get(comment_no))!.n);
}

const waitingOf = statement<{ n: number }>(
  "select count(*) as n from comments where site_id = ? and network = ? and state = 'pending'",
);

/** One network cannot fill the owner's queue (RELIABILITY A26). */
function* refuseCrowd(site_id: string, network: string | null, most: number): Op<void> {
  if (network === null || (yield* waitingOf.get(site_id, network))!.n < most) return;
  const why = `${most} comments from your network wait for this site's owner: try again after the owner has looked at them.`;
  throw new Refusal("site_full", why);
}

const networkOf = statement<{ network: string | null }>("select network from comments where comment_no = ?");

const insert = statement<{ comment_no: number }>(
  `insert into comments (id, site_id, thread_no, person_id, text, state, was_public, canonical, created_at, modified_at,
     public_no, own_no, text_hash, network, written)
   values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, ?10, ?10, ?11, ?12, ?13) returning comment_no`,
);
// A root is inserted under no thread, and then named by its own number.
const UNNAMED = 0;
const nameItself = statement("update comments set thread_no = comment_no where comment_no = ?");

/** Within the transaction: of equal texts that are sent at once all but the first are repeated. Throws 409 if it is to wait
 *  where too many of its network do. */
function* shownAs({ site_id, by, text, visibility, network, most_waiting }: Writing): Op<Writing["visibility"]> {
  if (by.kind !== "visitor") return visibility;
  if (visibility === "public" && !(yield* isRepeated(site_id, by.id, text))) return "public";
  yield* refuseCrowd(site_id, network, most_waiting);
  return "pending";
}

function* add(writing: Writing, thread_no: number, seen: boolean, { at, no }: NumberedChange): Op<number> {
  const { id, site_id, by, text, visibility, canonical, network } = writing;
  yield* personRows.know(site_id, by, at);
  const shown = seen && visibility === "public" ? 1 : 0;
  const values = [id, site_id, thread_no, by.id, text, visibility, shown, canonical, at, no, hashOf(text)] as const;
  return (yield* insert.get(...values, network, noteRows.writtenBytes(text)))!.comment_no;
}

const insertThread = statement(
  `insert into threads (thread_no, site_id, page, version_id, version_created_at, exact, prefix, suffix, element, carried,
     found_version_id, found_start, found_end, changed_no, written)
   values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
);

function* insertAnchor(thread_no: number, thread: NewThread, no: number): Op<void> {
  const { site_id, page, version_id, version_created_at, quote, element, carried, place } = thread;
  yield* insertThread.do(
    thread_no,
    site_id,
    page,
    version_id,
    version_created_at,
    quote?.exact ?? null,
    quote?.prefix ?? null,
    quote?.suffix ?? null,
    element,
    carried,
    place?.version_id ?? null,
    place?.start ?? null,
    place?.end ?? null,
    no,
    quoteBytes(quote),
  );
}

function* start(thread: NewThread, now: number): Op<Written> {
  const { site_id, by, canonical } = thread;
  const before = canonical === null ? null : yield* writtenBefore(site_id, by, canonical);
  if (before !== null) return before;
  const change = yield* changes.begin(site_id, now, by);
  yield* refuseFullSite(site_id);
  yield* refuseFullPage(thread);
  yield* refuseFullText(site_id, thread.page, noteRows.writtenBytes(thread.text) + quoteBytes(thread.quote));
  const visibility = yield* shownAs(thread);
  const thread_no = yield* add({ ...thread, visibility }, UNNAMED, true, change);
  yield* nameItself.do(thread_no);
  yield* insertAnchor(thread_no, thread, change.no);
  return yield* written(thread, thread_no);
}

function* written(writing: Writing, thread_no: number): Op<Written> {
  const thread = yield* readThread(viewerValues(writing.site_id, asAuthor(writing.by)), thread_no);
  return { thread, comment_id: writing.id, repeated: false };
}

interface ThreadRoot {
  comment_no: number;
  state: State;
  /** The state of the comment that is answered. */
  answered: State;
}
const rootOf = statement<ThreadRoot>(
  `select r.comment_no, r.state, c.state as answered
   from comments c join comments r on r.comment_no = c.thread_no where c.site_id = ? and c.id = ?`,
);

const unknownThread = (): Refusal =>
  new Refusal("unknown_thread", "There is no such thread here any more. Reload the page.");

/** The root of a comment that the writer may see; a gap in a thread is one. */
function* openThread({ site_id, thread_id, as }: NewReply): Op<ThreadRoot> {
  const row = yield* rootOf.get(site_id, thread_id);
  const found = yield* find(site_id, thread_id, as);
  const gap = row?.answered === "erased" && (row.state === "erased" || row.state === "public");
  if (row === null || found === null || (found === "deleted" && !gap)) throw unknownThread();
  return row;
}

function* reply(writing: NewReply, now: number): Op<Written> {
  const { site_id, by, canonical, held } = writing;
  if (held !== undefined) yield* permission.settableSite({ site_id, by: held }, now);
  const before = canonical === null ? null : yield* writtenBefore(site_id, by, canonical);
  if (before !== null) return before;
  const change = yield* changes.begin(site_id, now, by);
  const { comment_no, state } = yield* openThread(writing);
  yield* refuseFullSite(site_id);
  if ((yield* inThread.get(comment_no))!.n >= MOST.replies) {
    throw new Refusal("thread_full", `This thread has ${MOST.replies} replies, and takes no more.`);
  }
  yield* refuseFullTextIn(site_id, comment_no, writing.text);
  const seen = state === "public" || state === "erased";
  const visibility = yield* shownAs(writing);
  yield* add({ ...writing, visibility }, comment_no, seen, change);
  if (seen && visibility === "public") yield* changes.countReply(comment_no, change.no);
  return yield* written(writing, comment_no);
}

const editWindowOver = (): Refusal =>
  new Refusal("edit_window_over", "A comment can be changed for 15 minutes. Delete it, or write another one.");

const changeText = statement(
  `update comments set text = ?2, text_hash = ?7, written = ?8, state = ?3, edited_at = ?4, modified_at = ?4, rev = rev + 1,
     public_no = case when ?5 = 1 then ?6 else public_no end, own_no = ?6
   where comment_no = ?1`,
);

function* edit(wanted: Edit, now: number): Op<FoundComment> {
  const { site_id, by, text } = wanted;
  const begun = yield* changes.begin(site_id, now, by);
  const row = yield* changes.ownStanding(wanted);
  if (by.kind === "visitor" && row.created_at < wanted.written_after) throw editWindowOver();
  changes.refuseChanged(row, wanted.revs);
  yield* refuseFullTextIn(site_id, row.thread_no, text, row.comment_no);
  const again = by.kind === "visitor" && (yield* isRepeated(site_id, by.id, text, row.comment_no));
  const waits = wanted.waits || again;
  const state = waits ? "pending" : row.state;
  if (waits && row.state === "public") {
    yield* refuseCrowd(site_id, (yield* networkOf.get(row.comment_no))!.network, wanted.most_waiting);
  }
  const values = [text, state, begun.at, changes.isPublic(row) ? 1 : 0, begun.no, hashOf(text)] as const;
  yield* changeText.do(row.comment_no, ...values, noteRows.writtenBytes(text));
  if (waits && changes.isPublic(row) && !changes.isRoot(row)) yield* changes.countReply(row.thread_no, begun.no);
  return (yield* find(site_id, wanted.id, asAuthor(by))) as FoundComment;
}

export const WRITING = {
  /** The comment that the visitor wrote under this key before. */
  byCanonical: read((_, site_id: string, by: Pick<Author, "id" | "kind">, canonical: string) =>
    writtenBefore(site_id, by, canonical),
  ),
  /** Throws 409 `page_full`, `thread_full`, `site_full`, 422 `unknown_thread`, as `reply`. */
  start: write((backend, thread: NewThread) =>
    outboxRows.announcing(backend, start(thread, backend.now()), (done) =>
      outboxRows.begun("thread.created", thread.site_id, done),
    ),
  ),
  reply: write((backend, wanted: NewReply) =>
    outboxRows.announcing(backend, reply(wanted, backend.now()), (done) =>
      outboxRows.begun("reply.created", wanted.site_id, done),
    ),
  ),
  edit: write(({ now }, wanted: Edit) => edit(wanted, now())),
};
