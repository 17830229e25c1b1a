/** How many connections may be open (CONTRACT 1, `--max-connections`). The runtime reports requests and never a connection:
 *  they are counted as the descriptors that this process has beyond its own. A connection that is too many is refused at its
 *  first request; one that sends none is found among the sockets (docs/decisions/service.md). */

import { closeSync, openSync, readdirSync, statSync } from "node:fs";
import { networkOf } from "../http/context.ts";
import { type Connection, openSockets } from "./sockets.ts";

/** Descriptors that are held back from connections until files need them. */
const RESERVE = 128;
/** Turns of the watch, 100 ms each. A scan takes 5 µs for each descriptor: when places are free it is this rare, and not done
 *  at all with many descriptors. */
const LOOK_TURNS = 20;
const FEW = 500;
/** When places are rare, so many descriptors may be scanned in a turn: a tenth of the time, at the worst. */
const LOOKED_AT_A_TURN = 2000;
/** With no more places than these the number of descriptors is not exact enough. */
const RARE = 4;
/** Turns for which newcomers are refused before connections that rest make room. */
const PATIENT_TURNS = 50;
/** Turns without a descriptor before no connection is let in any more; PATIENCE times as many while silent ones still leave. */
const LAST_TURNS = 20;
const PATIENCE = 5;

/** The other end of a connection. `peer` is unique while the connection lasts. */
export interface Client {
  peer: string;
  address: string;
}

export interface ConnectionLimit {
  /** 0 means no limit. */
  readonly max: number;
  connections(): number;
  /** On the path of every request: a subtraction, while less than half of the places are taken. */
  admits(caller: { client(): Client }): boolean;
  /** An upload is answered late, and is neither silent nor at rest meanwhile. */
  uploadBegins(client: Client): void;
  uploadEnds(client: Client): void;
  /** Called every 100 ms. `shut`: no connection is to be let in. */
  watch(port: number): "shut" | "open";
  close(): void;
}

interface ConnectionLimitOptions extends Pick<ConnectionScanOptions, "tls" | "isProxy" | "refused"> {
  /** Null means no limit. */
  max: number | null;
  /** How many this process may have; null when the platform cannot tell. */
  descriptors: number | null;
}

const NO_LIMIT: ConnectionLimit = {
  max: 0,
  connections: () => 0,
  admits: () => true,
  uploadBegins: () => {},
  uploadEnds: () => {},
  watch: () => "open",
  close: () => {},
};

type Bounded = ConnectionLimitOptions & { max: number; descriptors: number };

/** Counts connections and descriptors. */
function createCount({ max, descriptors }: Bounded) {
  const spare = Math.min(RESERVE, descriptors >> 2);
  const slack = spare >> 1;
  const reserve = reserveDescriptors(spare);
  const used = () => (openDescriptors() ?? Infinity) - reserve.held();
  let others = used() + 1; // the listener
  const connections = () => Math.max(0, used() - others);
  /** Places that are left; below 0 there are too many. */
  const room = () => Math.min(max - connections(), descriptors - spare - slack - used());
  reserve.take();
  return {
    reserve,
    used,
    connections,
    room,
    /** Sets how many of the descriptors are connections: files that are sent, databases and pipes come and go. */
    are(count: number): number {
      others = used() - count;
      return room();
    },
    /** With no more places left than this there is no descriptor for another connection. */
    nothing: -slack,
  };
}

type Count = ReturnType<typeof createCount>;

export const createConnectionLimit = (options: ConnectionLimitOptions): ConnectionLimit =>
  options.max === null || options.descriptors === null || openDescriptors() === null
    ? NO_LIMIT
    : countingLimit({ ...options, max: options.max, descriptors: options.descriptors });

/** How many places are left, by the number of descriptors or by a scan of each. */
function createLooks({ max }: Bounded, count: Count, scan: ReturnType<typeof createConnectionScan>) {
  const looks = { pressed: false, left: 0, blind: max >> 1, turns: 0, credit: 0, port: 0, ended: 0 };

  /** Each new connection that asks takes one from `left`, so that `left` is never too small. */
  function look(): number {
    const left = count.room();
    looks.pressed = left < max >> 1;
    looks.left = looks.pressed ? left : left - (max >> 1);
    if (!looks.pressed) looks.blind = max >> 1;
    return left;
  }
  function lookClosely(ending: boolean): number {
    const cost = count.used();
    if (looks.credit < cost) return look();
    looks.credit -= cost;
    looks.turns = 0;
    count.reserve.give(); // it takes one to list them
    looks.ended += scan.look(looks.port, ending);
    count.reserve.take();
    const left = look();
    looks.blind = Math.max(RARE, left >> 1);
    return left;
  }
  function nextTurn(port: number): void {
    looks.port = port;
    looks.ended = 0;
    looks.turns++;
    looks.credit = Math.min(looks.credit + LOOKED_AT_A_TURN, Math.max(LOOKED_AT_A_TURN, count.used()));
  }
  return { looks, look, lookClosely, nextTurn };
}

