/** An archive from end to start: end record, directory, local headers. What comes out is a list of entries that every
 *  reader would find; nothing is inflated and no name is judged yet. */
import { largestThree, overLimit, zipTooLarge } from "../../base/over-limit.ts";
import type { Limits } from "../../base/types.ts";
import { show, showBytes } from "../show.ts";
import { declaredSizeAt, nameAt, readEntry, recordStarts } from "./directory.ts";
import { readEnd } from "./end-record.ts";
import { type LocatedEntry, readLocal, refuseLooseSpans } from "./local-headers.ts";

/** Folders and what is dropped are no files, but a directory of nothing else must end somewhere. */
const RECORDS_PER_FILE = 5;

export function readArchive(zip: Buffer, limits: Limits): LocatedEntry[] {
  if (zip.length > limits.max_zip_bytes) throw zipTooLarge(limits.max_zip_bytes, zip.length);
  const directory = readEnd(zip);
  const starts = recordStarts(zip, directory);
  if (starts.length > RECORDS_PER_FILE * limits.max_files) throw tooManyRecords(zip, starts, limits);
  const entries = Array.from(starts, (at) => readLocal(zip, readEntry(zip, at), directory));
  refuseLooseSpans(zip, entries, directory);
  return entries;
}

function tooManyRecords(zip: Buffer, starts: Uint32Array, { max_files }: Limits) {
  const files = starts.reduce((count, at) => count + (isFolderName(nameAt(zip, at)) ? 0 : 1), 0);
  const heaviest = largestThree(starts, (at) => declaredSizeAt(zip, at));
  const largest = heaviest.map((at) => ({ path: showBytes(nameAt(zip, at)), bytes: declaredSizeAt(zip, at) }));
  return tooManyEntries({ entries: starts.length, files }, max_files, largest);
}

/** `limit` is that of files wherever the entries that are no folders alone are past it: it is the one that can be raised. */
function tooManyEntries(
  { entries, files }: { entries: number; files: number },
  max_files: number,
  largest: readonly { path: string; bytes: number }[],
) {
  const most = RECORDS_PER_FILE * max_files;
  return overLimit(
    "too_many_files",
    `The upload lists ${entries} entries, ${files} of them files; at most ${max_files} files, and ${most} entries with folders and what is dropped, are taken. Leave out what the site does not need.`,
    files > max_files ? { limit: max_files, actual: files } : { limit: most, actual: entries },
    largest,
  );
}

/** The same of a list of files. */
export function refuseLongList(files: readonly { name: string; bytes: number }[], { max_files }: Limits): void {
  if (files.length <= RECORDS_PER_FILE * max_files) return;
  const heaviest = largestThree(files, ({ bytes }) => bytes);
  const largest = heaviest.map(({ name, bytes }) => ({ path: show(name), bytes }));
  throw tooManyEntries({ entries: files.length, files: files.length }, max_files, largest);
}

const isFolderName = (name: Buffer): boolean => name.at(-1) === 0x2f || name.at(-1) === 0x5c;
