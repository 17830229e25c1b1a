/** The kinds of backend, by the address of the store: a folder with a database of its own; or a database server, beside a folder or a
 *  bucket for the blobs. */
import { UNIT_MS } from "../base/units.ts";
import { contentHash } from "../base/version-id.ts";
import { lettersAtStart } from "./notes/outbox.ts";
import { openDataDir, type Opened, type Opening } from "./sqlite/data-dir.ts";
import { folderBlobs, folderReads } from "./sqlite/folder.ts";
import { openCache } from "./bucket/cache.ts";
import type { BucketAddress } from "../config/setting.ts";
import { openObjects } from "./bucket/objects.ts";
import { BucketTrouble } from "./disk/bucket.ts";
import { bucketPlace } from "./bucket/place.ts";
import { bucketReads } from "./bucket/reads.ts";
import { bucketUpkeep, refuseForeign, strayObjects } from "./bucket/upkeep.ts";
import type { Db } from "./operation.ts";
import type { Blobs } from "./serving.ts";
import { folderBlob, isSingle, writeFlushed } from "./sqlite/backup.ts";
import { statsFile } from "./sqlite/stats-file.ts";
import { fillFile, knownTables } from "./sqlite/tables.ts";
import { aloneAtBackup, transferring } from "./postgres/tables.ts";
import type { Copies } from "./upkeep.ts";
import { prepareDataDir, prepareFolder, type Preparing, readyAlike } from "./sqlite/prepare.ts";
import { alikeFiles } from "./disk/alike.ts";
import { makeAlike, sharedFiles, sharedTexts } from "./postgres/files.ts";
import { type BoxFacts, boxRows, type BoxSurroundings, isDone, NO_BOX, othersHave, startBox } from "./postgres/box.ts";
import { type BoxPage, openBoxPage, prepareBoxPage } from "./postgres/box-page.ts";
import { lookAtServer, openPool, type Pool } from "./postgres/connection.ts";
import { databaseRefusal } from "./postgres/failures.ts";
import { postgresDb, withoutPage } from "./postgres/driver.ts";
import { databaseRates } from "./postgres/rates.ts";
import { databaseStats } from "./postgres/stats.ts";
import { findService, patiently, prepareDatabase } from "./postgres/schema.ts";

export { findService };

/** A service keeps its state at such an address. It goes to threads and deploy processes with their orders. */
export interface StoreAddress {
  data_dir: string;
  /** The PostgreSQL database in place of `data_dir/db`, with its password: never in a log, an argument or an answer. */
  database_url?: string | undefined;
  /** The bucket of the blobs in place of `data_dir/blobs`, beside such a database. */
  bucket?: BucketAddress | undefined;
  /** Milliseconds for which pages are shown while such a database cannot be asked. */
  stale_ms?: number | undefined;
}

export const addressOf = ({ data_dir, database_url, bucket, stale_ms }: StoreAddress): StoreAddress => ({
  data_dir,
  database_url,
  bucket,
  stale_ms,
});

const STALE_MS = UNIT_MS.d;

function bucketBlobs(data_dir: string, db: Db, bucket: BucketAddress, { noteBucket, noteCache: note }: BoxPage) {
  const [objects, cache] = [openObjects(bucket, noteBucket), openCache(data_dir, bucket.cache_bytes, { note })];
  const place = bucketPlace(db, objects, cache);
  const refuse = () => refuseForeign({ db }, objects, { url: bucket.url, takes: false });
  const strays = (now: number, removes: boolean) => strayObjects({ db }, objects, now, removes);
  const copy: Copies["blob"] = async (blob, path) => {
    const bytes = await objects.get(blob);
    if (bytes === null || contentHash(bytes) !== blob.sha256) return false;
    await writeFlushed(path, bytes);
    return true;
  };
  return {
    refuse,
    place,
    blobs: bucketReads(objects, cache),
    upkeep: bucketUpkeep({ db, place }, objects),
    strays,
    copy,
  };
}

/** Opens the stored blobs alone, for reading: without a database. */
export const openBlobs = ({ data_dir, bucket }: StoreAddress): Blobs =>
  bucket === undefined
    ? folderReads(data_dir)
    : bucketReads(openObjects(bucket), openCache(data_dir, bucket.cache_bytes));

/** Tries the bucket alone, without a database. */
export const probeBucket = (bucket: BucketAddress) => openObjects(bucket).probe();

/** Connections that one opening holds at most, unless it says another number. */
const CONNECTIONS = 3;

/** A database server looks after its own files. */
const SERVERS_OWN: Opened["engine"] = { faults: () => [], emptyLog: async () => {} };

const refused = (error: unknown): never => {
  throw databaseRefusal(error);
};

