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
  /** What is kept now, in bytes. */
  total(): number;
}

/** Second chance: the oldest goes unless it was used since it was last looked at; then it counts as new. */
export function createBudget(max_bytes: number): Budget {
  const queue = new Set<Kept>();
  let total = 0;

  function release(item: Kept): void {
    if (queue.delete(item)) total -= item.cost;
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

  return { keep, release, total: () => total };
}
