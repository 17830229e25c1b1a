/** At most so many at once; others wait. Whoever waits is let in in turn by who they are (a customer of a provider), below
 *  that in turn by part (their networks), and within one part by arrival: a crowd of one takes its turn like everybody else. */

/** How long anybody waits, and what is thrown then, or once the gate is closed. */
interface Patience {
  ms: number;
  late: () => Error;
}

interface Gate {
  /** `who`: at most half of the places are theirs while others wait. Left out, all are one. `part`: of theirs. */
  run<T>(work: () => Promise<T>, who?: string, part?: string): Promise<T>;
  load(): { busy: number; waiting: number };
  /** Refuses those who wait and all who come. */
  close(): void;
}

interface From {
  who: string;
  part: string;
}

interface Waiting {
  enter(): void;
  refuse(): void;
}

/** The first, which goes behind all others. */
function nextOf<T>(lines: Map<string, T>): T {
  const [name, first] = lines.entries().next().value!;
  lines.delete(name);
  lines.set(name, first);
  return first;
}

/** Those who wait, by who they are and by part: whose turn is next stands first. */
function waitingLines() {
  const lines = new Map<string, Map<string, Set<Waiting>>>();
  return {
    names: () => lines.keys(),
    all: () => [...lines.values()].flatMap((parts) => [...parts.values()]).flatMap((line) => [...line]),
    isAlone: (who: string) => lines.size === 1 && lines.has(who),
    has: ({ who, part }: From, one: Waiting) => lines.get(who)?.get(part)?.has(one) ?? false,
    join: ({ who, part }: From, one: Waiting) =>
      void lines
        .getOrInsertComputed(who, () => new Map())
        .getOrInsertComputed(part, () => new Set())
        .add(one),
    leave({ who, part }: From, one: Waiting) {
      const parts = lines.get(who);
      const line = parts?.get(part);
      if (line?.delete(one) && line.size === 0) parts!.delete(part);
      if (parts?.size === 0) lines.delete(who);
    },
    /** The first of this one's, whose next turn comes after everybody else's. */
    take(who: string): Waiting {
      const parts = lines.get(who)!;
      lines.delete(who);
      lines.set(who, parts);
      const [first] = nextOf(parts);
      return first!;
    },
  };
}

/** Who has how many of `width` places. */
function places(width: number) {
  const held = new Map<string, number>();
  const share = Math.max(1, width >> 1);
  let free = width;
  return {
    busy: () => width - free,
    areFree: () => free > 0,
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

/** `admit` lets in whoever may go: the next in turn, but those who hold their share already only where nobody else
 *  waits. Three at most hold theirs at a time, so the search is short however many wait. */
function createTurns(width: number) {
  const lines = waitingLines();
  const place = places(width);
  const mayEnter = (who: string) => lines.isAlone(who) || !place.hasShare(who);
  function admit(): void {
    while (place.areFree()) {
      const who = lines.names().find(mayEnter);
      if (who === undefined) return;
      place.give(who);
      lines.take(who).enter();
    }
  }
  return { lines, place, admit };
}

/** `width` at once; without `patience` the others wait as long as it takes. */
export function createGate(width: number, patience?: Patience): Gate {
  const { lines, place, admit } = createTurns(width);
  let closed = false;
  const refusal = () => patience?.late() ?? new Error("nobody is let in any more");

  function turn(from: From): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let timer: Timer | undefined;
    const leaveLine = (settle: () => void) => () => {
      clearTimeout(timer);
      lines.leave(from, waiting);
      settle();
    };
    const waiting = { enter: leaveLine(resolve), refuse: leaveLine(() => reject(refusal())) };
    lines.join(from, waiting);
    admit();
    // Who is left may be alone then, and go in.
    if (patience && lines.has(from, waiting)) timer = setTimeout(() => (waiting.refuse(), admit()), patience.ms);
    return promise;
  }

  return {
    async run(work, who = "", part = "") {
      if (closed) throw refusal();
      await turn({ who, part });
      try {
        return await work();
      } finally {
        place.takeBack(who);
        admit();
      }
    },
    load: () => ({ busy: place.busy(), waiting: lines.all().length }),
    close() {
      closed = true;
      for (const waiting of lines.all()) waiting.refuse();
    },
  };
}
