/** Reading the real server as a visitor does, and holding each answer against the model. */
import { alive, contentOf, mayBeAlive, mayShow, type ModelSite, PATHS, type Seen } from "./state.ts";

/** What the model forbids. */
export class Violation extends Error {}

/** With several workers each request has a connection of its own: one that is kept may lead to a worker that was killed,
 *  and of two workers all would go to one. */
export interface Server {
  /** Null while it is down. */
  port: number | null;
  workers: number;
}

export const get = ({ port, workers }: Server, host: string, path: string): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}/${path}`, {
    redirect: "manual",
    headers: { host: `${host}.localhost` },
    keepalive: workers === 1,
  });

const addressed = (path: string): string => (path === "index.html" ? "" : path);

/** The version whose bytes these are, whole; null for the file that all versions share. */
export function versionOf(site: ModelSite, path: string, bytes: Uint8Array): number | null {
  const text = Buffer.from(bytes).toString("latin1");
  const number = Number(/ version (\d+)\./.exec(text)?.[1] ?? 1);
  const expected = contentOf(site.name, number).get(path)!;
  // A page goes out with attribution: it is told by what it began and ended with.
  const whole =
    path === "index.html"
      ? text.includes(`<title>${site.name}</title>`) && text.endsWith(`<p>${site.name} version ${number}.</p>`)
      : Buffer.compare(bytes, expected) === 0;
  if (!whole) throw new Violation(`${site.slug}/${path} is no version's bytes: ${text.slice(0, 120)}`);
  return path === "shared.txt" ? null : number;
}

interface Answered {
  /** Null: some version, one cannot tell which. */
  seen: Seen | null;
  from: number;
  until: number;
}

/** Asks once. Throws a `Violation` where the bytes are not one version's; what else goes wrong on the way is the caller's. */
export async function ask(server: Server, site: ModelSite, path: string): Promise<Answered> {
  const from = performance.now();
  const response = await get(server, site.slug, addressed(path));
  const bytes = await response.bytes();
  const until = performance.now();
  if (response.status === 200) return { seen: versionOf(site, path, bytes), from, until };
  if (response.status === 410) return { seen: "expired", from, until };
  if (response.status === 404) return { seen: "deleted", from, until };
  throw new Violation(`${site.slug}/${path} is answered ${response.status}: ${Buffer.from(bytes).toString()}`);
}

/** Whether the model had this at that time. */
export function judge(site: ModelSite, path: string, { seen, from, until }: Answered): void {
  const allowed = seen === null ? mayBeAlive(site, from, until) : mayShow(site, seen, from, until);
  if (allowed) return;
  const spans = site.spans.slice(-4).map((span) => `${span.seen} ${span.from.toFixed(1)} to ${span.until.toFixed(1)}`);
  const when = `${from.toFixed(1)} to ${until.toFixed(1)}`;
  throw new Violation(`${site.slug}/${path} showed ${seen ?? "a version"}, asked ${when}; the model has ${spans}`);
}

/** Every file, with nothing under way: exactly what the model says. */
export async function checkSite(server: Server, site: ModelSite): Promise<void> {
  for (const path of alive(site) ? PATHS : ["index.html"]) judge(site, path, await ask(server, site, path));
}

/** Every stored version at its own address. */
export async function checkVersions(server: Server, site: ModelSite): Promise<void> {
  for (const [version, version_id] of alive(site) ? site.versions : []) {
    for (const path of PATHS) {
      const response = await get(server, `${version_id}--${site.slug}`, addressed(path));
      const found = response.status === 200 ? versionOf(site, path, await response.bytes()) : response.status;
      if (found !== null && found !== version) throw new Violation(`${site.slug} ${version} ${path} shows ${found}`);
    }
  }
}

/** Visitors that never stop. `port` is null while the server is down: what fails then is nobody's fault. */
export function readers(count: number, world: Server & { epoch: number; dying: boolean; sites: ModelSite[] }) {
  let stopped = false;
  let reads = 0;
  let violation: Violation | null = null;
  async function one(turn: number): Promise<void> {
    const { port, epoch } = world;
    const site = world.sites[Math.floor(Math.random() * world.sites.length)];
    if (port === null || !site) return void (await Bun.sleep(2));
    const path = PATHS[turn % PATHS.length]!;
    try {
      judge(site, path, await ask(world, site, path));
      reads++;
      await Bun.sleep(1); // the clients are to have the cores, too
    } catch (error) {
      if (error instanceof Violation) violation ??= error;
      else if (!world.dying && world.epoch === epoch && world.port === port)
        violation ??= new Violation(`reading failed: ${error}`);
    }
  }
  const loops = Array.from({ length: count }, async () => {
    for (let turn = 0; !stopped && !violation; turn++) await one(turn);
  });
  return {
    reads: () => reads,
    check() {
      if (violation) throw violation;
    },
    async stop() {
      stopped = true;
      await Promise.all(loops);
    },
  };
}
