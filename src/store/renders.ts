/** Renders: what a browser saw of a version (CONTRACT 9), as rows and as pictures among the blobs; and the versions that wait
 *  to be looked at. */
import type { Bytes, ManifestFile } from "../base/types.ts";
import { contentHash } from "../base/version-id.ts";
import {
  type Backend,
  type BlobPlace,
  type Bound,
  type Op,
  type Operation,
  read,
  statement,
  steps,
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
  `insert into renders (version_no, site_id, status, asked_at)
   select version_no, site_id, 'pending', ?3 from versions where site_id = ?1 and version_id = ?2
   on conflict (version_no) do update set status = 'pending', asked_at = ?3, tries = 0
   where renders.status = 'failed'`,
);
const giveUpOthers = statement(
  `update renders set status = 'failed', reason = 'A newer version came before this one was looked at.'
   where site_id = ?1 and status = 'pending' and version_no <> (
     select version_no from versions where site_id = ?1 and version_id = ?2)`,
);

/** Inside the deploy's transaction, so that no version that went live is forgotten. */
export function* askRender(site_id: string, version_id: string, now: number): Op<void> {
  yield* ask.do(site_id, version_id, now);
  yield* giveUpOthers.do(site_id, version_id);
}

const count = statement<{ n: number }>("select count(*) as n from renders where status = 'pending'");

/** Versions that wait, by the place that they come from: an account, or the network of sites without an owner. */
interface WaitingPlace {
  place: string;
  /** 1: of an owner, who is held to no more than the others but comes last to lose. */
  owned: number;
  waiting: number;
}

const PLACE = "coalesce(owner_account_id, network, '')";
/** Places of owners first, then by the longest wait. */
const places = statement<WaitingPlace>(
  `select ${PLACE} as place, owner_account_id is not null as owned, count(*) as waiting
   from renders join sites on sites.site_id = renders.site_id
   where status = 'pending' group by place order by owned desc, min(asked_at), min(version_no)`,
);
const giveUpOldest = statement(
  `update renders set status = 'failed', reason = 'Too many versions were waiting to be looked at.'
   where version_no in (
     select version_no from renders join sites on sites.site_id = renders.site_id
     where status = 'pending' and ${PLACE} = ? order by asked_at, version_no limit ?)`,
);
const first = statement<Omit<RenderTask, "receipt">>(
  `select version_no, renders.site_id as site_id, slug, version_id, tries + 1 as tries
   from renders join versions using (version_no) join sites on sites.site_id = renders.site_id
   where status = 'pending' and ${PLACE} = ? order by asked_at, version_no limit 1`,
);
const begin = statement("update renders set tries = tries + 1 where version_no = ?");

function* countWaiting(): Op<number> {
  return (yield* count.get())!.n;
}

/** The largest share at which all shares together are `most` at most. */
function levelOf(counts: readonly number[], most: number): number {
  const rising = counts.toSorted((a, b) => a - b);
  let left = most;
  for (const [i, count] of rising.entries()) {
    const level = Math.floor(left / (rising.length - i));
    if (count > level) return level;
    left -= count;
  }
  return Infinity;
}

/** How many of each place are given up, so that a crowd loses its own before anybody else loses one: while others wait, one
 *  place has half of the room at most; and all together have no more than there is, for which places with most give, those
 *  without an owner first. */
function tooMany(all: readonly WaitingPlace[], most: number): Map<string, number> {
  const half = all.length > 1 ? most >> 1 : most;
  const held = all.map((one) => ({ ...one, waiting: Math.min(one.waiting, half) }));
  const sumOf = (owned: number) => held.filter((one) => one.owned === owned).map(({ waiting }) => waiting);
  const owners = levelOf(sumOf(1), most);
  const of_owners = sumOf(1).reduce((sum, waiting) => sum + Math.min(waiting, owners), 0);
  const others = levelOf(sumOf(0), most - of_owners);
  const kept = held.map(({ owned, waiting }) => Math.min(waiting, owned === 1 ? owners : others));
  return new Map(
    all.flatMap(({ place, waiting }, i) => (waiting > kept[i]! ? [[place, waiting - kept[i]!] as const] : [])),
  );
}

/** Places in the order of their turns, the latest last. */
type Turns = Set<string>;

/** The next place: of those that come first, one that had no turn yet, else the one with the longest since its turn. */
function nextOf(waiting: readonly WaitingPlace[], turns: Turns): string | null {
  const mine = waiting.filter(({ owned }) => owned === waiting[0]!.owned).map(({ place }) => place);
  const next = mine.find((place) => !turns.has(place)) ?? [...turns].find((place) => mine.includes(place));
  return next ?? null;
}

function* takeFirst(turns: Turns): Op<RenderTask | null> {
  const waiting = yield* places.all();
  for (const [place, beyond] of tooMany(waiting, MOST_WAITING)) yield* giveUpOldest.do(place, beyond);
  if (waiting.length === 0) return null;
  const place = nextOf(waiting, turns)!;
  const task = yield* first.get(place);
  if (task === null) return null;
  for (const one of turns) if (!waiting.some((other) => other.place === one)) turns.delete(one);
  turns.delete(place);
  turns.add(place);
  yield* begin.do(task.version_no);
  return { ...task, receipt: yield* receipts.of(task.site_id, task.version_id) };
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

const waits = statement<{ site_id: string; disk: number }>(
  "select site_id, disk from renders where version_no = ? and status = 'pending'",
);
const write = statement(
  "update renders set status = ?, reason = ?, seen = ?, warned = ?, warnings = ?, disk = ? where version_no = ?",
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

function* settle(version_no: number, outcome: RenderOutcome, place: BlobPlace): Op<boolean> {
  const row = yield* waits.get(version_no);
  if (row === null) return false;
  const all = picturesOf(outcome);
  const pictures = (yield* place.allThere(all.map(asFile))) ? all : []; // a sweep took them: it does without
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
   where versions.site_id = ? and version_id in (select value from json_each(?))`,
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
  const rows = yield* some.all(site_id, JSON.stringify(version_ids));
  return new Map(rows.map((row) => [row.version_id, briefOf(row)]));
}

/** The next in turn, those of owners first; null if none waits. Those that are too many are given up. */
const take: Operation<[], RenderTask | null> = {
  kind: "write",
  on({ db }) {
    const turns: Turns = new Set();
    return async () => {
      if ((await db.read(countWaiting())) === 0) return null; // asked every half second: it must cost nothing
      return db.write(() => takeFirst(turns));
    };
  },
};

export const RENDERS = {
  /** For the one process that looks, as `settle`. */
  take,
  /** False if the version is gone, or was asked for again. */
  settle: steps(
    "write",
    async (
      { db, place }: Backend,
      { version_no }: Pick<RenderTask, "version_no">,
      outcome: RenderOutcome,
    ): Promise<boolean> => {
      const pictures = picturesOf(outcome);
      const blobs = new Map(pictures.map(({ sha256, bytes }) => [sha256, bytes]));
      await place.put({ blobs, manifest: pictures.map(asFile) });
      return db.write(() => settle(version_no, outcome, place));
    },
  ),
  waiting: read(() => countWaiting()),
  /** Null if no look was asked for. */
  of: read((_, site_id: string, version_id: string) => renderOf(site_id, version_id)),
  /** By version_id: of a thousand versions the warnings alone have megabytes, so of those that are shown. */
  ofVersions: read((_, site_id: string, version_ids: readonly string[]) => rendersOf(site_id, version_ids)),
  picture: read((_, site_id: string, version_id: string, size: PictureSize) => picture.get(site_id, version_id, size)),
};
export type Renders = Bound<typeof RENDERS>;
