/** Renders: what a browser saw of a version (CONTRACT 9), as rows and as pictures among the blobs; and the versions that wait
 *  to be looked at. */
import type { Bytes, ManifestFile } from "../base/types.ts";
import { contentHash } from "../base/version-id.ts";
import {
  type Backend,
  type Bound,
  type Held,
  type Op,
  type Operation,
  read,
  statement,
  steps,
  listFrom,
  ofList,
} from "./operation.ts";
import { type Receipt, receipts } from "./receipts.ts";
import type { Stored } from "./versions.ts";

type RenderStatus = "pending" | "done" | "failed";

/** A warning that the lint could not give, shaped like a receipt's. */
export interface RenderWarning {
  code: "script_error" | "failed_request" | "blank_page";
  message: string;
  path?: string;
  fix_recipe: string;
}

/** Facts of a page that was looked at, besides its warnings. */
export interface RenderSeen {
  console: { level: string; text: string; url: string | null; line: number | null }[];
  failed_requests: { url: string; method: string; status: number | null; reason: string }[];
  dom_summary: { title: string; headings: string[]; links: number; images: number; text_length: number } | null;
}

type PictureSize = "desktop" | "phone";

/** A version that waits to be looked at. */
export interface RenderTask {
  version_no: number;
  site_id: string;
  slug: string;
  version_id: string;
  /** Includes this one. */
  tries: number;
  /** Names of the network that deployed it and of the owner's account: it is their turn. */
  from: readonly string[];
  /** The receipt of its deploy; null if none was kept. */
  receipt: Receipt | null;
}

export interface RenderOutcome {
  status: Exclude<RenderStatus, "pending">;
  reason: string | null;
  seen: RenderSeen;
  warnings: readonly RenderWarning[];
  pictures: Readonly<Record<PictureSize, Bytes | null>>;
}

/** The render of one version, as lists show it. */
export interface RenderBrief {
  version_id: string;
  status: RenderStatus;
  reason: string | null;
  warnings: RenderWarning[];
  /** Whether it has a picture. */
  pictured: boolean;
}

/** A quarter of an hour of pages: after that a picture is not waited for any more. */
const MOST_WAITING = 500;

const ask = statement(
  `insert into renders (version_no, site_id, status, asked_at, asked_from)
   select version_no, site_id, 'pending', ?3, ?4 from versions where site_id = ?1 and version_id = ?2
   on conflict (version_no) do update set status = 'pending', asked_at = ?3, asked_from = ?4, tries = 0
   where renders.status = 'failed'`,
);
const giveUpOthers = statement(
  `update renders set status = 'failed', asked_from = null, reason = 'A newer version came before this one was looked at.'
   where site_id = ?1 and status = 'pending' and version_no <> (
     select version_no from versions where site_id = ?1 and version_id = ?2)`,
);

/** Inside the deploy's transaction, so that no version that went live is forgotten. `from`: keyed hash of the customer that
 *  deployed it, which is kept as long as it waits. */
export function* askRender(site_id: string, version_id: string, from: string, now: number): Op<void> {
  yield* ask.do(site_id, version_id, now, from);
  yield* giveUpOthers.do(site_id, version_id);
}

const count = statement<{ n: number }>("select count(*) as n from renders where status = 'pending'");

/** A version that waits. Names of accounts and networks never clash. */
interface WaitingVersion {
  version_no: number;
  /** Null if the site has no owner. */
  account: string | null;
  /** Keyed hash of the customer (an IPv4 address, an IPv6 /48) that deployed it. */
  network: string;
}

