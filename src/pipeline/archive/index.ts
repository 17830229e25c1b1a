/** A zip becomes files, top to bottom: 1 read the archive, 2 choose what counts, 3 unpack, 4 strip a wrapping folder,
 *  5 hash, 6 warn, 7 give folders their index under its usual name. Whatever is not beyond doubt refuses the deploy. */
import { contentHash, deployDigest, wrappingFolder } from "../../version-id.ts";
import type { Bytes, Draft, Healed, Limits, Progress, Warning } from "../../types.ts";
import { readArchive } from "./read.ts";
import { fixIndexCase } from "./index-case.ts";
import { caseCollisions } from "./path-clashes.ts";
import { droppedSecrets, guessedName, reservedPath, windowsUnsafe } from "./path-warnings.ts";
import { unpack } from "./unpack.ts";
import { chooseUploads, type Upload } from "./uploads.ts";

interface Ingested {
  draft: Draft;
  /** Over the uploaded names after clean-up and strip: the index copies of `draft.made` do not count. */
  digest: string;
  /** Path → SHA-256 of its bytes, uploaded files alone. */
  hashes: ReadonlyMap<string, string>;
}

/** An upload with its final path and content. */
interface Unpacked extends Upload {
  bytes: Bytes;
}

export function ingest(zip: Uint8Array, limits: Limits, progress: Progress): Ingested {
  progress("unpacking");
  const archive = Buffer.from(zip.buffer, zip.byteOffset, zip.length);
  const { files, secrets } = chooseUploads(readArchive(archive, limits), limits);
  const folder = wrappingFolder(files.map(({ path }) => path));
  const unpacked = files.map((file) => unpackFile(archive, file, folder, progress));
  const hashes = new Map(unpacked.map(({ path, bytes }) => [path, contentHash(bytes)]));
  const draft = fixIndexCase({
    files: new Map(unpacked.map(({ path, bytes }) => [path, bytes])),
    made: new Set(),
    stripped_folder: folder,
    healed: healedBy(files, folder),
    warnings: [...droppedSecrets(secrets), ...warningsOf(unpacked)],
  });
  return { draft, digest: deployDigest(hashes), hashes };
}

function unpackFile(archive: Buffer, file: Upload, folder: string | null, progress: Progress): Unpacked {
  progress("unpacking", file.path);
  const path = folder === null ? file.path : file.path.slice(folder.length + 1);
  return { ...file, path, bytes: unpack(archive, file.entry, file.name) };
}

function healedBy(files: readonly Upload[], folder: string | null): Healed[] {
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
