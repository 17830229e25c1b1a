/** Files that all boxes of a service have alike: the database has them, and each box a copy in `DATA`, where whatever reads them looks
 *  (SCALE 4). */
import { alikeFiles } from "../disk/alike.ts";
import { CHANGES, NO_BOX, othersHave, TOLD_FILE } from "./box.ts";
import { ask, type Pool } from "./connection.ts";
import type { SharedFiles } from "../upkeep.ts";

const ANSWER_MS = 3000;
/** Boxes that start at the same moment: the one that comes second takes what the first has put. */
const TRIES = 5;

const ALL = "select name, body from shared_files";
/** Only where it is what it was; another box may have put one meanwhile. */
const PUT = `with put as (
    insert into shared_files (name, body) values ($1, $2)
    on conflict (name) do update set body = excluded.body where shared_files.body = $3 returning name
  ), told as (update changes set n = n + 1 where exists (select 1 from put) returning n)
  select n::float8 as n, pg_notify('${CHANGES}', n || ' ${TOLD_FILE}' || $1) from told`;

export async function sharedTexts(pool: Pool): Promise<Map<string, string>> {
  const rows = await ask<{ name: string; body: string }>(pool, ANSWER_MS, ALL);
  return new Map(rows.map(({ name, body }) => [name, body]));
}

/** The number of this change; null if the file was not `before` (null: not there) any more. */
async function putText(pool: Pool, name: string, text: string, before: string | null): Promise<number | null> {
  const rows = await ask<{ n: number }>(pool, ANSWER_MS, PUT, [name, text, before]);
  return rows[0]?.n ?? null;
}

/** Takes what the others have, has `ready` make what is missing of secrets and brands, and gives them that. Resolves to the number of the
 *  last change; null if there was nothing to give. */
export async function makeAlike(pool: Pool, data_dir: string, ready: () => void): Promise<number | null> {
  let last: number | null = null;
  for (let left = TRIES; left > 0; left--) {
    const shared = await sharedTexts(pool);
    await alikeFiles.putAll(data_dir, shared);
    ready();
    const missing = [...alikeFiles.readPlain(data_dir)].filter(([name, text]) => shared.get(name) !== text);
    const put = await Promise.all(missing.map(([name, text]) => putText(pool, name, text, shared.get(name) ?? null)));
    last = Math.max(last ?? 0, ...put.map((n) => n ?? 0)) || null;
    if (put.every((n) => n !== null)) return last;
  }
  throw new Error("Other boxes changed the files that all of them share again and again: start this one once more.");
}

/** Whatever they were: a text for null is taken away. */
const PUT_ALL = `with given as (select * from json_to_recordset($1::text::json) as one (name text, body text)),
  gone as (delete from shared_files using given where shared_files.name = given.name and given.body is null),
  put as (
    insert into shared_files (name, body) select name, body from given where body is not null order by name
    on conflict (name) do update set body = excluded.body
  ), told as (update changes set n = n + 1 returning n)
  select n::float8 as n, pg_notify('${CHANGES}', n || ' ${TOLD_FILE}') from told`;

/** The files of all boxes, as one of them changes them: who listens copies them, on this box too. */
export function sharedFiles(pool: Pool): SharedFiles {
  const heard = async (n: number | null): Promise<void> => {
    if (n !== null) await othersHave(pool, n, NO_BOX);
  };
  return {
    text: async (name) => (await sharedTexts(pool)).get(name) ?? null,
    async change(name, change) {
      const text = (await sharedTexts(pool)).get(name);
      const changed = text === undefined ? null : change(text);
      if (changed !== null) await heard(await putText(pool, name, changed, text!));
    },
    async put(texts) {
      const given = JSON.stringify([...texts].map(([name, body]) => ({ name, body })));
      await heard((await ask<{ n: number }>(pool, ANSWER_MS, PUT_ALL, [given]))[0]!.n);
    },
    async first(name, text) {
      await heard(await putText(pool, name, text, null));
      return (await sharedTexts(pool)).get(name)!;
    },
  };
}
