/** Looks for quotes in stored pages, in threads of their own: a large page takes seconds, and no other page may wait for
 *  that. Small pages have a thread to themselves, so that who comments there waits for no large one either. */
import type { From } from "../run/gate.ts";
import type { Quote } from "../store/notes.ts";
import type { Stored } from "../store/versions.ts";
import type { LocateReply } from "./locate-order.ts";
import { openLane } from "./locate-lane.ts";

/** Bytes of a page: the worst of them takes some 50 ms. Most pages are smaller. */
const SMALL = 128 << 10;
/** A larger page is not looked through: as when it is carried to another version. */
const LARGEST = 8 << 20;
/** Of one search, for whatever else the machine does meanwhile. */
const DEADLINE_MS = 2000;
/** So long a page that took the whole deadline is left alone, and so many of them: a machine was perhaps busy. */
const LEFT_ALONE_MS = 10 * 60_000;
const MOST_LEFT_ALONE = 1000;

type Found = LocateReply["found"];

export interface Locating {
  /** Null where it is not found, or not in time. `from`: whose turn it is. */
  locate(file: Stored, quote: Quote, from: From): Promise<Found>;
  stop(): void;
}

/** Contents that took too long lately; the oldest are forgotten first. */
function hangingPages() {
  const seen = new Map<string, number>();
  return {
    add(sha256: string): void {
      seen.delete(sha256);
      seen.set(sha256, performance.now());
      if (seen.size > MOST_LEFT_ALONE) seen.delete(seen.keys().next().value!);
    },
    has: (sha256: string): boolean => performance.now() - (seen.get(sha256) ?? -Infinity) < LEFT_ALONE_MS,
  };
}

export function startLocating(data_dir: string): Locating {
  const [small, large] = [openLane(data_dir, DEADLINE_MS), openLane(data_dir, DEADLINE_MS)];
  const hanging = hangingPages();

  async function locate({ sha256, bytes, blob_no }: Stored, quote: Quote, from: From): Promise<Found> {
    const isWanted = () => !hanging.has(sha256);
    if (bytes > LARGEST || !isWanted()) return null;
    const lane = bytes <= SMALL ? small : large;
    const found = await lane.search({ file: { sha256, bytes, blob_no }, quote }, from, isWanted);
    if (found === "too long") hanging.add(sha256);
    return typeof found === "string" ? null : found;
  }
  return {
    locate,
    stop() {
      small.stop();
      large.stop();
    },
  };
}
