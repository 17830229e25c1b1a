/** Stored versions and their manifests: nothing here ever changes once it is written. */
import type { BuiltVersion, ManifestFile, Site, Version } from "../base/types.ts";
import { type Bound, type Op, read, statement } from "./operation.ts";
import { type NamedChanges, receipts, type VersionChanges } from "./receipts.ts";
import { refusals } from "./refusals.ts";
import { siteRows } from "./sites.ts";

/** A file of a stored version. */
export interface StoredFile extends ManifestFile {
  /** The number of its blob's row. */
  blob_no: number;
}

/** Path → file. A Map, never an object: `__proto__` is an honest file name. */
export type StoredManifest = ReadonlyMap<string, StoredFile>;

/** Which page of a list, from 1, and of how many rows. */
export interface AskedPage {
  page: number;
  per_page: number;
}

/** One page of a list. */
export interface ListPage<Row> {
  rows: Row[];
  /** Past the end it is the last page; there is always a first. */
  page: number;
  pages: number;
  /** Rows of all pages. */
  matching: number;
}

/** A file that two versions do not hold alike: its bytes in the one and in the other; null if a version has none. */
export interface ChangedFile {
  path: string;
  before: number | null;
  after: number | null;
}

/** How two versions differ: files as they were uploaded, by path. */
export interface Changes {
  added: ChangedFile[];
  changed: ChangedFile[];
  removed: ChangedFile[];
  unchanged: number;
}

/** Leaves out files that the service made: they follow from the others. */
export function compareUploads(before: Iterable<ManifestFile>, after: Iterable<ManifestFile>): Changes {
  const uploaded = (files: Iterable<ManifestFile>) =>
    new Map([...files].filter(({ made }) => !made).map((file) => [file.path, file]));
  const [old, fresh] = [uploaded(before), uploaded(after)];
  const paths = [...new Set([...old.keys(), ...fresh.keys()])].sort();
  const files = paths.map((path) => ({
    path,
    before: old.get(path)?.bytes ?? null,
    after: fresh.get(path)?.bytes ?? null,
    same: old.get(path)?.sha256 === fresh.get(path)?.sha256,
  }));
  const only = (wanted: (file: (typeof files)[number]) => boolean): ChangedFile[] =>
    files.filter(wanted).map(({ path, before, after }) => ({ path, before, after }));
  return {
    added: only((file) => file.before === null),
    changed: only((file) => file.before !== null && file.after !== null && !file.same),
    removed: only((file) => file.after === null),
    unchanged: only((file) => file.same).length,
  };
}

/** A longer path tells versions apart no better, and a list of them is read as a whole. */
const LONGEST_NAMED = 200;

function namedIn({ added, changed, removed }: Changes): NamedChanges {
  const first = ([file]: readonly ChangedFile[]) => (file && file.path.length <= LONGEST_NAMED ? file.path : null);
  return { added: first(added), changed: first(changed), removed: first(removed) };
}

/** As the receipt keeps them. */
export function countChanges(against: string, changes: Changes): VersionChanges {
  const { added, changed, removed, unchanged } = changes;
  const counts = { added: added.length, changed: changed.length, removed: removed.length, same: unchanged };
  return { against, ...counts, named: namedIn(changes) };
}

/** A version that was live once, and is not now. */
export interface LeftVersion {
  version_no: number;
  version_id: string;
  /** Epoch milliseconds: when it was left, for the last time. */
  live_until: number;
  /** 1: a secret was seen in it, or it has no receipt that says that none was. */
  withhold: 0 | 1;
}

/** Since when the live version is live, and which one was live before it. */
interface VersionStanding {
  /** Epoch milliseconds; null if nobody noted it down. */
  live_since: number | null;
  before: Version | null;
}

/** The members by which a file's bytes are found. */
export type Stored = Pick<StoredFile, "sha256" | "bytes" | "blob_no">;

type PageSpan = Omit<ListPage<never>, "rows"> & { offset: number };

/** The rows of a list that a page shows; past the end those of the last page. */
export function spanOf({ page, per_page }: AskedPage, matching: number): PageSpan {
  const pages = Math.max(1, Math.ceil(matching / per_page));
  const shown = Math.min(Math.max(1, page), pages);
  return { page: shown, pages, matching, offset: (shown - 1) * per_page };
}

/** A version that a deploy made, as far as the store keeps it. */
export type NewVersion = Pick<
  BuiltVersion,
  | "version_id"
  | "digest"
  | "title"
  | "spa"
  | "files"
  | "bytes"
  | "manifest"
  | "blobs"
  | "healed"
  | "warnings"
  | "checked"
  | "renderer"
  | "suspicions"
