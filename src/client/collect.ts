/** A folder or a file as the files of a deploy: listed first, with names and sizes, so that a folder of 100 GB is refused
 *  before a byte is read; then read. */
import { lstat, readdir, readFile, realpath, stat } from "node:fs/promises";
import { basename, isAbsolute, join, relative, sep } from "node:path";
import { droppedAs } from "../base/reserved-paths.ts";
import { contentHash, deployDigest, versionIdOf, wrappingFolder } from "../base/version-id.ts";
import { IGNORE_FILE, type Ignored, parseIgnore } from "./ignore.ts";

export type FilesByPath = Map<string, Uint8Array<ArrayBuffer>>;

export async function readFiles(listed: readonly ListedFile[]): Promise<FilesByPath> {
  const files: FilesByPath = new Map();
  for (const { path, location } of listed) {
    const { buffer, byteOffset, byteLength } = await readFile(location);
    files.set(path, new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength));
  }
  return files;
}

/**
 * Reads a folder recursively, or a single file, into a map of relative paths (`/` separators) to bytes. Left out is
 * what never belongs on a site (`.env*`, `.git/`, `node_modules/`, `.DS_Store`, …) and what a `.svcignore` in the
 * folder names.
 */
export const collectDist = async (path: string): Promise<Map<string, Uint8Array>> =>
  readFiles((await listFiles(path)).files);

export interface ListedFile {
  /** Relative to the root, `/` separators, NFC. */
  path: string;
  /** The path of the bytes on this machine. */
  location: string;
  bytes: number;
}

interface Listing {
  files: ListedFile[];
  /** Paths left out because they are never deployed (`.env`, `.git`, …); a folder covers everything below it. */
  secrets: string[];
}

/** More than any server takes: the path is the wrong folder, or its symbolic links lead to ever more folders. */
const MOST_ENTRIES = 100_000;

interface Walk extends Listing {
  root: string;
  ignored: Ignored;
  entries: number;
  byPath: Map<string, string>;
}

const isInside = (root: string, path: string): boolean => {
  const inside = relative(root, path);
  return inside !== ".." && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
};

/** Opens only a file, or a link to a file inside: reading a pipe might never end. */
async function readIgnore(root: string): Promise<Ignored> {
  const path = join(root, IGNORE_FILE);
  const found = await lstat(path).catch(() => null);
  if (found === null) return () => false;
  const target = await realpath(path).catch(() => null);
  const file = target === null ? null : await stat(target);
  if (target === null || !file?.isFile()) throw new Error(`${path} is no file. Remove it, or make it one.`);
  if (!isInside(root, target)) throw new Error(`${path} is a symbolic link to ${target}. Replace it with a copy.`);
  return parseIgnore(
    await readFile(target, "utf8").catch(({ code }: { code?: string }) => {
      throw new Error(`${path} cannot be read (${code ?? "unknown"}). Give yourself the right to, or remove it.`);
    }),
  );
}

/** The target of a link, which must be below the root. */
async function followLink(walk: Walk, path: string, location: string): Promise<string> {
  const target = await realpath(location).catch((error: { code?: string }) => {
    const what = error.code === "ELOOP" ? "points to itself" : "points to nothing";
    throw new Error(
      `${path} is a symbolic link that ${what}. Remove it, or leave it out with a line in ${IGNORE_FILE}.`,
    );
  });
  const inside = relative(walk.root, target);
  if (!isInside(walk.root, target)) {
    throw new Error(
      `${path} is a symbolic link to ${target}, outside of the folder that is deployed. ` +
        `Replace it with a copy, or leave it out with a line in ${IGNORE_FILE}.`,
    );
  }
  if (droppedAs(inside.split(sep).join("/")) === "secret") {
    throw new Error(
      `${path} is a symbolic link to ${inside}, which is never deployed. Remove the link or name a copy.`,
    );
  }
  return target;
}

