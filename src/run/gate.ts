/** Lets at most so many work at once; others wait. Turns go by where a request comes from, the widest origin first (a provider's
 *  customer, then their network), and within one origin by arrival: a crowd has one turn like everybody else. */

/** Names of origins, the widest first. One of the first level has at most half of the places while others wait. */
export type FairnessKey = readonly string[];

interface GateLimits {
  /** How many at once. */
  width: number;
  /** How long anybody waits; left out, as long as it takes. */
  ms?: number;
  /** How many may wait in all, then below one origin of each level: one more is refused at once. */
  most?: readonly number[];
  /** Makes the error for one that is refused. */
  late?: () => Error;
  /** Milliseconds, for how long the first of those that wait has waited. */
  clock?: () => number;
}

interface Gate {
  /** Without `from` all share one origin. */
  run<T>(work: () => Promise<T>, from?: FairnessKey): Promise<T>;
  /** `oldest_ms`: for how long the first has waited; 0 while none waits. */
  load(): { busy: number; waiting: number; oldest_ms: number };
  /** Refuses all that wait and all that come. */
  close(): void;
}

interface WaitingTurn {
  since: number;
  enter(): void;
  refuse(): void;
}

/** All that wait below one origin: in its own line, or in nodes within it, the one whose turn is next first. */
interface QueueNode {
  waiting: number;
  readonly line: Set<WaitingTurn>;
  readonly within: Map<string, QueueNode>;
}

const emptyNode = (): QueueNode => ({ waiting: 0, line: new Set(), within: new Map() });

/** The nodes on the way to an origin, made when they are missing. */
function queuePath(from: FairnessKey, everywhere: QueueNode): QueueNode[] {
  const way = [everywhere];
  for (const name of from) way.push(way.at(-1)!.within.getOrInsertComputed(name, emptyNode));
  return way;
}

/** Forgets nodes without anything that waits. */
function forgetEmpty(from: FairnessKey, way: readonly QueueNode[]): void {
  const level = from.findIndex((_, n) => way[n + 1]!.waiting === 0);
  if (level >= 0) way[level]!.within.delete(from[level]!);
}

/** Takes the first behind this name; the name goes behind its neighbours, as each node on the way does. */
function take({ within }: QueueNode, name: string): WaitingTurn {
  const chosen = within.get(name)!;
  within.delete(name);
  within.set(name, chosen);
  const [first] = chosen.line;
  if (first !== undefined) return first;
  const [next] = chosen.within.keys();
  return take(chosen, next!);
}

const allOf = ({ line, within }: QueueNode): WaitingTurn[] => [...line, ...[...within.values()].flatMap(allOf)];

/** Which first-level origin has how many of `width` places. */
function createPlaces(width: number) {
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

/** The lines before the places. `admit` lets in the next in turn; an origin that holds its share already is let in only while
 *  no other waits. Three at most hold their share at a time, so the search is short however many wait. */
function createLines(width: number) {
  const everywhere = emptyNode();
  const places = createPlaces(width);
  const mayEnter = (who: string) => everywhere.within.size === 1 || !places.hasShare(who);
  function admit(): void {
    while (places.isFree()) {
      const who = everywhere.within.keys().find(mayEnter);
      if (who === undefined) return;
      places.give(who);
      take(everywhere, who).enter();
    }
  }
  return { everywhere, places, admit };
}

const ANYBODY: FairnessKey = [""];

/** Resolves when the turn has come. */
function turn(
  { everywhere, admit }: ReturnType<typeof createLines>,
  { ms, most = [], clock = () => 0 }: GateLimits,
  from: FairnessKey,
  late: () => Error,
): Promise<void> {
  const way = queuePath(from, everywhere);
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
    for (const node of way) node.waiting--;
    forgetEmpty(from, way);
    settle();
  };
  const waiting = { since: clock(), enter: leaveLine(resolve), refuse: leaveLine(() => reject(late())) };
  line.add(waiting);
  for (const node of way) node.waiting++;
  admit();
  // When one gives up, the origin that is left may be alone, and is let in.
  if (ms !== undefined && line.has(waiting)) timer = setTimeout(() => (waiting.refuse(), admit()), ms);
  return promise;
}

export function createGate(limits: GateLimits): Gate {
  const { late = () => new Error("nobody is let in any more"), clock = () => 0 } = limits;
  const lines = createLines(limits.width);
  const { everywhere, places, admit } = lines;
  let closed = false;
  return {
    async run(work, from = ANYBODY) {
      if (closed) throw late();
      await turn(lines, limits, from, late);
      try {
        return await work();
      } finally {
        places.takeBack(from[0]!);
        admit();
      }
    },
    load() {
      const since = allOf(everywhere).map((one) => one.since);
      const oldest_ms = since.length === 0 ? 0 : clock() - Math.min(...since);
      return { busy: places.busy(), waiting: everywhere.waiting, oldest_ms };
    },
    close() {
      closed = true;
      for (const waiting of allOf(everywhere)) waiting.refuse();
    },
  };
}
