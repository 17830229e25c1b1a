/** Which version an upload would be, known before it is sent: the server's clean-up of names (CONTRACT 4.1), for
 *  what a folder can hold. Where the two differ, the upload is sent and the server's id counts. */
import { contentHash, deployDigest, droppedAs, versionIdOf, wrappingFolder } from "../base/version-id.ts";

export function uploadIdentity(files: Iterable<readonly [path: string, bytes: Uint8Array]>): string {
  const hashes = [...files]
    .map(([path, bytes]) => [path.replaceAll("\\", "/").normalize("NFC"), contentHash(bytes)] as const)
    .filter(([path]) => droppedAs(path) === null);
  const folder = wrappingFolder(hashes.map(([path]) => path));
  const start = folder === null ? 0 : folder.length + 1;
  return versionIdOf(deployDigest(hashes.map(([path, hash]) => [path.slice(start), hash])));
}
