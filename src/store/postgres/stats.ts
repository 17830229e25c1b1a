/** The counts of sites' visits where several boxes have one database (BEYOND 11, SCALE 5): every process of every box adds to the same rows, in
 *  a transaction without the lock of the writes. */
import { type CountedDay, KEPT_DAYS, MOST_NAMES, type NameKind, OTHER, VisitorSketch } from "../../base/statistics.ts";
import { randomKey } from "../../base/random.ts";
import { refusals } from "../refusals.ts";
import { ask, BEGIN, onOne, type Pool } from "./connection.ts";
import { isRefused } from "./failures.ts";
import type { StatisticsTables, StoredDay, StoredName } from "../upkeep.ts";

/** Longer than the server lets a statement take: a late answer would cut the connections of others. */
const ANSWER_MS = 11_000;
const KINDS = Object.keys(MOST_NAMES) as NameKind[];

const GIVEN = `json_to_recordset($1::text::json) as given
  (site_id text, day bigint, views bigint, bots bigint, misses bigint, visitors text)`;
/** For sites that count, in one order: nobody waits in a circle. */
const BEGIN_DAYS = `insert into stats_days (site_id, day, views, bots, misses, visitors)
  select given.site_id, day, 0, 0, 0, '' from ${GIVEN} join sites on sites.site_id = given.site_id and sites.stats = 1
  where (select state from service) = 'whole' order by given.site_id, day on conflict do nothing`;
const LOCK_DAYS = `select stats_days.site_id, stats_days.day::float8 as day, stats_days.visitors
  from stats_days join ${GIVEN} on given.site_id = stats_days.site_id and given.day = stats_days.day
    join sites on sites.site_id = given.site_id and sites.stats = 1
  where (select state from service) = 'whole' order by stats_days.site_id, stats_days.day for update of stats_days`;
const ADD_DAYS = `update stats_days set views = stats_days.views + given.views, bots = stats_days.bots + given.bots,
    misses = stats_days.misses + given.misses, visitors = given.visitors
  from ${GIVEN} where given.site_id = stats_days.site_id and given.day = stats_days.day`;
const NAMES_GIVEN = `json_to_recordset($1::text::json) as given
  (site_id text, kind text, day bigint, name text, count bigint, internal bigint)`;
const KNOWN_NAMES = `select known.site_id, known.kind, known.day::float8 as day, known.name from stats_names known
  join ${NAMES_GIVEN} using (site_id, kind, day, name)`;
const LISTS = `select site_id, kind, day::float8 as day,
    (select count(*)::int from stats_names others where others.site_id = lists.site_id and others.kind = lists.kind
      and others.day = lists.day and others.name <> $2) as names
  from (select distinct site_id, kind, day from ${NAMES_GIVEN}) as lists`;
const ADD_NAMES = `insert into stats_names (site_id, kind, day, name, count, internal)
  select site_id, kind, day, name, count, internal from ${NAMES_GIVEN}
  on conflict (site_id, kind, day, name) do update
    set count = stats_names.count + excluded.count, internal = stats_names.internal + excluded.internal`;

interface GivenName extends StoredName {
  kind: NameKind;
  site_id: string;
  day: number;
}

const listOf = ({ site_id, kind, day }: Pick<GivenName, "site_id" | "kind" | "day">): string =>
  `${site_id} ${kind} ${day}`;
const dayKey = ({ site_id, day }: Pick<CountedDay, "site_id" | "day">): string => `${site_id} ${day}`;

type List = Pick<GivenName, "site_id" | "kind" | "day">;

/** The names as they are added: those that find no room in their list are counted together. */
function withRoom(
  given: readonly GivenName[],
  known: readonly (List & { name: string })[],
  lists: readonly (List & { names: number })[],
): GivenName[] {
  const has = new Set(known.map((one) => `${listOf(one)} ${one.name}`));
  const room = new Map(lists.map((one) => [listOf(one), MOST_NAMES[one.kind] - one.names]));
  const added = new Map<string, GivenName>();
  for (const one of given) {
    const list = listOf(one);
    let { name } = one;
    if (name !== OTHER && !has.has(`${list} ${name}`)) {
      const left = room.get(list) ?? 0;
      if (left > 0) room.set(list, left - 1);
      else name = OTHER;
    }
    const { count, internal } = added.get(`${list} ${name}`) ?? { count: 0, internal: 0 };
    added.set(`${list} ${name}`, { ...one, name, count: count + one.count, internal: internal + one.internal });
  }
  return [...added.values()];
}

