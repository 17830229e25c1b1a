/** The sockets of one port: one takes connections, or none does; those that it follows have answers under way. */
import { openSockets } from "./sockets.ts";

export type HttpServer = Bun.Server<undefined>;

export interface Servers {
  port: number;
  /** Throws where somebody took the port meanwhile. */
  open(): void;
  shut(): void;
  /** Another one takes new connections; those of the one before live on, and each leaves with its next answer. Throws
   *  where there can be none: then nothing has changed. */
  replace(): void;
  /** Whether another one takes the new connections. */
  isLeaving(server: HttpServer): boolean;
  /** Stops replaced servers that had no request for so long that they have no connection left. */
  endQuiet(): void;
  /** Servers that are stopped and have answers under way. */
  stopping(): HttpServer[];
}

class Sockets implements Servers {
  readonly port: number;
  #current: HttpServer | null;
  /** When each was last asked (`performance.now()`). */
  readonly #replaced = new Map<HttpServer, number>();
  readonly #stopping = new Set<HttpServer>();
  readonly #sharing: Sharing | null;

  constructor(
    private readonly start: (port: number, shares: boolean) => HttpServer,
    first_port: number,
    private readonly quiet_ms: number,
  ) {
    this.#current = start(first_port, false);
    this.port = this.#current.port!;
    this.#sharing = openSharing(this.port);
  }
  open(): void {
    this.#current ??= this.start(this.port, false);
  }
  shut(): void {
    const open = this.#current === null ? [] : [this.#current];
    for (const server of [...this.#replaced.keys(), ...open]) this.#stop(server);
    this.#current = null;
    this.#sharing?.forget();
  }
  replace(): void {
    const old = this.#current;
    if (old === null) return;
    if (this.#sharing === null || !this.#sharing.begin()) {
      this.shut(); // another system: for a moment nobody is let in
      return this.open();
    }
    this.#current = this.start(this.port, true);
    this.#replaced.set(old, performance.now());
    this.#sharing.took();
  }
  isLeaving(server: HttpServer): boolean {
    if (this.#replaced.size === 0 || !this.#replaced.has(server)) return false;
    this.#replaced.set(server, performance.now());
    return true;
  }
  endQuiet(): void {
    if (this.#replaced.size === 0) return;
    const since = performance.now() - this.quiet_ms;
    for (const [server, asked] of this.#replaced) {
      if (asked > since || server.pendingRequests > 0) continue;
      this.#stop(server);
      this.#sharing?.left();
    }
  }
  stopping(): HttpServer[] {
    return [...this.#stopping];
  }
  #stop(server: HttpServer): void {
    this.#replaced.delete(server);
    this.#stopping.add(server);
    void server.stop().finally(() => this.#stopping.delete(server));
  }
}

/** `start`: listens at the port, `shares` where another socket does, too. `quiet_ms`: after so long without a request a
 *  connection is closed by itself. */
export const createServers = (
  start: (port: number, shares: boolean) => HttpServer,
  first_port: number,
  quiet_ms: number,
): Servers => new Sockets(start, first_port, quiet_ms);

/** Several sockets at one port, of which the youngest takes all new connections. The kernel deals them out among all that
 *  listen, unless it is told which; what an older one has taken by then, it goes on with. So a certificate is changed
 *  without a moment in which nobody listens, and no connection is lost in the queue of a socket that closes. */

interface Sharing {
  /** Before another socket is opened: whether there may be one. */
  begin(): boolean;
  /** Another one is open: it takes all new connections. */
  took(): void;
  /** One of the older ones was closed. */
  left(): void;
  /** All were closed. */
  forget(): void;
}

/** Null when the platform cannot steer. */
function openSharing(port: number): Sharing | null {
  const sockets = openSockets();
  if (sockets === null) return null;
  /** Descriptors in the kernel's order. */
  let group: number[] = [];
  let youngest = -1;

  const steer = () => sockets.steer(youngest, group.indexOf(youngest));
  return {
    begin() {
      const open = sockets.listeners(port) ?? [];
      if (group.length === 0) group = open;
      return open.length > 0 && open.every(sockets.share);
    },
    took() {
      const fresh = sockets.listeners(port)?.find((one) => !group.includes(one));
      if (fresh === undefined) return;
      youngest = fresh;
      group.push(fresh);
      steer();
    },
    left() {
      const open = sockets.listeners(port) ?? group;
      for (let n = group.length - 1; n >= 0; n--) {
        if (open.includes(group[n]!)) continue;
        const last = group.pop()!; // the kernel puts it in the place of one that closes
        if (n < group.length) group[n] = last;
      }
      if (group.length > 0) steer();
    },
    forget() {
      group = [];
    },
  };
}
