/** Several sockets at one port, of which the youngest takes all new connections. The kernel deals them out among all that
 *  listen, unless it is told which; what an older one has taken by then, it goes on with. So a certificate is changed
 *  without a moment in which nobody listens, and no connection is lost in the queue of a socket that closes. */
import { openSockets } from "../sockets.ts";

export interface Sharing {
  /** Before another socket is opened: whether there may be one. */
  begin(): boolean;
  /** Another one is open: it takes all new connections. */
  took(): void;
  /** One of the older ones was closed. */
  left(): void;
  /** All were closed. */
  forget(): void;
}

/** Null where nothing can be told. */
export function openSharing(port: number): Sharing | null {
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
