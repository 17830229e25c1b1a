/** What one stranger can store, and what lists cost: `bun test/torture/storage.ts [seconds] [checkout]`, 8 seconds an attack
 *  unless said otherwise, on the server of another checkout to compare; about a minute. The attacks, from one address and
 *  with the settings that a server has by default: new sites and redeploys of 10 MB that come as 10 KB each; the same
 *  without rates, so that the quota alone stands; redeploys of a docs site of which one title changes; redeploys of a page,
 *  as fast as they go; and eight readers of the record of a site with 204,000 versions, while pages are asked for. Where the
 *  kernel allows it (Linux, root), files of a byte on a disk with few inodes, too. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { openFile } from "../kit/database.ts";
import { operator } from "../kit/operator.ts";
import { type ServerProcess, startProcess, temporaryFolder } from "../kit/process.ts";
import { zipOf } from "../kit/zip.ts";
import { makeDisk, whyNot } from "./parts/disk.ts";
import { MB, progress } from "./parts/figures.ts";

const seconds = Number(process.argv[2] ?? 8);
const OWN = join(import.meta.dir, "..", "..");
const checkout = process.argv[3] ?? OWN;

/** The harness of the tests switches them off; these are the defaults. */
const QUOTAS = { SVC_QUOTA_ADDRESS: "500m", SVC_QUOTA_ACCOUNT: "5g", SVC_DISK_HIGH: "90%" };
const DEFAULTS = {
  ...QUOTAS,
  SVC_RATE_DEPLOY: "10/1m,60/1h",
  SVC_RATE_REDEPLOY: "30/1m,300/1h",
  SVC_RATE_OWNED: "60/1m,1200/1h",
};
const NO_RATES = { ...QUOTAS, SVC_RATE_DEPLOY: "off", SVC_RATE_REDEPLOY: "off", SVC_RATE_OWNED: "off" };

interface Site {
  site_id: string;
  slug: string;
  manage_token: string;
}

interface World {
  server: ServerProcess;
  data_dir: string;
}

async function inWorld<T>(env: Record<string, string>, attack: (world: World) => Promise<T>, on?: string): Promise<T> {
  await using dir = await temporaryFolder();
  const data_dir = join(on ?? dir.path, "data");
  const command = [process.execPath, join(checkout, "server.ts")];
  const server = await startProcess(["--data-dir", data_dir, "--log", "off"], { command, env });
  try {
    return await attack({ server, data_dir });
  } finally {
    await server.end();
  }
}

let uploaded = 0;

/** A new site, or the next version of `site`. */
async function deploy({ server }: World, files: Record<string, string>, site?: Site, token?: string) {
  const body = zipOf(files);
  uploaded += body.length;
  const bearer = site?.manage_token ?? token;
  const headers = { "content-type": "application/zip", ...(bearer && { authorization: `Bearer ${bearer}` }) };
  const path = site ? `/sites/${site.site_id}/deploys` : "/sites";
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { method: "POST", body, headers });
  return { status: response.status, body: (await response.json()) as Site & { code?: string } };
}

const stored = ({ data_dir }: World): number =>
  readdirSync(join(data_dir, "blobs"), { recursive: true })
    .map((name) => statSync(join(data_dir, "blobs", String(name))))
    .reduce((sum, found) => sum + (found.isFile() ? found.size : 0), 0);

/** Does it again and again until the time is up, it was done often enough, or it is refused; how many were taken, and what
 *  ended it. */
async function asLongAs(once: (n: number) => Promise<{ status: number; body: { code?: string } }>, most = Infinity) {
  const end = performance.now() + (most === Infinity ? seconds * 1000 : Infinity);
  let taken = 0;
  for (let n = 0; performance.now() < end && n < most; n++) {
    const { status, body } = await once(n);
    if (status !== 200) return { taken, ended_by: body.code ?? String(status) };
    progress(`${++taken} taken`);
  }
  return { taken, ended_by: "nothing" };
}

const violations: string[] = [];
const say = (line: string): void => void process.stdout.write(`${line}\n`);
function expectAtMost(what: string, found: number, limit: number): void {
  if (found > limit) violations.push(`${what}: ${Math.round(found)} of at most ${limit}`);
}

async function expectSound({ data_dir }: World): Promise<void> {
  if (checkout !== OWN) return; // its database is another program's
  const { code, stdout } = await operator(data_dir, ["verify"]);
  if (code !== 0) violations.push(`verify: ${stdout}`);
}

/** 10 MB of which the zip is 10 KB, other bytes each time. */
const large = (n: number) => ({
  "index.html": `<title>${n}</title>`,
  "large.txt": String(n).padEnd(10 * MB - 100, " "),
});

async function byTheZip(world: World): Promise<void> {
  uploaded = 0;
  const first = await deploy(world, large(0));
  const sites = await asLongAs((n) => deploy(world, large(n + 1)));
  const redeploys = await asLongAs((n) => deploy(world, large(n + 100), first.body));
  const [up, held] = [Math.round(uploaded / 1024), Math.round(stored(world) / MB)];
  say(
    `10 MB in a zip of 10 KB: ${1 + sites.taken} sites (then ${sites.ended_by}), ${redeploys.taken} redeploys ` +
      `(then ${redeploys.ended_by}); ${up} KB uploaded, ${held} MB stored`,
  );
  expectAtMost("sites", 1 + sites.taken, 10);
  expectAtMost("redeploys", redeploys.taken, 30);
  expectAtMost("MB stored", held, 500);
}

