/** A serving process: hosts, sockets, workers, and the one place that catches errors. One request, from its Host to its
 *  answer: the host is decided before the path, and every error is caught here. */
import { asRefusal, Refusal, withAppeal } from "../base/errors.ts";
import type { Site } from "../base/types.ts";
import { UNIT_MS } from "../base/units.ts";
import type { Config } from "../config/index.ts";
import { errorJson, transportSecurity } from "../http/answers.ts";
import type { RequestContext, RequestReader } from "../http/context.ts";
import { type ChangeFacts, type DeployFacts, Exchange, pathOf, type Peer, wantsHtml } from "../http/exchange.ts";
import { hostParser } from "../http/hosts.ts";
import { METRICS_PATH, TLS_ASK_PATH } from "../routes/metrics.ts";
import type { Log } from "../run/log.ts";
import type { Traffic } from "../run/bulletin.ts";
import type { Metrics } from "../run/metrics.ts";
import { errorPage, keepPrivate } from "../serve/refusals.ts";
import type { SiteHost } from "../serve/locate.ts";
import type { SiteServer } from "../serve/site.ts";
import type { NoteVisit } from "../statistics/visits.ts";
import { isBucketAway, isCommitUnknown } from "../store/refusals.ts";

interface AppParts {
  config: Pick<Config, "base_url" | "sites_domain" | "contact">;
  requests: RequestReader;
  /** The API's table. */
  api(context: RequestContext, path: string): Promise<Response>;
  /** A refusal on the API's host, for a browser. */
  apiErrorPage(context: RequestContext, refusal: Refusal): Promise<Response>;
  sites: Pick<SiteServer, "handle" | "answerFromShortcut" | "privateAt" | "domainAt">;
  /** Null where the request may go on. Throws for one that may not see the site. */
  door(context: RequestContext, site: Site): Promise<Response | null>;
  /** The answer to a path that the service keeps for itself on a site's host; null if the path is the site's. */
  ownPaths(request: Request, host: SiteHost, exchange: Exchange): Promise<Response> | null;
  /** Null when the client may not know that there is anything. */
  metricsAnswer(request: Request, exchange: Exchange, by_token: boolean): Promise<Response | null>;
  /** Whether a proxy may get a certificate for a name. Null as above. */
  tlsAsk(request: Request, exchange: Exchange, by_token: boolean): Promise<Response | null>;
  metrics: Metrics;
  /** Counts what may be a visit; null if this server counts none. */
  noteVisit: NoteVisit | null;
  trafficOf: Traffic["of"];
  log: Log;
  /** While true every answer closes its connection, so that clients leave between two requests. */
  draining(): boolean;
  /** After an error that only a restart into recovery can mend. */
  fatal(error: unknown): void;
  /** True from such an error on: no request that may write is begun. */
  readOnly(): boolean;
}

export type App = (request: Request, peer: Peer) => Response | Promise<Response>;

const invalidHost = (): Refusal =>
  new Refusal("invalid_host", "The Host header is not a host name: send the name of the site or of the API.");
const unknownHost = (): Refusal =>
  new Refusal("unknown_host", "There is no site at this address. Check the spelling of the link.");

/** No Retry-After: a program that obeys it repeats a first deploy, and makes a second site where the first one is there. */
const restarting = (): Refusal =>
  new Refusal(
    "unavailable",
    "The server's disk failed while it wrote, and it is restarting. Look whether your change is there before you repeat it.",
  );
const readOnly = (): Refusal =>
  new Refusal(
    "unavailable",
    "The server's disk failed, and it is restarting. Nothing was stored; try again in a moment.",
    {},
    { "retry-after": "1" },
  );

/** A full disk refuses each write, a bucket that does not answer each page that is kept nowhere: the log says so once a minute, whatever
 *  else it leaves out. */
function onceAMinute(tell: (since: string) => void) {
  let untold = 0;
  let next = 0;
  return (last: string): void => {
    untold++;
    if (performance.now() < next) return;
    next = performance.now() + UNIT_MS.m;
    tell(`since the last such line: ${untold}; the last one: ${last}`);
    untold = 0;
  };
}

const troublesOf = (log: Pick<Log, "error">) => ({
  disk: onceAMinute((since) => log.error("no room on the disk", `writes that were refused (507) ${since}`)),
  bucket: onceAMinute((since) =>
    log.error("the bucket that all boxes share", `requests that it did not answer (503) ${since}`),
  ),
});

/** Neither for subdomains nor for browsers' own lists: the owner's other hosts are not this server's. */
const DOMAIN_INSISTS = "max-age=31536000";

/** The parts that every step of a request may use. */
interface Steps extends AppParts {
  troubles: ReturnType<typeof troublesOf>;
  hostOf: ReturnType<typeof hostParser>;
  transport_security: string | null;
  is_https: boolean;
}

