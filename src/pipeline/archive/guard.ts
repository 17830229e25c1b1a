/** Judges what kind of thing an entry is: a site is made of plain files that are stored or deflated. */
import { show } from "../show.ts";
import type { ZipEntry } from "./directory.ts";
import { refuseEntry } from "./refusals.ts";

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

export function refuseNewerFormat(entry: ZipEntry, name: string): void {
  if (entry.version > NEWEST)
    throw refuseEntry("unsupported_zip", show(name), `needs version ${entry.version / 10} of the zip format`);
}

export function refuseUnlessPlainFile(entry: ZipEntry, name: string): void {
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
export function refuseFolderWithData(entry: ZipEntry, name: string): void {
  if (entry.size > 0 || entry.packed > (entry.method === DEFLATE ? 2 : 0))
    throw refuseEntry("invalid_zip", show(name), "is a folder, but holds data");
}
