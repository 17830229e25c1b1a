/** `GET /metrics` (CONTRACT 7): for the bearer of SVC_METRICS_TOKEN, and for programs on the same machine. */
import type { Config } from "../config/index.ts";
import { answerText } from "../http/answers.ts";
import type { Exchange } from "../http/exchange.ts";
import type { Metrics, Sample } from "../run/metrics.ts";
import type { Store } from "../store/index.ts";
import { sameSecret } from "../base/tokens.ts";

export const METRICS_PATH = "/metrics";

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

async function samples({ census, freeBytes }: Pick<Store, "census" | "freeBytes">, now: number): Promise<Sample[]> {
  const { versions, ...sites } = await census(now);
  return [
    ...Object.entries(sites).map(([state, value]) => ({
      name: "svc_sites",
      type: "gauge" as const,
      help: "Sites by state; expired ones wait for the sweep.",
      label: `state="${state}"`,
      value,
    })),
    { name: "svc_versions", type: "gauge", help: "Stored versions of all sites.", value: versions },
    { name: "svc_disk_free_bytes", type: "gauge", help: "Room on the data directory's disk.", value: freeBytes() },
  ];
}

interface MetricsParts {
  config: Pick<Config, "metrics_token">;
  metrics: Metrics;
  store: Pick<Store, "census" | "freeBytes">;
  now: () => number;
  /** Name and version of the program. */
  build: Sample;
}

/** Null for callers who may not know that there is anything. `by_token`: on the API's own host. */
export function createMetricsAnswer({ config, metrics, store, now, build }: MetricsParts) {
  return async (request: Request, exchange: Exchange, by_token: boolean): Promise<Response | null> => {
    if (request.method !== "GET" && request.method !== "HEAD") return null;
    if (!isLocal(request, exchange) && !(by_token && hasToken(request, config.metrics_token))) return null;
    const text = metrics.text([...(await samples(store, now())), build]);
    return answerText(text, exchange, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
  };
}
