/** The skew shield (BEYOND 4): a page that was loaded before a deploy still finds its scripts. What is kept for it has room
 *  of its own, so that a flood of addresses that lead nowhere pushes out no page. */
import { isHtml } from "../../base/media-types.ts";
import { nameOf } from "../../base/resolve.ts";
import type { LeftVersion, StoredFile } from "../../store/versions.ts";
import type { ServingStore } from "../../store/serving.ts";
import type { Site } from "../../base/types.ts";
import type { Bodies } from "../bodies.ts";
import type { Budget, Kept } from "../budget.ts";
import type { Body, FileAnswer } from "../kept.ts";
import { NOT_MADE } from "../prebuilt.ts";
import { SKEW_HEADERS, whyNotAsked } from "./asked.ts";
import { createShields, type Shield, type Shields } from "./shields.ts";

interface Parts {
  store: Pick<ServingStore, "generation" | "versions">;
  bodies: Pick<Bodies, "of">;
  budget: Budget;
  now: () => number;
  /** How long a version that was left gives its files; null: not at all. */
  lasts_ms: number | null;
}

export interface Skew {
  /** For a GET on the live host that would be answered 404; a string: why there is nothing. `path` is percent-encoded. */
  answer(request: Request, site: Site, path: string): FileAnswer | string | Promise<FileAnswer | string>;
}

/** What somebody asked for: a file of the version that was left last of those that have it, or nothing. */
type Found = (Kept & { kind: "file"; of: LeftVersion; answer: FileAnswer }) | (Kept & { kind: "nothing"; why: string });

const OFF = "This server gives no files of former versions (SVC_SKEW).";
const OFF_HERE = "The site's settings turn it off (skew: false).";
const NONE_LEFT = "No version of the site was live a while ago and is not now.";
const NONE_HAS_IT = "No version that was live a while ago has a file there.";
const A_PAGE = "A former version has a page there, and pages come from the live version alone.";

const ANSWER_COST = 1900;
const NOTHING_COST = 400;
const COST_PER_CHARACTER = 8;

export function createSkew(parts: Parts): Skew {
  const { now, lasts_ms } = parts;
  const shields = createShields<Found>(parts);

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

  function within(shield: Shield<Found>, path: string, since: number): ReturnType<Skew["answer"]> {
    const left = shield.left.filter(({ live_until }) => live_until > since);
    if (left.length === 0) return NONE_LEFT;
    const known = shield.found.get(path);
    if (known === undefined) return find(parts, shields, shield, path).then((found) => given(found, since));
    known.used = true;
    return given(known, since);
  }

  return { answer };
}

/** Those that have the file and were left earlier are over, too, once this one is. */
function given(found: Found, since: number): FileAnswer | string {
  if (found.kind === "nothing") return found.why;
  return found.of.live_until > since ? found.answer : NONE_HAS_IT;
}

async function find(
  { store, bodies }: Parts,
  { keep }: Shields<Found>,
  shield: Shield<Found>,
  path: string,
): Promise<Found> {
  const open = shield.left.filter(({ withhold }) => withhold === 0);
  const numbers = open.map(({ version_no }) => version_no);
  const upload = await store.versions.firstUpload(numbers, nameOf(path));
  const length = COST_PER_CHARACTER * path.length;
  if (upload === null || isPage(upload.file)) {
    const why = upload === null ? NONE_HAS_IT : A_PAGE;
    return keep(shield, path, NOTHING_COST + length, (kept) => ({ kind: "nothing", why, ...kept }));
  }
  const of = open.find(({ version_no }) => version_no === upload.version_no)!;
  const body = bodies.of({ version: { site_id: shield.site_id, ...of }, dress: "", bodies: new Map() }, upload.file);
  return keep(shield, path, ANSWER_COST + length, (kept) => {
    const answer = answerWith(body, of.version_id, path, kept);
    return { kind: "file", of, answer, ...kept };
  });
}

const isPage = ({ media_type }: StoredFile): boolean =>
  isHtml(media_type) || /^application\/xhtml\+xml(?:;|$)/i.test(media_type);

const answerWith = (body: Body, version_id: string, path: string, kept: Kept): FileAnswer => ({
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
