/** RELIABILITY A33 in processes: a version that was deleted, or is withheld, is so in every worker at the next request, and after
 *  kill -9; what is left is sound, and so is a backup of it. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { operate } from "../kit/operator.ts";
import { PASSWORD } from "../kit/people.ts";
import { local, type ServerProcess, startProcess, temporaryFolder } from "../kit/process.ts";
import { type DeployResult, JSON_TYPE, ZIP } from "../kit/server.ts";
import { zipOf } from "../kit/zip.ts";

/** The machine may be busy. */
setDefaultTimeout(60_000);

/** New connections spread over the workers: in this many both are asked, but once in a million runs. */
const TRIES = 20;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let data_dir: string;
let server: ServerProcess;
const start = () => startProcess(["--data-dir", data_dir, "--workers", "2", "--log", "off"]);
beforeAll(async () => {
  folder = await temporaryFolder();
  data_dir = join(folder.path, "data");
  server = await start();
}, 60_000);
afterAll(async () => {
  await server.end();
  await folder[Symbol.asyncDispose]();
});

/** Each on a connection of its own. */
const ask = (path: string, init: RequestInit & { headers?: Record<string, string> } = {}) =>
  fetch(local(server) + path, { ...init, headers: { connection: "close", ...init.headers } });

/** The statuses of an address in all workers, each once. */
async function everywhere(label: string, path: string): Promise<number[]> {
  const seen = new Set<number>();
  for (let i = 0; i < TRIES; i++) {
    seen.add((await ask(path, { headers: { host: `${label}.localhost:${server.port}` } })).status);
  }
  return [...seen];
}

const SECRET = `const key = "${["sk", "live"].join("_")}_${"4eC39HqLyjWDarjtT1zdp7dc"}";`;
const body = async <T>(asked: Promise<Response>): Promise<T> => {
  const answer = await asked;
  if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as T;
};

test("A33 a deleted version and a withheld one are 404 in every worker at the next request, and after kill -9", async () => {
  const credentials = JSON.stringify({ email: "ann@example.org", password: PASSWORD });
  const signed_up = ask("/auth/signup", { method: "POST", headers: JSON_TYPE, body: credentials });
  const { session_token } = await body<{ session_token: string }>(signed_up);
  const bearer = { authorization: `Bearer ${session_token}` };
  const deploy = (files: Record<string, string>, path = "/sites") =>
    body<DeployResult>(ask(path, { method: "POST", headers: { ...ZIP, ...bearer }, body: zipOf(files) }));

  const first = await deploy({ "index.html": "first", "private.csv": "Ada,1" });
  const at = `/sites/${first.site_id}`;
  const leaky = await deploy({ "index.html": "leaky", "app.js": SECRET }, `${at}/deploys`);
  const [old, secret] = [first, leaky].map(({ version_id }) => `${version_id}--${first.slug}`) as [string, string];
  expect([await everywhere(old, "/private.csv"), await everywhere(secret, "/app.js")]).toEqual([[200], [200]]);
  await deploy({ "index.html": "mended" }, `${at}/deploys`);
  expect(await everywhere(secret, "/app.js")).toEqual([404]);
  await body(ask(`${at}/versions/${first.version_id}`, { method: "DELETE", headers: bearer }));
  await server.end();

  server = await start();
  expect([await everywhere(old, "/private.csv"), await everywhere(secret, "/app.js")]).toEqual([[404], [404]]);
  expect(await everywhere(first.slug, "/")).toEqual([200]);
  await body(ask(`${at}/versions/${leaky.version_id}`, { method: "DELETE", headers: bearer }));
  expect(await everywhere(secret, "/app.js")).toEqual([404]);
  const { versions } = await body<{ versions: unknown[] }>(ask(at, { headers: bearer }));
  expect(versions).toHaveLength(1);

  const backup = join(folder.path, "backup");
  await operate(data_dir, "verify");
  await operate(data_dir, "backup", backup);
  await operate(backup, "verify");
  const deleted = JSON.parse((await operate(data_dir, "audit", "--json")).stdout) as {
    action: string;
    reason: string;
  }[];
  expect(deleted.filter(({ action }) => action === "delete-version").map(({ reason }) => reason)).toEqual([
    first.version_id,
    leaky.version_id,
  ]);
});
