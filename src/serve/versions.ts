/** Versions with their manifests, and all that is kept for them. */
import { HEADERS } from "../rules/headers.ts";
import { MOST_RULE_BYTES, NO_RULES, rulesOf, type VersionRules } from "../rules/index.ts";
import { REDIRECTS } from "../rules/redirects.ts";
import type { ServingStore } from "../store/serving.ts";
import type { StoredManifest } from "../store/versions.ts";
import type { Site, Version } from "../base/types.ts";
import type { Budget } from "./budget.ts";
import type { Entries, LoadedVersion } from "./kept.ts";
import type { Manifests } from "./manifests.ts";
import type { Shortcuts } from "./shortcuts.ts";

/** Versions that were removed are not looked for under the count that came with it: they grow old and go. */
export type SiteKey = Pick<Site, "site_id" | "removals">;

/** Of a version that is not asked for as one of the site's. What differs by it is kept apart. */
export interface Beside {
  /** Of one that only previews show: what tells its row from any other. */
  only: string | null;
  /** The preview's name where that is the host: the site's `_headers` may speak of it. */
  name: string | null;
}

/** In what a version is shown: where comments are on, `c<n>`, n counting each change of their settings (CONTRACT 6), so that
 *  whatever is kept of it under another one is never taken for it; empty where they are off, and on a version's own host. */
export const dressOf = ({
  comments_mode,
  comments_changes,
}: Pick<Site, "comments_mode" | "comments_changes">): string => (comments_mode === "off" ? "" : `c${comments_changes}`);

export interface LoadedVersions {
  /** The version if it is here. Never awaits. */
  ready(site: SiteKey, version_id: string, dress: string, beside?: Beside): LoadedVersion | undefined;
  /** Null where the site has no such version. */
  read(site: SiteKey, version_id: string, dress: string, beside?: Beside): Promise<LoadedVersion | null>;
}

const LISTED: Beside = { only: null, name: null };

const VERSION_COST = 800;

interface Parts {
  store: Pick<ServingStore, "versions" | "blobs">;
  budget: Budget;
  manifests: Manifests;
  shortcuts: Pick<Shortcuts, "forget">;
}

export function createVersions(parts: Parts): LoadedVersions {
  const { store, budget, manifests } = parts;
  const versions = new Map<string, LoadedVersion>();
  const reading = new Map<string, Promise<LoadedVersion | null>>();
  const keyOf = ({ site_id, removals }: SiteKey, version_id: string, dress: string, { only, name } = LISTED) =>
    `${site_id}/${only ?? removals}/${version_id}/${name === null ? dress : `${name}--`}`;

  function read(site: SiteKey, version_id: string, dress: string, beside?: Beside): Promise<LoadedVersion | null> {
    const key = keyOf(site, version_id, dress, beside);
    const kept = versions.get(key);
    if (kept !== undefined) return Promise.resolve(kept);
    const find = beside?.only ? store.versions.stored : store.versions.get;
    const load_it = () => load(key, () => find(site.site_id, version_id), dress).finally(() => reading.delete(key));
    const under_way = reading.get(key) ?? load_it();
    reading.set(key, under_way);
    return under_way;
  }

  async function load(key: string, find: () => Promise<Version | null>, dress: string): Promise<LoadedVersion | null> {
    const version = await find();
    const manifest = version && (await store.versions.manifest(version.site_id, version.version_id));
    if (version === null || manifest === null) return null;
    const rules = await readRules(store.blobs, manifest);
    const loaded = new KeptVersion(key, version, dress, rules, drop);
    versions.set(key, loaded);
    budget.keep(loaded);
    manifests.keep(loaded, manifest);
    return loaded;
  }

  function drop(this: KeptVersion): void {
    versions.delete(this.key);
    discard(this, parts);
  }

  return { ready: (site, ...which) => versions.get(keyOf(site, ...which)), read };
}

/** Read anew with each version that comes into the cache: a copy of them in the database would be a second truth, and take
 *  as long to be read. */
async function readRules(blobs: Pick<ServingStore["blobs"], "read">, files: StoredManifest): Promise<VersionRules> {
  const [redirects, headers] = [files.get(REDIRECTS), files.get(HEADERS)];
  if (redirects === undefined && headers === undefined) return NO_RULES;
  const read = (file: typeof redirects) =>
    file === undefined || file.bytes > MOST_RULE_BYTES ? null : blobs.read(file);
  return rulesOf(await read(redirects), await read(headers));
}

/** Gives back the room of all that is kept for the version. */
function discard(loaded: LoadedVersion, { budget, manifests, shortcuts }: Parts): void {
  if (loaded.row !== null) loaded.row.live = null;
  loaded.row = null;
  manifests.release(loaded);
  for (const { content } of loaded.bodies.values()) {
    // What is no page belongs to the blob, and goes by itself.
    if (content.page_of !== null) for (const form of Object.values(content.forms)) if (form) budget.release(form);
  }
  for (const answer of loaded.answers.values()) {
    budget.release(answer);
    if (answer.kind !== "redirect") shortcuts.forget(answer);
  }
  loaded.bodies.clear();
  loaded.answers.clear();
}

/** A map that needs no table for its first entry: most sites are asked for one page, and two tables take as much of their
 *  room as all else that is kept of a version. */
class Few<Value> implements Entries<Value> {
  #key: string | null = null;
  #value: Value | undefined = undefined;
  #others: Map<string, Value> | null = null;
  get size(): number {
    return (this.#key === null ? 0 : 1) + (this.#others?.size ?? 0);
  }
  get(key: string): Value | undefined {
    return key === this.#key ? this.#value : this.#others?.get(key);
  }
  set(key: string, value: Value): void {
    if (key !== this.#key && (this.#key !== null || this.#others?.has(key))) {
      (this.#others ??= new Map()).set(key, value);
    } else [this.#key, this.#value] = [key, value];
  }
  delete(key: string): void {
    if (key === this.#key) [this.#key, this.#value] = [null, undefined];
    else this.#others?.delete(key);
  }
  values(): Value[] {
    return [...(this.#key === null ? [] : [this.#value!]), ...(this.#others?.values() ?? [])];
  }
  clear(): void {
    [this.#key, this.#value, this.#others] = [null, undefined, null];
  }
}

/** A class, for each has its `used` without two functions of its own. */
class KeptVersion implements LoadedVersion {
  manifest: LoadedVersion["manifest"] = null;
  readonly bodies: LoadedVersion["bodies"] = new Few();
  readonly answers: LoadedVersion["answers"] = new Few();
  row: LoadedVersion["row"] = null;
  readonly cost: number;
  #used = true;
  constructor(
    readonly key: string,
    readonly version: Version,
    readonly dress: string,
    readonly rules: VersionRules,
    readonly drop: () => void,
  ) {
    this.cost = VERSION_COST + (rules.redirects?.bytes ?? 0) + (rules.headers?.bytes ?? 0);
  }
  /** It takes all its bodies along, so it stays until they have gone one by one. */
  get used(): boolean {
    return this.#used || this.answers.size > 0;
  }
  set used(now: boolean) {
    this.#used = now;
  }
}
