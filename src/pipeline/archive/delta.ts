/** A delta (BEYOND 6): a zip of what the site lacks. Its first entry lists the whole content, every other one is a file
 *  that is named by its SHA-256. Joined with what the site has, it is an upload like any other. */
import { Refusal } from "../../base/errors.ts";
import { NotJson, parseJson, textOf } from "../../base/json.ts";
import { mostListBytes } from "../../base/over-limit.ts";
import type { Bytes, Limits, Progress } from "../../base/types.ts";
import { droppedAs } from "../../base/reserved-paths.ts";
import { contentHash } from "../../base/version-id.ts";
import { showBytes } from "../show.ts";
import { decodeName } from "./directory.ts";
import { bufferOf } from "./index.ts";
import { type Ingested, ingestedFrom } from "./ingested.ts";
import { type Listed, readList } from "./plan.ts";
import { type LocatedEntry, readArchive } from "./read.ts";
import { unpack } from "./unpack.ts";
import { chooseFiles, refuseKind } from "./uploads.ts";

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

function parse(bytes: Uint8Array): unknown {
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
  const files = readList(parse(unpack(archive, entry, LIST)), limits, { sized: false, refuse: badMember });
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
