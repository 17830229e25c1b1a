/** Files that survive a power cut: blobs, secrets, brands, shared pages. Blobs on local disk: `blobs/ab/<sha256>`, once
 *  for all sites. The write protocol is RELIABILITY 2, W3 to W5. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, unlinkSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Bytes } from "../../base/types.ts";
import { createGate } from "../../run/gate.ts";
import { contentHash } from "../../base/version-id.ts";
import { randomName } from "../../base/random.ts";
import { type Begun, durable } from "./durable.ts";
import { DamagedBlob } from "../refusals.ts";
import type { Blobs } from "../serving.ts";
import type { Stored } from "../versions.ts";

/** Flushes at once: one by one 200 of them take up to five times as long. */
const FLUSHED_AT_ONCE = 8;

const blobFolder = (data_dir: string, sha256: string): string => join(data_dir, "blobs", sha256.slice(0, 2));
const blobPath = (data_dir: string, sha256: string): string => join(blobFolder(data_dir, sha256), sha256);

/** Runs `work` over `items`, at most `width` at once; the first failure ends it once those under way have settled. */
export async function inParallel<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < items.length) await work(items[next++]!);
  };
  const lanes = await Promise.allSettled(Array.from({ length: width }, lane));
  const failed = lanes.find((result) => result.status === "rejected");
  if (failed) throw failed.reason;
}

/** Whether the file is there with these very bytes; a damaged file is written anew, which heals it. */
function isWhole(path: string, bytes: Bytes): boolean {
  try {
    return statSync(path).size === bytes.length && Buffer.compare(readFileSync(path), bytes) === 0;
  } catch {
    return false;
  }
}

/** Folders of blobs that survive a power cut as far as this process knows. */
const durable_folders = new Set<string>();

/** Makes the folders of blobs that are not there yet. */
function makeBlobFolders(folders: Iterable<string>): void {
  for (const folder of folders) {
    if (existsSync(folder)) continue;
    durable_folders.delete(folder);
    durable.makeFolder(folder);
  }
}

/** Flushes folders of blobs: when it resolves, the names in them survive a power cut, and so do the folders themselves. A folder
 *  that another process has just made is perhaps not flushed yet. */
async function flushBlobFolders(data_dir: string, folders: readonly string[]): Promise<void> {
  const blobs = join(data_dir, "blobs");
  if (folders.every((folder) => durable_folders.has(folder)))
    return inParallel(folders, FLUSHED_AT_ONCE, durable.flushFolder);
  const found = readdirSync(blobs); // before the flush: a folder that is made during it may be left out
  await inParallel([...folders, blobs], FLUSHED_AT_ONCE, durable.flushFolder);
  for (const name of found) durable_folders.add(join(blobs, name));
}

/** Runs `work`; if somebody removed a folder, it is made again, and `work` runs once more. */
async function withFolders<T>(data_dir: string, sha256: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    for (const folder of [join(data_dir, "tmp"), blobFolder(data_dir, sha256)]) durable.makeFolder(folder);
    await durable.flushFolder(join(data_dir, "blobs"));
    return work();
  }
}

type BlobContent = readonly [sha256: string, bytes: Bytes];

/** Writes a blob under a temporary name. */
const beginBlob = (data_dir: string, [sha256, bytes]: BlobContent): Begun =>
  durable.beginWhole(
    join(data_dir, "tmp", `${sha256.slice(0, 16)}-${randomName(12)}`),
    blobPath(data_dir, sha256),
    bytes,
  );

/** Writes all blobs before it flushes the first: then the kernel flushes them together. */
async function putTogether(data_dir: string, contents: readonly BlobContent[]): Promise<void> {
  const begun = new Map<BlobContent, Begun>();
  try {
    for (const content of contents) {
      const [sha256, bytes] = content;
      if (isWhole(blobPath(data_dir, sha256), bytes)) continue;
      begun.set(content, await withFolders(data_dir, sha256, () => beginBlob(data_dir, content)));
    }
    await inParallel([...begun], FLUSHED_AT_ONCE, async ([content, first]) => {
      begun.delete(content);
      let next: Begun | undefined = first; // a file that was not kept is gone: the second time it is written anew
      await withFolders(data_dir, content[0], async () => {
        const one = next ?? beginBlob(data_dir, content);
        next = undefined;
        await one.keep();
      });
    });
  } finally {
    for (const { drop } of begun.values()) drop();
  }
}

/** Blobs in one go: each holds a descriptor until it is flushed. */
const TOGETHER = 64;

