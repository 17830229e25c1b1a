/** A box of a service on several machines (SCALE 4): it LISTENs to what others change, tells every half second that it is there, and has
 *  its turns at work that one box does for all. */
import { randomBlock } from "../../base/random.ts";
import { every } from "../../run/every.ts";
import { type BoxPage, type Moment, mono } from "./box-page.ts";
import { ask, openPool, type Pool, refuseClock } from "./connection.ts";
import type { BoxRow } from "../upkeep.ts";
import { isClosed, isRefused, whyNotWhole } from "./failures.ts";

const BEAT_MS = 500;
/** A beat without an answer for so long says that the database is away. */
const ANSWER_MS = 3000;
/** A box that answers beats and hears none for so long listens anew. */
const DEAF_MS = 3000;
/** Beats that were sent and not heard yet, at most. */
const MOST_UNHEARD = 16;
/** Writers wait for the boxes that had a beat since then, and for this long at most: a box that hears nothing longer asks, or knows
 *  that it is cut off. */
const ALIVE = "5 seconds";
const WAIT_MS = 2500;
const LONGEST_PAUSE_MS = 50;

/** For whoever waits for all of them. */
export const NO_BOX = 0;

export const CHANGES = "svc_change";
/** Before the name of a file that all boxes share: no slug begins so. */
export const TOLD_FILE = "/";
/** A notification has 8,000 bytes at most. */
const [MOST_NAMED, LONGEST_NAMES] = [50, 4000];

/** The slugs of a change, as the boxes are told of them. */
export function toldOf(slugs: readonly string[] | "all"): string {
  const names = slugs === "all" || slugs.length > MOST_NAMED ? "" : slugs.join(" ");
  return names.length > LONGEST_NAMES ? "" : names;
}

/** Numbers a change and tells it, inside its transaction. */
export const TELL = `with told as (update changes set n = n + 1 returning n)
  select n::float8 as n, pg_notify('${CHANGES}', n || ' ' || $1) from told`;

const REGISTER = `insert into boxes (box, host, version, base_url, sites_domain, settings, started_at, beat_at, seen)
  values ($1, $2, $3, $4, $5, $10, now(), now(), $6)
  on conflict (box) do update set beat_at = now(), seen = greatest(boxes.seen, excluded.seen)`;
const TAKE_TURNS = `insert into turns (name, box, until)
  select name, $1, now() + interval '10 seconds' from unnest($9::text[]) as name order by name
  on conflict (name) do update set box = excluded.box, until = excluded.until
    where turns.box = excluded.box or turns.until < now() returning name`;
const BEAT = `with registered as (${REGISTER}), taken as (${TAKE_TURNS})
  select extract(epoch from clock_timestamp())::float8 * 1000 as now, (select string_agg(name, ' ') from taken) as turns,
    (select count(*)::int from boxes where box <> $1 and beat_at > now() - interval '${ALIVE}') as others,
    (select count(*)::int from boxes where box <> $1 and settings <> $10 and beat_at > now() - interval '${ALIVE}') as differing,
    (select state from service) as state, pg_notify($7, $8::text)`;
const OTHERS = `select host, base_url, sites_domain, settings from boxes
  where box <> $1 and beat_at > now() - interval '${ALIVE}' order by host`;
const SEEN = "update boxes set seen = greatest(seen, $2) where box = $1";
const UNSEEN = `select count(*)::int as n from boxes where seen < $1 and box <> $2 and beat_at > now() - interval '${ALIVE}'`;
const LATEST = "select n::float8 as n from changes";
const SEEN_ANEW = "update boxes set seen = $2 where box = $1";
const LEAVE = [
  "delete from turns where name in (select name from turns where box = $1 order by name for update)",
  "delete from boxes where box = $1",
];

interface Beaten {
  /** Epoch milliseconds. */
  now: number;
  /** Names in a row; null for none. */
  turns: string | null;
  /** Boxes that are there beside this one, and those of them whose settings are others. */
  others: number;
  differing: number;
  /** Whether the service is here, as its row says. */
  state: string;
}

type OtherBox = Pick<BoxFacts, "host" | "base_url" | "sites_domain" | "settings">;

/** The number of the last change that was committed. */
export const latestChange = async (pool: Pool, ms: number): Promise<number> =>
  (await ask<{ n: number }>(pool, ms, LATEST))[0]!.n;

