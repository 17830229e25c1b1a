/** The places that keep backups off the box: a bucket, or a folder of the same layout. A file has a key such as `blobs/ab/<sha256>`;
 *  it appears whole or not at all. */
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { chmod, copyFile, open, readdir, readFile, realpath, rename, rm, stat, unlink } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Bytes } from "../../base/types.ts";
import { randomName } from "../../base/random.ts";
import { isInside, namesBucket, type S3Access } from "../../config/setting.ts";
import { type BucketCalls, openBucket } from "./bucket.ts";
import { durable } from "./durable.ts";

interface PlacedFile {
  key: string;
  bytes: number;
  /** When it was written: epoch milliseconds. */
  at: number;
}

/** Every call throws a sentence that names the place and no credential. */
export interface BackupPlace {
  /** For sentences and the audit. */
  name: string;
  /** Removes what backups that were cut short left before this moment (epoch milliseconds). */
  removeHalves(before: number): Promise<void>;
  /** Throws a sentence if a backup of this data directory would harm what the place has. */
  refuseFor(data_dir: string): Promise<void>;
  /** The files whose keys begin with `prefix`, which ends with a slash. */
  list(prefix: string): Promise<PlacedFile[]>;
  put(key: string, path: string): Promise<void>;
  putText(key: string, text: string): Promise<void>;
  /** False if there is no such file. */
  get(key: string, path: string): Promise<boolean>;
  /** Null if there is no such file. */
  getBytes(key: string): Promise<Bytes | null>;
  remove(key: string): Promise<void>;
}

/** Throws a sentence for a bucket that cannot be asked. */
const openPlace = (text: string, access: S3Access): BackupPlace =>
  namesBucket(text) ? bucketPlace(openBucket(text, access, PATIENCE)) : folderPlace(resolve(text));

// A folder: a file is copied beside its name and renamed, so that a half file never has a name.

const TEMPORARY = /^\.new-/;

const ifThere = <T>(found: Promise<T>): Promise<T | null> =>
  found.catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
    throw error;
  });

async function flushed(path: string): Promise<void> {
  const file = await open(path, "r+");
  await file.sync().finally(() => file.close());
}

/** The names of which a data directory or a whole copy has one at least. */
const OTHERS = ["db", "SHA256SUMS", "SHA256SUMS.unfinished"];

/** The path without links, of what is not there yet too. */
async function realPath(path: string): Promise<string> {
  const found = await ifThere(realpath(path));
  return found ?? (dirname(path) === path ? path : join(await realPath(dirname(path)), relative(dirname(path), path)));
}

/** Whether the path leads into the folder, by links too. */
const liesIn = async (folder: string, path: string): Promise<boolean> =>
  isInside(await realPath(folder), await realPath(path));

/** A place loses the files that no snapshot names: of a data directory those would be sites'. */
async function refuseOtherFolder(root: string, data_dir: string): Promise<void> {
  if (await liesIn(data_dir, root)) {
    throw new Error(`${root} lies in the data directory, which is lost with its disk: name another folder.`);
  }
  const other = OTHERS.find((name) => existsSync(join(root, name)));
  if (other !== undefined) {
    throw new Error(`${root} is a data directory or a whole copy (${other} is in it): name another folder.`);
  }
}

async function removeHalves(root: string, before: number): Promise<void> {
  const blobs = (await ifThere(readdir(join(root, "blobs")))) ?? [];
  for (const folder of [root, join(root, "snapshots"), ...blobs.map((name) => join(root, "blobs", name))]) {
    const halves = ((await ifThere(readdir(folder))) ?? []).filter((name) => TEMPORARY.test(name));
    for (const path of halves.map((name) => join(folder, name))) {
      if (((await ifThere(stat(path)))?.mtimeMs ?? Infinity) < before) await ifThere(unlink(path));
    }
  }
}

