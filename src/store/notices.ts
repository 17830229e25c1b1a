/** Notices to the operator (CONTRACT 7.5): what happened since the last letter of its type, and the letters, which wait among those
 *  of webhooks. What happens in the database is noted in its own transaction; without an address nothing is noted. */
import { UNIT_MS } from "../base/units.ts";
import { newDeliveryId } from "../base/tokens.ts";
import type { Site } from "../base/types.ts";
import { type Op, read, statement, write } from "./operation.ts";

/** Milliseconds that pass at least between two letters of a type: what happens meanwhile is in the second. */
const PAUSES_MS = {
  "report.opened": UNIT_MS.m,
  "site.quarantined": UNIT_MS.m,
  "error.logged": UNIT_MS.m,
  "sweep.failed": UNIT_MS.h,
  "backup.failed": UNIT_MS.h,
  "disk.high": UNIT_MS.h,
  "certificate.ending": UNIT_MS.d,
};
export type NoticeType = keyof typeof PAUSES_MS;
export const NOTICE_TYPES = Object.keys(PAUSES_MS) as NoticeType[];

/** The site_id of the server's own letters in the outbox. */
export const SERVER = "server";

/** Items of a letter; of the rest it has the number. */
const MOST_ITEMS = 20;
/** Ids that are kept for a letter: which of them are still there is asked when it is sent. */
const MOST_IDS = 1000;

/** Something that happened, as JSON. A report and a quarantine have their id alone: what is deleted meanwhile is not told. */
export type NoticeItem = string | Readonly<Record<string, string | number>>;

interface StoredRow {
  type: NoticeType;
  count: number;
  letter_at: number;
  /** Its last letter has not been taken yet, or the receiver is gone for good. */
  waits: 0 | 1;
}

export interface NoticeRow extends Pick<StoredRow, "type" | "count" | "letter_at"> {
  /** It is time for a letter. */
  is_free: boolean;
}

/** The `notice` of a letter that waits. */
interface Noted {
  count: number;
  items: NoticeItem[];
}

const kept = statement<{ count: number; items: string }>("select count, items from notices where type = ?");
const keep = statement("update notices set count = ?2, items = ?3 where type = ?1");

/** Inside the transaction of what happened. */
export function* notice(type: NoticeType, item: NoticeItem): Op<void> {
  const row = yield* kept.get(type);
  if (row === null) return;
  const items = JSON.parse(row.items) as NoticeItem[];
  if (typeof item === "string" && items.includes(item)) return;
  if (items.length < (typeof item === "string" ? MOST_IDS : MOST_ITEMS)) items.push(item);
  yield* keep.do(type, row.count + 1, JSON.stringify(items));
}

/** So many more happened, of which nothing else is known. */
function* more(type: NoticeType, n: number): Op<void> {
  const row = yield* kept.get(type);
  if (row !== null) yield* keep.do(type, row.count + n, row.items);
}

const stored = statement<StoredRow>(
  `select type, count, letter_at, exists (
     select 1 from webhook_outbox where site_id = '${SERVER}' and webhook_outbox.type = notices.type
   ) or exists (select 1 from webhook_states where site_id = '${SERVER}' and ended_at is not null) as waits
   from notices`,
);

/** A row for each type; none without an address. A letter is written when the last one was taken and is old enough; a time in the
 *  future was written while the clock ran ahead. */
export function* noticeRows(now: number): Op<NoticeRow[]> {
  return (yield* stored.all()).map(({ type, count, letter_at, waits }) => {
    const is_free = waits === 0 && (letter_at + PAUSES_MS[type] <= now || letter_at > now);
    return { type, count, letter_at, is_free };
  });
}

const putLetter = statement(
  `insert into webhook_outbox (id, site_id, type, comment_no, created_at, notice) values (?, '${SERVER}', ?, 0, ?, ?)`,
);
const begin = statement("update notices set count = 0, items = '[]', letter_at = ?2 where type = ?1");

function* writeLetters(now: number): Op<void> {
  for (const { type, count, is_free } of yield* noticeRows(now)) {
    if (count === 0 || !is_free) continue;
    const { items } = (yield* kept.get(type))!;
    const noted = JSON.stringify({ count, items: JSON.parse(items) } satisfies Noted);
    yield* putLetter.do(newDeliveryId(), type, new Date(now).toISOString(), noted);
    yield* begin.do(type, now);
  }
}

export interface NoticeContent {
  type: NoticeType;
  count: number;
  /** Reports and quarantines that are there still, as they are now; of other types what was noted. */
  items: Readonly<Record<string, unknown>>[];
}

const reportOf = statement<Readonly<Record<string, string>>>(
  `select report_id, site_id, reports.slug, reports.created_at from reports join sites using (site_id)
   where report_id = ? and closed_at is null`,
);
const quarantineOf = statement<Pick<Site, "site_id" | "slug"> & { quarantine: string }>(
  "select site_id, slug, quarantine from sites where site_id = ? and quarantine is not null",
);

function* itemNow(type: NoticeType, item: NoticeItem): Op<NoticeContent["items"][number] | null> {
  if (typeof item !== "string") return item;
  if (type === "report.opened") return yield* reportOf.get(item);
  const site = yield* quarantineOf.get(item);
  return site && { site_id: site.site_id, slug: site.slug, signals: signalNames(JSON.parse(site.quarantine)) };
}

/** A signal's sentence names a file of the site, by whatever name that has, and ends with its own: `(borrowed_brand).` */
const signalNames = (sentences: readonly string[]): string[] => [
  ...new Set(sentences.flatMap((sentence) => /\((\w+)\)\.$/.exec(sentence)?.[1] ?? [])),
];

/** Null if nothing of it is there any more. */
export function* noticeContent(type: NoticeType, text: string): Op<NoticeContent | null> {
  const { count, items } = JSON.parse(text) as Noted;
  const found: NoticeContent["items"] = [];
  for (const item of items) {
    const now = yield* itemNow(type, item);
    if (now !== null) found.push(now);
  }
  const left = count - (items.length - found.length);
  return left === 0 ? null : { type, count: left, items: found.slice(0, MOST_ITEMS) };
}

/** For the one process that writes letters. */
export const NOTICES = {
  rows: read(({ now }) => noticeRows(now())),
  /** `untold`: errors of which the lines are not known any more. */
  note: write(
    function* (_, happened: readonly { type: NoticeType; item: NoticeItem }[], untold: number) {
      for (const { type, item } of happened) yield* notice(type, item);
      if (untold > 0) yield* more("error.logged", untold);
    },
    { frees: true },
  ),
  writeLetters: write(({ now }) => writeLetters(now()), { frees: true }),
};