>;

const VERSION_COLUMNS = "site_id, version_id, digest, title, created_at, files, bytes, spa_enabled, spa_rule, withhold";

/** A condition on a row of `versions`: it is or was live. A version that only a preview shows is in no list. */
export const LISTED = "listed_no is not null";

const STORED = `select ${VERSION_COLUMNS} from versions where site_id = ? and version_id = ?`;
const stored = statement<Version>(STORED);
const byId = statement<Version>(`${STORED} and ${LISTED}`);
const placeOf = statement<{ listed_no: number }>(
  `select listed_no from versions where site_id = ? and version_id = ? and ${LISTED}`,
);
const ofSite = statement<Version>(
  `select ${VERSION_COLUMNS} from versions where site_id = ? and listed_no < ? order by listed_no desc limit ?`,
);
const filesOf = statement<Omit<StoredFile, "made"> & { made: number | boolean }>(
  `select path, sha256, blobs.bytes as bytes, media_type, made, blob_no from versions
   join files using (version_no) join blobs using (blob_no) where site_id = ? and version_id = ?`,
);

const uploadAt = statement<Omit<StoredFile, "made">>(
  `select path, sha256, blobs.bytes as bytes, media_type, blob_no from versions
   join files using (version_no) join blobs using (blob_no) where site_id = ? and version_id = ? and path = ? and made = 0`,
);

function* uploadOf(site_id: string, version_id: string, path: string): Op<StoredFile | null> {
  const row = yield* uploadAt.get(site_id, version_id, path);
  return row && { ...row, made: false };
}

const anyMade = statement(
  `select 1 from versions join files using (version_no) where site_id = ? and version_id = ? and made = 1 limit 1`,
);

function* hasMade(site_id: string, version_id: string): Op<boolean> {
  return (yield* anyMade.get(site_id, version_id)) !== null;
}

/** One string of each, or every row would hold its own. */
const media_types = new Map<string, string>();
function shared(media_type: string): string {
  const known = media_types.get(media_type);
  if (known === undefined) media_types.set(media_type, media_type);
  return known ?? media_type;
}

function* manifestOf(site_id: string, version_id: string): Op<StoredManifest | null> {
  const files = new Map<string, StoredFile>();
  for (const row of yield* filesOf.all(site_id, version_id)) {
    row.made = row.made === 1;
    row.media_type = shared(row.media_type);
    files.set(row.path, row as StoredFile); // not a copy: 200 of them would cost a tenth of the read
  }
  return files.size === 0 ? null : files;
}

function* listOf(site_id: string, limit: number, before: string | null): Op<{ versions: Version[]; more: boolean }> {
  const from = before === null ? null : yield* placeOf.get(site_id, before);
  if (before !== null && from === null) throw refusals.unknownVersion();
  const rows = yield* ofSite.all(site_id, from?.listed_no ?? Number.MAX_SAFE_INTEGER, limit + 1);
  return { versions: rows.slice(0, limit), more: rows.length > limit };
}

const insertVersion = statement<{ version_no: number }>(
  `insert into versions (${VERSION_COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) returning version_no`,
);
const insertBlob = statement("insert into blobs (sha256, bytes) values (?, ?) on conflict (sha256) do nothing");
const insertFile = statement(
  `insert into files (version_no, site_no, path, blob_no, media_type, made)
   values (?, ?, ?, (select blob_no from blobs where sha256 = ?), ?, ?)`,
);

/** For a transaction that ends by making the site name the version. Answers the site's number. */
export function* addVersion(
  { site_id, site_no }: Pick<Site, "site_id" | "site_no">,
  version: NewVersion,
  changes: VersionChanges | null,
  created_at: string,
): Op<number> {
  const { version_id, digest, title, files, bytes, spa, manifest } = version;
  const withhold = version.warnings.some(({ code }) => code === "possible_secret") ? 1 : 0;
  const row = [site_id, version_id, digest, title, created_at, files, bytes, spa.enabled ? 1 : 0, spa.rule, withhold];
  const { version_no } = (yield* insertVersion.get(...row))!;
  const number = site_no || version_no;
  yield* receipts.keep(version_no, { ...version, changes });
  yield* insertBlob.each(
    manifest.map((file) => [file.sha256, file.bytes]),
    "text int8",
  );
  yield* insertFile.each(
    manifest.map(({ path, sha256, media_type, made }) => [version_no, number, path, sha256, media_type, made ? 1 : 0]),
    "int8 int8 text text text int8",
  );
  return number;
}

