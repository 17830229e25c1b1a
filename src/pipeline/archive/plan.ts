/** Uploads that send what changed (BEYOND 6): a plan says from a list of files which version it would be and which contents it
 *  needs, a delta brings these. */

import { Refusal } from "../../base/errors.ts";
import { invalidJson, NotJson, parseJson, textOf } from "../../base/json.ts";
import type { Bytes, Limits, Progress } from "../../base/types.ts";
import { contentHash, deployDigest, versionIdOf } from "../../base/version-id.ts";
import { show, showBytes } from "../show.ts";
import { cleanPath } from "./paths.ts";
import { hashesOf, type Ingested, ingestedFrom, stripFolder } from "./ingested.ts";
import { decodeName, type LocatedEntry, readArchive, refuseLongList } from "./read.ts";
import { refuseEntry } from "./refusals.ts";
import { bufferOf } from "./index.ts";
import { chooseFiles, type NamedEntry, refuseKind } from "./uploads.ts";
import { mostListBytes } from "../../base/over-limit.ts";
import { droppedAs } from "../../base/reserved-paths.ts";
import { unpack } from "./unpack.ts";

interface PlannedUpload {
  version_id: string;
  digest: string;
  /** Distinct hashes of what is not dropped, in the order of the list. */
  hashes: string[];
}

const refuse = (field: string, why: string): Refusal =>
  new Refusal("invalid_input", `The member "${field}" ${why}.`, { field });

function parse(list: Uint8Array): unknown {
  try {
    return parseJson(textOf(list));
  } catch (error) {
    throw error instanceof NotJson ? invalidJson(error.message) : error;
  }
}

/** `list`: JSON. Throws what an upload of these files would be refused with. */
export function planUpload(list: Uint8Array, limits: Limits): PlannedUpload {
  const { files } = chooseFiles(readList(parse(list), limits, { sized: true, refuse }), limits);
  const [, stripped] = stripFolder(files);
  const digest = deployDigest(hashesOf(stripped));
  return { version_id: versionIdOf(digest), digest, hashes: [...new Set(files.map(({ sha256 }) => sha256))] };
}

// A list of files, as a plan and a delta write it down in JSON: `{files: [{path, sha256, bytes}]}` (BEYOND 6).

/** A file by its name and its hash. */
interface Listed extends NamedEntry {
  sha256: string;
}

interface ListFormat {
  /** Each file's size is said, too. */
  sized: boolean;
  /** `why` begins with what is wrong with the member of that name. */
  refuse(member: string, why: string): Refusal;
}

const HASH = /^[0-9a-f]{64}$/;

const own = (value: object, name: string): unknown =>
  Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function readFile(file: unknown, at: string, { sized, refuse }: ListFormat): Pick<Listed, "name" | "sha256" | "bytes"> {
  if (!isObject(file)) throw refuse(at, "must be an object");
  const [name, sha256, bytes] = [own(file, "path"), own(file, "sha256"), own(file, "bytes")];
  if (typeof name !== "string") throw refuse(`${at}.path`, "must be a string");
  if (typeof sha256 !== "string" || !HASH.test(sha256)) {
    throw refuse(`${at}.sha256`, "must be 64 lower-case hex digits");
  }
  if (!sized) return { name, sha256, bytes: 0 };
  if (!Number.isSafeInteger(bytes) || (bytes as number) < 0) throw refuse(`${at}.bytes`, "must be an integer from 0");
  return { name, sha256, bytes: bytes as number };
}

/** Each path once, as it is written: two that end at one path are judged with all others. */
function refuseRepeated(files: readonly { name: string }[], { refuse }: ListFormat): void {
  const seen = new Set<string>();
  for (const [at, { name }] of files.entries()) {
    if (seen.has(name)) throw refuse(`files[${at}].path`, `names "${show(name)}" a second time`);
    seen.add(name);
  }
}

/** By the rules for an entry of a zip. */
function nameFile(file: Pick<Listed, "name" | "sha256" | "bytes">, at: string, { refuse }: ListFormat): Listed {
  // A name in a zip is UTF-8, which has no half of a character.
  if (!file.name.isWellFormed()) throw refuseEntry("unsafe_path", show(file.name), "has a name that is no Unicode");
  const named = { ...file, guessed: false, ...cleanPath(file.name) };
  if (named.folder) throw refuse(at, `is the folder "${show(file.name)}": list files alone`);
  return named;
}

/** Names one by one; what counts of them and whether it is too much is still to be judged. */
function readList(list: unknown, limits: Limits, format: ListFormat): Listed[] {
  const files = isObject(list) ? own(list, "files") : undefined;
  if (!Array.isArray(files)) throw format.refuse("files", "must be a list of objects");
  const read = files.map((file: unknown, at) => readFile(file, `files[${at}]`, format));
  refuseRepeated(read, format);
  refuseLongList(read, limits);
  return read.map((file, at) => nameFile(file, `files[${at}].path`, format));
}