/** W3 to W5: when this resolves, every blob is on disk under its name and survives a power cut. */
export async function putBlobs(data_dir: string, contents: ReadonlyMap<string, Bytes>): Promise<void> {
  const all = [...contents];
  const folders = [...new Set(all.map(([sha256]) => blobFolder(data_dir, sha256)))];
  makeBlobFolders(folders);
  for (let at = 0; at < all.length; at += TOGETHER) await putTogether(data_dir, all.slice(at, at + TOGETHER));
  // Reused blobs too: another deploy may have renamed one and not yet flushed its folder.
  await flushBlobFolders(data_dir, folders);
}

/** Inside the deploy's transaction: false if a sweep took the blob since it was put. 200 of them: 0.35 ms. */
const blobIsThere = (data_dir: string, sha256: string, bytes: number): boolean =>
  statSync(blobPath(data_dir, sha256), { throwIfNoEntry: false })?.size === bytes;

/** Whether a file of this size is there, asked without holding the thread. */
async function blobIsFound(data_dir: string, { sha256, bytes }: { sha256: string; bytes: number }) {
  const found = await stat(blobPath(data_dir, sha256)).catch(() => null);
  return found?.size === bytes;
}

/** Removes a blob's file, inside the sweep's transaction, under the write lock. */
function removeBlob(data_dir: string, sha256: string): void {
  try {
    unlinkSync(blobPath(data_dir, sha256));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

/** Checked large files that a process remembers, 2 MB at most; past that all are checked anew. */
const REMEMBERED = 10_000;

const fingerprint = (found: { size: number; mtimeMs: number; ino: number }): string =>
  `${found.size} ${found.mtimeMs} ${found.ino}`;

/** Hashes without holding the thread: file reads are asynchronous, and a slice of 256 KiB takes a tenth of a millisecond. */
async function hashOfFile(path: string): Promise<string> {
  const whole = createHash("sha256");
  for await (const slice of Bun.file(path).stream()) whole.update(slice);
  return whole.digest("hex");
}

/** Blobs as files of the data directory. */
export const blobFiles = {
  folder: blobFolder,
  path: blobPath,
  isThere: blobIsThere,
  isFound: blobIsFound,
  remove: removeBlob,
  fingerprint,
  hash: hashOfFile,
};

const unreadable =
  (sha256: string) =>
  (error: NodeJS.ErrnoException): never => {
    throw new DamagedBlob(sha256, `cannot be read (${error.code})`);
  };
const changed = (sha256: string): DamagedBlob => new DamagedBlob(sha256, "does not match its hash");

/** Null if the file cannot be looked at. */
function seenAt(path: string): string | null {
  try {
    return fingerprint(statSync(path));
  } catch {
    return null;
  }
}

/** Found by the hash alone. */
interface LocalBlobs {
  read(file: Pick<Stored, "sha256">): ReturnType<Blobs["read"]>;
  open(file: Pick<Stored, "sha256">): ReturnType<Blobs["open"]>;
}

/** Files at once: each holds the thread for a tenth of a millisecond a time, and pages would wait for a hundred of them. */
const HASHED_AT_ONCE = 2;

/** Opens blobs that are files, for reading: without a database. */
export function readBlobs(pathOf: (sha256: string) => string): LocalBlobs {
  const checked = new Map<string, string>(); // sha256 → the file's fingerprint when its hash was right
  const checking = new Map<string, Promise<void>>();
  const hashing = createGate({ width: HASHED_AT_ONCE });

  async function check(sha256: string, path: string): Promise<Bun.BunFile> {
    const hash = async () => {
      const seen = fingerprint(await stat(path).catch(unreadable(sha256)));
      if ((await hashOfFile(path).catch(unreadable(sha256))) !== sha256) throw changed(sha256);
      if (checked.size >= REMEMBERED) checked.clear();
      checked.set(sha256, seen);
    };
    const under_way = checking.get(sha256) ?? hashing.run(hash).finally(() => checking.delete(sha256));
    checking.set(sha256, under_way);
    await under_way;
    return Bun.file(path);
  }

  return {
    async read({ sha256 }) {
      const bytes = await readFile(pathOf(sha256)).catch(unreadable(sha256));
      if (contentHash(bytes) !== sha256) throw changed(sha256);
      return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length) as Bytes;
    },
    open({ sha256 }) {
      const path = pathOf(sha256);
      // Bun opens the file in this thread, too: 2 us; asking another thread takes a quarter of such a request.
      const seen = seenAt(path);
      return seen !== null && checked.get(sha256) === seen ? Bun.file(path) : check(sha256, path);
    },
  };
}
