/** From a path to its answer, worked out once for each path of a version that somebody asks for. */
import { answer as answerTo, type Answered, type HangsOn, type Tried } from "../rules/answer.ts";
import { isHtml } from "../base/media-types.ts";
import { decodePath } from "../base/percent.ts";
import { shownByRule } from "../rules/shown.ts";
import { feedAddress, type Page, pageOfFile, pageOfRoute } from "../base/pages.ts";
import { fallbackPath } from "../base/site-state.ts";
import type { StoredFile, StoredManifest } from "../store/versions.ts";
import type { Bodies } from "./bodies.ts";
import type { Budget, Kept } from "./budget.ts";
import type { HeaderTable } from "../rules/header-table.ts";
import type { Answer, FileAnswer, FoundBy, HeaderEdits, LoadedVersion } from "./kept.ts";
import { unknownVersion } from "./refusals.ts";
import type { Manifests } from "./manifests.ts";
import { NOT_MADE } from "./prebuilt.ts";
import type { Shortcuts } from "./shortcuts.ts";

/** With the shortcut that leads to it: as 30,000 of them were measured (bench/README.md). */
const ANSWER_COST = 1000;
/** The path stands in the key, the entity tag and its headers. */
const COST_PER_CHARACTER = 8;

/** What an answer may depend on beside the path, where the version's rules look at it. */
export interface Asked {
  /** `slug.sites_domain`, and with the version in front. */
  hosts: { live: string; version: string };
  owned: boolean;
  navigates: boolean;
}

/** Each stands in the answer, and in the headers that are made of it for a 200, a 304 and another policy. */
const COST_OF_EDITS = 4;
const bytesOf = (edits: HeaderEdits | null): number =>
  edits === null
    ? 0
    : [...edits.live, ...edits.version].reduce(
        (sum, { name, value }) => sum + 50 + name.length + (value ?? "").length,
        0,
      );

/** `path` is percent-encoded. `asked` is asked where the version has rules. At once where the answer or the manifest is
 *  here. Throws `invalid_path`. */
type AnswerFor = (version: LoadedVersion, path: string, asked: () => Asked) => Answer | Promise<Answer>;

export interface Answers {
  to: AnswerFor;
  /** The same answer, with the steps that led to it (BEYOND 5). */
  explained(version: LoadedVersion, path: string, asked: () => Asked): Promise<ExplainedAnswer>;
}

interface ExplainedAnswer {
  answer: Answer;
  tried: Tried[];
  /** Of the version: what stands there. */
  manifest: StoredManifest;
}

/** What of the service an answer comes from, and goes with. */
interface Parts {
  bodies: Bodies;
  budget: Budget;
  manifests: Manifests;
  shortcuts: Pick<Shortcuts, "forget">;
}

