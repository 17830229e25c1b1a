/** The kill -9 test: deploys and redeploys with the server killed at random moments; after each restart every answered
 *  deploy must be whole and live, and a site serves its last answered version or the one that was in flight, whole. */
import { Database } from "bun:sqlite";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { contentHash } from "../src/version-id.ts";
import { type ServerProcess, startProcess } from "./process.ts";
import { zipOf } from "./zip.ts";

const CLIENTS = 4;
const SITES_PER_CLIENT = 3;
const FILES = 12;

/** Reproducible: the same seed kills at the same moments and deploys the same bytes. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** All files of a version tell its number, so that a mixture of two versions cannot go unseen. */
function contentOf(site: string, version: number): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>([
    ["index.html", Buffer.from(`<title>${site}</title><p>version ${version}.</p>`)],
    ["shared.txt", Buffer.from("the same in every version of every site")],
  ]);
  for (let n = 0; n < FILES; n++) {
    files.set(`data/${n}.bin`, Buffer.from(`${site} ${version} ${n} `.repeat(400 + n * 50)));
  }
  return files;
}

interface TrackedSite {
  name: string;
  site_id: string;
  slug: string;
  manage_token: string;
  /** The last version that was answered 200. */
  acked: number;
  /** A deploy that was sent and not answered: it took effect whole or not at all. */
  in_flight: number | null;
}

const ZIP = { "content-type": "application/zip" };

async function send(server: ServerProcess, path: string, name: string, version: number, token?: string) {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method: "POST",
    body: zipOf(contentOf(name, version)),
    headers: { ...ZIP, ...(token && { authorization: `Bearer ${token}` }) },
  });
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()) as { site_id: string; slug: string; manage_token: string };
}

/** Deploys until the server is gone. What the server refuses while it is alive is a fault; a lost connection is not. */
async function client(
  server: ServerProcess,
  sites: TrackedSite[],
  id: number,
  random: () => number,
  alive: () => boolean,
) {
  while (alive()) {
    try {
      if (sites.length < SITES_PER_CLIENT) {
        const name = `client ${id} site ${sites.length} ${random()}`;
        const made = await send(server, "/sites", name, 1);
        sites.push({ name, ...made, acked: 1, in_flight: null });
        continue;
      }
      const site = sites[Math.floor(random() * sites.length)]!;
      // Sometimes an older version again: its bytes are stored already and only the pointer moves.
      const version = random() < 0.2 ? Math.max(1, site.acked - 1) : site.acked + 1;
      site.in_flight = version;
      await send(server, `/sites/${site.site_id}/deploys`, site.name, version, site.manage_token);
      site.acked = version;
      site.in_flight = null;
    } catch (error) {
      if (alive() && /^\d{3}:/.test(String((error as Error).message))) throw error;
      return;
    }
  }
}

async function get(server: ServerProcess, slug: string, path: string): Promise<Uint8Array> {
  const headers = { host: `${slug}.localhost` };
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { headers });
  if (response.status !== 200) throw new Error(`${slug}${path} answers ${response.status}`);
  return response.bytes();
}

/** I1 and I2, as a reader sees them. */
async function checkServed(server: ServerProcess, site: TrackedSite): Promise<void> {
  const page = Buffer.from(await get(server, site.slug, "/")).toString();
  const live = Number(/version (\d+)\./.exec(page)?.[1]);
  const allowed = [site.acked, ...(site.in_flight === null ? [] : [site.in_flight])];
  if (!allowed.includes(live)) throw new Error(`${site.name} serves version ${live}, allowed are ${allowed}`);
  for (const [path, bytes] of contentOf(site.name, live)) {
    if (path === "index.html") continue; // served with attribution
    const served = await get(server, site.slug, `/${path}`);
    if (Buffer.compare(served, bytes) !== 0) throw new Error(`${site.name} ${path} is not version ${live}'s`);
  }
  site.acked = live;
  site.in_flight = null;
}

/** I3 to I5, as the data directory shows them. */
async function checkStored(data_dir: string): Promise<void> {
  using db = new Database(join(data_dir, "db"), { readonly: true });
  const column = (sql: string) =>
    db
      .query<Record<string, unknown>, []>(sql)
      .all()
      .map((row) => Object.values(row)[0]);
  if (column("PRAGMA integrity_check").join() !== "ok") throw new Error("integrity_check failed");
  if (column("PRAGMA foreign_key_check").length > 0) throw new Error("foreign_key_check failed");
  for (const sha256 of column("select distinct sha256 from files join blobs using (blob_no)") as string[]) {
    const bytes = await Bun.file(join(data_dir, "blobs", sha256.slice(0, 2), sha256)).bytes();
    if (contentHash(bytes) !== sha256) throw new Error(`blob ${sha256} is damaged`);
  }
  const temporary = readdirSync(join(data_dir, "tmp"));
  if (temporary.length > 0) throw new Error(`tmp holds ${temporary.length} files after the start`);
}

export interface CrashReport {
  rounds: number;
  sites: number;
  /** Rounds whose kill met a redeploy that was not answered. */
  met_in_flight: number;
}

/** Throws at the first violation. `flags` and `command` choose the server. */
export async function crashRounds(
  data_dir: string,
  options: { rounds: number; seed: number; command?: string[]; onRound?: (n: number) => void },
): Promise<CrashReport> {
  const random = randomFrom(options.seed);
  const start = () => startProcess(["--data-dir", data_dir, "--log", "off"], options);
  const sites: TrackedSite[][] = Array.from({ length: CLIENTS }, () => []);
  let met_in_flight = 0;
  let server = await start();
  for (let round = 0; round < options.rounds; round++) {
    let alive = true;
    const clients = sites.map((own, id) => client(server, own, id, random, () => alive));
    await Bun.sleep(50 + random() * 400);
    alive = false;
    server.kill("SIGKILL");
    await server.exited;
    await Promise.all(clients);
    if (sites.flat().some((site) => site.in_flight !== null)) met_in_flight++;
    const before = performance.now();
    server = await start();
    if (performance.now() - before > 10_000) throw new Error("the restart took over ten seconds");
    await checkStored(data_dir);
    for (const site of sites.flat()) await checkServed(server, site);
    options.onRound?.(round + 1);
  }
  server.kill("SIGTERM");
  if ((await server.exited) !== 0) throw new Error("the server did not drain");
  return { rounds: options.rounds, sites: sites.flat().length, met_in_flight };
}
