/** What is kept of each site's former versions: which they are, read anew when any site changed, and what was found in
 *  them, for as long as they are the same. */
import type { LeftVersion, ServingStore } from "../../store/serving.ts";
import type { Site } from "../../types.ts";
import type { Budget, Kept } from "../budget.ts";

export interface Shield<Found extends Kept> extends Kept {
  readonly site_id: string;
  /** Of the store's counter: so long `left` holds. */
  generation: number;
  /** The one that was left last first. */
  readonly left: readonly LeftVersion[];
  readonly found: Map<string, Found>;
  /** Takes in what was found at a path. */
  keep(path: string, cost: number, make: (kept: Kept) => Found): Found;
}

/** So many versions are looked into. */
const MOST_LEFT = 10;
const SHIELD_COST = 2000;

interface Parts {
  store: Pick<ServingStore, "generation" | "versions">;
  budget: Budget;
}

export function createShields<Found extends Kept>({ store, budget }: Parts) {
  const shields = new Map<string, Shield<Found>>();

  function forget(shield: Shield<Found>): void {
    if (shields.get(shield.site_id) === shield) shields.delete(shield.site_id);
    for (const found of shield.found.values()) budget.release(found);
    shield.found.clear();
  }

  async function read({ site_id, slug }: Site): Promise<Shield<Found>> {
    // Before what it says something about.
    const generation = store.generation.current(slug);
    const left = await store.versions.left(site_id, MOST_LEFT);
    const before = shields.get(site_id);
    if (before !== undefined && areSame(before.left, left)) {
      before.generation = generation;
      return before;
    }
    if (before !== undefined) {
      budget.release(before);
      forget(before);
    }
    const shield = newShield(site_id, generation, left, budget, forget);
    shields.set(site_id, shield);
    budget.keep(shield);
    return shield;
  }

  return (site: Site): Shield<Found> | Promise<Shield<Found>> => {
    const kept = shields.get(site.site_id);
    if (kept === undefined || kept.generation !== store.generation.current(site.slug)) return read(site);
    kept.used = true;
    return kept;
  };

  function newShield(
    site_id: string,
    generation: number,
    left: readonly LeftVersion[],
    budget: Budget,
    forget: (shield: Shield<Found>) => void,
  ): Shield<Found> {
    const found = new Map<string, Found>();
    const shield: Shield<Found> = {
      site_id,
      generation,
      left,
      found,
      cost: SHIELD_COST,
      used: true,
      drop: () => forget(shield),
      keep(path, cost, make) {
        const one = make({ cost, used: false, drop: () => void (found.get(path) === one && found.delete(path)) });
        // Two may have looked for it at once; and one whose site changed meanwhile is kept by nobody.
        const before = found.get(path);
        if (before !== undefined) budget.release(before);
        if (shields.get(site_id) !== shield) return one;
        found.set(path, one);
        budget.keep(one);
        return one;
      },
    };
    return shield;
  }
}

const areSame = (some: readonly LeftVersion[], others: readonly LeftVersion[]): boolean =>
  some.length === others.length && some.every((one, i) => Bun.deepEquals(one, others[i]));
