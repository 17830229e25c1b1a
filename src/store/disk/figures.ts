/** Figures that all processes of a server add up in one shared page, so that any worker can answer `/metrics` for all.
 *  Losing them in a crash does no harm. */
import type { Figures } from "../upkeep.ts";
import { makePage, openPage } from "./shared-page.ts";

const PAGE = 65_536;
const BYTES_PER_SLOT = 8;
/** The first slot of the processes that serve: each has a place for its id and its own numbers. */
const FIRST_PROCESS = 512;
const PLACE = 16;
const LAST = PAGE / BYTES_PER_SLOT;

const FILE = { name: "metrics", bytes: PAGE };

/** For systems on which files cannot be mapped: one process serves and has the page to itself. */
const unshared = new Map<string, BigInt64Array>();

/** Returns a function that gives the cells, to be called anew each time. `lost` is called if their content is lost. */
function cellsOf(data_dir: string, lost: () => void): (makes?: boolean) => BigInt64Array {
  if (process.platform === "win32") {
    const cells = unshared.get(data_dir) ?? new BigInt64Array(LAST);
    unshared.set(data_dir, cells);
    return () => cells;
  }
  const page = openPage(data_dir, FILE);
  const map = () => new BigInt64Array(page.bytes().buffer, 0, LAST);
  let cells = map();
  return (makes) => {
    if (!page.mend(makes)) return cells;
    lost();
    return (cells = map());
  };
}

/** Every count begins at zero when a server starts; a scraper expects that. Returns a function that ends the page. */
export function prepareFigures(data_dir: string): () => void {
  if (process.platform !== "win32") return makePage(data_dir, FILE);
  unshared.get(data_dir)?.fill(0n);
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

export function openFigures(data_dir: string): Figures {
  const own = BigInt(process.pid);
  const processes = Array.from({ length: (LAST - FIRST_PROCESS) / PLACE }, (_, n) => FIRST_PROCESS + PLACE * n);
  let place: number | undefined;
  const cells = cellsOf(data_dir, () => (place = undefined));

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
    processes() {
      const page = cells();
      return processes
        .filter((at) => page[at] !== 0n && isAlive(page[at]!))
        .map((at) => Array.from(page.subarray(at + 1, at + PLACE), Number));
    },
  };
}