export function createAnswers({ bodies, budget, manifests, shortcuts }: Parts): Answers {
  const drop = dropWith(shortcuts);
  function keep(version: LoadedVersion, path: string, asked: () => Asked, found: Found, manifest: StoredManifest) {
    const kept = { of: version, key: found.key, cost: costOf(found), used: false, drop };
    const answer = answerOf(bodies, kept, path, asked, found, manifest);
    version.answers.set(found.key, answer);
    budget.keep(answer);
    return answer;
  }
  function answered(version: LoadedVersion, path: string, asked: () => Asked, manifest: StoredManifest | null): Answer {
    if (manifest === null) throw unknownVersion();
    return keep(version, path, asked, find(version, path, asked, manifest), manifest);
  }
  function known(version: LoadedVersion, path: string, asked: () => Asked): Answer | undefined {
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

  async function explained(version: LoadedVersion, path: string, asked: () => Asked): Promise<ExplainedAnswer> {
    const manifest = await manifests.of(version);
    if (manifest === null) throw unknownVersion();
    const tried: Tried[] = [];
    const found = find(version, path, asked, manifest, tried);
    const answer = version.answers.get(found.key) ?? keep(version, path, asked, found, manifest);
    return { answer, tried, manifest };
  }

  return { to, explained };
}

const dropWith = (shortcuts: Parts["shortcuts"]) =>
  function (this: Placed): void {
    const dropped = this.of.answers.get(this.key);
    this.of.answers.delete(this.key);
    if (dropped !== undefined && dropped.kind !== "redirect") shortcuts.forget(dropped);
  };

/** Whether its rules look at more than the path. */
const looksFurther = ({ rules: { redirects } }: LoadedVersion): boolean =>
  redirects !== null && (redirects.by_owner || redirects.by_use);
const keyOf = (path: string, { owned, navigates }: Pick<Asked, "owned" | "navigates">): string =>
  `${path}\0${owned ? "o" : ""}${navigates ? "n" : ""}`;

const NOTHING_FURTHER = { owned: false, navigates: false };

/** Where an answer is kept. */
interface Placed extends Kept {
  of: LoadedVersion;
  key: string;
}

interface Found {
  answered: Answered<StoredFile>;
  hangs_on: HangsOn;
  key: string;
  edits: HeaderEdits | null;
}

function find(
  version: LoadedVersion,
  path: string,
  asked: () => Asked,
  manifest: StoredManifest,
  tried?: Tried[],
): Found {
  const { redirects: rules, headers } = version.rules;
  const { owned, navigates } = rules === null ? NOTHING_FURTHER : asked();
  const { answered, hangs_on } = answerTo(manifest, path, { rules, owned, navigates }, tried);
  const edits = headers === null ? null : editsFor(headers, path, asked());
  const key = hangs_on.owner || hangs_on.use ? keyOf(path, { owned, navigates }) : path;
  return { answered, hangs_on, key, edits };
}

function answerOf(
  bodies: Bodies,
  kept: Placed,
  path: string,
  asked: () => Asked,
  { answered, hangs_on, edits }: Found,
  manifest: StoredManifest,
): Answer {
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
  const missing = (file: StoredFile | null, shell: FileAnswer | null): Answer => {
    const page = file && bodies.of(version, file, "missing");
    return { kind: "unmatched", rule, page, shell, edits, bare_at: null, shortcut: null, ...kept };
  };
  const moved = (status: number, location: string): Answer => {
    return { kind: "redirect", rule, status, location, by_use: hangs_on.use, ...kept };
  };
  if (answered.kind === "file") return fileAnswer(answered.file, answered.by);
  if (answered.kind === "redirect") return moved(308, answered.location);
  if (answered.kind === "moved") return moved(answered.status, answered.location);
  if (answered.kind === "missing") return missing(answered.page, null);
  const shell = answered.fallback ? fallbackDocument(version, manifest) : undefined;
  return missing(answered.page, shell ? fileAnswer(shell, "spa_fallback") : null);
}

const costOf = ({ key, edits }: Found): number =>
  ANSWER_COST + COST_PER_CHARACTER * key.length + COST_OF_EDITS * bytesOf(edits);

function editsFor(table: HeaderTable, path: string, { hosts }: Asked): HeaderEdits | null {
  const decoded = decodePath(path)!;
  const [live, version] = [table.edits(decoded, hosts.live), table.edits(decoded, hosts.version)];
  return live.length === 0 && version.length === 0 ? null : { live, version };
}

/** Relative addresses of a page there lead elsewhere than at the root. */
const isBelowRoot = (path: string): boolean => decodePath(path)!.includes("/", 1);

/** `other`: where a page goes to navigations alone, what everything else gets there. */
function etagOf({ version: { version_id }, dress }: LoadedVersion, path: string, other: boolean): string {
  const marks = `${dress === "" ? "" : `+${dress}`}${other ? "+u" : ""}`;
  return `"${version_id}${marks}:${path}"`;
}

/** What a page says of its comments (COMMENTS 1): the companion, and where to write. A shell goes out only where the site is
 *  a single-page app, so that its routes are pages. */
function linkOf({ dress, version, rules }: LoadedVersion, files: StoredManifest, page: Page): string | null {
  if (dress === "") return null;
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
