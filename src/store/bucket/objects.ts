/** The blobs of a service as objects of a bucket (SCALE 3). A key has the number of the blob's row, which is never given twice: a
 *  deletion that comes late, or whose sender is dead, hits nothing in use. */
import { createHash } from "node:crypto";
import type { Bytes } from "../../base/types.ts";
import type { BucketAddress } from "../../config/setting.ts";
import { BucketTrouble, openBucket } from "../disk/bucket.ts";
import { refusals } from "../refusals.ts";
import type { Stored } from "../versions.ts";

/** The blob's row and content that a key is made of. */
type BlobName = Pick<Stored, "sha256" | "blob_no">;

export interface BlobObjects {
  put(blob: BlobName, bytes: Bytes): Promise<void>;
  /** Null if there is none; of one that is longer than the blob the first bytes. */
  get(blob: Stored): Promise<Bytes | null>;
  /** `object` as `objectOf` gives it. One that is not there is none to remove. */
  remove(object: string): Promise<void>;
  /** Keeps other bytes than the blob's where no request finds them. */
  setAside(blob: BlobName, bytes: Bytes): Promise<void>;
}

export const objectOf = ({ sha256, blob_no }: BlobName): string => `${sha256}-${blob_no}`;
const keyOf = (object: string): string => `blobs/${object.slice(0, 2)}/${object}`;

const READS = { first_ms: 3000, bytes_per_ms: 1000, pause_ms: 100 };
const WRITES = { first_ms: 10_000, bytes_per_ms: 1000, pause_ms: 500 };

/** A bucket that does not answer is an answer to whoever asked, as a database is that does not. */
async function asked<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw error instanceof BucketTrouble ? refusals.bucketAway(error) : error;
  }
}

const nothing = async (): Promise<void> => {};

/** A bucket refuses a body that was damaged on its way. */
const sending = (bytes: Bytes) => ({
  body: bytes,
  headers: { "content-md5": createHash("md5").update(bytes).digest("base64") },
  bytes: bytes.length,
});

export function openObjects({ url, access }: BucketAddress): BlobObjects {
  const [reads, writes] = [openBucket(url, access, READS), openBucket(url, access, WRITES)];
  return {
    put: (blob, bytes) => asked(writes.call("PUT", keyOf(objectOf(blob)), nothing, sending(bytes))),
    get: (blob) =>
      asked(
        reads.call("GET", keyOf(objectOf(blob)), async (answer) =>
          answer.status === 404 ? null : reads.bytesOf(answer, blob.bytes),
        ),
      ),
    remove: (object) => asked(writes.call("DELETE", keyOf(object), nothing)),
    setAside: (blob, bytes) => asked(writes.call("PUT", `quarantine/${objectOf(blob)}`, nothing, sending(bytes))),
  };
}
