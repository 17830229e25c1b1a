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
import { BUCKET, isInside, namesBucket } from "../../config/setting.ts";
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

/** The way to a bucket, by the names that tools for S3 have for it. */
export interface S3Access {
  /** Null means Amazon's own. */
  endpoint: string | null;
  region: string | null;
  access_key_id: string | null;
  secret_access_key: string | null;
  session_token: string | null;
}

/** Throws a sentence for a bucket that cannot be asked. */
function openPlace(text: string, access: S3Access): BackupPlace {
  if (!namesBucket(text)) return folderPlace(resolve(text));
  const [, bucket, prefix = ""] = BUCKET.exec(text) ?? [];
  if (bucket === undefined) throw new Error("This names no bucket: write s3://bucket/prefix.");
  const { access_key_id, secret_access_key } = access;
  if (access_key_id === null || secret_access_key === null) {
    throw new Error(`For ${text} AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be set.`);
  }
  const client = new Bun.S3Client({
    bucket,
    endpoint: access.endpoint ?? undefined,
    region: access.region ?? undefined,
    accessKeyId: access_key_id,
    secretAccessKey: secret_access_key,
    sessionToken: access.session_token ?? undefined,
  });
  return bucketPlace(text.replace(/\/$/, ""), client, prefix === "" ? "" : `${prefix.slice(1)}/`);
}

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
      const why = ["ENOSPC", "EDQUOT"].includes(codeOf(error)) ? "its disk is full" : (error as Error).message;
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

export const backupPlaces = { open: openPlace, namesBucket, holdsSnapshots, liesIn };

// A bucket. Requests are signed by the runtime and sent by `fetch`: its own client neither repeats nor gives up.

const TRIES = 3;
const PAUSE_MS = 500;
/** For one request, and so many bytes a second more for a body that is sent; and for each piece of one that comes. */
const PATIENCE_MS = 30_000;
const BYTES_PER_MS = 200;
const SIGNED_S = 7200;

/** A bucket checks these, and refuses a body that was damaged on its way. */
async function md5Of(path: string): Promise<string> {
  const hash = createHash("md5");
  for await (const piece of createReadStream(path)) hash.update(piece as Uint8Array);
  return hash.digest("base64");
}

type Sending = Pick<RequestInit, "body" | "headers"> & { bytes?: number };

const VERBS = { GET: "read", PUT: "keep", DELETE: "remove" } as const;

/** Calls to a bucket. What may have better luck is repeated: no answer, 429 and 5xx. */
function bucketCalls(name: string, client: Bun.S3Client, prefix: string) {
  const trouble = (what: string, why: string): Error => new Error(`${name} could not be asked to ${what}: ${why}.`);

  async function patiently<T>(what: string, once: () => Promise<T>): Promise<T> {
    for (let tried = 1; ; tried++) {
      try {
        return await once();
      } catch (error) {
        if (isLocal(error)) throw error;
        if (error instanceof Final) throw trouble(what, error.message);
        if (tried === TRIES) throw trouble(what, error instanceof Temporary ? error.message : silence(error));
        await Bun.sleep(PAUSE_MS * 4 ** (tried - 1));
      }
    }
  }
  async function once(method: keyof typeof VERBS, key: string, { bytes = 0, ...sending }: Sending): Promise<Response> {
    const url = client.presign(prefix + key, { method, expiresIn: SIGNED_S });
    const { signal, ...waiting } = patience(PATIENCE_MS + bytes / BYTES_PER_MS);
    const answer = await fetch(url, { method, signal, ...sending }).finally(waiting.end);
    if (answer.ok || (answer.status === 404 && method !== "PUT")) return answer;
    const why = await reasonOf(answer);
    throw answer.status === 429 || answer.status >= 500 ? new Temporary(why) : new Final(why);
  }
  return {
    /** `take` reads the answer; what breaks off is asked for anew. */
    call: <T>(method: keyof typeof VERBS, key: string, take: (answer: Response) => Promise<T>, sending: Sending = {}) =>
      patiently(`${VERBS[method]} ${key}`, async () => take(await once(method, key, sending))),
    list: (below: string, from: string | undefined) =>
      patiently(`list ${below}`, () => listed(client, prefix + below, from)),
  };
}

const taken = async (): Promise<void> => {};

function bucketPlace(name: string, client: Bun.S3Client, prefix: string): BackupPlace {
  const { call, list } = bucketCalls(name, client, prefix);
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

/** A refusal that no second try mends. */
class Final extends Error {}
class Temporary extends Error {}

/** Troubles of this machine's own disk: no second try helps. */
const LOCAL = new Set(["ENOENT", "ENOSPC", "EDQUOT", "EACCES", "EPERM", "EROFS", "EIO", "EMFILE", "ENFILE"]);

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? "");
const isLocal = (error: unknown): boolean =>
  LOCAL.has(codeOf(error)) && (error as { syscall?: unknown }).syscall !== "connect";

/** The code alone, a refused connection's or a certificate's: a message may have the signed address in it. */
function silence(error: unknown): string {
  const code = codeOf(error);
  return /^[A-Z][A-Za-z_]{1,60}$/.test(code) ? `it does not answer (${code})` : "it does not answer";
}

function patience(ms: number) {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), ms);
  return { signal: late.signal, end: () => clearTimeout(timer) };
}

/** A body, however long it takes: only one that stops coming breaks off. */
async function* pieces(answer: Response): AsyncGenerator<Uint8Array> {
  const reader = answer.body?.getReader();
  try {
    while (reader !== undefined) {
      const late = Promise.withResolvers<never>();
      const timer = setTimeout(() => late.reject(new Temporary("it stopped answering")), PATIENCE_MS);
      const { done, value } = await Promise.race([reader.read(), late.promise]).finally(() => clearTimeout(timer));
      if (done) return;
      yield value;
    }
  } finally {
    void reader?.cancel().catch(() => {}); // it is over, or it is asked for anew
  }
}

const LONGEST_REASON = 16 * 1024;

/** The code of a bucket's refusal, `NoSuchBucket` say. */
async function reasonOf(answer: Response): Promise<string> {
  let text = "";
  try {
    for await (const piece of pieces(answer))
      if ((text += Buffer.from(piece).toString()).length > LONGEST_REASON) break;
  } catch {} // the status says enough
  const code = /<Code>(\w{1,60})<\/Code>/.exec(text)?.[1];
  return `it answered ${answer.status}${code === undefined ? "" : ` ${code}`}`;
}

async function listed(client: Bun.S3Client, prefix: string, startAfter: string | undefined) {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Temporary("it does not answer")), PATIENCE_MS);
  try {
    return await Promise.race([client.list({ prefix, ...(startAfter !== undefined && { startAfter }) }), late.promise]);
  } catch (error) {
    throw listError(error);
  } finally {
    clearTimeout(timer);
  }
}

/** A bucket's words for troubles that pass. */
const PASSING = /^(SlowDown|InternalError|ServiceUnavailable|RequestTimeout|TooManyRequests)$/;

/** Its own client tells a bucket's code and no status. */
function listError(error: unknown): unknown {
  const code = codeOf(error);
  const is_word = (error as { name?: unknown }).name === "S3Error" && /^[A-Z][A-Za-z0-9]{1,60}$/.test(code);
  if (!is_word || ["UnknownError", "ConnectionRefused"].includes(code)) return error;
  if (code === "InvalidResponse") return new Temporary("it answered with something that is no list");
  return PASSING.test(code) ? new Temporary(`it says ${code}`) : new Final(`it says ${code}`);
}
