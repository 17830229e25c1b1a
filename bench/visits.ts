/** `bun bench/visits.ts [seconds] [rounds] [words of rows…]`: CPU per request of a server that counts visits beside two that do not
 *  (SVC_STATS=off; the second one shows how much of a difference is noise), in interleaved rounds: a page with its ten
 *  assets as a browser asks for them, assets alone, pages alone, and a stranger's flood of paths that are none. Needs Linux
 *  and wrk. 3 and 7 unless said otherwise: five minutes. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { zipSync } from "fflate";
import { startServerAlone, type Alone } from "./contenders.ts";
import { cpuTicks, median, TICK_US } from "./load.ts";

const [seconds = 3, rounds = 7] = process.argv.slice(2, 4).map(Number);
const words = process.argv.slice(4);
const ASSETS = 10;

const text = (bytes: number) =>
  new TextEncoder().encode("<p>A line of a page, as long as lines are.</p>\n".repeat(bytes / 46));
const FILES: Record<string, Uint8Array> = {
  "index.html": text(5000),
  ...Object.fromEntries(
    Array.from({ length: ASSETS }, (_, n) => [`a${n}.${n < 3 ? "css" : n < 6 ? "js" : "svg"}`, text(3000)]),
  ),
};

const BROWSER = [
  "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36",
  "Accept-Encoding: gzip, deflate, br, zstd",
  "Accept-Language: en-US,en;q=0.9",
  'sec-ch-ua: "Chromium";v="131", "Not_A Brand";v="24"',
  "sec-ch-ua-mobile: ?0",
  'sec-ch-ua-platform: "Linux"',
];
const navigation = (path: string): [string, string[]] => [
  path,
  [
    ...BROWSER,
    "Accept: text/html,application/xhtml+xml,*/*;q=0.8",
    "Upgrade-Insecure-Requests: 1",
    "Sec-Fetch-Site: cross-site",
    "Sec-Fetch-Mode: navigate",
    "Sec-Fetch-User: ?1",
    "Sec-Fetch-Dest: document",
    "Referer: https://news.example/item",
  ],
];
const asset = (path: string): [string, string[]] => [
  path,
  [
    ...BROWSER,
    "Accept: */*",
    "Sec-Fetch-Site: same-origin",
    "Sec-Fetch-Mode: no-cors",
    `Sec-Fetch-Dest: ${path.endsWith("css") ? "style" : path.endsWith("js") ? "script" : "image"}`,
    "Referer: http://site.example/",
  ],
];
const assets = Object.keys(FILES)
  .filter((path) => path !== "index.html")
  .map((path) => asset(`/${path}`));

const ROWS: Record<string, [string, string[]][]> = {
  "a page and its ten assets": [navigation("/"), ...assets],
  "assets alone": assets,
  "pages alone": [navigation("/")],
  "a flood of paths that are none": Array.from({ length: 20_000 }, (_, n) =>
    navigation(`/none-${n}-${"x".repeat(100)}`),
  ),
};

/** wrk asks for them in turn. */
function script(folder: string, host: string, requests: [string, string[]][]): string {
  const file = join(folder, "visits.lua");
  const list = join(folder, "visits.txt");
  const whole = requests.map(([path, headers]) => [`GET ${path} HTTP/1.1`, `Host: ${host}`, ...headers].join("\r\n"));
  writeFileSync(list, whole.join("\r\n\r\n") + "\r\n\r\n");
  writeFileSync(
    file,
    `local all = io.open("${list}", "rb"):read("*a")
     local requests, at = {}, 0
     for one in all:gmatch("(.-)\\r\\n\\r\\n") do requests[#requests + 1] = one .. "\\r\\n\\r\\n" end
     function request() at = at % #requests + 1; return requests[at] end`,
  );
  return file;
}

/** Microseconds of CPU for each request, user and system, all threads of the server. */
function measured(server: Alone, folder: string, requests: [string, string[]][], lasts: number): number {
  const lua = script(folder, server.host, requests);
  const before = cpuTicks(server.pid);
  const wrk = Bun.spawnSync(["wrk", "-t1", "-c64", `-d${lasts}s`, "-s", lua, server.origin]);
  const ticks = cpuTicks(server.pid) - before;
  const asked = Number(/(\d+) requests in/.exec(wrk.stdout.toString())?.[1]);
  if (!wrk.success || !asked) throw new Error(`wrk: ${wrk.stdout}${wrk.stderr}`);
  return (ticks * TICK_US) / asked;
}

const folder = mkdtempSync(join(tmpdir(), "svc-bench-"));
const servers: Alone[] = [];
try {
  const zip = new Uint8Array(zipSync(FILES));
  for (const [name, stats] of [
    ["on", "on"],
    ["off", "off"],
    ["off again", "off"],
  ] as const) {
    servers.push(await startServerAlone(join(folder, name), zip, { SVC_STATS: stats }));
  }
  console.log(
    `| us of CPU a request, wrk -t1 -c64 -d${seconds}s, median of ${rounds} | counting | off | off again | counting / off | off again / off |`,
  );
  console.log("|---|---|---|---|---|---|");
  for (const [name, requests] of Object.entries(ROWS)) {
    if (words.length > 0 && !words.some((word) => name.includes(word))) continue;
    const runs = servers.map((): number[] => []);
    for (const server of servers) measured(server, folder, requests, 2); // caches and the JIT
    for (let round = 0; round < rounds; round++) {
      // Each begins a round in turn: the first one of a round is not always the same.
      for (let i = 0; i < servers.length; i++) {
        const at = (i + round) % servers.length;
        runs[at]!.push(measured(servers[at]!, folder, requests, seconds));
      }
    }
    const ratio = (one: number, other: number) =>
      median(runs[one]!.map((us, round) => us / runs[other]![round]!)).toFixed(3);
    console.log(
      `| ${name} | ${runs.map((us) => median(us).toFixed(2)).join(" | ")} | ${ratio(0, 1)} | ${ratio(2, 1)} |`,
    );
  }
} finally {
  await Promise.all(servers.map((server) => server.stop()));
  rmSync(folder, { recursive: true, force: true });
}
