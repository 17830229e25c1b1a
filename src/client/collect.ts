/** A folder or a file as what `deploySite` takes. */
import { readFile } from "node:fs/promises";
import { listFiles, type Listed } from "./list-files.ts";

export type Files = Map<string, Uint8Array<ArrayBuffer>>;

export async function readFiles(listed: readonly Listed[]): Promise<Files> {
  const files: Files = new Map();
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
