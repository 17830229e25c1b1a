/** Pages while others have the database: `bun test/torture/held-database.ts [seconds]`, 3 unless said otherwise: about a
 *  minute. A page is asked for 100 times a second by the clock. First another process holds the write lock for so long while
 *  each writing route in turn waits for it; then large sites, an account of 4,900 sites and an expiry of 5,000 go, beside
 *  six PATCHes a second, with the sweep at work every second. Limits: no failed page, none later than half a second and
 *  what the machine takes when idle, each write answered 2xx or 503. */
import { count, openFile, write } from "../kit/database.ts";
import { addSites, addVersions } from "../kit/many.ts";
import { PASSWORD } from "../kit/people.ts";
import { local, type ServerProcess, startProcess, temporaryFolder } from "../kit/process.ts";
import type { DeployResult } from "../kit/server.ts";
import { zipOf } from "../kit/zip.ts";
import { percentile, progress, within } from "./parts/figures.ts";

const [seconds = 3] = process.argv.slice(2).map(Number);
const PAGES_PER_SECOND = 100;
const PATCHES_PER_SECOND = 6;
/** More than the worst page while nothing else goes on. */
const WORST_MS = 500;

const IDLE = "idle";

type Headers = Record<string, string>;
interface World {
  server: ServerProcess;
  data_dir: string;
  slug: string;
  ann: Headers;
}

let broken = false;
let idle_ms = 0;
const unlimited = Object.fromEntries(
  ["DEPLOY", "SIGN_IN", "SIGN_IN_ACCOUNT", "SIGN_IN_NAME", "CLAIM", "REPORT", "OWNED", "REDEPLOY"].map((name) => [
    `SVC_RATE_${name}`,
    "off",
  ]),
);

const send = ({ server }: World, method: string, path: string, body?: unknown, headers: Headers = {}) =>
  fetch(`${local(server)}${path}`, {
    method,
    headers: { ...(body instanceof Uint8Array ? {} : { "content-type": "application/json" }), ...headers },
    ...(body !== undefined && { body: body instanceof Uint8Array ? body : JSON.stringify(body) }),
  } as RequestInit);

async function deploy(world: World, files: Record<string, string>, headers: Headers = {}): Promise<DeployResult> {
  const answer = await send(world, "POST", "/sites", zipOf(files), { "content-type": "application/zip", ...headers });
  return (await answer.json()) as DeployResult;
}

const files = (number: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: number }, (_, n) => [n === 0 ? "index.html" : `${n}.txt`, `file ${n}`]));

/** Does it so often a second until `done`; milliseconds of each, from when it was due. */
async function byTheClock(per_second: number, done: Promise<unknown>, act: () => Promise<boolean>): Promise<number[]> {
  let going = true;
  void done.finally(() => (going = false));
  const begin = performance.now();
  const times: number[] = [];
  const started: Promise<void>[] = [];
  for (let n = 0; going; n++) {
    const due = begin + (n * 1000) / per_second;
    await Bun.sleep(Math.max(0, due - performance.now()));
    const from = Math.min(due, performance.now()); // a timer may be a little early
    started.push(
      act().then((kept) => {
        if (!kept) broken = true;
        times.push(performance.now() - from);
      }),
    );
  }
  await Promise.all(started);
  return times;
}

async function page({ server, slug }: World): Promise<boolean> {
  const headers = { host: `${slug}.localhost:${server.port}` };
  const answer = await fetch(`${local(server)}/`, { headers }).catch(() => null);
  await answer?.arrayBuffer();
  return answer?.status === 200;
}

const figure = (times: number[]) =>
  [0.5, 0.99, 1].map((share) => percentile(times, share).toFixed(share === 0.5 ? 1 : 0)).join(" / ");

async function during(
  world: World,
  name: string,
  done: Promise<string>,
  beside?: () => Promise<boolean>,
): Promise<void> {
  progress(name);
  const patches = beside && byTheClock(PATCHES_PER_SECOND, done, beside);
  const pages = await byTheClock(PAGES_PER_SECOND, done, () => page(world));
  const others = patches ? `; PATCH ${figure(await patches)}` : "";
  const worst = percentile(pages, 1);
  if (name === IDLE) idle_ms = worst;
  if (worst > WORST_MS + idle_ms) broken = true;
  process.stdout.write(`${name}: pages p50 / p99 / max ${figure(pages)} ms${others}; ${await done}\n`);
}

async function answered(writing: Promise<Response>): Promise<string> {
  const { status } = await writing;
  if (status >= 300 && status !== 503) broken = true;
  return String(status);
}

/** Another process has the lock of `file`; the write is asked for while it has. */
async function held(world: World, name: string, file: string, writing: () => Promise<Response>): Promise<void> {
  const db = openFile(world.data_dir, file, false);
  db.run("BEGIN IMMEDIATE");
  const status = answered(writing());
  const done = Bun.sleep(seconds * 1000).then(() => {
    db.run("ROLLBACK");
    db.close();
    return status;
  });
  await during(world, `lock of ${file} held ${seconds} s, ${name}`, done);
}