const DONE = "select count(*)::int as n from turns where name = $1 and until > now()";

/** Whether a box does this work for all now. */
export const isDone = async (pool: Pool, turn: string): Promise<boolean> =>
  (await ask<{ n: number }>(pool, ANSWER_MS, DONE, [turn]))[0]!.n > 0;

const BOXES = `select box::float8 as box, host, version, settings, seen::float8 as seen,
    to_char(started_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as started_at,
    extract(epoch from clock_timestamp() - beat_at)::float8 as beat_s,
    (select string_agg(name, ' ' order by name) from turns where turns.box = boxes.box and until > now()) as turns
  from boxes where beat_at > now() - interval '1 minute' order by started_at`;

/** The boxes that were there in the last minute. */
export async function boxRows(pool: Pool): Promise<BoxRow[]> {
  const rows = await ask<Omit<BoxRow, "turns" | "settings"> & { turns: string | null; settings: string }>(
    pool,
    ANSWER_MS,
    BOXES,
  );
  return rows.map(({ turns, settings, beat_s, ...row }) => ({
    ...row,
    beat_s: Math.round(beat_s * 10) / 10,
    turns: turns?.split(" ") ?? [],
    settings: JSON.parse(settings) as BoxRow["settings"],
  }));
}

/** X5: resolves when every other box has heard of the change, or hears nothing and therefore asks. */
export async function othersHave(pool: Pool, n: number, own_box: number): Promise<void> {
  const end = mono() + WAIT_MS;
  for (let pause_ms = 1; mono() < end; pause_ms = Math.min(2 * pause_ms, LONGEST_PAUSE_MS)) {
    const asked = ask<{ n: number }>(pool, WAIT_MS, UNSEEN, [String(n), String(own_box)]);
    // Without an answer it waits as long as for a box that hears nothing.
    const behind = await asked.then(
      ([row]) => row!.n,
      () => 1,
    );
    if (behind === 0) return;
    await Bun.sleep(Math.max(0, Math.min(pause_ms, end - mono())));
  }
}

/** A box as others see it. */
export interface BoxFacts {
  host: string;
  version: string;
  base_url: string;
  sites_domain: string;
  /** JSON of the settings that all boxes should have alike, by their variables. */
  settings: string;
  /** The names of the work for all boxes that this one is set to do. */
  turns: readonly string[];
}

/** The clocks that a box goes by, and its operator. */
export interface BoxSurroundings {
  now: () => number;
  /** This machine's own clock, which tells how far the database's is ahead. */
  machine: () => number;
  /** Hears of beats that did not go well, and of files that could not be copied. */
  failed(error: unknown, in_a_row: number): void;
  /** Hears that the service is not here any more: this server must end. */
  gone(why: Error): void;
  /** Hears of another box whose settings of these names are others. */
  tell(host: string, names: string): void;
}

interface BoxParts extends BoxSurroundings {
  pool: Pool;
  page: BoxPage;
  facts: BoxFacts;
  /** Brings the files that all boxes share up to date. */
  copyFiles(pool: Pool): Promise<void>;
}

/** 53 bits, for a number of JavaScript. */
function randomBox(): number {
  const [high = 0, low = 0] = new Uint32Array(new Uint8Array(randomBlock(8)).buffer);
  return (high % 2 ** 20) * 2 ** 32 + low || 1;
}

interface Heard {
  change(told: string): void;
  beat(told: string): void;
  /** The subscription stands, and before that it may not have: whatever was read is old, and a beat on its way says nothing. */
  anew(): void;
}

/** The subscription to a channel each for changes and for the box's own beats: one connection, so that they come in the order of their
 *  commits. It is made anew where it broke; its first making throws while the database is away. */
function createEars(pool: Pool, own_channel: string, heard: Heard) {
  let on: Bun.SQL | null = null;
  let [made, caught_up] = [0, -1];
  const mayHaveMissed = () => made !== caught_up;
  function onlisten(): void {
    made++;
    heard.anew();
  }
  async function listen(sql: Bun.SQL): Promise<void> {
    await sql.listen(CHANGES, heard.change, onlisten);
    await sql.listen(own_channel, (told) => void (mayHaveMissed() || heard.beat(told)));
  }
  return {
    async ready(): Promise<void> {
      const sql = pool.current();
      if (sql === on) return;
      on = null;
      await pool.answer(sql, ANSWER_MS, listen(sql));
      on = sql;
    },
    mayHaveMissed,
    /** Runs `work` where something may have been missed; unless it throws, or the subscription broke again meanwhile, nothing is any more. */
    async catchUp(work: () => Promise<void>): Promise<void> {
      const of = made;
      if (of === caught_up) return;
      await work();
      caught_up = of;
    },
  };
}

