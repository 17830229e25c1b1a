/** Stores on a database server: with `SVC_TEST_POSTGRES` (the address of any database of its own PostgreSQL) each server that a
 *  test starts has a database of its own there, and its blobs in its folder; with `SVC_TEST_BUCKET` (JSON: a `BucketAddress`) too its
 *  blobs are below a prefix of their own in that bucket. */
import { SQL } from "bun";
import type { BucketAddress } from "../../src/config/setting.ts";
import { randomName } from "../../src/base/random.ts";
import type { StoreAddress } from "../../src/store/index.ts";

export type Value = string | number | null;

export interface Asked {
  statement: string;
  values: readonly Value[];
}

/** For the thread of runs-statements.ts. Its answer goes into `shared`: whether it is there, its length, JSON. */
export interface Order {
  url: string;
  asked: readonly Asked[];
  shared: SharedArrayBuffer;
}

const MOST_BYTES = 8 << 20;
const LONGEST_MS = 30_000;
let thread: Worker | undefined;

/** Thrown in tests that a store on a database server is not for, so that whoever runs them there tells them from those that fail. */
const ONLY_EMBEDDED = "Only of an embedded store";
export const onlyEmbedded = (why: string): Error => new Error(`${ONLY_EMBEDDED}: ${why}`);

let bucket = JSON.parse(process.env["SVC_TEST_BUCKET"] || "null") as BucketAddress | null;
let admin = process.env["SVC_TEST_POSTGRES"] || undefined;
const urls = new Map<string, string>();

async function asAdmin(url: string, statement: string): Promise<void> {
  const sql = new SQL(url, { max: 1 });
  await sql.unsafe(statement).finally(() => sql.close());
}

const nameIn = (url: string): string => new URL(url).pathname.slice(1);

export const databases = {
  /** As if the variable were this, for servers that are started from here on. */
  serveAt(address: string | undefined, blobs: BucketAddress | null = null): void {
    [admin, bucket] = [address || undefined, blobs];
  },
  /** The part of the bucket that the store in this folder has; undefined where its blobs are files. */
  bucketOf: (data_dir: string): BucketAddress | undefined => {
    const url = urls.get(data_dir);
    return bucket === null || url === undefined ? undefined : { ...bucket, url: `${bucket.url}/${nameIn(url)}` };
  },
  /** The database of the store in this folder; undefined where it is a file. */
  urlOf: (data_dir: string): string | undefined => urls.get(data_dir),
  /** The address of the store in this folder. */
  addressOf: (data_dir: string): StoreAddress => ({
    ...{ data_dir, database_url: urls.get(data_dir), bucket: databases.bucketOf(data_dir) },
  }),
  /** Gives the folder one, if that is asked for. */
  async give(data_dir: string): Promise<string | undefined> {
    if (admin === undefined || urls.has(data_dir)) return urls.get(data_dir);
    const name = `test_${randomName(12)}`;
    await asAdmin(
      admin,
      `create database ${name} template template0 encoding 'UTF8' locale_provider icu icu_locale 'en-US'`,
    );
    const url = new URL(admin);
    url.pathname = `/${name}`;
    urls.set(data_dir, url.href);
    return url.href;
  },
  /** The rows of each statement, in one transaction, waited for as a file's are. */
  runAll: (url: string, asked: readonly Asked[]): unknown[][] => {
    const shared = new SharedArrayBuffer(8 + MOST_BYTES);
    const state = new Int32Array(shared, 0, 2);
    thread ??= new Worker(new URL("./runs-statements.ts", import.meta.url));
    thread.unref();
    thread.postMessage({ url, asked, shared } satisfies Order);
    if (Atomics.wait(state, 0, 0, LONGEST_MS) === "timed-out") throw new Error(`No answer to: ${asked[0]!.statement}`);
    const text = Buffer.from(new Uint8Array(shared, 8, Atomics.load(state, 1))).toString();
    const { rows, failure } = JSON.parse(text) as { rows: unknown[][]; failure?: string };
    if (failure !== undefined) throw new Error(`${asked[0]!.statement}: ${failure}`);
    return rows;
  },
  /** Statements after which a change of the sites of which this holds fails. */
  trigger(data_dir: string, event: "update" | "delete", when: string): string[] {
    if (!urls.has(data_dir)) {
      return [`create trigger broken before ${event} on sites when ${when} begin select raise(abort, 'broken'); end`];
    }
    return [
      "create or replace function fails() returns trigger language plpgsql as $$ begin raise 'broken'; end $$",
      `create trigger broken before ${event} on sites for each row when (${when}) execute function fails()`,
    ];
  },
  async drop(data_dir: string): Promise<void> {
    const url = urls.get(data_dir);
    if (url === undefined) return;
    urls.delete(data_dir);
    await asAdmin(admin!, `drop database if exists ${nameIn(url)} with (force)`);
  },
};

/** An address as the settings that give it. */
export const settingsOf = ({ data_dir, database_url, bucket }: StoreAddress): Record<string, string> => ({
  SVC_DATA_DIR: data_dir,
  SVC_DATABASE_URL: database_url!,
  SVC_BLOBS: bucket!.url,
  SVC_CACHE_BYTES: String(bucket!.cache_bytes),
  SVC_S3_ENDPOINT: bucket!.access.endpoint!,
  AWS_REGION: bucket!.access.region!,
  AWS_ACCESS_KEY_ID: bucket!.access.access_key_id!,
  AWS_SECRET_ACCESS_KEY: bucket!.access.secret_access_key!,
});