/** U+0000 is none of PostgreSQL's. */
const plain = (name: string): string => name.replaceAll("\0", "\uFFFD").toWellFormed();

const namesOf = (days: readonly CountedDay[]): GivenName[] =>
  days.flatMap(({ site_id, day, ...lists }) =>
    KINDS.flatMap((kind) =>
      lists[kind].map(([name, count, internal]) => ({ site_id, kind, day, name: plain(name), count, internal })),
    ),
  );

type InTransaction = <Row>(statement: string, ...values: string[]) => Promise<Row[]>;

/** Inside a transaction. Whoever has the row of a day has its names too. */
async function addAll(ask: InTransaction, days: readonly CountedDay[]): Promise<void> {
  const rows = days.map(({ site_id, day, views, bots, misses }) => ({ site_id, day, views, bots, misses }));
  const given = JSON.stringify(rows);
  await ask(BEGIN_DAYS, given);
  const found = await ask<{ site_id: string; day: number; visitors: string }>(LOCK_DAYS, given);
  const stored = new Map(found.map((one) => [dayKey(one), one.visitors]));
  const counted = days.filter((one) => stored.has(dayKey(one)));
  const merged = counted.map(({ site_id, day, views, bots, misses, visitors }) => {
    const sketch = VisitorSketch.of(visitors);
    sketch.merge(Buffer.from(stored.get(dayKey({ site_id, day }))!, "base64"));
    return { site_id, day, views, bots, misses, visitors: Buffer.from(sketch.bytes()).toString("base64") };
  });
  await ask(ADD_DAYS, JSON.stringify(merged));
  const names = namesOf(counted);
  if (names.length === 0) return;
  const asked = JSON.stringify(names);
  const known = await ask<List & { name: string }>(KNOWN_NAMES, asked);
  const lists = await ask<List & { names: number }>(LISTS, asked, OTHER);
  await ask(ADD_NAMES, JSON.stringify(withRoom(names, known, lists)));
}

/** One day of a site comes once in an order; of several the later ones wait for the next. */
function* inOrders(days: readonly CountedDay[]): Generator<CountedDay[]> {
  for (let left = [...days]; left.length > 0;) {
    const now = new Map<string, CountedDay>();
    const later: CountedDay[] = [];
    for (const one of left) {
      if (now.has(dayKey(one))) later.push(one);
      else now.set(dayKey(one), one);
    }
    yield [...now.values()];
    left = later;
  }
}

const DAYS = `select day::float8 as day, views::float8 as views, bots::float8 as bots, misses::float8 as misses, visitors
  from stats_days where site_id = $1 and day between $2 and $3`;
const NAMED = `select name, sum(count)::float8 as count, sum(internal)::float8 as internal from stats_names
  where site_id = $1 and kind = $2 and day between $3 and $4 group by name order by 2 desc, name limit $5`;

const NOT_COUNTED = "not exists (select 1 from sites where sites.site_id = ids.site_id and sites.stats = 1)";
/** All sites of which there is something, one after the other by the index. */
const ALL_ENDED = `with recursive ids as (
    (select site_id from stats_days order by site_id limit 1)
    union all select (select site_id from stats_days where stats_days.site_id > ids.site_id order by site_id limit 1)
    from ids where ids.site_id is not null)
  select site_id from ids where site_id is not null and ${NOT_COUNTED}`;
const SOME_ENDED = `select site_id from unnest($1::text[]) as ids (site_id) where ${NOT_COUNTED}`;
/** Some rows at a time, none that another is about to add to or to remove: no statement takes long. */
const pieces = (table: string, which: string): string => `with gone as (
    delete from ${table} where ctid in (select ctid from ${table} where ${which} limit 5000 for update skip locked) returning 1)
  select count(*)::int as n from gone`;