/** The longest wait first. What waited when it was not kept yet who deployed counts for the site's network or account. */
const waitingVersions = statement<WaitingVersion>(
  `select version_no, owner_account_id as account, coalesce(asked_from, network, owner_account_id, '') as network
   from renders join sites on sites.site_id = renders.site_id
   where status = 'pending' order by asked_at, version_no`,
);
const giveUp = statement(
  `update renders set status = 'failed', asked_from = null, reason = 'Too many versions were waiting to be looked at.'
   where version_no = ?`,
);
const taskOf = statement<Omit<RenderTask, "receipt" | "from">>(
  `select version_no, renders.site_id as site_id, slug, version_id, tries + 1 as tries
   from renders join versions using (version_no) join sites on sites.site_id = renders.site_id where version_no = ?`,
);
const begin = statement("update renders set tries = tries + 1 where version_no = ?");

function* countWaiting(): Op<number> {
  return (yield* count.get())!.n;
}

/** Versions of one place, the longest wait first. */
interface WaitingPlace {
  owned: boolean;
  versions: number[];
}

const sourcesOf = ({ account, network }: WaitingVersion): string[] =>
  account === null ? [network] : [network, account];

/** The place that each version counts for, in the order of the longest wait: the network; of an owner's the network or the account,
 *  whichever has more waiting, so that neither many accounts nor many networks make one person many places. */
function placesOf(all: readonly WaitingVersion[]): WaitingPlace[] {
  const [owners, others] = [new Map<string, number>(), new Map<string, number>()];
  const counts = ({ account }: WaitingVersion) => (account === null ? others : owners);
  for (const one of all)
    for (const name of new Set(sourcesOf(one))) counts(one).set(name, (counts(one).get(name) ?? 0) + 1);
  const places = new Map<string, WaitingPlace>();
  for (const one of all) {
    const name = sourcesOf(one).reduce((a, b) => (counts(one).get(b)! > counts(one).get(a)! ? b : a));
    const owned = one.account !== null;
    places.getOrInsertComputed(`${owned} ${name}`, () => ({ owned, versions: [] })).versions.push(one.version_no);
  }
  return [...places.values()];
}

/** How many each keeps: as many as the largest share at which all together are `most` at most; what is left over goes to those that
 *  waited longest, one each. So a crowd of places leaves the room full, and does not empty it. */
function sharesOf(counts: readonly number[], most: number): number[] {
  const rising = counts.toSorted((a, b) => a - b);
  let left = most;
  let level = Infinity;
  for (const [i, count] of rising.entries()) {
    level = Math.floor(left / (rising.length - i));
    if (count > level) break;
    left -= count;
    level = Infinity;
  }
  const kept = counts.map((count) => Math.min(count, level));
  let over = most - sumOf(kept);
  return kept.map((one, i) => (one < counts[i]! && over-- > 0 ? one + 1 : one));
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);

/** The versions that are given up, so that a crowd loses its own before anybody else loses one: while others wait, one place has
 *  half of the room at most; and all together have no more than there is. Owners have what others leave, and two thirds at least. */
function tooMany(places: readonly WaitingPlace[], most: number): number[] {
  const half = places.length > 1 ? most >> 1 : most;
  const [owners, others] = [true, false].map((owned) => places.filter((place) => place.owned === owned)) as [
    WaitingPlace[],
    WaitingPlace[],
  ];
  const counts = (some: WaitingPlace[]) => some.map(({ versions }) => Math.min(versions.length, half));
  const of_owners = sharesOf(counts(owners), most - Math.min(sumOf(counts(others)), Math.floor(most / 3)));
  const of_others = sharesOf(counts(others), most - sumOf(of_owners));
  const kept = [...of_owners, ...of_others];
  return [...owners, ...others].flatMap(({ versions }, i) => versions.slice(0, versions.length - kept[i]!));
}

/** The turns that were taken. */
interface Turns {
  count: number;
  /** The number of the last turn of a network or an account, the latest last. */
  last: Map<string, number>;
  /** How many owners there were since the last one without an account. */
  owners: number;
}

/** Sources that are remembered. */
const MOST_REMEMBERED = 2000;

/** The next version: after two of owners one of a site without, and of these the one whose account and network both had no turn for
 *  the longest time. */
