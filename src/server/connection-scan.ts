/** A look at each open connection: how many there are, which networks have more than their share, which never ask for anything. */
import { networkOf } from "../http/context.ts";
import { type Connection, openSockets } from "./sockets.ts";

/** A connection that asks for nothing in this time, of a network that has more than half of all places, is too late. */
const SILENT_MS = 1000;
/** A turn of the watch. */
const JUST_NOW_MS = 100;
/** A connection that is kept open for a next request, and has had none for so long, makes room for a visitor. */
const RESTING_MS = 10_000;

export interface ConnectionScanOptions {
  max: number;
  /** A handshake is answered, too: then every peer that was not let in counts as silent. */
  tls: boolean;
  /** A proxy speaks for many: no share of the places is too much for it. */
  isProxy(address: string): boolean;
  /** A connection was closed. */
  refused(): void;
  /** With no more places left than this there is no descriptor for another connection. */
  nothing: number;
  /** Takes how many connections there are; returns how many places are left then. */
  counted(connections: number): number;
}

/** Peers that were answered before or are let in now, and those with an upload under way. */
function createKnownPeers({ max, tls }: Pick<ConnectionScanOptions, "max" | "tls">) {
  let known = new Set<string>();
  const uploads = new Map<string, number>();
  const upload = (peer: string, more: 1 | -1): void => {
    const under_way = (uploads.get(peer) ?? 0) + more;
    if (under_way > 0) uploads.set(peer, under_way);
    else uploads.delete(peer);
  };
  return {
    isKnown: (peer: string) => known.has(peer),
    know(peer: string): void {
      if (known.size > 2 * max) known.clear(); // without a scan nothing is forgotten, and most of them have left
      known.add(peer);
    },
    /** Whether most of the remembered peers have left, when so many connections are open. */
    mostHaveLeft: (open: number) => known.size > 2 * open,
    /** An upload begins or ends: over HTTP/2 a connection may have several. */
    upload,
    isBusy: ({ peer }: Connection) => uploads.has(peer),
    isSilent: ({ peer, answered }: Connection) => !known.has(peer) && (tls || !answered) && !uploads.has(peer),
    /** Forgets peers that have left. */
    keep(all: readonly Connection[]): void {
      known = new Set(
        all.filter(({ answered, peer }) => (answered && !tls) || known.has(peer)).map(({ peer }) => peer),
      );
    },
  };
}

/** How many connections each network has. Those of a proxy are not counted: it speaks for many. */
function createNetworks({ max, isProxy }: Pick<ConnectionScanOptions, "max" | "isProxy">) {
  let sizes = new Map<string, number>();
  const sizeOf = (address: string): number => (sizes.size === 0 ? 0 : (sizes.get(networkOf(address)) ?? 0));
  return {
    isGreedy: (address: string) => sizeOf(address) > max >> 1,
    isLarge: (address: string) => sizeOf(address) > max >> 4,
    count(all: readonly Connection[]): void {
      sizes = new Map();
      for (const { address } of all) {
        const network = networkOf(address);
        if (!isProxy(address)) sizes.set(network, (sizes.get(network) ?? 0) + 1);
      }
    },
    /** The largest network's first, and of each the longest at rest: a small network does not pay for a large one. */
    inTurn(some: readonly Connection[]): Connection[] {
      const sized = some.map((one) => ({ one, size: sizeOf(one.address) }));
      return sized.sort((a, b) => b.size - a.size || b.one.rest_ms - a.one.rest_ms).map(({ one }) => one);
    },
  };
}

const rests = ({ answered, rest_ms }: Connection): boolean => answered && rest_ms > RESTING_MS;

/** The silent peers to end, in turn: as many as are too many, and those that are too late. A request of a peer that has just
 *  come may not have been read yet: as long as there are descriptors it is left alone, and no peer of a smaller network is
 *  ended instead. */
function tooLate(
  silent: readonly Connection[],
  left: number,
  isGreedy: (address: string) => boolean,
  { max, nothing }: ConnectionScanOptions,
) {
  const too_many = left < 0 ? (max >> 3) - left : 0;
  const isLate = ({ rest_ms, address }: Connection, n: number) =>
    n < too_many || (rest_ms > SILENT_MS && isGreedy(address));
  return silent.filter((one, n) => isLate(one, n) && (left <= nothing || one.rest_ms > JUST_NOW_MS));
}

export function createConnectionScan(options: ConnectionScanOptions) {
  const { max, refused, counted } = options;
  const sockets = openSockets();
  const known_peers = createKnownPeers(options);
  const { isGreedy, isLarge, ...networks } = createNetworks(options);
  let yielding = 0;

  /** At once: another connection may have the descriptor in a moment. */
  function end(these: readonly Connection[]): number {
    for (const one of these) sockets?.end(one);
    return these.length;
  }
  return {
    ...known_peers,
    isGreedy,
    /** Whether connections can be listed on this system. */
    possible: sockets !== null,
    /** Whether a silent peer of a large network is ended for this visitor, whose network is not large. */
    yields: (address: string): boolean => yielding > 0 && !isLarge(address) && yielding-- > 0,
    /** Scans the connections that came in at this port; with `ending` it ends silent ones that are too many. Returns how many
     *  it ended. */
    look(port: number, ending: boolean): number {
      const all = sockets === null || port === 0 ? null : sockets.list(port);
      if (all === null) return 0;
      networks.count(all);
      known_peers.keep(all);
      const left = counted(all.length);
      const silent_peers = networks.inTurn(all.filter(known_peers.isSilent));
      yielding = silent_peers.filter(({ address }) => isLarge(address)).length;
      const late = ending ? tooLate(silent_peers, left, isGreedy, options) : [];
      late.forEach(refused);
      return end(late);
    },
    /** Ends connections at rest, an eighth of the places at most. */
    endResting(port: number): void {
      const resting = (sockets?.list(port) ?? []).filter((one) => rests(one) && !known_peers.isBusy(one));
      end(networks.inTurn(resting).slice(0, 1 + (max >> 3)));
    },
  };
}
