/** A zip becomes files, top to bottom: 1 read the archive, 2 choose what counts, 3
 *  unpack and hash, 4 strip a wrapping folder, 5 warn, 6 give folders their index under its usual name. Whatever is not
 *  beyond doubt refuses the deploy. */
import { contentHash } from "../../base/version-id.ts";
import type { Limits, Progress } from "../../base/types.ts";
import { type Ingested, ingestedFrom, type Unpacked } from "./ingested.ts";
import { readArchive } from "./read.ts";
import { unpack } from "./unpack.ts";
import { chooseUploads, type Upload } from "./uploads.ts";

export const bufferOf = (zip: Uint8Array): Buffer => Buffer.from(zip.buffer, zip.byteOffset, zip.length);

export function ingest(zip: Uint8Array, limits: Limits, progress: Progress): Ingested {
  progress("unpacking");
  const archive = bufferOf(zip);
  const { files, secrets } = chooseUploads(readArchive(archive, limits), limits);
  return ingestedFrom(
    files.map((file) => unpackFile(archive, file, progress)),
    secrets,
  );
}

function unpackFile(archive: Buffer, file: Upload, progress: Progress): Unpacked {
  progress("unpacking", file.path);
  const bytes = unpack(archive, file.entry, file.name);
  return { ...file, bytes, sha256: contentHash(bytes) };
}
