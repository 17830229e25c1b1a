/** The skew shield (BEYOND 4): a page that was loaded before a deploy still finds its scripts in the former version. It has
 *  a byte budget of its own, so that a flood of addresses that lead to nothing pushes out no page. */

import { isHtml } from "../base/media-types.ts";
import { isNeverServed } from "../base/reserved-paths.ts";
import { nameOf } from "../base/resolve.ts";
import type { Site } from "../base/types.ts";
import type { ServingStore } from "../store/serving.ts";
import type { LeftVersion, StoredFile } from "../store/versions.ts";
import type { Bodies } from "./bodies.ts";
import type { ByteBudgetCache, CacheEntry, FileAnswer, PageBody } from "./cache.ts";
import { NOT_MADE } from "./file-headers.ts";

interface SkewParts {
  store: Pick<ServingStore, "generation" | "versions">;
  bodies: Pick<Bodies, "of">;
  budget: ByteBudgetCache;
  now: () => number;
  /** How many milliseconds a former version still gives its files. Null: it gives none. */
  lasts_ms: number | null;
}

export interface Skew {
  /** The answer to a GET on the live host that would otherwise be a 404. A string says why there is none. `path` is
   *  percent-encoded. */
  answer(request: Request, site: Site, path: string): FileAnswer | string | Promise<FileAnswer | string>;
}

/** The result of a search: the file of the latest former version that has it, or the reason why there is none. */
type FormerFile =
  | (CacheEntry & { kind: "file"; of: LeftVersion; answer: FileAnswer })
  | (CacheEntry & { kind: "nothing"; why: string });

const OFF = "This server gives no files of former versions (SVC_SKEW).";
const OFF_HERE = "The site's settings turn it off (skew: false).";
const NONE_LEFT = "No version of the site was live a while ago and is not now.";
const NONE_HAS_IT = "No version that was live a while ago has a file there.";
const A_PAGE = "A former version has a page there, and pages come from the live version alone.";

const ANSWER_COST = 1900;
const NOTHING_COST = 400;
const COST_PER_CHARACTER = 8;

export function createSkew(parts: SkewParts): Skew {
  const { now, lasts_ms } = parts;
  const shields = createFormerVersionsCache<FormerFile>(parts);

  function answer(request: Request, site: Site, path: string): ReturnType<Skew["answer"]> {
    if (lasts_ms === null) return OFF;
    const why = whyNotAsked(request, path);
    if (why !== null) return why;
    if (site.skew === 0) return OFF_HERE;
    const since = now() - lasts_ms;
    const shield = shields.of(site);
    if (shield instanceof Promise) return shield.then((read) => within(read, path, since));
    return within(shield, path, since);
  }

  function within(shield: FormerVersions<FormerFile>, path: string, since: number): ReturnType<Skew["answer"]> {
    const left = shield.left.filter(({ live_until }) => live_until > since);
    if (left.length === 0) return NONE_LEFT;
    const known = shield.found.get(path);
    if (known === undefined) return find(parts, shields, shield, path).then((found) => given(found, since));
    known.used = true;
    return given(known, since);
  }

  return { answer };
}

/** The answer, if the version that has it may still give files. If it may not, earlier versions may not either. */
function given(found: FormerFile, since: number): FileAnswer | string {
  if (found.kind === "nothing") return found.why;
  return found.of.live_until > since ? found.answer : NONE_HAS_IT;
}

async function find(
  { store, bodies }: SkewParts,
  { keep }: FormerVersionsCache<FormerFile>,
  shield: FormerVersions<FormerFile>,
  path: string,
): Promise<FormerFile> {
  const open = shield.left.filter(({ withhold }) => withhold === 0);
  const numbers = open.map(({ version_no }) => version_no);
  const upload = await store.versions.firstUpload(numbers, nameOf(path));
  const length = COST_PER_CHARACTER * path.length;
  if (upload === null || isPage(upload.file)) {
    const why = upload === null ? NONE_HAS_IT : A_PAGE;
    return keep(shield, path, NOTHING_COST + length, (kept) => ({ kind: "nothing", why, ...kept }));
  }
  const of = open.find(({ version_no }) => version_no === upload.version_no)!;
  const body = bodies.of(
    { version: { site_id: shield.site_id, ...of }, comments_variant: "", bodies: new Map() },
    upload.file,
  );
  return keep(shield, path, ANSWER_COST + length, (kept) => {
    const answer = answerWith(body, of.version_id, path, kept);
    return { kind: "file", of, answer, ...kept };
  });
}

const isPage = ({ media_type }: StoredFile): boolean =>
  isHtml(media_type) || /^application\/xhtml\+xml(?:;|$)/i.test(media_type);

const answerWith = (body: PageBody, version_id: string, path: string, kept: CacheEntry): FileAnswer => ({
  kind: "file",
  by: "skew",
  rule: null,
  skew: version_id,
  body,
  etag: `"${version_id}:${path}"`,
  link: null,
  vary: body.coded ? `Accept-Encoding, ${SKEW_HEADERS}` : SKEW_HEADERS,
  edits: null,
  ...NOT_MADE,
  ...kept,
});

