/** Which version an upload would be, known before it is sent: the server's clean-up of names (CONTRACT.md 4.1), for
 *  what a folder can hold. Where the two ever differ, the upload is made and the server's word counts. */
import { contentHash, deployDigest, droppedAs, versionIdOf } from "../version-id.ts";

/** The one folder that everything lies in: the server takes it off. */
function commonFolder(paths: readonly string[]): string {
  const folder = paths[0]?.slice(0, paths[0].indexOf("/") + 1) ?? "";
  return paths.every((path) => path.startsWith(folder)) ? folder : "";
}

export function uploadIdentity(files: Iterable<readonly [path: string, bytes: Uint8Array]>): string {
  const hashes = [...files]
    .map(([path, bytes]) => [path.replaceAll("\\", "/").normalize("NFC"), contentHash(bytes)] as const)
    .filter(([path]) => droppedAs(path) === null);
  const folder = commonFolder(hashes.map(([path]) => path));
  return versionIdOf(deployDigest(hashes.map(([path, hash]) => [path.slice(folder.length), hash])));
}