/** The last change that this box has heard of, in its row as soon as it may be: one statement at a time, with all that came meanwhile. */
function createSeen(pool: Pool, id: string) {
  let [seen, noted, heard] = [0, 0, 0];
  let noting: Promise<void> | null = null;
  async function note(): Promise<void> {
    for (let n = seen; noted < n; n = seen) {
      await ask(pool, ANSWER_MS, SEEN, [id, String(n)]);
      noted = n;
    }
  }
  return {
    latest: () => seen,
    /** `may`: unless one before it may have been missed. */
    hear(n: number, may: boolean): void {
      heard = Math.max(heard, n);
      if (!may) return;
      seen = Math.max(seen, n);
      noting ??= note()
        .catch(() => {}) // the next beat says it
        .finally(() => (noting = null));
    },
    /** Nothing is missed any more: the last one that was heard counts. */
    settle: () => void (seen = Math.max(seen, heard)),
    /** From the number that `latest` gives, larger or smaller, and what is heard meanwhile. */
    async restart(latest: () => Promise<number>): Promise<void> {
      await noting;
      heard = 0;
      const n = Math.max(await latest(), heard);
      await ask(pool, ANSWER_MS, SEEN_ANEW, [id, String(n)]);
      [seen, noted] = [n, n];
    },
  };
}

/** Copies of files while changes are heard: none of those that come meanwhile is seen before they are there. A disk that takes none is
 *  told of, and tried again by each beat: pages go on meanwhile. */
function createCopying(copyFiles: () => Promise<void>, failed: BoxParts["failed"]) {
  let copying: Promise<void> | null = null;
  let in_a_row = 0;
  function copy(): Promise<void> {
    const begun = (copying ?? Promise.resolve()).then(copyFiles).then(
      () => void (in_a_row = 0),
      (error: unknown) => failed(error, ++in_a_row),
    );
    copying = begun;
    return begun.finally(() => void (copying === begun && (copying = null)));
  }
  return {
    copy,
    again: async () => (in_a_row > 0 ? copy() : undefined),
    then(seen: () => void): void {
      if (copying === null) seen();
      else void copying.then(seen);
    },
  };
}

/** How far the database is ahead: what was known, unless the way of this answer cannot be why it looks otherwise. */
function aheadAfter(known: number, database: number, machine: number, took_ms: number): number {
  const measured = database - (machine - took_ms / 2);
  return Math.abs(measured - known) <= took_ms / 2 ? known : measured;
}

/** A service that was moved away, or is being filled anew. */
class NotHere extends Error {
  override readonly name = "NotHere";
}

/** Returns what sends one beat; the first one registers the box. */
function createBeat(
  { pool, page, facts, now, machine, copyFiles, failed, tell }: BoxParts,
  box: number,
): () => Promise<void> {
  const [id, channel] = [String(box), `svc_box_${box}`]; // numbers go as text (SCALE 2)
  const { host, version, base_url, sites_domain, turns } = facts;
  const sent = new Map<number, Moment>();
  const seen = createSeen(pool, id);
  let [beats, heard_at, differed] = [0, mono(), 0];
  const files = createCopying(() => copyFiles(pool), failed);
  const ears = createEars(pool, channel, {
    change(told) {
      const [n = "", ...slugs] = told.split(" ");
      page.advance(slugs.join("") === "" ? "all" : slugs);
      if (slugs.some((name) => name.startsWith(TOLD_FILE))) void files.copy();
      files.then(() => seen.hear(Number(n), !ears.mayHaveMissed()));
    },
    beat(told) {
      const moment = sent.get(Number(told));
      if (moment === undefined) return;
      for (const beat of sent.keys()) if (beat <= Number(told)) sent.delete(beat);
      heard_at = mono();
      page.hear(moment);
    },
    anew() {
      sent.clear();
      page.advance("all");
    },
  });
  const catchUp = async (): Promise<void> => {
    await seen.restart(() => latestChange(pool, ANSWER_MS));
    page.advance("all");
    await files.copy();
  };
  return async () => {
    await ears.ready();
    await ears.catchUp(catchUp);
    if (!ears.mayHaveMissed()) seen.settle();
    await files.again();
    const moment = { mono: mono(), wall: now() };
    if (sent.size >= MOST_UNHEARD) sent.clear();
    sent.set(++beats, moment);
    const told = [id, host, version, base_url, sites_domain, String(seen.latest()), channel, String(beats)];
    const [answer] = await ask<Beaten>(pool, ANSWER_MS, BEAT, [...told, `{${turns.join(",")}}`, facts.settings]);
    const ahead_ms = aheadAfter(page.aheadMs(), answer!.now, machine(), mono() - moment.mono);
    const { others, differing, state } = answer!;
    const why = whyNotWhole(state);
    if (why !== null) throw new NotHere(why);
    page.beaten({ box, ahead_ms, others, differing, turns: answer!.turns?.split(" ") ?? [], sent: moment });
    if (differing > differed) for (const other of await otherBoxes(pool, id)) tellDifference(facts, other, tell);
    differed = differing;
    if (mono() - heard_at < DEAF_MS) return;
    heard_at = mono();
    pool.renew();
  };
}

