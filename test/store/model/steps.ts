/** One step of a run: operations side by side, perhaps beside a sweep or a backup, perhaps with a process that stands still
 *  or is killed, perhaps ended by kill -9; or time. */
import { readdirSync, statSync } from "node:fs";
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { operate } from "../../kit/operator.ts";
import { type Operation, perform } from "./operations.ts";
import { checkPreview, settlePreview } from "./previews.ts";
import { ask, checkSite, checkVersions, judge, Violation } from "./reading.ts";
import { alive, begin, type ModelSite, type Seen, settle } from "./state.ts";
import type { World } from "./world.ts";

export interface Step {
  operations: Operation[];
  beside: "sweep" | "backup" | null;
  /** Milliseconds until kill -9; null: none. */
  crash_after: number | null;
  /** What happens to one of the server's processes after so many milliseconds. */
  harm: { what: "stop" | "kill deploy" | "kill worker"; after: number; pick: number } | null;
  /** Milliseconds that the clock jumps ahead once all is done. */
  age: number;
}

/** An upload may be on its way for as long: its files are no orphans yet (RELIABILITY 2, G1). */
const HOUR_MS = 3_600_000;
const CLOCK_BEHIND = /clock is behind/;

async function sweep(world: World, crashed: () => boolean, alone: boolean): Promise<void> {
  const began = world.now();
  const { code, stderr } = await world.operate("gc");
  if (CLOCK_BEHIND.test(stderr)) return void world.refused_sweeps++;
  if (code !== 0 && !crashed()) throw new Violation(`a sweep ended with ${code}: ${stderr}`);
  if (code === 0 && alone) checkOrphans(world, began);
}

/** After a sweep with nothing else under way no file is left that nothing names, once it is over an hour old. */
function checkOrphans({ data_dir }: World, swept_at: number): void {
  using db = new Database(join(data_dir, "db"), { readonly: true });
  const rows = db
    .query<{ sha256: string }, []>("select distinct sha256 from files join blobs using (blob_no)")
    .all()
    .map(({ sha256 }) => sha256);
  const named = new Set(rows);
  const blobs = join(data_dir, "blobs");
  const stored = readdirSync(blobs).flatMap((folder) => readdirSync(join(blobs, folder)));
  const isOld = (sha256: string) => statSync(join(blobs, sha256.slice(0, 2), sha256)).mtimeMs <= swept_at - HOUR_MS;
  const missing = rows.filter((sha256) => !stored.includes(sha256));
  if (missing.length > 0) throw new Violation(`${missing.length} blobs that versions name are gone`);
  const held = db.query<{ n: number }, []>("select count(*) as n from holds").get()!.n > 0;
  const orphans = stored.filter((sha256) => !named.has(sha256) && isOld(sha256));
  if (!held && orphans.length > 0) throw new Violation(`a sweep left ${orphans.length} orphans`);
}

/** Backs up, restores elsewhere, and reads every site there: each shows what it showed at some moment of the backup. */
async function backup(world: World, crashed: () => boolean, turn: number): Promise<void> {
  const folder = join(world.folder, `backup-${turn}`);
  const restored = join(world.folder, `restored-${turn}`);
  const known = [...world.sites];
  const from = performance.now();
  const { code, stderr } = await world.operate("backup", folder);
  const until = performance.now();
  if (code !== 0 && crashed()) return;
  if (code !== 0) throw new Violation(`a backup ended with ${code}: ${stderr}`);
  await operate(restored, "restore", folder);
  const server = await world.serve(restored);
  try {
    for (const site of known) {
      for (const path of ["index.html", "data/noise.bin"]) {
        const { seen } = await ask({ port: server.port, workers: 1 }, site, path);
        // By now it may have expired there too, although it was alive when it was copied.
        if (seen !== "expired" || site.expires_at === null) judge(site, `${path} of a backup`, { seen, from, until });
      }
    }
  } finally {
    server.kill("SIGKILL");
    await server.exited;
  }
}

/** Each site once in a step, so that the model knows what each operation meets. */
function taker(sites: readonly ModelSite[]): (index: number) => ModelSite | null {
  const left = [...sites];
  return (index) => (left.length === 0 ? null : left.splice(index % left.length, 1)[0]!);
}

/** After a crash: what was not answered took effect whole or not at all; which of the two, the server itself tells. */
async function settleAfterCrash(world: World, site: ModelSite): Promise<void> {
  const { seen } = await ask(world, site, "index.html");
  judge(site, "index.html after a crash", { seen, from: performance.now(), until: performance.now() });
  settle(site, seen as Seen);
  if (typeof seen !== "number") return void (site.end = seen as "expired" | "deleted");
  site.live = seen;
  const response = await fetch(`http://127.0.0.1:${world.port}/sites/${site.site_id}`, {
    headers: { authorization: `Bearer ${site.manage_token}` },
    keepalive: world.workers === 1,
  });
  if (response.status !== 200) throw new Violation(`${site.slug}'s token is answered ${response.status} after a crash`);
  await adopt(world, site, (await response.json()) as SiteRecord);
}

interface SiteRecord {
  live_version_id: string;
  expires_at: number | null;
  owner_account_id?: string;
  versions: { version_id: string }[];
}

