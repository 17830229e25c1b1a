/** What a server does per request, as the kernel counts it: wrk loads it, /proc tells the CPU time it took. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface Target {
  path: string;
  host: string;
}

export interface Load {
  origin: string;
  /** Asked for in turn, from `from` on. */
  targets: readonly Target[];
  from?: number;
  headers: Record<string, string>;
  /** Every answer is to be a 404. */
  missing?: boolean;
}

export interface Measured {
  requests: number;
  requests_per_second: number;
  /** User and system time of the server process, microseconds. */
  cpu_us: number;
  p99_ms: number;
}

/** Clock ticks are hundredths of a second on every Linux. */
export const TICK_US = 10_000;

export function cpuTicks(pid: number): number {
  // The name of the program, in parentheses, may hold spaces; utime and stime are 12 and 13 behind it.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return Number(fields[11]) + Number(fields[12]);
}

const UNIT_MS: Record<string, number> = { us: 0.001, ms: 1, s: 1000 };

/** wrk sends the same request again and again, or takes the next one of a list. */
const ROTATION = (list: string, fields: string, from: number): string => `
  local requests, at = {}, ${from}
  for line in io.lines("${list}") do
    local host, path = line:match("(%S+) (%S+)")
    requests[#requests + 1] = "GET " .. path .. " HTTP/1.1\\r\\nHost: " .. host .. "\\r\\n${fields}\\r\\n"
  end
  function request()
    at = at % #requests + 1
    return requests[at]
  end`;

function rotation(folder: string, { targets, headers, from = 0 }: Load): string[] {
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\\r\\n`);
  const [list, script] = [join(folder, "targets.txt"), join(folder, "rotation.lua")];
  writeFileSync(list, targets.map(({ host, path }) => `${host} ${path}\n`).join(""));
  writeFileSync(script, ROTATION(list, fields.join("").replaceAll('"', '\\"'), from));
  return ["-s", script];
}

function constant({ targets, headers }: Load): string[] {
  // wrk adds a Host of its own beside one that is not written with a capital.
  return Object.entries({ ...headers, Host: targets[0]!.host }).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
}

/** `folder`: for wrk's script. */
export function measure(pid: number, folder: string, load: Load, seconds: number): Measured {
  const { origin, targets, headers, missing = false } = load;
  const given = targets.length === 1 ? constant(load) : rotation(folder, load);
  const before = cpuTicks(pid);
  const url = origin + targets[0]!.path;
  const wrk = Bun.spawnSync(["wrk", "-t1", "-c64", `-d${seconds}s`, "--latency", ...given, url]);
  const ticks = cpuTicks(pid) - before;
  const said = wrk.stdout.toString();
  const requests = Number(/(\d+) requests in/.exec(said)?.[1]);
  const [, p99, unit] = /99%\s+([\d.]+)(us|ms|s)/.exec(said) ?? [];
  if (!missing && /Non-2xx/.test(said)) throw new Error(`wrk on ${url} met errors: ${said}`);
  // A server that closes without having said so in the answer: wrk counts what follows as an error.
  const failed = headers.connection === "close" ? /connect [1-9]|write [1-9]|timeout [1-9]/ : /Socket errors/;
  if (!wrk.success || !requests || failed.test(said)) throw new Error(`wrk on ${url}: ${said}${wrk.stderr}`);
  return {
    requests,
    requests_per_second: Number(/Requests\/sec:\s+([\d.]+)/.exec(said)?.[1]),
    cpu_us: (ticks * TICK_US) / requests,
    p99_ms: Number(p99) * UNIT_MS[unit ?? "ms"]!,
  };
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)]!;
}
