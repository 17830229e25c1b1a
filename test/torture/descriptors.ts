/** Descriptors run out, with all timers running: `bun run torture descriptors [seconds]`. Needs Linux and prlimit; takes
 *  about two minutes. A server that may open 512 descriptors meets 3,000 connections at a time of each kind, and then loses
 *  every descriptor it has not got yet. Pages of visitors who are there go on, new visitors come in, files and deploys find
 *  descriptors, the process lives, the log says so once a minute, and everything is as before when the crowd has left. */
import { ended, local, type ServerProcess, SVC_SERVER, startProcess, temporaryFolder } from "../kit/process.ts";
import { crowd, type Line, open } from "../kit/crowd.ts";
import { ZIP } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { zipOf } from "../kit/zip.ts";
import { descriptors, percentile } from "./parts/figures.ts";

const SECONDS = Number(process.argv[2] ?? 15);
const LIMIT = 512;
const CROWD = 3_000;
if (process.platform !== "linux" || Bun.which("prlimit") === null) {
  console.error("descriptors needs Linux and prlimit (of util-linux).");
  process.exit(1);
}

const failures: string[] = [];
const expectThat = (holds: boolean, what: string): void => void (holds || failures.push(what));

await using dir = await temporaryFolder();
const command = ["sh", "-c", `ulimit -n ${LIMIT}; exec "$@"`, "sh", ...SVC_SERVER];
const env = { SVC_GC_INTERVAL: "1s" };
const server: ServerProcess = await startProcess(["--data-dir", dir.path], { command, env });

async function deploy(files: Record<string, string | Uint8Array>): Promise<string | null> {
  const body = zipOf(files);
  const answer = await fetch(`${local(server)}/sites`, { method: "POST", headers: ZIP, body }).catch(() => null);
  if (answer?.status !== 200) return null;
  return `${((await answer.json()) as { slug: string }).slug}.localhost:${server.port}`;
}

const host = (await deploy({ "index.html": "<title>here</title>", "large.bin": new Uint8Array(5_000_000).fill(65) }))!;
let old = await open(server.port);
await old.ask(host);

interface Kind {
  name: string;
  first: string;
  /** What each of them does once it is there. */
  then?(line: Line): void;
}
const KINDS: Kind[] = [
  { name: "silent", first: "" },
  { name: "a head that drips", first: "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: " },
  { name: "kept open after a page", first: `GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n` },
  {
    name: "a download that nobody reads",
    first: `GET /large.bin HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
    then: ({ socket }) => void socket.pause(),
  },
];

/** A connection that rested for 10 s may have made room: as a browser does, the visitor opens another. */
async function comeIn(): Promise<void> {
  await until(async () => {
    if ((await old.ask(host)) === 200) return true;
    old = await open(server.port);
    return false;
  }, 100);
}

/** What visitors meet while the crowd is there. */
async function visit(): Promise<void> {
  await comeIn();
  const seen = { old: 0, old_lost: 0, new: 0, new_lost: 0, deploys: 0, deploys_lost: 0, files: 0, files_lost: 0 };
  const took: number[] = [];
  const end = performance.now() + SECONDS * 1000;
  for (let n = 0; performance.now() < end; n++) {
    const asked = performance.now();
    seen[(await old.ask(host)) === 200 ? "old" : "old_lost"]++;
    took.push(performance.now() - asked);
    const stranger = await open(server.port);
    seen[(await stranger.ask(host)) === 200 ? "new" : "new_lost"]++;
    stranger.socket.destroy();
    if (n % 20 === 0) seen[(await deploy({ "index.html": `<title>${n}</title>` })) ? "deploys" : "deploys_lost"]++;
    if (n % 20 === 10) {
      const file = await fetch(`${local(server)}/large.bin`, { headers: { host, connection: "close" } }).catch(
        () => null,
      );
      const whole = file?.status === 200 && (await file.bytes().catch(() => [])).length === 5_000_000;
      seen[whole ? "files" : "files_lost"]++;
    }
    await Bun.sleep(50);
  }
  console.log(
    `  old visitor's page: p50 ${percentile(took, 0.5).toFixed(1)} ms, p99 ${percentile(took, 0.99).toFixed(1)} ms`,
  );
  console.log(`  ${JSON.stringify(seen)}, ${descriptors(server.pid)} descriptors`);
  expectThat(seen.old_lost === 0, "a visitor who was there lost a page");
  expectThat(seen.new > 0 && seen.deploys > 0 && seen.files > 0, "new visitors, deploys or files had no turn");
}

try {
  for (const { name, first, then } of KINDS) {
    console.log(`${CROWD} connections: ${name}`);
    using strangers = await crowd(server.port, CROWD, first);
    for (const line of strangers) then?.(line);
    await visit();
    for (const { socket } of strangers) socket.destroy();
    await until(() => descriptors(server.pid) < LIMIT / 2);
  }
  console.log("no descriptor at all");
  const limit = (soft: number) => Bun.spawnSync(["prlimit", "--pid", String(server.pid), `--nofile=${soft}:${LIMIT}`]);
  await comeIn();
  limit(16);
  const end = performance.now() + SECONDS * 1000;
  let pages = 0;
  let lost = 0;
  for (; performance.now() < end; pages++) {
    if ((await old.ask(host)) !== 200) lost++;
    await Bun.sleep(100);
  }
  expectThat(lost === 0, `${lost} pages were lost without descriptors`);
  limit(LIMIT);
  await until(async () => (await deploy({ "index.html": "<title>after</title>" })) !== null);
  console.log(`  ${pages} pages, and a deploy afterwards`);
  const code = await ended(server, "SIGTERM");
  expectThat(code === 0, `the server ended with ${code}`);
  const told = server.stderr().split("too many connections: ").length - 1;
  console.log(`  told of too many connections ${told} times, ended with ${code}`);
  expectThat(told <= 1 + (5 * (SECONDS + 20)) / 60, `the log was told ${told} times`);
} finally {
  old.socket.destroy();
  await server.end();
}
for (const failure of failures) console.log(`VIOLATION: ${failure}`);
console.log(failures.length === 0 ? "no violation" : `${failures.length} violations`);
if (failures.length > 0) process.exitCode = 1;