async function withoutRates(world: World): Promise<void> {
  const first = await deploy(world, large(0));
  const { taken, ended_by } = await asLongAs((n) => deploy(world, large(n + 1), n % 2 ? first.body : undefined), 80);
  const held = Math.round(stored(world) / MB);
  say(`the same without rates: ${1 + taken} deploys, then ${ended_by}; ${held} MB stored`);
  expectAtMost("MB stored without rates", held, 500);
  await expectSound(world);
}

const docs = (n: number) => ({
  ...Object.fromEntries(Array.from({ length: 150 }, (_, page) => [`p${page}.md`, `# Page ${page}\n`])),
  "z.md": `# Title ${n}\n`,
});

async function byTitles(world: World): Promise<void> {
  const { body: site } = await deploy(world, docs(0));
  uploaded = 0;
  const before = stored(world);
  const { taken, ended_by } = await asLongAs((n) => deploy(world, docs(n + 1), site));
  const [up, made] = [Math.round(uploaded / 1024), Math.round((stored(world) - before) / MB)];
  say(
    `a docs site of which one title changes: ${taken} redeploys, then ${ended_by}; ${up} KB uploaded, ${made} MB stored`,
  );
  expectAtMost("redeploys of the docs site", taken, 30);
}

async function byVersions(world: World): Promise<void> {
  const { body: site } = await deploy(world, { "index.html": "0" });
  const { taken, ended_by } = await asLongAs((n) => deploy(world, { "index.html": `${n + 1}` }, site));
  say(`redeploys of a page, one after the other: ${taken} versions, then ${ended_by}`);
  expectAtMost("versions", taken, 30);
}

const VERSIONS = 204_000;

/** As so many deploys would leave them, but for their files. */
function addHistory({ data_dir }: World, { site_id }: Site): void {
  using db = openFile(data_dir, "db", false);
  db.run(
    `with recursive n(n) as (select 1 union all select n + 1 from n where n < ?)
     insert into versions (site_id, version_id, digest, title, created_at, files, bytes, spa_enabled, spa_rule,
       live_since, listed_no)
     select ?, printf('%016x', n), '', 'a title', '2026-11-22T00:00:00.000Z', 1, 1, 0, 'none', 1, n + 1 from n`,
    [VERSIONS, site_id],
  );
}

async function byReading(world: World): Promise<void> {
  const { body: site } = await deploy(world, { "index.html": "page" });
  addHistory(world, site);
  const { port } = world.server;
  const headers = { authorization: `Bearer ${site.manage_token}` };
  let [bytes, reading, longest] = [0, 8, 0];
  const readers = Array.from({ length: reading }, async () => {
    const response = await fetch(`http://127.0.0.1:${port}/sites/${site.site_id}`, { headers });
    bytes = (await response.bytes()).length;
    reading--;
  });
  while (reading > 0) {
    const from = performance.now();
    await fetch(`http://127.0.0.1:${port}/`, { headers: { host: `${site.slug}.localhost` } });
    longest = Math.max(longest, performance.now() - from);
  }
  await Promise.all(readers);
  say(
    `eight readers of ${VERSIONS} versions: ${Math.round(bytes / 1024)} KB each; a page waits ${Math.round(longest)} ms at most`,
  );
  expectAtMost("KB of a record", bytes / 1024, 200);
}

/** Files of a byte: 200 inodes a deploy. */
const tiny = (n: number) => Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`${i}.txt`, `${n} ${i}`]));

async function byInodes(world: World): Promise<void> {
  const json = { "content-type": "application/json" };
  const who = JSON.stringify({ email: "inodes@example.org", password: "correct horse battery" });
  const signup = await fetch(`http://127.0.0.1:${world.server.port}/auth/signup`, {
    method: "POST",
    headers: json,
    body: who,
  });
  const { session_token } = (await signup.json()) as { session_token: string };
  const unowned = await asLongAs((n) => deploy(world, tiny(n)), 200);
  const owned = await asLongAs((n) => deploy(world, tiny(10_000 + n), undefined, session_token), 200);
  say(
    `200 files of a byte on a disk of 20,000 inodes: ${unowned.taken} sites without an owner (then ${unowned.ended_by}), ` +
      `${owned.taken} with one (then ${owned.ended_by})`,
  );
  for (const { ended_by } of [unowned, owned]) if (ended_by !== "storage_full") violations.push(`inodes: ${ended_by}`);
  await expectSound(world);
}

await inWorld(DEFAULTS, byTheZip);
await inWorld(NO_RATES, withoutRates);
await inWorld(DEFAULTS, byTitles);
await inWorld(DEFAULTS, byVersions);
await inWorld(DEFAULTS, byReading);
const reason = whyNot("tmpfs");
if (reason) say(`files of a byte on a disk with few inodes: not tried, ${reason}`);
else {
  await using dir = await temporaryFolder();
  await using disk = makeDisk(dir.path, "tmpfs", "1g", { inodes: 20_000 });
  await inWorld(NO_RATES, byInodes, disk.path);
}
for (const violation of violations) say(`VIOLATION ${violation}`);
say(violations.length === 0 ? "no violation" : "a limit is passed");
if (violations.length > 0) process.exitCode = 1;
