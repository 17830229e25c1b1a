/** The files of a zip that a person names in the place of a folder. The zip itself is what is sent: the server reads archives by rules of
 *  its own (PIPELINE 1), and refuses what these rules do not take. */
import { readFile } from "node:fs/promises";
import { droppedAs } from "../base/reserved-paths.ts";
import type { FilesByPath } from "./collect.ts";

const ZIP = /\.zip$/i;
export const isZip = (path: string): boolean => ZIP.test(path);

interface ZipEntry {
  path: string;
  bytes: number;
}

interface ZipSite {
  zip: Uint8Array<ArrayBuffer>;
  /** By what its directory says: nothing is unpacked. Empty if it cannot be read. */
  entries: ZipEntry[];
}

/** A zip that is cut off or damaged has no entries: the server says what is wrong with it. fflate is loaded here and not before, as its
 *  tables take long to make. */
export async function readZip(location: string): Promise<ZipSite> {
  const { buffer, byteOffset, byteLength } = await readFile(location);
  const zip = new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
  const { unzipSync } = await import("fflate");
  const entries: ZipEntry[] = [];
  const note = ({ name, originalSize }: { name: string; originalSize: number }): boolean => {
    if (!name.endsWith("/") && droppedAs(name) === null) entries.push({ path: name, bytes: originalSize });
    return false;
  };
  try {
    unzipSync(zip, { filter: note });
  } catch {
    return { zip, entries: [] };
  }
  return { zip, entries };
}

/** All files of a zip. Throws if it is damaged. */
export async function unzipFiles(zip: Uint8Array): Promise<FilesByPath> {
  const { unzipSync } = await import("fflate");
  const names: string[] = [];
  const all = unzipSync(zip, { filter: ({ name }) => !name.endsWith("/") && (names.push(name), true) });
  // An object loses a file of this name.
  const alone = (name: string) => Object.values(unzipSync(zip, { filter: (file) => file.name === name }))[0];
  return new Map(
    names.flatMap((name) => {
      const bytes = Object.hasOwn(all, name) ? all[name] : alone(name);
      return bytes === undefined ? [] : [[name, bytes as Uint8Array<ArrayBuffer>]];
    }),
  );
}
