/** Versions with their manifests, and all that is kept for them. */
import type { ServingStore, StoredManifest } from "../store/serving.ts";
import type { Version } from "../types.ts";
import type { Budget } from "./budget.ts";
import type { Answer, LoadedVersion } from "./kept.ts";

export interface LoadedVersions {
  /** The version if it is here. Never awaits. */
  ready(site_id: string, version_id: string): LoadedVersion | undefined;
  /** Null where the site has no such version. */
  read(site_id: string, version_id: string): Promise<LoadedVersion | null>;
  /** At once where it is here; null where the site is gone meanwhile. */
  manifestOf(loaded: LoadedVersion): StoredManifest | Promise<StoredManifest | null>;
}

const VERSION_COST = 1000;
const FILE_COST = 400;

export function createVersions(
  store: Pick<ServingStore, "versions">,
  budget: Budget,
  manifests: Budget,
): LoadedVersions {
  const versions = new Map<string, LoadedVersion>();
  const reading = new Map<string, Promise<LoadedVersion | null>>();
  const keyOf = (site_id: string, version_id: string) => `${site_id}/${version_id}`;

  function read(site_id: string, version_id: string): Promise<LoadedVersion | null> {
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
    const loaded = newVersion(version, (it) => {
      versions.delete(key);
      discard(it, budget, manifests);
    });
    versions.set(key, loaded);
    budget.keep(loaded);
    keepManifest(loaded, manifest);
    return loaded;
  }

  /** By itself: of a site with many files it takes more than all that is answered from it, and is not needed for that. */
  function keepManifest(loaded: LoadedVersion, manifest: StoredManifest): StoredManifest {
    const drop = () => void (loaded.manifest = null);
    loaded.manifest = { files: manifest, cost: FILE_COST * manifest.size, used: false, drop };
    manifests.keep(loaded.manifest);
    return manifest;
  }

  async function readManifest(loaded: LoadedVersion): Promise<StoredManifest | null> {
    const { site_id, version_id } = loaded.version;
    const manifest = await store.versions.manifest(site_id, version_id);
    return manifest && (loaded.manifest?.files ?? keepManifest(loaded, manifest));
  }

  function manifestOf(loaded: LoadedVersion): StoredManifest | Promise<StoredManifest | null> {
    if (loaded.manifest === null) return readManifest(loaded);
    loaded.manifest.used = true;
    return loaded.manifest.files;
  }

  return { ready: (site_id, version_id) => versions.get(keyOf(site_id, version_id)), read, manifestOf };
}

/** Gives back the room of all that is kept for the version. */
function discard(loaded: LoadedVersion, budget: Budget, manifests: Budget): void {
  if (loaded.row !== null) loaded.row.live = null;
  if (loaded.manifest !== null) manifests.release(loaded.manifest);
  for (const { content } of loaded.bodies.values()) {
    // What is no page belongs to the blob, and goes by itself.
    if (content.page_of !== null) for (const form of content.forms.values()) budget.release(form);
  }
  for (const answer of loaded.answers.values()) {
    budget.release(answer);
    if (answer.kind !== "redirect") answer.forget?.();
  }
  loaded.bodies.clear();
  loaded.answers.clear();
}

function newVersion(version: Version, discarded: (it: LoadedVersion) => void): LoadedVersion {
  let used = true;
  const answers = new Map<string, Answer>();
  const loaded: LoadedVersion = {
    version,
    manifest: null,
    bodies: new Map(),
    answers,
    row: null,
    cost: VERSION_COST,
    // It takes all its bodies along, so it stays until they have gone one by one.
    get used() {
      return used || answers.size > 0;
    },
    set used(now) {
      used = now;
    },
    drop: () => discarded(loaded),
  };
  return loaded;
}
