/** Upkeep: nouns and operations of a running server and its operator, besides pages and deploys. */
import type { BoxFigures } from "./serving.ts";
import type { CountedDay, DaySalt, NameKind } from "../base/statistics.ts";
import { SERVER } from "./notices.ts";
import { type Db, type Op, read, type SqlValue, type Statement, statement, steps } from "./operation.ts";

export interface Swept {
  sites: number;
  blobs: number;
  /** Files that a process left in `tmp` when it died. */
  temporary: number;
}

/** A file of a stored version that cannot be served. */
export interface Loss {
  site_id: string;
  slug: string;
  version_id: string;
  path: string;
  /** Whether visitors see this version now. */
  live: boolean;
}

/** A blob that is not what it was. A damaged one has been set aside, where no request finds it; one that the disk, its
 *  owner or its mode keep from being read is left in its place. */
export interface Damage {
  sha256: string;
  why: "missing" | "damaged" | "unreadable";
  losses: Loss[];
}

/** A blob that is not what it was. `seen` tells a damaged one from what it is replaced by. */
export type BadBlob = { why: "missing" } | { why: "unreadable" } | { why: "damaged"; seen: string };
export type Condition = { why: "whole" } | BadBlob;

/** The upkeep of an opened store's blobs, in a folder or a bucket. */
export interface BlobUpkeep {
  /** Removes blobs that no version has named for an hour; resolves to how many. `force`: even where most are unknown. */
  sweep(now: number, force: boolean): Promise<number>;
  conditionOf(blob: BlobRow): Promise<Condition>;
  /** Inside a transaction: sets aside what is damaged. False if the blob was healed or swept meanwhile. */
  settle(blob: BlobRow, condition: BadBlob): Op<boolean>;
  /** The hashes of those that live versions name and that are not there. */
  missing(): Promise<string[]>;
}

/** A server of a service with several, as `svc-server boxes` lists it. */
export interface BoxRow {
  box: number;
  host: string;
  version: string;
  /** ISO 8601. */
  started_at: string;
  /** Seconds since it was last heard of. */
  beat_s: number;
  /** The number of the last change that it has heard of. */
  seen: number;
  /** The work that it does for all. */
  turns: string[];
  /** The settings that all should have alike, by their variables. */
  settings: Record<string, unknown>;
}

/** A database server as `doctor` looks at it. */
export interface ServerLook {
  version: string;
  fsync: string;
  synchronous_commit: string;
  connections: number;
  max_connections: number;
  /** Milliseconds of one question and its answer. */
  answers_in_ms: number;
}

/** The state of several servers as its operator asks about it. */
export interface SharedState {
  figures(): BoxFigures;
  /** Those that were heard of in the last minute. */
  boxes(): Promise<BoxRow[]>;
  look(): Promise<ServerLook>;
  /** Throws a sentence where the bucket is another service's. */
  refuseForeign(): Promise<void>;
  /** Objects of the bucket over an hour old that no row names; with `removes` they are removed. */
  strays(removes: boolean): Promise<number>;
}

/** The files that all boxes of a service have alike, by their paths below `DATA`. Each call resolves when every box has it. */
export interface SharedFiles {
  /** Changes one by what it is; `change` returns null to leave it. */
  change(name: string, change: (text: string) => string | null): Promise<void>;
  /** Together; null takes one away. */
  put(texts: ReadonlyMap<string, string | null>): Promise<void>;
  /** Null where there is none. */
  text(name: string): Promise<string | null>;
  /** Puts one where there is none; resolves to the one that is there then. */
  first(name: string, text: string): Promise<string>;
}

export interface Checked {
  blobs: number;
  bytes: number;
  damages: Damage[];
  /** Faults that the database itself finds in its files; empty if it is sound. */
  database: string[];
}

export interface BackedUp {
  created_at: string;
  blobs: number;
  bytes: number;
  /** Blobs that could not be copied whole: the backup is complete but for them. */
  damaged: string[];
}

/** A table of the schema that both kinds of database have. */
export interface Table {
  name: string;
  columns: readonly string[];
}

