/** kill -9 in the middle of a transaction (RELIABILITY K20 to K23): `bun test/torture/half-writes.ts [most kills of each]`,
 *  40 unless said otherwise: about two minutes. Needs Linux and strace, which kills the server at the n-th write or flush of
 *  the write-ahead log, n = 1, 2, 3 … (farther apart after 12), until the operation is through. A rollback, a claim, a
 *  bulk-attach or a deleted account took effect whole or not at all, and never is a site without an owner and an expiry. */
import { join } from "node:path";
import { type ServerProcess, startProcess, temporaryFolder } from "../kit/process.ts";
import { checkServed, checkStored, send, type TrackedSite } from "../kit/tracked-sites.ts";
import { inject, needStrace } from "./parts/strace.ts";
import { progress } from "./parts/figures.ts";

needStrace("half-writes");
const MOST = Number(process.argv[2] ?? 40);
const SITES = 6;
const FAULTS = ["pwrite64", "fsync"];
const LIMITS_OFF = {
  SVC_RATE_CLAIM: "off",
  SVC_RATE_BULK_ATTACH: "off",
  SVC_RATE_SIGN_IN: "off",
  SVC_RATE_REDEPLOY: "off",
};

interface Site extends TrackedSite {
  claim_token: string;
  versions: string[];
}
interface State {
  session: string;
  sites: Site[];
}
interface SiteRecord {
  owner_account_id?: string;
  expires_at: number | null;
}

const start = (data_dir: string): Promise<ServerProcess> =>
  startProcess(["--data-dir", data_dir, "--log", "off"], { env: LIMITS_OFF });

