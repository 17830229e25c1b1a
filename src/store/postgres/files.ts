/** Files that all boxes of a service have alike: the database has them, and each box a copy in `DATA`, where whatever reads them looks
 *  (SCALE 4). */
import { alikeFiles } from "../disk/alike.ts";
import { TOLD_FILE } from "./box.ts";
import { ask, type Pool } from "./connection.ts";

const ANSWER_MS = 3000;
/** Boxes that start at the same moment: the one that comes second takes what the first has put. */
const TRIES = 5;

const ALL = "select name, body from shared_files";
/** Only where it is what it was; another box may have put one meanwhile. */
const PUT = `with put as (
    insert into shared_files (name, body) values ($1, $2)
    on conflict (name) do update set body = excluded.body where shared_files.body = $3 returning name
  ), told as (update changes set n = n + 1 where exists (select 1 from put) returning n)
  select n::float8 as n, pg_notify('svc_change', n || ' ${TOLD_FILE}' || $1) from told`;

export async function sharedTexts(pool: Pool): Promise<Map<string, string>> {
  const rows = await ask<{ name: string; body: string }>(pool, ANSWER_MS, ALL);
  return new Map(rows.map(({ name, body }) => [name, body]));
}

/** The number of this change; null if the file was not `before` (null: not there) any more. */
async function putText(pool: Pool, name: string, text: string, before: string | null): Promise<number | null> {
  const rows = await ask<{ n: number }>(pool, ANSWER_MS, PUT, [name, text, before]);
  return rows[0]?.n ?? null;
}

/** Takes what the others have, has `ready` make what is missing, and gives them that. Resolves to the number of the last change; null if
 *  there was nothing to give. */
export async function makeAlike(pool: Pool, data_dir: string, ready: () => void): Promise<number | null> {
  let last: number | null = null;
  for (let left = TRIES; left > 0; left--) {
    const shared = await sharedTexts(pool);
    alikeFiles.put(data_dir, shared);
    ready();
    const missing = [...alikeFiles.read(data_dir)].filter(([name, text]) => shared.get(name) !== text);
    const put = await Promise.all(missing.map(([name, text]) => putText(pool, name, text, shared.get(name) ?? null)));
    last = Math.max(last ?? 0, ...put.map((n) => n ?? 0)) || null;
    if (put.every((n) => n !== null)) return last;
  }
  throw new Error("Other boxes changed the files that all of them share again and again: start this one once more.");
}

/** Changes one for all boxes by what it is; `change` returns null to leave it. Resolves to the number of the change. */
export async function changeText(
  pool: Pool,
  data_dir: string,
  name: string,
  change: (text: string) => string | null,
): Promise<number | null> {
  const text = (await sharedTexts(pool)).get(name);
  const changed = text === undefined ? null : change(text);
  if (changed === null) return null;
  const n = await putText(pool, name, changed, text!);
  if (n !== null) alikeFiles.put(data_dir, new Map([[name, changed]]));
  return n;
}
