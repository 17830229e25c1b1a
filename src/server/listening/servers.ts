/** The sockets of one port: one takes connections, or none does; those that it follows have answers under way. */
import { openSharing, type Sharing } from "./sharing.ts";

export type Server = Bun.Server<undefined>;

export interface Servers {
  port: number;
  /** Throws where somebody took the port meanwhile. */
  open(): void;
  shut(): void;
  /** Another one takes new connections; those of the one before live on, and each leaves with its next answer. Throws
   *  where there can be none: then nothing has changed. */
  replace(): void;
  /** Whether another one takes the new connections. */
  isLeaving(server: Server): boolean;
  /** Stops those before it that nobody has asked for so long that they have no connection left. */
  endQuiet(): void;
  /** Those that are stopped and have answers under way. */
  stopping(): Server[];
}

class Sockets implements Servers {
  readonly port: number;
  #current: Server | null;
  /** When each was last asked (`performance.now()`). */
  readonly #replaced = new Map<Server, number>();
  readonly #stopping = new Set<Server>();
  readonly #sharing: Sharing | null;

  constructor(
    private readonly start: (port: number, shares: boolean) => Server,
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
  isLeaving(server: Server): boolean {
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
  stopping(): Server[] {
    return [...this.#stopping];
  }
  #stop(server: Server): void {
    this.#replaced.delete(server);
    this.#stopping.add(server);
    void server.stop().finally(() => this.#stopping.delete(server));
  }
}

/** `start`: listens at the port, `shares` where another socket does, too. `quiet_ms`: after so long without a request a
 *  connection is closed by itself. */
export const createServers = (
  start: (port: number, shares: boolean) => Server,
  first_port: number,
  quiet_ms: number,
): Servers => new Sockets(start, first_port, quiet_ms);