const [SITE_DAYS, SITE_NAMES] = ["stats_days", "stats_names"].map((table) => pieces(table, "site_id = $1"));
const OLD = ["stats_names", "stats_days"].map((table) => pieces(table, "day < $1"));

const TURN_SALT = `insert into stats_salt (only_row, day, salt) values (1, $1, $2) on conflict (only_row) do update
  set day = excluded.day, salt = excluded.salt where stats_salt.day not in ($1::bigint, $1::bigint + 1)`;
const SALT = "select day::float8 as day, salt from stats_salt";

const arrayOf = (ids: Iterable<string>): string => `{${[...ids].join(",")}}`;

async function removeAll(pool: Pool, statement: string, value: string): Promise<void> {
  while ((await ask<{ n: number }>(pool, ANSWER_MS, statement, [value]))[0]!.n > 0);
}

/** Removes what is there of sites that are gone, or count no more: of all, or of some. Names go before the days that lead to them, and
 *  once more for what was added meanwhile. */
async function forgetEnded(pool: Pool, site_ids?: ReadonlySet<string>): Promise<void> {
  const ended = await (site_ids === undefined
    ? ask<{ site_id: string }>(pool, ANSWER_MS, ALL_ENDED)
    : ask<{ site_id: string }>(pool, ANSWER_MS, SOME_ENDED, [arrayOf(site_ids)]));
  for (const { site_id } of ended) {
    for (const statement of [SITE_NAMES, SITE_DAYS, SITE_NAMES]) await removeAll(pool, statement!, site_id);
  }
}

export function databaseStats(
  pool: Pool,
  isAway: () => boolean,
): StatisticsTables & { forgetUncounted(): Promise<void> } {
  const refuseAway = (): void => {
    if (isAway()) throw refusals.databaseAway();
  };
  async function add(days: readonly CountedDay[]): Promise<void> {
    const sql = pool.current();
    await onOne(sql, async (on) => {
      const asked: InTransaction = (statement, ...values) =>
        pool.answer(sql, ANSWER_MS, on.unsafe(statement, values) as PromiseLike<never[]>);
      let committing = false;
      try {
        await asked(BEGIN);
        for (const some of inOrders(days)) await addAll(asked, some);
        committing = true;
        await asked("commit");
      } catch (error) {
        if (committing && !isRefused(error)) return; // it may be done: better lost than twice
        await asked("rollback").catch(() => {}); // a connection that is gone holds nothing
        throw error;
      }
    });
  }
  return {
    async add(days) {
      refuseAway();
      await add(days);
      const added = new Set(days.map(({ site_id }) => site_id));
      await forgetEnded(pool, added).catch(() => {}); // for whoever has turned it off meanwhile; else the sweep does it
    },
    async read(site_id, from, to) {
      refuseAway();
      const range = [String(from), String(to)];
      const named = (kind: NameKind, most: number) =>
        ask<StoredName>(pool, ANSWER_MS, NAMED, [site_id, kind, ...range, String(most)]);
      const days = await ask<Omit<StoredDay, "visitors"> & { visitors: string }>(pool, ANSWER_MS, DAYS, [
        site_id,
        ...range,
      ]);
      return { days: days.map((one) => ({ ...one, visitors: Buffer.from(one.visitors, "base64") })), named };
    },
    async beginDay(day) {
      await ask(pool, ANSWER_MS, TURN_SALT, [String(day), randomKey(32)]);
      const [salt] = await ask<{ day: number; salt: string }>(pool, ANSWER_MS, SALT);
      const oldest = String(day - KEPT_DAYS + 1);
      void Promise.all(OLD.map((statement) => removeAll(pool, statement, oldest))).catch(() => {}); // the next day does it
      return salt!;
    },
    close() {},
    forgetUncounted: () => forgetEnded(pool).catch(() => {}), // the deletion itself has happened; the next sweep does it
  };
}
