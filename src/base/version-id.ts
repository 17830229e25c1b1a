/** The identity of a deploy's content, shared by server and clients: it imports `node:` alone and runs on Node 18. */
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

/** Paths in the byte order of their UTF-8, as a version's identity has them. */
export const inByteOrder = (paths: Iterable<string>): string[] =>
  Array.from(paths, (path) => Buffer.from(path))
    .sort(Buffer.compare)
    .map(String);

/** The first 16 hex digits of the digest name a version. */
export const versionIdOf = (digest: string): string => digest.slice(0, 16);

/** The one folder that holds all paths, or null: people zip the folder, not what is in it, and the site begins inside.
 *  `.well-known` is an address in its own right. */
export function wrappingFolder(paths: readonly string[]): string | null {
  const folder = paths[0]?.slice(0, paths[0].indexOf("/") + 1) ?? "";
  if (folder === "" || folder === ".well-known/") return null;
  return paths.every((path) => path.startsWith(folder)) ? folder.slice(0, -1) : null;
}
