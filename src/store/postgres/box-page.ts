/** The page that all processes and threads of a box share (SCALE 4): mapped, with a counter for each 1,024th part of the
 *  sites, when the box last heard of all changes, whether the database answers it, and the turns that it has. */
import { readFileSync } from "node:fs";
import { uptime } from "node:os";
import { randomBlock } from "../../base/random.ts";
import { makePage, openPage } from "../disk/shared-page.ts";
import { isDatabaseAway } from "../refusals.ts";
import type { BoxFigures, Generation } from "../serving.ts";

const COUNTERS = 1024;
const FILE = { name: "box", bytes: 8192 };

/** The work that one box does for all of them. */
const TURNS = ["sweep", "verify", "webhooks", "notices", "render", "domains", "certificates", "backup"];

/** Places of the numbers behind the counters, those of turns in their order. One that nothing was written to has zero. */
const PLACES = {
  ...{ box: 0, heard_mono: 1, heard_wall: 2, away_since: 3, ahead_ms: 4, away_mono: 5, beaten: 6 },
  ...{ others: 7, differing: 8, bucket: 9, cache_bytes: 10 },
} as const;
const TURNS_AT = 16;
const NUMBERS = TURNS_AT + TURNS.length;
const placeOfTurn = new Map(TURNS.map((turn, n) => [turn, TURNS_AT + n]));

/** A box that has heard no younger beat may have missed a change. */
const FRESH_MS = 2000;
/** A turn lasts ten seconds by the database's clock; whoever has it begins nothing so long after it was renewed. */
const TURN_MS = 8000;
/** A beat was answered so lately that the database is there. */
const ANSWERED_MS = 1000;
/** Clocks so near to each other are the same. */
const NOISE_MS = 20;
/** A question that the database leaves without an answer is given up as soon as a beat says that it is away. */
const LOOK_MS = 50;

/** Milliseconds since the machine started, to a hundredth of a second: `process.hrtime` of Bun 1.4.5 begins anew in each process and thread. */
function uptimeMs(): number {
  try {
    return Number(readFileSync("/proc/uptime", "latin1").split(" ", 1)[0]) * 1000;
  } catch {
    return uptime() * 1000; // no Linux
  }
}

let started_ms: number | null = null;
/** One clock for all threads and processes of a machine, whatever the time of day does: milliseconds. */
export function mono(): number {
  started_ms ??= uptimeMs() - performance.now();
  return started_ms + performance.now();
}

/** When something happened, by both clocks: a machine that is suspended stops one, and the other may be set. */
export interface Moment {
  mono: number;
  wall: number;
}

/** The answer to a beat. */
interface AnsweredBeat {
  box: number;
  ahead_ms: number;
  turns: readonly string[];
  /** Boxes beside this one, and those of them whose settings are others. */
  others: number;
  differing: number;
  sent: Moment;
}

export interface BoxPage extends Generation {
  /** After COMMIT and before the answer; and for what was heard from others. */
  advance(slugs: readonly string[] | "all"): void;
  /** This box's number; 0 where no server has made the page. */
  box(): number;
  /** Whether the database could not be asked when it was last tried. */
  isAway(): boolean;
  /** Whether this box has the turn. */
  has(turn: string): boolean;
  /** How far the database's clock is ahead of this machine's, in whole milliseconds; 0 where that may be the way of the answer. */
  aheadMs(): number;
  /** Nothing answers. */
  lose(): void;
  /** For the one process that listens: all that was committed before that moment was heard. */
  hear(sent: Moment): void;
  /** For the same: the database answered a beat. */
  beaten(beaten: AnsweredBeat): void;
  /** Whether the bucket did what it was last asked for. */
  noteBucket(does: boolean): void;
  /** Bytes of it that are kept on this disk; or how many more. */
  noteCache(bytes: number, is_more: boolean): void;
  figures(): BoxFigures;
  close(): void;
}

/** Returns a function that removes the page. */
export const prepareBoxPage = (data_dir: string): (() => void) => makePage(data_dir, FILE);

/** A slug's counter has others beside it, so that one deploy does not send every site's next request to the database. */
const counterOf = (slug: string): number => Bun.hash.crc32(slug) % COUNTERS;