async function locks(world: World): Promise<void> {
  const { ann, server } = world;
  const [site, own] = [await deploy(world, files(1)), await deploy(world, files(1), ann)];
  const deleted = await deploy(world, files(1), ann);
  const manage = { authorization: `Bearer ${site.manage_token}` };
  const host = { host: `${site.slug}.localhost:${server.port}` };
  const { site_id, version_id, claim_token } = site;
  const login = { email: "ann@example.org", password: PASSWORD };
  const routes: [string, string, () => Promise<Response>][] = [
    ["rollback", "db", () => send(world, "POST", `/sites/${site_id}/rollback`, { version_id }, manage)],
    ["PATCH", "db", () => send(world, "PATCH", `/account/sites/${own.site_id}`, { label: "x" }, ann)],
    ["login", "db", () => send(world, "POST", "/auth/login", login)],
    ["report", "db", () => send(world, "POST", "/_svc/report", { reason: "spam" }, host)],
    ["claim", "db", () => send(world, "POST", `/sites/${site_id}/claim`, { claim_token }, ann)],
    ["delete", "db", () => send(world, "DELETE", `/account/sites/${deleted.site_id}`, undefined, ann)],
    ["a device code's count", "rates.db", () => send(world, "POST", "/auth/device/code", {})],
  ];
  for (const [name, file, writing] of routes) await held(world, name, file, writing);
}

const gone = async ({ data_dir }: World, site_ids: string): Promise<void> => {
  using db = openFile(data_dir);
  const left = db.query<{ n: number }, []>(
    `select count(*) as n from files join versions using (version_no) where site_id ${site_ids}`,
  );
  await within(300_000, "what is gone is removed", () => left.get()!.n === 0);
};

async function largeSite(world: World, versions: number, number: number): Promise<void> {
  const { ann, data_dir } = world;
  const own = await deploy(world, files(1), ann);
  const site = await deploy(world, files(number), ann);
  addVersions(data_dir, site, versions - 1);
  const done = answered(send(world, "DELETE", `/account/sites/${site.site_id}`, undefined, ann)).then(
    async (status) => {
      await gone(world, `= '${site.site_id}'`);
      return status;
    },
  );
  await during(world, `a site of ${versions} versions of ${number} files goes`, done, patching(world, own));
}

const patching =
  (world: World, { site_id }: DeployResult) =>
  async (): Promise<boolean> => {
    const answer = await send(world, "PATCH", `/account/sites/${site_id}`, { label: "new" }, world.ann);
    return answer.status === 200 || answer.status === 503;
  };

async function largeAccount(world: World): Promise<void> {
  const own = await deploy(world, files(1), world.ann);
  const ben = await signUp(world, "ben@example.org");
  addSites(world.data_dir, await deploy(world, files(20), ben), 4899);
  const done = answered(send(world, "DELETE", "/account", undefined, ben)).then(async (status) => {
    await gone(world, "glob 'site_many0*'");
    return status;
  });
  await during(world, "an account of 4,900 sites of 20 files goes", done, patching(world, own));
}

async function expiry(world: World): Promise<void> {
  const own = await deploy(world, files(1), world.ann);
  const site = await deploy(world, files(20));
  addSites(world.data_dir, site, 4999, "late");
  write(world.data_dir, "update sites set expires_at = ? where site_id glob 'site_late0*'", Date.now() + 500);
  const done = gone(world, "glob 'site_late0*'").then(() => `${count(world.data_dir, "tombstones")} tombstones`);
  await during(world, "5,000 sites of 20 files expire", done, patching(world, own));
}

async function signUp(world: World, email: string): Promise<Headers> {
  const answer = await send(world, "POST", "/auth/signup", { email, password: PASSWORD });
  const { session_token } = (await answer.json()) as { session_token: string };
  return { authorization: `Bearer ${session_token}` };
}

await using dir = await temporaryFolder();
const server = await startProcess(["--data-dir", dir.path, "--log", "off", "--gc-interval", "1s"], { env: unlimited });
try {
  const world: World = { server, data_dir: dir.path, slug: "", ann: {} };
  world.ann = await signUp(world, "ann@example.org");
  world.slug = (await deploy(world, files(1), world.ann)).slug;
  await during(
    world,
    "idle",
    Bun.sleep(seconds * 1000).then(() => ""),
  );
  await locks(world);
  await largeSite(world, 500, 200);
  await largeSite(world, 4900, 20);
  await largeAccount(world);
  await expiry(world);
  process.stdout.write(broken ? "a limit is passed\n" : "no violation\n");
  if (broken) process.exitCode = 1;
} finally {
  server.kill("SIGKILL");
  await server.exited;
}
