/** What of an upload is sent to a site that has the rest (BEYOND 6): the list for the plan, and the entries of the delta. */
import { contentHash } from "../../base/version-id.ts";
import { fields, listOf, TEXT } from "./shape.ts";

type Files = Iterable<readonly [path: string, bytes: Uint8Array<ArrayBuffer>]>;

interface HashedFile {
  path: string;
  sha256: string;
  content: Uint8Array<ArrayBuffer>;
}

export const hashFiles = (files: Files): HashedFile[] =>
  [...files].map(([path, content]) => ({ path, sha256: contentHash(content), content }));

/** The body of a plan. */
export const planBody = (files: readonly HashedFile[]) => ({
  files: files.map(({ path, sha256, content }) => ({ path, sha256, bytes: content.length })),
});

/** What a command reads of the answer. */
export const PLAN = fields<{ need: string[] }>({ need: listOf(TEXT) });

/** Each content once. */
const distinct = (files: readonly HashedFile[]) => new Map(files.map(({ sha256, content }) => [sha256, content]));

/** How many bytes need not be sent where only `need` is. */
export function bytesLeftOut(files: readonly HashedFile[], need: ReadonlySet<string>): number {
  const left = [...distinct(files)].filter(([sha256]) => !need.has(sha256));
  return left.reduce((sum, [, { length }]) => sum + length, 0);
}

/** The whole content as a list, then the contents that are needed under their hashes. */
export function deltaEntries(
  files: readonly HashedFile[],
  need: ReadonlySet<string>,
): [string, Uint8Array<ArrayBuffer>][] {
  const list = { files: files.map(({ path, sha256 }) => ({ path, sha256 })) };
  const sent = [...distinct(files)].filter(([sha256]) => need.has(sha256));
  return [["svc-delta.json", new TextEncoder().encode(JSON.stringify(list))], ...sent];
}