/** The page as numbers. */
function mapPage(data_dir: string) {
  const page = openPage(data_dir, FILE);
  const views = () => {
    const { buffer, byteOffset } = page.bytes();
    return {
      counters: new Int32Array(buffer, byteOffset, COUNTERS),
      numbers: new Float64Array(buffer, byteOffset + COUNTERS * 4, NUMBERS),
    };
  };
  let { counters, numbers } = views();
  /** A page that was lost has zeros: nothing is fresh until a beat is heard. Its counters begin anywhere, for their next values may
   *  have been seen before, and an old row would pass for a new one. */
  function mend(makes: boolean): void {
    if (!page.mend(makes)) return;
    ({ counters, numbers } = views());
    const [from] = new Int32Array(new Uint8Array(randomBlock(4)).buffer);
    for (const n of counters.keys()) Atomics.add(counters, n, from! | 1);
  }
  return {
    current: (slug: string): number => Atomics.load(counters, counterOf(slug)),
    get: (place: number): number => numbers[place]!,
    set: (place: number, number: number): void => void (numbers[place] = number),
    advance(slugs: readonly string[] | "all"): void {
      mend(false);
      for (const n of slugs === "all" ? counters.keys() : slugs.map(counterOf)) Atomics.add(counters, n, 1);
    },
    mend,
    watch: () => page.watch(() => mend(true)),
  };
}

type Mapped = ReturnType<typeof mapPage>;

const isWithin = (page: Mapped, ms: number, place: number): boolean =>
  page.get(place) !== 0 && mono() - page.get(place) < ms;

/** The moments at which what is kept may be shown. */
function showing(page: Mapped, now: () => number, stale_ms: number) {
  const mayShow = (): boolean => {
    const away_since = page.get(PLACES.away_since);
    if (away_since !== 0) return now() - away_since < stale_ms && isWithin(page, stale_ms, PLACES.away_mono);
    return isWithin(page, FRESH_MS, PLACES.heard_mono) && Math.abs(now() - page.get(PLACES.heard_wall)) < FRESH_MS;
  };
  const holds = (slug: string, value: number): boolean => mayShow() && value === page.current(slug);
  const lose = (): void => {
    if (page.get(PLACES.away_since) !== 0) return;
    page.set(PLACES.away_mono, mono());
    page.set(PLACES.away_since, now());
  };
  /** Null as soon as it holds; undefined once nobody waits. */
  async function held(slug: string, value: number, waits: () => boolean): Promise<null | undefined> {
    for (; waits(); await Bun.sleep(LOOK_MS)) if (holds(slug, value)) return null;
    return undefined;
  }
  async function orHeld<Row>(slug: string, value: number, reading: Promise<Row>): Promise<Row | null> {
    let reads = true;
    try {
      const shown = held(slug, value, () => reads);
      return (await Promise.race([reading, shown])) as Row | null;
    } catch (error) {
      // A beat that was answered just now knows better.
      if (isDatabaseAway(error) && !isWithin(page, ANSWERED_MS, PLACES.beaten)) lose();
      if (holds(slug, value)) return null;
      throw error;
    } finally {
      reads = false;
    }
  }
  return { holds, lose, orHeld };
}

/** `now`: the clock of this machine. `stale_ms`: how long pages are shown while nobody can be asked. */
export function openBoxPage(data_dir: string, now: () => number, stale_ms: number, watch: boolean): BoxPage {
  const page = mapPage(data_dir);
  const watching = watch ? page.watch() : null;
  return {
    ...showing(page, now, stale_ms),
    current: page.current,
    advance: page.advance,
    box: () => page.get(PLACES.box),
    isAway: () => page.get(PLACES.away_since) !== 0,
    has: (turn) => isWithin(page, TURN_MS, placeOfTurn.get(turn)!),
    aheadMs() {
      const ahead_ms = Math.round(page.get(PLACES.ahead_ms));
      return Math.abs(ahead_ms) < NOISE_MS ? 0 : ahead_ms;
    },
    hear(sent) {
      page.set(PLACES.heard_mono, sent.mono);
      page.set(PLACES.heard_wall, sent.wall);
    },
    beaten({ box, ahead_ms, turns, others, differing, sent }) {
      page.mend(true);
      page.set(PLACES.others, others);
      page.set(PLACES.differing, differing);
      page.set(PLACES.box, box);
      page.set(PLACES.ahead_ms, ahead_ms);
      page.set(PLACES.beaten, mono());
      page.set(PLACES.away_since, 0);
      for (const [turn, place] of placeOfTurn) page.set(place, turns.some((one) => one === turn) ? sent.mono : 0);
    },
    noteBucket: (does) => page.set(PLACES.bucket, does ? 0 : 1),
    noteCache: (bytes, is_more) => page.set(PLACES.cache_bytes, bytes + (is_more ? page.get(PLACES.cache_bytes) : 0)),
    figures: () => ({
      database_up: page.get(PLACES.away_since) === 0,
      stale_ms: page.get(PLACES.away_since) === 0 ? 0 : now() - page.get(PLACES.away_since),
      bucket_up: page.get(PLACES.bucket) === 0,
      cache_bytes: page.get(PLACES.cache_bytes),
      boxes: page.get(PLACES.others) + 1,
      differing: page.get(PLACES.differing),
      ahead_ms: page.get(PLACES.ahead_ms),
    }),
    close: () => watching?.stop(),
  };
}
