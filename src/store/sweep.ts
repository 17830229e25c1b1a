/** The sweep's part of the database: expired sites, old sessions and logins, and the rows of blobs that no version names. */
import { randomName } from "../base/random.ts";
import { UNIT_MS } from "../base/units.ts";
import { every } from "../run/every.ts";
import { audit } from "./audit.ts";
import { NAMED } from "./upkeep.ts";
import { goneComments } from "./notes/gone.ts";
import { type Backend, ifDiskAllows, inSlices, makingRoom, type Op, statement, write } from "./operation.ts";
import { grants } from "./people/deploy-tokens.ts";
import { forgetOldLogins } from "./people/device-logins.ts";
import { sessionRows } from "./people/sessions.ts";
import { KEY_LIFETIME_MS } from "./publish.ts";
import { removeSomeReports } from "./reports.ts";
import { siteRows } from "./sites.ts";

/** Sites or blobs in one transaction, and rows of versions and files: none holds the lock for over 10 ms. */
export const BATCH = 100;
const ROWS = 500;
/** The beginning of the names that a backup off the box gives its files in `tmp`. */
export const BACKUP_COPY = "backup-";
export const isBackupCopy = (name: string): boolean => name.startsWith(BACKUP_COPY);
/** The sweep removes older ones: no backup takes so long to send. */
export const BACKUP_COPY_MS = 7 * UNIT_MS.d;

const due = statement<{ site_id: string; slug: string; expires_at: number }>(
  `select site_id, slug, expires_at from sites where owner_account_id is null and expires_at <= ?
   order by expires_at limit ?`,
);

/** Removes a batch of expired sites. The condition is asked inside the transaction, so a claim at the last millisecond wins or
 *  loses as a whole. */
function* expireBatch(now: number): Op<string[]> {
  const sites = yield* due.all(now, BATCH);
  const at = new Date(now).toISOString();
  for (const { site_id, expires_at } of sites) {
    // The day that its visitors are told is the one that it was said to end on, not that of this sweep.
    yield* siteRows.remove(site_id, "expired", new Date(expires_at).toISOString());
    yield* audit({ at, actor: "expiry", action: "expire", site_id });
  }
  return sites.map(({ slug }) => slug);
}

/** Removes the sites that were over by `now`; answers how many. */
async function expireSites({ db, place }: Pick<Backend, "db" | "place">, now: number): Promise<number> {
  let total = 0;
  await inSlices(place, async () => {
    const gone = await db.change(
      () => expireBatch(now),
      (slugs) => slugs,
    );
    total += gone.length;
    return gone.length === BATCH;
  });
  return total;
}

const nextLeftover = statement<{ site_id: string }>("select site_id from leftovers limit 1");
const nextVersion = statement<{ version_no: number }>("select version_no from versions where site_id = ? limit 1");
const removeFiles = statement(
  `delete from files where version_no = ?1 and path in (select path from files where version_no = ?1 limit ?2)`,
);
// A receipt goes before its version, which would take it along uncounted.
const removeReceipt = statement("delete from receipts where version_no = ?");
const removeRender = statement("delete from renders where version_no = ?");
const removeVersion = statement("delete from versions where version_no = ?");
const allRemoved = statement("delete from leftovers where site_id = ?");

/** Removes what sites that are gone have left: comments and reports, a version's files and receipt, then the version, then the
 *  note of the site. A blob keeps its file until no row names it (P4). False if nothing is left. */
function* removeLeftovers(): Op<boolean> {
  for (let room = ROWS; room > 0; room--) {
    const site = yield* nextLeftover.get();
    if (site === null) return false;
    room -= yield* goneComments.removeSome(site.site_id, room);
    if (room > 0) room -= yield* removeSomeReports(site.site_id, room);
    if (room <= 0) return true;
    const version = yield* nextVersion.get(site.site_id);
    if (version === null) yield* allRemoved.do(site.site_id);
    else {
      room -= (yield* removeFiles.run(version.version_no, room)).changes;
      if (room > 0) room -= (yield* removeReceipt.run(version.version_no)).changes;
      if (room > 0) room -= (yield* removeRender.run(version.version_no)).changes;
      if (room > 0) yield* removeVersion.do(version.version_no);
    }
  }
  return true;
}

const clearLeftovers = ({ db, place }: Pick<Backend, "db" | "place">): Promise<void> =>
  inSlices(place, () => db.write(removeLeftovers));

const forgetInvitations = statement("delete from invitations where expires_at <= ?");
// The audit log keeps that somebody was invited. It has the address as long as there is the invitation or the account.
const eraseInvited = statement(
  `update audit set reason = null where action = 'invite' and reason is not null
     and not exists (select 1 from accounts where email = audit.reason)
     and not exists (select 1 from invitations where email = audit.reason)`,
);
const forgetKeys = statement("delete from idempotency_keys where created_at <= ?");

function* forgetPeople(now: number): Op<void> {
  yield* forgetInvitations.do(now);
  yield* eraseInvited.do();
  yield* forgetKeys.do(now - KEY_LIFETIME_MS); // they have a client's network
  yield* sessionRows.forgetOld(now);
  yield* forgetOldLogins(now);
  yield* grants.forgetOld(now);
}

