/** Everything for a long time: `bun test/torture/soak.ts [minutes] [MB] [leak]`, 60 and 256 unless said otherwise. Needs
 *  Linux; as root the server lives in a memory cgroup of that size, else its resident memory is watched. Deploys, redeploys,
 *  rollbacks, deletes, expiries, sweeps and pages go on side by side; memory, descriptors and the write-ahead log must stay
 *  flat. With `leak` one more connection a second is opened and kept: there it must fail. */
import { connect } from "node:net";
import { codingProcesses, SVC_SERVER, type ServerProcess, startProcess, temporaryFolder } from "../kit/process.ts";
import { zipOf } from "../kit/zip.ts";
import { descriptors, MB, percentile, progress, residentBytes, walBytes } from "./parts/figures.ts";
import { memoryGroup } from "./parts/memory-group.ts";

const [minutes = 60, megabytes = 256] = process.argv.slice(2, 4).map(Number);
const leaks = process.argv[4] === "leak";
const SAMPLE_MS = Math.max(1_000, (minutes * 60_000) / 400);
const WRITERS = 3;
const READERS = 6;
/** With the one that deploys anonymously: so many requests may be under way at a sample. */
const CLIENTS = WRITERS + READERS + 1;
const CONTENTS = 60;
const WAL_MOST = 32 * MB;
/** Descriptors that a server has for each: its channel, its last words, its end. */
const PER_CHILD = 3;

interface Sample {
  rss: number;
  fds: number;
  wal: number;
}
interface Site {
  site_id: string;
  slug: string;
  versions: Set<string>;
}
const done = { deploys: 0, redeploys: 0, rollbacks: 0, deletes: 0, pages: 0, busy: 0 };
const pick = <T>(from: readonly T[]): T => from[Math.floor(Math.random() * from.length)]!;

/** From a set of contents that is soon complete, so that the disk stays as it is: files of 0.2 to 60 KB. */
const contents = Array.from({ length: CONTENTS }, (_, n) =>
  zipOf({
    "index.html": `<title>soak ${n}</title>${`<p>paragraph of ${n}</p>`.repeat(20 + n * 10)}`,
    ...Object.fromEntries(
      Array.from({ length: 12 }, (_, f) => [`f${f}.css`, `/* ${n} */ .a${f} { color: red } `.repeat(5 + f * 60)]),
    ),
    "noise.bin": crypto.getRandomValues(new Uint8Array(1000 * (n + 1))),
  }),
);

class Refused extends Error {}

