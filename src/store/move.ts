/** A whole service out of one kind of store and into the other: restores into a database server and a bucket, and moves (SCALE 7). Each
 *  begins again after any kill, and ends the same. */
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Bytes } from "../base/types.ts";
import { contentHash } from "../base/version-id.ts";
import type { BucketAddress } from "../config/setting.ts";
import { every } from "../run/every.ts";
import { checkBucket } from "./backends.ts";
import { type BlobObjects, objectOf, openObjects } from "./bucket/objects.ts";
import { blobFiles, inParallel } from "./disk/blobs.ts";
import { durable } from "./disk/durable.ts";
import { findService, NOT_WHOLE, prepareSchema } from "./postgres/schema.ts";
import { type Transfer, transferring } from "./postgres/tables.ts";
import { flushFile, isSingle, putSingles, refuseUnlessEmpty, writeFlushed } from "./sqlite/backup.ts";
import type { UpgradeTeller } from "./sqlite/database.ts";
import { MOVED, MOVING, prepareDataDir } from "./sqlite/prepare.ts";
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

/** Brings over blobs, page by page. `bring` resolves to whether the blob is whole where it shall be. */
async function bringAll(
  pages: AsyncIterable<BlobRow[]>,
  bring: (blob: BlobRow) => Promise<boolean>,
  tell: Tell,
): Promise<Carried & { missing: number[] }> {
  const done = { blobs: 0, bytes: 0, damaged: [] as string[], missing: [] as number[] };
  const telling = every(
    TELL_MS,
    () => tell(`${done.blobs} files, ${done.bytes} bytes, are there`),
    () => {},
  );
  try {
    for await (const page of pages) {
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
    return done;
  } finally {
    telling.stop();
  }
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
  if ((await blobFiles.hash(path).catch(() => null)) === sha256) return true;
  await rm(path, { force: true });
  const bytes = await objects.get({ sha256, ...blob });
  if (bytes === null || contentHash(bytes) !== sha256) return false;
  await writeFlushed(path, bytes);
  return true;
}

/** The files that every box shall have alike. Certificates that an operator put beside them are each box's own. */
function sharedTexts(singles: Whole["singles"]): Map<string, string> {
  const manual = [...singles.keys()]
    .filter((path) => path.endsWith("/manual"))
    .map((path) => path.slice(0, -"manual".length));
  const shared = [...singles].filter(([path]) => !manual.some((folder) => path.startsWith(folder)));
  return new Map(shared.map(([path, bytes]) => [path, Buffer.from(bytes).toString()]));
}

/** Only an empty database and an empty prefix are filled, or those that this began to fill. */
async function beginFilling(transfer: Transfer, { database_url, bucket }: SharedAddress): Promise<void> {
  await transfer.refuseServed();
  await transfer.lock();
  const { state } = await transfer.service();
  if (state === "moved" || (state === "whole" && !(await transfer.isUnused(knownTables())))) {
    throw new Error(
      "The database of SVC_DATABASE_URL has a service already: name an empty one. Nothing is written over, and nothing was changed.",
    );
  }
  await checkBucket(database_url, bucket, true);
  if (state === "whole") await transfer.setState("filling");
}

interface Filling extends SharedAddress {
  transfer: Transfer;
  whole: Whole;
  bytesOf: BytesOf;
  tell: Tell;
}

async function fillShared(
  { transfer, bucket, whole, bytesOf, tell }: Filling,
  state: "whole" | "filling",
): Promise<Carried> {
  const { missing, ...moved } = await bringAll(whole.blobs(), await toBucket(openObjects(bucket), bytesOf), tell);
  const tables = [...knownTables(), ...statsFile.shared];
  await transfer.fill(whole.rows(), { tables, files: sharedTexts(whole.singles), missing, state });
  return moved;
}

/** Fills an empty database and bucket with a backup, which `takeOut` takes into a folder of this call's own. Throws a sentence. */
export async function restoreShared(
  address: SharedAddress,
  takeOut: (folder: string) => Promise<TakenOut>,
  tell: UpgradeTeller,
): Promise<TakenOut> {
  const folder = await mkdtemp(join(tmpdir(), "svc-restore-"));
  try {
    const taken = await takeOut(folder);
    await prepareSchema(address.database_url);
    await transferring(address.database_url, async (transfer) => {
      await beginFilling(transfer, address);
      await holding(folder, tell, (whole) =>
        fillShared({ ...address, transfer, whole, bytesOf: taken.bytesOf, tell }, "whole"),
      );
    });
    return taken;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function textIn(data_dir: string, name: string): string | null {
  try {
    return readFileSync(join(data_dir, name), "utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** Null where an earlier call had come so far that nothing was left but to say so. Throws a sentence. */
export async function moveToShared(address: SharedAddress, data_dir: string, tell: Tell): Promise<Carried | null> {
  await prepareSchema(address.database_url);
  return transferring(address.database_url, async (transfer) => {
    const { id, state } = await transfer.service();
    const moved_to = textIn(data_dir, MOVED);
    if (moved_to !== null) {
      if (moved_to !== id || state === "moved")
        throw new Error(`The service of ${data_dir} was moved to another database.`);
      await transfer.lock();
      await transfer.setState("whole");
      return null;
    }
    if (!existsSync(join(data_dir, "db")))
      throw new Error(`There is no service in ${data_dir}: name its folder with --data-dir.`);
    return holding(data_dir, tell, async (whole) => {
      await beginFilling(transfer, address);
      const bytesOf: BytesOf = ({ sha256 }) => readFile(blobFiles.path(data_dir, sha256)).catch(() => null);
      const moved = await fillShared({ ...address, transfer, whole, bytesOf, tell }, "filling");
      durable.putPrivate(data_dir, MOVED, `${id}\n`);
      await transfer.setState("whole"); // with both left out of use in between, no change is lost
      return moved;
    });
  });
}

const [HALF, ALL] = ["filling", "whole"];
const SINGLES = ["db", statsFile.name].flatMap((name) => ["", "-wal", "-shm", "-journal"].map((end) => name + end));

async function fillFolder(transfer: Transfer, bucket: BucketAddress, data_dir: string, tell: Tell): Promise<Carried> {
  const path = join(data_dir, "db");
  for (const name of [...SINGLES, "secrets", "brands.txt", "certs"])
    await rm(join(data_dir, name), { recursive: true, force: true }); // of a call that was cut short
  await fillFile(path, transfer.rows(knownTables()));
  await statsFile.fill(join(data_dir, statsFile.name), transfer.rows(statsFile.shared));
  for (const file of [path, join(data_dir, statsFile.name)]) await flushFile(file);
  const files = await transfer.files();
  await putSingles(new Map([...files].filter(([name]) => isSingle(name))), data_dir);
  const objects = openObjects(bucket);
  const folders = new Set([data_dir, join(data_dir, "blobs")]);
  const readied = async function* () {
    for await (const page of blobsIn(path)) {
      for (const { sha256 } of page) folders.add(blobFiles.folder(data_dir, sha256));
      folders.forEach(durable.makeFolder);
      yield page;
    }
  };
  folders.forEach(durable.makeFolder);
  const { missing: _, ...moved } = await bringAll(readied(), (blob) => toFolder(data_dir, objects, blob), tell);
  for (const folder of folders) await durable.flushFolder(folder);
  return moved;
}

/** The other way: into an empty data directory, or one that an earlier call began to fill. */
export async function moveToFolder(
  { database_url, bucket }: SharedAddress,
  data_dir: string,
  { tell, now }: { tell: Tell; now: () => number },
): Promise<Carried | null> {
  await findService(database_url, now, true);
  const moved = await transferring(database_url, async (transfer) => {
    const { state } = await transfer.service();
    const begun = textIn(data_dir, MOVING);
    if (state === "moved" && begun === ALL) return null;
    if (state !== "whole") throw new Error(NOT_WHOLE[state]);
    if (begun === null) await refuseUnlessEmpty(data_dir);
    await transfer.refuseServed();
    await checkBucket(database_url, bucket, false);
    await transfer.lock();
    durable.makeFolder(data_dir);
    if (begun === null) await writeFlushed(join(data_dir, MOVING), Buffer.from(`${HALF}\n`));
    durable.makeFolder(join(data_dir, "tmp"));
    durable.putPrivate(data_dir, MOVING, `${HALF}\n`); // one that was cut short may be empty
    const done = await fillFolder(transfer, bucket, data_dir, tell);
    durable.putPrivate(data_dir, MOVING, `${ALL}\n`);
    await transfer.setState("moved");
    return done;
  });
  await unlink(join(data_dir, MOVING));
  await durable.flushFolder(data_dir);
  prepareDataDir(data_dir, { tell }).close();
  return moved;
}
