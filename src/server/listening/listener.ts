/** The socket that the server listens on, and its end, the drain. It takes so many connections and no more: past that a
 *  new one is closed at once, and while they cannot even be counted one by one, nobody is let in at all (door.ts). */
import type { App } from "../app.ts";
import { isIP } from "node:net";
import { allowedDescriptors } from "../../config/machine.ts";
import type { Config } from "../../config/index.ts";
import { familyOf, networkList } from "../../config/networks.ts";
import type { readTls } from "../../config/tls.ts";
import { Refusal } from "../../base/errors.ts";
import { every, loggedBy } from "../../run/every.ts";
import { errorJson } from "../../http/answers.ts";
import { Exchange, type Peer } from "../../http/exchange.ts";
import type { Log } from "../../run/log.ts";
import { createDoor, type Door, type Guest } from "../door.ts";
import { createServers, type Server, type Servers } from "./servers.ts";
import { peerName } from "../sockets.ts";

/** Seconds. At Bun's default of 10 a reader at 100 KB/s loses half of 10 MB. */
const IDLE_TIMEOUT_S = 120;
const WATCH_MS = 100;
/** A connection without a request for so long is closed already: the runtime looks every four seconds. */
const QUIET_MS = (IDLE_TIMEOUT_S + 8) * 1000;
const MINUTE_MS = 60_000;
/** Of a file that goes out over TLS Bun holds a descriptor and 256 KB until it is read: this many times at most. */
const MANY_ANSWERS = 100;

export interface Listener {
  /** The port that was really bound. */
  port: number;
  max_connections: number;
  connections(): number;
  /** From now on whoever connects gets this certificate. Who is connected stays so, and no request fails. Throws where no
   *  other socket can be had: then all stays as it was. */
  renew(tls: Tls): void;
  /** Lets nobody in any more. Resolves when what is in flight is answered, or after so many milliseconds. */
  stop(ms: number): Promise<void>;
}

type Tls = ReturnType<typeof readTls>;

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

/** Who sent a request. Made for each: a class takes half of what as many closures do. */
class Caller implements Peer {
  #busy: Guest | null = null;
  constructor(
    private readonly server: Server,
    private readonly request: Request,
    private readonly door: Door,
    private readonly multiplexed: boolean,
  ) {}
  address(): string | null {
    return this.server.requestIP(this.request)?.address ?? null;
  }
  guest(): Guest {
    const { address = "", port = 0 } = this.server.requestIP(this.request) ?? {};
    const plain = address.replace(/^::ffff:(?=\d+\.)/, "");
    return { peer: peerName(plain, port), address: plain };
  }
  extendTimeout(seconds: number): void {
    this.server.timeout(this.request, seconds);
    this.door.uploadBegins((this.#busy ??= this.guest()));
  }
  crowded(): boolean {
    return this.multiplexed && this.server.pendingRequests > MANY_ANSWERS;
  }
  done(): void {
    if (this.#busy !== null) this.door.uploadEnds(this.#busy);
  }
}

interface Serving extends Omit<ListenerOptions, "tls"> {
  door: Door;
  refuse(): void;
  /** Whether its answers close their connections: another one is there for new ones. */
  isLeaving(server: Server): boolean;
}

function closing(answer: Response): Response {
  answer.headers.set("connection", "close");
  return answer;
}

/** `shares`: the port is another socket's, too. */
const serveAt = (port: number, tls: Tls, shares: boolean, { config, app, worker, door, refuse, isLeaving }: Serving) =>
  Bun.serve({
    hostname: config.host,
    port,
    reusePort: worker || shares,
    development: false,
    idleTimeout: IDLE_TIMEOUT_S,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER, // our own limits answer in JSON; Bun's would be an empty 413
    ...(tls && { tls, http2: true }),
    fetch(request, server) {
      const caller = new Caller(server, request, door, tls !== null);
      if (!door.admits(caller)) {
        refuse();
        return errorJson(tooMany(), new Exchange(caller));
      }
      const answer = app()(request, caller);
      if (!(answer instanceof Promise)) return isLeaving(server) ? closing(answer) : answer;
      return answer.finally(() => caller.done()).then((response) => (isLeaving(server) ? closing(response) : response));
    },
    error: () => new Response("Internal error", { status: 500 }),
  });

/** Who speaks for many: a proxy, and whatever stands on the same machine. */
function proxyTest(trusted: readonly string[] | null): (address: string) => boolean {
  const list = networkList(["127.0.0.0/8", "::1", ...(trusted ?? [])]);
  return (address) => isIP(address) !== 0 && list.check(address, familyOf(address));
}

/** A line for the log once a minute, however many there are. */
function refusals(log: Log, told: () => void) {
  let untold = 0;
  let next = 0;
  return {
    count(): void {
      untold++;
      told();
    },
    tell({ max }: Door, shut: boolean): void {
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

/** Its sockets, each with the certificate of its day. */
function createPort(options: Omit<Serving, "isLeaving"> & Pick<ListenerOptions, "tls">) {
  let { tls } = options;
  const serving: Serving = { ...options, isLeaving: (one) => servers.isLeaving(one) };
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
  const door = createDoor({
    max: config.max_connections,
    descriptors: allowedDescriptors(),
    tls: options.tls !== null,
    isProxy: proxyTest(config.trust_proxy),
    refused: refused.count,
  });
  const { servers, renew } = createPort({ ...options, door, refuse: refused.count });
  function watch(): void {
    servers.endQuiet();
    const state = door.watch(servers.port);
    refused.tell(door, state === "shut");
    if (state === "shut") servers.shut();
    else servers.open();
  }
  // Also while nobody is let in, and nothing else would keep the process alive.
  const watching = every(WATCH_MS, watch, failedWatch(options), { keeps_alive: true });
  return {
    port: servers.port,
    max_connections: door.max,
    connections: door.connections,
    renew,
    async stop(ms) {
      watching.stop();
      servers.shut();
      const all = servers.stopping();
      await Promise.race([Promise.all(all.map((one) => one.stop())), lastAnswer(all), Bun.sleep(ms)]);
      await Promise.all(all.map((one) => one.stop(true)));
      door.close();
    },
  };
}

/** Resolves when nothing has been in flight for a moment. `stop()` alone waits for a browser's connections, too, that
 *  it opened ahead of requests it never made: up to nine seconds. */
async function lastAnswer(servers: readonly Server[]): Promise<void> {
  const busy = () => servers.some(({ pendingRequests }) => pendingRequests > 0);
  for (let quiet = 0; quiet < 5; quiet = busy() ? 0 : quiet + 1) await Bun.sleep(20);
}
