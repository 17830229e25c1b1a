/** `bun bench/storm.ts [seconds] [rounds]`: how long pages take at a fixed 400 requests/s while 5 deploys/s of 200 files
 *  (8 MB) arrive, beside a bare Bun.serve that reads the same uploads and throws them away, and one that has their files
 *  unzipped, hashed and flushed by other processes, in rounds that alternate (RELIABILITY 6, second row). Pages are asked for by the clock, so a server that stalls is charged for all that wait. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProcess } from "../test/kit/process.ts";
import { zipOf } from "../test/kit/zip.ts";

const [seconds = 6, rounds = 3] = process.argv.slice(2).map(Number);
const PAGES_PER_SECOND = 400;
const DEPLOYS_PER_SECOND = 5;
const AIM = 2;

interface Target {
  name: string;
  origin: string;
  host: string;
}

interface Storm {
  /** Of each page, from when it was due, milliseconds. */
  pages: number[];
  failed: number;
  /** Statuses of the uploads, how often each. */
  deploys: Record<string, number>;
}

const until = (due: number, begin: number): Promise<void> => Bun.sleep(Math.max(0, begin + due - performance.now()));

async function page({ origin, host }: Target, due: number, storm: Storm): Promise<void> {
  const from = Math.min(due, performance.now()); // a timer may be a little early
  try {
    const answer = await fetch(`${origin}/page.html`, { headers: { host } });
    await answer.arrayBuffer();
    if (answer.status !== 200) storm.failed++;
    storm.pages.push(performance.now() - from);
  } catch {
    storm.failed++;
  }
}

/** Uploads come from a process of their own, so that making them is not measured as waiting for pages. */
async function round(target: Target): Promise<Storm> {
  const storm: Storm = { pages: [], failed: 0, deploys: {} };
  const uploads = Bun.spawn(
    [process.execPath, join(import.meta.dir, "storm-uploads.ts"), target.origin, String(seconds * DEPLOYS_PER_SECOND)],
    { stdin: "pipe", stdout: "pipe", stderr: "inherit" },
  );
  const lines = uploads.stdout.pipeThrough(new TextDecoderStream()).getReader();
  await lines.read(); // they are made
  uploads.stdin.write("go\n");
  uploads.stdin.flush();
  const begin = performance.now();
  const asked: Promise<void>[] = [];
  for (let n = 0; n < seconds * PAGES_PER_SECOND; n++) {
    const due = (n * 1000) / PAGES_PER_SECOND;
    await until(due, begin);
    asked.push(page(target, begin + due, storm));
  }
  await Promise.all(asked);
  storm.deploys = JSON.parse((await lines.read()).value ?? "{}") as Storm["deploys"];
  await uploads.exited;
  return storm;
}

const percentile = (values: number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]!;

const folder = mkdtempSync(join(tmpdir(), "svc-storm-"));
const svc = await startProcess(["--data-dir", join(folder, "data"), "--log", "off"], {
  env: { SVC_RATE_DEPLOY: "off" },
});
const html = `<!doctype html><title>A page</title>${"<p>Some words of a paragraph.</p>".repeat(160)}`;
const deployed = await fetch(`http://127.0.0.1:${svc.port}/sites`, {
  method: "POST",
  headers: { "content-type": "application/zip" },
  body: zipOf({ "index.html": "x", "page.html": html }),
});
const { slug } = (await deployed.json()) as { slug: string };

async function startBare(name: string, ...args: string[]) {
  const command = [process.execPath, join(import.meta.dir, "storm-bare.ts"), ...args];
  const child = Bun.spawn(command, { stdin: "ignore", stdout: "pipe" });
  const { value } = await child.stdout.getReader().read();
  const port = Buffer.from(value!).toString().trim();
  return { child, target: { name, origin: `http://127.0.0.1:${port}`, host: `localhost:${port}` } };
}
mkdirSync(join(folder, "kept"));
const bare = await startBare("bare Bun.serve");
const storing = await startBare("bare that stores", join(folder, "kept"));

const TARGETS: Target[] = [
  bare.target,
  storing.target,
  { name: "svc", origin: `http://127.0.0.1:${svc.port}`, host: `${slug}.localhost:${svc.port}` },
];
const storms = new Map<Target, Storm[]>(TARGETS.map((target) => [target, []]));
for (let n = 0; n < rounds; n++) for (const target of TARGETS) storms.get(target)!.push(await round(target));

console.log("| server | p50 ms | p99 ms | slowest ms | failed pages | uploads |\n|---|---|---|---|---|---|");
const p99: number[] = [];
for (const [{ name }, all] of storms) {
  const pages = all.flatMap((storm) => storm.pages);
  const statuses: Record<string, number> = {};
  for (const { deploys } of all) {
    for (const [status, count] of Object.entries(deploys)) statuses[status] = (statuses[status] ?? 0) + count;
  }
  p99.push(percentile(pages, 0.99));
  const times = [percentile(pages, 0.5), percentile(pages, 0.99), Math.max(...pages)].map((ms) => ms.toFixed(1));
  const failed = all.reduce((sum, storm) => sum + storm.failed, 0);
  const uploads = Object.entries(statuses).map(([status, count]) => `${count} × ${status}`);
  console.log(`| ${name} | ${times.join(" | ")} | ${failed} | ${uploads.join(", ")} |`);
}
const ratios = TARGETS.map((target) => storms.get(target)!.map(({ pages }) => percentile(pages, 0.99)));
const ours = 2;
for (const [which, aim] of [
  [0, `; aim at most ${AIM}`],
  [1, ""],
] as const) {
  const byRound = ratios[ours]!.map((ms, n) => (ms / ratios[which]![n]!).toFixed(2)).join(", ");
  const ratio = (p99[ours]! / p99[which]!).toFixed(2);
  console.log(`\np99 of svc / ${TARGETS[which]!.name}: ${ratio} (by round ${byRound})${aim}`);
}

svc.kill("SIGTERM");
bare.child.kill();
storing.child.kill();
await Promise.all([svc.exited, bare.child.exited, storing.child.exited]);
rmSync(folder, { recursive: true, force: true });
