/** Questions of the operator's own programs: `GET /metrics` (CONTRACT 7), and `GET /tls/ask` (BEYOND 10). They are answered on the same
 *  machine, and to the bearer of SVC_METRICS_TOKEN. */
import type { Config } from "../config/index.ts";
import { answerText } from "../http/answers.ts";
import { type Exchange, queryOf } from "../http/exchange.ts";
import { hostParser } from "../http/hosts.ts";
import type { Metrics, Sample } from "../run/metrics.ts";
import type { Store } from "../store/index.ts";
import type { BoxFigures } from "../store/serving.ts";
import { sameSecret } from "../base/tokens.ts";

export const METRICS_PATH = "/metrics";

export const TLS_ASK_PATH = "/tls/ask";

const isRead = ({ method }: Request): boolean => method === "GET" || method === "HEAD";

const LOOPBACK_NAME = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;
const LOOPBACK_ADDRESS = /^(?:::ffff:)?127\.|^::1$/i;

/** A proxy on the same machine is loopback too, but forwards the address of its client. */
function isLocal({ headers }: Request, exchange: Exchange): boolean {
  const forwarded = [...headers.keys()].some((name) => name === "forwarded" || name.startsWith("x-forwarded-"));
  const named = LOOPBACK_NAME.test(headers.get("host") ?? "");
  return named && !forwarded && LOOPBACK_ADDRESS.test(exchange.address() ?? "");
}

function hasToken({ headers }: Request, token: string | null): boolean {
  const sent = /^bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
  return token !== null && sent !== undefined && sameSecret(sent, token);
}

/** A gauge of its own line. */
const gauge = (name: string, help: string, value: number): Sample => ({ name, type: "gauge", help, value });

const boxSamples = (figures: BoxFigures): Sample[] => [
  gauge("svc_database_up", "1 while the database answers, by the last try.", Number(figures.database_up)),
  gauge("svc_bucket_up", "1 while the bucket does what it is asked for, by the last try.", Number(figures.bucket_up)),
  gauge("svc_stale_seconds", "For how long pages are shown without asking the database.", figures.stale_ms / 1000),
  gauge("svc_boxes", "Servers of this service that are there, this one among them.", figures.boxes),
  gauge("svc_settings_differ", "Other servers of this service whose settings are not this one's.", figures.differing),
  gauge("svc_clock_skew_seconds", "How far the database's clock is ahead of this machine's.", figures.ahead_ms / 1000),
  gauge("svc_cache_bytes", "Copies from the bucket on this machine's disk.", figures.cache_bytes),
];

type MetricsStore = Pick<Store, "census" | "freeBytes" | "boxFigures">;

/** A program that watches has a deadline of its own. */
const CENSUS_MS = 1000;

/** Sites and versions are left out while no database can be asked, or is slow. */
async function censusSamples({ census, boxFigures }: MetricsStore, now: number): Promise<Sample[]> {
  try {
    if (boxFigures?.().database_up === false) return [];
    const counted = boxFigures === undefined ? census(now) : Promise.race([census(now), Bun.sleep(CENSUS_MS)]);
    const found = await counted;
    if (!found) return [];
    const { versions, ...sites } = found;
    const help = "Sites by state; expired ones wait for the sweep.";
    return [
      ...Object.entries(sites).map(([state, n]) => ({ ...gauge("svc_sites", help, n), label: `state="${state}"` })),
      gauge("svc_versions", "Stored versions of all sites.", versions),
    ];
  } catch (error) {
    if (boxFigures === undefined) throw error;
    return [];
  }
}

async function samples(store: MetricsStore, now: number): Promise<Sample[]> {
  return [
    ...(await censusSamples(store, now)),
    gauge("svc_disk_free_bytes", "Room on the data directory's disk.", store.freeBytes()),
    ...(store.boxFigures === undefined ? [] : boxSamples(store.boxFigures())),
  ];
}

type OperatorsQuestion = [request: Request, exchange: Exchange, by_token: boolean];

const mayAsk = (token: string | null, ...[request, exchange, by_token]: OperatorsQuestion): boolean =>
  isLocal(request, exchange) || (by_token && hasToken(request, token));

interface MetricsParts {
  config: Pick<Config, "metrics_token">;
  metrics: Metrics;
  store: MetricsStore;
  now: () => number;
  /** Name and version of the program. */
  build: Sample;
}

/** Null for callers who may not know that there is anything. `by_token`: on the API's own host. */
export function createMetricsAnswer({ config, metrics, store, now, build }: MetricsParts) {
  return async (...asked: OperatorsQuestion): Promise<Response | null> => {
    const [request, exchange] = asked;
    if (!isRead(request) || !mayAsk(config.metrics_token, ...asked)) return null;
    const text = metrics.text([...(await samples(store, now())), build]);
    return answerText(text, exchange, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
  };
}

interface TlsAskParts {
  config: Pick<Config, "metrics_token" | "base_url" | "sites_domain">;
  /** Whether a site, a version or a preview is at this host. A domain's is named by the domain alone. */
  isThere(host: { slug: string; version_id: string | null; preview?: string } | { domain: string }): Promise<boolean>;
}

/** Whether a proxy may get a certificate for a name: 200 if the server answers there, else 404. Both are empty. Null as for `/metrics`. */
export function createTlsAsk({ config, isThere }: TlsAskParts) {
  const hostOf = hostParser(config);

  async function isOurs(name: string): Promise<boolean> {
    const host = hostOf(name);
    if (host.kind === "api") return true;
    return (host.kind === "site" || host.kind === "domain") && isThere(host);
  }

  return async (...asked: OperatorsQuestion): Promise<Response | null> => {
    const [request] = asked;
    if (!isRead(request) || !mayAsk(config.metrics_token, ...asked)) return null;
    const name = new URLSearchParams(queryOf(request.url)).get("domain") ?? "";
    // A port would be one of the parser's; a proxy asks by a name alone.
    const known = /^[a-z0-9._-]{1,254}$/i.test(name) && (await isOurs(name));
    return new Response(null, { status: known ? 200 : 404, headers: { "cache-control": "no-store" } });
  };
}
