/** What a deploy's identity depends on, shared by server and clients: it imports `node:` alone and runs on Node 18. */
import { createHash } from "node:crypto";

const sha256 = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex");

/** Lower-case hex SHA-256 of a file's bytes: the key of its blob. */
export const contentHash = (bytes: Uint8Array): string => sha256(bytes);

/**
 * The full digest of a deploy's content (64 hex digits): SHA-256 over `<path>\0<sha256>\n` for each file in the byte
 * order of its UTF-8 path (CONTRACT 2). Zip order, time stamps and compression do not enter.
 */
export function deployDigest(hashes: Iterable<readonly [path: string, sha256: string]>): string {
  const lines = [...hashes].map(([path, hash]) => [Buffer.from(path), hash] as const);
  lines.sort(([a], [b]) => Buffer.compare(a, b));
  const whole = createHash("sha256");
  for (const [path, hash] of lines) whole.update(path).update(`\0${hash}\n`);
  return whole.digest("hex");
}

/** The first 16 hex digits of the digest name a version. */
export const versionIdOf = (digest: string): string => digest.slice(0, 16);

const JUNK_NAMES = new Set([".DS_Store", "Thumbs.db", "desktop.ini"]);
const JUNK_FOLDERS = new Set(["__MACOSX"]);
const SECRET_FOLDERS = new Set([".git", ".svn", ".hg", "node_modules"]);

/**
 * Whether a path never becomes part of a site (CONTRACT 4.1): `junk` goes without a word, `secret` with a warning,
 * null stays. The names count at any depth, and a folder's name takes all below it along.
 */
export function droppedAs(path: string): "junk" | "secret" | null {
  const segments = path.split("/");
  const name = segments.pop()!;
  if (segments.some((folder) => JUNK_FOLDERS.has(folder))) return "junk";
  if (segments.some((folder) => SECRET_FOLDERS.has(folder) || folder.startsWith(".env"))) return "secret";
  if (JUNK_NAMES.has(name) || name.startsWith("._")) return "junk";
  return name.startsWith(".env") || SECRET_FOLDERS.has(name) ? "secret" : null;
}

/** The one folder that all paths lie in, if it is only wrapping: people zip the folder, not what is in it, and a site
 *  starts inside. `.well-known` is an address in its own right. */
export function wrappingFolder(paths: readonly string[]): string | null {
  const folder = paths[0]?.slice(0, paths[0].indexOf("/") + 1) ?? "";
  if (folder === "" || folder === ".well-known/") return null;
  return paths.every((path) => path.startsWith(folder)) ? folder.slice(0, -1) : null;
}
