/** Threads in the order in which the page is read: by their passages, then what is about the whole page, then what has lost
 *  its place. */
import type { Thread } from "../types.ts";
import type { Pinned } from "./page/pins.ts";
import type { Places } from "./page/places.ts";

const WHOLE = 1e9;
const LOST = 2e9;

function rankOf({ id, anchor }: Thread, places: Places): number {
  return places.of(id)?.start ?? (anchor.selector ? LOST : WHOLE);
}

const begunAt = ({ comments }: Thread): string => comments[0]?.created_at ?? "";

export const inReadingOrder = (threads: readonly Thread[], places: Places): Thread[] =>
  threads.toSorted(
    (a, b) => rankOf(a, places) - rankOf(b, places) || begunAt(a).localeCompare(begunAt(b)) || (a.id < b.id ? -1 : 1),
  );

export const pinnedOf = (threads: readonly Thread[], places: Places): Pinned[] =>
  threads.flatMap((thread) => {
    const place = places.of(thread.id);
    return place ? [{ thread, place }] : [];
  });
