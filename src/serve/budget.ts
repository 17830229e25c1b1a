/** One byte budget for everything that serving keeps: site rows, manifests, bodies and answers push each other out. */

/** Something kept. A hit only raises `used`: deleting and setting a Map key on each hit costs more than the look-up. */
export interface Kept {
  /** What it takes of the budget, roughly. Never changes while it is kept. */
  readonly cost: number;
  used: boolean;
  /** Takes it out of where it is looked up. Called when its room is wanted. */
  drop(): void;
}

export interface Budget {
  keep(item: Kept): void;
  release(item: Kept): void;
  /** So many bytes were read or coded, to be kept or not: none of them is free before a collection. */
  made(bytes: number): void;
  /** What is kept now, in bytes. */
  total(): number;
}

/** JavaScript sees a Blob as a few bytes, so what was dropped, and what was read only to be coded, stays in memory until
 *  some later collection (bench/README.md has what a crawl holds with and without this). */
const MADE_BEFORE_COLLECTION = 16 * 1024 * 1024;

/** While this process is smaller the collection runs beside the pages, which wait 6 ms for it and not 60; it gives nothing
 *  back that a crawl would leave it time for, so past this they wait. */
const ROOMY = 192 * 1024 * 1024;

function collectMemory(): void {
  let resident = Infinity;
  try {
    resident = process.memoryUsage.rss();
  } catch {} // no descriptor is left to read it by
  Bun.gc(resident > ROOMY);
}

/** Second chance: the oldest goes unless it was used since it was last looked at; then it counts as new. */
export function createBudget(max_bytes: number, collect = collectMemory): Budget {
  const queue = new Set<Kept>();
  let total = 0;
  let unseen = 0;

  function release(item: Kept): void {
    if (queue.delete(item)) total -= item.cost;
  }

  function made(bytes: number): void {
    unseen += bytes;
    if (unseen < MADE_BEFORE_COLLECTION) return;
    unseen = 0;
    collect();
  }

  function makeRoom(): void {
    for (const item of queue) {
      if (total <= max_bytes) return;
      if (item.used) {
        item.used = false;
        queue.delete(item);
        queue.add(item);
      } else {
        release(item);
        item.drop();
      }
    }
  }

  function keep(item: Kept): void {
    queue.add(item);
    total += item.cost;
    if (total > max_bytes) makeRoom();
  }

  return { keep, release, made, total: () => total };
}
