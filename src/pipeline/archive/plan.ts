/** Plans an upload from a list of its files (BEYOND 6): which version it would be, and which contents it needs. */

import { Refusal } from "../../base/errors.ts";
import { invalidJson, NotJson, parseJson, textOf } from "../../base/json.ts";
import type { Limits } from "../../base/types.ts";
import { deployDigest, versionIdOf } from "../../base/version-id.ts";
import { show } from "../show.ts";
import { cleanPath } from "./paths.ts";
import { hashesOf, stripFolder } from "./ingested.ts";
import { refuseLongList } from "./read.ts";
import { refuseEntry } from "./refusals.ts";
import { chooseFiles, type NamedEntry } from "./uploads.ts";

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
export interface Listed extends NamedEntry {
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
export function readList(list: unknown, limits: Limits, format: ListFormat): Listed[] {
  const files = isObject(list) ? own(list, "files") : undefined;
  if (!Array.isArray(files)) throw format.refuse("files", "must be a list of objects");
  const read = files.map((file: unknown, at) => readFile(file, `files[${at}]`, format));
  refuseRepeated(read, format);
  refuseLongList(read, limits);
  return read.map((file, at) => nameFile(file, `files[${at}].path`, format));
}
