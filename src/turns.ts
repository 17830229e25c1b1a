/** At most so many at once; who waits is taken in turn by where they come from, not in order of arrival: one that asks a
 *  thousand times waits for its own thousand, and everybody else for one of them. */

/** Where somebody comes from, the widest first: at each level those that wait are taken in turn. */
export type From = readonly string[];

interface Limits {
  /** How many at once. */
  width: number;
  /** How many may wait in all, then below one place of each level, the widest first: past it who comes is refused at
   *  once. */
  most: readonly number[];
  /** How long anybody waits. */
  ms: number;
  /** What those get who are refused. */
  late: () => Error;
}

interface Turns {
  run<T>(from: From, work: () => Promise<T>): Promise<T>;
}

/** All that wait below one place: in its own line, or in places within it, the one whose turn is next first. */
interface Place {
  waiting: number;
  readonly line: Set<() => void>;
  readonly within: Map<string, Place>;
}

const emptyPlace = (): Place => ({ waiting: 0, line: new Set(), within: new Map() });

/** The places on the way to where somebody comes from, made where they are missing. */
function wayTo(from: From, everywhere: Place): Place[] {
  const way = [everywhere];
  for (const name of from) {
    const { within } = way.at(-1)!;
    if (!within.has(name)) within.set(name, emptyPlace());
    way.push(within.get(name)!);
  }
  return way;
}

/** Places where nobody waits are forgotten. */
function forgetEmpty(from: From, way: readonly Place[]): void {
  for (const [level, name] of from.entries()) {
    if (way[level + 1]!.waiting === 0) return void way[level]!.within.delete(name);
  }
}

/** Whoever is next. Each place on the way goes behind its neighbours. */
function nextOf(place: Place): (() => void) | undefined {
  const [enter] = place.line;
  if (enter) return enter;
  const [first] = place.within;
  if (!first) return undefined;
  const [name, chosen] = first;
  place.within.delete(name);
  place.within.set(name, chosen);
  return nextOf(chosen);
}

export function createTurns({ width, most, ms, late }: Limits): Turns {
  const everywhere = emptyPlace();
  let free = width;

  function wait(from: From): Promise<void> {
    const way = wayTo(from, everywhere);
    if (way.some(({ waiting }, level) => waiting >= (most[level] ?? Infinity))) {
      forgetEmpty(from, way);
      throw late();
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const { line } = way.at(-1)!;
    const leave = () => {
      clearTimeout(timer);
      line.delete(enter);
      for (const place of way) place.waiting--;
      forgetEmpty(from, way);
    };
    const enter = () => (leave(), resolve());
    const timer = setTimeout(() => (leave(), reject(late())), ms);
    line.add(enter);
    for (const place of way) place.waiting++;
    return promise;
  }

  return {
    async run(from, work) {
      if (free > 0) free--;
      else await wait(from);
      try {
        return await work();
      } finally {
        // The place goes to whoever is next; a newcomer never finds it free before that.
        const enter = nextOf(everywhere);
        if (enter) enter();
        else free++;
      }
    },
  };
}
