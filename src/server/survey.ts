/** The connections that are there, one by one: how many, who has more than their share of them, who never asks. */
import { networkOf } from "../http/client-address.ts";
import { type Connection, openSockets } from "./sockets.ts";

/** Whoever asks for nothing in this time, and whose network has more than half of all places, asks too late. */
const SILENT_MS = 1000;
/** A connection that is kept open for a next request, and has had none for so long, makes room for a visitor. */
const RESTING_MS = 10_000;

/** Networks that have more than half of the places. */
function greedyOnes(all: readonly Connection[], max: number, isProxy: (address: string) => boolean): Set<string> {
  const counts = new Map<string, number>();
  for (const { address } of all) {
    const network = networkOf(address);
    if (!isProxy(address)) counts.set(network, (counts.get(network) ?? 0) + 1);
  }
  return new Set([...counts].filter(([, count]) => count > max >> 1).map(([network]) => network));
}

export interface SurveyOptions {
  max: number;
  /** A handshake is answered, too: then only those that were let in are no strangers. */
  tls: boolean;
  /** A proxy speaks for many: no share of the places is too much for it. */
  isProxy(address: string): boolean;
  /** A connection was closed. */
  refused(): void;
  /** How many there are. Returns how many places are left then. */
  counted(connections: number): number;
}

/** Connections that were answered before, those that are let in now, and those with an upload under way. */
function createCircle({ max, tls }: Pick<SurveyOptions, "max" | "tls">) {
  let known = new Set<string>();
  const busy = new Set<string>();
  return {
    isKnown: (peer: string) => known.has(peer),
    know(peer: string): void {
      if (known.size > 2 * max) known.clear(); // where nobody can be looked at, most of them have left
      known.add(peer);
    },
    busy,
    isStranger: ({ peer, answered }: Connection) => !known.has(peer) && (tls || !answered) && !busy.has(peer),
    /** Whoever left is forgotten. */
    keep(all: readonly Connection[]): void {
      known = new Set(
        all.filter(({ answered, peer }) => (answered && !tls) || known.has(peer)).map(({ peer }) => peer),
      );
    },
  };
}

const rests = ({ answered, rest_ms }: Connection): boolean => answered && rest_ms > RESTING_MS;
const longestFirst = (all: readonly Connection[]): Connection[] => all.toSorted((a, b) => b.rest_ms - a.rest_ms);

export function createSurvey({ max, tls, isProxy, refused, counted }: SurveyOptions) {
  const sockets = openSockets();
  const circle = createCircle({ max, tls });
  let greedy = new Set<string>();
  const isGreedy = (address: string) => greedy.size > 0 && greedy.has(networkOf(address));

  /** Nobody who was ever answered, or who is being answered now. At once: another connection may have the descriptor in a
   *  moment. */
  function endSilent(all: readonly Connection[], left: number): number {
    const too_many = left < 0 ? (max >> 3) - left : 0;
    const ended = longestFirst(all.filter(circle.isStranger)).filter(
      ({ rest_ms, address }, n) => n < too_many || (rest_ms > SILENT_MS && isGreedy(address)),
    );
    for (const one of ended) {
      sockets?.end(one);
      refused();
    }
    return ended.length;
  }
  return {
    ...circle,
    isGreedy,
    /** Whether anybody can be looked at. */
    possible: sockets !== null,
    /** At those that came in at this port. `ending`: silent ones that are too many are ended. How many. */
    look(port: number, ending: boolean): number {
      if (sockets === null || port === 0) return 0;
      const all = sockets.list(port);
      greedy = greedyOnes(all, max, isProxy);
      circle.keep(all);
      const left = counted(all.length);
      return ending ? endSilent(all, left) : 0;
    },
    /** An eighth of the places, as long as they last. */
    endResting(port: number): void {
      const resting = (sockets?.list(port) ?? []).filter((one) => rests(one) && !circle.busy.has(one.peer));
      for (const one of longestFirst(resting).slice(0, 1 + (max >> 3))) sockets?.end(one);
    },
  };
}
