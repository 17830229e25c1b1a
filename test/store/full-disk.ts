/** What a server does on a disk without room (P6): the whole story, on a small file system that is given. */
import { closeSync, fsyncSync, openSync, rmSync, statSync, truncateSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DELTA, deltaOf, planned, sha256 } from "../kit/delta.ts";
import { operator } from "../kit/operator.ts";
import { type ServerProcess, sharedPages, startProcess } from "../kit/process.ts";
import { until } from "../kit/until.ts";
import { zipOf } from "../kit/zip.ts";

/** Writes until nothing goes in any more, in ever smaller pieces; a copying file system finds some room after a flush. */
export function fill(file: string): void {
  const fd = openSync(file, "a");
  const fits = (bytes: Uint8Array): boolean => {
    try {
      return writeSync(fd, bytes) === bytes.length;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOSPC") return false;
      throw error;
    }
  };
  for (const size of [1 << 20, 4096, 1]) {
    const bytes = noiseOf(size);
    for (let pieces = 0; pieces < 4096 && fits(bytes); pieces++);
    try {
      fsyncSync(fd);
    } catch {} // full is what it is to be
  }
  closeSync(fd);
}

interface Made {
  site_id: string;
  slug: string;
}

const small = (text: string) =>
  zipOf({ "index.html": `<title>${text}</title>`, "cold.txt": `cold ${text}`, "noise.bin": noiseOf(400_000) });
const noiseOf = (bytes: number): Uint8Array =>
  Buffer.concat(
    Array.from({ length: Math.ceil(bytes / 65_536) }, () => crypto.getRandomValues(new Uint8Array(65_536))),
  ).subarray(0, bytes);