/** Some rows of a table, their values in the order of its columns. */
export interface TableRows {
  table: Table;
  rows: SqlValue[][];
}

/** All that a backup is made of. */
export interface Copies {
  /** Until it is let go, or this process ends, no other backup to a place. Throws a sentence where another has it. */
  alone(): Promise<{ release(): void | Promise<void> }>;
  /** Makes a file of SQLite's of one state of the database. */
  database(path: string): Promise<void>;
  /** The same of the statistics; false if there are none. */
  statistics(path: string): Promise<boolean>;
  /** False if it is missing or not what its name says: such a copy is worth nothing. `links`: a second name will do. */
  blob(blob: BlobRow, path: string, links: boolean): Promise<boolean>;
  /** The files that a server needs besides, by paths below a data directory. */
  singles(): Promise<ReadonlyMap<string, Uint8Array>>;
}

/** A backup whose rows are in a folder of their own, and whose blobs are where it is. */
export interface TakenOut {
  from: string;
  taken_at: string;
  /** The bytes that are there under its name; null if nothing is. */
  bytesOf(blob: BlobRow): Promise<Uint8Array | null>;
}

/** The counts of a site's day as they are stored; `visitors` is a sketch. */
export interface StoredDay {
  day: number;
  views: number;
  bots: number;
  misses: number;
  visitors: Uint8Array;
}

export interface StoredName {
  name: string;
  count: number;
  internal: number;
}

/** The stored counts of visits, of all processes together. */
export interface StatisticsTables {
  /** In one transaction. Counts of a site that is gone, or counts no more, are dropped. */
  add(days: readonly CountedDay[]): Promise<void>;
  /** From one day to another; `named`: the names that were asked for most. */
  read(site_id: string, from: number, to: number): Promise<ReadStatistics>;
  /** Begins a day: its salt, and what has become too old goes. */
  beginDay(day: number): Promise<DaySalt>;
  close(): void;
}

export interface ReadStatistics {
  days: StoredDay[];
  named(kind: NameKind, most: number): Promise<StoredName[]>;
}

/** How many sites are in which state, as site-state.ts decides it, and how many versions there are. */
interface Census {
  live: number;
  frozen: number;
  disabled: number;
  expired: number;
  versions: number;
}

/** Figures that all processes of a server add up. */
export interface Figures {
  add(slot: number, amount: number): void;
  set(slot: number, value: number): void;
  get(slot: number): number;
  /** The figures of this process: at most fifteen whole numbers. */
  putProcess(numbers: readonly number[]): void;
  /** The last figures of each process that is alive. */
  processes(): number[][];
  /** Shows a text to all processes, in the place of the one before. False if it is too long. */
  putText(text: string): boolean;
  /** The texts of all processes since the start, of those that have ended too. */
  texts(): string[];
}

/** The addresses of the server when it last started, for programs that have its data and not its settings. */
export interface ServerAddress {
  base_url: string;
  sites_domain: string;
}

const stored = statement<ServerAddress>("select base_url, sites_domain from address");
const put = statement(
  `insert into address (only_row, base_url, sites_domain) values (1, ?, ?)
   on conflict (only_row) do update set base_url = excluded.base_url, sites_domain = excluded.sites_domain`,
);

const census = statement<Census>(
  `select count(*) filter (where state = 'live') as live, count(*) filter (where state = 'frozen') as frozen,
     count(*) filter (where state = 'disabled') as disabled, count(*) filter (where state = 'expired') as expired,
     coalesce(sum(stored_versions), 0) as versions
   from (select stored_versions, case when owner_account_id is null and expires_at <= ? then 'expired'
     when disabled_reason is not null then 'disabled' when frozen = 1 then 'frozen' else 'live' end as state
     from sites) as states`,
);

/** Work that waits in the database. */
interface StoredQueue {
  waiting: number;
  /** When the first of it came (ISO 8601); null if none waits. */
  since: string | null;
}

