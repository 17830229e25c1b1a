/** What nobody needs any more: expired sites, old sessions and logins, and the rows of blobs that no version names. */
import { audit } from "./audit.ts";
import { type Op, statement } from "./db.ts";
import { forgetOldLogins } from "./device-logins.ts";
import { makingRoom } from "./frame.ts";
import { isHeld } from "./holds.ts";
import type { Parts } from "./parts.ts";
import { forgetOldSessions } from "./sessions.ts";
import { removeSite } from "./sites.ts";

/** So many in one transaction. */
export const BATCH = 100;

const due = statement<{ site_id: string; slug: string }>(
  `select site_id, slug from sites where owner_account_id is null and expires_at <= ?
   order by expires_at limit ?`,
);

/** A claim at the last millisecond wins or loses whole: the condition is asked inside the transaction. */
function* expireBatch(now: number): Op<string[]> {
  const sites = yield* due.all(now, BATCH);
  const at = new Date(now).toISOString();
  for (const { site_id } of sites) {
    yield* removeSite(site_id, "expired", at);
    yield* audit({ at, actor: "expiry", action: "expire", site_id });
  }
  return sites.map(({ slug }) => slug);
}

/** Says how many sites went. */
export async function expireSites({ db, place }: Pick<Parts, "db" | "place">, now: number): Promise<number> {
  const batch = () =>
    db.change(
      () => expireBatch(now),
      (slugs) => slugs,
    );
  let total = 0;
  for (let gone = await makingRoom(place, batch); gone.length > 0; gone = await makingRoom(place, batch)) {
    total += gone.length;
  }
  return total;
}

function* forgetPeople(now: number): Op<void> {
  yield* forgetOldSessions(now);
  yield* forgetOldLogins(now);
}

export const forgetUnused = ({ db, place }: Pick<Parts, "db" | "place">, now: number): Promise<void> =>
  makingRoom(place, () => db.write(() => forgetPeople(now)));

const newest = statement<{ at: string | null }>("select max(created_at) as at from versions");

/** Throws a sentence for the log. */
export async function refuseOldClock({ db }: Pick<Parts, "db">, now: number): Promise<void> {
  const at = (await db.read(newest.get()))?.at;
  if (at && Date.parse(at) > now) {
    throw new Error("The clock is behind the newest deploy: nothing is swept until it is right.");
  }
}

const usedBetween = statement<{ sha256: string }>(
  `select sha256 from blobs where sha256 >= ? and sha256 < ?
   and exists (select 1 from files where files.blob_no = blobs.blob_no)`,
);

/** The blobs that versions name of those whose hash begins so. */
export async function usedBlobs({ db }: Pick<Parts, "db">, prefix: string): Promise<Set<string>> {
  const rows = await db.read(usedBetween.all(prefix, `${prefix}g`)); // g comes after every digit of a hash
  return new Set(rows.map(({ sha256 }) => sha256));
}

const blobCount = statement<{ n: number }>("select count(*) as n from blobs");
const knownBlob = statement("select 1 from blobs where sha256 = ?");

function* countUnknown(candidates: readonly string[]): Op<{ unknown: number; total: number }> {
  let unknown = 0;
  for (const sha256 of candidates) if ((yield* knownBlob.get(sha256)) === null) unknown++;
  return { unknown, total: (yield* blobCount.get())!.n + unknown };
}

/** So many files are no longer one deploy that was cut short. */
const DOUBTFUL = 20;

/** More than half of all blobs, and twenty or more, unknown to the database: it is another one, or an older. */
export async function refuseIfMostAreUnknown({ db }: Pick<Parts, "db">, candidates: readonly string[]): Promise<void> {
  const { unknown, total } = await db.read(countUnknown(candidates));
  if (unknown >= DOUBTFUL && unknown * 2 > total) {
    throw new Error(
      `${unknown} of ${total} blob files are unknown to the database: they are not swept. Is this the right database, and ` +
        "no older copy? If it is, svc-server gc --force removes them.",
    );
  }
}

const used = statement("select 1 from blobs join files using (blob_no) where sha256 = ? limit 1");
const forgetBlob = statement("delete from blobs where sha256 = ?");

/** G2: `removeFile` runs while the write lock is held, so that no deploy can commit a reference in between. */
export function* removeOrphans(
  candidates: readonly string[],
  now: number,
  removeFile: (sha256: string) => void,
): Op<number> {
  if (yield* isHeld(now)) return 0;
  let removed = 0;
  for (const sha256 of candidates) {
    if ((yield* used.get(sha256)) !== null) continue;
    removeFile(sha256);
    yield* forgetBlob.do(sha256);
    removed++;
  }
  return removed;
}
