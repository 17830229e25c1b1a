/** BEYOND 11, bounds: what counting costs a process in memory while strangers ask for ever other names. Linux: /proc tells it. */
import { existsSync, readFileSync } from "node:fs";
import { expect, setDefaultTimeout, test } from "bun:test";
import { openFile } from "../kit/database.ts";
import { local, startProcess, temporaryFolder } from "../kit/process.ts";
import { callsOf, slugOf } from "../kit/server.ts";
import { NAVIGATION } from "./visiting.ts";

setDefaultTimeout(300_000);

const SITES = 60;
const VISITS = 60_000;
const AT_ONCE = 16;
const LONG = "n".repeat(200);

/** The most memory, in MB, that the process had. */
const peakOf = (pid: number): number =>
  Number(/^VmHWM:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024;

/** Megabytes that so many visits of pages, misses and referrers, each another one, added to the most that a server needed. */
async function grown(stats: "on" | "off") {
  await using folder = await temporaryFolder();
  const env = { SVC_STATS: stats, SVC_STATS_FLUSH: "1h" };
  const server = await startProcess(["--data-dir", folder.path, "--log", "off"], { env });
  const calls = callsOf(server);
  const slugs: string[] = [];
  for (let n = 0; n < SITES; n++) {
    const spa = n % 2 === 0 ? "?spa=on" : "";
    slugs.push(slugOf((await calls.deploy({ "index.html": `<!doctype html><title>${n}</title>` }, spa)).url));
  }
  const visit = async (n: number): Promise<void> => {
    const host = `${slugs[n % SITES]}.localhost:${server.port}`;
    const headers = { ...NAVIGATION, host, referer: `https://r${n}.example/`, "user-agent": `Mozilla/5.0 (${n})` };
    await (await fetch(`${local(server)}/${n}-${LONG}`, { headers })).arrayBuffer();
  };
  const visitAll = async (from: number, to: number): Promise<void> => {
    const one = async (worker: number) => {
      for (let n = from + worker; n < to; n += AT_ONCE) await visit(n);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, (_, worker) => one(worker)));
  };
  await visitAll(0, 3_000); // the runtime's own room, before it is measured
  const before = peakOf(server.pid);
  await visitAll(3_000, VISITS);
  const grew = peakOf(server.pid) - before;
  using kept = stats === "on" ? openFile(folder.path, "stats.db") : null;
  const handed = kept?.query<{ n: number }, []>("select count(*) as n from names").get()?.n ?? 0;
  await server.end();
  return { grew, handed };
}

test.skipIf(!existsSync("/proc/self/status"))(
  "BEYOND 11: counting takes less than 64 MB in a flood of names, and hands over before its time",
  async () => {
    const [off, on] = [await grown("off"), await grown("on")];
    expect(on.handed).toBeGreaterThan(1_000); // past the bound, so the bound is what was tried
    expect(on.grew - off.grew).toBeLessThan(64);
  },
);
