/** The port that the server listens at, and its end, the drain. Past the limit of connections a new one is closed at once, and
 *  while they cannot even be counted, none is let in (connection-limit.ts). */
import { isIP } from "node:net";
import { Refusal } from "../base/errors.ts";
import type { Config } from "../config/index.ts";
import { allowedDescriptors, listenError } from "../config/machine.ts";
import { familyOf, networkList } from "../config/setting.ts";
import type { ServedCertificate } from "../domains/served.ts";
import { errorJson } from "../http/answers.ts";
import { Exchange, pathOf, type Peer, queryOf } from "../http/exchange.ts";
import { domainUrl, hostParser } from "../http/hosts.ts";
import { every, loggedBy } from "../run/every.ts";
import type { Log } from "../run/log.ts";
import type { App } from "./app.ts";
import { createConnectionLimit, type ConnectionLimit, type Client, openDescriptors } from "./connection-limit.ts";
import { createServers, type HttpServer, type Servers } from "./servers.ts";
import { openSockets, peerName } from "./sockets.ts";

/** Seconds. At Bun's default of 10 a reader at 100 KB/s loses half of 10 MB. */
const IDLE_TIMEOUT_S = 120;
const WATCH_MS = 100;
/** A connection without a request for so long is closed already: the runtime looks every four seconds. */
const QUIET_MS = (IDLE_TIMEOUT_S + 8) * 1000;
const MINUTE_MS = 60_000;
/** For each file that goes out over TLS Bun holds a descriptor and 256 KB until it is read: for so many at most. */
const MANY_ANSWERS = 100;

export interface Listener {
  /** The port that was really bound. */
  port: number;
  max_connections: number;
  connections(): number;
  /** New connections get this certificate from now on. Open ones stay, and no request fails. Throws when there can be no
   *  other socket: then all stays as it was. */
  renew(tls: Tls): void;
  /** Lets no connection in any more. Resolves when what is in flight is answered, or after so many milliseconds. */
  stop(ms: number): Promise<void>;
}

/** Null: it speaks plain HTTP. */
type Tls = readonly ServedCertificate[] | null;

interface ListenerOptions {
  config: Config;
  tls: Tls;
  app: () => App;
  /** One of several processes on the port. */
  worker: boolean;
  log: Log;
  count(figure: "svc_connections_refused_total" | "svc_timer_failures_total"): void;
}

const tooMany = (): Refusal =>
  new Refusal(
    "unavailable",
    "The server has as many connections as it takes. Try again in a moment.",
    {},
    { "retry-after": "1", connection: "close" },
  );

