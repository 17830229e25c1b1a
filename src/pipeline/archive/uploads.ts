/** Which entries become files of the site: names are judged one by one, then what never counts is dropped, then the kind
 *  of the rest is judged, then their number and size, then all paths together. */
import { droppedAs } from "../../base/reserved-paths.ts";
import { Refusal } from "../../base/errors.ts";
import { largestThree, overLimit } from "../../base/over-limit.ts";
import type { Limits } from "../../base/types.ts";
import { cleanPath } from "./clean-paths.ts";
import { decodeName } from "./entry-names.ts";
import { refuseClashes } from "./path-clashes.ts";
import { show } from "../show.ts";
import { refuseFolderWithData, refuseNewerFormat, refuseUnlessPlainFile } from "./guard.ts";
import type { LocatedEntry } from "./local-headers.ts";

/** What may become a file, by its name. */
export interface Named {
  /** As the upload has it. */
  name: string;
  path: string;
  folder: boolean;
  guessed: boolean;
  backslashes: boolean;
  /** As declared. */
  bytes: number;
}

/** An entry of a zip. */
export interface Upload extends Named {
  entry: LocatedEntry;
}

interface Chosen<One> {
  files: One[];
  /** Paths that were left out because they may hold secrets. */
  secrets: string[];
}

export function chooseUploads(entries: readonly LocatedEntry[], limits: Limits): Chosen<Upload> {
  const named = entries.map(nameEntry);
  for (const upload of named) if (droppedAs(upload.path) === null) refuseKind(upload);
  return chooseFiles(named, limits);
}

/** The same of names alone. */
export function chooseFiles<One extends Named>(named: readonly One[], limits: Limits): Chosen<One> {
  const kept = named.filter(({ path }) => droppedAs(path) === null);
  const files = kept.filter(({ folder }) => !folder);
  const secrets = named.filter(({ path, folder }) => !folder && droppedAs(path) === "secret").map(({ path }) => path);
  refuseEmpty(files, secrets);
  refuseOverLimits(files, limits);
  refuseClashes(
    files,
    kept.filter(({ folder }) => folder),
  );
  return { files, secrets };
}

function nameEntry(entry: LocatedEntry): Upload {
  const { name, guessed } = decodeName(entry);
  return { entry, name, guessed, bytes: entry.size, ...cleanPath(name) };
}

export function refuseKind({ entry, name, folder }: Pick<Upload, "entry" | "name" | "folder">): void {
  refuseNewerFormat(entry, name);
  if (folder) refuseFolderWithData(entry, name);
  else refuseUnlessPlainFile(entry, name);
}

function refuseEmpty(files: readonly Named[], secrets: readonly string[]): void {
  if (files.length > 0) return;
  const why = secrets.length > 0 ? "only files that are never published, such as .env or .git" : "no files";
  throw new Refusal("empty_deploy", `The upload holds ${why}. Put at least one file into it, best an index.html.`);
}

/** The declared sizes are summed before anything is inflated; what comes out later must have just these sizes. */
function refuseOverLimits(files: readonly Named[], { max_files, max_bytes }: Limits): void {
  const largest = () =>
    largestThree(files, ({ bytes }) => bytes).map(({ path, bytes }) => ({ path: show(path), bytes }));
  if (files.length > max_files)
    throw overLimit(
      "too_many_files",
      `The upload has ${files.length} files; a deploy may have ${max_files}. Leave out what the site does not need.`,
      { limit: max_files, actual: files.length },
      largest(),
    );
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  if (bytes > max_bytes)
    throw overLimit(
      "deploy_too_large",
      `The files have ${bytes} bytes unpacked; a deploy may have ${max_bytes}. Leave out or shrink the largest.`,
      { limit: max_bytes, actual: bytes },
      largest(),
    );
}