interface FormerVersions<Found extends CacheEntry> extends CacheEntry {
  readonly site_id: string;
  /** `left` is true while the store's counter stays at this number. */
  generation: number;
  /** The former versions, the latest first. */
  readonly left: readonly LeftVersion[];
  readonly found: Map<string, Found>;
}

interface FormerVersionsCache<Found extends CacheEntry> {
  /** At once if it is in the cache and still true. */
  of(site: Site): FormerVersions<Found> | Promise<FormerVersions<Found>>;
  /** Keeps the result of a search at a path. */
  keep(shield: FormerVersions<Found>, path: string, cost: number, make: (kept: CacheEntry) => Found): Found;
}

/** The most former versions that are searched. */
const MOST_LEFT = 10;
const SHIELD_COST = 2000;

interface FormerVersionsParts {
  store: Pick<ServingStore, "generation" | "versions">;
  budget: ByteBudgetCache;
}

function createFormerVersionsCache<Found extends CacheEntry>(parts: FormerVersionsParts): FormerVersionsCache<Found> {
  const { store, budget } = parts;
  const shields = new Map<string, FormerVersions<Found>>();
  return {
    of(site) {
      const kept = shields.get(site.site_id);
      if (kept === undefined || !store.generation.holds(site.slug, kept.generation)) {
        return read(parts, shields, site);
      }
      kept.used = true;
      return kept;
    },
    keep(shield, path, cost, make) {
      const { found, site_id } = shield;
      const one = make({ cost, used: false, drop: () => void (found.get(path) === one && found.delete(path)) });
      // If the site changed meanwhile, it has another entry now.
      if (shields.get(site_id) !== shield) return one;
      // Another request may have found it meanwhile.
      const before = found.get(path);
      if (before !== undefined) budget.release(before);
      found.set(path, one);
      budget.keep(one);
      return one;
    },
  };
}

type All<Found extends CacheEntry> = Map<string, FormerVersions<Found>>;

async function read<Found extends CacheEntry>(
  { store, budget }: FormerVersionsParts,
  shields: All<Found>,
  { site_id, slug }: Site,
): Promise<FormerVersions<Found>> {
  // The counter is read before the versions: read after them, an old list would pass for a new one.
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

function begin<Found extends CacheEntry>(
  of: Pick<FormerVersions<Found>, "site_id" | "generation" | "left">,
  shields: All<Found>,
  budget: ByteBudgetCache,
): FormerVersions<Found> {
  const found = new Map<string, Found>();
  const drop = () => {
    if (shields.get(of.site_id) === shield) shields.delete(of.site_id);
    for (const one of found.values()) budget.release(one);
    found.clear();
  };
  const shield: FormerVersions<Found> = { ...of, found, cost: SHIELD_COST, used: true, drop };
  shields.set(of.site_id, shield);
  budget.keep(shield);
  return shield;
}

const USES = new Set("script style font image audio video track worker sharedworker empty".split(" "));

/** The request headers on which the answer depends. */
const SKEW_HEADERS = "Sec-Fetch-Site, Sec-Fetch-Dest";

/** True if a page of the site asks for a part of itself: a script, style, picture or the like. A navigation or a service
 *  worker gets the live version only. Most requests that lead to nothing end here. */
export const asksForPart = ({ method, headers }: Request): boolean =>
  method === "GET" && headers.get("sec-fetch-site") === "same-origin" && USES.has(headers.get("sec-fetch-dest") ?? "");

/** The reason why no former version is searched for a request. Null if one may answer. `path` is percent-encoded. */
function whyNotAsked(request: Request, path: string): string | null {
  if (request.method !== "GET") return "Former versions answer GET alone.";
  if (!asksForPart(request)) {
    return "Former versions give what a page of the site loads, as Sec-Fetch-Site and Sec-Fetch-Dest say.";
  }
  const name = nameOf(path);
  if (isNeverServed(name)) return "The address is the service's own.";
  return hasContentHash(name) ? null : "No part of the address looks like the hash of a content.";
}

const CUTS = /[.\-_~]/;
/** A part of a name that is long enough for a hash and is no word in lower case. */
const HASH = /^(?=.*[A-Z\d])[A-Za-z\d]{8,}$/;
/** A hash in base64 may contain the characters at which names are cut. */
const EIGHT = /^[-.](?=.*[A-Z\d])[\w-]{8}$/;

/** The eight characters before the extension, with the one before them. */
const lastEight = (segment: string): string => {
  const dot = segment.lastIndexOf(".");
  return dot < 9 ? "" : segment.slice(dot - 9, dot);
};

/** True if a path is named after its content, as bundlers name their files: then no later version has other bytes there
 *  (BEYOND 4). `name` is decoded. */
const hasContentHash = (name: string): boolean =>
  name
    .split("/")
    .some((segment) => EIGHT.test(lastEight(segment)) || segment.split(CUTS).some((part) => HASH.test(part)));