// A delta (BEYOND 6): a zip of what the site lacks. Its first entry lists the whole content, every other one is a file that
// is named by its SHA-256. Joined with what the site has, it is an upload like any other.

const LIST = "svc-delta.json";

/** Contents by their hash. */
type Contents = ReadonlyMap<string, Bytes>;

interface OpenDelta {
  /** Distinct hashes that did not come, in the order of the list. */
  readonly left_out: readonly string[];
  /** The uploaded files, unpacked and checked. `stored` maps the site's contents to their lengths. Throws the
   *  refusals of a whole upload, and `invalid_delta`. */
  unpack(stored: ReadonlyMap<string, number>): Contents;
  /** With the contents of all that it lists. */
  join(contents: Contents): Ingested;
}

const invalid = (why: string, details: object = {}): Refusal =>
  new Refusal("invalid_delta", `This delta cannot be used: ${why}. Mend it, or send the whole zip.`, { ...details });

const badEntry = (entry: LocatedEntry, why: string): Refusal => {
  const shown = showBytes(entry.raw_name);
  return invalid(`the entry "${shown}" ${why}`, { entry: shown });
};

const badMember = (member: string, why: string): Refusal =>
  invalid(`in ${LIST}, "${member}" ${why}`, { entry: LIST, field: member });

const nameOf = (entry: LocatedEntry): string => decodeName(entry).name;

/** Readers that go by the directory and readers that go through the file find the same entry first. */
function firstOf([first]: readonly LocatedEntry[]): LocatedEntry {
  if (first === undefined || nameOf(first) !== LIST || first.offset !== 0) {
    throw invalid(`its first entry must be ${LIST}, the list of all files`, { entry: LIST });
  }
  return first;
}

function parseList(bytes: Uint8Array): unknown {
  try {
    return parseJson(textOf(bytes));
  } catch (error) {
    throw error instanceof NotJson ? invalid(`${LIST} is no JSON (${error.message})`, { entry: LIST }) : error;
  }
}

function readDeltaList(archive: Buffer, entries: readonly LocatedEntry[], limits: Limits): Listed[] {
  const entry = firstOf(entries);
  refuseKind({ entry, name: LIST, folder: false });
  const most = mostListBytes(limits);
  if (entry.size > most) throw invalid(`${LIST} has ${entry.size} bytes, and may have ${most}`, { entry: LIST });
  const files = readList(parseList(unpack(archive, entry, LIST)), limits, { sized: false, refuse: badMember });
  if (files.length === 0) throw invalid(`${LIST} lists no file`, { entry: LIST });
  return files;
}

/** Hash → its entry. */
function cameWith(entries: readonly LocatedEntry[], listed: ReadonlySet<string>): Map<string, LocatedEntry> {
  const came = new Map<string, LocatedEntry>();
  for (const entry of entries.slice(1)) {
    const name = nameOf(entry);
    if (came.has(name)) throw badEntry(entry, "is there twice");
    if (!listed.has(name)) throw badEntry(entry, `is no file's SHA-256 that ${LIST} lists`);
    refuseKind({ entry, name, folder: false });
    came.set(name, entry);
  }
  return came;
}

function unpackEntry(archive: Buffer, entry: LocatedEntry): Bytes {
  const bytes = unpack(archive, entry, nameOf(entry));
  if (contentHash(bytes) !== nameOf(entry)) throw badEntry(entry, "has bytes of another SHA-256 than its name");
  return bytes;
}

export function openDelta(zip: Uint8Array, limits: Limits, progress: Progress): OpenDelta {
  progress("unpacking", LIST);
  const archive = bufferOf(zip);
  const entries = readArchive(archive, limits);
  const listed = readDeltaList(archive, entries, limits);
  const came = cameWith(entries, new Set(listed.map(({ sha256 }) => sha256)));
  const wanted = new Set(listed.filter(({ path }) => droppedAs(path) === null).map(({ sha256 }) => sha256));
  const choose = (size: (sha256: string) => number) =>
    chooseFiles(
      listed.map((file) => ({ ...file, bytes: size(file.sha256) })),
      limits,
    );
  return {
    left_out: [...wanted].filter((sha256) => !came.has(sha256)),
    unpack(stored) {
      choose((sha256) => came.get(sha256)?.size ?? stored.get(sha256) ?? 0);
      const contents = new Map<string, Bytes>();
      for (const [sha256, entry] of came) {
        progress("unpacking", sha256);
        if (wanted.has(sha256)) contents.set(sha256, unpackEntry(archive, entry));
      }
      return contents;
    },
    join(contents) {
      const { files, secrets } = choose((sha256) => contents.get(sha256)?.length ?? 0);
      const unpacked = files.map((file) => ({ ...file, bytes: contents.get(file.sha256)! }));
      return ingestedFrom(unpacked, secrets);
    },
  };
}
