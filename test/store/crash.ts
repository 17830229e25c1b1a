/** The kill -9 test: deploys and redeploys with the server killed at random moments; after each restart every answered
 *  deploy must be whole and live, and a site serves its last answered version or the one that was in flight, whole. */
import { cpuSecondsOf, type ServerProcess, startProcess } from "../kit/process.ts";
import { checkServed, checkStored, send, sendDelta, type TrackedSite } from "../kit/tracked-sites.ts";
import { until } from "../kit/until.ts";

const CLIENTS = 4;
const SITES_PER_CLIENT = 3;

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
      if (random() < 0.5) await sendDelta(server, site, version);
      else await send(server, `/sites/${site.site_id}/deploys`, site.name, version, site.manage_token);
      site.acked = version;
      site.in_flight = null;
    } catch (error) {
      if (alive() && /^\d{3}:/.test(String((error as Error).message))) throw error;
      return;
    }
  }
}

export interface CrashReport {
  rounds: number;
  sites: number;
  /** Rounds whose kill met a redeploy that was not answered. */
  met_in_flight: number;
}

export interface CrashOptions {
  rounds: number;
  seed: number;
  /** The server; from source unless said otherwise. */
  command?: string[];
  /** How the server ends: kill -9 unless said otherwise. It must be gone when this resolves. */
  cut?: (server: ServerProcess) => Promise<unknown>;
  onRound?: (n: number) => void;
}

const killed = (server: ServerProcess): Promise<unknown> => {
  server.kill("SIGKILL");
  return server.exited;
};

/** I8, in processor time: others share the machine. */
const START_S = 2;

/** Throws at the first violation. */
export async function crashRounds(data_dir: string, options: CrashOptions): Promise<CrashReport> {
  const random = randomFrom(options.seed);
  const start = () =>
    startProcess(["--data-dir", data_dir, "--log", "off"], {
      command: options.command,
      env: { SVC_RATE_DEPLOY: "off" },
    });
  const sites: TrackedSite[][] = Array.from({ length: CLIENTS }, () => []);
  let met_in_flight = 0;
  let server = await start();
  try {
    for (let round = 0; round < options.rounds; round++) {
      let alive = true;
      const clients = sites.map((own, id) => client(server, own, id, random, () => alive));
      await Bun.sleep(50 + random() * 400);
      // A slow machine is mostly between two deploys: the kill is to meet one.
      await until(() => sites.flat().some((site) => site.in_flight !== null), 1);
      alive = false;
      await (options.cut ?? killed)(server);
      await Promise.all(clients);
      if (sites.flat().some((site) => site.in_flight !== null)) met_in_flight++;
      server = await start();
      const worked = cpuSecondsOf(server.pid);
      if (worked > START_S) throw new Error(`the restart took ${worked} s of processor time`);
      await checkStored(data_dir);
      for (const site of sites.flat()) await checkServed(server, site);
      options.onRound?.(round + 1);
    }
  } catch (violation) {
    await killed(server); // none is left behind
    throw violation;
  }
  server.kill("SIGTERM");
  if ((await server.exited) !== 0) throw new Error("the server did not drain");
  return { rounds: options.rounds, sites: sites.flat().length, met_in_flight };
}