export function createApp(parts: AppParts): App {
  const { config, log } = parts;
  const steps: Steps = {
    ...parts,
    troubles: troublesOf(log),
    hostOf: hostParser(config),
    transport_security: transportSecurity(config.base_url),
    is_https: config.base_url.startsWith("https:"),
  };
  return (request, peer) => {
    const exchange = new Exchange(peer);
    if (log.access_enabled) exchange.started = performance.now();
    let answer: Response | Promise<Response>;
    try {
      answer = route(request, exchange, steps);
    } catch (error) {
      answer = failed(error, request, exchange, steps);
    }
    if (!(answer instanceof Promise)) return finish(answer, request, exchange, steps);
    if (log.access_enabled)
      exchange.address(); // before the client can leave
    else exchange.started = performance.now();
    return answer
      .catch((error: unknown) => failed(error, request, exchange, steps))
      .then((response) => finish(response, request, exchange, steps));
  };
}

function route(request: Request, exchange: Exchange, steps: Steps): Response | Promise<Response> {
  const { sites } = steps;
  const header = request.headers.get("host");
  const again = sites.answerFromShortcut(request, header, exchange);
  if (again !== null) return again;
  const host = steps.hostOf(header);
  exchange.on_api = host.kind === "api";
  if (header !== null && (exchange.on_api || host.kind === "site")) exchange.traffic = steps.trafficOf(header);
  if (steps.readOnly() && request.method !== "GET" && request.method !== "HEAD") throw readOnly();
  if (host.kind === "site") return onSite(request, host, exchange, steps);
  if (host.kind === "domain") return onDomain(request, host.domain, exchange, steps);
  if (host.kind === "invalid") throw invalidHost();
  return onServer(request, exchange, steps);
}

/** A domain of a site's own is its live host (BEYOND 10). */
function onDomain(request: Request, domain: string, exchange: Exchange, steps: Steps): Response | Promise<Response> {
  const at = (host: SiteHost | null): Response | Promise<Response> => {
    if (host === null) return onServer(request, exchange, steps);
    exchange.traffic = steps.trafficOf(request.headers.get("host")!);
    exchange.insists = steps.is_https && host.hsts === true;
    return onSite(request, host, exchange, steps);
  };
  const found = steps.sites.domainAt(domain);
  return found instanceof Promise ? found.then(at) : at(found);
}

/** The API's host, or one that is none of this server's. */
function onServer(request: Request, exchange: Exchange, steps: Steps): Response | Promise<Response> {
  const path = pathOf(request.url);
  if (path === METRICS_PATH) return figures(request, exchange, steps);
  if (path === TLS_ASK_PATH) return tlsQuestion(request, exchange, steps);
  // A load balancer asks by address: its health check must not need the right name.
  if (exchange.on_api || path === "/healthz") return steps.api(steps.requests.contextOf(request, exchange), path);
  throw unknownHost();
}

/** A site that wants a password has a door before all that it answers. */
function onSite(request: Request, host: SiteHost, exchange: Exchange, steps: Steps): Response | Promise<Response> {
  const { sites, ownPaths, door, requests } = steps;
  const shown = () => ownPaths(request, host, exchange) ?? sites.handle(request, host, exchange);
  const behind = async (site: Site) => (await door(requests.contextOf(request, exchange), site)) ?? shown();
  const shut = sites.privateAt(host);
  if (shut instanceof Promise) return shut.then((site) => (site === null ? shown() : behind(site)));
  return shut === null ? shown() : behind(shut);
}

async function figures(request: Request, exchange: Exchange, steps: Steps): Promise<Response> {
  const answer = await steps.metricsAnswer(request, exchange, exchange.on_api);
  return answer ?? nothingHere(request, exchange, steps);
}

/** On any host, for a proxy asks by whatever address it has. */
async function tlsQuestion(request: Request, exchange: Exchange, steps: Steps): Promise<Response> {
  return (await steps.tlsAsk(request, exchange, true)) ?? nothingHere(request, exchange, steps);
}

function nothingHere(request: Request, exchange: Exchange, steps: Steps): Promise<Response> {
  if (!exchange.on_api) throw unknownHost();
  return steps.api(steps.requests.contextOf(request, exchange), pathOf(request.url));
}

