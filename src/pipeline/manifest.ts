/** The stored form of a version: one row a file, each distinct content once. */
import type { Bytes, Draft, ManifestFile, Progress } from "../base/types.ts";
import { contentHash } from "../base/version-id.ts";
import { mediaType } from "../base/media-types.ts";

/** `hashes` are those of the uploaded files; only what the service made is hashed here. */
export function describe(
  draft: Draft,
  hashes: ReadonlyMap<string, string>,
  progress: Progress,
): { manifest: ManifestFile[]; blobs: Map<string, Bytes> } {
  const blobs = new Map<string, Bytes>();
  const manifest = [...draft.files].map(([path, content]): ManifestFile => {
    progress("describing", path);
    const made = draft.made.has(path);
    const sha256 = (made ? undefined : hashes.get(path)) ?? contentHash(content);
    blobs.set(sha256, content);
    return { path, sha256, bytes: content.length, media_type: mediaType(path, content), made };
  });
  return { manifest, blobs };
}
