/** The counts that a serving process holds between two flushes (BEYOND 11), bounded whatever strangers ask for; and the thread that
 *  they are handed to, which alone touches the disk. */
import { Refusal } from "../base/errors.ts";
import {
  type CountedDay,
  type DaySalt,
  dayOf,
  MOST_NAMES,
  type NameCount,
  type NameKind,
  OTHER,
  type SiteStatistics,
  VisitorSketch,
} from "../base/statistics.ts";
import { every, loggedBy } from "../run/every.ts";
import type { Log } from "../run/log.ts";
import { CallLost, callThread, threadUrl } from "../run/thread.ts";
import { addressOf, statsSalt, type StoreAddress } from "../store/index.ts";
import type { StatisticsOrder, StatisticsReply } from "./thread.ts";
import { judgeVisit, type NotedVisit } from "./visits.ts";

/** Bytes, by the estimates below, from which the quiet sites are handed over before their time, and past which nothing new is
 *  counted. Of the 64 MB that statistics may take, the rest is for what is on its way to the thread, for the thread, and for what
 *  no collection has freed yet (bench/README.md). */
const EARLY_BYTES = 8 << 20;
const MOST_BYTES = 16 << 20;
/** Memory of a site's day, and of a name in it beside two bytes a character: as it was measured. */
const DAY_COST = 1300;
const NAME_COST = 300;

/** Names and days of one order: the thread that answers requests copies so many at a time. */
const BATCH = 500;
const DAY_WEIGHT = 10;
/** Visits that wait to be counted, at most so many and so long. */
const VISITS = 64;
const VISITS_MS = 20;
/** Visitors that wait for the salt of a day that has just begun. */
const MOST_WAITING = 1000;
const SALT_AGAIN_MS = 10_000;
const DAY_LOOK_MS = 10_000;
/** A server that stops waits no longer for its last counts. */
const LAST_FLUSH_MS = 5000;

interface Tally {
  count: number;
  internal: number;
}

/** The counts of a site and a day that are not handed over yet. */
class OpenDay {
  views = 0;
  bots = 0;
  misses = 0;
  readonly visitors = new VisitorSketch();
  readonly names: Record<NameKind, Map<string, Tally> | null> = { paths: null, referrers: null, missed: null };
  cost = DAY_COST;
  constructor(
    readonly site_id: string,
    readonly day: number,
  ) {}

  get weight(): number {
    const { paths, referrers, missed } = this.names;
    return DAY_WEIGHT + (paths?.size ?? 0) + (referrers?.size ?? 0) + (missed?.size ?? 0);
  }

  handed(): CountedDay {
    const { site_id, day, views, bots, misses, visitors, names } = this;
    const listed = (kind: NameKind): NameCount[] =>
      Array.from(names[kind] ?? [], ([name, { count, internal }]) => [name, count, internal]);
    const named = { paths: listed("paths"), referrers: listed("referrers"), missed: listed("missed") };
    return { site_id, day, views, bots, misses, visitors: visitors.bytes(), ...named };
  }
}

/** A part of a long text keeps all of it in memory; its copy does not. */
const ownCopy = (text: string): string => Buffer.from(text).toString();

/** The counts that are held, and those that wait to be handed over. */
class Table {
  #open = new Map<string, OpenDay>();
  #open_bytes = 0;
  #waiting: OpenDay[] = [];
  #waiting_bytes = 0;
  constructor(private readonly handOver: () => void) {}