function failed(error: unknown, request: Request, exchange: Exchange, steps: Steps): Response | Promise<Response> {
  const { config, log, metrics, troubles } = steps;
  if (!(error instanceof Refusal)) log.error("request failed", error, exchange.request_id);
  const unknown_outcome = isCommitUnknown(error);
  if (unknown_outcome) steps.fatal(error);
  if (error instanceof Error && error.name === "DamagedBlob") metrics.count("svc_blob_failures_total");
  const refusal = unknown_outcome ? restarting() : asRefusal(error);
  if (refusal.code === "storage_full") troubles.disk(refusal.message);
  if (isBucketAway(refusal)) troubles.bucket(refusal.cause.message);
  metrics.refused(refusal.code);
  exchange.code = refusal.code;
  if (!exchange.on_api) return errorPage(request, refusal, exchange, config);
  const json = () => errorJson(withAppeal(refusal, config.contact), exchange);
  if (!wantsHtml(request)) return json();
  return steps.apiErrorPage(steps.requests.contextOf(request, exchange), refusal).catch((broken: unknown) => {
    log.error("error page failed", broken, exchange.request_id);
    return json();
  });
}

function finish(response: Response, request: Request, exchange: Exchange, steps: Steps): Response {
  const { metrics, log } = steps;
  if (exchange.on_api && steps.transport_security) {
    response.headers.set("strict-transport-security", steps.transport_security);
  }
  if (exchange.insists) response.headers.set("strict-transport-security", DOMAIN_INSISTS);
  if (exchange.shut) keepPrivate(response);
  if (exchange.cookies !== null) for (const cookie of exchange.cookies) response.headers.append("set-cookie", cookie);
  const { method } = request;
  // Bun has one for GET alone (RFC 9110, 6.6.1).
  if (method === "HEAD") response.headers.set("date", new Date(Date.now()).toUTCString());
  if (steps.draining()) response.headers.set("connection", "close");
  const bytes = method === "HEAD" ? 0 : exchange.bytes;
  // An answer that is given at once takes microseconds, and a hundredth of it went into asking the clock.
  const ms = exchange.started === 0 ? 0 : performance.now() - exchange.started;
  metrics.answered(response.status, bytes, ms);
  if (exchange.traffic !== null) exchange.traffic.add(bytes);
  if (exchange.counted !== null) steps.noteVisit?.(request, exchange, exchange.counted, response.status);
  if (exchange.deploy !== null && isDone(exchange)) metrics.observe("svc_deploy_duration_seconds", ms);
  if (log.access_enabled) {
    log.access({
      method,
      host: request.headers.get("host") ?? "-",
      path: pathOf(request.url),
      status: response.status,
      bytes,
      ms,
      address: steps.requests.clientAddressOf(request, exchange),
      code: exchange.code,
      request_id: exchange.request_id,
    });
    if (exchange.deploy !== null) logDeploy(log, exchange, exchange.deploy, { status: response.status, ms });
    if (exchange.change !== null) logChange(log, exchange, exchange.change);
  }
  return response;
}

/** The log's lines of deploys, previews and other changes, beside the access log's (CONTRACT 7). */

const isDone = ({ deploy, code }: Exchange): boolean => deploy?.done !== undefined && code === null;

/** A tenth of a millisecond is as exact as a person wants it. */
const rounded = (ms: number): number => Math.round(ms * 10) / 10;
const roundedAll = (stages: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(Object.entries(stages).map(([stage, ms]) => [stage, rounded(ms)]));

type LogLine = (log: Pick<Log, "record">, members: Parameters<Log["record"]>[1]) => void;

/** Each name is written out: the manual tells of every line that stands in the source. */
const LINES: Record<DeployFacts["event"], { done: LogLine; refused: LogLine }> = {
  deploy: {
    done: (log, members) => log.record("deploy", members),
    refused: (log, members) => log.record("deploy_refused", members),
  },
  preview: {
    done: (log, members) => log.record("preview", members),
    refused: (log, members) => log.record("preview_refused", members),
  },
};

const CHANGES: Record<ChangeFacts["event"], LogLine> = {
  rollback: (log, members) => log.record("rollback", members),
  promote: (log, members) => log.record("promote", members),
  claim: (log, members) => log.record("claim", members),
};

function logChange(log: Pick<Log, "record">, { request_id }: Exchange, facts: ChangeFacts): void {
  const { event, site_id, slug, from, version_id, by } = facts;
  const what = { request_id, site_id, slug };
  CHANGES[event](log, from === undefined ? { ...what, by } : { ...what, from, version_id: version_id ?? null, by });
}

function logDeploy(
  log: Pick<Log, "record">,
  exchange: Exchange,
  { event, by, site_id, slug, done }: DeployFacts,
  { status, ms }: { status: number; ms: number },
): void {
  const { code, request_id } = exchange;
  const site = { site_id: site_id ?? null, slug: slug ?? null };
  if (!done || !isDone(exchange)) {
    return LINES[event].refused(log, { code, status, request_id, by, ...site, ms: rounded(ms) });
  }
  const { version_id, files, bytes, stages, healed, warnings } = done;
  const what = { version_id, by, files, bytes, ms: rounded(ms), stages: roundedAll(stages), healed, warnings };
  LINES[event].done(log, { request_id, ...site, ...what });
}
