/** The manifests of versions, with a share of the cache of their own: of a site with many files the manifest takes more
 *  than all that is answered from it, and what was answered needs it no more. */
import type { ServingStore } from "../store/serving.ts";
import type { StoredManifest } from "../store/versions.ts";
import type { Budget } from "./budget.ts";
import type { KeptManifest, LoadedVersion } from "./kept.ts";

const FILE_COST = 400;

export interface Manifests {
  /** At once where it is here; null where the site is gone meanwhile. */
  of(loaded: LoadedVersion): StoredManifest | Promise<StoredManifest | null>;
  keep(loaded: LoadedVersion, files: StoredManifest): StoredManifest;
  release(loaded: LoadedVersion): void;
}

function drop(this: KeptManifest): void {
  this.of.manifest = null;
}

export function createManifests(store: Pick<ServingStore, "versions">, budget: Budget): Manifests {
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