function addFile(walk: Walk, file: ListedFile): void {
  const other = walk.byPath.get(file.path);
  if (other !== undefined) {
    throw new Error(`${other} and ${file.location} have the same name in two Unicode spellings. Rename one of them.`);
  }
  walk.byPath.set(file.path, file.location);
  walk.files.push(file);
}

/** Node shows a name that is not UTF-8 with U+FFFD in it, and the file cannot be opened by that name. */
async function refuseUnreadableName(path: string, location: string): Promise<void> {
  if (!path.includes("\uFFFD") || (await lstat(location).catch(() => null)) !== null) return;
  throw new Error(
    `${path} cannot be sent: its name is not UTF-8. Rename it, or leave it out with a line in ${IGNORE_FILE}.`,
  );
}

/** `above` are the real folders around this one. A link to one of them would go in a circle. */
async function walkFolder(walk: Walk, folder: string, real: string, above: readonly string[]): Promise<void> {
  for (const entry of await readdir(real, { withFileTypes: true })) {
    if (++walk.entries > MOST_ENTRIES) {
      throw new Error(`${walk.root} holds more than ${MOST_ENTRIES} files and folders. Is it the folder you meant?`);
    }
    const path = (folder === "" ? entry.name : `${folder}/${entry.name}`).normalize("NFC");
    const location = join(real, entry.name);
    const dropped = droppedAs(path);
    if (dropped === "secret") walk.secrets.push(path);
    if (dropped !== null || entry.name === IGNORE_FILE || walk.ignored(path, entry.isDirectory())) continue;
    await refuseUnreadableName(path, location);
    await addEntry(walk, path, location, entry.isSymbolicLink(), [...above, real]);
  }
}

async function addEntry(
  walk: Walk,
  path: string,
  location: string,
  isLink: boolean,
  above: readonly string[],
): Promise<void> {
  const target = isLink ? await followLink(walk, path, location) : location;
  const found = await stat(target);
  if (found.isFile()) return addFile(walk, { path, location: target, bytes: found.size });
  if (!found.isDirectory()) {
    throw new Error(`${path} is neither a file nor a folder. Leave it out with a line in ${IGNORE_FILE}.`);
  }
  if (isLink && walk.ignored(path, true)) return;
  if (above.includes(target)) throw new Error(`${path} is a symbolic link to a folder that it is in. Remove it.`);
  await walkFolder(walk, path, target, above);
}

/** Lists everything below a folder, or one file, in the order of the paths. */
export async function listFiles(path: string): Promise<Listing> {
  const root = await realpath(path);
  const found = await stat(root);
  if (!found.isDirectory()) {
    const name = basename(path).normalize("NFC");
    if (!found.isFile()) throw new Error(`${path} is neither a file nor a folder.`);
    if (droppedAs(name) !== null)
      throw new Error(`${path} is never deployed: files of this name hold secrets or rubbish.`);
    return { files: [{ path: name, location: root, bytes: found.size }], secrets: [] };
  }
  const ignored = await readIgnore(root);
  const walk: Walk = { root, ignored, entries: 0, byPath: new Map(), files: [], secrets: [] };
  await walkFolder(walk, "", root, []);
  walk.files.sort((a, b) => (a.path < b.path ? -1 : 1));
  walk.secrets.sort();
  return { files: walk.files, secrets: walk.secrets };
}

/** The version that an upload would be, known before it is sent: by the server's clean-up of names (CONTRACT 4.1), for what a
 *  folder can hold. If the server's id differs, the upload is sent and that id counts. */
export function uploadIdentity(files: Iterable<readonly [path: string, bytes: Uint8Array]>): string {
  const hashes = [...files]
    .map(([path, bytes]) => [path.replaceAll("\\", "/").normalize("NFC"), contentHash(bytes)] as const)
    .filter(([path]) => droppedAs(path) === null);
  const folder = wrappingFolder(hashes.map(([path]) => path));
  const start = folder === null ? 0 : folder.length + 1;
  return versionIdOf(deployDigest(hashes.map(([path, hash]) => [path.slice(start), hash])));
}
