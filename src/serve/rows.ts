/** Site rows by slug: what a request needs to know of a site before it can look for a version. */
import type { ServingStore } from "../store/serving.ts";
import type { Site } from "../base/types.ts";
import type { Budget } from "./budget.ts";
import type { LoadedVersion, Row } from "./kept.ts";
import { dressOf, type LoadedVersions } from "./versions.ts";

export interface Rows {
  /** The row if it is here and still holds. Never awaits. */
  ready(slug: string): Row | undefined;
  read(slug: string): Promise<Row>;
  /** The live version of a row, also when it was read again after it was pushed out. */
  setLive(row: Row, version: LoadedVersion): void;
}

const ROW_COST = 800;

export function createRows(store: ServingStore, budget: Budget, versions: LoadedVersions): Rows {
  const { keep, setLive, known } = createKept(budget);

  async function read(slug: string): Promise<Row> {
    // Before the row: read after it, an old row would pass for a new one.
    const generation = store.generation.current(slug);
    const site = await store.sites.bySlug(slug);
    const tombstone = site === null ? await store.sites.tombstone(slug) : null;
    const live = site === null ? null : await versions.read(site, site.live_version_id, dressOf(site));
    if (site !== null && live === null) return readAgain(site, generation);
    return keep({ slug, generation, site, tombstone, live, previews: null, cost: ROW_COST, used: false });
  }

  /** A site may go between two reads; one that stays and has no live version is broken. */
  function readAgain(site: Site, generation: number): Promise<Row> {
    if (store.generation.current(site.slug) !== generation) return read(site.slug);
    throw new Error(`site ${site.site_id} points at version ${site.live_version_id}, which is not stored`);
  }

  function ready(slug: string): Row | undefined {
    const kept = known(slug);
    return kept !== undefined && kept.generation === store.generation.current(slug) ? kept : undefined;
  }

  return { ready, read, setLive };
}

/** The rows that are here, one of each slug. */
function createKept(budget: Budget) {
  const rows = new Map<string, Row>();

  /** Its version stays, and must not hold on to it. */
  function drop(this: Row): void {
    rows.delete(this.slug);
    if (this.live?.row === this) this.live.row = null;
  }
  function setLive(row: Row, version: LoadedVersion): void {
    row.live = version;
    if (rows.get(row.slug) === row) version.row = row; // it may have been pushed out meanwhile
  }
  function keep(read: Omit<Row, "drop">): Row {
    const row = { ...read, drop };
    const before = rows.get(row.slug);
    if (before !== undefined) {
      budget.release(before);
      before.drop();
    }
    rows.set(row.slug, row);
    if (row.live !== null) setLive(row, row.live);
    budget.keep(row);
    return row;
  }

  return { keep, setLive, known: (slug: string) => rows.get(slug) };
}
