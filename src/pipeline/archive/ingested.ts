/** Files with their contents become a draft: a wrapping folder is stripped, what was fixed and what is odd is noted, and
 *  folders get their index under its usual name. */
import type { Bytes, Draft, Healed, Warning } from "../../base/types.ts";
import { deployDigest, wrappingFolder } from "../../base/version-id.ts";
import { fixIndexCase } from "./index-case.ts";
import { caseCollisions } from "./path-clashes.ts";
import { droppedSecrets, guessedName, reservedPath, windowsUnsafe } from "./path-warnings.ts";
import type { Named } from "./uploads.ts";

export interface Ingested {
  draft: Draft;
  /** Over the uploaded names after clean-up and strip: the index copies of `draft.made` do not count. */
  digest: string;
  /** Path → SHA-256 of its bytes, uploaded files alone. */
  hashes: ReadonlyMap<string, string>;
}

/** A file with its content. */
export interface Unpacked extends Omit<Named, "bytes"> {
  bytes: Bytes;
  sha256: string;
}

/** Where the site starts, and what it is made of from there. */
export function stripFolder<File extends { path: string }>(files: readonly File[]): [string | null, File[]] {
  const folder = wrappingFolder(files.map(({ path }) => path));
  const start = folder === null ? 0 : folder.length + 1;
  return [folder, files.map((file) => ({ ...file, path: file.path.slice(start) }))];
}

export const hashesOf = (files: readonly { path: string; sha256: string }[]): Map<string, string> =>
  new Map(files.map(({ path, sha256 }) => [path, sha256]));

/** `secrets`: paths that were left out. */
export function ingestedFrom(unpacked: readonly Unpacked[], secrets: readonly string[]): Ingested {
  const [folder, files] = stripFolder(unpacked);
  const hashes = hashesOf(files);
  const draft = fixIndexCase({
    files: new Map(files.map(({ path, bytes }) => [path, bytes])),
    made: new Set(),
    stripped_folder: folder,
    healed: healedBy(files, folder),
    warnings: [...droppedSecrets(secrets), ...warningsOf(files)],
  });
  return { draft, digest: deployDigest(hashes), hashes };
}

function healedBy(files: readonly Unpacked[], folder: string | null): Healed[] {
  const healed: Healed[] = [];
  const turned = files.filter(({ backslashes }) => backslashes).length;
  if (turned > 0)
    healed.push({
      code: "backslash_paths",
      message: `Backslashes in ${turned === 1 ? "a name" : `${turned} names`} were read as slashes.`,
    });
  if (folder !== null)
    healed.push({
      code: "stripped_root_folder",
      message: `Everything lay in ${folder}/, so the site starts inside it.`,
      path: folder,
    });
  return healed;
}

const warningsOf = (files: readonly Unpacked[]): Warning[] => [
  ...files.filter(({ guessed }) => guessed).map(({ path }) => guessedName(path)),
  ...caseCollisions(files.map(({ path }) => path)),
  ...files.flatMap(({ path }) => [...reservedPath(path), ...windowsUnsafe(path)]),
];
