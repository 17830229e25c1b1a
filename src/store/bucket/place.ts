/** Putting a version's blobs into a bucket, and naming them (SCALE 3, X2 to X4): a row is renewed before its object is put, and is
 *  `stored` in the transaction that names it. */
import type { Bytes } from "../../base/types.ts";
import { inParallel } from "../disk/blobs.ts";
import { type Backend, type BlobPlace, type Op, statement } from "../operation.ts";
import type { BlobCache } from "./cache.ts";
import type { BlobObjects } from "./objects.ts";

const PUT_AT_ONCE = 16;
/** Rows that one statement makes or renews. */
const ROWS = 2000;

interface Renewed {
  sha256: string;
  blob_no: number;
  /** 1: its object is there. */
  stored: 0 | 1;
}

/** X2: no sweep takes them for an hour. In their order, so that two deploys never wait for each other. */
const renew = statement<Renewed>(
  `insert into blobs (sha256, bytes) select sha256, bytes
   from json_to_recordset(?::text::json) as asked (sha256 text, bytes bigint) order by sha256
   on conflict (sha256) do update set touched_at = now() returning sha256, blob_no, stored`,
);
/** Rows are locked in the order in which X2 locks them. */
const lockRows = statement(
  "select blob_no from blobs where blob_no = any(?::bigint[]) order by sha256 for no key update",
);
const markStored = statement("update blobs set stored = true where blob_no = any(?::bigint[])");
const countStored = statement<{ n: number }>(
  "select count(*) as n from blobs where stored and blob_no = any(?::bigint[])",
);

const listOf = (rows: readonly Renewed[]): string => `{${rows.map(({ blob_no }) => blob_no).join(",")}}`;

/** X4: what was put becomes `stored`, by the number of its row; a row that a sweep took is not counted. */
function* allThere(rows: readonly Renewed[], put: readonly Renewed[]): Op<boolean> {
  if (put.length > 0) {
    yield* lockRows.do(listOf(put));
    yield* markStored.do(listOf(put));
  }
  return (yield* countStored.get(listOf(rows)))!.n === rows.length;
}

export const bucketPlace = (db: Backend["db"], objects: BlobObjects, cache: BlobCache): BlobPlace => ({
  async put({ blobs, manifest }) {
    const asked = new Map(manifest.map(({ sha256, bytes }) => [sha256, { sha256, bytes }]));
    const sorted = [...asked.values()].toSorted((a, b) => (a.sha256 < b.sha256 ? -1 : 1));
    const rows: Renewed[] = [];
    for (let at = 0; at < sorted.length; at += ROWS) {
      rows.push(...(await db.note(() => renew.all(JSON.stringify(sorted.slice(at, at + ROWS))))));
    }
    const wanted = rows.filter(({ stored, sha256 }) => stored === 0 && blobs.has(sha256));
    await inParallel(wanted, PUT_AT_ONCE, async (row) => {
      const bytes: Bytes = blobs.get(row.sha256)!;
      await Promise.all([objects.put(row, bytes), cache.put(row.sha256, bytes)]);
    });
    return { allThere: () => allThere(rows, wanted) };
  },
  makeRoom: () => cache.drop(),
});
