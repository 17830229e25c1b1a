/** Finds the answer of a path, once for each path of a version that a visitor asks for. */
import { answer as answerTo, type Answered, type HangsOn, shownByRule, type Tried } from "../rules/answer.ts";
import { isHtml } from "../base/media-types.ts";
import { decodePath } from "../base/percent.ts";
import { feedAddress, type Page, pageOfFile, pageOfRoute } from "../base/pages.ts";
import { fallbackPath } from "../base/site-state.ts";
import type { StoredFile, StoredManifest } from "../store/versions.ts";
import type { Bodies } from "./bodies.ts";
import type {
  ByteBudgetCache,
  CacheEntry,
  FileAnswer,
  FoundBy,
  HeaderEdits,
  LoadedVersion,
  PathAnswer,
} from "./cache.ts";
import type { HeaderTable } from "../rules/header-table.ts";
import { unknownVersion } from "./refusals.ts";
import type { Manifests } from "./versions.ts";
import { NOT_MADE } from "./file-headers.ts";
import type { Shortcuts } from "./shortcuts.ts";

/** With the shortcut that leads to it: as 30,000 of them were measured (bench/README.md). */
const ANSWER_COST = 1000;
/** The path is in the key, in the entity tag and in the headers. */
const COST_PER_CHARACTER = 8;

/** Conditions that the version's rules may look at in addition to the path. */
export interface RequestConditions {
  /** `slug.sites_domain`, and the same with the version before it. */
  hosts: { live: string; version: string };
  owned: boolean;
  navigates: boolean;
}

/** Each edit is kept four times: in the answer, and in its headers for a 200, for a 304 and under another policy. */
const COST_OF_EDITS = 4;
const bytesOf = (edits: HeaderEdits | null): number =>
  edits === null
    ? 0
    : [...edits.live, ...edits.version].reduce(
        (sum, { name, value }) => sum + 50 + name.length + (value ?? "").length,
        0,
      );

/** `path` is percent-encoded. `asked` is called only if the version has rules. The answer comes at once if it or the
 *  manifest is in the cache. Throws `invalid_path`. */
type AnswerFor = (
  version: LoadedVersion,
  path: string,
  asked: () => RequestConditions,
) => PathAnswer | Promise<PathAnswer>;

export interface Answers {
  to: AnswerFor;
  /** The same answer, with the steps that led to it (BEYOND 5). */
  explained(version: LoadedVersion, path: string, asked: () => RequestConditions): Promise<ExplainedAnswer>;
}

interface ExplainedAnswer {
  answer: PathAnswer;
  tried: Tried[];
  /** The files of the version. */
  manifest: StoredManifest;
}

/** Parts of the service that answers are made with. */
interface AnswersParts {
  bodies: Bodies;
  budget: ByteBudgetCache;
  manifests: Manifests;
  shortcuts: Pick<Shortcuts, "forget">;
}

export function createAnswers({ bodies, budget, manifests, shortcuts }: AnswersParts): Answers {
  const drop = dropWith(shortcuts);
  function keep(
    version: LoadedVersion,
    path: string,
    asked: () => RequestConditions,
    found: FoundAnswer,
    manifest: StoredManifest,
  ) {
    const kept = { of: version, key: found.key, cost: costOf(found), used: false, drop };
    const answer = answerOf(bodies, kept, path, asked, found, manifest);
    version.answers.set(found.key, answer);
    budget.keep(answer);
    return answer;
  }
  function answered(
    version: LoadedVersion,
    path: string,
    asked: () => RequestConditions,
    manifest: StoredManifest | null,
  ): PathAnswer {
    if (manifest === null) throw unknownVersion();
    return keep(version, path, asked, find(version, path, asked, manifest), manifest);
  }
  function known(version: LoadedVersion, path: string, asked: () => RequestConditions): PathAnswer | undefined {
    const answer = version.answers.get(path);
    return answer === undefined && looksFurther(version) ? version.answers.get(keyOf(path, asked())) : answer;
  }

  const to: AnswerFor = (version, path, asked) => {
    const kept = known(version, path, asked);
    if (kept !== undefined) {
      kept.used = true;
      return kept;
    }
    const manifest = manifests.of(version);
    if (!(manifest instanceof Promise)) return answered(version, path, asked, manifest);
    return manifest.then((read) => known(version, path, asked) ?? answered(version, path, asked, read));
  };

  async function explained(
    version: LoadedVersion,
    path: string,
    asked: () => RequestConditions,
  ): Promise<ExplainedAnswer> {
    const manifest = await manifests.of(version);
    if (manifest === null) throw unknownVersion();
    const tried: Tried[] = [];
    const found = find(version, path, asked, manifest, tried);
    const answer = version.answers.get(found.key) ?? keep(version, path, asked, found, manifest);
    return { answer, tried, manifest };
  }

  return { to, explained };
}

const dropWith = (shortcuts: AnswersParts["shortcuts"]) =>
  function (this: KeptAtPath): void {
    const dropped = this.of.answers.get(this.key);
    this.of.answers.delete(this.key);
    if (dropped !== undefined && dropped.kind !== "redirect") shortcuts.forget(dropped);
  };

/** True if its rules look at more than the path. */
const looksFurther = ({ rules: { redirects } }: LoadedVersion): boolean =>
  redirects !== null && (redirects.by_owner || redirects.by_use);
