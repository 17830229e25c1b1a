/** The blobs of a service as objects of a bucket (SCALE 3). A key has the number of the blob's row, which is never given twice: a
 *  deletion that comes late, or whose sender is dead, hits nothing in use. */
import { createHash } from "node:crypto";
import { randomName } from "../../base/random.ts";
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
  /** The objects of blobs in their order, some at a time, each with when it was put (epoch milliseconds). */
  all(): AsyncIterable<{ object: string; at: number }[]>;
  /** Does with an object of its own what deploys do: whether it came back, and whether a second writer was kept off. */
  probe(): Promise<{ gives_back: boolean; keeps_off: boolean }>;
  /** The id of the service whose the prefix is; null where none says so. Throws `BucketTrouble`. */
  owner(): Promise<string | null>;
  /** Makes it that service's, and resolves to its owner: another one where that was quicker. */
  own(id: string): Promise<string>;
}

export const objectOf = ({ sha256, blob_no }: BlobName): string => `${sha256}-${blob_no}`;
const OBJECT = /^[0-9a-f]{64}-\d{1,15}$/;
const keyOf = (object: string): string => `blobs/${object.slice(0, 2)}/${object}`;

const READS = { first_ms: 3000, bytes_per_ms: 1000, pause_ms: 100 };
const WRITES = { first_ms: 10_000, bytes_per_ms: 1000, pause_ms: 500 };

/** A bucket that does not answer is an answer to whoever asked, as a database is that does not. `note` hears of each. */
const asking =
  (note: (does: boolean) => void) =>
  async <T>(call: Promise<T>): Promise<T> => {
    try {
      const answer = await call;
      note(true);
      return answer;
    } catch (error) {
      if (!(error instanceof BucketTrouble)) throw error;
      note(false);
      throw refusals.bucketAway(error);
    }
  };

/** The object that says whose the prefix is. */
const OWNER = "owner";
const LONGEST_ID = 100;

const nothing = async (): Promise<void> => {};

/** A bucket refuses a body that was damaged on its way. */
const sending = (bytes: Bytes) => ({
  body: bytes,
  headers: { "content-md5": createHash("md5").update(bytes).digest("base64") },
  bytes: bytes.length,
});

/** `note` hears each time whether the bucket did what it was asked for. */
export function openObjects({ url, access }: BucketAddress, note: (does: boolean) => void = () => {}): BlobObjects {
  const asked = asking(note);
  const [reads, writes] = [openBucket(url, access, READS), openBucket(url, access, WRITES)];
  const ownerNow = () =>
    reads.call("GET", OWNER, async (answer) =>
      answer.status === 404 ? null : (await reads.bytesOf(answer, LONGEST_ID)).toString().trim(),
    );
  return {
    put: (blob, bytes) => asked(writes.call("PUT", keyOf(objectOf(blob)), nothing, sending(bytes))),
    get: (blob) =>
      asked(
        reads.call("GET", keyOf(objectOf(blob)), async (answer) =>
          answer.status === 404 ? null : reads.bytesOf(answer, blob.bytes),
        ),
      ),
    remove: (object) => asked(writes.call("DELETE", keyOf(object), nothing)),
    async *all() {
      for (let from: string | undefined; ;) {
        const { contents = [], isTruncated } = await asked(reads.list("blobs/", from));
        yield contents.flatMap(({ key, lastModified }) => {
          const object = key.slice(key.lastIndexOf("/") + 1);
          return OBJECT.test(object) && key === reads.prefix + keyOf(object)
            ? [{ object, at: Date.parse(lastModified ?? "") }]
            : [];
        });
        from = contents.at(-1)?.key;
        if (isTruncated !== true || from === undefined) return;
      }
    },
    async probe() {
      const [key, word] = [`probe-${randomName(12)}`, randomName(12)];
      const remove = () => writes.call("DELETE", key, nothing);
      await writes.call("PUT", key, nothing, sending(Buffer.from(word) as Bytes));
      try {
        const found = await reads.call("GET", key, (answer) => reads.bytesOf(answer, word.length));
        const again = writes.call("PUT", key, nothing, { body: word, headers: { "if-none-match": "*" } });
        const keeps_off = await again.then(
          () => false,
          (error: unknown) => error instanceof BucketTrouble && error.message.includes(" 412"),
        );
        await remove();
        return { gives_back: found.toString() === word, keeps_off };
      } catch (error) {
        await remove().catch(() => {}); // what is told is why it went no further
        throw error;
      }
    },
    owner: ownerNow,
    async own(id) {
      const sent = { body: id, headers: { "if-none-match": "*" } };
      return writes.call("PUT", OWNER, nothing, sent).then(
        () => id,
        async (error: unknown) => (await ownerNow()) ?? Promise.reject(error), // another was quicker
      );
    },
    setAside: (blob, bytes) => asked(writes.call("PUT", `quarantine/${objectOf(blob)}`, nothing, sending(bytes))),
  };
}
