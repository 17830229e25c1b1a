/** Pages of a site's versions as texts, for passages that are carried from one to the other. */
import { decodeHtml } from "../../html/decode.ts";
import { type Page, pageAt, type Pages } from "../../base/pages.ts";
import { effectiveSpa } from "../../base/site-state.ts";
import type { Blobs, Versions } from "../../store/serving.ts";
import type { Site } from "../../base/types.ts";
import { pageText } from "../page-text.ts";

/** Bytes of pages that one carrying reads, and of a single page: with the texts laid beside each other some seconds at
 *  most. What is more stays where it was found last. */
const MOST_BYTES = 64 << 20;
const MOST_OF_A_PAGE = 8 << 20;

interface VersionPages {
  /** The page of exactly this address; null where the version has none. */
  at(page: string): Page | null;
}

export interface PageTexts {
  /** Null: there is no such version any more. */
  version(version_id: string): Promise<VersionPages | null>;
  /** Null where it would be too much, or cannot be read. */
  text(page: Page): Promise<string | null>;
}

const pagesOf = (pages: Pages): VersionPages => ({
  at(address) {
    const page = pageAt(pages, address);
    return page?.page === address ? page : null;
  },
});

/** What is asked for twice in a row is read once: passages come page by page. */
export function pageTexts(
  site: Pick<Site, "site_id" | "spa_override">,
  versions: Pick<Versions, "get" | "manifest">,
  blobs: Blobs,
): PageTexts {
  const known = new Map<string, Promise<VersionPages | null>>();
  const texts = new Map<string, string>();
  let left = MOST_BYTES;

  async function readVersion(version_id: string): Promise<VersionPages | null> {
    const version = await versions.get(site.site_id, version_id);
    const files = version && (await versions.manifest(site.site_id, version_id));
    return version && files && pagesOf({ files, version, spa: effectiveSpa(site, version) });
  }
  async function readText({ file }: Page): Promise<string | null> {
    if (file.bytes > MOST_OF_A_PAGE || file.bytes > left || !("blob_no" in file)) return null;
    left -= file.bytes;
    try {
      return pageText(decodeHtml(await blobs.read(file as Parameters<Blobs["read"]>[0])));
    } catch {
      return null; // damaged: serving says so, and the check of all files
    }
  }
  return {
    version(version_id) {
      const found = known.get(version_id) ?? readVersion(version_id);
      known.set(version_id, found);
      return found;
    },
    async text(page) {
      const kept = texts.get(page.file.sha256);
      if (kept !== undefined) return kept;
      const text = await readText(page);
      if (texts.size >= 2) texts.delete(texts.keys().next().value!);
      if (text !== null) texts.set(page.file.sha256, text);
      return text;
    },
  };
}
