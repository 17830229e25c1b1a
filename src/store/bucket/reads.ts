/** Reading blobs of a bucket: from the cache, else from the bucket into it. Bytes are checked against their hash each time (RELIABILITY
 *  P5). */
import type { Bytes } from "../../base/types.ts";
import { contentHash } from "../../base/version-id.ts";
import { createGate } from "../../run/gate.ts";
import { readBlobs } from "../disk/blobs.ts";
import { DamagedBlob, refusals } from "../refusals.ts";
import type { Blobs } from "../serving.ts";
import type { Stored } from "../versions.ts";
import type { BlobCache } from "./cache.ts";
import { type BlobObjects, objectOf } from "./objects.ts";

interface Fetched {
  /** Shared by all that wait for them: nobody may change them or give them away. */
  bytes: Bytes;
  /** Whether the cache has it now. */
  kept: boolean;
}

/** Blobs that are on their way at once: each is whole in memory. Large ones leave places to the others. */
const FETCHED_AT_ONCE = { small: 12, large: 4 };
const SMALL = 256 * 1024;
const WAIT_MS = 10_000;
const MOST_WAITING = [1000];

/** Bytes in memory in place of files, where the cache takes no write: visitors decide how long they read. */
const MOST_IN_MEMORY = 64 << 20;

const late = () => refusals.bucketAway(new Error("too many blobs are wanted at once"));

/** One for each blob, as long as anybody reads it. Past the bound nobody gets another. */
function openMemory() {
  const shared = new Map<string, WeakRef<Blob>>();
  let bytes_held = 0;
  const freed = new FinalizationRegistry<[key: string, bytes: number]>(([key, bytes]) => {
    bytes_held -= bytes;
    if (shared.get(key)?.deref() === undefined) shared.delete(key);
  });
  return (key: string, bytes: Bytes): Bun.BunFile => {
    const known = shared.get(key)?.deref();
    if (known !== undefined) return known as Bun.BunFile;
    if (bytes_held + bytes.length > MOST_IN_MEMORY) throw late();
    const made = new Blob([bytes]);
    bytes_held += bytes.length;
    shared.set(key, new WeakRef(made));
    freed.register(made, [key, bytes.length]);
    return made as Bun.BunFile;
  };
}

export function bucketReads(objects: Pick<BlobObjects, "get">, cache: BlobCache): Blobs {
  const copies = readBlobs(cache.path);
  const inMemory = openMemory();
  const fetching = new Map<string, Promise<Fetched>>();
  const gateOf = (width: number) => createGate({ width, ms: WAIT_MS, most: MOST_WAITING, late });
  const [small, large] = [gateOf(FETCHED_AT_ONCE.small), gateOf(FETCHED_AT_ONCE.large)];

  async function fetchNow(file: Stored): Promise<Fetched> {
    const bytes = await objects.get(file);
    if (bytes === null) throw new DamagedBlob(file.sha256, "is not in the bucket");
    if (contentHash(bytes) !== file.sha256) throw new DamagedBlob(file.sha256, "does not match its hash");
    return { bytes, kept: await cache.put(file.sha256, bytes) };
  }
  /** Many readers of one blob fetch it once. */
  function fetchOnce(file: Stored): Promise<Fetched> {
    const key = objectOf(file);
    const gate = file.bytes <= SMALL ? small : large;
    const under_way = fetching.get(key) ?? gate.run(() => fetchNow(file)).finally(() => fetching.delete(key));
    fetching.set(key, under_way);
    return under_way;
  }
  async function openFetched(file: Stored): Promise<Bun.BunFile> {
    const { bytes, kept } = await fetchOnce(file);
    const held = () => inMemory(objectOf(file), bytes);
    if (!kept) return held();
    return Promise.resolve(copies.open(file)).catch((error: unknown) => {
      unlessDamaged(error); // another process needed its room
      return held();
    });
  }
  const unlessDamaged = (error: unknown): void => {
    if (!(error instanceof DamagedBlob)) throw error;
  };
  return {
    async read(file) {
      try {
        const bytes = await copies.read(file);
        cache.used(file.sha256);
        return bytes;
      } catch (error) {
        unlessDamaged(error);
        return new Uint8Array((await fetchOnce(file)).bytes); // a copy: the caller's alone
      }
    },
    open(file) {
      const known = copies.open(file);
      cache.used(file.sha256);
      if (!(known instanceof Promise)) return known;
      return known.catch((error: unknown) => {
        unlessDamaged(error);
        return openFetched(file);
      });
    },
  };
}
