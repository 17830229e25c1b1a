/** Explains why an address answers as it does (BEYOND 5): the request goes through the code that answers visitors, which
 *  reports its steps. The request is not counted. */

import { asRefusal, Refusal } from "../base/errors.ts";
import { decodePath } from "../base/percent.ts";
import { isNeverServed } from "../base/reserved-paths.ts";
import { nameOf, type Resolution } from "../base/resolve.ts";
import type { ManifestFile } from "../base/types.ts";
import { Exchange, pathOf } from "../http/exchange.ts";
import type { Passed, Tried } from "../rules/answer.ts";
import type { Reached } from "../rules/header-table.ts";
import { LONGEST_SEARCHED } from "../rules/pattern.ts";
import type { RedirectRule } from "../rules/lines.ts";
import { DamagedBlob } from "../store/refusals.ts";
import type { StoredFile } from "../store/versions.ts";
import { type AnswerParts, askedOf, below, out, policyFor, refuseUnlessServed, type TriedBelow } from "./answer.ts";
import type { FoundBy, PageBody, PathAnswer } from "./cache.ts";
import { type Hosted, isMoved, type Locate, type Moved, primaryFor, type SiteHost } from "./locate.ts";
import { movedAnswer } from "./moved.ts";
import { refused } from "./file-headers.ts";
import { errorPage, WithheldVersion } from "./refusals.ts";

type By =
  | FoundBy
  | "slash"
  | "feed"
  | "page_404"
  | "service_404"
  | "reserved"
  | "former_name"
  | "primary_domain"
  | "state"
  | "invalid_path";

interface Explanation {
  /** The version that the host shows. Null if the site's state lets it show none. */
  version_id: string | null;
  status: number;
  by: By;
  file: ManifestFile | null;
  rule: RedirectRule | null;
  /** Without Date and X-Request-Id. */
  headers: Record<string, string>;
  header_rules: HeaderRule[];
  steps: ExplainedStep[];
}

/** An answer of the service itself on a site's host. If `answer` resolves to null, the site answers. */
export interface ServiceAnswer {
  by: "reserved" | "feed";
  answer(): Promise<Response | null>;
}

/** Null if the site has no such host. */
export type Explain = (
  request: Request,
  host: SiteHost,
  own: (exchange: Exchange) => ServiceAnswer | null,
) => Promise<Explanation | null>;

interface ExplainParts {
  locate: Locate;
  serving: AnswerParts;
  /** The operator's address for an appeal against a takedown. */
  contact: string | null;
  base_url: string;
  sites_domain: string;
}

/** The explanation of an answer before the answer is made. */
type Way = Pick<Explanation, "by" | "file" | "rule" | "header_rules" | "steps"> & {
  respond(): Response | Promise<Response>;
  /** True if the body is sent in pieces: over HTTP/1.1 its length is not sent. */
  streamed?: boolean;
};

const NOTHING = { file: null, rule: null, header_rules: [], steps: [] };
/** A peer for a request that no client sent. */
const PEER = { address: () => null, extendTimeout: () => {}, crowded: () => false };

export function createExplain({ locate, serving, ...ways }: ExplainParts): Explain {
  return async (request, host, own) => {
    const exchange = new Exchange(PEER);
    const respond = async (make: Way["respond"]): Promise<Response> => {
      try {
        return await make();
      } catch (error) {
        if (!(error instanceof Refusal || error instanceof DamagedBlob)) throw error;
        return errorPage(request, asRefusal(error), exchange, ways);
      }
    };
    const hosted = await refusalOr(async () => locate(host));
    const withheld = hosted instanceof WithheldVersion;
    if (hosted instanceof Refusal && !withheld && /^unknown_/.test(hosted.code)) return null;
    const hidden = hosted instanceof Refusal || isMoved(hosted);
    const primary = hidden ? null : primaryFor(hosted, request, host);
    const way = hidden
      ? withoutVersion(hosted, request, host, ways)
      : primary !== null
        ? onward(request, host, primary, ways)
        : await wayOf(hosted, request, exchange, serving, own);
    const response = await respond(way.respond);
    const { respond: _, streamed = false, ...told } = way;
    const version_id = hidden ? null : hosted.version.version.version_id;
    const headers = headersOf(response, streamed && request.method === "GET", exchange.bytes);
    return { version_id, status: response.status, ...told, headers };
  };
}