/** An owner or an expiry, never neither (K22); a version that was on its way is there whole or not. */
async function adopt(world: World, site: ModelSite, record: SiteRecord): Promise<void> {
  const owned = record.owner_account_id !== undefined;
  if (owned !== (record.expires_at === null))
    throw new Violation(`${site.slug} has an owner and an expiry, or neither`);
  if (site.owner !== null && !owned) throw new Violation(`${site.slug} lost its owner`);
  site.versions.set(site.live, record.live_version_id);
  forgetPruned(world, site, record);
  if (owned && site.owner === null) site.owner = await ownerOf(world, site);
  site.expires_at = record.expires_at;
}

/** Only the oldest beyond what is kept may be gone, and one whose deletion was sent. */
function forgetPruned({ keep }: World, site: ModelSite, { versions }: SiteRecord): void {
  const stored = new Set(versions.map(({ version_id }) => version_id));
  for (const [version, version_id] of [...site.versions]) {
    if (stored.has(version_id)) continue;
    const pruned = keep !== null && site.versions.size > keep;
    if (version === site.live || !(pruned || version === site.dropping)) {
      throw new Violation(`${site.slug} has lost version ${version}`);
    }
    site.versions.delete(version);
  }
}

async function ownerOf(world: World, site: ModelSite): Promise<number> {
  for (const [n, session] of world.sessions.entries()) {
    const headers = { authorization: `Bearer ${session}` };
    const response = await fetch(`http://127.0.0.1:${world.port}/sites/${site.site_id}`, {
      headers,
      keepalive: world.workers === 1,
    });
    if (response.status === 200) return n;
  }
  throw new Violation(`${site.slug} belongs to nobody`);
}

/** What the API says of a site, with nothing under way. */
async function checkRecord(world: World, site: ModelSite): Promise<void> {
  const headers = { authorization: `Bearer ${site.manage_token}` };
  const response = await fetch(`http://127.0.0.1:${world.port}/sites/${site.site_id}`, {
    headers,
    keepalive: world.workers === 1,
  });
  if (response.status !== (alive(site) ? 200 : 404)) throw new Violation(`${site.slug} is answered ${response.status}`);
  if (!alive(site)) return;
  const record = (await response.json()) as SiteRecord;
  const found = [record.live_version_id, record.expires_at, record.versions.map((one) => one.version_id).toSorted()];
  const expected = [site.versions.get(site.live), site.expires_at, [...site.versions.values()].toSorted()];
  if (!Bun.deepEquals(found, expected)) {
    throw new Violation(`${site.slug}: ${JSON.stringify(found)}, the model says ${JSON.stringify(expected)}`);
  }
}

/** The clock jumps: what is due is gone from the next request on. */
async function age(world: World, ms: number): Promise<void> {
  const then = world.now() + ms;
  const due = world.sites.filter((site) => alive(site) && site.expires_at !== null && site.expires_at <= then);
  for (const site of due) begin(site, "expired");
  world.advance(ms);
  for (const site of due) {
    site.end = "expired";
    settle(site, "expired");
  }
  // Sessions end 90 days after their last use.
  for (const token of world.sessions) {
    const headers = { authorization: `Bearer ${token}` };
    await fetch(`http://127.0.0.1:${world.port}/account`, { headers, keepalive: world.workers === 1 });
  }
}

async function harm(world: World, { what, after, pick }: NonNullable<Step["harm"]>): Promise<void> {
  await Bun.sleep(after);
  if (world.port === null) return; // all of it was killed
  if (what === "stop") await world.standStill(50 + pick);
  else if (what === "kill deploy") await world.killDeploy(pick);
  else await world.killWorker(pick);
}

export async function takeStep(world: World, step: Step, turn: number): Promise<void> {
  const { operations, beside, crash_after } = step;
  world.harmed = step.harm !== null && step.harm.what !== "stop";
  const take = taker(world.sites);
  for (const site of world.sites) [site.maybe, site.dropping] = [null, null];
  let crashed = false;
  const under_way = operations.map((operation) => perform(world, operation, take));
  if (beside === "sweep") under_way.push(sweep(world, () => crashed, operations.length === 0));
  if (beside === "backup") under_way.push(backup(world, () => crashed, turn));
  if (step.harm !== null) under_way.push(harm(world, step.harm));
  if (crash_after !== null) {
    await Bun.sleep(crash_after);
    crashed = true;
    await world.crash();
  }
  const ended = await Promise.allSettled(under_way);
  if (crashed) await world.restart();
  if (crashed || world.harmed) {
    for (const site of world.sites) {
      await settleAfterCrash(world, site);
      await settlePreview(world, site);
    }
  }
  for (const one of ended) if (one.status === "rejected") throw one.reason;
  if (step.age > 0) await age(world, step.age);
  for (const site of world.sites) {
    await checkSite(world, site);
    await checkPreview(world, site);
    await checkRecord(world, site);
  }
}

/** Every stored version of every site, at the end of a run. */
export async function checkAll(world: World): Promise<void> {
  for (const site of world.sites) await checkVersions(world, site);
}

/** What the service itself finds wrong: with what quotas count, too. */
export async function checkFigures({ data_dir }: World): Promise<void> {
  const { code, stdout, stderr } = await operate(data_dir, "verify");
  if (code !== 0) throw new Violation(`verify ended with ${code}: ${stdout}${stderr}`);
}
