/** Comments in the database: each call one operation, each change one transaction. */
import type { Notes } from "../../notes.ts";
import { ifDiskAllows, makingRoom } from "../frame.ts";
import type { Parts } from "../parts.ts";
import { addOwnerCode, addToken, agentOf, noteAgentUse, ownerCodeSpender, removeToken, tokensOf } from "./agents.ts";
import { anchorsOf, carryAnchors } from "./anchors.ts";
import { counts } from "./counts.ts";
import { decide } from "./decide.ts";
import { edit } from "./edit.ts";
import { history } from "./events.ts";
import { feed, written } from "./feed.ts";
import { personOf, rename } from "./people.ts";
import { queue, report } from "./queue.ts";
import { erase, remove } from "./remove.ts";
import { configure, settingsOf } from "./settings.ts";
import { find, stampOf, thread, threads, view } from "./view.ts";
import { reply, start, writtenBefore } from "./write.ts";

export function noteStore({ db, place, now }: Parts): Notes {
  return {
    settings: (site) => db.read(settingsOf(site)),
    configure: (site_id, by, change) =>
      db.change(
        () => configure(site_id, by, change, now()),
        ({ site }) => [site.slug],
      ),
    view: (site_id, page, as, since) => db.read(view(site_id, page, as, since)),
    stamp: (site_id, page, as) => db.read(stampOf(site_id, page, as)),
    threads: (site_id, as, asked) => db.read(threads(site_id, as, asked)),
    thread: (site_id, id, as) => db.read(thread(site_id, id, as)),
    find: (site_id, id, as) => db.read(find(site_id, id, as)),
    feed: (site_id, page, from, count, most) => db.read(feed(site_id, page, from, count, most)),
    queue: (site_id, state, after, limit) => db.read(queue(site_id, state, after, limit)),
    counts: (site_id) => db.read(counts(site_id)),
    history: (site_id, id) => db.read(history(site_id, id)),
    person: (site_id, person_id) => db.read(personOf(site_id, person_id)),
    written: (site_id, person_id) => db.read(written(site_id, person_id)),
    byCanonical: (site_id, by, canonical) => db.read(writtenBefore(site_id, by, canonical)),
    start: (thread) => db.write(() => start(thread, now())),
    reply: (wanted) => db.write(() => reply(wanted, now())),
    edit: (wanted) => db.write(() => edit(wanted, now())),
    remove: (removal) => makingRoom(place, () => db.write(() => remove(removal, now()))),
    rename: (site_id, person, at_once) => db.write(() => rename(site_id, person, at_once, now())),
    erase: (site_id, person_id) => makingRoom(place, () => db.write(() => erase(site_id, person_id, now()))),
    decide: (decision) => db.write(() => decide(decision, now())),
    report: (site_id, id, said) => db.write(() => report(site_id, id, said, now())),
    addOwnerCode: (site_id, by, hash, expires_at) => db.write(() => addOwnerCode(site_id, by, hash, expires_at, now())),
    spendOwnerCode: ownerCodeSpender(db, now),
    addToken: (by, token) => db.write(() => addToken(by, token, now())),
    tokens: (site_id) => db.read(tokensOf(site_id, now())),
    removeToken: (site_id, by, token_id) => db.write(() => removeToken(site_id, by, token_id, now())),
    agent: (hash) => db.read(agentOf(hash, now())),
    noteTokenUse: (hash) => ifDiskAllows(db.write(() => noteAgentUse(hash, new Date(now()).toISOString()))),
    anchors: (site_id) => db.read(anchorsOf(site_id)),
    carry: (site_id, rows) => db.write(() => carryAnchors(site_id, rows)),
  };
}
