/** What a server does on a disk without room (P6): the whole story, on a small file system that is given. */
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { operator } from "../kit/operator.ts";
import { type ServerProcess, startProcess } from "../kit/process.ts";
import { zipOf } from "../kit/zip.ts";

/** Writes until nothing goes in any more, in ever smaller pieces; a copying file system finds some room after a flush. */
export function fill(file: string, leave = 0): void {
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
    const piece = crypto.getRandomValues(new Uint8Array(Math.min(size, 65_536)));
    const bytes = Buffer.concat(Array.from({ length: Math.ceil(size / 65_536) }, () => piece));
    for (let pieces = 0; pieces < 4096 && fits(bytes); pieces++);
    try {
      fsyncSync(fd);
    } catch {} // full is what it is to be
  }
  closeSync(fd);
  if (leave > 0) truncateBy(file, leave);
}

function truncateBy(file: string, bytes: number): void {
  const { size } = Bun.file(file);
  Bun.spawnSync(["truncate", "-s", String(size - bytes), file]);
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
  );

async function send(
  server: ServerProcess,
  method: string,
  path: string,
  token: string,
  body?: Uint8Array<ArrayBuffer> | object,
) {
  const zip = body instanceof Uint8Array;
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method,
    headers: {
      "content-type": zip ? "application/zip" : "application/json",
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

/** Runs the story in `mounted`, a file system of about 192 MB. Throws at the first thing that is not as it should be. */
export async function onFullDisk(mounted: string, note: (line: string) => void = () => {}): Promise<void> {
  const data_dir = join(mounted, "data");
  const filler = join(mounted, "filler");
  const start = () => startProcess(["--data-dir", data_dir, "--log", "off"], { env: { SVC_RATE_OWNED: "off" } });
  let server = await start();
  const alive = async (what: string) => {
    const ended = await Promise.race([server.exited, Bun.sleep(300).then(() => null)]);
    if (ended !== null) throw new Error(`${what}: the server ended with ${ended}: ${server.stderr()}`);
  };
  try {
    const who = { email: "full@example.org", password: "correct horse battery" };
    const token = (await send(server, "POST", "/auth/signup", "", who)).body.session_token;
    const sites: Made[] = [];
    for (const text of ["kept", "first", "second"])
      sites.push((await send(server, "POST", "/sites", token, small(text))).body);
    const [kept, first, second] = sites as [Made, Made, Made];
    const title = async () => (await get(server, kept, "/"))[1].includes("<title>kept</title>");
    const deploy = async () => (await send(server, "POST", "/sites", token, small("more"))).status;

    note("nearly full: deploys are refused ahead, pages go on");
    fill(filler, 8 << 20);
    const { status, body } = await send(server, "POST", "/sites", token, small("more"));
    same("a deploy on a nearly full disk", [status, body.code], [507, "storage_full"]);
    same("a page", await title(), true);

    note("full to the last byte: pages go on, what was never asked for too");
    fill(filler);
    await alive("on a full disk");
    same("a page", await title(), true);
    same("a page that was never asked for", await get(server, first, "/cold.txt"), [200, "cold first"]);
    same("a deploy on a full disk", await deploy(), 507);

    note("a site is deleted");
    same(
      "a delete on a full disk",
      (await send(server, "DELETE", `/account/sites/${first.site_id}`, token)).status,
      200,
    );
    same("the deleted site", (await get(server, first, "/"))[0], 404);

    note("killed and started again, full");
    server.kill("SIGKILL");
    await server.exited;
    fill(filler);
    server = await start();
    same("a page after the restart", await title(), true);
    same("the deleted site", (await get(server, first, "/"))[0], 404);
    same(
      "a delete on a full disk",
      (await send(server, "DELETE", `/account/sites/${second.site_id}`, token)).status,
      200,
    );
    await alive("after a restart on a full disk");

    note("a sweep by the operator");
    const gc = await operator(data_dir, ["gc"]);
    same("gc on a full disk", [gc.code, gc.code === 0 ? "" : gc.stderr], [0, ""]);

    note("room again: deploys work without a restart");
    rmSync(filler);
    same("a deploy where there is room again", await deploy(), 200);
    same("a page", await title(), true);
    const verify = await operator(data_dir, ["verify"]);
    same("verify", verify.code, 0);
    await alive("in the end");
  } finally {
    server.kill("SIGKILL");
    await server.exited;
  }
}