function openOnServer(
  { data_dir, bucket, stale_ms = STALE_MS }: StoreAddress,
  database_url: string,
  now: () => number,
  { watch = false, connections = CONNECTIONS }: Opening,
): Opened {
  const pool = openPool(database_url, connections);
  const generation = openBoxPage(data_dir, now, stale_ms, watch);
  const same_now = () => now() + generation.aheadMs(); // one time for all boxes
  const db = postgresDb(pool, generation);
  const statistics = databaseStats(pool, generation.isAway);
  const { strays, refuse, copy, ...blobs } =
    bucket === undefined
      ? { ...folderBlobs(data_dir, db), strays: async () => 0, refuse: async () => {}, copy: folderBlob(data_dir) }
      : bucketBlobs(data_dir, db, bucket, generation);
  return {
    data_dir,
    now: same_now,
    generation,
    db,
    ...blobs,
    engine: SERVERS_OWN,
    statistics,
    forgetUncounted: statistics.forgetUncounted,
    rates: (secret) => databaseRates(pool, secret, same_now, generation.isAway),
    shared_files: sharedFiles(pool),
    copies: {
      alone: () => aloneAtBackup(database_url),
      database: (path) => transferring(database_url, (transfer) => fillFile(path, transfer.rows(knownTables()))),
      async statistics(path) {
        await transferring(database_url, (transfer) => statsFile.fill(path, transfer.rows(statsFile.shared)));
        return true;
      },
      blob: copy,
      async singles() {
        const files = await transferring(database_url, (transfer) => transfer.files());
        return new Map([...files].filter(([name]) => isSingle(name))); // a newer program may have others
      },
    },
    shared: {
      figures: generation.figures,
      boxes: () => boxRows(pool).catch(refused),
      look: () => lookAtServer(pool).catch(refused),
      refuseForeign: refuse,
      strays: (removes) => strays(same_now(), removes),
    },
    async close() {
      generation.close();
      await pool.close();
    },
  };
}

/** The turns of this box at work that one box does for all. */
export const openTurns = ({ data_dir, database_url }: StoreAddress, now: () => number): Pick<BoxPage, "has"> =>
  database_url === undefined ? { has: () => true } : openBoxPage(data_dir, now, 0, false);

/** Opens what `prepareStore` has readied. */
export function openBackend(address: StoreAddress, now: () => number, opening: Opening = {}): Opened {
  const { data_dir, database_url } = address;
  return database_url === undefined
    ? openDataDir(data_dir, now, opening)
    : openOnServer(address, database_url, now, opening);
}

/** A server's place among the boxes of its service, where that has several. */
export type Joining = BoxFacts & BoxSurroundings;

/** Locks and readies the data directory, and the database where it is another's; there it joins the boxes of the service. Close what is
 *  returned when the server ends. */
export async function prepareStore(
  { data_dir, database_url, bucket, stale_ms = STALE_MS }: StoreAddress,
  joining: Joining,
  preparing: Preparing = {},
): Promise<{ close(): void | Promise<void> }> {
  if (database_url === undefined) return prepareDataDir(data_dir, preparing);
  await prepareDatabase(database_url);
  const pool = openPool(database_url, 2);
  let folder: { close(): void } | undefined;
  try {
    if (bucket !== undefined) await takeBucket(pool, bucket);
    folder = prepareFolder(data_dir, preparing);
    const n = await makeAlike(pool, data_dir, () => readyAlike(data_dir, preparing));
    if (n !== null) await othersHave(pool, n, NO_BOX);
    await beginLetters(pool, preparing);
    return await joinBoxes({ data_dir, database_url, bucket }, { ...joining, stale_ms }, folder);
  } catch (error) {
    folder?.close();
    throw error;
  } finally {
    await pool.close();
  }
}

/** Throws a sentence where the bucket is not this database's. `takes`: it becomes so where it is nobody's. */
export async function checkBucket(database_url: string, bucket: BucketAddress, takes: boolean): Promise<void> {
  const pool = openPool(database_url, 1);
  await takeBucket(pool, bucket, takes).finally(() => pool.close());
}

/** A bucket that does not answer yet is asked for a while. */
async function takeBucket(pool: Pool, bucket: BucketAddress, takes = true): Promise<void> {
  const [db, objects] = [postgresDb(pool, withoutPage()), openObjects(bucket)];
  await patiently(() => refuseForeign({ db }, objects, { url: bucket.url, takes }), isBucketTrouble).catch(
    (error: Error) => {
      const trouble = troubleOf(error);
      throw trouble === null ? error : new Error(`The bucket of SVC_BLOBS cannot be used: ${trouble.message}`);
    },
  );
}

/** As it came from the bucket, or in a refusal's words for whoever asked. */
const troubleOf = (error: unknown): BucketTrouble | null =>
  [error, (error as Error | null)?.cause].find((one) => one instanceof BucketTrouble) ?? null;
const isBucketTrouble = (error: unknown): boolean => troubleOf(error) !== null;

/** A server that sends no letters forgets those that wait, but not what another box is about to send. */
async function beginLetters(pool: Pool, { drops_deliveries, notices }: Preparing): Promise<void> {
  const keeps = await isDone(pool, "webhooks");
  const letters = keeps ? { notices: notices || undefined } : { drops_deliveries, notices };
  await postgresDb(pool, withoutPage()).write(() => lettersAtStart(letters));
}

async function joinBoxes(
  { data_dir, database_url, bucket }: StoreAddress & { database_url: string },
  { stale_ms, ...joining }: Joining & { stale_ms: number },
  folder: { close(): void },
): Promise<{ close(): Promise<void> }> {
  const removePage = prepareBoxPage(data_dir);
  try {
    const page = openBoxPage(data_dir, joining.now, stale_ms, false);
    const copyFiles = async (pool: Pool) => alikeFiles.putAll(data_dir, await sharedTexts(pool));
    const box = await startBox(database_url, joining, page, { ...joining, copyFiles });
    if (bucket !== undefined) {
      const cache = openCache(data_dir, bucket.cache_bytes, { note: page.noteCache });
      void cache.look().catch(() => {}); // the next copy has it counted
    }
    return {
      async close() {
        await box.close();
        removePage();
        folder.close();
      },
    };
  } catch (error) {
    removePage();
    throw error;
  }
}
