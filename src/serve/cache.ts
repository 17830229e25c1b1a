/** The entries of the serving cache and the byte budget that they share. The entries form a chain: the row of a slug → a
 *  version of the site → the answer of a path → the body of a file → that body in one coding. */

import type { Bytes, Site, Tombstone, Version } from "../base/types.ts";
import type { Coding } from "../http/codings.ts";
import type { HeaderEdit } from "../rules/header-table.ts";
import type { VersionRules } from "../rules/index.ts";
import type { RedirectRule } from "../rules/lines.ts";
import type { DomainHost } from "../store/domains.ts";
import type { ShownPreview } from "../store/previews.ts";
import type { StoredFile, StoredManifest } from "../store/versions.ts";

/** The site of a slug. It is true while the store's counter stays at `generation`. */
export interface SiteRow extends CacheEntry {
  readonly slug: string;
  readonly generation: number;
  readonly site: Site | null;
  /** The present name of the site that had this one before; null for a name that no site has left. */
  readonly moved_to: string | null;
  /** The mark that a removed site leaves. */
  readonly tombstone: Tombstone | null;
  /** The site whose live host this is, if the name is that of a domain. */
  readonly domain: DomainHost | null;
  /** The domain to which the site's other hosts lead. */
  readonly primary: string | null;
  /** All of the site's domains. */
  readonly domains: readonly string[];
  /** Null if there is no site, and after the version was pushed out of the cache. */
  live: LoadedVersion | null;
  /** The previews of the site. Null until a request needs them. */
  previews: readonly ShownPreview[] | null;
}

export interface Entries<Value> {
  readonly size: number;
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  delete(key: string): void;
  values(): Iterable<Value>;
  clear(): void;
}

/** A version in the cache. Versions never change, so nothing here is invalidated. Its answers and bodies leave with it. */
export interface LoadedVersion extends CacheEntry {
  readonly version: Version;
  /** `c3` if its pages have the script of comments, else empty (see `commentsVariantOf`). */
  readonly comments_variant: string;
  /** The rules of its own `_redirects` and `_headers`. */
  readonly rules: VersionRules;
  /** Null after it was pushed out of the cache: answers that were made before do not need it. */
  manifest: KeptManifest | null;
  /** By the path of the file. The keys of the site's own 404 pages and of shells below the root begin with a NUL, which no
   *  file name has. */
  readonly bodies: Entries<PageBody>;
  /** By the path of the request. If a rule looks at more than the path, a NUL and the other conditions follow. */
  readonly answers: Entries<PathAnswer>;
  /** The row in which it is live. When one of the two is pushed out, the other must not refer to it any more. */
  row: SiteRow | null;
}

export interface KeptManifest extends CacheEntry {
  readonly of: LoadedVersion;
  readonly files: StoredManifest;
}

/** The step of BEYOND 1 that found the file. */
export type FoundBy = "file" | "index" | "clean_url" | "rule" | "spa_fallback" | "skew";

export interface FileAnswer extends CacheEntry {
  readonly kind: "file";
  readonly by: FoundBy;
  /** The rule of `_redirects` that shows the file there. */
  readonly rule: RedirectRule | null;
  /** The former version that has the file, for a page that was loaded from that version (BEYOND 4). */
  readonly skew: string | null;
  readonly body: PageBody;
  readonly etag: string;
  /** The Link header that names the page's comments. Null for files that are no pages, and if comments are off. */
  readonly link: string | null;
  /** Null if the answer depends on the path alone. */
  readonly vary: string | null;
  /** Changes by the site's `_headers`. Null: none. */
  readonly edits: HeaderEdits | null;
  /** Headers of the 304, and of the 200 of a file that is sent from the disk, by the index of the policy. */
  unchanged: ResponseInit[] | null;
  whole: { headers: Headers }[] | null;
  /** The URL of the shortcut that leads here. */
  shortcut: string | null;
}

/** Changes on the live host, and on the host of a version. */
export interface HeaderEdits {
  live: readonly HeaderEdit[];
  version: readonly HeaderEdit[];
}

export interface RedirectAnswer extends CacheEntry {
  readonly kind: "redirect";
  /** Null for the redirect to a folder's slash. */
  readonly rule: RedirectRule | null;
  readonly location: string;
  /** 308 for a folder, else the status of the rule. */
  readonly status: number;
  /** True if the answer depends on Sec-Fetch-Dest. */
  readonly by_use: boolean;
}

export interface UnmatchedAnswer extends CacheEntry {
  readonly kind: "unmatched";
  /** The rule that gave the page. */
  readonly rule: RedirectRule | null;
  /** The fallback document, where the path may be a route of a single-page app. */
  readonly shell: FileAnswer | null;
  /** The site's own 404 page. */
  readonly page: PageBody | null;
  /** As for a file. */
  readonly edits: HeaderEdits | null;
  /** While the store's counter stays at this number, no former version has a file at this path. */
  no_former_file_at_generation: number | null;
  /** As for a file. */
  shortcut: string | null;
}