/** The sender of a request. One is made for each request: a class takes half of what as many closures do. */
class Caller implements Peer {
  #busy: Client | null = null;
  constructor(
    private readonly server: HttpServer,
    private readonly request: Request,
    private readonly limit: ConnectionLimit,
    private readonly multiplexed: boolean,
  ) {}
  address(): string | null {
    return this.server.requestIP(this.request)?.address ?? null;
  }
  client(): Client {
    const { address = "", port = 0 } = this.server.requestIP(this.request) ?? {};
    const plain = address.replace(/^::ffff:(?=\d+\.)/, "");
    return { peer: peerName(plain, port), address: plain };
  }
  extendTimeout(seconds: number): void {
    this.server.timeout(this.request, seconds);
    this.limit.uploadBegins((this.#busy ??= this.client()));
  }
  crowded(): boolean {
    return this.multiplexed && this.server.pendingRequests > MANY_ANSWERS;
  }
  done(): void {
    if (this.#busy !== null) this.limit.uploadEnds(this.#busy);
  }
}

interface ListenerParts extends Omit<ListenerOptions, "tls"> {
  limit: ConnectionLimit;
  refuse(): void;
  /** Whether its answers close their connections, because another server takes new ones. */
  isLeaving(server: HttpServer): boolean;
}

function closing(answer: Response): Response {
  answer.headers.set("connection", "close");
  return answer;
}

/** `shares`: another socket has the port, too. */
const serveAt = (
  port: number,
  tls: Tls,
  shares: boolean,
  { config, app, worker, limit, refuse, isLeaving }: ListenerParts,
) =>
  Bun.serve({
    hostname: config.host,
    port,
    reusePort: worker || shares,
    development: false,
    idleTimeout: IDLE_TIMEOUT_S,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER, // our own limits answer in JSON; Bun's would be an empty 413
    ...(tls && { tls: [...tls], http2: true }),
    fetch(request, server) {
      const caller = new Caller(server, request, limit, tls !== null);
      if (!limit.admits(caller)) {
        refuse();
        return errorJson(tooMany(), new Exchange(caller));
      }
      const answer = app()(request, caller);
      if (!(answer instanceof Promise)) return isLeaving(server) ? closing(answer) : answer;
      return answer.finally(() => caller.done()).then((response) => (isLeaving(server) ? closing(response) : response));
    },
    error: () => new Response("Internal error", { status: 500 }),
  });

/** Whether an address speaks for many: a proxy, or any program of the same machine. */
function proxyTest(trusted: readonly string[] | null): (address: string) => boolean {
  const list = networkList(["127.0.0.0/8", "::1", ...(trusted ?? [])]);
  return (address) => isIP(address) !== 0 && list.check(address, familyOf(address));
}

/** A line for the log once a minute, however many there are. */
function refusals(log: Log, counted: () => void) {
  let untold = 0;
  let next = 0;
  return {
    count(): void {
      untold++;
      counted();
    },
    tell({ max }: ConnectionLimit, shut: boolean): void {
      if ((untold === 0 && !shut) || performance.now() < next) return;
      next = performance.now() + MINUTE_MS;
      log.error(
        "too many connections",
        `${max} are allowed (SVC_MAX_CONNECTIONS, and the limit of descriptors): ${untold} new ones were closed` +
          (shut ? ", and none is let in until some have left" : ""),
      );
      untold = 0;
    },
  };
}

/** The sockets of the port, each with the certificate of its time. */
function createPort(options: Omit<ListenerParts, "isLeaving"> & Pick<ListenerOptions, "tls">) {
  let { tls } = options;
  const serving: ListenerParts = { ...options, isLeaving: (one) => servers.isLeaving(one) };
  const start = (port: number, shares: boolean) => serveAt(port, tls, shares, serving);
  const servers: Servers = createServers(start, options.config.port, QUIET_MS);
  function renew(fresh: Tls): void {
    const old = tls;
    tls = fresh;
    try {
      servers.replace();
    } catch (error) {
      tls = old;
      throw error;
    }
  }
  return { servers, renew };
}

function failedWatch({ log, count }: ListenerOptions) {
  const tell = loggedBy(log, "watching the connections");
  const failed: typeof tell = (error, in_a_row) => {
    count("svc_timer_failures_total");
    tell(error, in_a_row);
  };
  return failed;
}

export function openListener(options: ListenerOptions): Listener {
  const { config, log } = options;
  const refused = refusals(log, () => options.count("svc_connections_refused_total"));
  const limit = createConnectionLimit({
    max: config.max_connections,
    descriptors: allowedDescriptors(),
    tls: options.tls !== null,
    isProxy: proxyTest(config.trust_proxy),
    refused: refused.count,
  });
  const { servers, renew } = createPort({ ...options, limit, refuse: refused.count });
  function watch(): void {
    servers.endQuiet();
    const state = limit.watch(servers.port);
    refused.tell(limit, state === "shut");
    if (state === "shut") servers.shut();
    else servers.open();
  }
  // Also while no connection is let in, and nothing else would keep the process alive.
  const watching = every(WATCH_MS, watch, failedWatch(options), { keeps_alive: true });
  return {
    port: servers.port,
    max_connections: limit.max,
    connections: limit.connections,
    renew,
    async stop(ms) {
      watching.stop();
      servers.shut();
      const all = servers.stopping();
      await Promise.race([Promise.all(all.map((one) => one.stop())), lastAnswer(all), Bun.sleep(ms)]);
      await Promise.all(all.map((one) => one.stop(true)));
      limit.close();
    },
  };
}

interface PlainParts {
  config: Pick<Config, "host" | "base_url" | "sites_domain" | "max_connections">;
  port: number;
  worker: boolean;
  log: Log;
  /** Whether this server shows something on a host. */
  isThere(host: { slug: string; version_id: string | null; preview?: string } | { domain: string }): Promise<boolean>;
  /** The answer to a challenge of an order under way; null for any other token. */
  challenge(token: string): Promise<string | null>;
}

const PLAIN_IDLE_S = 10;
const PLAIN_WATCH_MS = 1000;
/** The part of all places that connections to the plain port may take: none of them is for long. */
const PLAIN_SHARE = 1 / 4;
const CHALLENGE = /^\/\.well-known\/acme-challenge\/([\w-]{1,200})$/;

const plainAnswer = (status: number, text = "", headers: Record<string, string> = {}): Response =>
  new Response(text, {
    status,
    headers: { "content-type": "text/plain; charset=utf-8", connection: "close", ...headers },
  });

/** The answers of the plain port beside https (BEYOND 10): challenges on any host, `/healthz`, the way to https on hosts that are known. */
function answerPlainly({ config, isThere, challenge }: PlainParts) {
  const hostOf = hostParser(config);
  async function secured(header: string): Promise<string | null> {
    const host = hostOf(header);
    if (host.kind === "api") return new URL(config.base_url).origin;
    if (host.kind !== "site" && host.kind !== "domain") return null;
    if (!(await isThere(host))) return null;
    return domainUrl(
      config,
      header
        .trim()
        .toLowerCase()
        .replace(/\.?(?::\d+)?$/, ""),
    );
  }
  return async (request: Request): Promise<Response> => {
    const path = pathOf(request.url);
    const [, token] = CHALLENGE.exec(path) ?? [];
    if (token !== undefined) {
      const answer = await challenge(token);
      return answer === null ? plainAnswer(404) : plainAnswer(200, answer, { "cache-control": "no-store" });
    }
    if (path === "/healthz") return plainAnswer(200, '{"ok":true}', { "content-type": "application/json" });
    const origin = await secured(request.headers.get("host") ?? "");
    if (origin === null) return plainAnswer(404, "There is no site at this address.\n");
    return plainAnswer(308, "", { location: origin + path + queryOf(request.url), "cache-control": "max-age=60" });
  };
}

/** Throws as `listen` does. */
export function openPlainListener(parts: PlainParts): { stop(): Promise<void> } {
  const { config, port, worker, log } = parts;
  const answer = answerPlainly(parts);
  const server = Bun.serve({
    hostname: config.host,
    port,
    reusePort: worker,
    development: false,
    idleTimeout: PLAIN_IDLE_S,
    maxRequestBodySize: 1024,
    fetch: answer,
    error: () => plainAnswer(500, "Internal error\n"),
  });
  const sockets = openSockets();
  const most = Math.max(16, Math.floor((config.max_connections ?? 4096) * PLAIN_SHARE));
  /** Those that have been there longest make room. */
  const watching = every(
    PLAIN_WATCH_MS,
    () => {
      if (sockets === null || (openDescriptors() ?? 0) < most) return;
      const all = sockets.list(port) ?? [];
      const surplus = all
        .toSorted((one, other) => other.rest_ms - one.rest_ms)
        .slice(0, Math.max(0, all.length - most));
      for (const one of surplus) sockets.end(one);
    },
    loggedBy(log, "watching the plain port"),
  );
  return {
    async stop() {
      watching.stop();
      await server.stop(true);
    },
  };
}

/** Resolves when nothing has been in flight for a moment. `stop()` alone also waits for connections that a browser opened
 *  ahead of requests it never made: up to nine seconds. */
async function lastAnswer(servers: readonly HttpServer[]): Promise<void> {
  const busy = () => servers.some(({ pendingRequests }) => pendingRequests > 0);
  for (let quiet = 0; quiet < 5; quiet = busy() ? 0 : quiet + 1) await Bun.sleep(20);
}

/** After a kill -9 the process, or its workers, lets go of the port a moment later. */
const RELEASE_MS = 1000;
const AGAIN_MS = 20;

const isTaken = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "EADDRINUSE";

function sentenceOf(error: unknown, address: ListenAddress): unknown {
  const sentence = listenError(error, address);
  return sentence === null ? error : new Error(sentence);
}

interface ListenAddress {
  host: string;
  port: number;
}

/** Throws as `listen` does when the port is taken for longer than a second. */
export async function listenPatiently<T>(address: ListenAddress, listen: () => T): Promise<T> {
  const last = performance.now() + RELEASE_MS;
  for (;;) {
    try {
      return listen();
    } catch (error) {
      if (!isTaken(error) || performance.now() > last) throw sentenceOf(error, address);
      await Bun.sleep(AGAIN_MS);
    }
  }
}