async function api(
  server: ServerProcess,
  method: string,
  path: string,
  token: string,
  body?: Uint8Array<ArrayBuffer> | object,
) {
  const zip = body instanceof Uint8Array;
  const response = await fetch(`${server.base_url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": zip ? "application/zip" : "application/json" },
    ...(body && { body: zip ? body : JSON.stringify(body) }),
    keepalive: false, // a connection that is only kept would look like one that is left
  });
  const answer = (await response.json()) as Record<string, string>;
  if (response.status === 503) throw new Refused();
  if (response.status !== 200)
    throw new Error(`${method} ${path} was answered ${response.status}: ${JSON.stringify(answer)}`);
  return answer;
}

/** One thing that an account does to one of its own sites. */
async function write(server: ServerProcess, token: string, sites: Site[]): Promise<void> {
  const chance = Math.random();
  if (sites.length < 10 || (chance < 0.15 && sites.length < 60)) {
    const made = await api(server, "POST", "/sites", token, pick(contents));
    sites.push({ site_id: made.site_id!, slug: made.slug!, versions: new Set([made.version_id!]) });
    done.deploys++;
  } else if (chance < 0.65) {
    const site = pick(sites);
    const made = await api(server, "POST", `/sites/${site.site_id}/deploys`, token, pick(contents));
    site.versions.add(made.version_id!);
    done.redeploys++;
  } else if (chance < 0.85) {
    const site = pick(sites);
    await api(server, "POST", `/sites/${site.site_id}/rollback`, token, { version_id: pick([...site.versions]) });
    done.rollbacks++;
  } else {
    const [site] = sites.splice(Math.floor(Math.random() * sites.length), 1);
    await api(server, "DELETE", `/account/sites/${site!.site_id}`, token);
    done.deletes++;
  }
}

async function writer(server: ServerProcess, token: string, sites: Site[], goesOn: () => boolean): Promise<void> {
  while (goesOn()) {
    try {
      await write(server, token, sites);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      done.busy++;
    }
    await Bun.sleep(20);
  }
}

const PATHS = ["/", "/f3.css", "/f11.css", "/noise.bin", "/nowhere"];

async function reader(server: ServerProcess, all: Site[][], goesOn: () => boolean): Promise<void> {
  while (goesOn()) {
    const site = pick(all.flat());
    const path = pick(PATHS);
    if (site) {
      const headers = { host: `${site.slug}.localhost` };
      const response = await fetch(`${server.base_url}${path}`, { headers, keepalive: false });
      await response.arrayBuffer();
      const gone = !all.some((sites) => sites.includes(site));
      const expected = path === "/nowhere" || gone ? [200, 404] : [200];
      if (!expected.includes(response.status)) throw new Error(`${path} was answered ${response.status}`);
      done.pages++;
    }
    await Bun.sleep(5);
  }
}

async function deployAnonymously(server: ServerProcess): Promise<void> {
  const headers = { "content-type": "application/zip" };
  const body = pick(contents);
  const response = await fetch(`${server.base_url}/sites`, { method: "POST", headers, body, keepalive: false });
  await response.arrayBuffer();
}

/** Sites that nobody claims end after half a minute. */
async function anonymous(server: ServerProcess, goesOn: () => boolean): Promise<void> {
  while (goesOn()) {
    await deployAnonymously(server);
    await Bun.sleep(500);
  }
}

async function account(server: ServerProcess, n: number): Promise<string> {
  const body = { email: `soak${n}@example.org`, password: "correct horse battery" };
  return (await api(server, "POST", "/auth/signup", "", body)).session_token!;
}

const median = (values: number[]): number => percentile(values, 0.5);

/** What is not flat: the last quarter against the one before. */
function judge(samples: Sample[], idle: Sample, after: Sample): string[] {
  const quarter = Math.floor(samples.length / 4);
  const third = samples.slice(2 * quarter, 3 * quarter);
  const last = samples.slice(3 * quarter);
  const of = (key: keyof Sample, from: Sample[]) => median(from.map((sample) => sample[key]));
  const growth = of("rss", last) / of("rss", third) - 1;
  const allowed = minutes >= 30 ? 0.02 : 0.15; // a few minutes are mostly the start
  const peak = Math.max(...samples.map(({ rss }) => rss));
  const wal = Math.max(...samples.map((sample) => sample.wal));
  const inMb = (bytes: number) => `${(bytes / MB).toFixed(0)} MB`;
  process.stdout.write(
    `memory: ${inMb(idle.rss)} at the start, median ${inMb(of("rss", third))} then ${inMb(of("rss", last))} (${(growth * 100).toFixed(1)} %), ` +
      `most ${inMb(peak)}, ${inMb(after.rss)} at the end; descriptors: ${idle.fds} at the start, median ${of("fds", third)} then ` +
      `${of("fds", last)}, ${after.fds} at the end; write-ahead log: at most ${(wal / MB).toFixed(1)} MB\n`,
  );
  return [
    growth > allowed ? `memory grew by ${(growth * 100).toFixed(1)} % in the last quarter` : "",
    !group && peak > megabytes * MB ? `memory reached ${inMb(peak)}` : "",
    of("fds", last) > of("fds", third) + CLIENTS ? "descriptors grew" : "",
    after.fds > idle.fds + 3 ? `${after.fds - idle.fds} descriptors are left` : "",
    wal > WAL_MOST ? `the write-ahead log reached ${inMb(wal)}` : "",
  ].filter(Boolean);
}

await using dir = await temporaryFolder();
using group = memoryGroup(megabytes * MB);
process.stdout.write(
  group ? `in a memory cgroup of ${megabytes} MB\n` : "no memory cgroup to be had: resident memory is watched\n",
);
const flags = ["--data-dir", dir.path, "--log", "off", "--anonymous-ttl", "30s", "--gc-interval", "5s"];
const env = { SVC_RATE_OWNED: "off", SVC_RATE_REDEPLOY: "off" };
const server = await startProcess(flags, { env, command: group ? group.wrap(SVC_SERVER) : SVC_SERVER });
const sample = (): Sample => ({
  rss: residentBytes(server.pid),
  fds: descriptors(server.pid) - PER_CHILD * codingProcesses(server.pid).length, // they come and go with what is asked
  wal: walBytes(dir.path),
});

async function soak(): Promise<string[]> {
  const all: Site[][] = Array.from({ length: WRITERS }, () => []);
  const tokens = await Promise.all(all.map((_, n) => account(server, n)));
  await Promise.all(Array.from({ length: 8 }, () => deployAnonymously(server))); // what deploys keep open is open
  await Bun.sleep(1_000);
  const idle = sample();
  const end = performance.now() + minutes * 60_000;
  let failed = false;
  const goesOn = () => !failed && performance.now() < end;
  const work = [
    ...all.map((sites, n) => writer(server, tokens[n]!, sites, goesOn)),
    ...Array.from({ length: READERS }, () => reader(server, all, goesOn)),
    anonymous(server, goesOn),
  ].map((one) => one.catch((error: unknown) => ((failed = true), Promise.reject(error))));
  const samples: Sample[] = [];
  const kept: ReturnType<typeof connect>[] = [];
  const sampling = (async () => {
    while (goesOn()) {
      await Bun.sleep(SAMPLE_MS);
      samples.push(sample());
      if (leaks) kept.push(connect(server.port, "127.0.0.1").on("error", () => {}));
      const { rss, fds, wal } = samples.at(-1)!;
      progress(
        `${(rss / MB).toFixed(0)} MB, ${fds} descriptors, WAL ${(wal / MB).toFixed(1)} MB, ${JSON.stringify(done)}`,
      );
    }
  })();
  await Promise.all([...work, sampling]);
  await Bun.sleep(10_000); // sweeps are through
  const problems = judge(samples, idle, sample());
  for (const socket of kept) socket.destroy();
  return problems;
}

try {
  const problems = await soak();
  process.stdout.write(`${JSON.stringify(done)}\n${problems.join("\n") || "no violation"}\n`);
  if (problems.length > 0) process.exitCode = 1;
} catch (error) {
  const killed = group && group.kills() > 0 ? " (the kernel ended it for its memory)" : "";
  process.stdout.write(`${(error as Error).message}${killed}\n`);
  process.exitCode = 1;
} finally {
  if (group)
    process.stdout.write(
      `cgroup: peak ${(group.peakBytes() / MB).toFixed(0)} MB with the page cache, ${group.kills()} kills\n`,
    );
  server.kill("SIGKILL");
  await server.exited;
  await Bun.sleep(200);
}
