/** The connections that are there, one by one: how many, who has more than their share of them, who never asks. */
import { networkOf } from "../http/client-address.ts";
import { type Connection, openSockets } from "./sockets.ts";

/** Whoever asks for nothing in this time, and whose network has more than half of all places, asks too late. */
const SILENT_MS = 1000;

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
  /** A proxy speaks for many: no share of the places is too much for it. */
  isProxy(address: string): boolean;
  /** A connection was closed. */
  refused(): void;
  /** How many there are. Returns how many places are left then. */
  counted(connections: number): number;
}

export function createSurvey({ max, isProxy, refused, counted }: SurveyOptions) {
  const sockets = openSockets();
  /** Connections that were answered before, and those that are let in now. */
  let known = new Set<string>();
  let greedy = new Set<string>();
  const isGreedy = (address: string) => greedy.size > 0 && greedy.has(networkOf(address));

  /** Those that wait longest first. Nobody who was ever answered, or who is being answered now. At once: another
   *  connection may have the descriptor in a moment. */
  function endSilent(all: readonly Connection[], left: number): void {
    const silent = all.filter(({ answered, peer }) => !answered && !known.has(peer));
    const too_many = left < 0 ? (max >> 3) - left : 0;
    const ended = silent
      .toSorted((a, b) => b.age_ms - a.age_ms)
      .filter(({ address, age_ms }, n) => n < too_many || (age_ms > SILENT_MS && isGreedy(address)));
    for (const one of ended) {
      sockets?.end(one);
      refused();
    }
  }
  return {
    isKnown: (peer: string) => known.has(peer),
    know(peer: string): void {
      if (known.size > 2 * max) known.clear(); // where nobody can be looked at, most of them have left
      known.add(peer);
    },
    isGreedy,
    possible: sockets !== null,
    /** At those that came in at this port. `ending`: silent ones that are too many are ended. */
    look(port: number, ending: boolean): void {
      if (sockets === null || port === 0) return;
      const all = sockets.list(port);
      greedy = greedyOnes(all, max, isProxy);
      known = new Set(all.filter(({ answered, peer }) => answered || known.has(peer)).map(({ peer }) => peer));
      const left = counted(all.length);
      if (ending) endSilent(all, left);
    },
  };
}
