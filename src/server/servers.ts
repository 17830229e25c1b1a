/** The sockets of one port: one takes connections, or none does; those that it follows have answers under way. */
import { openSharing } from "./sharing.ts";

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

/** Of one that was replaced: when it was last asked (`performance.now()`). */
type Replaced = Map<Server, { asked: number }>;

/** `start`: listens at the port, `shares` where another socket does, too. `quiet_ms`: after so long without a request a
 *  connection is closed by itself. */
export function createServers(
  start: (port: number, shares: boolean) => Server,
  first_port: number,
  quiet_ms: number,
): Servers {
  let current: Server | null = start(first_port, false);
  const port = current.port!;
  const replaced: Replaced = new Map();
  const stopping = new Set<Server>();
  const sharing = openSharing(port);

  function stop(server: Server): void {
    replaced.delete(server);
    stopping.add(server);
    void server.stop().finally(() => stopping.delete(server));
  }
  function shut(): void {
    for (const server of [...replaced.keys(), ...(current ? [current] : [])]) stop(server);
    current = null;
    sharing?.forget();
  }
  const open = () => void (current ??= start(port, false));

  return {
    port,
    open,
    shut,
    replace() {
      const old = current;
      if (old === null) return;
      if (sharing === null || !sharing.begin()) {
        shut(); // another system: for a moment nobody is let in
        return open();
      }
      current = start(port, true);
      replaced.set(old, { asked: performance.now() });
      sharing.took();
    },
    isLeaving(server) {
      if (replaced.size === 0) return false;
      const found = replaced.get(server);
      if (found) found.asked = performance.now();
      return found !== undefined;
    },
    endQuiet() {
      if (replaced.size === 0) return;
      const since = performance.now() - quiet_ms;
      for (const [server, { asked }] of replaced) {
        if (asked > since || server.pendingRequests > 0) continue;
        stop(server);
        sharing?.left();
      }
    },
    stopping: () => [...stopping],
  };
}
