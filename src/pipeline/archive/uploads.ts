/** Which entries become files of the site: names are judged one by one, then what never counts is dropped, then the kind
 *  of the rest is judged, then their number and size, then all paths together. */

import { Refusal } from "../../base/errors.ts";
import { largestThree, overLimit } from "../../base/over-limit.ts";
import type { Limits } from "../../base/types.ts";
import { droppedAs } from "../../base/reserved-paths.ts";
import { show } from "../show.ts";
import { cleanPath, refuseClashes } from "./paths.ts";
import { decodeName, type LocatedEntry, type ZipEntry } from "./read.ts";
import { refuseEntry } from "./refusals.ts";

/** An entry that may become a file, by its name. */
export interface NamedEntry {
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
export interface Upload extends NamedEntry {
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
export function chooseFiles<One extends NamedEntry>(named: readonly One[], limits: Limits): Chosen<One> {
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

function refuseEmpty(files: readonly NamedEntry[], secrets: readonly string[]): void {
  if (files.length > 0) return;
  const why = secrets.length > 0 ? "only files that are never published, such as .env or .git" : "no files";
  throw new Refusal("empty_deploy", `The upload holds ${why}. Put at least one file into it, best an index.html.`);
}

/** The declared sizes are summed before anything is inflated; what comes out later must have just these sizes. */
function refuseOverLimits(files: readonly NamedEntry[], { max_files, max_bytes }: Limits): void {
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

// Judges the kind of an entry: a site is made of plain files that are stored or deflated.

const ENCRYPTED = 0x1 | 0x40 | 0x2000;
const PATCH = 0x20;
const STORED = 0;
const DEFLATE = 8;
/** 6.3, the newest version of the format that asks something of its readers. */
const NEWEST = 63;

const FILE_TYPE = 0o170000;
const PLAIN_FILE = 0o100000;
const FOLDER = 0o040000;
const SYMLINK = 0o120000;
const DOS_FOLDER = 0x10;

function refuseNewerFormat(entry: ZipEntry, name: string): void {
  if (entry.version > NEWEST)
    throw refuseEntry("unsupported_zip", show(name), `needs version ${entry.version / 10} of the zip format`);
}

function refuseUnlessPlainFile(entry: ZipEntry, name: string): void {
  const shown = show(name);
  if (entry.flags & ENCRYPTED) throw refuseEntry("unsupported_zip", shown, "is encrypted");
  if (entry.flags & PATCH) throw refuseEntry("unsupported_zip", shown, "is a patch of another file");
  if (entry.method !== STORED && entry.method !== DEFLATE)
    throw refuseEntry("unsupported_zip", shown, `is compressed by method ${entry.method}: use deflate or none`);
  const type = (entry.external >>> 16) & FILE_TYPE;
  if (type === SYMLINK) throw refuseEntry("unsafe_path", shown, "is a symbolic link: put the file itself in its place");
  if (type !== 0 && type !== PLAIN_FILE && type !== FOLDER)
    throw refuseEntry("unsafe_path", shown, "is a device or pipe and no file");
  // Readers go by the slash: without it and without data this is an empty file to all of them.
  if ((type === FOLDER || entry.external & DOS_FOLDER) && entry.size + entry.packed > 0)
    throw refuseEntry("invalid_zip", shown, "is marked as a folder, but holds data");
}

/** Deflating nothing takes two bytes, and jar does it to folders. */
function refuseFolderWithData(entry: ZipEntry, name: string): void {
  if (entry.size > 0 || entry.packed > (entry.method === DEFLATE ? 2 : 0))
    throw refuseEntry("invalid_zip", show(name), "is a folder, but holds data");
}
