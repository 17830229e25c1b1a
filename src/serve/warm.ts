/** Compresses a new version ahead of its readers, one file after the other, so that no request is slower for it. */
import type { StoredFile } from "../store/versions.ts";
import type { Site } from "../base/types.ts";
import type { Bodies } from "./bodies.ts";
import type { Manifests } from "./manifests.ts";
import { dressOf, type LoadedVersions, type SiteKey } from "./versions.ts";
import { isCoded } from "./encode.ts";

type Warmed = SiteKey & Pick<Site, "comments_mode" | "comments_changes">;

export type Warm = (site: Warmed, version_id: string) => Promise<void>;

/** Past this many versions in line, the first reader of a file waits for it instead. */
const LONGEST_LINE = 20;

/** Brotli alone: every browser takes it. What another client asks for is made when it asks. */
export function createWarm(
  versions: LoadedVersions,
  manifests: Manifests,
  bodies: Bodies,
  ending: () => boolean,
): Warm {
  let last = Promise.resolve();
  let in_line = 0;

  async function warmVersion(site: Warmed, version_id: string): Promise<void> {
    const version = ending() ? null : await versions.read(site, version_id, dressOf(site));
    const manifest = version && (await manifests.of(version));
    if (version === null || manifest === null) return;
    for (const file of indexFirst([...manifest.values()])) {
      if (ending()) return;
      if (!isCoded(file.media_type)) continue;
      await bodies.warm(bodies.of(version, file), "br");
    }
  }

  return async (site, version_id) => {
    if (in_line >= LONGEST_LINE) return;
    in_line++;
    const before = last;
    const turn = before.then(() => warmVersion(site, version_id)).finally(() => in_line--);
    // A version that cannot be read must not stop the ones behind it.
    last = turn.catch(() => {});
    await turn;
  };
}

const indexFirst = (files: StoredFile[]): StoredFile[] =>
  files.sort((a, b) => Number(b.path === "index.html") - Number(a.path === "index.html"));