async function refusalOr<T>(ask: () => Promise<T>): Promise<T | Refusal> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

const refusing = (refusal: Refusal) => () => {
  throw refusal;
};

/** The way of a host that shows no version: the site's state hides it, or the site has another name now. */
function withoutVersion(
  located: Refusal | Moved,
  request: Request,
  host: SiteHost,
  hosting: { base_url: string; sites_domain: string },
): Way {
  if (located instanceof Refusal) return { ...NOTHING, by: "state", respond: refusing(located) };
  return { ...NOTHING, by: "former_name", respond: () => movedAnswer(request, host, located, hosting) };
}

/** The way to the site's primary domain. */
const onward = (
  request: Request,
  host: SiteHost,
  primary: string,
  hosting: { base_url: string; sites_domain: string },
): Way => ({
  ...NOTHING,
  by: "primary_domain",
  respond: () => movedAnswer(request, host, { moved_to: host.slug, primary }, hosting),
});

async function wayOf(
  hosted: Hosted,
  request: Request,
  exchange: Exchange,
  serving: AnswerParts,
  own: (exchange: Exchange) => ServiceAnswer | null,
): Promise<Way> {
  refuseUnlessServed(hosted, request, exchange);
  const service = own(exchange);
  if (service !== null) {
    const answered = await refusalOr(service.answer);
    if (answered instanceof Refusal) return { ...NOTHING, by: service.by, respond: refusing(answered) };
    if (answered !== null) return { ...NOTHING, by: service.by, respond: () => answered };
  }
  const path = pathOf(request.url);
  const name = await refusalOr(async () => nameOf(path));
  if (name instanceof Refusal) return { ...NOTHING, by: "invalid_path", respond: refusing(name) };
  return siteWay(hosted, request, exchange, serving, isNeverServed(name));
}

async function siteWay(
  hosted: Hosted,
  request: Request,
  exchange: Exchange,
  serving: AnswerParts,
  reserved: boolean,
): Promise<Way> {
  const path = pathOf(request.url);
  const asked = askedOf(hosted, request, serving);
  const { answer: first, tried } = await serving.answers.explained(hosted.version, path, () => asked);
  const tried_below: TriedBelow[] = [];
  const answer = first.kind === "unmatched" ? await below(hosted, first, request, serving, tried_below) : first;
  const respond = () => out(hosted, answer, request, exchange, serving);
  if (reserved) return { ...NOTHING, by: "reserved", respond };
  const body = bodyOf(answer);
  const host = hosted.policy.version_host ? asked.hosts.version : asked.hosts.live;
  return {
    by: byOf(answer),
    file: body?.file ?? null,
    rule: answer.rule,
    header_rules: headerRulesOf(hosted, answer, path, host),
    steps: [...tried.map(explainedStep), ...tried_below],
    respond,
    streamed: body !== null && body.content.from_disk && body.content.page_of !== null,
  };
}

function byOf(answer: PathAnswer): By {
  if (answer.kind === "file") return answer.by;
  if (answer.kind === "redirect") return answer.rule === null ? "slash" : "rule";
  return answer.page === null ? "service_404" : "page_404";
}

function bodyOf(answer: PathAnswer): PageBody | null {
  if (answer.kind === "file") return answer.body;
  return answer.kind === "unmatched" ? answer.page : null;
}

/** Headers that differ with every answer. */
const OF_EACH = new Set(["date", "x-request-id"]);

/** The headers as a client sees them. `bytes` is the length that the runtime adds; it adds none to a body `in_pieces` without
 *  a coding. */
function headersOf({ headers }: Response, in_pieces: boolean, bytes: number): Record<string, string> {
  const told: [string, string][] = [...headers].filter(([name]) => !OF_EACH.has(name));
  const untold = in_pieces && !headers.has("content-encoding");
  return Object.fromEntries(untold ? told : [["content-length", String(bytes)], ...told]);
}

interface HeaderRule {
  /** `_headers:2`. */
  path: string;
  name: string;
  /** Null if the header is removed. */
  value: string | null;
  applied: boolean;
  reason?: string;
}

/** The most lines of `_headers` that an explanation names. */
const MOST_RULES = 1000;

const LONGEST = LONGEST_SEARCHED.toLocaleString("en");

