/** What is kept of each site's former versions: which they are, read anew when any site changed, and what was found in
 *  them, for as long as they are the same. */
import type { LeftVersion } from "../../store/versions.ts";
import type { ServingStore } from "../../store/serving.ts";
import type { Site } from "../../base/types.ts";
import type { Budget, Kept } from "../budget.ts";

export interface Shield<Found extends Kept> extends Kept {
  readonly site_id: string;
  /** Of the store's counter: so long `left` holds. */
  generation: number;
  /** The one that was left last first. */
  readonly left: readonly LeftVersion[];
  readonly found: Map<string, Found>;
}

export interface Shields<Found extends Kept> {
  /** At once where it is here and holds. */
  of(site: Site): Shield<Found> | Promise<Shield<Found>>;
  /** Takes in what was found at a path. */
  keep(shield: Shield<Found>, path: string, cost: number, make: (kept: Kept) => Found): Found;
}

/** So many versions are looked into. */
const MOST_LEFT = 10;
const SHIELD_COST = 2000;

interface Parts {
  store: Pick<ServingStore, "generation" | "versions">;
  budget: Budget;
}

export function createShields<Found extends Kept>(parts: Parts): Shields<Found> {
  const { store, budget } = parts;
  const shields = new Map<string, Shield<Found>>();
  return {
    of(site) {
      const kept = shields.get(site.site_id);
      if (kept === undefined || kept.generation !== store.generation.current(site.slug)) {
        return read(parts, shields, site);
      }
      kept.used = true;
      return kept;
    },
    keep(shield, path, cost, make) {
      const { found, site_id } = shield;
      const one = make({ cost, used: false, drop: () => void (found.get(path) === one && found.delete(path)) });
      // A site that changed meanwhile has another shield by now.
      if (shields.get(site_id) !== shield) return one;
      // Two may have looked for it at once.
      const before = found.get(path);
      if (before !== undefined) budget.release(before);
      found.set(path, one);
      budget.keep(one);
      return one;
    },
  };
}

type All<Found extends Kept> = Map<string, Shield<Found>>;

async function read<Found extends Kept>(
  { store, budget }: Parts,
  shields: All<Found>,
  { site_id, slug }: Site,
): Promise<Shield<Found>> {
  // Before what it says something about.
  const generation = store.generation.current(slug);
  const left = await store.versions.left(site_id, MOST_LEFT);
  const before = shields.get(site_id);
  if (before !== undefined && Bun.deepEquals(before.left, left)) {
    before.generation = generation;
    return before;
  }
  if (before !== undefined) {
    budget.release(before);
    before.drop();
  }
  return begin({ site_id, generation, left }, shields, budget);
}

function begin<Found extends Kept>(
  of: Pick<Shield<Found>, "site_id" | "generation" | "left">,
  shields: All<Found>,
  budget: Budget,
): Shield<Found> {
  const found = new Map<string, Found>();
  const drop = () => {
    if (shields.get(of.site_id) === shield) shields.delete(of.site_id);
    for (const one of found.values()) budget.release(one);
    found.clear();
  };
  const shield: Shield<Found> = { ...of, found, cost: SHIELD_COST, used: true, drop };
  shields.set(of.site_id, shield);
  budget.keep(shield);
  return shield;
}
