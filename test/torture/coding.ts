/** Codings on demand, asked for by strangers: `bun test/torture/coding.ts [versions] [sites]`, 41 and 60 unless said
 *  otherwise: about two minutes. Needs Linux. A 9 MB text of so many versions is asked for in three codings at once by
 *  clients that never read it: the server's memory, its work and another site's page must not notice. Then every file of
 *  so many sites (100 of 20 KB each) is read in every coding: the memory stays under 256 MB. */
import { startProcess, temporaryFolder } from "../kit/process.ts";
import { askWithoutReading, CODINGS, crawl, deploy, get, peakOf, prose, workOf } from "../kit/coding-attacks.ts";
import { MB, progress, residentBytes } from "./parts/figures.ts";

const [versions = 41, sites = 60] = process.argv.slice(2).map(Number);
const LIMIT = { flood_mb: 100, flood_cpu_s: 5, page_ms: 1_000, crawl_mb: 256 };
const FILES = 100;

const say = (line: string) => void process.stdout.write(`${line}\n`);
const mb = (bytes: number) => Math.round(bytes / MB);
const violations: string[] = [];
function expectAtMost(what: string, value: number, limit: number): void {
  say(`${what}: ${value.toFixed(value < 10 ? 1 : 0)} (limit ${limit})`);
  if (value > limit) violations.push(what);
}

/** Restarted in between, so that nothing is kept from the deploys. */
async function flood(data_dir: string): Promise<void> {
  const first = await startProcess(["--data-dir", data_dir, "--log", "off"]);
  const large = prose(9_000_000, 1);
  let site = await deploy(first, { "index.html": "0", "large.json": large });
  const slugs = [`${site.version_id}--${site.slug}`];
  for (let n = 1; n < versions; n++) {
    progress(`version ${n}`);
    site = await deploy(first, { "index.html": String(n), "large.json": large }, site);
    slugs.push(`${site.version_id}--${site.slug}`);
  }
  const other = await deploy(first, { "index.html": prose(30_000, 2) });
  await first.end();
  const server = await startProcess(["--data-dir", data_dir, "--log", "off"]);
  await (await get(server, other.slug, "/nowhere", "br")).arrayBuffer();
  const before = residentBytes(server.pid);
  using peak = peakOf(server);
  let waited = 0;
  const work = await workOf(server, async () => {
    const asked = askWithoutReading(server, slugs, "/large.json");
    await Bun.sleep(300);
    const started = performance.now();
    await (await get(server, other.slug, "/", "br")).arrayBuffer();
    waited = performance.now() - started;
    const sockets = await asked;
    await Bun.sleep(2_000);
    for (const socket of sockets) socket.destroy();
  });
  say(`${slugs.length * CODINGS.length} GETs of 9 MB without credentials; ${mb(before)} MB before`);
  expectAtMost("MB more at most", mb(peak.bytes() - before), LIMIT.flood_mb);
  expectAtMost("seconds of processor time", work, LIMIT.flood_cpu_s);
  expectAtMost("ms until another site's page", waited, LIMIT.page_ms);
  await server.end();
}

async function crawlAll(data_dir: string): Promise<void> {
  const first = await startProcess(["--data-dir", data_dir, "--log", "off"]);
  const slugs: string[] = [];
  const paths = Array.from({ length: FILES }, (_, n) => `/f${n}.js`);
  for (let n = 0; n < sites; n++) {
    progress(`site ${n}`);
    const files = paths.map((path, f) => [path.slice(1), prose(20_000, n * FILES + f + 10)] as const);
    slugs.push((await deploy(first, { "index.html": "x", ...Object.fromEntries(files) })).slug);
  }
  await first.end();
  const server = await startProcess(["--data-dir", data_dir, "--log", "off"]);
  for (const codings of [["br"], CODINGS]) {
    using peak = peakOf(server);
    const started = performance.now();
    const read = await crawl(server, slugs, paths, codings);
    const rate = read / ((performance.now() - started) / 1000);
    expectAtMost(
      `MB at most in a crawl of ${read} in ${codings.join(", ")} (${rate.toFixed(0)}/s)`,
      mb(peak.bytes()),
      LIMIT.crawl_mb,
    );
  }
  await server.end();
}

await using dir = await temporaryFolder();
await flood(`${dir.path}/flood`);
await crawlAll(`${dir.path}/crawl`);
say(violations.length === 0 ? "no violation" : `violated: ${violations.join("; ")}`);
process.exitCode = violations.length === 0 ? 0 : 1;