const OVER: Record<Exclude<Reached["over"], null>, string> = {
  path: `A path with a name or with something behind its * is tried on addresses of at most ${LONGEST} characters.`,
  headers: "32 headers reach one answer, and as many stand above it.",
  bytes: "8 KiB of headers reach one answer, and with it they would be more.",
  lines: "8 KiB of headers reach one answer, and a hundred lines above it did not fit.",
};

/** The lines of `_headers` that match an answer, with the effect of each (BEYOND 3 and 5). `path` is percent-encoded; `host`
 *  has no port. */
function headerRulesOf(hosted: Hosted, answer: PathAnswer, path: string, host: string): HeaderRule[] {
  const rules: HeaderRule[] = [];
  for (const { edit, over } of hosted.version.rules.headers?.reached(decodePath(path)!, host) ?? []) {
    if (rules.length === MOST_RULES) break;
    const { line, name, value } = edit;
    const reason = over === null ? whyNot(edit, hosted, answer) : OVER[over];
    rules.push({ path: `_headers:${line}`, name, value, applied: reason === null, ...(reason !== null && { reason }) });
  }
  return rules;
}

function whyNot(edit: Reached["edit"], hosted: Hosted, answer: PathAnswer): string | null {
  const policy = policyFor(hosted, answer);
  if (answer.kind === "redirect") return "Redirects take no headers of the site.";
  if (answer.kind === "unmatched") {
    if (answer.page === null) return "The service's own 404 takes no headers of the site.";
    return refused(edit, { policy, media_type: answer.page.file.media_type, status: "missing", linked: false });
  }
  if (answer.skew !== null) return "A former version's file takes no headers of the live one.";
  const { media_type } = answer.body.file;
  return refused(edit, { policy, media_type, status: "found", linked: answer.link !== null });
}

interface ExplainedStep {
  step: "forced_rule" | "file" | "rule" | "spa_fallback" | "skew" | "not_found";
  matched: boolean;
  why: string;
}

const PASSED: Record<Passed, string> = {
  unowned: "leads to another host, which counts once the site has an owner",
  too_long: "leads to an address that is too long",
  itself: "leads to this very address",
  no_file: "shows a file that is not there",
  no_route: "shows a page for whatever is missing, and this address is a file's",
  no_navigation: "shows a page to navigations alone, and Sec-Fetch-Dest says something else",
};
/** The most lines of `_redirects` that a step names. */
const MOST_LINES = 10;

const explainedStep = (tried: Tried): ExplainedStep =>
  tried.step === "file" ? fileStep(tried.found as Resolution<StoredFile>) : ruleStep(tried);

function fileStep(found: Resolution<StoredFile>): ExplainedStep {
  if (found.kind === "unmatched") {
    return { step: "file", matched: false, why: "No file, folder's index or page without its .html has this name." };
  }
  if (found.kind === "redirect") {
    return { step: "file", matched: true, why: "A folder with an index has this name: its address ends in a slash." };
  }
  const { path } = found.file;
  const why = {
    file: `${path} is there.`,
    index: `${path} is the folder's index.`,
    clean_url: `${path} answers without its .html.`,
  };
  return { step: "file", matched: true, why: why[found.by] };
}

function ruleStep({ step, any, passed, untried, taken }: Exclude<Tried, { step: "file" }>): ExplainedStep {
  const forced = step === "forced_rule";
  if (!any) return { step, matched: false, why: `The version has no ${forced ? "forced rule" : "rules"}.` };
  const told = passed.slice(0, MOST_LINES).map(({ line, why }) => `Line ${line} ${PASSED[why]}.`);
  if (passed.length > MOST_LINES) told.push(`So it is with ${passed.length - MOST_LINES} more.`);
  if (untried > 0) {
    const lines =
      untried === 1
        ? "1 line with a name or with something behind its * was"
        : `${untried} lines with a name or with something behind their * were`;
    told.push(`${lines} not tried: the address has more than ${LONGEST} characters.`);
  }
  if (taken === null) {
    const none = `No ${forced ? "forced rule" : "rule"} is for this address.`;
    return { step, matched: false, why: told.length === 0 ? none : told.join(" ") };
  }
  // It ends the search, but its page comes last: the skew shield is asked before.
  if (taken.status === 404 && !forced) {
    const why = `Line ${taken.line} says that nothing is here: what follows are the skew shield and its page.`;
    return { step, matched: false, why: [...told, why].join(" ") };
  }
  return { step, matched: true, why: [...told, `Line ${taken.line} is for this address.`].join(" ") };
}
