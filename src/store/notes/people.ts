/** People who write, and their names: strangers may still see an older one. */
import type { Author } from "../notes.ts";
import { type Op, read, statement, write } from "../operation.ts";
import { changes } from "./changes.ts";

const meet = statement(
  `insert into comment_people (site_id, person_id, kind, name, shown_name, created_at) values (?1, ?2, ?3, ?4, ?4, ?5)
   on conflict (site_id, person_id) do nothing`,
);

/** Makes a person known, under this name if they have none. */
const know = (site_id: string, { id, kind, name }: Author, at: string): Op<void> =>
  meet.do(site_id, id, kind, name, at);

const person = statement<{ name: string; created_at: string }>(
  "select name, created_at from comment_people where site_id = ? and person_id = ?",
);

const call = statement("update comment_people set name = ?3 where site_id = ?1 and person_id = ?2");
const showName = statement(
  "update comment_people set shown_name = name where site_id = ?1 and person_id = ?2 and shown_name <> name",
);
const touchOwn = statement("update comments set own_no = ?3 where site_id = ?1 and person_id = ?2");
// Comments that wait, too: their author knows them by that name, and no stranger knows them.
const revise = statement("update comments set rev = rev + 1 where site_id = ?1 and person_id = ?2");
const touchPublic = statement(
  `update comments set public_no = ?3 where site_id = ?1 and person_id = ?2 and state = 'public'
     and exists (select 1 from comments r where r.comment_no = comments.thread_no and r.state in ('public', 'erased'))`,
);

/** Shows the person's new name to strangers. */
function* showNewName(site_id: string, person_id: string, no: number): Op<void> {
  if ((yield* showName.run(site_id, person_id)).changes === 0) return;
  yield* revise.do(site_id, person_id);
  yield* touchPublic.do(site_id, person_id, no);
}

/** Steps for other transactions that name a person. */
export const personRows = {
  know,
  showNewName,
};

function* rename(site_id: string, who: Author, at_once: boolean, now: number): Op<void> {
  const { at, no } = yield* changes.begin(site_id, now);
  yield* know(site_id, who, at);
  yield* call.do(site_id, who.id, who.name);
  yield* touchOwn.do(site_id, who.id, no);
  if (at_once) yield* showNewName(site_id, who.id, no);
}

export const PEOPLE = {
  /** Null if they have written nothing yet. */
  person: read((_, site_id: string, person_id: string) => person.get(site_id, person_id)),
  /** `at_once`: strangers see it too. */
  rename: write(({ now }, site_id: string, who: Author, at_once: boolean) => rename(site_id, who, at_once, now())),
};