const otherBoxes = (pool: Pool, id: string): Promise<OtherBox[]> => ask<OtherBox>(pool, ANSWER_MS, OTHERS, [id]);

function tellDifference({ settings }: BoxFacts, other: OtherBox, tell: BoxParts["tell"]): void {
  const [own, others] = [settings, other.settings].map((text) => JSON.parse(text) as Record<string, unknown>);
  const names = Object.keys({ ...own, ...others }).filter((name) => own![name] !== others![name]);
  if (names.length > 0) tell(other.host, names.join(", "));
}

/** Two addresses of one service would each answer with links to itself. */
function refuseAddress({ base_url, sites_domain }: BoxFacts, others: readonly OtherBox[]): void {
  const other = others.find((one) => one.base_url !== base_url || one.sites_domain !== sites_domain);
  if (other === undefined) return;
  throw new Error(
    `Another server of this service, ${other.host}, has the base URL ${other.base_url} and the sites domain ${other.sites_domain}, ` +
      `this one ${base_url} and ${sites_domain}: give all of them the same --base-url and --sites-domain.`,
  );
}

/** One listens. */
const CONNECTIONS = 2;

/** Listens, registers and resolves; from then on it beats. Closed well it is off the list, so that nobody waits for it, and others have its turns at once. */
export async function startBox(
  url: string,
  facts: BoxFacts,
  page: BoxPage,
  parts: BoxSurroundings & Pick<BoxParts, "copyFiles">,
): Promise<{ close(): Promise<void> }> {
  const pool = openPool(url, CONNECTIONS);
  const box = randomBox();
  const beat = createBeat({ pool, page, facts, ...parts }, box);
  /** A server that closes connections closes all of them: once each was tried there is a new one. Where it refuses, it has answered. */
  async function turn(left = CONNECTIONS, end = mono() + BEAT_MS): Promise<void> {
    try {
      await beat();
    } catch (error) {
      if (isClosed(error) && left > 0 && mono() < end) return turn(left - 1, end);
      if (!isRefused(error)) page.lose();
      throw error;
    }
  }
  async function leave(): Promise<void> {
    for (const what of LEAVE) await ask(pool, ANSWER_MS, what, [String(box)]).catch(() => {}); // others see soon that it beats no more
  }
  try {
    await turn();
    refuseClock(page.aheadMs());
    refuseAddress(facts, await otherBoxes(pool, String(box)));
  } catch (error) {
    await leave();
    await pool.close();
    throw error;
  }
  let [busy, gone]: [Promise<void> | null, boolean] = [null, false];
  const failed: BoxParts["failed"] = (error, in_a_row) => {
    if (!(error instanceof NotHere)) return parts.failed(error, in_a_row);
    beating.stop();
    if (!gone) parts.gone(error); // several may have waited for one beat
    gone = true;
  };
  const beating = every(BEAT_MS, () => (busy ??= turn().finally(() => (busy = null))), failed);
  return {
    async close() {
      beating.stop();
      await busy?.catch(() => {});
      await leave();
      page.close();
      await pool.close();
    },
  };
}
