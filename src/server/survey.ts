/** The connections that are there, one by one: how many, who has more than their share of them, who never asks. */
import { networkOf } from "../http/context.ts";
import { type Connection, openSockets } from "./sockets.ts";

/** Whoever asks for nothing in this time, and whose network has more than half of all places, asks too late. */
const SILENT_MS = 1000;
/** A turn of the watch. */
const JUST_NOW_MS = 100;
/** A connection that is kept open for a next request, and has had none for so long, makes room for a visitor. */
const RESTING_MS = 10_000;

export interface SurveyOptions {
  max: number;
  /** A handshake is answered, too: then only those that were let in are no strangers. */
  tls: boolean;
  /** A proxy speaks for many: no share of the places is too much for it. */
  isProxy(address: string): boolean;
  /** A connection was closed. */
  refused(): void;
  /** So few places are left where there is no descriptor. */
  nothing: number;
  /** How many there are. Returns how many places are left then. */
  counted(connections: number): number;
}

/** Connections that were answered before, those that are let in now, and those with an upload under way. */
function createCircle({ max, tls }: Pick<SurveyOptions, "max" | "tls">) {
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
      if (known.size > 2 * max) known.clear(); // where nobody can be looked at, most of them have left
      known.add(peer);
    },
    /** Of those that are remembered, where so many are open. */
    mostHaveLeft: (open: number) => known.size > 2 * open,
    /** One begins, or ends: over HTTP/2 a connection may have several. */
    upload,
    isBusy: ({ peer }: Connection) => uploads.has(peer),
    isStranger: ({ peer, answered }: Connection) => !known.has(peer) && (tls || !answered) && !uploads.has(peer),
    /** Whoever left is forgotten. */
    keep(all: readonly Connection[]): void {
      known = new Set(
        all.filter(({ answered, peer }) => (answered && !tls) || known.has(peer)).map(({ peer }) => peer),
      );
    },
  };
}

/** How many connections each network has; a proxy's are those of many. */
function createCrowds({ max, isProxy }: Pick<SurveyOptions, "max" | "isProxy">) {
  let sizes = new Map<string, number>();
  const sizeOf = (address: string): number => (sizes.size === 0 ? 0 : (sizes.get(networkOf(address)) ?? 0));
  return {
    isGreedy: (address: string) => sizeOf(address) > max >> 1,
    isCrowd: (address: string) => sizeOf(address) > max >> 4,
    count(all: readonly Connection[]): void {
      sizes = new Map();
      for (const { address } of all) {
        const network = networkOf(address);
        if (!isProxy(address)) sizes.set(network, (sizes.get(network) ?? 0) + 1);
      }
    },
    /** The largest network's first, and of each those that rest the longest: one of a few pays for no crowd. */
    inTurn(some: readonly Connection[]): Connection[] {
      const sized = some.map((one) => ({ one, size: sizeOf(one.address) }));
      return sized.sort((a, b) => b.size - a.size || b.one.rest_ms - a.one.rest_ms).map(({ one }) => one);
    },
  };
}

const rests = ({ answered, rest_ms }: Connection): boolean => answered && rest_ms > RESTING_MS;

/** Of the strangers, in turn: as many as are too many, and whoever asks too late. Who has just come may have asked, and
 *  nobody has read it yet: as long as there are descriptors, that is answered, and nobody of a smaller network goes
 *  instead. */
function lateOnes(
  strangers: readonly Connection[],
  left: number,
  isGreedy: (address: string) => boolean,
  { max, nothing }: SurveyOptions,
) {
  const too_many = left < 0 ? (max >> 3) - left : 0;
  const isLate = ({ rest_ms, address }: Connection, n: number) =>
    n < too_many || (rest_ms > SILENT_MS && isGreedy(address));
  return strangers.filter((one, n) => isLate(one, n) && (left <= nothing || one.rest_ms > JUST_NOW_MS));
}

export function createSurvey(options: SurveyOptions) {
  const { max, refused, counted } = options;
  const sockets = openSockets();
  const circle = createCircle(options);
  const { isGreedy, isCrowd, ...crowds } = createCrowds(options);
  let yielding = 0;

  /** At once: another connection may have the descriptor in a moment. */
  function end(these: readonly Connection[]): number {
    for (const one of these) sockets?.end(one);
    return these.length;
  }
  return {
    ...circle,
    isGreedy,
    /** Whether anybody can be looked at. */
    possible: sockets !== null,
    /** Whether a silent one of a crowd goes for this visitor, who is of none. */
    yields: (address: string): boolean => yielding > 0 && !isCrowd(address) && yielding-- > 0,
    /** At those that came in at this port. `ending`: silent ones that are too many are ended. How many. */
    look(port: number, ending: boolean): number {
      const all = sockets === null || port === 0 ? null : sockets.list(port);
      if (all === null) return 0;
      crowds.count(all);
      circle.keep(all);
      const left = counted(all.length);
      const strangers = crowds.inTurn(all.filter(circle.isStranger));
      yielding = strangers.filter(({ address }) => isCrowd(address)).length;
      const late = ending ? lateOnes(strangers, left, isGreedy, options) : [];
      late.forEach(refused);
      return end(late);
    },
    /** An eighth of the places, as long as they last. */
    endResting(port: number): void {
      const resting = (sockets?.list(port) ?? []).filter((one) => rests(one) && !circle.isBusy(one));
      end(crowds.inTurn(resting).slice(0, 1 + (max >> 3)));
    },
  };
}