export type PathAnswer = FileAnswer | RedirectAnswer | UnmatchedAnswer;

/** A file of a version, ready to be a response's body. */
export interface PageBody {
  readonly file: StoredFile;
  /** True if codings are negotiated for its type. */
  readonly coded: boolean;
  readonly content: FileContent;
}

export type PageOf = Pick<Version, "site_id" | "version_id">;

/** The bytes that are sent for a file. A page contains the attribution of its version, so its content belongs to that
 *  version. All other content belongs to the blob and is shared by all sites and versions that have it. */
export interface FileContent {
  readonly stored: StoredFile;
  /** The version whose attribution is in the page. Null if the file is no page. */
  readonly page_of: PageOf | null;
  /** True for a page with the script of comments. */
  readonly commented: boolean;
  /** True for a page that is sent below the root, where it may need a `<base>`. */
  readonly deep: boolean;
  /** True if it is too large for memory: without a coding it is sent from the disk. */
  readonly from_disk: boolean;
  readonly encoded: Record<Coding, EncodedBody | undefined>;
}

/** Content in one coding. */
export interface EncodedBody extends CacheEntry {
  readonly of: FileContent;
  readonly coding: Coding;
  /** Bytes of the body as it is sent. */
  readonly size: number;
  /** A Blob, because a Response shares it and would copy bytes: three times cheaper at 200 KB, and slow readers hold
   *  nothing. Null for a compression that does not make the body smaller, and for identity that is sent from the disk. */
  readonly blob: Blob | null;
  /** The tags between the bytes of the file, in identity that is sent from the disk. */
  readonly inserted: readonly Inserted[];
  /** The first whole response with this body. Nearly every body has one answer under one policy, and a map would take more
   *  memory than the page. */
  first: KeptResponse | null;
  /** Further responses, by the index of the policy. They leave with the body that they share, with their answer, or when
   *  the budget needs their bytes. */
  others: WeakMap<FileAnswer, Response>[] | null;
  /** For a 404 page: status and headers that all its answers share, by the index of the policy. */
  missing: { status: number; headers: Headers }[] | null;
}

/** Tags that the service adds to a page. */
export interface Inserted {
  /** The number of bytes of the file before them. */
  at: number;
  bytes: Bytes;
}

interface KeptResponse {
  readonly answer: FileAnswer;
  readonly policy: number;
  readonly response: Response;
}

/** An entry of the cache. A hit only sets `used`: deleting and setting a Map key on each hit costs more than the look-up. */
export interface CacheEntry {
  /** Its bytes, roughly. Never changes while it is kept. */
  readonly cost: number;
  used: boolean;
  /** Removes it from the place where it is looked up. Called when the budget needs its bytes. */
  drop(): void;
}

export interface ByteBudgetCache {
  keep(item: CacheEntry): void;
  release(item: CacheEntry): void;
  /** Counts bytes that were read or coded, kept or not. None of them is free before a garbage collection. */
  made(bytes: number): void;
  /** The bytes that are kept now. */
  total(): number;
}

/** JavaScript sees a Blob as a few bytes, so bytes that were dropped, or read only to be coded, stay in memory until some
 *  later collection (bench/README.md says what a crawl holds with and without this). */
const MADE_BEFORE_COLLECTION = 16 * 1024 * 1024;

/** While this process is smaller than this, the collection runs concurrently: pages wait 6 ms for it and not 60. During a
 *  crawl that gives no memory back, so a larger process collects at once and pages wait. */
const ROOMY = 192 * 1024 * 1024;

function collectMemory(): void {
  let resident = Infinity;
  try {
    resident = process.memoryUsage.rss();
  } catch {} // no descriptor is left to read it by
  Bun.gc(resident > ROOMY);
}

/** Site rows, manifests, bodies and answers push each other out by second chance: the oldest entry is removed, unless it
 *  was used since it was last looked at. Then it counts as new. */
export function createByteBudgetCache(max_bytes: number, collect = collectMemory): ByteBudgetCache {
  const queue = new Set<CacheEntry>();
  let total = 0;
  let unseen = 0;

  function release(item: CacheEntry): void {
    if (queue.delete(item)) total -= item.cost;
  }

  function made(bytes: number): void {
    unseen += bytes;
    if (unseen < MADE_BEFORE_COLLECTION) return;
    unseen = 0;
    collect();
  }

  function makeRoom(): void {
    for (const item of queue) {
      if (total <= max_bytes) return;
      if (item.used) {
        item.used = false;
        queue.delete(item);
        queue.add(item);
      } else {
        release(item);
        item.drop();
      }
    }
  }

  function keep(item: CacheEntry): void {
    queue.add(item);
    total += item.cost;
    if (total > max_bytes) makeRoom();
  }

  return { keep, release, made, total: () => total };
}
