/** Pages while strangers sign in: `bun test/torture/sign-ins.ts [seconds] [rounds]`, 4 and 3 unless said otherwise: about a
 *  minute. argon2id takes a core for 0.1 s a time; pages must not wait for it. A page is asked for 200 times a second by the
 *  clock, of svc and of a bare Bun.serve, in rounds that alternate, each idle and while 30 wrong passwords a second arrive
 *  at svc (so the bare one has the same busy cores). Limits: no failed page, and during the flood svc's p50 at most 3 times
 *  and p99 at most 4 times the bare one's. Then what strangers do to other people's sign-ins (parts/strangers.ts), another
 *  minute: guesses at an account must not keep its owner out, and 33 wrong passwords a second make others wait until they are
 *  refused, but for new networks while 200 addresses ask. */
import { join } from "node:path";
import { startProcess, temporaryFolder } from "../kit/process.ts";
import { zipOf } from "../kit/zip.ts";
import { percentile, progress } from "./parts/figures.ts";
import { lineIsFair, ownerIsLetIn } from "./parts/strangers.ts";

const [seconds = 4, rounds = 3] = process.argv.slice(2).map(Number);
const PAGES_PER_SECOND = 200;
const SIGN_INS_PER_SECOND = 30;
const LIMIT = { p50: 3, p99: 4 };
const HTML = `<!doctype html><title>A page</title>${"<p>Some words of a paragraph.</p>".repeat(160)}`;

interface Target {
  name: string;
  origin: string;
  host: string;
}

/** Milliseconds of each page, from when it was due. */
type Times = number[];
let failed = 0;
const signIns: Record<string, number> = {};

async function page({ origin, host }: Target, due: number, times: Times): Promise<void> {
  const from = Math.min(due, performance.now()); // a timer may be a little early
  const answer = await fetch(`${origin}/page.html`, { headers: { host } }).catch(() => null);
  if (answer?.status !== 200) failed++;
  await answer?.arrayBuffer();
  times.push(performance.now() - from);
}

async function signIn(origin: string, n: number): Promise<void> {
  const body = JSON.stringify({ email: `nobody${n % 50}@example.org`, password: "not the password" });
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${origin}/auth/login`, { method: "POST", headers, body }).catch(() => null);
  const status = String(answer?.status ?? "lost");
  signIns[status] = (signIns[status] ?? 0) + 1;
  await answer?.arrayBuffer();
}

/** Starts `act` so often a second for the whole time, whether the ones before are done or not. */
async function byTheClock(per_second: number, act: (due: number, n: number) => Promise<void>): Promise<void> {
  const begin = performance.now();
  const started: Promise<void>[] = [];
  for (let n = 0; n < seconds * per_second; n++) {
    const due = begin + (n * 1000) / per_second;
    await Bun.sleep(Math.max(0, due - performance.now()));
    started.push(act(due, n));
  }
  await Promise.all(started);
}

async function round(target: Target, flooded: string | null): Promise<Times> {
  const times: Times = [];
  const flood = flooded === null ? null : byTheClock(SIGN_INS_PER_SECOND, (_, n) => signIn(flooded, n));
  await byTheClock(PAGES_PER_SECOND, (due) => page(target, due, times));
  await flood;
  return times;
}

async function siteOn(origin: string): Promise<string> {
  const body = zipOf({ "index.html": "x", "page.html": HTML });
  const headers = { "content-type": "application/zip" };
  const answer = await fetch(`${origin}/sites`, { method: "POST", headers, body });
  return ((await answer.json()) as { slug: string }).slug;
}

async function bareServer(): Promise<{ target: Target; stop(): void }> {
  const script = join(import.meta.dir, "..", "..", "bench", "storm-bare.ts");
  const child = Bun.spawn([process.execPath, script], { stdin: "ignore", stdout: "pipe" });
  const { value } = await child.stdout.getReader().read();
  const port = Buffer.from(value!).toString().trim();
  const target = { name: "bare Bun.serve", origin: `http://127.0.0.1:${port}`, host: `localhost:${port}` };
  return { target, stop: () => child.kill() };
}

interface Row {
  target: Target;
  idle: Times;
  flooded: Times;
}

async function measure(targets: Target[], svc: string): Promise<Row[]> {
  const rows = targets.map((target): Row => ({ target, idle: [], flooded: [] }));
  for (let n = 0; n < rounds; n++) {
    for (const { target, idle, flooded } of rows) {
      progress(`round ${n + 1} of ${rounds}, ${target.name}`);
      idle.push(...(await round(target, null)));
      flooded.push(...(await round(target, svc)));
    }
  }
  return rows;
}

/** The ratios, and whether they keep the limits. */
function judge([bare, svc]: Row[]): boolean {
  const figure = (times: Times) => [0.5, 0.99].map((share) => percentile(times, share).toFixed(2)).join(" / ");
  for (const { target, idle, flooded } of [bare!, svc!]) {
    process.stdout.write(`${target.name}: p50 / p99 idle ${figure(idle)} ms, during sign-ins ${figure(flooded)} ms\n`);
  }
  const ratio = (of: "idle" | "flooded", share: number) => percentile(svc![of], share) / percentile(bare![of], share);
  const [p50, p99] = [ratio("flooded", 0.5), ratio("flooded", 0.99)];
  const idle = `${ratio("idle", 0.5).toFixed(2)} / ${ratio("idle", 0.99).toFixed(2)}`;
  process.stdout.write(
    `svc / bare, p50 / p99: idle ${idle}, during sign-ins ${p50.toFixed(2)} / ${p99.toFixed(2)} (limits ${LIMIT.p50} / ${LIMIT.p99}); ` +
      `failed pages ${failed}; sign-ins ${JSON.stringify(signIns)}\n`,
  );
  return p50 <= LIMIT.p50 && p99 <= LIMIT.p99 && failed === 0;
}

await using dir = await temporaryFolder();
const unlimited = { SVC_RATE_SIGN_IN: "off", SVC_RATE_SIGN_IN_ACCOUNT: "off", SVC_RATE_SIGN_IN_NAME: "off" };
const server = await startProcess(["--data-dir", dir.path, "--log", "off"], { env: unlimited });
const bare = await bareServer();
try {
  const origin = `http://127.0.0.1:${server.port}`;
  const svc = { name: "svc", origin, host: `${await siteOn(origin)}.localhost:${server.port}` };
  const kept = judge(await measure([bare.target, svc], origin));
  progress("strangers");
  const fair = [await ownerIsLetIn(), await lineIsFair(2 * rounds)].every(Boolean);
  process.stdout.write(kept && fair ? "no violation\n" : "a limit is passed\n");
  if (!kept || !fair) process.exitCode = 1;
} finally {
  bare.stop();
  server.kill("SIGKILL");
  await server.exited;
}
