/** The upkeep of blobs in a bucket (SCALE 3): rows that nothing names become names of doomed objects, which are deleted afterwards; and
 *  blobs are read again past the cache. */
import { UNIT_MS } from "../../base/units.ts";
import { contentHash } from "../../base/version-id.ts";
import { inParallel } from "../disk/blobs.ts";
import { BucketTrouble } from "../disk/bucket.ts";
import { type BlobRow, type BlobUpkeep, type Condition, NAMED, NAMED_BY_LIVE } from "../upkeep.ts";
import { type Backend, makingRoom, type Op, statement } from "../operation.ts";
import { sweeping } from "../sweep.ts";
import type { BlobObjects } from "./objects.ts";

/** So many numbers of blobs are looked through at once, and deleted together. */
const ROWS = 2000;
const DELETED_AT_ONCE = 16;

const last = statement<{ n: number }>("select coalesce(max(blob_no), 0) as n from blobs");
/** By the database's clock, as `touched_at`. */
const OLD = "touched_at < now() - interval '1 hour'";
const orphans = statement<{ blob_no: number }>(
  `select blob_no from blobs where blob_no > ? and blob_no <= ? and ${OLD} and not ${NAMED}`,
);
/** G1. All is asked again of the rows that go, once they are locked: a deploy may have renewed or named one meanwhile. */
const doom = statement(
  `with locked as (select blob_no from blobs where blob_no = any(?::bigint[]) and ${OLD} and not ${NAMED}
       order by sha256 for update skip locked),
     gone as (delete from blobs where blob_no in (select blob_no from locked) returning sha256, blob_no)
   insert into doomed (object) select sha256 || '-' || blob_no from gone`,
);
const doomed = statement<{ object: string }>("select object from doomed where object > ? order by object limit ?");
const buried = statement("delete from doomed where object = any(?::text[])");

function* doomAll(candidates: readonly { blob_no: number }[], now: number): Op<number> {
  if (yield* sweeping.isHeld(now)) return 0;
  return (yield* doom.run(`{${candidates.map(({ blob_no }) => blob_no).join(",")}}`)).changes;
}

/** Whether the bucket answered, and refused this one object: it may do as it is asked with others. */
const isRefusal = (error: unknown): boolean =>
  error instanceof Error && error.cause instanceof BucketTrouble && error.cause.refused;

/** G2, without a lock: no row ever has such a key again. One that may not be deleted holds up no other; a bucket that does not answer
 *  is asked no more. */
async function deleteDoomed({ db }: Pick<Backend, "db">, objects: BlobObjects): Promise<void> {
  let refused: unknown;
  for (let after = ""; ;) {
    const some = await db.read(() => doomed.all(after, ROWS));
    const gone: string[] = [];
    const remove = async ({ object }: { object: string }) => {
      try {
        await objects.remove(object);
        gone.push(object);
      } catch (error) {
        if (!isRefusal(error)) throw error;
        refused = error;
      }
    };
    await inParallel(some, DELETED_AT_ONCE, remove).finally(async () => {
      if (gone.length > 0) await db.note(() => buried.do(`{${gone.join(",")}}`));
    });
    if (some.length < ROWS) break;
    after = some.at(-1)!.object;
  }
  if (refused !== undefined) throw refused;
}

async function sweep(backend: Pick<Backend, "db" | "place">, objects: BlobObjects, now: number): Promise<number> {
  const { n: end } = (await backend.db.read(() => last.get()))!;
  let total = 0;
  for (let from = 0; from < end; from += ROWS) {
    const candidates = await backend.db.read(() => orphans.all(from, from + ROWS));
    if (candidates.length > 0) {
      total += await makingRoom(backend.place, () => backend.db.write(() => doomAll(candidates, now)));
    }
  }
  await deleteDoomed(backend, objects);
  return total;
}

/** The next deploy of the same bytes puts the object anew under its key. */
const lose = statement("update blobs set stored = false where blob_no = ?");
const regain = statement("update blobs set stored = true where blob_no = ? and not stored");
const lost = statement<{ sha256: string }>(
  `select sha256 from blobs where not stored and ${NAMED_BY_LIVE} order by blob_no`,
);

/** A bad one is looked at twice: an answer may be another's. */
const LOOKS = 2;

