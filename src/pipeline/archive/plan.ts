/** What an upload would be, by a list of its files (BEYOND 6): which version, and which contents it takes. */
import { Refusal } from "../../base/errors.ts";
import { invalidJson, NotJson, parseJson, textOf } from "../../base/json.ts";
import type { Limits } from "../../base/types.ts";
import { deployDigest, versionIdOf } from "../../base/version-id.ts";
import { hashesOf, stripFolder } from "./ingested.ts";
import { readList } from "./list.ts";
import { chooseFiles } from "./uploads.ts";

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
