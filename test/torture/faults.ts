/** Every system call of a deploy fails or kills once, in turn: `bun test/torture/faults.ts [most calls]`.
 *  Needs Linux and strace. The store must keep I1 to I5, and the next deploy must work: after an error without a restart
 *  (but for an error of the database's own flush, which ends the server with 70), after a kill with one. */
import { type ServerProcess, startProcess, temporaryFolder } from "../kit/process.ts";
import { inject, needStrace } from "./parts/strace.ts";
import { checkServed, checkStored, send, type TrackedSite } from "../kit/tracked-sites.ts";

const MOST = Number(process.argv[2] ?? 12);
const KILLS = ["write", "pwrite64", "fsync", "rename", "unlink", "ftruncate", "openat", "close"];
const ERRORS = [
  "fsync:error=EIO",
  "rename:error=EIO",
  "pwrite64:error=ENOSPC",
  "write:error=ENOSPC",
  "write:error=EIO",
  "openat:error=EMFILE",
];

needStrace("faults");

const start = (data_dir: string) =>
  startProcess(["--data-dir", data_dir, "--log", "off"], { env: { SVC_RATE_DEPLOY: "off" } });

async function newSite(server: ServerProcess, name: string): Promise<TrackedSite> {
  return { name, ...(await send(server, "/sites", name, 1)), acked: 1, in_flight: null };
}

async function redeploy(server: ServerProcess, site: TrackedSite): Promise<string> {
  site.in_flight = site.acked + 1;
  try {
    await send(server, `/sites/${site.site_id}/deploys`, site.name, site.in_flight, site.manage_token);
    site.acked = site.in_flight;
    site.in_flight = null;
    return "200";
  } catch (error) {
    return String((error as Error).message).slice(0, 3);
  }
}

/** One fault in one deploy. Returns what the deploy was answered. */
async function strike(data_dir: string, rule: string): Promise<string> {
  let server = await start(data_dir);
  const site = await newSite(server, `${rule} ${Math.random()}`);
  const fault = await inject(server, rule);
  const answer = await redeploy(server, site);
  await fault.detach();
  const exit = await Promise.race([server.exited, Bun.sleep(700).then(() => null)]);
  if (exit !== null) {
    if (rule.includes("error") && exit !== 70) throw new Error(`${rule}: the server ended with ${exit}`);
    server = await start(data_dir);
    await checkStored(data_dir);
  }
  await checkServed(server, site);
  const next = await redeploy(server, site);
  if (next !== "200") throw new Error(`${rule}: the deploy after it was answered ${next}`);
  await checkServed(server, site);
  server.kill("SIGKILL");
  await server.exited;
  return exit === null ? answer : `${answer}, ended ${exit}`;
}

await using dir = await temporaryFolder();
const rules = [
  ...KILLS.flatMap((call) => Array.from({ length: MOST }, (_, n) => `${call}:signal=KILL:when=${n + 1}`)),
  ...ERRORS.flatMap((error) => Array.from({ length: MOST }, (_, n) => `${error}:when=${n + 1}`)),
];
const seen = new Map<string, number>();
for (const rule of rules) {
  const answer = `${rule.split(":when")[0]} → ${await strike(dir.path, rule)}`;
  seen.set(answer, (seen.get(answer) ?? 0) + 1);
}
for (const [answer, count] of seen) process.stdout.write(`${String(count).padStart(4)} ${answer}\n`);
process.stdout.write(`no violation in ${rules.length} faults\n`);
