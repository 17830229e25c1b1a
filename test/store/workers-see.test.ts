/** Two workers on one port: what an account does through one is so in the other at the next request. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { PASSWORD } from "../kit/people.ts";
import { type ServerProcess, startProcess, temporaryFolder } from "../kit/process.ts";
import type { DeployResult } from "../kit/server.ts";
import { zipOf } from "../kit/zip.ts";

/** The machine may be busy. */
setDefaultTimeout(60_000);

/** New connections spread over the workers: in this many both are asked, but once in a million runs. */
const TRIES = 20;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let server: ServerProcess;
beforeAll(async () => {
  folder = await temporaryFolder();
  server = await startProcess(["--data-dir", folder.path, "--workers", "2", "--log", "off"]);
}, 60_000);
afterAll(async () => {
  await server.end();
  await folder[Symbol.asyncDispose]();
});

/** Each on a connection of its own. */
const ask = (path: string, init: RequestInit & { headers?: Record<string, string> } = {}) =>
  fetch(`http://127.0.0.1:${server.port}${path}`, { ...init, headers: { connection: "close", ...init.headers } });
const json = (method: string, path: string, body: unknown, token = "") =>
  ask(path, {
    method,
    headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
  });
const everywhere = async <T>(once: () => Promise<T>): Promise<T[]> => {
  const seen = new Set<T>();
  for (let i = 0; i < TRIES; i++) seen.add(await once());
  return [...seen];
};
const site = (slug: string) => ask("/", { headers: { host: `${slug}.localhost:${server.port}` } });

test("claim, rename, deletion and sign-out hold in every worker at the next request", async () => {
  const account = (await (
    await json("POST", "/auth/signup", { email: "ann@example.org", password: PASSWORD })
  ).json()) as { session_token: string };
  const token = account.session_token;
  const headers = { "content-type": "application/zip" };
  const made = (await (
    await ask("/sites", { method: "POST", headers, body: zipOf({ "index.html": "x" }) })
  ).json()) as DeployResult;
  const robots = async () => (await site(made.slug)).headers.get("x-robots-tag");
  const label = async () => {
    const answer = await ask(`/sites/${made.site_id}`, { headers: { authorization: `Bearer ${token}` } });
    return ((await answer.json()) as { label: string | null }).label;
  };
  expect(await everywhere(robots)).toEqual(["noindex"]);
  expect((await json("POST", `/sites/${made.site_id}/claim`, { claim_token: made.claim_token }, token)).status).toBe(
    200,
  );
  expect(await everywhere(robots)).toEqual([null]);
  await json("PATCH", `/account/sites/${made.site_id}`, { label: "mine" }, token);
  expect(await everywhere(label)).toEqual(["mine"]);
  await json("DELETE", `/account/sites/${made.site_id}`, {}, token);
  expect(await everywhere(async () => (await site(made.slug)).status)).toEqual([404]);
  await json("POST", "/auth/logout", {}, token);
  const whoami = () => ask("/account", { headers: { authorization: `Bearer ${token}` } });
  expect(await everywhere(async () => (await whoami()).status)).toEqual([401]);
}, 60_000);

test("a device that is approved through one worker gets one token from both", async () => {
  const { session_token } = (await (
    await json("POST", "/auth/signup", { email: "ben@example.org", password: PASSWORD })
  ).json()) as { session_token: string };
  const started = (await (await json("POST", "/auth/device/code", {})).json()) as {
    device_code: string;
    user_code: string;
  };
  const approved = await ask("/device", {
    method: "POST",
    headers: { authorization: `Bearer ${session_token}`, "content-type": "application/x-www-form-urlencoded" },
    body: `user_code=${started.user_code}&decision=approve`,
    redirect: "manual",
  });
  expect(approved.status).toBe(303);
  const { device_code } = started;
  const answers = await Promise.all(
    Array.from({ length: TRIES }, async () => (await json("POST", "/auth/device/token", { device_code })).status),
  );
  expect(answers.filter((status) => status === 200)).toHaveLength(1);
  expect(new Set(answers)).toEqual(new Set([200, 400]));
}, 60_000);
