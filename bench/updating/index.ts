/** One file of 200 changed: what an update sends and how long it takes, as the whole zip, as a plan and a delta, and by
 *  rsync. Interleaved in one run; the client's own work (hashing, zipping, looking through the folder) is in the times. */
import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { deltaEntries, hashFiles, planBody } from "../../src/cli/commands/send-content.ts";
import { zipFiles } from "../../src/client/zip.ts";
import { DELTA } from "../../test/kit/delta.ts";
import { ZIP } from "../../test/kit/server.ts";
import { startRsync } from "./rsync.ts";

const FILES = 200;
const BYTES = 40_000;

type Files = Map<string, Uint8Array<ArrayBuffer>>;
interface Way {
  name: string;
  sent: number[];
  ms: number[];
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

/** Half text, half noise, like a built site. */
const halfNoise = (n: number): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.concat([randomBytes(BYTES / 2), Buffer.alloc(BYTES / 2, `line ${n}\n`)]));

const siteFiles = (): Files =>
  new Map([
    ["index.html", new TextEncoder().encode("<title>site</title>")],
    ...Array.from({ length: FILES - 1 }, (_, n) => [`assets/${n}.bin`, halfNoise(n)] as const),
  ]);

async function writeAll(folder: string, files: Files): Promise<void> {
  for (const [path, bytes] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), bytes);
  }
}

interface Site {
  site_id: string;
  manage_token: string;
}

function client(port: number) {
  return async (path: string, headers: Record<string, string>, body: string | Uint8Array<ArrayBuffer>, site?: Site) => {
    const own = site && { authorization: `Bearer ${site.manage_token}` };
    const init = { method: "POST", headers: { ...headers, ...own }, body };
    const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Site & { need: string[] };
  };
}

type Post = ReturnType<typeof client>;

async function sendWhole(post: Post, site: Site, files: Files): Promise<number> {
  const zip = await zipFiles(files);
  await post(`/sites/${site.site_id}/deploys`, ZIP, zip, site);
  return zip.length;
}

async function sendDelta(post: Post, site: Site, files: Files): Promise<number> {
  const hashed = hashFiles(files);
  const plan = JSON.stringify(planBody(hashed));
  const { need } = await post(`/sites/${site.site_id}/plan`, { "content-type": "application/json" }, plan, site);
  const delta = await zipFiles(deltaEntries(hashed, new Set(need)));
  await post(`/sites/${site.site_id}/deploys`, DELTA, delta, site);
  return plan.length + delta.length;
}

async function timed(way: Way, work: () => Promise<number>): Promise<void> {
  const started = performance.now();
  way.sent.push(await work());
  way.ms.push(performance.now() - started);
}

function row({ name, sent, ms }: Way, whole: Way): string {
  const [bytes, time] = [median(sent), median(ms)];
  const share = (part: number, all: number) => (part / all).toFixed(3);
  return `| ${name} | ${(bytes / 1024).toFixed(1)} KB | ${share(bytes, median(whole.sent))} | ${time.toFixed(1)} ms | ${share(time, median(whole.ms))} |\n`;
}

/** Prints the table. `port`: of a server without limits of rates. */
export async function measureUpdates(port: number, root: string, rounds: number): Promise<void> {
  const post = client(port);
  const folder = join(root, "update");
  const files = siteFiles();
  await writeAll(folder, files);
  const rsync = await startRsync(root);
  const [a, b] = [await post("/sites", ZIP, await zipFiles(files)), await post("/sites", ZIP, await zipFiles(files))];
  await rsync?.sync(folder);
  const way = (name: string): Way => ({ name, sent: [], ms: [] });
  const [zip, delta, synced] = [
    way("the whole zip"),
    way("plan and delta"),
    way(`rsync ${rsync?.version}, its daemon`),
  ];
  for (let round = 0; round < rounds; round++) {
    const changed = `assets/${round % (FILES - 1)}.bin`;
    files.set(changed, halfNoise(round));
    await writeFile(join(folder, changed), files.get(changed)!);
    await timed(zip, () => sendWhole(post, a, files));
    await timed(delta, () => sendDelta(post, b, files));
    const done = await rsync?.sync(folder);
    if (done)
      [synced.sent, synced.ms] = [
        [...synced.sent, done.sent],
        [...synced.ms, done.ms],
      ];
  }
  await rsync?.stop();
  process.stdout.write(
    "\n| one file of 200 (8 MB) changed | sent | of the zip | p50 | of the zip |\n|---|---|---|---|---|\n",
  );
  for (const one of rsync ? [zip, delta, synced] : [zip, delta]) process.stdout.write(row(one, zip));
  if (!rsync) process.stdout.write("\nrsync is not installed here: apt-get install rsync\n");
}
