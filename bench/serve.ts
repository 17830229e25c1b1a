/** `bun bench/serve.ts [seconds] [rounds]`: requests per second and CPU per request of svc beside nginx (one worker,
 *  open_file_cache, no access log) and a bare Bun.serve, on the same bytes, in interleaved rounds. Ratios decide. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Contender, startBare, startNginx, startSvc } from "./contenders.ts";
import { type Measured, measure, median } from "./load.ts";

const missing = ["wrk", "nginx"].filter((program) => Bun.which(program) === null);
if (process.platform !== "linux") missing.unshift("Linux (CPU time is read from /proc)");
if (missing.length > 0) {
  console.error(`bench/serve.ts needs what is not here: ${missing.join(", ")}`);
  process.exit(1);
}
const [seconds = 2, rounds = 5] = process.argv.slice(2).map(Number);

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const words = (count: number): string =>
  Array.from({ length: count }, (_, i) => `<p>Paragraph ${i} of ${(i * 7919) % 997} words.</p>`).join("\n");
const rules = (count: number): string =>
  Array.from(
    { length: count },
    (_, i) => `.rule-${i} { margin: ${(i * 31) % 97}px; color: #${(i * 7919) % 999}; }`,
  ).join("\n");
const html = (title: string, body: string): Uint8Array =>
  bytesOf(`<!doctype html><html lang="en"><head><title>${title}</title></head><body>${body}</body></html>`);

/** Beyond what is kept in memory, and of a type that is not compressed. */
const noise = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => (i * 2_654_435_761) >>> 24);

const deployed: Record<string, Uint8Array> = {
  "index.html": html("Bench", "Bench"),
  "page.html": html("A page", words(130)),
  "404.html": html("Not here", "Not here"),
  "app.css": bytesOf(rules(400)),
  "large.bin": noise(512 * 1024),
};

interface Row {
  name: string;
  path: string;
  headers: Record<string, string>;
  conditional?: boolean;
  missing?: boolean;
  /** Of nginx's CPU per request; null where none was set. */
  aim: number | null;
}
const ROWS: Row[] = [
  { name: "5 KB page", path: "/page.html", headers: {}, aim: 0.9 },
  { name: "compressed stylesheet", path: "/app.css", headers: { "accept-encoding": "gzip" }, aim: 1 },
  { name: "304", path: "/page.html", headers: {}, conditional: true, aim: 1.25 },
  { name: "512 KB download", path: "/large.bin", headers: {}, aim: 1.3 },
  { name: "404 with 404.html", path: "/nowhere.html", headers: {}, missing: true, aim: null },
];

const headersFor = async (row: Row, { origin, host }: Contender): Promise<Record<string, string>> => {
  if (!row.conditional) return row.headers;
  const answer = await fetch(origin + row.path, { headers: { ...row.headers, host } });
  return { ...row.headers, "if-none-match": answer.headers.get("etag")! };
};

/** The bodies as svc sends them, attribution included, so that all three send the same bytes. */
async function asServed({ origin, host }: Contender): Promise<Record<string, Uint8Array>> {
  const served = Object.keys(deployed).map(async (path) => {
    const answer = await fetch(`${origin}/${path}`, { headers: { host, "accept-encoding": "identity" } });
    if (answer.status !== 200) throw new Error(`${path} is answered ${answer.status}`);
    return [path, await answer.bytes()] as const;
  });
  return Object.fromEntries(await Promise.all(served));
}

async function measureAll(contenders: Contender[]): Promise<Map<Row, Measured[][]>> {
  const results = new Map<Row, Measured[][]>(ROWS.map((row) => [row, contenders.map(() => [])]));
  for (let round = -1; round < rounds; round++) {
    for (const row of ROWS) {
      for (const [i, contender] of contenders.entries()) {
        const load = {
          url: contender.origin + row.path,
          host: contender.host,
          headers: await headersFor(row, contender),
          missing: row.missing,
        };
        const measured = measure(contender.pid, load, round < 0 ? 1 : seconds);
        // The first round warms up caches and the JIT.
        if (round >= 0) results.get(row)![i]!.push(measured);
      }
    }
  }
  return results;
}

function report(contenders: Contender[], results: Map<Row, Measured[][]>): void {
  console.log(
    `| wrk -t1 -c64 -d${seconds}s, median of ${rounds} rounds | ${contenders.map((c) => `${c.name} req/s, CPU us, p99 ms`).join(" | ")} | svc/nginx CPU | bare/nginx CPU | aim |`,
  );
  console.log(`|---|${contenders.map(() => "---|").join("")}---|---|---|`);
  for (const [row, measured] of results) {
    const cells = measured.map((runs) => {
      const of = (key: keyof Measured) => median(runs.map((run) => run[key]));
      return `${of("requests_per_second").toFixed(0)}, ${of("cpu_us").toFixed(1)}, ${of("p99_ms").toFixed(1)}`;
    });
    const ratio = (i: number) => median(measured[i]!.map((run, round) => run.cpu_us / measured[1]![round]!.cpu_us));
    console.log(
      `| ${row.name} | ${cells.join(" | ")} | ${ratio(0).toFixed(2)} | ${ratio(2).toFixed(2)} | ${row.aim ?? "–"} |`,
    );
  }
}

const folder = mkdtempSync(join(tmpdir(), "svc-bench-"));
const contenders: Contender[] = [];
try {
  const svc = await startSvc(folder, deployed);
  contenders.push(svc);
  contenders.push(await startNginx(folder, await asServed(svc)), await startBare(folder));
  report(contenders, await measureAll(contenders));
} finally {
  await Promise.all(contenders.map((contender) => contender.stop()));
  rmSync(folder, { recursive: true, force: true });
}
