/** What was decided of comments, and by whom: written once and never changed. A comment keeps its last lines, and a site the
 *  last of all its comments: whoever turns one back and forth fills no disk. */
import type { Author, EventAction, Kind, NoteEvent } from "../../notes.ts";
import { type Op, statement } from "../db.ts";

const insert = statement(
  `insert into comment_events (id, site_id, comment_no, action, by_id, by_name, by_kind, note, created_at)
   values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
);

interface Line {
  event_id: string;
  site_id: string;
  by: Author;
  note: string | null;
}

const MOST = { of_comment: 100, of_site: 5000 };
const forgetOldest = statement(
  `delete from comment_events where event_no in (
     select event_no from comment_events where comment_no = ?1 order by event_no desc limit 10 offset ${MOST.of_comment})`,
);
const forgetOldestOfSite = statement(
  `delete from comment_events where event_no in (
     select event_no from comment_events where site_id = ?1 order by event_no desc limit 10 offset ${MOST.of_site})`,
);

export function* writeDown(line: Line, comment_no: number, action: EventAction, at: string): Op<void> {
  const { event_id, site_id, by, note } = line;
  yield* insert.do(event_id, site_id, comment_no, action, by.id, by.name, by.kind, note, at);
  yield* forgetOldest.do(comment_no);
  yield* forgetOldestOfSite.do(site_id);
}

interface Row {
  id: string;
  comment_id: string;
  action: EventAction;
  by_id: string;
  by_name: string;
  by_kind: Kind;
  note: string | null;
  created_at: string;
}

const ofComment = statement<Row>(
  `select e.id, c.id as comment_id, e.action, e.by_id, e.by_name, e.by_kind, e.note, e.created_at
   from comment_events e join comments c on c.comment_no = e.comment_no
   where c.site_id = ? and c.id = ? order by e.event_no`,
);

export function* history(site_id: string, id: string): Op<NoteEvent[]> {
  const rows = yield* ofComment.all(site_id, id);
  return rows.map(({ by_id, by_name, by_kind, ...rest }) => ({
    ...rest,
    by: { id: by_id, name: by_name, kind: by_kind },
  }));
}
