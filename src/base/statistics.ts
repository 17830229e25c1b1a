/** Statistics of a site (BEYOND 11): what is counted of a day, its bounds, and the sketch that counts visitors without keeping
 *  any of them. */
import { UNIT_MS } from "./units.ts";

/** Days that are kept, today among them. */
export const KEPT_DAYS = 400;

/** Names of one site and day that are counted apart. */
export const MOST_NAMES = { paths: 1000, referrers: 200, missed: 200 } as const;
export type NameKind = keyof typeof MOST_NAMES;

/** Counts what comes when there are as many names as a day may have. No path and no host is called so. */
export const OTHER = "(other)";

/** Characters of a path; what is longer is cut. */
export const LONGEST_PATH = 256;

/** A day of UTC, by its number since the epoch. */
export const dayOf = (now: number): number => Math.floor(now / UNIT_MS.d);
export const dateOf = (day: number): string => new Date(day * UNIT_MS.d).toISOString().slice(0, 10);

/** A name, and how often it was asked for; of a missed path also how often from a page of the site itself. */
export type NameCount = readonly [name: string, count: number, internal: number];

/** The counts of one process, for a site and a day, since it last handed them over. */
export interface CountedDay extends Readonly<Record<NameKind, readonly NameCount[]>> {
  site_id: string;
  day: number;
  views: number;
  bots: number;
  misses: number;
  /** A sketch. */
  visitors: Uint8Array;
}

/** The key of the hashes of a day's visitors, and its day. */
export interface DaySalt {
  day: number;
  salt: string;
}

interface Totals {
  views: number;
  visitors: number;
  bots: number;
  misses: number;
}

/** The answer to an owner's question. */
export interface SiteStatistics {
  totals: Totals;
  /** Every day, oldest first. */
  days: (Totals & { date: string })[];
  paths: { path: string; views: number }[];
  referrers: { host: string; views: number }[];
  /** `rule`: a line of `_redirects` that leads to the page that was probably meant. */
  misses: { path: string; hits: number; internal: number; rule: string | null }[];
}

// The sketch is a HyperLogLog of 4,096 registers of four bits (2 KB): its error is 1.6 % (one sigma). Up to 255 visitors it
// is the list of their hashes of 32 bits, which is exact. The estimate is Ertl's ("New cardinality estimation algorithms for
// HyperLogLog sketches", 2017): it has no bias at any size, so it needs no tables.

const INDEX_BITS = 12;
const REGISTERS = 1 << INDEX_BITS;
const SKETCH_BYTES = REGISTERS / 2;
/** The largest value that a register counts apart; one more stands for all that are larger. */
const LARGEST = 14;
const MOST_LISTED = 255;
const FIRST_ROOM = 4;

function sigma(x: number): number {
  if (x === 1) return Infinity;
  let sum = x;
  for (let before = NaN, power = x, y = 1; sum !== before; y += y) {
    power *= power;
    before = sum;
    sum += power * y;
  }
  return sum;
}

function tau(x: number): number {
  if (x === 0 || x === 1) return 0;
  let sum = 1 - x;
  for (let before = NaN, root = x, y = 1; sum !== before;) {
    root = Math.sqrt(root);
    before = sum;
    y /= 2;
    sum -= (1 - root) ** 2 * y;
  }
  return sum / 3;
}

function estimate(registers: Uint8Array): number {
  const having = new Array<number>(LARGEST + 2).fill(0);
  for (const two of registers) {
    having[two & 15]!++;
    having[two >> 4]!++;
  }
  let sum = REGISTERS * tau(1 - having[LARGEST + 1]! / REGISTERS);
  for (let value = LARGEST; value >= 1; value--) sum = (sum + having[value]!) / 2;
  sum += REGISTERS * sigma(having[0]! / REGISTERS);
  return Math.round(REGISTERS ** 2 / (2 * Math.LN2 * sum));
}

/** Visitors of a day: each is added as a hash, of which nothing but the sketch is kept. */
export class VisitorSketch {
  #listed: Uint32Array | null = new Uint32Array(FIRST_ROOM);
  #count = 0;
  #registers: Uint8Array | null = null;

  /** `hash`: 32 bits. */
  add(hash: number): void {
    if (this.#listed === null) return this.#raise(hash);
    for (let i = 0; i < this.#count; i++) if (this.#listed[i] === hash) return;
    if (this.#count === MOST_LISTED) {
      this.#toRegisters();
      return this.#raise(hash);
    }
    if (this.#count === this.#listed.length) {
      const larger = new Uint32Array(2 * this.#count);
      larger.set(this.#listed);
      this.#listed = larger;
    }
    this.#listed[this.#count++] = hash;
  }

  #toRegisters(): void {
    const hashes = this.#listed!.subarray(0, this.#count);
    this.#listed = null;
    this.#registers = new Uint8Array(SKETCH_BYTES);
    for (const hash of hashes) this.#raise(hash);
  }

  #raise(hash: number): void {
    const index = hash >>> (32 - INDEX_BITS);
    this.#set(index, Math.min(Math.clz32(hash << INDEX_BITS) + 1, LARGEST + 1));
  }

  #set(index: number, value: number): void {
    const registers = this.#registers!;
    const shift = (index & 1) << 2;
    const byte = registers[index >> 1]!;
    if (((byte >> shift) & 15) >= value) return;
    registers[index >> 1] = (byte & ~(15 << shift)) | (value << shift);
  }

  /** Adds the visitors of another sketch; those of both count once. Bytes that are none add nobody. */
  merge(bytes: Uint8Array): void {
    if (bytes.length !== SKETCH_BYTES) {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      for (let at = 0; at + 4 <= bytes.length; at += 4) this.add(view.getUint32(at, true));
      return;
    }
    if (this.#listed !== null) this.#toRegisters();
    bytes.forEach((two, i) => {
      this.#set(2 * i, two & 15);
      this.#set(2 * i + 1, two >> 4);
    });
  }

  /** To be kept, and to be merged. */
  bytes(): Uint8Array<ArrayBuffer> {
    if (this.#registers !== null) return new Uint8Array(this.#registers);
    const bytes = new Uint8Array(4 * this.#count);
    const view = new DataView(bytes.buffer);
    // Sorted, for the order in which they came is nobody's business.
    const hashes = this.#listed!.slice(0, this.#count).sort();
    hashes.forEach((hash, i) => view.setUint32(4 * i, hash, true));
    return bytes;
  }

  /** Bytes of memory. */
  get size(): number {
    return this.#registers?.length ?? this.#listed!.byteLength;
  }

  get visitors(): number {
    return this.#registers === null ? this.#count : estimate(this.#registers);
  }

  static of(bytes: Uint8Array): VisitorSketch {
    const sketch = new VisitorSketch();
    sketch.merge(bytes);
    return sketch;
  }
}
