/** RELIABILITY 2, K33 and K34: what was answered about comments is there after kill -9, once. */
import { expect, test } from "bun:test";
import { FREELY, type Mode } from "./commented.ts";
import { deploy } from "../kit/coding-attacks.ts";
import { bearer } from "../kit/people.ts";
import { local, type ServerProcess, startProcess, temporaryFolder } from "../kit/process.ts";
import { JSON_TYPE } from "../kit/server.ts";

const ROUNDS = 8;
const WRITERS = 4;
/** A page takes 500 threads: each writer has one of its own in each round. */
const pageOf = (n: number, writer: number): string => `r${n}-${writer}.html`;
const MODES: readonly Mode[] = ["anonymous", "approved"];

/** Of one site, whatever process serves it. */
interface World {
  server: ServerProcess;
  site: Awaited<ReturnType<typeof deploy>>;
  /** Texts that were answered 201 or 200. */
  answered: Set<string>;
  /** The mode that was answered last, and one that may have been stored without an answer. */
  mode: { answered: Mode; asked: Mode };
}

const owner = ({ server, site }: World, method: string, path: string, body?: object): Promise<Response> =>
  fetch(`${local(server)}/sites/${site.site_id}/comments/${path}`, {
    method,
    headers: { ...bearer(site.manage_token), ...(body && JSON_TYPE) },
    ...(body && { body: JSON.stringify(body) }),
  });

/** One try under one key: repeated, it must not be written twice. */
async function post(world: World, cookies: Map<number, string>, n: number, writer: number, text: string, key: string) {
  const { server, site } = world;
  const host = `${site.slug}.localhost:${server.port}`;
  const cookie = cookies.get(writer);
  const answer = await fetch(`${local(server)}/_svc/comments/`, {
    method: "POST",
    headers: { ...JSON_TYPE, host, origin: `http://${host}`, ...(cookie && { cookie }) },
    body: JSON.stringify({
      body: { type: "TextualBody", value: text },
      target: `http://${host}/${pageOf(n, writer)}`,
      canonical: `urn:uuid:${key}`,
    }),
  });
  const said = await answer.text();
  if (answer.status !== 201 && answer.status !== 200) throw new Error(`answered ${answer.status}: ${said}`);
  const set = answer.headers.get("set-cookie")?.split(";", 1)[0];
  if (set) cookies.set(writer, set);
  world.answered.add(text);
}

/** Writes and changes the mode until the server is killed in the middle of it; what was under way is tried again after. */
async function round(world: World, n: number, cookies: Map<number, string>, left: Map<string, [number, string]>) {
  let killed = false;
  const writing = Array.from({ length: WRITERS }, async (_, writer) => {
    for (let k = 0; !killed; k++) {
      const text = `round ${n}, writer ${writer}, number ${k}`;
      const key = crypto.randomUUID();
      left.set(text, [writer, key]);
      try {
        await post(world, cookies, n, writer, text, key);
        left.delete(text);
      } catch (error) {
        if (!killed) throw error;
      }
    }
  });
  const switching = (async () => {
    for (let k = 0; !killed; k++) {
      const mode = MODES[k % MODES.length]!;
      world.mode.asked = mode;
      try {
        const answer = await owner(world, "PATCH", "settings", { mode });
        expect(answer.status).toBe(200);
        world.mode.answered = mode;
      } catch (error) {
        if (!killed) throw error;
      }
    }
  })();
  await Bun.sleep(100 + 60 * n);
  killed = true;
  world.server.kill("SIGKILL");
  await Promise.all([...writing, switching, world.server.exited]);
}

async function storedTexts(world: World): Promise<string[]> {
  const texts: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const answer = await owner(world, "GET", `threads?${cursor ? `cursor=${encodeURIComponent(cursor)}` : ""}`);
    expect(answer.status).toBe(200);
    const body = (await answer.json()) as {
      threads: { comments: { text: string }[] }[];
      next_cursor: string | null;
    };
    texts.push(...body.threads.flatMap(({ comments }) => comments.map(({ text }) => text)));
    cursor = body.next_cursor;
  }
  return texts;
}

test(`K33, K34: ${ROUNDS} kills among posts and changes of mode lose nothing that was answered, and double nothing`, async () => {
  await using dir = await temporaryFolder();
  const flags = ["--data-dir", dir.path, "--log", "off"];
  const start = (): Promise<ServerProcess> => startProcess(flags, { env: FREELY });
  const server = await start();
  const pages = Array.from({ length: ROUNDS * WRITERS }, (_, i) => pageOf(Math.floor(i / WRITERS), i % WRITERS));
  const site = await deploy(server, Object.fromEntries(pages.map((page) => [page, `<title>${page}</title>`])));
  const world: World = { server, site, answered: new Set(), mode: { answered: "off", asked: "off" } };
  expect((await owner(world, "PATCH", "settings", { mode: "anonymous" })).status).toBe(200);
  const cookies = new Map<number, string>();
  const left = new Map<string, [number, string]>();
  // Who they are is answered: without its cookie a try again would be another visitor's.
  for (let writer = 0; writer < WRITERS; writer++)
    await post(world, cookies, 0, writer, `first of ${writer}`, crypto.randomUUID());
  let under_way = 0;
  for (let n = 0; n < ROUNDS; n++) {
    await round(world, n, cookies, left);
    world.server = await start();
    const { mode } = (await (await owner(world, "GET", "settings")).json()) as { mode: Mode };
    expect([world.mode.answered, world.mode.asked]).toContain(mode);
    under_way += left.size;
    for (const [text, [writer, key]] of left) await post(world, cookies, n, writer, text, key);
    left.clear();
    const stored = await storedTexts(world);
    expect(stored.toSorted()).toEqual([...world.answered].toSorted());
  }
  expect(world.answered.size).toBeGreaterThan(ROUNDS * WRITERS);
  expect(under_way).toBeGreaterThan(0);
  await world.server.end();
}, 180_000);
