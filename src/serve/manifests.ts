/** Site rows by slug, and versions with their manifests: what a request needs to know before it can look for a file. */
import type { ServingStore, StoredManifest } from "../store/serving.ts";
import type { Site, Tombstone, Version } from "../types.ts";
import type { Answer } from "./responses.ts";
import type { Body } from "./bodies.ts";
import type { Budget, Kept } from "./budget.ts";

/** A version never changes, so nothing here is ever invalidated; what hangs on it goes with it. */
export interface LoadedVersion extends Kept {
  readonly version: Version;
  readonly manifest: StoredManifest;
  /** By path of the file. Two sites with equal files have other attribution, so bodies belong to the version. */
  readonly bodies: Map<string, Body>;
  /** By path of the request. */
  readonly answers: Map<string, Answer>;
  /** The row it is live in, which must not hold on to it once it is pushed out. */
  row: Row | null;
}

/** What a slug means. It holds for as long as the store's counter stays at `generation`. */
export interface Row extends Kept {
  readonly generation: number;
  readonly site: Site | null;
  /** Of a site that is gone. */
  readonly tombstone: Tombstone | null;
  /** Null where there is no site, and once the version was pushed out. */
  live: LoadedVersion | null;
}

export interface Manifests {
  /** The row if it is here and still holds. Never awaits. */
  row(slug: string): Row | undefined;
  readRow(slug: string): Promise<Row>;
  /** The live version of a row, read again after it was pushed out. */
  setLive(row: Row, version: LoadedVersion): void;
  version(site_id: string, version_id: string): LoadedVersion | undefined;
  /** Null where the site has no such version. */
  readVersion(site_id: string, version_id: string): Promise<LoadedVersion | null>;
}

const ROW_COST = 800;
const VERSION_COST = 1000;
const FILE_COST = 400;

export function createManifests(store: ServingStore, budget: Budget): Manifests {
  const rows = new Map<string, Row>();
  const versions = new Map<string, LoadedVersion>();
  const reading = new Map<string, Promise<LoadedVersion | null>>();
  const keyOf = (site_id: string, version_id: string) => `${site_id}/${version_id}`;

  function row(slug: string): Row | undefined {
    const kept = rows.get(slug);
    return kept !== undefined && kept.generation === store.generation.current(slug) ? kept : undefined;
  }

  async function readRow(slug: string): Promise<Row> {
    // Before the row: read after it, an old row would pass for a new one.
    const generation = store.generation.current(slug);
    const site = await store.sites.bySlug(slug);
    const tombstone = site === null ? await store.sites.tombstone(slug) : null;
    const live = site === null ? null : await readVersion(site.site_id, site.live_version_id);
    if (site !== null && live === null) return readAgain(site, generation);
    return keepRow(slug, {
      generation,
      site,
      tombstone,
      live,
      cost: ROW_COST,
      used: false,
      drop: () => void rows.delete(slug),
    });
  }

  /** A site may go between two reads; one that stays and has no live version is broken. */
  function readAgain(site: Site, generation: number): Promise<Row> {
    if (store.generation.current(site.slug) !== generation) return readRow(site.slug);
    throw new Error(`site ${site.site_id} points at version ${site.live_version_id}, which is not stored`);
  }

  function keepRow(slug: string, read: Row): Row {
    const before = rows.get(slug);
    if (before !== undefined) budget.release(before);
    rows.set(slug, read);
    if (read.live !== null) setLive(read, read.live);
    budget.keep(read);
    return read;
  }

  function setLive(row: Row, version: LoadedVersion): void {
    row.live = version;
    version.row = row;
  }

  const version = (site_id: string, version_id: string) => versions.get(keyOf(site_id, version_id));

  function readVersion(site_id: string, version_id: string): Promise<LoadedVersion | null> {
    const key = keyOf(site_id, version_id);
    const kept = versions.get(key);
    if (kept !== undefined) return Promise.resolve(kept);
    const under_way = reading.get(key) ?? load(key, site_id, version_id).finally(() => reading.delete(key));
    reading.set(key, under_way);
    return under_way;
  }

  async function load(key: string, site_id: string, version_id: string): Promise<LoadedVersion | null> {
    const version = await store.versions.get(site_id, version_id);
    const manifest = version === null ? null : await store.versions.manifest(site_id, version_id);
    if (version === null || manifest === null) return null;
    const loaded = newVersion(version, manifest, (it) => discard(key, it));
    versions.set(key, loaded);
    budget.keep(loaded);
    return loaded;
  }

  function discard(key: string, loaded: LoadedVersion): void {
    versions.delete(key);
    if (loaded.row !== null) loaded.row.live = null;
    for (const body of loaded.bodies.values()) for (const form of body.forms.values()) budget.release(form);
    for (const answer of loaded.answers.values()) {
      budget.release(answer);
      if (answer.kind === "file") answer.forget?.();
    }
    loaded.bodies.clear();
    loaded.answers.clear();
  }

  return { row, readRow, setLive, version, readVersion };
}

function newVersion(version: Version, manifest: StoredManifest, discard: (it: LoadedVersion) => void): LoadedVersion {
  let used = true;
  const answers = new Map<string, Answer>();
  const loaded: LoadedVersion = {
    version,
    manifest,
    bodies: new Map(),
    answers,
    row: null,
    cost: VERSION_COST + FILE_COST * manifest.size,
    // It takes all its bodies along, so it stays until they have gone one by one.
    get used() {
      return used || answers.size > 0;
    },
    set used(now) {
      used = now;
    },
    drop: () => discard(loaded),
  };
  return loaded;
}