const countListed = statement<{ n: number }>(`select count(*) as n from versions where site_id = ? and ${LISTED}`);
const liveOf = statement<{ live_version_id: string }>("select live_version_id from sites where site_id = ?");
const numbered = statement<Version>(
  `select ${VERSION_COLUMNS} from versions where version_no in (
     select version_no from versions where site_id = ? and ${LISTED} order by listed_no desc limit ? offset ?)
   order by listed_no desc`,
);

function* pageOf(site_id: string, asked: AskedPage): Op<ListPage<Version & { live: boolean }>> {
  const { offset, ...span } = spanOf(asked, (yield* countListed.get(site_id))!.n);
  const shown = yield* liveOf.get(site_id);
  const versions = yield* numbered.all(site_id, asked.per_page, offset);
  const rows = versions.map((version) => ({ ...version, live: version.version_id === shown?.live_version_id }));
  return { ...span, rows };
}

const earlier = statement<Version>(
  `select ${VERSION_COLUMNS} from versions where site_id = ?1 and listed_no < (
     select listed_no from versions where site_id = ?1 and version_id = ?2)
   order by listed_no desc limit 1`,
);

function* compare(site_id: string, from: string | null, to: string): Op<Changes | null> {
  const [before, after] = [from === null ? null : yield* manifestOf(site_id, from), yield* manifestOf(site_id, to)];
  if (after === null || (from !== null && before === null)) return null;
  return compareUploads(before?.values() ?? [], after.values());
}

function* countBetween(site_id: string, from: string, to: string): Op<VersionChanges | null> {
  const changes = yield* compare(site_id, from, to);
  return changes && countChanges(from, changes);
}

const sinceWhen = statement<{ live_since: number | null }>(
  `select live_since from versions join sites using (site_id)
   where site_id = ? and versions.version_id = sites.live_version_id`,
);
const leftLast = statement<Version>(
  `select ${VERSION_COLUMNS} from versions where site_id = ?1 and ${LISTED} and live_until is not null
     and version_id <> (select live_version_id from sites where sites.site_id = ?1)
   order by live_until desc, version_no desc limit 1`,
);

function* standingOf(site_id: string): Op<VersionStanding> {
  const live_since = (yield* sinceWhen.get(site_id))?.live_since ?? null;
  return { live_since, before: yield* leftLast.get(site_id) };
}

const MOST_WITHHELD = 1000;
const withheld = statement<{ version_id: string }>(
  `select version_id from versions where site_id = ?1 and ${LISTED} and withhold = 1
     and version_id <> (select live_version_id from sites where sites.site_id = ?1)
     and not exists (select 1 from previews where previews.version_no = versions.version_no and expires_at > ?2)
   order by listed_no desc limit ${MOST_WITHHELD}`,
);

function* withheldOf(site_id: string, now: number): Op<string[]> {
  return (yield* withheld.all(site_id, now)).map(({ version_id }) => version_id);
}

const leftOf = statement<LeftVersion>(
  `select version_no, version_id, live_until, withhold = 1 or not exists (
     select 1 from receipts where receipts.version_no = versions.version_no) as withhold from versions
   where site_id = ? and live_until is not null order by live_until desc, version_no desc limit ?`,
);
/** Versions in one statement: one by one they cost six times as much. */
const VERSIONS_AT_ONCE = 10;
const NONE = -1;
const uploads = statement<Omit<StoredFile, "made"> & { version_no: number }>(
  `select version_no, path, sha256, blobs.bytes as bytes, media_type, blob_no from files join blobs using (blob_no)
   where version_no in (${Array(VERSIONS_AT_ONCE).fill("?").join(", ")}) and path = ? and made = 0`,
);

function* firstUpload(
  version_nos: readonly number[],
  path: string,
): Op<{ version_no: number; file: StoredFile } | null> {
  for (let at = 0; at < version_nos.length; at += VERSIONS_AT_ONCE) {
    const some = version_nos.slice(at, at + VERSIONS_AT_ONCE);
    const rows = yield* uploads.all(...some, ...Array<number>(VERSIONS_AT_ONCE - some.length).fill(NONE), path);
    const first = some.find((version_no) => rows.some((row) => row.version_no === version_no));
    if (first === undefined) continue;
    const { version_no, ...file } = rows.find((row) => row.version_no === first)!;
    return { version_no, file: { ...file, made: false } };
  }
  return null;
}

/** Hashes in one statement: one by one they cost five times as much. */
const HASHES_AT_ONCE = 50;