function folderPlace(root: string): BackupPlace {
  const at = (key: string): string => join(root, key);

  async function appear(key: string, write: (temporary: string) => Promise<unknown>): Promise<void> {
    const folder = dirname(at(key));
    const temporary = join(folder, `.new-${randomName(12)}`);
    try {
      durable.makeFolder(folder);
      await write(temporary);
      await chmod(temporary, 0o600);
      await flushed(temporary);
      await rename(temporary, at(key));
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => {});
      const why = ["ENOSPC", "EDQUOT"].includes((error as NodeJS.ErrnoException).code ?? "")
        ? "its disk is full"
        : (error as Error).message;
      throw new Error(`${root} could not keep ${key}: ${why}.`);
    }
    await durable.flushFolder(folder);
  }

  async function placed(prefix: string, name: string): Promise<PlacedFile[]> {
    const found = await ifThere(stat(join(at(prefix), name)));
    if (found === null || !found.isFile() || TEMPORARY.test(name)) return [];
    return [{ key: prefix + name, bytes: found.size, at: found.mtimeMs }];
  }
  return {
    name: root,
    refuseFor: (data_dir) => refuseOtherFolder(root, data_dir),
    removeHalves: (before) => removeHalves(root, before),
    async list(prefix) {
      const names = (await ifThere(readdir(at(prefix)))) ?? [];
      return (await Promise.all(names.map((name) => placed(prefix, name)))).flat();
    },
    put: (key, path) => appear(key, (temporary) => copyFile(path, temporary)),
    putText: (key, text) => appear(key, (temporary) => Bun.write(temporary, text)),
    get: async (key, path) =>
      (await ifThere(copyFile(at(key), path).then(() => chmod(path, 0o600).then(() => true)))) ?? false,
    getBytes: async (key) => (await ifThere(readFile(at(key)))) as Bytes | null,
    remove: async (key) => void (await ifThere(unlink(at(key)))),
  };
}

/** Whether snapshots are kept in this folder. */
const holdsSnapshots = (folder: string): boolean => existsSync(join(folder, "snapshots"));

// A bucket.

const PATIENCE = { first_ms: 30_000, bytes_per_ms: 200, pause_ms: 500 };

/** A bucket checks these, and refuses a body that was damaged on its way. */
async function md5Of(path: string): Promise<string> {
  const hash = createHash("md5");
  for await (const piece of createReadStream(path)) hash.update(piece as Uint8Array);
  return hash.digest("base64");
}

const taken = async (): Promise<void> => {};

function bucketPlace({ name, prefix, call, list, pieces }: BucketCalls): BackupPlace {
  return {
    name,
    refuseFor: async () => {},
    removeHalves: async () => {}, // a bucket shows no half of a file
    async list(below) {
      const all: PlacedFile[] = [];
      for (let from: string | undefined; ;) {
        const page = await list(below, from);
        for (const { key, size = 0, lastModified } of page.contents ?? []) {
          all.push({ key: key.slice(prefix.length), bytes: size, at: Date.parse(String(lastModified)) });
        }
        from = page.contents?.at(-1)?.key;
        if (!page.isTruncated || from === undefined) return all;
      }
    },
    async put(key, path) {
      const [md5, body] = [await md5Of(path), Bun.file(path)];
      await call("PUT", key, taken, { body, headers: { "content-md5": md5 }, bytes: body.size });
    },
    putText: (key, body) => call("PUT", key, taken, { body }),
    get: (key, path) =>
      call("GET", key, async (answer) => {
        if (answer.status === 404) return false;
        await pipeline(Readable.from(pieces(answer)), createWriteStream(path, { mode: 0o600 }));
        return true;
      }),
    getBytes: (key) =>
      call("GET", key, async (answer) =>
        answer.status === 404 ? null : Buffer.concat(await Array.fromAsync(pieces(answer))),
      ),
    remove: (key) => call("DELETE", key, taken),
  };
}

export const backupPlaces = { open: openPlace, namesBucket, holdsSnapshots, liesIn };
