/** Figures that all processes of a server add up in one shared page, so that any worker can answer `/metrics` for all:
 *  `DATA/metrics`. Losing them in a crash harms nobody. */
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Figures } from "../upkeep.ts";

const PAGE = 65_536; // mapped, so it never shrinks: else SIGBUS
const BYTES_PER_SLOT = 8;
/** From here on a place for each process that serves: its id, then the numbers that it says of itself. */
const FIRST_PROCESS = 512;
const PLACE = 16;
const LAST = PAGE / BYTES_PER_SLOT;

const fileOf = (data_dir: string): string => join(data_dir, "metrics");

/** Where files cannot be mapped, one process serves and has the page to itself. */
const unshared = new Map<string, BigInt64Array>();

function pageOf(data_dir: string): BigInt64Array {
  if (process.platform === "win32") {
    const page = unshared.get(data_dir) ?? new BigInt64Array(LAST);
    unshared.set(data_dir, page);
    return page;
  }
  const path = fileOf(data_dir);
  // Another version's page had another size.
  if (statSync(path, { throwIfNoEntry: false })?.size !== PAGE) {
    writeFileSync(path, new Uint8Array(PAGE), { mode: 0o600 });
  }
  const bytes = Bun.mmap(path, { shared: true });
  return new BigInt64Array(bytes.buffer, bytes.byteOffset, LAST);
}

/** Every count begins at zero when a server starts; a scraper expects that. */
export const prepareFigures = (data_dir: string): void => void pageOf(data_dir).fill(0n);

function isAlive(pid: bigint): boolean {
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch {
    return false;
  }
}

export function openFigures(data_dir: string): Figures {
  const page = pageOf(data_dir);
  const own = BigInt(process.pid);
  const processes = Array.from({ length: (LAST - FIRST_PROCESS) / PLACE }, (_, n) => FIRST_PROCESS + PLACE * n);
  let place: number | undefined;

  /** A place that is free, or whose process is gone. */
  const takePlace = () =>
    processes.find((at) => {
      const holder = Atomics.load(page, at);
      const free = holder === 0n || holder === own || !isAlive(holder);
      return free && Atomics.compareExchange(page, at, holder, own) === holder;
    });
  return {
    add: (slot, amount) => void Atomics.add(page, slot, BigInt(amount)),
    set: (slot, value) => void Atomics.store(page, slot, BigInt(Math.round(value))),
    get: (slot) => Number(Atomics.load(page, slot)),
    putProcess(numbers) {
      place ??= takePlace();
      if (place === undefined) return;
      for (const [n, value] of numbers.entries()) Atomics.store(page, place + 1 + n, BigInt(Math.round(value)));
    },
    processes: () =>
      processes
        .filter((at) => page[at] !== 0n && isAlive(page[at]!))
        .map((at) => Array.from(page.subarray(at + 1, at + PLACE), Number)),
  };
}