  #isFull(): boolean {
    return this.#open_bytes + this.#waiting_bytes >= MOST_BYTES;
  }
  #grow(one: OpenDay, bytes: number): void {
    one.cost += bytes;
    this.#open_bytes += bytes;
  }
  #close(one: OpenDay): void {
    this.#open_bytes -= one.cost;
    this.#waiting_bytes += one.cost;
    this.#waiting.push(one);
  }
  /** Busy sites stay: their next visits find their names here. */
  #closeQuiet(): void {
    const quiet = [...this.#open.values()].sort((a, b) => a.views + a.misses - (b.views + b.misses));
    for (const one of quiet) {
      if (this.#open_bytes <= EARLY_BYTES / 2) break;
      this.#open.delete(one.site_id);
      this.#close(one);
    }
    this.handOver();
  }
  /** Null while so much is held that nothing new is counted. */
  of(site_id: string, day: number): OpenDay | null {
    if (this.#open_bytes >= EARLY_BYTES) this.#closeQuiet();
    const found = this.#open.get(site_id);
    if (found?.day === day) return found;
    if (found !== undefined) this.#close(found);
    this.#open.delete(site_id);
    if (this.#isFull()) return null;
    const made = new OpenDay(site_id, day);
    this.#open.set(site_id, made);
    this.#open_bytes += made.cost;
    return made;
  }
  name(one: OpenDay, kind: NameKind, name: string, internal: boolean): void {
    const names = (one.names[kind] ??= new Map());
    let tally = names.get(name);
    if (tally === undefined) {
      const key = names.size >= MOST_NAMES[kind] || this.#isFull() ? OTHER : ownCopy(name);
      tally = names.get(key);
      if (tally === undefined) {
        tally = { count: 0, internal: 0 };
        names.set(key, tally);
        this.#grow(one, NAME_COST + 2 * key.length);
      }
    }
    tally.count++;
    if (internal) tally.internal++;
  }
  visitor(one: OpenDay, hash: number): void {
    const before = one.visitors.size;
    one.visitors.add(hash);
    if (one.visitors.size !== before) this.#grow(one, one.visitors.size - before);
  }
  closeAll(): void {
    for (const one of this.#open.values()) this.#close(one);
    this.#open = new Map();
  }
  /** Takes those of one site, to be handed over right now. */
  takeSite(site_id: string): OpenDay[] {
    const one = this.#open.get(site_id);
    if (one !== undefined) this.#close(one);
    this.#open.delete(site_id);
    const taken = this.#waiting.filter((other) => other.site_id === site_id);
    this.#waiting = this.#waiting.filter((other) => other.site_id !== site_id);
    return taken;
  }
  takeBatch(): OpenDay[] {
    let weight = 0;
    const end = this.#waiting.findIndex((one) => (weight += one.weight) >= BATCH);
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end + 1);
  }
  /** They were handed over. */
  drop(taken: readonly OpenDay[]): void {
    for (const { cost } of taken) this.#waiting_bytes -= cost;
  }
  putBack(taken: readonly OpenDay[]): void {
    this.#waiting = [...taken, ...this.#waiting];
  }
  hasSome(): boolean {
    return this.#open.size + this.#waiting.length > 0;
  }
}

export interface Counts {
  /** Counts a visit, within some milliseconds. */
  take(visit: NotedVisit): void;
  /** With what this process holds. Throws 503 where the file cannot be read. */
  read(site_id: string, from: number, to: number): Promise<SiteStatistics>;
  /** Hands over all that is held. */
  stop(): Promise<void>;
}

interface CountsParts extends StoreAddress {
  sites_domain: string;
  /** Null: nothing is counted, and what was is read. */
  flush_ms: number | null;
  now: () => number;
  log: Pick<Log, "error">;
}

type Call = (order: StatisticsOrder) => Promise<unknown>;

const BLOCK = 64;
const DIGEST = 32;
const MOST_HASHED = 4096;

/** HMAC-SHA-256 under one key, of which the first 32 bits count. Written out, for `createHmac` takes twice as long, and a visit has no
 *  dearer part. A name is of characters below 256, as headers are. */
function hmacOf(key: string): (who: string) => number {
  const inner = Buffer.alloc(BLOCK + MOST_HASHED, 0x36);
  const outer = Buffer.alloc(BLOCK + DIGEST, 0x5c);
  for (let i = 0; i < key.length; i++) {
    inner[i] = key.charCodeAt(i) ^ 0x36;
    outer[i] = key.charCodeAt(i) ^ 0x5c;
  }
  const digest = Buffer.alloc(DIGEST);
  return (who) => {
    const length = inner.write(who, BLOCK, "latin1");
    Bun.SHA256.hash(inner.subarray(0, BLOCK + length), digest);
    outer.set(digest, BLOCK);
    Bun.SHA256.hash(outer, digest);
    return digest.readUInt32LE(0);
  };
}

/** The salt of the day. That of a day that has just begun comes from the thread: until then its visitors wait. */
function createHashing(
  call: Call,
  first: DaySalt | null,
  count: (site_id: string, day: number, hash: number) => void,
  failed: (error: unknown) => void,
) {
  let salt = first;
  let hash = hmacOf(first?.salt ?? "");
  let waiting: { site_id: string; day: number; who: string }[] = [];
  let asking: Promise<void> | null = null;
  let not_before = 0;
  const holdsFor = (day: number): boolean => salt !== null && (salt.day === day || salt.day === day + 1);

  async function ask(day: number, now: number): Promise<void> {
    try {
      for (let next: number | undefined = day; next !== undefined;) {
        const begun = (await call({ do: "begin", day: next })) as DaySalt;
        salt = begun;
        hash = hmacOf(begun.salt);
        for (const one of waiting) if (holdsFor(one.day)) count(one.site_id, one.day, hash(one.who));
        waiting = waiting.filter((one) => one.day > begun.day); // a day that began meanwhile
        next = waiting[0]?.day;
      }
    } catch (error) {
      not_before = now + SALT_AGAIN_MS;
      failed(error);
    } finally {
      asking = null;
      waiting = [];
    }
  }
  return {
    /** If there is no salt to be had, it is asked for again after a while. */
    async begin(day: number, now: number): Promise<void> {
      if (holdsFor(day) || now < not_before) return;
      await (asking ??= ask(day, now));
    },
    /** Resolves when nobody waits. */
    settled: async (): Promise<void> => asking ?? undefined,
    hashOf: (day: number, who: string): number | null => (holdsFor(day) ? hash(who) : null),
    wait(site_id: string, day: number, who: string): void {
      if (waiting.length < MOST_WAITING) waiting.push({ site_id, day, who });
    },
  };
}

/** The thread, by what it answers. */
function startKeeper({ log, ...parts }: StoreAddress & Pick<CountsParts, "log">) {
  const url = threadUrl("./src/statistics/thread.ts");
  const thread = callThread<StatisticsOrder, StatisticsReply>(url, addressOf(parts));
  return {
    close: thread.close,
    async call(order: StatisticsOrder): Promise<unknown> {
      const { value, told } = await thread.call(order);
      for (const sentence of told) log.error("statistics", sentence);
      return value;
    },
  };
}

/** Resolves when the work is done, or after so long. */
async function atMost(ms: number, work: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, ms);
  await Promise.race([work, late.promise]);
  clearTimeout(timer);
}

const unreadable = (): Refusal =>
  new Refusal("unavailable", "Statistics cannot be read right now. Try again in a moment.", {}, { "retry-after": "1" });

/** Counts visits, many behind one another. */
function createTally(table: Table, visitor: (of: OpenDay, who: string) => void, domain: string) {
  let noted: NotedVisit[] = [];

  function count(visit: NotedVisit): void {
    const judged = judgeVisit(visit, domain);
    const one = judged === null ? null : table.of(visit.site.site_id, visit.day);
    if (judged === null || one === null) return;
    if (judged === "bot") return void one.bots++;
    const { path, referrer, internal, who } = judged;
    if (visit.missed) {
      one.misses++;
      return table.name(one, "missed", path, internal);
    }
    one.views++;
    table.name(one, "paths", path, false);
    if (referrer !== null) table.name(one, "referrers", referrer, false);
    if (who !== null) visitor(one, who);
  }
  function settle(): void {
    const visits = noted;
    noted = [];
    for (const visit of visits) count(visit);
  }
  return {
    settle,
    take(visit: NotedVisit): void {
      noted.push(visit);
      if (noted.length === 1) setTimeout(settle, VISITS_MS).unref();
      if (noted.length >= VISITS) settle();
    },
  };
}

const handingOver =
  (table: Table, call: ReturnType<typeof startKeeper>["call"]) =>
  async (taken: readonly OpenDay[]): Promise<void> => {
    try {
      await call({ do: "add", counted: taken.map((one) => one.handed()) });
    } catch (error) {
      // A thread that died at work may have added them: better lost than twice.
      const maybe_done = error instanceof CallLost && error.fate !== "not started";
      if (maybe_done) table.drop(taken);
      else table.putBack(taken);
      throw error;
    }
    table.drop(taken);
  };

export function createCounts(parts: CountsParts): Counts {
  const { data_dir, sites_domain, flush_ms, now, log } = parts;
  const { call, close } = startKeeper(parts);
  const failed = (error: unknown) => log.error("statistics", error);
  const table = new Table(() => void flush().catch(failed));
  const count = (site_id: string, day: number, hash: number): void => {
    const one = table.of(site_id, day);
    if (one !== null) table.visitor(one, hash);
  };
  const hashing = createHashing(call, statsSalt.read(data_dir), count, failed);
  function visitor(one: OpenDay, who: string): void {
    const hash = hashing.hashOf(one.day, who);
    if (hash !== null) return table.visitor(one, hash);
    hashing.wait(one.site_id, one.day, who);
    void hashing.begin(one.day, now());
  }
  const tally = createTally(table, visitor, sites_domain);
  const handOver = handingOver(table, call);
  let flushing: Promise<void> | null = null;
  async function handOverAll(): Promise<void> {
    for (let batch = table.takeBatch(); batch.length > 0; batch = table.takeBatch()) await handOver(batch);
  }
  const flush = (): Promise<void> => (flushing ??= handOverAll().finally(() => void (flushing = null)));
  async function turn(): Promise<void> {
    tally.settle();
    if (!table.hasSome()) return;
    table.closeAll();
    await flush();
  }
  const lookAtDay = () => hashing.begin(dayOf(now()), now());
  const timers =
    flush_ms === null
      ? []
      : [every(flush_ms, turn, loggedBy(log, "statistics")), every(DAY_LOOK_MS, lookAtDay, failed)];

  return {
    take: tally.take,
    async read(site_id, from, to) {
      try {
        tally.settle();
        await hashing.settled();
        // The thread takes orders in turn: what is handed over now is in the answer.
        const taken = table.takeSite(site_id);
        if (taken.length > 0) await handOver(taken);
        return (await call({ do: "read", site_id, from, to })) as SiteStatistics;
      } catch (error) {
        failed(error);
        throw unreadable();
      }
    },
    async stop() {
      timers.forEach((timer) => timer.stop());
      await atMost(LAST_FLUSH_MS, turn().catch(failed));
      await atMost(LAST_FLUSH_MS, close());
    },
  };
}