function nextOf(all: readonly WaitingVersion[], turns: Turns): WaitingVersion {
  const [owners, others] = [
    all.filter(({ account }) => account !== null),
    all.filter(({ account }) => account === null),
  ];
  const some = others.length === 0 || (owners.length > 0 && turns.owners < 2) ? owners : others;
  const lastOf = (one: WaitingVersion) => Math.max(...sourcesOf(one).map((name) => turns.last.get(name) ?? 0));
  return some.reduce((first, one) => (lastOf(one) < lastOf(first) ? one : first));
}

function noteTurn(turns: Turns, one: WaitingVersion): void {
  turns.count++;
  for (const name of sourcesOf(one)) {
    turns.last.delete(name);
    turns.last.set(name, turns.count);
  }
  for (const name of turns.last.keys()) {
    if (turns.last.size <= MOST_REMEMBERED) break;
    turns.last.delete(name);
  }
  turns.owners = one.account === null ? 0 : turns.owners + 1;
}

function* takeFirst(turns: Turns): Op<RenderTask | null> {
  const all = yield* waitingVersions.all();
  const given_up = new Set(tooMany(placesOf(all), MOST_WAITING));
  if (given_up.size > 0)
    yield* giveUp.each(
      Array.from(given_up, (version_no) => [version_no]),
      "int8",
    );
  const kept = all.filter(({ version_no }) => !given_up.has(version_no));
  if (kept.length === 0) return null;
  const next = nextOf(kept, turns);
  const task = yield* taskOf.get(next.version_no);
  if (task === null) return null;
  noteTurn(turns, next);
  yield* begin.do(task.version_no);
  return { ...task, from: sourcesOf(next), receipt: yield* receipts.of(task.site_id, task.version_id) };
}

interface Picture {
  size: PictureSize;
  bytes: Bytes;
  sha256: string;
}

const picturesOf = ({ pictures }: RenderOutcome): Picture[] =>
  (["desktop", "phone"] as const).flatMap((size) => {
    const bytes = pictures[size];
    return bytes === null ? [] : [{ size, bytes, sha256: contentHash(bytes) }];
  });

const BLOCK = 4096;

// The number of a version that was deleted may be another's by now.
const waits = statement<{ site_id: string; disk: number }>(
  `select renders.site_id, disk from renders join versions using (version_no)
   where version_no = ? and versions.site_id = ? and version_id = ? and status = 'pending'`,
);
const write = statement(
  "update renders set status = ?, asked_from = null, reason = ?, seen = ?, warned = ?, warnings = ?, disk = ? where version_no = ?",
);
const charge = statement("update sites set stored_disk = stored_disk + ? where site_id = ?");
const dropPictures = statement("delete from pictures where version_no = ?");
const insertBlob = statement("insert into blobs (sha256, bytes) values (?, ?) on conflict (sha256) do nothing");
const insertPicture = statement(
  "insert into pictures (version_no, size, blob_no) values (?, ?, (select blob_no from blobs where sha256 = ?))",
);

/** The picture as a file of a manifest, which is what a place of blobs is asked about. */
const asFile = ({ sha256, bytes, size }: Picture): ManifestFile => ({
  path: size,
  sha256,
  bytes: bytes.length,
  media_type: "image/webp",
  made: true,
});

type LookedAt = Pick<RenderTask, "version_no" | "site_id" | "version_id">;

function* settle(task: LookedAt, outcome: RenderOutcome, held: Held): Op<boolean> {
  const { version_no } = task;
  const row = yield* waits.get(version_no, task.site_id, task.version_id);
  if (row === null) return false;
  const all = picturesOf(outcome);
  const pictures = (yield* held.allThere()) ? all : []; // a sweep took them: it does without
  const [seen, warnings] = [JSON.stringify(outcome.seen), JSON.stringify(outcome.warnings)];
  const texts = Buffer.byteLength(seen) + Buffer.byteLength(warnings);
  const disk = pictures.reduce((sum, { bytes }) => sum + Math.ceil(bytes.length / BLOCK) * BLOCK, texts);
  const { status, reason } = outcome;
  yield* write.do(status, reason, seen, outcome.warnings.length, warnings, disk, version_no);
  yield* dropPictures.do(version_no);
  for (const { size, sha256, bytes } of pictures) {
    yield* insertBlob.do(sha256, bytes.length);
    yield* insertPicture.do(version_no, size, sha256);
  }
  yield* charge.do(disk - row.disk, row.site_id);
  return true;
}

