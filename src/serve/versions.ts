/** The versions in the cache: their manifests, and all entries that belong to a version and leave with it. */

import type { Site, Version } from "../base/types.ts";
import { HEADERS } from "../rules/headers.ts";
import { MOST_RULE_BYTES, NO_RULES, rulesOf, type VersionRules } from "../rules/index.ts";
import { REDIRECTS } from "../rules/redirects.ts";
import type { ServingStore } from "../store/serving.ts";
import type { StoredManifest } from "../store/versions.ts";
import type { ByteBudgetCache, Entries, KeptManifest, LoadedVersion } from "./cache.ts";
import type { Shortcuts } from "./shortcuts.ts";

/** `removals` counts removed versions. It is part of a version's key, so a removed version is not found any more and grows
 *  old in the cache. */
export type SiteKey = Pick<Site, "site_id" | "removals">;

/** How a version is shown that is not the live one. Versions that differ by it have entries of their own. */
export interface BesideLive {
  /** For a version that only previews show: the mark that distinguishes its row from any other. */
  only: string | null;
  /** The preview's name if the host has it: the site's `_headers` may name it. */
  name: string | null;
}

/** The variant of a version's pages: `c<n>` if comments are on, where n counts the changes of their settings (CONTRACT 6).
 *  It is part of the key, so pages under other settings are never mixed up. Empty if comments are off, and on a version's
 *  own host. */
export const commentsVariantOf = ({
  comments_mode,
  comments_changes,
}: Pick<Site, "comments_mode" | "comments_changes">): string => (comments_mode === "off" ? "" : `c${comments_changes}`);

export interface LoadedVersions {
  /** The version if it is in the cache. Never awaits. */
  ready(site: SiteKey, version_id: string, comments_variant: string, beside?: BesideLive): LoadedVersion | undefined;
  /** Null if the site has no such version. */
  read(site: SiteKey, version_id: string, comments_variant: string, beside?: BesideLive): Promise<LoadedVersion | null>;
}

const LISTED: BesideLive = { only: null, name: null };

const VERSION_COST = 800;

interface VersionsParts {
  store: Pick<ServingStore, "versions" | "blobs">;
  budget: ByteBudgetCache;
  manifests: Manifests;
  shortcuts: Pick<Shortcuts, "forget">;
}

export function createVersions(parts: VersionsParts): LoadedVersions {
  const { store, budget, manifests } = parts;
  const versions = new Map<string, LoadedVersion>();
  const reading = new Map<string, Promise<LoadedVersion | null>>();
  const keyOf = (
    { site_id, removals }: SiteKey,
    version_id: string,
    comments_variant: string,
    { only, name } = LISTED,
  ) => `${site_id}/${only ?? removals}/${version_id}/${name === null ? comments_variant : `${name}--`}`;

  function read(
    site: SiteKey,
    version_id: string,
    comments_variant: string,
    beside?: BesideLive,
  ): Promise<LoadedVersion | null> {
    const key = keyOf(site, version_id, comments_variant, beside);
    const kept = versions.get(key);
    if (kept !== undefined) return Promise.resolve(kept);
    const find = beside?.only ? store.versions.stored : store.versions.get;
    const load_it = () =>
      load(key, () => find(site.site_id, version_id), comments_variant).finally(() => reading.delete(key));
    const under_way = reading.get(key) ?? load_it();
    reading.set(key, under_way);
    return under_way;
  }

  async function load(
    key: string,
    find: () => Promise<Version | null>,
    comments_variant: string,
  ): Promise<LoadedVersion | null> {
    const version = await find();
    const manifest = version && (await store.versions.manifest(version.site_id, version.version_id));
    if (version === null || manifest === null) return null;
    const rules = await readRules(store.blobs, manifest);
    const loaded = new KeptVersion(key, version, comments_variant, rules, drop);
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

/** Reads the rules anew with each version that comes into the cache. A copy in the database would be a second truth and
 *  take as long to read. */
async function readRules(blobs: Pick<ServingStore["blobs"], "read">, files: StoredManifest): Promise<VersionRules> {
  const [redirects, headers] = [files.get(REDIRECTS), files.get(HEADERS)];
  if (redirects === undefined && headers === undefined) return NO_RULES;
  const read = (file: typeof redirects) =>
    file === undefined || file.bytes > MOST_RULE_BYTES ? null : blobs.read(file);
  return rulesOf(await read(redirects), await read(headers));
}

/** Releases all entries of the version. */
function discard(loaded: LoadedVersion, { budget, manifests, shortcuts }: VersionsParts): void {
  if (loaded.row !== null) loaded.row.live = null;
  loaded.row = null;
  manifests.release(loaded);
  for (const { content } of loaded.bodies.values()) {
    // Content that is no page belongs to the blob and leaves by itself.
    if (content.page_of !== null) for (const form of Object.values(content.encoded)) if (form) budget.release(form);
  }
  for (const answer of loaded.answers.values()) {
    budget.release(answer);
    if (answer.kind !== "redirect") shortcuts.forget(answer);
  }
  loaded.bodies.clear();
  loaded.answers.clear();
}

/** A map that needs no table for its first entry. Most sites are asked for one page, and two tables take as much memory as
 *  everything else that is kept for a version. */
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

/** A class, so that `used` needs no two functions for each version. */
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
    readonly comments_variant: string,
    readonly rules: VersionRules,
    readonly drop: () => void,
  ) {
    this.cost = VERSION_COST + (rules.redirects?.bytes ?? 0) + (rules.headers?.bytes ?? 0);
  }
  /** A version takes all its bodies along when it leaves, so it stays until they have left one by one. */
  get used(): boolean {
    return this.#used || this.answers.size > 0;
  }
  set used(now: boolean) {
    this.#used = now;
  }
}

const FILE_COST = 400;

/** Manifests have a share of the cache of their own: the manifest of a site with many files takes more than all answers
 *  that were made from it, and those do not need it any more. */
export interface Manifests {
  /** At once if it is in the cache. Null if the site was removed meanwhile. */
  of(loaded: LoadedVersion): StoredManifest | Promise<StoredManifest | null>;
  keep(loaded: LoadedVersion, files: StoredManifest): StoredManifest;
  release(loaded: LoadedVersion): void;
}

function drop(this: KeptManifest): void {
  this.of.manifest = null;
}

export function createManifests(store: Pick<ServingStore, "versions">, budget: ByteBudgetCache): Manifests {
  function keep(loaded: LoadedVersion, files: StoredManifest): StoredManifest {
    loaded.manifest = { of: loaded, files, cost: FILE_COST * files.size, used: false, drop };
    budget.keep(loaded.manifest);
    return files;
  }

  async function read(loaded: LoadedVersion): Promise<StoredManifest | null> {
    const { site_id, version_id } = loaded.version;
    const files = await store.versions.manifest(site_id, version_id);
    return files && (loaded.manifest?.files ?? keep(loaded, files));
  }

  return {
    keep,
    of(loaded) {
      if (loaded.manifest === null) return read(loaded);
      loaded.manifest.used = true;
      return loaded.manifest.files;
    },
    release(loaded) {
      if (loaded.manifest === null) return;
      budget.release(loaded.manifest);
      loaded.manifest.drop(); // a body that others share may hold the version
    },
  };
}
