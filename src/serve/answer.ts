/** Answers a request for a site that was found: the answer of the path (by-path), and if the path leads to no file, steps 8
 *  to 10 of BEYOND 1. An explanation (explain.ts) goes through the same functions. */
import { isHtml } from "../base/media-types.ts";
import { type CountedSite, type Exchange, pathOf, queryOf } from "../http/exchange.ts";
import { withQuery } from "../rules/target.ts";
import { effectiveSpa, endOf } from "../base/site-state.ts";
import type { Blobs } from "../store/serving.ts";
import type { Site } from "../base/types.ts";
import type { Bodies } from "./bodies.ts";
import type { Answers, RequestConditions } from "./by-path.ts";
import type { PathAnswer, FileAnswer, LoadedVersion, RedirectAnswer, UnmatchedAnswer } from "./cache.ts";
import type { Hosted } from "./locate.ts";
import { ownNotFound, type Respond } from "./respond.ts";
import { isForbiddenWorker, type Policy, policyHeaders, skewPolicyOf } from "./policy.ts";
import { type AnswerNotFound, methodNotAllowed, notFound, noWorker } from "./refusals.ts";
import type { Shortcut, Shortcuts } from "./shortcuts.ts";
import { asksForPart, type Skew } from "./skew.ts";

/** Parts that answer a request once the site is found. */
export interface AnswerParts {
  bodies: Bodies;
  blobs: Pick<Blobs, "open">;
  answers: Answers;
  respond: Respond;
  shortcuts: Shortcuts;
  skew: Skew;
  sites_domain: string;
  /** Counts a file that came from a former version. */
  skewed(): void;
  notFound: AnswerNotFound;
}

type SiteResponse = Response | Promise<Response>;

export function answerFrom(hosted: Hosted, request: Request, exchange: Exchange, serving: AnswerParts): SiteResponse {
  refuseUnlessServed(hosted, request, exchange);
  const answer = serving.answers.to(hosted.version, pathOf(request.url), () => askedOf(hosted, request, serving));
  if (!(answer instanceof Promise)) return send(hosted, answer, request, exchange, serving);
  return answer.then((read) => send(hosted, read, request, exchange, serving));
}

export function refuseUnlessServed({ site, policy }: Hosted, request: Request, exchange: Exchange): void {
  exchange.held = site.quarantine !== null;
  if (request.method !== "GET" && request.method !== "HEAD") throw methodNotAllowed(policy);
  if (isForbiddenWorker(request, policy)) throw noWorker(policy);
}

function send(
  hosted: Hosted,
  answer: PathAnswer,
  request: Request,
  exchange: Exchange,
  serving: AnswerParts,
): SiteResponse {
  const { shortcuts } = serving;
  if (answer.kind === "file") remember(request, hosted, answer, exchange, shortcuts);
  if (answer.kind !== "unmatched") return out(hosted, answer, request, exchange, serving);
  if (!mayShow(answer, hosted.site, hosted.version)) remember(request, hosted, answer, exchange, shortcuts);
  const chosen = below(hosted, answer, request, serving);
  if (!(chosen instanceof Promise)) return given(hosted, chosen, request, exchange, serving);
  return chosen.then((found) => given(hosted, found, request, exchange, serving));
}

function given(
  hosted: Hosted,
  answer: PathAnswer,
  request: Request,
  exchange: Exchange,
  serving: AnswerParts,
): SiteResponse {
  if (answer.kind === "file" && answer.skew !== null) serving.skewed();
  if (answer.kind !== "unmatched") return out(hosted, answer, request, exchange, serving);
  exchange.counted = countedOf(hosted, answer);
  return unmatched(answer, hosted.policy, request, exchange, serving);
}

/** The site, if its owner wants to know of such answers: pages and missing ones, on its live host (BEYOND 11). */
function countedOf({ site, policy, row }: Hosted, answer: FileAnswer | UnmatchedAnswer): CountedSite | null {
  if (site.stats === 0 || policy.version_host) return null;
  const counts = answer.kind === "unmatched" || (answer.skew === null && isHtml(answer.body.file.media_type));
  return counts ? { site_id: site.site_id, slug: site.slug, domains: row.domains } : null;
}

/** The 404 of the site, or ours where it has no page for it. */
export function unmatched(
  answer: UnmatchedAnswer,
  policy: Policy,
  request: Request,
  exchange: Exchange,
  serving: AnswerParts,
): SiteResponse {
  if (answer.page === null) return serving.notFound(request, policy, exchange);
  return ownNotFound(serving, request, answer, policy, exchange);
}

/** Makes the response. Throws the refusal if the path leads to nothing and the site has no 404 page. */
export function out(
  hosted: Hosted,
  answer: PathAnswer,
  request: Request,
  exchange: Exchange,
  serving: AnswerParts,
): SiteResponse {
  const policy = policyFor(hosted, answer);
  if (answer.kind === "file") {
    exchange.counted = countedOf(hosted, answer);
    return serving.respond(request, answer, policy, exchange);
  }
  if (answer.kind === "redirect") return redirect(request, answer, policy);
  if (answer.page === null) throw notFound(policy);
  return ownNotFound(serving, request, answer, policy, exchange);
}