/** Null: no answer. */
async function call(server: ServerProcess, method: string, path: string, token: string, body?: object) {
  const response = await fetch(`${server.base_url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    keepalive: false,
    ...(body && { body: JSON.stringify(body) }),
  }).catch(() => null);
  return (
    response && { status: response.status, body: (await response.json().catch(() => ({}))) as Record<string, string> }
  );
}

let people = 0;

async function prepare(server: ServerProcess): Promise<State> {
  const who = { email: `half${++people}@example.org`, password: "correct horse battery" };
  const session = (await call(server, "POST", "/auth/signup", "", who))!.body.session_token!;
  const sites: Site[] = [];
  for (let n = 0; n < SITES; n++) {
    const name = `half ${people} ${n} ${Math.random()}`;
    const made = (await send(server, "/sites", name, 1)) as Site & { version_id: string };
    const path = `/sites/${made.site_id}/deploys`;
    const again = (await send(server, path, name, 2, made.manage_token)) as { version_id?: string };
    sites.push({ ...made, name, acked: 2, in_flight: null, versions: [made.version_id, again.version_id!] });
  }
  return { session, sites };
}

async function recordOf(server: ServerProcess, site: Site): Promise<SiteRecord | null> {
  const answer = await call(server, "GET", `/sites/${site.site_id}`, site.manage_token);
  if (answer?.status === 404) return null;
  if (answer?.status !== 200) throw new Error(`${site.slug} is answered ${answer?.status}`);
  const record = answer.body as unknown as SiteRecord;
  const owned = record.owner_account_id !== undefined;
  if (owned !== (record.expires_at === null)) throw new Error(`${site.slug} has an owner and an expiry, or neither`);
  return record;
}

/** How many sites have an owner; every one must be there and serve what it served. */
async function ownedSites(server: ServerProcess, { sites }: State): Promise<number> {
  let owned = 0;
  for (const site of sites) {
    const record = await recordOf(server, site);
    if (!record) throw new Error(`${site.slug} is gone`);
    if (record.owner_account_id) owned++;
    await checkServed(server, site);
  }
  return owned;
}

interface Act {
  name: string;
  /** What must be so before. */
  first?(server: ServerProcess, state: State): Promise<unknown>;
  act(server: ServerProcess, state: State): ReturnType<typeof call>;
  /** Throws where it is half done, or where it was answered and is not done at all. */
  check(server: ServerProcess, state: State, answered: boolean): Promise<void>;
}

const items = ({ sites }: State) => ({ sites: sites.map(({ site_id, manage_token }) => ({ site_id, manage_token })) });
const attachAll = (server: ServerProcess, state: State) =>
  call(server, "POST", "/account/bulk-attach", state.session, items(state));

const ACTS: Act[] = [
  {
    name: "K20 rollback",
    act(server, { sites: [site] }) {
      site!.in_flight = 1;
      const path = `/sites/${site!.site_id}/rollback`;
      return call(server, "POST", path, site!.manage_token, { version_id: site!.versions[0] });
    },
    async check(server, state, answered) {
      if (answered) Object.assign(state.sites[0]!, { acked: 1, in_flight: null });
      if ((await ownedSites(server, state)) !== 0) throw new Error("a rollback gave a site away");
    },
  },
  {
    name: "K21 claim",
    act: (server, { session, sites: [site] }) =>
      call(server, "POST", `/sites/${site!.site_id}/claim`, session, { claim_token: site!.claim_token }),
    async check(server, state, answered) {
      const owned = await ownedSites(server, state);
      if (owned > 1 || (answered && owned === 0)) throw new Error(`${owned} sites have an owner after a claim`);
    },
  },
  {
    name: "K22 bulk-attach",
    act: attachAll,
    async check(server, state, answered) {
      const owned = await ownedSites(server, state);
      if (answered && owned !== SITES) throw new Error(`${owned} of ${SITES} sites are attached`);
      // Items up to one of them: the first ones.
      const each = await Promise.all(state.sites.map((site) => recordOf(server, site)));
      const firstFree = each.findIndex((record) => !record!.owner_account_id);
      if (firstFree !== -1 && each.slice(firstFree).some((record) => record!.owner_account_id)) {
        throw new Error("bulk-attach left one out and took one after it");
      }
    },
  },
  {
    name: "K23 DELETE /account",
    first: attachAll,
    act: (server, { session }) => call(server, "DELETE", "/account", session),
    async check(server, state, answered) {
      const account = (await call(server, "GET", "/account", state.session))?.status;
      const left = (await Promise.all(state.sites.map((site) => recordOf(server, site)))).filter(Boolean).length;
      const all = account === 200 && left === SITES;
      const none = account === 401 && left === 0;
      if ((!all && !none) || (answered && !none))
        throw new Error(`the account is ${account}, ${left} of its sites are left`);
      if (all) await ownedSites(server, state);
    },
  },
];

/** One kill. Returns whether it came: where it did not, the operation needs fewer calls than that. */
async function strike(data_dir: string, { first, act, check }: Act, rule: string): Promise<boolean> {
  let server = await start(data_dir);
  try {
    const state = await prepare(server);
    await first?.(server, state);
    const fault = await inject(server, rule, join(data_dir, "db-wal"));
    const answer = await act(server, state);
    if (answer !== null && answer.status !== 200) throw new Error(`it was answered ${answer.status}`);
    await Bun.sleep(20); // a kill after the answer
    await fault.detach();
    const killed = (await Promise.race([server.exited, Bun.sleep(200).then(() => null)])) !== null;
    if (killed) {
      server = await start(data_dir);
      await checkStored(data_dir);
    }
    await check(server, state, answer !== null);
    return killed;
  } finally {
    server.kill("SIGKILL");
    await server.exited;
  }
}

await using dir = await temporaryFolder();
try {
  for (const act of ACTS) {
    for (const fault of FAULTS) {
      let kills = 0;
      for (let n = 1; kills < MOST; n = n < 12 ? n + 1 : Math.ceil(n * 1.3)) {
        progress(`${act.name}, ${fault} ${n}`);
        const rule = `${fault}:signal=KILL:when=${n}`;
        const killed = await strike(dir.path, act, rule).catch((error: Error) => {
          throw new Error(`${act.name}, ${rule}: ${error.message}`);
        });
        if (!killed) break;
        kills++;
      }
      process.stdout.write(`${act.name}: ${kills} kills at ${fault} of the log\n`);
    }
  }
  process.stdout.write("no violation\n");
} catch (violation) {
  process.stdout.write(`${(violation as Error).message}\n`);
  process.exitCode = 1;
}
