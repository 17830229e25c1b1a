/** How many connections may be open (CONTRACT 1, `--max-connections`). The runtime tells of requests and never of a
 *  connection: they are counted as the descriptors that this process has beyond its own. Whoever is too many is met at
 *  its first request; who sends none is found among the sockets (docs/decisions/service.md). */
import { openDescriptors, reserveDescriptors } from "./descriptors.ts";
import { createSurvey, type SurveyOptions } from "./survey.ts";

/** Descriptors that are held until files need them, of those that connections leave free. */
const RESERVE = 128;
/** Turns of the watch, 100 ms each. A look at every descriptor takes 5 µs for each of them: so seldom is it done when
 *  nothing presses, and not at all where there are many. */
const LOOK_TURNS = 20;
const FEW = 500;
/** Where places are rare, so many descriptors may be looked at in a turn: a tenth of the time, at the worst. */
const LOOKED_AT_A_TURN = 2000;
/** With no more places than these the number of descriptors is not exact enough. */
const RARE = 4;
/** Turns for which newcomers are refused before connections that rest make room. */
const PATIENT_TURNS = 50;
/** Turns without a descriptor before nobody is let in any more; so many times as long while silent ones still leave. */
const LAST_TURNS = 20;
const PATIENCE = 5;

/** The other end of a connection: its name is nobody else's as long as that lasts. */
export interface Guest {
  peer: string;
  address: string;
}

export interface Door {
  /** 0: nobody counts. */
  readonly max: number;
  connections(): number;
  /** On the path of every request: a subtraction, while less than half of the places are taken. */
  admits(caller: { guest(): Guest }): boolean;
  /** An upload is answered late, and is neither silent nor at rest meanwhile. */
  uploadBegins(guest: Guest): void;
  uploadEnds(guest: Guest): void;
  /** Every 100 ms. `shut`: nobody is to be let in. */
  watch(port: number): "shut" | "open";
  close(): void;
}

interface DoorOptions extends Pick<SurveyOptions, "tls" | "isProxy" | "refused"> {
  /** Null: as many as come. */
  max: number | null;
  /** How many this process may have; null: nobody knows. */
  descriptors: number | null;
}

const OPEN_TO_ALL: Door = {
  max: 0,
  connections: () => 0,
  admits: () => true,
  uploadBegins: () => {},
  uploadEnds: () => {},
  watch: () => "open",
  close: () => {},
};

type Bounded = DoorOptions & { max: number; descriptors: number };

/** Where connections and descriptors are counted. */
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
    /** So many of the descriptors are connections: files that are sent, databases and pipes come and go. */
    are(count: number): number {
      others = used() - count;
      return room();
    },
    /** With so few places left there is no descriptor left for another connection. */
    nothing: -slack,
  };
}

type Count = ReturnType<typeof createCount>;

export const createDoor = (options: DoorOptions): Door =>
  options.max === null || options.descriptors === null || openDescriptors() === null
    ? OPEN_TO_ALL
    : countingDoor({ ...options, max: options.max, descriptors: options.descriptors });

/** How many places are left, told by the number of descriptors, or by a look at each. */
function createLooks({ max }: Bounded, count: Count, survey: ReturnType<typeof createSurvey>) {
  const looks = { pressed: false, left: 0, blind: max >> 1, turns: 0, credit: 0, port: 0, ended: 0 };

  /** Each new connection that asks takes one from `left`, so that it is never below the truth. */
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
    looks.ended += survey.look(looks.port, ending);
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

function countingDoor(options: Bounded): Door {
  const { max } = options;
  const count = createCount(options);
  const survey = createSurvey({ ...options, counted: count.are, nothing: count.nothing });
  const { looks, look, lookClosely, nextTurn } = createLooks(options, count, survey);
  const judge = createJudge(max, count, survey.possible);
  let refused = false;
  return {
    max,
    connections: count.connections,
    admits(caller) {
      if (!looks.pressed && !options.tls && --looks.left >= 0) return true;
      if (looks.left < 0) look();
      if (!looks.pressed && !options.tls) return true;
      const { peer, address } = caller.guest();
      if (survey.isKnown(peer)) return true;
      if (--looks.left < looks.blind && looks.pressed) lookClosely(false);
      const welcome =
        !looks.pressed ||
        survey.isKnown(peer) ||
        (!survey.isGreedy(address) && (looks.left >= 0 || survey.yields(address)));
      if (welcome) survey.know(peer);
      else refused = true;
      return welcome;
    },
    uploadBegins: ({ peer }) => survey.upload(peer, 1),
    uploadEnds: ({ peer }) => survey.upload(peer, -1),
    watch(port) {
      nextTurn(port);
      let left = look();
      const due = looks.turns >= LOOK_TURNS && (count.used() < FEW || survey.mostHaveLeft(count.used()));
      if (looks.pressed || due) left = lookClosely(true);
      const verdict = judge(left, refused, looks.ended > 0);
      if (verdict === "full") survey.endResting(port);
      if (verdict === "full" || left > 0) refused = false;
      return verdict === "shut" ? "shut" : "open";
    },
    close: count.reserve.give,
  };
}

/** What the turns of the watch come to. `possible`: who is silent can be ended. */
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