/** A hash that other sites have takes the same two steps as one that is in no site: the time tells nothing. */
const heldBySite = statement<Stored>(
  `with asked (sha256) as (values ${Array(HASHES_AT_ONCE).fill("(?)").join(", ")}),
     known as (select sha256, coalesce((select blob_no from blobs where blobs.sha256 = asked.sha256), 0) as blob_no
       from asked)
   select sha256, blob_no, (select bytes from blobs where blobs.blob_no = known.blob_no) as bytes from known
   where exists (select 1 from files where files.blob_no = known.blob_no and site_no = ? and made = 0)`,
);

function* possessedBy(site_id: string, hashes: readonly string[]): Op<Map<string, Stored>> {
  const found = new Map<string, Stored>();
  const site = yield* siteRows.byId.get(site_id);
  if (site === null) return found;
  for (let at = 0; at < hashes.length; at += HASHES_AT_ONCE) {
    const some = hashes.slice(at, at + HASHES_AT_ONCE);
    const rows = yield* heldBySite.all(...some, ...Array<string>(HASHES_AT_ONCE - some.length).fill(""), site.site_no);
    for (const row of rows) found.set(row.sha256, row);
  }
  return found;
}

/** How an upload differs from a stored version. Null if the site has none of that id. */
export function* compareWith(
  { site_id, version_id }: { site_id: string; version_id: string },
  { manifest }: Pick<BuiltVersion, "manifest">,
): Op<VersionChanges | null> {
  const stored_files = yield* manifestOf(site_id, version_id);
  return stored_files && countChanges(version_id, compareUploads(stored_files.values(), manifest));
}

const until = statement<{ live_until: number | null }>(
  "select live_until from versions where site_id = ? and version_id = ?",
);

function* leftAt(site_id: string, version_id: string): Op<number | null> {
  return (yield* until.get(site_id, version_id))?.live_until ?? null;
}

export const VERSIONS = {
  /** Versions that were left, the one that was left last first; at most `limit`. */
  left: read((_, site_id: string, limit: number) => leftOf.all(site_id, limit)),
  /** The file that was uploaded at exactly that path, in the first of these versions that has one. A manifest of each would
   *  be read for one path. */
  firstUpload: read((_, version_nos: readonly number[], path: string) => firstUpload(version_nos, path)),
  /** It was live last then (epoch milliseconds); null if it is live, never was, or is gone. */
  leftAt: read((_, site_id: string, version_id: string) => leftAt(site_id, version_id)),
  /** A version that is or was live. */
  get: read((_, site_id: string, version_id: string) => byId.get(site_id, version_id)),
  /** The same, also of a version that only a preview shows. */
  stored: read((_, site_id: string, version_id: string) => stored.get(site_id, version_id)),
  /** Newest first, from the newest on or from the one after `before`. Throws `unknown_version` if there is none of that
   *  name. `more`: older ones are left. */
  list: read((_, site_id: string, { limit, before }: { limit: number; before: string | null }) =>
    listOf(site_id, limit, before),
  ),
  manifest: read((_, site_id: string, version_id: string) => manifestOf(site_id, version_id)),
  standing: read((_, site_id: string) => standingOf(site_id)),
  /** By number of page, newest first. */
  page: read((_, site_id: string, asked: AskedPage) => pageOf(site_id, asked)),
  /** The one that was made last before it; null for the first. */
  before: read((_, site_id: string, version_id: string) => earlier.get(site_id, version_id)),
  /** The versions that their own addresses do not show, for a secret was seen in them: newest first, at most 1,000. */
  withheld: read(({ now }, site_id: string) => withheldOf(site_id, now())),
  /** Null if the site has no such version, or if none was kept (it is older than receipts are). */
  receipt: read((_, site_id: string, version_id: string) => receipts.of(site_id, version_id)),
  /** The file that was uploaded at exactly that path; null if there is none. */
  upload: read((_, site_id: string, version_id: string, path: string) => uploadOf(site_id, version_id, path)),
  /** Whether svc made pages of it. */
  hasMade: read((_, site_id: string, version_id: string) => hasMade(site_id, version_id)),
  /** How versions of the site differ from what was live before each, by version_id: only of those that have such figures. */
  changes: read((_, site_id: string, version_ids: readonly string[]) => receipts.changesOf(site_id, version_ids)),
  /** Between two versions; from null everything is added. Null if the site has no such version. */
  compare: read((_, site_id: string, from: string | null, to: string) => compare(site_id, from, to)),
  /** The same as numbers, with a path of each kind. */
  changesBetween: read((_, site_id: string, from: string, to: string) => countBetween(site_id, from, to)),
  /** The contents, by hash, that an uploaded file of one of the site's own versions has, of previews too (BEYOND 6). */
  possessed: read((_, site_id: string, hashes: readonly string[]) => possessedBy(site_id, hashes)),
};
export type Versions = Bound<typeof VERSIONS>;
