/** Backups off the box, which send only what is new: the blobs that are not there yet, then a snapshot of the database, then the
 *  word which one is the latest. Interrupted at any point, the last good one is whole (RELIABILITY 2, B1 to B4).
 *
 *      blobs/ab/<sha256>                   each file once, whatever number of snapshots name it
 *      snapshots/<time>-<sha256>.db.zst    the database with keys, brands and statistics in it; the hash is that of this file
 *      snapshots/<time>-<sha256>.blobs.zst the hashes of the blobs that it names, 32 bytes each, ascending
 *      latest                              the name of the last snapshot */
import { Database } from "bun:sqlite";
import { createReadStream, createWriteStream } from "node:fs";
import { chmod, open, readdir, rm, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { randomName } from "../../base/random.ts";
import type { Bytes } from "../../base/types.ts";
import { UNIT_MS } from "../../base/units.ts";
import type { BackupPlace } from "../disk/backup-place.ts";
import { blobFiles, inParallel } from "../disk/blobs.ts";
import { durable } from "../disk/durable.ts";
import { type BlobRow, NAMED, type TakenOut } from "../upkeep.ts";
import { BACKUP_COPY, isBackupCopy, takeHold } from "../sweep.ts";
import { beginRestore, type Copied, copyDatabase, endRestore, isSingle, putSingles } from "./backup.ts";
import { databaseFile, type UpgradeTeller } from "./database.ts";
import { statsFile } from "./stats-file.ts";

type PlacedFile = Awaited<ReturnType<BackupPlace["list"]>>[number];

const AT_ONCE = 4;
/** A file that nothing names any more is removed after this time: another backup may be about to name it. */
const GRACE_MS = 3_600_000;
const BLOB_PREFIXES = Array.from({ length: 256 }, (_, n) => n.toString(16).padStart(2, "0"));

interface Snapshot {
  name: string;
  taken_at: string;
  /** The size of the snapshot alone, without its blobs. */
  bytes: number;
}

export interface SnapshotTaken {
  name: string;
  taken_at: string;
  /** All blobs that it names, and those that were sent now. */
  blobs: number;
  sent: number;
  sent_bytes: number;
  /** Blobs that are missing or damaged here: the snapshot names them, and the place does not have them. */
  damaged: string[];
  removed_snapshots: number;
  removed_blobs: number;
  /** Why older ones stay that should have gone: a sentence. The snapshot itself is whole. */
  not_removed: string | null;
}

const NAME = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-[0-9a-f]{64}$/;
const DATABASE_END = ".db.zst";
const keyOf = (name: string, end: ".db.zst" | ".blobs.zst"): string => `snapshots/${name}${end}`;
const blobKey = (sha256: string): string => `blobs/${sha256.slice(0, 2)}/${sha256}`;

const takenAt = (name: string): string => name.replace(NAME, "$1-$2-$3T$4:$5:$6.000Z");

/** The snapshots of a place, oldest first. Each is there whole, for its database is written last. */
async function listSnapshots(place: BackupPlace): Promise<Snapshot[]> {
  const found = (await place.list("snapshots/")).map(({ key, bytes }) => ({ file: basename(key), bytes }));
  return found
    .filter(({ file }) => file.endsWith(DATABASE_END) && NAME.test(file.slice(0, -DATABASE_END.length)))
    .map(({ file, bytes }) => ({ name: file.slice(0, -DATABASE_END.length), bytes }))
    .map(({ name, bytes }) => ({ name, taken_at: takenAt(name), bytes }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** The name of the latest snapshot; null without one. */
async function latestOf(place: BackupPlace): Promise<string | null> {
  const name = Buffer.from((await place.getBytes("latest")) ?? "")
    .toString()
    .trim();
  return NAME.test(name) ? name : ((await listSnapshots(place)).at(-1)?.name ?? null);
}

/** When the latest snapshot was taken, in epoch milliseconds; null without one. */
async function latestSnapshotAt(place: BackupPlace): Promise<number | null> {
  const name = await latestOf(place);
  return name === null ? null : Date.parse(takenAt(name));
}

/** The copy of the database has the files in it that a server needs besides, so that a snapshot is one file. */
async function addSingles(copy: Database, { copies }: Copied): Promise<void> {
  copy.run("create table backup_files (name text primary key, bytes blob not null) strict");
  const insert = copy.query("insert into backup_files values (?, ?)");
  for (const [name, bytes] of await copies.singles()) insert.run(name, bytes);
}

interface Outgoing {
  copied: Copied;
  place: BackupPlace;
  /** The beginning of the names of temporary files. */
  base: string;
}

/** Sends one blob; false if it is missing here, or not what its name says. */
async function sendBlob({ copied, place, base }: Outgoing, blob: BlobRow): Promise<boolean> {
  const path = `${base}-${blob.sha256}`;
  try {
    if (!(await copied.copies.blob(blob, path, true))) return false;
    await place.put(blobKey(blob.sha256), path);
    return true;
  } finally {
    await rm(path, { force: true });
  }
}

/** Others may have files below the same prefix: those are neither sent, counted nor removed. */
const placedBlobs = async (place: BackupPlace, prefix: string): Promise<PlacedFile[]> =>
  (await place.list(`blobs/${prefix}/`)).filter(
    ({ key }) => /^[0-9a-f]{64}$/.test(basename(key)) && key === blobKey(basename(key)),
  );

/** B1: sends the blobs that are not there yet. Gives the files of the place that this snapshot does not name. */
async function sendBlobs(copy: Database, sending: Outgoing, done: SnapshotTaken, list: Bytes[]) {
  const { place } = sending;
  const rows = copy.query<BlobRow, [string, string]>(
    `select blob_no, sha256, bytes from blobs where sha256 >= ? and sha256 < ? and ${NAMED} order by sha256`,
  );
  const unnamed: PlacedFile[] = [];
  for (const prefix of BLOB_PREFIXES) {
    const there = new Map((await placedBlobs(place, prefix)).map((file) => [basename(file.key), file]));
    const named = rows.all(prefix, `${prefix}g`);
    const missing = named.filter(({ sha256, bytes }) => there.get(sha256)?.bytes !== bytes);
    for (const { sha256 } of named) there.delete(sha256);
    unnamed.push(...there.values());
    await inParallel(missing, AT_ONCE, async (blob) => {
      if (!(await sendBlob(sending, blob))) return void done.damaged.push(blob.sha256);
      done.sent++;
      done.sent_bytes += blob.bytes;
    });
    done.blobs += named.length;
    list.push(Buffer.from(named.map(({ sha256 }) => sha256).join(""), "hex"));
  }
  return unnamed;
}

async function compressFile(from: string, to: string): Promise<void> {
  const coded = Readable.toWeb(createReadStream(from)).pipeThrough(new CompressionStream("zstd" as "gzip"));
  await pipeline(Readable.fromWeb(coded as never), createWriteStream(to, { mode: 0o600 }));
}

const compactTime = (now: number): string => `${new Date(now).toISOString().slice(0, 19).replace(/[-:]/g, "")}Z`;

/** The snapshots that stay, and the others. The one that was just taken stays; one that is later was taken by a clock that was
 *  wrong, and counts as the oldest. Null if the list does not have the one just taken: then nothing in it is to be trusted. */
async function parted(place: BackupPlace, keep: number, own: string) {
  const all = (await listSnapshots(place)).map(({ name }) => name);
  if (!all.includes(own)) return null;
  const ranked = [...all.filter((name) => name > own), ...all.filter((name) => name < own), own];
  return { stay: ranked.slice(-keep), go: ranked.slice(0, -keep) };
}

/** B4: the oldest snapshots beyond `keep` go, and then what only they named. A list that cannot be read keeps everything. */
async function forgetOlder(place: BackupPlace, keep: number, unnamed: readonly PlacedFile[], done: SnapshotTaken) {
  const snapshots = await parted(place, keep, done.name);
  if (snapshots === null) throw new Error(`The list of snapshots in ${place.name} lacks it, so nothing was removed.`);
  for (const name of snapshots.go) {
    await place.remove(keyOf(name, ".db.zst"));
    await place.remove(keyOf(name, ".blobs.zst"));
    done.removed_snapshots++;
  }
  const before = Date.parse(done.taken_at) - GRACE_MS;
  const stale = new Set(unnamed.filter(({ at }) => at < before).map(({ key }) => basename(key)));
  for (const name of snapshots.stay) {
    if (name === done.name || stale.size === 0) continue;
    for (const sha256 of await hashesOf(place, name)) stale.delete(sha256);
  }
  await inParallel([...stale], AT_ONCE, async (sha256) => {
    await place.remove(blobKey(sha256));
    done.removed_blobs++;
  });
}

/** The blobs that a snapshot names. Throws if that cannot be told. */
async function hashesOf(place: BackupPlace, name: string): Promise<string[]> {
  const list = await place.getBytes(keyOf(name, ".blobs.zst"));
  try {
    const hashes = Buffer.from(Bun.zstdDecompressSync(list!));
    if (hashes.length % 32 !== 0) throw new Error("cut off");
    return Array.from({ length: hashes.length / 32 }, (_, n) => hashes.toString("hex", n * 32, n * 32 + 32));
  } catch {
    const key = keyOf(name, ".blobs.zst");
    throw new Error(`${key} in ${place.name} is missing or damaged, so no file was removed.`);
  }
}

/** Removes the copies that killed backups have left: this one holds the lock, so no other is under way. */
async function removeLeftCopies(data_dir: string): Promise<void> {
  const tmp = join(data_dir, "tmp");
  const names = await readdir(tmp).catch(() => []);
  for (const name of names) if (isBackupCopy(name)) await rm(join(tmp, name), { force: true });
}

/** Takes a snapshot. `keep` is how many the place keeps with it; null keeps all. Throws a sentence. */
async function takeSnapshot(copied: Copied, place: BackupPlace, keep: number | null): Promise<SnapshotTaken> {
  const { data_dir } = copied;
  await place.refuseFor(data_dir);
  durable.makeFolder(join(data_dir, "tmp")); // a database server's service may be copied from a machine without one
  const lock = await copied.copies.alone();
  try {
    return await takeAlone(copied, place, keep);
  } finally {
    await lock.release();
  }
}

async function takeAlone(copied: Copied, place: BackupPlace, keep: number | null): Promise<SnapshotTaken> {
  const { data_dir } = copied;
  await removeLeftCopies(data_dir);
  await place.removeHalves(copied.now() - UNIT_MS.d);
  const hold = await takeHold(copied);
  const base = join(data_dir, "tmp", BACKUP_COPY + randomName(12));
  const [database, coded, names] = [`${base}.db`, `${base}.zst`, `${base}.names`];
  const now = copied.now();
  const done: SnapshotTaken = {
    ...{ name: "", taken_at: new Date(now).toISOString(), blobs: 0, sent: 0, sent_bytes: 0 },
    ...{ damaged: [], removed_snapshots: 0, removed_blobs: 0, not_removed: null },
  };
  try {
    await copyDatabase(copied, database);
    using copy = new Database(database, { strict: true, readwrite: true });
    await addSingles(copy, copied);
    if (await copied.copies.statistics(`${base}.stats`)) statsFile.addTo(copy, `${base}.stats`);
    const list: Bytes[] = [];
    const unnamed = await sendBlobs(copy, { copied, place, base }, done, list);
    copy.close();
    await compressFile(database, coded);
    done.name = `${compactTime(now)}-${await blobFiles.hash(coded)}`;
    await Bun.write(names, Bun.zstdCompressSync(Buffer.concat(list)));
    await place.put(keyOf(done.name, ".blobs.zst"), names);
    await place.put(keyOf(done.name, ".db.zst"), coded);
    await place.putText("latest", `${done.name}\n`);
    if (keep !== null) {
      await forgetOlder(place, keep, unnamed, done).catch((error: Error) => void (done.not_removed = error.message));
    }
    return done;
  } finally {
    for (const path of [database, coded, names, `${base}.stats`]) await rm(path, { force: true });
    await hold.release();
  }
}

async function nameToRestore(place: BackupPlace, asked: string | null): Promise<string> {
  const all = await listSnapshots(place);
  if (all.length === 0) throw new Error(`There is no snapshot in ${place.name}.`);
  if (asked === null) {
    const latest = await latestOf(place);
    return all.find(({ name }) => name === latest)?.name ?? all.at(-1)!.name;
  }
  const fits = all.filter(({ name }) => name.startsWith(asked));
  if (fits.length === 1) return fits[0]!.name;
  const why = fits.length === 0 ? "There is no snapshot" : "There are several snapshots";
  throw new Error(`${why} ${asked} in ${place.name}: svc-server backup --list ${place.name} shows them.`);
}

/** The database of a snapshot, checked by the hash in its name. */
async function fetchDatabase(place: BackupPlace, name: string, data_dir: string): Promise<void> {
  const [coded, path] = [join(data_dir, "snapshot.zst"), join(data_dir, "db")];
  if (!(await place.get(keyOf(name, ".db.zst"), coded)))
    throw new Error(`The snapshot ${name} is gone from ${place.name}.`);
  if ((await blobFiles.hash(coded)) !== name.slice(-64)) {
    throw new Error(`The snapshot ${name} in ${place.name} is damaged: it does not match its name. Restore another.`);
  }
  const plain = Readable.toWeb(createReadStream(coded)).pipeThrough(new DecompressionStream("zstd" as "gzip"));
  await pipeline(Readable.fromWeb(plain as never), createWriteStream(path, { mode: 0o600 }));
  await unlink(coded);
}

async function takeSinglesOut(copy: Database, data_dir: string): Promise<void> {
  const files = copy.query<{ name: string; bytes: Uint8Array }, []>("select name, bytes from backup_files").all();
  await putSingles(
    new Map(files.filter(({ name }) => isSingle(name)).map(({ name, bytes }) => [name, bytes])),
    data_dir,
  );
  copy.run("PRAGMA secure_delete = ON"); // there are keys in it
  copy.run("drop table backup_files");
}

/** Fetches the blobs that the database names. Those that the place does not have are told by the check that follows. */
async function fetchBlobs(copy: Database, place: BackupPlace, data_dir: string): Promise<void> {
  const rows = copy.query<{ sha256: string }, []>(`select sha256 from blobs where ${NAMED} order by sha256`);
  const all = rows.all();
  const folders = new Set(all.map(({ sha256 }) => blobFiles.folder(data_dir, sha256)));
  durable.makeFolder(join(data_dir, "blobs"));
  folders.forEach(durable.makeFolder);
  await inParallel(all, AT_ONCE, async ({ sha256 }) => {
    const path = blobFiles.path(data_dir, sha256);
    if (!(await place.get(blobKey(sha256), path))) return;
    if ((await blobFiles.hash(path)) !== sha256) return unlink(path);
    await chmod(path, 0o600);
    const file = await open(path, "r+");
    await file.sync().finally(() => file.close());
  });
  for (const folder of [...folders, join(data_dir, "blobs")]) await durable.flushFolder(folder);
}

/** Its database and single files. */
async function takeFilesOut(place: BackupPlace, name: string, data_dir: string): Promise<void> {
  await fetchDatabase(place, name, data_dir);
  using copy = new Database(join(data_dir, "db"), { strict: true, readwrite: true });
  databaseFile.refuseNewer(databaseFile.schemaOf(copy));
  await takeSinglesOut(copy, data_dir);
  statsFile.takeOf(copy, data_dir);
}

/** Makes an empty data directory of a snapshot; `asked` is the beginning of its name, null for the latest. */
async function restoreSnapshot(place: BackupPlace, asked: string | null, data_dir: string, tell?: UpgradeTeller) {
  const name = await nameToRestore(place, asked);
  await beginRestore(data_dir);
  await takeFilesOut(place, name, data_dir);
  {
    using copy = new Database(join(data_dir, "db"), { strict: true, readwrite: true });
    await fetchBlobs(copy, place, data_dir);
  }
  await endRestore(data_dir, tell);
  return { name, taken_at: takenAt(name) };
}

/** The same into an empty folder of the caller's own, without the blobs. */
async function takeSnapshotOut(place: BackupPlace, asked: string | null, data_dir: string): Promise<TakenOut> {
  const name = await nameToRestore(place, asked);
  await takeFilesOut(place, name, data_dir);
  const bytesOf = ({ sha256 }: BlobRow) => place.getBytes(blobKey(sha256));
  return { from: `${place.name}@${name}`, taken_at: takenAt(name), bytesOf };
}

export const snapshots = {
  list: listSnapshots,
  latestAt: latestSnapshotAt,
  take: takeSnapshot,
  restore: restoreSnapshot,
  takeOut: takeSnapshotOut,
};
