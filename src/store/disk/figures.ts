/** Figures that all processes of a server add up in one shared page, so that any worker can answer `/metrics` for all, and
 *  behind them a text of each process (run/bulletin.ts). Losing them in a crash does no harm. */
import type { Figures } from "../upkeep.ts";
import { makePage, openPage } from "./shared-page.ts";

const NUMBERS = 65_536;
/** A place for the text of each process; further ones tell nothing. */
const TEXTS = { places: 64, bytes: 12_288 };
const PAGE = NUMBERS + TEXTS.places * TEXTS.bytes;
const BYTES_PER_SLOT = 8;
/** The first slot of the processes that serve: each has a place for its id and its own numbers. */
const FIRST_PROCESS = 512;
const PLACE = 16;
const LAST = NUMBERS / BYTES_PER_SLOT;

const FILE = { name: "metrics", bytes: PAGE };

/** For systems on which files cannot be mapped: one process serves and has the page to itself. */
const unshared = new Map<string, ArrayBufferLike>();

/** Returns a function that gives the page, to be called anew each time. `lost` is called if its content is lost. */
function pageOf(data_dir: string, lost: () => void): (makes?: boolean) => ArrayBufferLike {
  if (process.platform === "win32") {
    const own = unshared.get(data_dir) ?? new ArrayBuffer(PAGE);
    unshared.set(data_dir, own);
    return () => own;
  }
  const page = openPage(data_dir, FILE);
  let buffer = page.bytes().buffer;
  return (makes) => {
    if (!page.mend(makes)) return buffer;
    lost();
    return (buffer = page.bytes().buffer);
  };
}

/** Every count begins at zero when a server starts; a scraper expects that. Returns a function that ends the page. */
export function prepareFigures(data_dir: string): () => void {
  if (process.platform !== "win32") return makePage(data_dir, FILE);
  unshared.delete(data_dir);
  return () => {};
}

function isAlive(pid: bigint): boolean {
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch {
    return false;
  }
}

/** A figure that could not be counted is 0: the drain asks once more, when /proc may be gone already. */
const whole = (value: number): number => (Number.isFinite(value) ? Math.round(value) : 0);

/** A text that one process writes and others read meanwhile: its writer's id, a number that is odd while it is written, its
 *  length. */
const HEAD = { pid: 0, turn: 1, length: 2, bytes: 16 };
const AGAIN = 5;

const textAt = (page: ArrayBufferLike, n: number) => {
  const begin = NUMBERS + n * TEXTS.bytes;
  const head = new Int32Array(page, begin, HEAD.bytes / Int32Array.BYTES_PER_ELEMENT);
  return { head, body: new Uint8Array(page, begin + HEAD.bytes, TEXTS.bytes - HEAD.bytes) };
};

/** Null if it was written to meanwhile, again and again, or its writer died amid it. */
function readText({ head, body }: ReturnType<typeof textAt>): string | null {
  for (let left = AGAIN; left > 0; left--) {
    const turn = Atomics.load(head, HEAD.turn);
    const copy = body.slice(0, Atomics.load(head, HEAD.length));
    if (turn % 2 === 0 && Atomics.load(head, HEAD.turn) === turn) return Buffer.from(copy).toString();
  }
  return null;
}

/** The texts of the page. One whose writer has ended stays until its place is the only one left. */
function textsIn(page: (makes?: boolean) => ArrayBufferLike) {
  let own: number | undefined;
  const numbers = Array.from({ length: TEXTS.places }, (_, n) => n);

  function take(buffer: ArrayBufferLike): number | undefined {
    const isFree = (holder: number) => holder === 0;
    const isOver = (holder: number) => holder !== process.pid && !isAlive(BigInt(holder));
    for (const may of [isFree, isOver]) {
      for (const n of numbers) {
        const { head } = textAt(buffer, n);
        const holder = Atomics.load(head, HEAD.pid);
        if (!may(holder) || Atomics.compareExchange(head, HEAD.pid, holder, process.pid) !== holder) continue;
        Atomics.store(head, HEAD.turn, 0);
        return n;
      }
    }
    return undefined;
  }
  return {
    lost: () => void (own = undefined),
    put(text: string): boolean {
      const bytes = Buffer.from(text);
      if (bytes.length > TEXTS.bytes - HEAD.bytes) return false;
      const buffer = page(true);
      own ??= take(buffer);
      if (own === undefined) return true;
      const { head, body } = textAt(buffer, own);
      Atomics.add(head, HEAD.turn, 1);
      body.set(bytes);
      Atomics.store(head, HEAD.length, bytes.length);
      Atomics.add(head, HEAD.turn, 1);
      return true;
    },
    all(): string[] {
      const buffer = page();
      const places = numbers.map((n) => textAt(buffer, n)).filter(({ head }) => Atomics.load(head, HEAD.pid) !== 0);
      return places.flatMap((place) => readText(place) ?? []);
    },
  };
}

export function openFigures(data_dir: string): Figures {
  const own = BigInt(process.pid);
  const processes = Array.from({ length: (LAST - FIRST_PROCESS) / PLACE }, (_, n) => FIRST_PROCESS + PLACE * n);
  let place: number | undefined;
  const page = pageOf(data_dir, () => {
    place = undefined;
    texts.lost();
  });
  const texts = textsIn(page);
  const cells = (makes?: boolean) => new BigInt64Array(page(makes), 0, LAST);

  /** A place that is free, or whose process is gone. */
  const takePlace = (page: BigInt64Array) =>
    processes.find((at) => {
      const holder = Atomics.load(page, at);
      const free = holder === 0n || holder === own || !isAlive(holder);
      return free && Atomics.compareExchange(page, at, holder, own) === holder;
    });
  return {
    add: (slot, amount) => void Atomics.add(cells(), slot, BigInt(amount)),
    set: (slot, value) => void Atomics.store(cells(), slot, BigInt(Math.round(value))),
    get: (slot) => Number(Atomics.load(cells(), slot)),
    putProcess(numbers) {
      const page = cells(true); // once a second in each process that serves, so that a page that is gone is made anew
      place ??= takePlace(page);
      if (place === undefined) return;
      for (const [n, value] of numbers.entries()) Atomics.store(page, place + 1 + n, BigInt(whole(value)));
    },
    putText: texts.put,
    texts: texts.all,
    processes() {
      const page = cells();
      return processes
        .filter((at) => page[at] !== 0n && isAlive(page[at]!))
        .map((at) => Array.from(page.subarray(at + 1, at + PLACE), Number));
    },
  };
}