async function conditionOf(objects: BlobObjects, blob: BlobRow): Promise<Condition> {
  let condition: Condition = { why: "whole" };
  for (let left = LOOKS; left > 0; left--) {
    try {
      const bytes = await objects.get(blob);
      const seen = bytes && contentHash(bytes);
      if (seen === blob.sha256) return { why: "whole" };
      if (left === 1 && bytes !== null) await objects.setAside(blob, bytes);
      condition = seen === null ? { why: "missing" } : { why: "damaged", seen };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      condition = { why: "unreadable" };
    }
  }
  return condition;
}

export const bucketUpkeep = (backend: Pick<Backend, "db" | "place">, objects: BlobObjects): BlobUpkeep => ({
  sweep: (now) => sweep(backend, objects, now),
  async conditionOf(blob) {
    const condition = await conditionOf(objects, blob);
    if (condition.why === "whole") await backend.db.note(() => regain.do(blob.blob_no));
    return condition;
  },
  *settle({ blob_no }, { why }) {
    if (why !== "unreadable") yield* lose.do(blob_no);
    return true;
  },
  missing: async () => (await backend.db.read(() => lost.all())).map(({ sha256 }) => sha256),
});

/** Past the numbers that objects have: those of a time that a restored database knows nothing of are not given once more. Far past: numbers
 *  are given meanwhile, and the sequence never goes back. */
const numbersPast = statement(
  `select setval('blobs_blob_no_seq', ?::bigint + 1000000) from blobs_blob_no_seq where last_value <= ?::bigint`,
);
const IS_KNOWN = `(exists (
     select 1 from blobs where blob_no = split_part(found.object, '-', 2)::bigint and sha256 = split_part(found.object, '-', 1))
   or exists (select 1 from doomed where doomed.object = found.object))`;
const known = statement<{ n: number }>(
  `select count(*) as n from unnest(?::text[]) as found (object) where ${IS_KNOWN}`,
);
const service = statement<{ id: string }>("select id from service");
const stored = statement<{ there: number }>(
  "select case when exists (select 1 from blobs where stored) then 1 else 0 end as there",
);

/** Two services in one place would each delete what the other has. Throws a sentence. `takes`: a prefix of nobody's becomes this one's, also
 *  where its object `owner` was lost and the database knows what is there. */
export async function refuseForeign(
  { db }: Pick<Backend, "db">,
  objects: BlobObjects,
  { url, takes }: { url: string; takes: boolean },
): Promise<void> {
  const { id } = (await db.read(() => service.get()))!;
  let owner = await objects.owner();
  if (owner === null && takes) {
    const first = await objects.all()[Symbol.asyncIterator]().next();
    const there = (first.value as { object: string }[] | undefined)?.map(({ object }) => object) ?? [];
    const { n } = (await db.read(() => known.get(`{${there.join(",")}}`)))!;
    const { there: has } = (await db.read(() => stored.get()))!;
    if (there.length > 0 && n === 0) {
      throw new Error(
        `${url} of SVC_BLOBS has files of a service that this database does not know: name a prefix of its own.`,
      );
    }
    if (there.length === 0 && has === 1) {
      throw new Error(
        `${url} of SVC_BLOBS has none of the files of this database: name the bucket and prefix that its servers have.`,
      );
    }
    owner = await objects.own(id);
  }
  if (owner === id) return;
  throw new Error(
    owner === null
      ? `${url} of SVC_BLOBS has no object owner, so nobody knows whose files it has: is this the prefix of your servers?`
      : `${url} of SVC_BLOBS has the files of another service, with another database: name a prefix of its own.`,
  );
}

const unnamed = statement<{ object: string }>(
  `select object from unnest(?::text[]) as found (object) where not ${IS_KNOWN}`,
);
const STRAY_MS = UNIT_MS.h;

/** A row comes before its object, so one that no row names by now is nobody's. */
export async function strayObjects(
  { db }: Pick<Backend, "db">,
  objects: BlobObjects,
  now: number,
  removes: boolean,
): Promise<number> {
  let found = 0;
  for await (const some of objects.all()) {
    const old = some.filter(({ at }) => at < now - STRAY_MS).map(({ object }) => object);
    if (old.length === 0) continue;
    const last = Math.max(...old.map((object) => Number(object.split("-")[1])));
    if (removes) await db.note(() => numbersPast.do(last, last));
    const strays = await db.read(() => unnamed.all(`{${old.join(",")}}`));
    found += strays.length;
    if (removes) await inParallel(strays, DELETED_AT_ONCE, ({ object }) => objects.remove(object));
  }
  return found;
}
