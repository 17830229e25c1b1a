/** What a server does per request, as the kernel counts it: wrk loads it, /proc tells the CPU time it took. */
import { readFileSync } from "node:fs";

export interface Load {
  url: string;
  host: string;
  headers: Record<string, string>;
  /** Every answer is to be a 404. */
  missing?: boolean;
}

export interface Measured {
  requests_per_second: number;
  /** User and system time of the server process, microseconds. */
  cpu_us: number;
  p99_ms: number;
}

/** Clock ticks are hundredths of a second on every Linux. */
const TICK_US = 10_000;

function cpuTicks(pid: number): number {
  // The name of the program, in parentheses, may hold spaces; utime and stime are 12 and 13 behind it.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return Number(fields[11]) + Number(fields[12]);
}

const UNIT_MS: Record<string, number> = { us: 0.001, ms: 1, s: 1000 };

export function measure(pid: number, { url, host, headers, missing = false }: Load, seconds: number): Measured {
  // wrk adds a Host of its own beside one that is not written with a capital.
  const given = Object.entries({ ...headers, Host: host }).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  const before = cpuTicks(pid);
  const wrk = Bun.spawnSync(["wrk", "-t1", "-c64", `-d${seconds}s`, "--latency", ...given, url]);
  const ticks = cpuTicks(pid) - before;
  const said = wrk.stdout.toString();
  const requests = Number(/(\d+) requests in/.exec(said)?.[1]);
  const [, p99, unit] = /99%\s+([\d.]+)(us|ms|s)/.exec(said) ?? [];
  if (!missing && /Non-2xx/.test(said)) throw new Error(`wrk on ${url} met errors: ${said}`);
  if (!wrk.success || !requests || /Socket errors/.test(said)) throw new Error(`wrk on ${url}: ${said}${wrk.stderr}`);
  return {
    requests_per_second: Number(/Requests\/sec:\s+([\d.]+)/.exec(said)?.[1]),
    cpu_us: (ticks * TICK_US) / requests,
    p99_ms: Number(p99) * UNIT_MS[unit ?? "ms"]!,
  };
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)]!;
}