function countingLimit(options: Bounded): ConnectionLimit {
  const { max } = options;
  const count = createCount(options);
  const scan = createConnectionScan({ ...options, counted: count.are, nothing: count.nothing });
  const { looks, look, lookClosely, nextTurn } = createLooks(options, count, scan);
  const judge = createJudge(max, count, scan.possible);
  let refused = false;
  return {
    max,
    connections: count.connections,
    admits(caller) {
      if (!looks.pressed && !options.tls && --looks.left >= 0) return true;
      if (looks.left < 0) look();
      if (!looks.pressed && !options.tls) return true;
      const { peer, address } = caller.client();
      if (scan.isKnown(peer)) return true;
      if (--looks.left < looks.blind && looks.pressed) lookClosely(false);
      const welcome =
        !looks.pressed || scan.isKnown(peer) || (!scan.isGreedy(address) && (looks.left >= 0 || scan.yields(address)));
      if (welcome) scan.know(peer);
      else refused = true;
      return welcome;
    },
    uploadBegins: ({ peer }) => scan.upload(peer, 1),
    uploadEnds: ({ peer }) => scan.upload(peer, -1),
    watch(port) {
      nextTurn(port);
      let left = look();
      const due = looks.turns >= LOOK_TURNS && (count.used() < FEW || scan.mostHaveLeft(count.used()));
      if (looks.pressed || due) left = lookClosely(true);
      const verdict = judge(left, refused, looks.ended > 0);
      if (verdict === "full") scan.endResting(port);
      if (verdict === "full" || left > 0) refused = false;
      return verdict === "shut" ? "shut" : "open";
    },
    close: count.reserve.give,
  };
}

/** Decides after each turn of the watch. `possible`: silent connections can be ended. */
function createJudge(max: number, { reserve, nothing }: Count, possible: boolean) {
  let [last_turns, full_turns] = [0, 0];
  let shut = false;
  return (left: number, refused: boolean, progress: boolean): "shut" | "full" | "open" => {
    last_turns = left <= nothing ? last_turns + (progress ? 1 / PATIENCE : 1) : 0;
    if (!shut && last_turns > (possible ? LAST_TURNS : 0)) shut = true;
    else if (shut && left >= max >> 3) shut = false;
    if (shut) reserve.give();
    else reserve.take();
    full_turns = left <= 0 && refused ? full_turns + 1 : 0;
    if (shut || full_turns < PATIENT_TURNS) return shut ? "shut" : "open";
    full_turns = 0;
    return "full";
  };
}

const OWN = "/proc/self/fd";

/** How many descriptors this process has open. When the kernel counts them (Linux 6.2 and later) asking takes 3 µs, and needs
 *  no descriptor itself. Null when the platform cannot tell, or when asking takes a descriptor and none is left. */
export function openDescriptors(): number | null {
  try {
    return statSync(OWN).size || readdirSync(OWN).length;
  } catch {
    return null;
  }
}

/** Descriptors that connections cannot take, so that files can still be opened between the moment in which none is left and
 *  the next turn of the watch. */
function reserveDescriptors(count: number) {
  let held: number[] = [];
  return {
    held: () => held.length,
    take(): void {
      try {
        while (held.length < count) held.push(openSync("/dev/null", "r"));
      } catch {
        // none is left: those that are held must do
      }
    },
    give(): void {
      for (const descriptor of held) closeSync(descriptor);
      held = [];
    },
  };
}

/** A look at each open connection: how many there are, which networks have more than their share, which never ask for anything. */

/** A connection that asks for nothing in this time, of a network that has more than half of all places, is too late. */
const SILENT_MS = 1000;
/** A turn of the watch. */
const JUST_NOW_MS = 100;
/** A connection that is kept open for a next request, and has had none for so long, makes room for a visitor. */
const RESTING_MS = 10_000;

interface ConnectionScanOptions {
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

function createConnectionScan(options: ConnectionScanOptions) {
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