interface RenderRow {
  version_id: string;
  status: RenderBrief["status"];
  reason: string | null;
  warnings: string;
  pictured: number;
}

const COLUMNS = `version_id, status, reason, warnings, exists (
  select 1 from pictures where pictures.version_no = renders.version_no and size = 'desktop') as pictured`;
const one = statement<RenderRow & { seen: string | null }>(
  `select ${COLUMNS}, seen from versions join renders using (version_no)
   where versions.site_id = ? and version_id = ?`,
);
const some = statement<RenderRow>(
  `select ${COLUMNS} from versions join renders using (version_no)
   where versions.site_id = ?1 and version_id in (${listFrom(2)})`,
);
const picture = statement<Stored>(
  `select sha256, blobs.bytes as bytes, blob_no from versions join pictures using (version_no) join blobs using (blob_no)
   where site_id = ? and version_id = ? and size = ?`,
);

const briefOf = ({ version_id, status, reason, warnings, pictured }: RenderRow): RenderBrief => ({
  version_id,
  status,
  reason: status === "failed" ? reason : null,
  warnings: JSON.parse(warnings) as RenderWarning[],
  pictured: pictured === 1,
});

const NOTHING: RenderSeen = { console: [], failed_requests: [], dom_summary: null };

function* renderOf(site_id: string, version_id: string): Op<(RenderBrief & RenderSeen) | null> {
  const row = yield* one.get(site_id, version_id);
  if (row === null) return null;
  const seen = row.seen === null || row.status === "pending" ? NOTHING : (JSON.parse(row.seen) as RenderSeen);
  return { ...briefOf(row), ...seen };
}

function* rendersOf(site_id: string, version_ids: readonly string[]): Op<ReadonlyMap<string, RenderBrief>> {
  const rows = yield* ofList(version_ids, (list) => some.all(site_id, ...list));
  return new Map(rows.map((row) => [row.version_id, briefOf(row)]));
}

/** The next in turn; null if none waits. Those that are too many are given up. */
const take: Operation<[], RenderTask | null> = {
  kind: "write",
  on({ db }) {
    const turns: Turns = { count: 0, last: new Map(), owners: 0 };
    return async () => {
      if ((await db.read(() => countWaiting())) === 0) return null; // asked every half second: it must cost nothing
      return db.write(() => takeFirst(turns));
    };
  },
};

export const RENDERS = {
  /** For the one process that looks, as `settle`. */
  take,
  /** False if the version is gone, or was asked for again. */
  settle: steps("write", async ({ db, place }: Backend, task: LookedAt, outcome: RenderOutcome): Promise<boolean> => {
    const pictures = picturesOf(outcome);
    const blobs = new Map(pictures.map(({ sha256, bytes }) => [sha256, bytes]));
    const held = await place.put({ blobs, manifest: pictures.map(asFile) });
    return db.write(() => settle(task, outcome, held));
  }),
  waiting: read(() => countWaiting()),
  /** Null if no look was asked for. */
  of: read((_, site_id: string, version_id: string) => renderOf(site_id, version_id)),
  /** By version_id: of a thousand versions the warnings alone have megabytes, so of those that are shown. */
  ofVersions: read((_, site_id: string, version_ids: readonly string[]) => rendersOf(site_id, version_ids)),
  picture: read((_, site_id: string, version_id: string, size: PictureSize) => picture.get(site_id, version_id, size)),
};
export type Renders = Bound<typeof RENDERS>;