const forgetUnused = ({ db, place }: Pick<Backend, "db" | "place">, now: number): Promise<void> =>
  makingRoom(place, () => db.write(() => forgetPeople(now)));

/** A clock is wrong if most of so many deploys say so, by more than clocks of one machine differ. */
const LAST = 10;
const APART_MS = 1000;
const lastDeploys = statement<{ created_at: string }>(
  "select created_at from versions order by version_no desc limit ?",
);

/** Throws a sentence for the log if the clock is behind the last deploy and most of those before it: one that was made while
 *  the clock ran ahead proves nothing. The clock is asked after the query, for deploys go on meanwhile. */
async function refuseOldClock({ db, now }: Pick<Backend, "db" | "now">): Promise<void> {
  const deploys = (await db.read(() => lastDeploys.all(LAST))).map(({ created_at }) => Date.parse(created_at));
  const time = now();
  const ahead = deploys.filter((at) => at > time + APART_MS);
  if (ahead.length * 2 <= deploys.length || deploys[0] !== ahead[0]) return;
  const [clock, newest] = [time, Math.max(...ahead)].map((at) => new Date(at).toISOString());
  throw new Error(
    `The clock is behind: it shows ${clock}, and the last deploys are of up to ${newest}. Nothing is swept until it is set right, or until a deploy is made by it as it is.`,
  );
}

const usedBetween = statement<{ sha256: string }>(
  `select sha256 from blobs where sha256 >= ? and sha256 < ? and ${NAMED}`,
);

/** The blobs that versions name, of those whose hash begins with `prefix`. */
async function usedBlobs({ db }: Pick<Backend, "db">, prefix: string): Promise<Set<string>> {
  const rows = await db.read(() => usedBetween.all(prefix, `${prefix}g`)); // g comes after every digit of a hash
  return new Set(rows.map(({ sha256 }) => sha256));
}

const blobCount = statement<{ n: number }>("select count(*) as n from blobs");
const knownBlob = statement("select 1 from blobs where sha256 = ?");

function* countUnknown(candidates: readonly string[]): Op<{ unknown: number; total: number }> {
  let unknown = 0;
  for (const sha256 of candidates) if ((yield* knownBlob.get(sha256)) === null) unknown++;
  return { unknown, total: (yield* blobCount.get())!.n + unknown };
}

/** Files that are too many for one deploy that was cut short. */
const DOUBTFUL = 20;

/** Throws if more than half of all blobs, and twenty or more, are unknown to the database: it is another one, or an older. */
async function refuseIfMostAreUnknown({ db }: Pick<Backend, "db">, candidates: readonly string[]): Promise<void> {
  const { unknown, total } = await db.read(() => countUnknown(candidates));
  if (unknown >= DOUBTFUL && unknown * 2 > total) {
    throw new Error(
      `${unknown} of ${total} blob files are unknown to the database: they are not swept. Is this the right database, and ` +
        "no older copy? If it is, svc-server gc --force removes them.",
    );
  }
}

const HOLD_MS = UNIT_MS.h;
const RENEW_MS = 10 * UNIT_MS.m;

const liveHold = statement("select 1 from holds where expires_at > ? limit 1");

/** Whether a backup copies blobs: then none may be swept. Inside the sweep's transaction. */
function* isHeld(now: number): Op<boolean> {
  return (yield* liveHold.get(now)) !== null;
}

const putHold = statement(
  `insert into holds (hold_id, expires_at) values (?, ?)
   on conflict (hold_id) do update set expires_at = excluded.expires_at`,
);
const removeHold = statement("delete from holds where hold_id = ? or expires_at <= ?");

/** Takes a hold for a backup and renews it until it is released; without renewals it lapses after an hour. If it cannot be
 *  renewed now it is renewed the next time, whatever the reason: a timer's error would end the process. */
export async function takeHold({ db, now }: Pick<Backend, "db" | "now">): Promise<{ release(): Promise<void> }> {
  const hold_id = `hold_${randomName(20)}`;
  const renew = () => db.write(() => putHold.do(hold_id, now() + HOLD_MS));
  await renew();
  const timer = every(RENEW_MS, renew, () => {}); // six turns before it lapses
  return {
    release() {
      timer.stop();
      return ifDiskAllows(db.write(() => removeHold.do(hold_id, now()))); // else it lapses
    },
  };
}

/** A hold of an operator's, which nobody renews; null ends it. */
function* holdUntil({ now }: Pick<Backend, "now">, until: number | null): Op<void> {
  yield* removeHold.do(OPERATORS, now());
  if (until !== null) yield* putHold.do(OPERATORS, until);
}
const OPERATORS = "hold_operator";

/** Operations on holds. */
export const HOLDS = { holdUntil: write(holdUntil) };

const used = statement(`select 1 from blobs where sha256 = ? and ${NAMED}`);
const forgetBlob = statement("delete from blobs where sha256 = ?");

/** G2: `removeFile` runs while the write lock is held, so that no deploy can commit a reference in between. */
function* removeOrphans(candidates: readonly string[], now: number, removeFile: (sha256: string) => void): Op<number> {
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

/** The steps of a sweep, in any backend. */
export const sweeping = {
  clearLeftovers,
  forgetUnused,
  refuseOldClock,
  usedBlobs,
  refuseIfMostAreUnknown,
  removeOrphans,
  isHeld,
  expireSites,
};
