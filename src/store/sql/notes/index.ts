/** Comments in the database: each call one operation, each change one transaction. */
import { newDeliveryId } from "../../../tokens.ts";
import type { Decided, Decision, Notes, Written } from "../../notes.ts";
import { type Op, statement } from "../db.ts";
import { ifDiskAllows, makingRoom } from "../frame.ts";
import type { Parts } from "../parts.ts";
import { addOwnerCode, addToken, agentOf, noteAgentUse, removeToken, spendOwnerCode, tokensOf } from "./agents.ts";
import { anchorsOf, carryAnchors } from "./anchors.ts";
import { decide } from "./decide.ts";
import { edit } from "./edit.ts";
import { history } from "./events.ts";
import { feed, written } from "./feed.ts";
import { announce, type Event } from "./outbox.ts";
import { personOf, rename } from "./people.ts";
import { queue, report } from "./queue.ts";
import { erase, remove } from "./remove.ts";
import { configure, settingsOf } from "./settings.ts";
import { find, stampOf, threads, view } from "./view.ts";
import { reply, start, writtenBefore } from "./write.ts";

/** Shorter ones say the same by chance. */
const LONG = 40;
const same = statement(
  `select 1 from comments where site_id = ?1 and text = ?2 and (person_id = ?3 or length(text) >= ${LONG}) limit 1`,
);

function* isRepeated(site_id: string, person_id: string, text: string): Op<boolean> {
  return (yield* same.get(site_id, text, person_id)) !== null;
}

const begun = (type: "thread.created" | "reply.created", site_id: string, done: Written): Event | null =>
  done.repeated ? null : { type, site_id, comment_id: done.comment_id };

function decided({ action, site_id }: Decision, { changed, thread }: Decided): Event | null {
  if (!changed || (action !== "resolve" && action !== "reopen")) return null;
  return { type: action === "resolve" ? "thread.resolved" : "thread.reopened", site_id, comment_id: thread.id };
}

/** The change, and what it puts into the outbox, in one transaction. */
function* telling<T>(change: Op<T>, eventOf: (done: T) => Event | null, now: number): Op<T> {
  const done = yield* change;
  const event = eventOf(done);
  if (event !== null) yield* announce(event, newDeliveryId(), now);
  return done;
}

type Reads =
  | "settings"
  | "view"
  | "stamp"
  | "threads"
  | "find"
  | "feed"
  | "queue"
  | "history"
  | "person"
  | "written"
  | "isRepeated"
  | "byCanonical"
  | "tokens"
  | "agent"
  | "anchors";

const reading = ({ db, now }: Parts): Pick<Notes, Reads> => ({
  settings: (site) => db.read(settingsOf(site)),
  view: (site_id, page, as, since) => db.read(view(site_id, page, as, since)),
  stamp: (site_id, page, as) => db.read(stampOf(site_id, page, as)),
  threads: (site_id, as, asked) => db.read(threads(site_id, as, asked)),
  find: (site_id, id, as) => db.read(find(site_id, id, as)),
  feed: (site_id, page, from, count) => db.read(feed(site_id, page, from, count)),
  queue: (site_id, state, after, limit) => db.read(queue(site_id, state, after, limit)),
  history: (site_id, id) => db.read(history(site_id, id)),
  person: (site_id, person_id) => db.read(personOf(site_id, person_id)),
  written: (site_id, person_id) => db.read(written(site_id, person_id)),
  isRepeated: (site_id, person_id, text) => db.read(isRepeated(site_id, person_id, text)),
  byCanonical: (site_id, by, canonical) => db.read(writtenBefore(site_id, by, canonical)),
  tokens: (site_id) => db.read(tokensOf(site_id, now())),
  agent: (hash) => db.read(agentOf(hash, now())),
  anchors: (site_id) => db.read(anchorsOf(site_id)),
});

type Told = "start" | "reply" | "decide" | "report";

/** `announces`: what happens goes into the outbox. */
function announced({ db, now }: Parts, announces: boolean): Pick<Notes, Told> {
  const write = <T>(change: () => Op<T>, eventOf: (done: T) => Event | null): Promise<T> =>
    db.write(() => (announces ? telling(change(), eventOf, now()) : change()));
  return {
    start: (thread) =>
      write(
        () => start(thread, now()),
        (done) => begun("thread.created", thread.site_id, done),
      ),
    reply: (wanted) =>
      write(
        () => reply(wanted, now()),
        (done) => begun("reply.created", wanted.site_id, done),
      ),
    decide: (decision) =>
      write(
        () => decide(decision, now()),
        (done) => decided(decision, done),
      ),
    report: (site_id, id, said) =>
      write(
        () => report(site_id, id, said, now()),
        (done) => (done ? { type: "comment.reported", site_id, comment_id: id } : null),
      ),
  };
}

const quiet = ({ db, place, now }: Parts): Omit<Notes, Reads | Told> => ({
  configure: (site_id, by, change) =>
    db.change(
      () => configure(site_id, by, change, now()),
      ({ site }) => [site.slug],
    ),
  edit: (wanted) => db.write(() => edit(wanted, now())),
  remove: (removal) => makingRoom(place, () => db.write(() => remove(removal, now()))),
  rename: (site_id, person, at_once) => db.write(() => rename(site_id, person, at_once, now())),
  erase: (site_id, person_id) => makingRoom(place, () => db.write(() => erase(site_id, person_id, now()))),
  addOwnerCode: (site_id, by, hash, expires_at) => db.write(() => addOwnerCode(site_id, by, hash, expires_at, now())),
  spendOwnerCode: (site_id, hash) => db.write(() => spendOwnerCode(site_id, hash, now())),
  addToken: (by, token) => db.write(() => addToken(by, token, now())),
  removeToken: (site_id, by, token_id) => db.write(() => removeToken(site_id, by, token_id, now())),
  noteTokenUse: (hash) => ifDiskAllows(db.write(() => noteAgentUse(hash, new Date(now()).toISOString()))),
  carry: (site_id, rows) => db.write(() => carryAnchors(site_id, rows)),
});

export const noteStore = (parts: Parts, announces: boolean): Notes => ({
  ...reading(parts),
  ...announced(parts, announces),
  ...quiet(parts),
});
