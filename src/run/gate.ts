/** At most so many at once; others wait. Whoever waits is let in in turn by where they come from, the widest first (a
 *  provider's customer, their network), and within one place by arrival: a crowd takes its turn like everybody else. */

/** The widest place first. At most half of the room is one's of the first level while others wait. */
export type From = readonly string[];

interface Limits {
  /** How many at once. */
  width: number;
  /** How long anybody waits; left out, as long as it takes. */
  ms?: number;
  /** How many may wait in all, then below one place of each level: past it who comes is refused at once. */
  most?: readonly number[];
  /** What those get who are refused. */
  late?: () => Error;
}

interface Gate {
  /** Who does not say where they come from is one with all others who do not. */
  run<T>(work: () => Promise<T>, from?: From): Promise<T>;
  load(): { busy: number; waiting: number };
  /** Refuses those who wait and all who come. */
  close(): void;
}

interface Waiting {
  enter(): void;
  refuse(): void;
}

/** All that wait below one place: in its own line, or in places within it, the one whose turn is next first. */
interface Place {
  waiting: number;
  readonly line: Set<Waiting>;
  readonly within: Map<string, Place>;
}

const emptyPlace = (): Place => ({ waiting: 0, line: new Set(), within: new Map() });

/** The places on the way to where somebody comes from, made where they are missing. */
function wayTo(from: From, everywhere: Place): Place[] {
  const way = [everywhere];
  for (const name of from) way.push(way.at(-1)!.within.getOrInsertComputed(name, emptyPlace));
  return way;
}

/** Places where nobody waits are forgotten. */
function forgetEmpty(from: From, way: readonly Place[]): void {
  const level = from.findIndex((_, n) => way[n + 1]!.waiting === 0);
  if (level >= 0) way[level]!.within.delete(from[level]!);
}

/** The first behind this name, which goes behind its neighbours, as each place on the way does. */
function take({ within }: Place, name: string): Waiting {
  const chosen = within.get(name)!;
  within.delete(name);
  within.set(name, chosen);
  const [first] = chosen.line;
  if (first !== undefined) return first;
  const [next] = chosen.within.keys();
  return take(chosen, next!);
}

const allOf = ({ line, within }: Place): Waiting[] => [...line, ...[...within.values()].flatMap(allOf)];

/** Who has how many of `width` places. */
function createRoom(width: number) {
  const held = new Map<string, number>();
  const share = Math.max(1, width >> 1);
  let free = width;
  return {
    busy: () => width - free,
    isFree: () => free > 0,
    hasShare: (who: string) => (held.get(who) ?? 0) >= share,
    give(who: string) {
      free--;
      held.set(who, (held.get(who) ?? 0) + 1);
    },
    takeBack(who: string) {
      free++;
      const left = held.get(who)! - 1;
      if (left === 0) held.delete(who);
      else held.set(who, left);
    },
  };
}

/** Lines before a room. `admit` lets in whoever may go: the next in turn, but those who hold their share already only
 *  where nobody else waits. Three at most hold theirs at a time, so the search is short however many wait. */
function createLines(width: number) {
  const everywhere = emptyPlace();
  const room = createRoom(width);
  const mayEnter = (who: string) => everywhere.within.size === 1 || !room.hasShare(who);
  function admit(): void {
    while (room.isFree()) {
      const who = everywhere.within.keys().find(mayEnter);
      if (who === undefined) return;
      room.give(who);
      take(everywhere, who).enter();
    }
  }
  return { everywhere, room, admit };
}

const ANYBODY: From = [""];

/** Resolves when whoever comes from there may go in. */
function turn(
  { everywhere, admit }: ReturnType<typeof createLines>,
  { ms, most = [] }: Limits,
  from: From,
  late: () => Error,
): Promise<void> {
  const way = wayTo(from, everywhere);
  if (way.some(({ waiting }, level) => waiting >= (most[level] ?? Infinity))) {
    forgetEmpty(from, way);
    throw late();
  }
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const { line } = way.at(-1)!;
  let timer: Timer | undefined;
  const leaveLine = (settle: () => void) => () => {
    clearTimeout(timer);
    line.delete(waiting);
    for (const place of way) place.waiting--;
    forgetEmpty(from, way);
    settle();
  };
  const waiting = { enter: leaveLine(resolve), refuse: leaveLine(() => reject(late())) };
  line.add(waiting);
  for (const place of way) place.waiting++;
  admit();
  // Who is left may be alone then, and go in.
  if (ms !== undefined && line.has(waiting)) timer = setTimeout(() => (waiting.refuse(), admit()), ms);
  return promise;
}

export function createGate(limits: Limits): Gate {
  const { late = () => new Error("nobody is let in any more") } = limits;
  const lines = createLines(limits.width);
  const { everywhere, room, admit } = lines;
  let closed = false;
  return {
    async run(work, from = ANYBODY) {
      if (closed) throw late();
      await turn(lines, limits, from, late);
      try {
        return await work();
      } finally {
        room.takeBack(from[0]!);
        admit();
      }
    },
    load: () => ({ busy: room.busy(), waiting: everywhere.waiting }),
    close() {
      closed = true;
      for (const waiting of allOf(everywhere)) waiting.refuse();
    },
  };
}
