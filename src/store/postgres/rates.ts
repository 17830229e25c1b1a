/** How often each caller did what, for all boxes alike (SCALE 5): in a table without a log, which a crash of the database empties. */
import { rateKey, type Rates, type RateWindow, type Standing } from "../../base/rates.ts";
import { UNIT_MS } from "../../base/units.ts";
import { refusals } from "../refusals.ts";
import { ask, BEGIN, onOne, type Pool } from "./connection.ts";
import { databaseRefusal } from "./failures.ts";

const ANSWER_MS = 3000;
/** Two numbers, so that no write of the store waits for it. */
const LOCK = "select pg_advisory_xact_lock(7565, hashtext($1))";
/** All boxes go by the database's clock, and by what they last knew of it; a hit further ahead was counted before that was set back. */
const AHEAD_MS = 15_000;
const PRUNE_EVERY_MS = UNIT_MS.m;

/** A hit where every window has room, and how each stood before it. */
const TAKE = `with windows as (select * from unnest($3::bigint[], $4::bigint[]) with ordinality as given (most, window_ms, n)),
  standing as (
    select n, most, window_ms,
      (select count(*) from hits where key = $1 and at > $2::bigint - window_ms and at <= $2::bigint + ${AHEAD_MS}) as taken,
      (select min(at) from hits where key = $1 and at > $2::bigint - window_ms and at <= $2::bigint + ${AHEAD_MS}) as oldest,
      (select at from hits where key = $1 and at <= $2::bigint + ${AHEAD_MS} order by at desc limit 1 offset most - 1) as nth
    from windows
  ),
  put as (
    insert into hits (key, at, ends_at) select $1, $2::bigint, $2::bigint + (select max(window_ms) from windows)
    where not exists (select 1 from standing where taken >= most) returning hit_no
  )
  select most::float8 as most, window_ms::float8 as window_ms, taken::float8 as taken, oldest::float8 as oldest, nth::float8 as nth,
    (select hit_no from put)::text as hit_no
  from standing order by n`;
const FORGET = "delete from hits where hit_no = $1";
const PRUNE = "delete from hits where ends_at <= $1";

interface CountedWindow {
  most: number;
  window_ms: number;
  /** Hits in it before this one. */
  taken: number;
  oldest: number | null;
  nth: number | null;
  /** Null if there was no room. */
  hit_no: string | null;
}

const standingOf = ({ most, window_ms, taken, oldest, nth, hit_no }: CountedWindow, now: number): Standing => {
  const leaves = taken >= most ? nth! : (oldest ?? now);
  const remaining = Math.max(0, most - taken - (hit_no === null ? 0 : 1));
  return { count: most, window_ms, remaining, reset_ms: leaves + window_ms - now };
};

const listOf = (numbers: readonly number[]): string => `{${numbers.join(",")}}`;

/** All of it flies together: one after the other for one caller, so that no two boxes count the last call each. */
async function take(
  pool: Pool,
  key: string,
  now: () => number,
  windows: readonly RateWindow[],
): Promise<{ at: number; rows: CountedWindow[] }> {
  const sql = pool.current();
  const lists = [listOf(windows.map(({ count }) => count)), listOf(windows.map(({ window_ms }) => window_ms))];
  return onOne(sql, async (on) => {
    const at = now(); // not before: it may have waited for its turn
    const sent = [
      on.unsafe(BEGIN),
      on.unsafe(LOCK, [key]),
      on.unsafe(TAKE, [key, String(at), ...lists]),
      on.unsafe("commit"),
    ];
    const [, , rows] = await pool.answer(sql, ANSWER_MS, Promise.all(sent.map((one) => Promise.resolve(one))));
    return { at, rows: rows as unknown as CountedWindow[] };
  });
}

/** `secret`: the key of the hashes of names and addresses. `now`: the store's clock. */
export function databaseRates(pool: Pool, secret: string, now: () => number, isAway: () => boolean): Rates {
  let pruned = 0;
  function prune(at: number): void {
    if (Math.abs(at - pruned) < PRUNE_EVERY_MS) return;
    pruned = at;
    ask(pool, ANSWER_MS, PRUNE, [String(at)]).catch(() => {}); // the next minute does it
  }
  return {
    async take(rule, subject, windows) {
      if (isAway()) throw refusals.databaseAway();
      const counting = pool.inTurn(() => take(pool, rateKey(secret, rule, subject), now, windows));
      const { at, rows } = await counting.catch((error: unknown) => Promise.reject(databaseRefusal(error)));
      prune(at);
      const hit_no = rows[0]?.hit_no ?? null;
      return {
        allowed: hit_no !== null,
        windows: rows.map((row) => standingOf(row, at)),
        async undo() {
          if (hit_no !== null) await ask(pool, ANSWER_MS, FORGET, [hit_no]).catch(() => {}); // it stays counted
        },
      };
    },
    close() {},
  };
}