export const policyFor = ({ site, policy }: Hosted, answer: PathAnswer): Policy =>
  answer.kind === "file" && answer.skew !== null ? skewPolicyOf(site) : policy;

/** A step of a path that leads to no file and meets no rule, with the reason why it answers or does not. */
export interface TriedBelow {
  step: "spa_fallback" | "skew" | "not_found";
  matched: boolean;
  why: string;
}

/** Steps 8 to 10: the shell of an app, a file of a former version, or the answer without a file. */
export function below(
  hosted: Hosted,
  answer: UnmatchedAnswer,
  request: Request,
  { skew }: Pick<AnswerParts, "skew">,
  tried?: TriedBelow[],
): PathAnswer | Promise<PathAnswer> {
  const shell = shellFor(request, hosted, answer, tried);
  if (shell !== null) return shell;
  // A forced rule comes before all files, those of former versions too.
  if (hosted.policy.version_host || answer.rule?.forced === true) return missing(answer, tried);
  const found = skew.answer(request, hosted.site, pathOf(request.url));
  const settle = (one: FileAnswer | string): PathAnswer => {
    if (typeof one === "string" && asksForPart(request)) answer.no_former_file_at_generation = hosted.row.generation;
    return skewed(one, answer, tried);
  };
  return found instanceof Promise ? found.then(settle) : settle(found);
}

function skewed(found: FileAnswer | string, answer: UnmatchedAnswer, tried: TriedBelow[] | undefined): PathAnswer {
  const matched = typeof found !== "string";
  tried?.push({ step: "skew", matched, why: matched ? `Version ${found.skew} was live and has the file.` : found });
  return matched ? found : missing(answer, tried);
}

function missing(answer: UnmatchedAnswer, tried: TriedBelow[] | undefined): UnmatchedAnswer {
  const { page, rule } = answer;
  const own =
    page === null ? "The site has no 404.html on the way up." : `${page.file.path} is the nearest page for it.`;
  const why = rule === null ? own : `Line ${rule.line} of _redirects gives the page.`;
  if (rule?.forced !== true) tried?.push({ step: "not_found", matched: true, why });
  return answer;
}

/** The shell of a single-page app. Navigations get it, and clients that do not say what they ask for. */
function shellFor(
  request: Request,
  { site, version }: Hosted,
  answer: UnmatchedAnswer,
  tried: TriedBelow[] | undefined,
): FileAnswer | null {
  const shown = mayShow(answer, site, version) && navigates(request) ? answer.shell : null;
  if (tried !== undefined && answer.rule === null) {
    const why = whyShell(request, site, version, answer);
    tried.push({ step: "spa_fallback", matched: shown !== null, why });
  }
  return shown;
}

function whyShell(request: Request, site: Site, { version }: LoadedVersion, { shell }: UnmatchedAnswer): string {
  if (!effectiveSpa(site, version).enabled) return "The site is no single-page app.";
  if (shell === null) {
    return "A file that is missing stays so: the address has an extension, or is in a folder of files that pages load.";
  }
  if (!navigates(request)) return "Only navigations get the app's page, and Sec-Fetch-Dest says something else.";
  return `${shell.body.file.path} answers unknown addresses of a single-page app.`;
}

/** The conditions of a request that the version's rules may look at. */
export function askedOf(
  { site, label }: Hosted,
  request: Request,
  { sites_domain }: Pick<AnswerParts, "sites_domain">,
): RequestConditions {
  const live = `${site.slug}.${sites_domain.replace(/:\d+$/, "")}`;
  return {
    hosts: { live, version: `${label}--${live}` },
    owned: site.owner_account_id !== null,
    navigates: navigates(request),
  };
}

/** Adds a shortcut for answers that are likely to be asked for again: of the live version, without a query. */
function remember(
  request: Request,
  hosted: Hosted,
  answer: Shortcut["answer"],
  { insists }: Exchange,
  shortcuts: Shortcuts,
): void {
  const { row, site, version, policy } = hosted;
  if (row.live !== version || site.access_hash !== null) return;
  // An answer that depends on more than the path has no shortcut, and neither has one that was not kept.
  if (version.answers.get(pathOf(request.url)) !== answer) return;
  const { url } = request;
  const { slug } = site;
  if (url.includes("?")) return;
  const counted = countedOf(hosted, answer);
  shortcuts.add(url, { slug, generation: row.generation, end: endOf(site), answer, policy, insists, counted });
}

function navigates(request: Request): boolean {
  const destination = request.headers.get("sec-fetch-dest");
  return destination === null || destination === "document" || destination === "iframe";
}

/** True if navigations get the shell at this path. */
const mayShow = ({ shell }: UnmatchedAnswer, site: Site, { version }: LoadedVersion): boolean =>
  shell !== null && effectiveSpa(site, version).enabled;

/** True for permanent redirects. Temporary ones must be asked for each time. */
const isLasting = (status: number): boolean => status === 301 || status === 308;

function redirect(request: Request, { status, location, by_use }: RedirectAnswer, policy: Policy): Response {
  return new Response(null, {
    status,
    headers: {
      location: withQuery(location, queryOf(request.url)),
      "cache-control": isLasting(status) ? policy.cache_control : "no-store",
      "x-content-type-options": "nosniff",
      ...(by_use && { vary: "Sec-Fetch-Dest" }),
      ...policyHeaders(policy),
    },
  });
}