const waitingRenders = statement<{ waiting: number; since_ms: number | null }>(
  "select count(*) as waiting, min(asked_at) as since_ms from renders where status = 'pending'",
);
const waitingLetters = statement<StoredQueue>(
  `select count(*) as waiting, min(created_at) as since from webhook_outbox where site_id <> '${SERVER}'`,
);
const toJudge = statement<{ reports: number; quarantined: number }>(
  `select (select count(*) from reports join sites using (site_id) where closed_at is null) as reports,
     (select count(*) from sites where quarantine is not null) as quarantined`,
);

interface Waiting {
  renders: StoredQueue;
  /** Letters of webhooks. */
  webhooks: StoredQueue;
  /** Reports that are open. */
  reports: number;
  /** Sites in quarantine. */
  quarantined: number;
}

function* waiting(): Op<Waiting> {
  const { waiting, since_ms } = (yield* waitingRenders.get())!;
  const renders = { waiting, since: since_ms === null ? null : new Date(since_ms).toISOString() };
  const webhooks = (yield* waitingLetters.get())!;
  return { renders, webhooks, ...(yield* toJudge.get())! };
}

export const UPKEEP = {
  /** Work that waits for the server, and what waits for the operator. */
  waiting: read(() => waiting()),
  census: steps("read", async ({ db }, now: number): Promise<Census> => (await db.read(() => census.get(now)))!),
  /** The address of the server when it last started, for operators' commands, which have the data directory and not the
   *  settings. Writes only what is new: on a full disk a server starts all the same. */
  rememberServerAddress: steps("write", async ({ db }, { base_url, sites_domain }: ServerAddress): Promise<void> => {
    const known = await db.read(() => stored.get());
    if (known?.base_url === base_url && known.sites_domain === sites_domain) return;
    await db.write(() => put.do(base_url, sites_domain));
  }),
  /** Null if no server ever started. */
  serverAddress: read(() => stored.get()),
};

// Blobs that stored versions name, page by page, so that nothing waits long for the database.

const PAGE = 500;

export interface BlobRow {
  blob_no: number;
  sha256: string;
  bytes: number;
}

/** A condition on a row of `blobs`: it is a file of a version, or a picture of one. */
export const NAMED = `(exists (select 1 from files where files.blob_no = blobs.blob_no)
   or exists (select 1 from pictures where pictures.blob_no = blobs.blob_no))`;

const named = statement<BlobRow>(
  `select blob_no, sha256, bytes from blobs where blob_no > ? and ${NAMED} order by blob_no limit ?`,
);
/** The same: it is a file of a version that is live. */
export const NAMED_BY_LIVE = `exists (
  select 1 from files join versions using (version_no)
  join sites on sites.site_id = versions.site_id and live_version_id = version_id
  where files.blob_no = blobs.blob_no)`;
const namedByLive = statement<BlobRow>(
  `select blob_no, sha256, bytes from blobs where blob_no > ? and ${NAMED_BY_LIVE} order by blob_no limit ?`,
);

async function* pages(db: Db, rows: Statement<BlobRow>): AsyncGenerator<BlobRow[]> {
  for (let last = 0; ;) {
    const page = await db.read(() => rows.all(last, PAGE));
    if (page.length === 0) return;
    yield page;
    last = page.at(-1)!.blob_no;
  }
}

/** All blobs that versions name, ascending by `blob_no`. */
const blobPages = (db: Db): AsyncGenerator<BlobRow[]> => pages(db, named);

/** The next `count` of these blobs past `blob_no`. */
const blobsAfter = (db: Db, blob_no: number, count: number): Promise<BlobRow[]> =>
  db.read(() => named.all(blob_no, count));

/** Start-up check S6: blobs that live versions name and that are not there. Serving goes on meanwhile. */
async function missingBlobs(db: Db, isThere: (blob: BlobRow) => Promise<boolean>): Promise<string[]> {
  const missing: string[] = [];
  for await (const page of pages(db, namedByLive)) {
    for (const blob of page) if (!(await isThere(blob))) missing.push(blob.sha256);
  }
  return missing;
}

/** Blobs that stored versions name. */
export const namedBlobs = {
  pages: blobPages,
  after: blobsAfter,
  missing: missingBlobs,
};
