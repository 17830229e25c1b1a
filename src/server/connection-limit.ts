/** How many connections may be open (CONTRACT 1, `--max-connections`). The runtime reports requests and never a connection:
 *  they are counted as the descriptors that this process has beyond its own. A connection that is too many is refused at its
 *  first request; one that sends none is found among the sockets (docs/decisions/service.md). */
import { closeSync, openSync, readdirSync, statSync } from "node:fs";
import { createConnectionScan, type ConnectionScanOptions } from "./connection-scan.ts";

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
