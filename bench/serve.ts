/** `bun bench/serve.ts [seconds] [rounds] [words of rows…]`: CPU per request of svc beside a bare Bun.serve, one that reads
 *  what the rules make it read, nginx (one worker, open_file_cache, no access log), Caddy and sirv on the same bytes, in
 *  interleaved rounds; all rows, or those whose name has one of the words. Ratios decide; the bare server is the measure.
 *  1 and 3 unless said otherwise: four minutes. For the row with the access log, what reads writes a line, too. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Contender, startBare, startCaddy, startNginx, startSirv, startSvc, type Svc } from "./contenders.ts";
import { type Load, type Measured, measure, median } from "./load.ts";
import { FILES, type Row, ROWS } from "./serve-rows.ts";

const missing = ["wrk", "nginx"].filter((program) => Bun.which(program) === null);
if (process.platform !== "linux") missing.unshift("Linux (CPU time is read from /proc)");
if (missing.length > 0) {
  console.error(`bench/serve.ts needs what is not here: ${missing.join(", ")}`);
  process.exit(1);
}
const [seconds = 1, rounds = 3] = process.argv.slice(2, 4).map(Number);
const words = process.argv.slice(4);
const rows = ROWS.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
const LOOKS = "bare that looks";
const SITES = 10_000;
/** More than are asked for: a page of a new site takes five times as long as one that is kept. */
const FRESH = rows.some(({ once }) => once) ? 15_000 * (seconds * rounds + 1) : 0;

/** Each kind of target at the same host, for a contender that has one alone. */
const sameHost = (host: string) => ({ host, ruled: host, plain: host, shut: host, domain: host });

async function headersFor(row: Row, { origin, host }: Contender): Promise<Record<string, string>> {
  if (!row.conditional) return row.headers ?? {};
  const [target] = row.targets({ ...sameHost(host), former: "", sites: [], fresh: [] });
  const answer = await fetch(origin + target!.path, { headers: { ...row.headers, host } });
  return { ...row.headers, "if-none-match": answer.headers.get("etag")! };
}

/** The bodies as svc sends them, attribution included, so that all send the same bytes. */
async function asServed({ origin, host }: Contender): Promise<Record<string, Uint8Array>> {
  const served = Object.keys(FILES).map(async (path) => {
    const answer = await fetch(`${origin}/${path}`, { headers: { host, "accept-encoding": "identity" } });
    if (answer.status !== 200) throw new Error(`${path} is answered ${answer.status}`);
    return [path, await answer.bytes()] as const;
  });
  return Object.fromEntries(await Promise.all(served));
}

/** Those who write a line of each answer, for the row of that. */
interface Logged {
  svc: Svc;
  looks: Contender;
}

type Results = Map<Row, Measured[][]>;

/** The first round warms up caches and the JIT: every target is asked for once at least. */
function warmUp(pid: number, folder: string, load: Load, asked: number): void {
  for (let from = asked; from < load.targets.length;) {
    from += measure(pid, folder, { ...load, from }, 1).requests;
  }
}

/** Row by row, the contenders in turn: what one row leaves in a cache is not measured with another. */
async function measureAll(folder: string, svc: Svc, logged: Logged, others: Contender[]): Promise<Results> {
  const results: Results = new Map();
  for (const row of rows) {
    const hosts = row.logged ? logged.svc : svc;
    const measured = [svc, ...others].map((): Measured[] => []);
    results.set(row, measured);
    let asked = 0;
    for (let round = -1; round < rounds; round++) {
      for (const [i, other] of [hosts, ...others].entries()) {
        const contender = row.logged && other.name === LOOKS ? logged.looks : other;
        const targets = row.targets(i === 0 ? hosts : { ...hosts, ...sameHost(contender.host), former: "/app.css" });
        const from = row.once && i === 0 ? asked : 0;
        const load = { ...row, origin: contender.origin, targets, from, headers: await headersFor(row, contender) };
        const one = measure(contender.pid, folder, load, round < 0 ? 1 : seconds);
        if (round >= 0) measured[i]!.push(one);
        else if (!row.once) warmUp(contender.pid, folder, load, one.requests);
        if (i === 0) asked += one.requests + 100;
        if (row.once && i === 0 && asked > targets.length) throw new Error("there are too few fresh sites");
      }
    }
  }
  return results;
}

function report(contenders: Contender[], results: Results): void {
  const names = contenders.map(({ name }) => name);
  console.log(
    `| us of CPU (p99 ms), wrk -t1 -c64 -d${seconds}s, median of ${rounds} | ${names.join(" | ")} | svc / bare | aim | svc / one that looks | svc / nginx |`,
  );
  console.log(`|---|${names.map(() => "---|").join("")}---|---|---|---|`);
  for (const [row, measured] of results) {
    const cells = measured.map((runs) => {
      const of = (key: keyof Measured) => median(runs.map((run) => run[key]));
      return `${of("cpu_us").toFixed(1)} (${of("p99_ms").toFixed(1)})`;
    });
    const ratio = (other: number) => {
      const of = measured[0]!.map((run, round) => run.cpu_us / measured[other]![round]!.cpu_us);
      return of.length === 0 ? "–" : median(of).toFixed(2);
    };
    console.log(
      `| ${row.name} | ${cells.join(" | ")} | ${ratio(1)} | ${row.aim?.toFixed(2) ?? "–"} | ${ratio(2)} | ${ratio(3)} |`,
    );
  }
}

const SIRV = join(import.meta.dir, "..", "test", "tools", "node_modules", "sirv");
const folder = mkdtempSync(join(tmpdir(), "svc-bench-"));
const contenders: Contender[] = [];
try {
  const svc = await startSvc(folder, { sites: SITES, fresh: FRESH }, "off");
  contenders.push(svc);
  const logging = await startSvc(folder, { sites: 0, fresh: 0 }, "text");
  contenders.push(logging);
  const others = [await startNginx(folder, await asServed(svc))];
  contenders.push(...others);
  others.unshift(await startBare(folder), await startBare(folder, "looks"));
  const logged = { svc: logging, looks: await startBare(folder, "logs") };
  contenders.push(logged.looks);
  if (Bun.which("caddy") !== null) others.push(await startCaddy(folder));
  if (Bun.which("node") !== null && existsSync(SIRV)) others.push(await startSirv(folder));
  contenders.push(...others);
  if (others.length < 5) console.error("Caddy or sirv is not here: `bun install` in test/tools, and caddy on PATH");
  report([svc, ...others], await measureAll(folder, svc, logged, others));
} finally {
  await Promise.all(contenders.map((contender) => contender.stop()));
  rmSync(folder, { recursive: true, force: true });
}
