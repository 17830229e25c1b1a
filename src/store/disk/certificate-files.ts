/** `DATA/certs`: a folder for each name with its key and its chain, as ACME brought them or as the operator put them there (with a file `manual` beside
 *  them), and the key of the ACME account (BEYOND 10). 0600 below 0700, written aside and renamed. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { statSync } from "node:fs";
import { chmod, mkdir, open, readdir, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { durable } from "./durable.ts";

export interface CertificatePair {
  /** `*.sites.example`, of the folder `_.sites.example`. */
  name: string;
  key: string;
  /** PEM, its own certificate first. */
  cert: string;
  /** Epoch milliseconds. */
  from: number;
  ends: number;
  manual: boolean;
}

/** Why a pair is not used: a sentence. */
interface UnusablePair {
  name: string;
  why: string;
}

const FOLDER = "certs";
const ACCOUNT = "account.pem";
/** Its time says when something in the folder changed last. */
const CHANGED = "changed";

const placeOf = (data_dir: string): string => join(data_dir, FOLDER);
/** Below the data directory. */
const folderBelow = (name: string): string => `${FOLDER}/${name.replace(/^\*/, "_")}`;
const folderOf = (data_dir: string, name: string): string => join(data_dir, folderBelow(name));
const nameOf = (folder: string): string => folder.replace(/^_(?=\.)/, "*");
/** Names of folders that are none of a certificate are passed over. */
const isName = (name: string): boolean => /^(?:_\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*$/.test(name) && name.length <= 253;

async function put(path: string, text: string): Promise<void> {
  const aside = `${path}.new`;
  const file = await open(aside, "w", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(aside, path);
}

async function touch(data_dir: string): Promise<void> {
  const path = join(placeOf(data_dir), CHANGED);
  await put(path, "");
  const now = statSync(path).mtimeMs;
  await utimes(path, now / 1000, now / 1000);
}

async function makePlace(data_dir: string, name?: string): Promise<void> {
  for (const folder of [placeOf(data_dir), ...(name === undefined ? [] : [folderOf(data_dir, name)])]) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
  }
}

/** The key first: whoever reads in between finds a pair that does not fit, and goes on with what they have. */
async function putPair(data_dir: string, name: string, { key, chain }: { key: string; chain: string }): Promise<void> {
  await makePlace(data_dir, name);
  const folder = folderOf(data_dir, name);
  await put(join(folder, "key.pem"), key);
  await put(join(folder, "chain.pem"), chain);
  await durable.flushFolder(folder);
  await durable.flushFolder(placeOf(data_dir));
  await touch(data_dir);
}

async function removePair(data_dir: string, name: string): Promise<void> {
  await rm(folderOf(data_dir, name), { recursive: true, force: true });
  await touch(data_dir);
}

function judged(name: string, key: string, cert: string, manual: boolean, now: number): CertificatePair | UnusablePair {
  try {
    const read = new X509Certificate(cert);
    const [from, ends] = [Date.parse(read.validFrom), Date.parse(read.validTo)];
    if (!read.checkPrivateKey(createPrivateKey(key))) return { name, why: "key.pem is not the key of chain.pem" };
    if (read.checkHost(name.replace(/^\*/, "any")) === undefined) return { name, why: `chain.pem is for other names` };
    return ends > now
      ? { name, key, cert, from, ends, manual }
      : { name, why: `it ended at ${new Date(ends).toISOString()}` };
  } catch (error) {
    return { name, why: `key.pem and chain.pem must be PEM (${(error as Error).message})` };
  }
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Null where there is none. */
async function readPair(data_dir: string, name: string, now: number): Promise<CertificatePair | UnusablePair | null> {
  const folder = folderOf(data_dir, name);
  try {
    const [key, cert] = await Promise.all(["key.pem", "chain.pem"].map((file) => readFile(join(folder, file), "utf8")));
    return judged(name, key!, cert!, await isThere(join(folder, "manual")), now);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    return { name, why: `its files cannot be read (${code})` };
  }
}

/** Names of those that the operator put there. */
async function manualNames(data_dir: string): Promise<string[]> {
  const folders = await foldersIn(data_dir);
  const there = await Promise.all(folders.map((folder) => isThere(join(placeOf(data_dir), folder, "manual"))));
  return folders.filter((_, i) => there[i]).map(nameOf);
}

async function foldersIn(data_dir: string): Promise<string[]> {
  const names = await readdir(placeOf(data_dir)).catch(() => []);
  return names.filter(isName).toSorted();
}

/** All that can be used, by name, and why others cannot. What was read before and has not changed is not read again. */
function reader(data_dir: string) {
  const known = new Map<string, { stamp: string; pair: CertificatePair | UnusablePair | null }>();
  const stampOf = async (name: string): Promise<string> => {
    const times = await Promise.all(
      ["key.pem", "chain.pem", "manual"].map((file) =>
        stat(join(folderOf(data_dir, name), file)).then(
          ({ mtimeMs, ino }) => `${mtimeMs}/${ino}`,
          () => "-",
        ),
      ),
    );
    return times.join(" ");
  };
  return async (now: number): Promise<{ pairs: CertificatePair[]; unusable: UnusablePair[] }> => {
    const [pairs, unusable]: [CertificatePair[], UnusablePair[]] = [[], []];
    const names = (await foldersIn(data_dir)).map(nameOf);
    const there = new Set(names);
    for (const name of known.keys()) if (!there.has(name)) known.delete(name);
    for (const name of names) {
      const stamp = await stampOf(name);
      const before = known.get(name);
      const pair = before?.stamp === stamp ? before.pair : await readPair(data_dir, name, now);
      known.set(name, { stamp, pair });
      if (pair === null) continue;
      if ("why" in pair) unusable.push(pair);
      else if (pair.ends > now) pairs.push(pair);
    }
    return { pairs, unusable };
  };
}

/** The time of the last change; 0 before the first one. */
const changedAt = (data_dir: string): number =>
  statSync(join(placeOf(data_dir), CHANGED), { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** The key of the account, which `make` makes where there is none. */
async function accountKey(data_dir: string, make: () => string): Promise<string> {
  const path = join(placeOf(data_dir), ACCOUNT);
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  await makePlace(data_dir);
  const key = make();
  await put(path, key);
  await durable.flushFolder(placeOf(data_dir));
  return key;
}

/** Names of files, for a backup: below the data directory. */
async function listed(data_dir: string): Promise<string[]> {
  const files = (await isThere(join(placeOf(data_dir), ACCOUNT))) ? [`${FOLDER}/${ACCOUNT}`] : [];
  for (const folder of await foldersIn(data_dir)) {
    for (const file of ["key.pem", "chain.pem", "manual"]) {
      const path = `${FOLDER}/${folder}/${file}`;
      if (await isThere(join(data_dir, path))) files.push(path);
    }
  }
  return files;
}

/** The files of certificates. */
export const certificateFiles = {
  /** Below the data directory. */
  ACCOUNT: `${FOLDER}/${ACCOUNT}`,
  /** The paths of a key and its chain, as of the account. */
  pathsOf: (name: string): [key: string, chain: string] => [
    `${folderBelow(name)}/key.pem`,
    `${folderBelow(name)}/chain.pem`,
  ],
  /** The name whose key or chain has this path; null for another file. */
  nameIn(path: string): string | null {
    const [top, folder = "", file, ...more] = path.split("/");
    const is_one = top === FOLDER && isName(folder) && /^(key|chain)\.pem$/.test(file ?? "") && more.length === 0;
    return is_one ? nameOf(folder) : null;
  },
  /** Those that have a key here. */
  async names(data_dir: string): Promise<string[]> {
    const folders = await foldersIn(data_dir);
    const there = await Promise.all(folders.map((folder) => isThere(join(placeOf(data_dir), folder, "key.pem"))));
    return folders.filter((_, i) => there[i]).map(nameOf);
  },
  put: putPair,
  remove: removePair,
  read: readPair,
  reader,
  changedAt,
  accountKey,
  listed,
  manual: manualNames,
};