async function send(
  server: ServerProcess,
  method: string,
  path: string,
  token: string,
  body?: Uint8Array<ArrayBuffer> | object,
  type = "application/zip",
) {
  const zip = body instanceof Uint8Array;
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method,
    headers: {
      "content-type": zip ? type : "application/json",
      ...(token && { authorization: `Bearer ${token}` }),
    },
    ...(body && { body: zip ? body : JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Made & { code?: string; session_token: string } };
}

function same(what: string, found: unknown, expected: unknown): void {
  if (Bun.deepEquals(found, expected)) return;
  throw new Error(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
}

async function get(server: ServerProcess, { slug }: Made, path: string): Promise<[number, string]> {
  const headers = { host: `${slug}.localhost` };
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { headers });
  return [response.status, await response.text()];
}

/** The server and what lies on its disk, for the parts of the story. */
interface Story {
  data_dir: string;
  filler: string;
  server: ServerProcess;
  token: string;
  kept: Made;
  first: Made;
  second: Made;
  ci: { token: string; token_id: string };
}

const start = (data_dir: string): Promise<ServerProcess> =>
  startProcess(["--data-dir", data_dir, "--log", "off"], { env: { SVC_RATE_OWNED: "off" } });

const deploy = ({ server, token }: Story) => send(server, "POST", "/sites", token, small("more"));

const LISTED = { "index.html": "<title>kept</title>again", "cold.txt": "cold kept" };

const plan = ({ server, token, kept }: Story) =>
  send(server, "POST", `/sites/${kept.site_id}/plan`, token, planned(LISTED));

/** What it leaves out is there. */
const delta = ({ server, token, kept }: Story) => {
  const body = deltaOf(LISTED, [sha256(LISTED["index.html"])]);
  return send(server, "POST", `/sites/${kept.site_id}/deploys`, token, body, DELTA["content-type"]);
};

async function keepsServing({ server, kept }: Story, when: string): Promise<void> {
  const ended = await Promise.race([server.exited, Bun.sleep(300).then(() => null)]);
  if (ended !== null) throw new Error(`${when} the server ended with ${ended}: ${server.stderr()}`);
  same(`a page ${when}`, (await get(server, kept, "/"))[1].includes("<title>kept</title>"), true);
}

/** What it did is what it says: a preview on a full disk is made live or stays one, whole. */
async function promotes({ server, token, kept }: Story): Promise<void> {
  const { status } = await send(server, "POST", `/sites/${kept.site_id}/previews/good/promote`, token);
  same("a promotion on a full disk is answered", [200, 507].includes(status), true);
  same("the page then", (await get(server, kept, "/"))[1].includes("good"), status === 200);
  const there = await get(server, { ...kept, slug: `good--${kept.slug}` }, "/");
  same("its preview then", there[0], status === 200 ? 404 : 200);
}

async function deletes({ server, token }: Story, site: Made): Promise<void> {
  const { status } = await send(server, "DELETE", `/account/sites/${site.site_id}`, token);
  same("a delete on a full disk", status, 200);
  same("the deleted site", (await get(server, site, "/"))[0], 404);
}

const STORY: Record<string, (story: Story) => Promise<void>> = {
  async "nearly full: deploys are refused ahead, pages go on"(story) {
    fill(story.filler);
    truncateSync(story.filler, statSync(story.filler).size - (8 << 20));
    const { status, body } = await deploy(story);
    same("a deploy on a nearly full disk", [status, body.code], [507, "storage_full"]);
    await keepsServing(story, "on a nearly full disk");
    await until(() => story.server.stderr().includes(" error no room on the disk: "));
  },
  async "full to the last byte: pages go on, what was never asked for too"(story) {
    fill(story.filler);
    await keepsServing(story, "on a full disk");
    const cold = await get(story.server, story.first, "/cold.txt");
    same("a page that was never asked for", cold, [200, "cold first"]);
    same("a deploy on a full disk", (await deploy(story)).status, 507);
    const sent = await Promise.all([plan(story), delta(story)]);
    same(
      "a plan and a delta on a full disk",
      sent.map(({ status }) => status),
      [507, 507],
    );
    await keepsServing(story, "after a delta");
  },
  async "a preview and a token end, none is made"(story) {
    const { server, token, kept, ci } = story;
    const previews = `/sites/${kept.site_id}/previews`;
    same("a preview on a full disk", (await send(server, "POST", previews, token, small("more"))).status, 507);
    same("the end of one", (await send(server, "DELETE", `${previews}/bad`, ci.token)).status, 200);
    same("its page", (await get(server, { ...kept, slug: `bad--${kept.slug}` }, "/"))[0], 404);
    await promotes(story);
    same("the end of a token", (await send(server, "DELETE", `/account/tokens/${ci.token_id}`, token)).status, 200);
    same("what it opened", (await send(server, "GET", previews, ci.token)).status, 401);
    await keepsServing(story, "after previews");
  },
  async "calls that are counted, and writes that are refused"(story) {
    for (let n = 0; n < 8; n++) {
      const who = { email: "full@example.org", password: `a wrong one ${n}` };
      const { status } = await send(story.server, "POST", "/auth/login", "", who);
      same("a sign-in on a full disk is answered", [401, 429, 503, 507].includes(status), true);
    }
    await keepsServing(story, "after calls that are counted");
  },
  "a site is deleted": (story) => deletes(story, story.first),
  async "killed and started again, full"(story) {
    story.server.kill("SIGKILL");
    await story.server.exited;
    fill(story.filler);
    story.server = await start(story.data_dir);
    await keepsServing(story, "after the restart");
    same("the deleted site", (await get(story.server, story.first, "/"))[0], 404);
    await deletes(story, story.second);
    await keepsServing(story, "after a delete");
  },
  async "a sweep by the operator"({ data_dir }) {
    const { code, stderr } = await operator(data_dir, ["gc"]);
    same("gc on a full disk", [code, code === 0 ? "" : stderr], [0, ""]);
  },
  async "room again: deploys work without a restart"(story) {
    rmSync(story.filler);
    Bun.spawnSync(["sync", "-f", story.data_dir]); // a copying file system has the room after its next commit
    same("a deploy where there is room again", (await deploy(story)).status, 200);
    same("a delta where there is room again", (await delta(story)).status, 200);
    same("what it left out", (await get(story.server, story.kept, "/cold.txt"))[1], "cold kept");
    same("verify", (await operator(story.data_dir, ["verify"])).code, 0);
    await keepsServing(story, "in the end");
  },
};

async function begin(mounted: string): Promise<Story> {
  const data_dir = join(mounted, "data");
  const server = await start(data_dir);
  const who = { email: "full@example.org", password: "correct horse battery" };
  const token = (await send(server, "POST", "/auth/signup", "", who)).body.session_token;
  const made = async (text: string) => (await send(server, "POST", "/sites", token, small(text))).body;
  const [kept, first, second] = [await made("kept"), await made("first"), await made("second")];
  for (const name of ["good", "bad"]) {
    await send(server, "POST", `/sites/${kept.site_id}/previews?name=${name}`, token, small(`kept</title>${name}`));
  }
  const ci = (await send(server, "POST", "/account/tokens", token, { name: "ci", scopes: ["preview"] })).body as never;
  return { data_dir, filler: join(mounted, "filler"), server, token, kept, first, second, ci };
}

/** Runs the story in `mounted`, a file system of about 192 MB; returns its parts. Throws at the first thing that is not as
 *  it should be. */
export async function onFullDisk(mounted: string): Promise<string[]> {
  const story = await begin(mounted);
  try {
    for (const [name, part] of Object.entries(STORY)) {
      await part(story).catch((error: Error) => {
        throw new Error(`${name}: ${error.message}`);
      });
    }
    return Object.keys(STORY);
  } finally {
    await story.server.end();
    for (const page of sharedPages(story.data_dir)) rmSync(page, { force: true });
  }
}