const keyOf = (path: string, { owned, navigates }: Pick<RequestConditions, "owned" | "navigates">): string =>
  `${path}\0${owned ? "o" : ""}${navigates ? "n" : ""}`;

const NOTHING_FURTHER = { owned: false, navigates: false };

/** The place where an answer is kept. */
interface KeptAtPath extends CacheEntry {
  of: LoadedVersion;
  key: string;
}

interface FoundAnswer {
  answered: Answered<StoredFile>;
  hangs_on: HangsOn;
  key: string;
  edits: HeaderEdits | null;
}

function find(
  version: LoadedVersion,
  path: string,
  asked: () => RequestConditions,
  manifest: StoredManifest,
  tried?: Tried[],
): FoundAnswer {
  const { redirects: rules, headers } = version.rules;
  const { owned, navigates } = rules === null ? NOTHING_FURTHER : asked();
  const { answered, hangs_on } = answerTo(manifest, path, { rules, owned, navigates }, tried);
  const edits = headers === null ? null : editsFor(headers, path, asked());
  const key = hangs_on.owner || hangs_on.use ? keyOf(path, { owned, navigates }) : path;
  return { answered, hangs_on, key, edits };
}

function answerOf(
  bodies: Bodies,
  kept: KeptAtPath,
  path: string,
  asked: () => RequestConditions,
  { answered, hangs_on, edits }: FoundAnswer,
  manifest: StoredManifest,
): PathAnswer {
  const { of: version } = kept;
  const { rule = null } = answered;
  const fileAnswer = (file: StoredFile, by: FoundBy): FileAnswer => {
    const shell = by === "spa_fallback";
    const body = bodies.of(version, file, shell && isBelowRoot(path) ? "deep" : "itself");
    const etag = etagOf(version, path, hangs_on.use && !asked().navigates);
    const link = isHtml(file.media_type)
      ? linkOf(version, manifest, shell ? pageOfRoute(path, file) : pageOfFile(file))
      : null;
    const vary = varyOf(body.coded, shell || hangs_on.use);
    return { kind: "file", by, rule, skew: null, body, etag, link, vary, edits, ...NOT_MADE, ...kept };
  };
  const missing = (file: StoredFile | null, shell: FileAnswer | null): PathAnswer => {
    const page = file && bodies.of(version, file, "missing");
    return { kind: "unmatched", rule, page, shell, edits, no_former_file_at_generation: null, shortcut: null, ...kept };
  };
  const moved = (status: number, location: string): PathAnswer => {
    return { kind: "redirect", rule, status, location, by_use: hangs_on.use, ...kept };
  };
  if (answered.kind === "file") return fileAnswer(answered.file, answered.by);
  if (answered.kind === "redirect") return moved(308, answered.location);
  if (answered.kind === "moved") return moved(answered.status, answered.location);
  if (answered.kind === "missing") return missing(answered.page, null);
  const shell = answered.fallback ? fallbackDocument(version, manifest) : undefined;
  return missing(answered.page, shell ? fileAnswer(shell, "spa_fallback") : null);
}

const costOf = ({ key, edits }: FoundAnswer): number =>
  ANSWER_COST + COST_PER_CHARACTER * key.length + COST_OF_EDITS * bytesOf(edits);

function editsFor(table: HeaderTable, path: string, { hosts }: RequestConditions): HeaderEdits | null {
  const decoded = decodePath(path)!;
  const live = table.edits(decoded, hosts.live);
  const version = table.by_host ? table.edits(decoded, hosts.version) : live;
  return live.length === 0 && version.length === 0 ? null : { live, version };
}

/** True if relative addresses of a page at `path` lead elsewhere than those of a page at the root. */
const isBelowRoot = (path: string): boolean => decodePath(path)!.includes("/", 1);

/** `other` marks the answer to requests that are no navigations, at a path where navigations get a page. */
function etagOf({ version: { version_id }, comments_variant }: LoadedVersion, path: string, other: boolean): string {
  const marks = `${comments_variant === "" ? "" : `+${comments_variant}`}${other ? "+u" : ""}`;
  return `"${version_id}${marks}:${path}"`;
}

/** The Link header of a page with comments (COMMENTS 1): the address of its feed, and where to write. A shell is sent only
 *  if the site is a single-page app, so its routes count as pages. */
function linkOf({ comments_variant, version, rules }: LoadedVersion, files: StoredManifest, page: Page): string | null {
  if (comments_variant === "") return null;
  const ruled = shownByRule(files, rules.redirects);
  const companion = feedAddress({ files, spa: { enabled: true }, version, ruled }, page);
  return `<${companion}>; rel="replies alternate"; type="application/ld+json"; title="Comments", </_svc/comments/>; rel="http://www.w3.org/ns/oa#annotationService"`;
}

const fallbackDocument = ({ version }: LoadedVersion, manifest: StoredManifest): StoredFile | undefined =>
  manifest.get(fallbackPath(version.spa_rule, (path) => manifest.has(path)));

function varyOf(coded: boolean, shell: boolean): string | null {
  // A script tag and a navigation to the same address get different answers.
  if (shell) return coded ? "Accept-Encoding, Sec-Fetch-Dest" : "Sec-Fetch-Dest";
  return coded ? "Accept-Encoding" : null;
}
