/** A whole service out of one kind of store and into the other: restores into a database server and a bucket, and moves (SCALE 7). Each
 *  begins again after any kill, and ends the same. */
import { existsSync, readFileSync } from "node:fs";
import { readFile, rm, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { randomName } from "../base/random.ts";
import type { Bytes } from "../base/types.ts";
import { contentHash } from "../base/version-id.ts";
import type { BucketAddress } from "../config/setting.ts";
import { every } from "../run/every.ts";
import { checkBucket } from "./backends.ts";
import { type BlobObjects, objectOf, openObjects } from "./bucket/objects.ts";
import { blobFiles, inParallel } from "./disk/blobs.ts";
import { durable } from "./disk/durable.ts";
import { whyNotWhole } from "./postgres/failures.ts";
import { findService, prepareSchema } from "./postgres/schema.ts";
import { type Transfer, transferring } from "./postgres/tables.ts";
import { flushFile, isSingle, putSingles, refuseUnlessEmpty, writeFlushed } from "./sqlite/backup.ts";
import { MOVED, type UpgradeTeller } from "./sqlite/database.ts";
import { lockWhileFilled, MOVING, prepareDataDir, refuseOthers } from "./sqlite/prepare.ts";
import { statsFile } from "./sqlite/stats-file.ts";
import { blobsIn, fillFile, holding, knownTables, type Whole } from "./sqlite/tables.ts";
import type { BlobRow, TakenOut } from "./upkeep.ts";

export interface SharedAddress {
  database_url: string;
  bucket: BucketAddress;
}

/** A move or restore as it went. */
interface Carried {
  /** Blobs that are there now, and their bytes. */
  blobs: number;
  bytes: number;
  /** Hashes of those that were missing or damaged where they came from: sites have gaps in their place. */
  damaged: string[];
}

type Tell = (sentence: string) => void;
type BytesOf = (blob: BlobRow) => Promise<Uint8Array | null>;

const AT_ONCE = 16;
const TELL_MS = 10_000;
const PING_MS = 20_000;

/** Brings over blobs, page by page. `bring` resolves to whether the blob is whole where it shall be. The connection that holds the lock is
 *  asked for something meanwhile: it may not be idle for long, and once it is lost nothing more is brought. */
async function bringAll(
  pages: AsyncIterable<BlobRow[]>,
  bring: (blob: BlobRow) => Promise<boolean>,
  { transfer, tell }: { transfer: Transfer; tell: Tell },
): Promise<Carried & { missing: number[] }> {
  const done = { blobs: 0, bytes: 0, damaged: [] as string[], missing: [] as number[] };
  const telling = every(
    TELL_MS,
    () => tell(`${done.blobs} files, ${done.bytes} bytes, are there`),
    () => {},
  );
  let lost: unknown = null;
  const pinging = every(PING_MS, transfer.ping, (error) => void (lost ??= error));
  try {
    for await (const page of pages) {
      if (lost !== null) throw lost;
      await inParallel(page, AT_ONCE, async (blob) => {
        const { sha256, blob_no, bytes } = blob;
        if (await bring(blob)) {
          done.blobs++;
          done.bytes += bytes;
        } else {
          done.damaged.push(sha256);
          done.missing.push(blob_no);
        }
      });
    }
    if (lost !== null) throw lost;
    return done;
  } finally {
    telling.stop();
    pinging.stop();
  }
}

/** A move leaves nothing behind that its source still has, or could have again: a folder that is not mounted, say. */
function refuseGaps({ damaged }: Carried, with_gaps: boolean): void {
  if (damaged.length === 0 || with_gaps) return;
  const some = damaged.slice(0, 3).join(", ") + (damaged.length > 3 ? ", …" : "");
  throw new Error(
    `Files are missing or damaged where they are (${damaged.length}: ${some}), so nothing is marked as moved: is everything mounted? ` +
      "svc-server verify tells which sites need them. Mend them and run the same again; --with-gaps moves without them.",
  );
}

/** An object has a name only once it is whole, and its content never changes: one that is there is passed over. */
async function toBucket(objects: BlobObjects, bytesOf: BytesOf): Promise<(blob: BlobRow) => Promise<boolean>> {
  const there = new Set<string>();
  for await (const some of objects.all()) for (const { object } of some) there.add(object);
  return async (blob) => {
    if (there.has(objectOf(blob))) return true;
    const bytes = await bytesOf(blob);
    if (bytes === null || contentHash(bytes) !== blob.sha256) return false;
    await objects.put(blob, bytes as Bytes);
    return true;
  };
}

async function toFolder(data_dir: string, objects: BlobObjects, { sha256, ...blob }: BlobRow): Promise<boolean> {
  const path = blobFiles.path(data_dir, sha256);
  if ((await blobFiles.hash(path).catch(() => null)) === sha256) return flushFile(path).then(() => true);
  await rm(path, { force: true });
  const bytes = await objects.get({ sha256, ...blob });
  if (bytes === null || contentHash(bytes) !== sha256) return false;
  await writeFlushed(path, bytes);
  return true;
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function textOf(path: string, bytes: Uint8Array): string {
  try {
    const text = strict.decode(bytes);
    if (!text.includes("\0")) return text;
  } catch {} // said below
  throw new Error(
    `The file ${path} is no text in UTF-8, which all servers could share: mend it, and run the same again.`,
  );
}

/** The files that every box shall have alike. Certificates that an operator put beside them are each box's own. */
function sharedTexts(singles: ReadonlyMap<string, Uint8Array>): Map<string, string> {
  const manual = [...singles.keys()]
    .filter((path) => path.endsWith("/manual"))
    .map((path) => path.slice(0, -"manual".length));
  const shared = [...singles].filter(([path]) => !manual.some((folder) => path.startsWith(folder)));
  return new Map(shared.map(([path, bytes]) => [path, textOf(path, bytes)]));
}

/** Only an empty database and an empty prefix are filled, or those that this began to fill. Returns what marks them. */
async function toFill(transfer: Transfer, address: SharedAddress, filled_by: string): Promise<() => Promise<void>> {
  const { state, ...service } = await transfer.service();
  if (state === "whole" && service.filled_by === filled_by) {
    throw new Error(
      `The database of SVC_DATABASE_URL was filled by ${filled_by}, to its end: svc-server verify checks it.`,
    );
  }
  if (state === "moved" || (state === "whole" && !(await transfer.isUnused(knownTables())))) {
    throw new Error(
      "The database of SVC_DATABASE_URL has a service already: name an empty one, and an empty prefix in SVC_BLOBS. Nothing is written over.",
    );
  }
  if (state === "filling" && service.filled_by !== filled_by) {
    throw new Error(
      `Another call began to fill the database of SVC_DATABASE_URL (${service.filled_by}): run that one again, or name an empty database and an empty prefix.`,
    );
  }
  await checkBucket(address.database_url, address.bucket, true);
  return async () => (state === "whole" ? transfer.setState("filling", filled_by) : undefined);
}

interface Filling {
  transfer: Transfer;
  tell: Tell;
  whole: Whole;
  objects: BlobObjects;
  bytesOf: BytesOf;
  /** Goes on without what is missing or damaged. */
  with_gaps: boolean;
}

async function fillShared(filling: Filling, state: "whole" | "filling"): Promise<Carried> {
  const { transfer, objects, whole, bytesOf, with_gaps, tell } = filling;
  sharedTexts(await whole.singles()); // a file that is no text is told before all else is done
  const [fault] = whole.faults();
  if (fault !== undefined && !with_gaps) {
    throw new Error(`The statistics cannot be moved (${fault}): mend them, or move without them by --with-gaps.`);
  }
  if (fault !== undefined) tell(`the statistics are left out: ${fault}`);
  const { missing, ...carried } = await bringAll(whole.blobs(), await toBucket(objects, bytesOf), filling);
  refuseGaps(carried, with_gaps);
  const [tables, files] = [[...knownTables(), ...statsFile.shared], sharedTexts(await whole.singles())];
  await transfer.fill(whole.rows(), { tables, files, missing, state });
  return carried;
}

/** Fills an empty database and bucket with a backup, which `takeOut` takes into the empty `folder`, for this call alone. Throws a sentence. */
export async function restoreShared(
  { database_url, bucket }: SharedAddress,
  { place, folder, takeOut }: { place: string; folder: string; takeOut: (folder: string) => Promise<TakenOut> },
  tell: UpgradeTeller,
): Promise<TakenOut> {
  await prepareSchema(database_url);
  return transferring(database_url, async (transfer) => {
    await transfer.refuseServed();
    await transfer.lock();
    const mark = await toFill(transfer, { database_url, bucket }, `a restore of ${place}`);
    const taken = await takeOut(folder);
    await mark();
    const filling = { transfer, tell, objects: openObjects(bucket), bytesOf: taken.bytesOf, with_gaps: true };
    await holding(folder, tell, (whole) => fillShared({ ...filling, whole }, "whole"));
    return taken;
  });
}

function textIn(data_dir: string, name: string): string | null {
  try {
    return readFileSync(join(data_dir, name), "utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** A data directory goes on with its own move, under whatever path and on whatever machine. */
const MOVE_ID = "move-id";

function identityOf(data_dir: string): string {
  const known = textIn(data_dir, MOVE_ID);
  const id = known || randomName(12);
  if (!known) durable.putPrivate(data_dir, MOVE_ID, `${id}\n`);
  return `the move of a data directory whose file ${MOVE_ID} says ${id}`;
}

interface Moving {
  data_dir: string;
  tell: Tell;
  now: () => number;
  with_gaps: boolean;
}

const readHere =
  (data_dir: string): BytesOf =>
  async ({ sha256 }) => {
    try {
      return await readFile(blobFiles.path(data_dir, sha256));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
      throw error; // it may be whole all the same
    }
  };

/** Null where an earlier call had come so far that nothing was left but to say so. Throws a sentence. */
export async function moveToShared(address: SharedAddress, moving: Moving): Promise<Carried | null> {
  const { data_dir, tell, with_gaps } = moving;
  if (!existsSync(join(data_dir, "db")))
    throw new Error(`There is no service in ${data_dir}: name its folder with --data-dir.`);
  await prepareSchema(address.database_url);
  return transferring(address.database_url, async (transfer) => {
    await transfer.refuseServed();
    await transfer.lock();
    const moved_to = textIn(data_dir, MOVED);
    if (moved_to !== null) {
      const service = await transfer.service();
      if (moved_to !== service.id || service.state === "moved") {
        throw new Error(
          `The service of ${data_dir} was moved away, and is not in this database: which one was it moved to?`,
        );
      }
      if (service.state === "filling") await transfer.setState("whole");
      return null;
    }
    return holding(data_dir, tell, async (whole) => {
      const mark = await toFill(transfer, address, identityOf(data_dir));
      await mark();
      const filling = { transfer, tell, objects: openObjects(address.bucket), bytesOf: readHere(data_dir), with_gaps };
      const carried = await fillShared({ ...filling, whole }, "filling");
      durable.putPrivate(data_dir, MOVED, `${(await transfer.service()).id}\n`);
      await transfer.setState("whole"); // neither is in use in between: no change is lost
      return carried;
    });
  });
}

const SINGLES = ["db", statsFile.name].flatMap((name) => ["", "-wal", "-shm", "-journal"].map((end) => name + end));

async function fillFolder(transfer: Transfer, bucket: BucketAddress, { data_dir, tell }: Moving): Promise<Carried> {
  const path = join(data_dir, "db");
  for (const name of [...SINGLES, "secrets", "brands.txt", "certs"])
    await rm(join(data_dir, name), { recursive: true, force: true }); // of a call that was cut short
  await fillFile(path, transfer.rows(knownTables()));
  await statsFile.fill(join(data_dir, statsFile.name), transfer.rows(statsFile.shared));
  for (const file of [path, join(data_dir, statsFile.name)]) await flushFile(file);
  const files = await transfer.files();
  await putSingles(new Map([...files].filter(([name]) => isSingle(name))), data_dir);
  const objects = openObjects(bucket);
  const above = [...files.keys()].filter(isSingle).flatMap((name) => [dirname(name), dirname(dirname(name))]);
  const folders = new Set([data_dir, ...["blobs", ...above].map((name) => join(data_dir, name))]);
  const readied = async function* () {
    for await (const page of blobsIn(path)) {
      for (const { sha256 } of page) folders.add(blobFiles.folder(data_dir, sha256));
      folders.forEach(durable.makeFolder);
      yield page;
    }
  };
  folders.forEach(durable.makeFolder);
  const bring = (blob: BlobRow) => toFolder(data_dir, objects, blob);
  const { missing: _, ...carried } = await bringAll(readied(), bring, { transfer, tell });
  for (const folder of folders) await durable.flushFolder(folder);
  return carried;
}

/** Makes the folder, or finds it as a call before this one left it. `marks`: what says so in it, half and whole. */
async function beginFolder(data_dir: string, marks: readonly [string, string]): Promise<void> {
  const begun = textIn(data_dir, MOVING);
  if (begun !== null && begun !== "" && begun !== marks[0] && begun !== marks[1]) {
    throw new Error(`Another service began to move into ${data_dir}: move that one on, or name another --data-dir.`);
  }
  if (begun === null) {
    await refuseUnlessEmpty(data_dir).catch(() => {
      throw new Error(
        `The data directory ${data_dir} is not empty: name a new one with --data-dir. One that was moved away can be moved aside.`,
      );
    });
  }
  durable.makeFolder(data_dir);
  refuseOthers(data_dir);
  if (begun === null) await writeFlushed(join(data_dir, MOVING), Buffer.from(""));
  durable.makeFolder(join(data_dir, "tmp"));
}

/** The other way: into an empty data directory, or one that an earlier call began to fill. */
export async function moveToFolder(address: SharedAddress, moving: Moving): Promise<Carried | null> {
  const { database_url, bucket } = address;
  const { data_dir, tell, now, with_gaps } = moving;
  await findService(database_url, now, true);
  const carried = await transferring(database_url, async (transfer) => {
    await transfer.refuseServed();
    await transfer.lock();
    const { id, state } = await transfer.service();
    const marks = [`filling from ${id}`, `whole, from ${id}`] as const;
    const [half, all] = marks;
    if (state === "moved" && textIn(data_dir, MOVING) === all) return null;
    const why = whyNotWhole(state);
    if (why !== null) throw new Error(why);
    await checkBucket(database_url, bucket, false);
    await beginFolder(data_dir, marks);
    using _lock = lockWhileFilled(data_dir);
    durable.putPrivate(data_dir, MOVING, `${half}\n`);
    const done = await fillFolder(transfer, bucket, moving);
    refuseGaps(done, with_gaps);
    durable.putPrivate(data_dir, MOVING, `${all}\n`);
    await transfer.setState("moved");
    return done;
  });
  await unlink(join(data_dir, MOVING));
  await durable.flushFolder(data_dir);
  prepareDataDir(data_dir, { tell }).close();
  return carried;
}
