/** The bulletin of a process (CONTRACT 7.3, 7.4): the hosts that got the most bytes, and its last error lines, for `svc-server
 *  status` and for the hourly record of the log. It is text in a place of the process's own, and bounded, whatever is asked
 *  for. */
import packageJson from "../../package.json" with { type: "json" };
import { UNIT_MS } from "../base/units.ts";
import { visible } from "../base/visible.ts";

/** A host, and the bytes of the bodies that it was answered with. */
type HostBytes = readonly [host: string, bytes: number];

/** Hosts that are counted at a time. Past them those with few bytes are forgotten, about half: so a count is never too high, and a
 *  flood of names takes no memory and hides no busy host. Ten thousand sites in rotation fit: a host that is forgotten and
 *  comes again costs its request a tenth more. */
const MOST_HOSTS = 16_384;
/** Hosts by which is judged how many bytes are few. */
const SAMPLE = 255;
/** Hosts that a process hands over for each hour: workers share them out unevenly. */
const TOLD_HOSTS = 60;
const LONGEST_HOST = 100;
/** Hosts of one record of the log. */
const BUSIEST = 20;

/** The bytes of one host in this hour. The answers of a host find it without a search. */
export class HostTraffic {
  bytes = 0;
  constructor(
    readonly host: string,
    private readonly entered: (one: HostTraffic) => void,
  ) {}
  /** On the path of every request: an addition. */
  add(bytes: number): void {
    if (this.bytes === 0 && bytes > 0) this.entered(this);
    this.bytes += bytes;
  }
}

/** An hour of the clock, by its number since the epoch, and its hosts, the busiest first. */
interface HourTraffic {
  hour: number;
  hosts: HostBytes[];
}

/** Adds up what several told of one host; the busiest first. */
function busiest(told: readonly HostBytes[], most: number): HostBytes[] {
  const sums = new Map<string, number>();
  for (const [host, bytes] of told) sums.set(host, (sums.get(host) ?? 0) + bytes);
  return [...sums].sort(([a, more], [b, less]) => less - more || (a < b ? -1 : 1)).slice(0, most);
}

/** One host may have several counts. */
function largest(counted: Iterable<HostTraffic>, most: number): HostBytes[] {
  let top: HostTraffic[] = [];
  let least = 0;
  for (const one of counted) {
    if (one.bytes <= least) continue;
    top.push(one);
    if (top.length < 4 * most) continue;
    top = top.sort((one, other) => other.bytes - one.bytes).slice(0, 2 * most);
    least = top.at(-1)!.bytes;
  }
  return busiest(
    top.map(({ host, bytes }) => [host, bytes] as const),
    most,
  );
}

/** Bytes that are few among those of all, by a sample. */
function fewBytes(all: readonly HostTraffic[]): number {
  const step = Math.floor(all.length / SAMPLE);
  const sample = Array.from({ length: SAMPLE }, (_, n) => all[n * step]!.bytes).sort((one, other) => one - other);
  return sample[SAMPLE >> 1]!;
}

export interface Traffic {
  /** For answers to a host that nothing found quicker; `host` as it was sent. */
  of(host: string): HostTraffic;
  /** This hour and the one before, by this clock. */
  hours(now: number): [HourTraffic, HourTraffic];
}

export const hourOf = (now: number): number => Math.floor(now / UNIT_MS.h);

export function createTraffic(): Traffic {
  /** Those that have bytes. */
  const counted = new Set<HostTraffic>();
  /** By the host as it was sent, too. */
  const known = new Map<string, HostTraffic>();
  let current = 0;
  let last: HourTraffic = { hour: 0, hosts: [] };

  function forget(one: HostTraffic): void {
    one.bytes = 0;
    counted.delete(one);
  }
  function forgetHalf(): void {
    const all = [...counted];
    const few = fewBytes(all);
    let room = MOST_HOSTS / 2;
    for (const one of all) if (one.bytes <= few && room-- > 0) forget(one);
  }
  function enter(one: HostTraffic): void {
    if (counted.size >= MOST_HOSTS) forgetHalf();
    counted.add(one);
  }
  function turnOver(hour: number): void {
    if (hour === current) return;
    last = { hour: current, hosts: largest(counted, TOLD_HOSTS) };
    for (const one of counted) forget(one);
    current = hour;
  }
  return {
    of(sent) {
      const found = known.get(sent);
      if (found !== undefined) return found;
      if (known.size >= 2 * MOST_HOSTS) {
        known.clear();
        for (const one of counted) known.set(one.host, one);
      }
      const host = sent.trim().toLowerCase().replace(/:\d+$/, "").slice(0, LONGEST_HOST);
      const one = known.get(host) ?? new HostTraffic(host, enter);
      known.set(host, one);
      // A name may come with kilobytes of blanks that are none to HTTP: that spelling is looked up anew each time.
      if (sent.length <= LONGEST_HOST) known.set(sent, one);
      return one;
    },
    hours(now) {
      turnOver(hourOf(now));
      return [{ hour: current, hosts: largest(counted, TOLD_HOSTS) }, last];
    },
  };
}

export interface ErrorLine {
  /** ISO 8601. */
  at: string;
  message: string;
}

export const ERROR_LINES = 10;
const LONGEST_LINE = 300;

/** The first line of an error, without what may open something: tokens, and the user and query of an address. */
export const withoutSecrets = (text: string): string =>
  visible(text.split("\n", 1)[0]!)
    .replace(/\b(svc_[a-z]+_|whsec_)[\w+/=-]+/g, "$1…")
    .replace(/:\/\/[^\s/@]+@/g, "://…@")
    .replace(/\?[^\s"')]+/g, "?…")
    .slice(0, LONGEST_LINE);

/** A process's part: what it serves, and what its log said. */
export interface Bulletin {
  version: string;
  /** The newest last. */
  errors: ErrorLine[];
  /** Errors since the process began. */
  errors_in_all: number;
  traffic: HourTraffic[];
}

/** Returns a function that brings this process's bulletin up to date. `put` refuses what is too long: then fewer hosts are
 *  told of. */
export function bulletinBoard(
  put: (text: string) => boolean,
  errorsNow: () => Pick<Bulletin, "errors" | "errors_in_all">,
  hoursNow: () => readonly HourTraffic[] = () => [],
): () => void {
  let shown = "";
  return () => {
    const { errors, errors_in_all } = errorsNow();
    const traffic = hoursNow();
    for (const most of [TOLD_HOSTS, BUSIEST, 0]) {
      const hours = traffic.map(({ hour, hosts }) => ({ hour, hosts: hosts.slice(0, most) }));
      const bulletin = { version: packageJson.version, errors, errors_in_all, traffic: hours };
      const text = JSON.stringify(bulletin satisfies Bulletin);
      if (text === shown || put(text)) return void (shown = text);
    }
  };
}

/** A text that is none of this program is left out. */
export const readBulletins = (texts: readonly string[]): Bulletin[] =>
  texts.flatMap((text) => {
    try {
      return [JSON.parse(text) as Bulletin];
    } catch {
      return [];
    }
  });

/** The busiest hosts of an hour, by all processes together. */
export const trafficOf = (all: readonly Bulletin[], hour: number): HostBytes[] =>
  busiest(
    all.flatMap(({ traffic }) => traffic.filter((one) => one.hour === hour).flatMap(({ hosts }) => hosts)),
    BUSIEST,
  );

/** The last error lines of all processes, the newest last. */
export const errorsOf = (all: readonly Bulletin[]): ErrorLine[] =>
  all
    .flatMap(({ errors }) => errors)
    .sort((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)))
    .slice(-ERROR_LINES);
