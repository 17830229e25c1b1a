/** BEYOND 0 on deploy tokens: what was answered acts at the next request of every worker, and survives kill -9. */
import { expect, test } from "bun:test";
import { operate } from "../../kit/operator.ts";
import { bearer, PASSWORD } from "../../kit/people.ts";
import { ended, local, type ServerProcess, startProcess, temporaryFolder } from "../../kit/process.ts";
import { JSON_TYPE } from "../../kit/server.ts";
import { zipOf } from "../../kit/zip.ts";

async function ask(server: ServerProcess, method: string, path: string, token?: string, body?: unknown) {
  const zip = body instanceof Uint8Array;
  const type = zip ? { "content-type": "application/zip" } : JSON_TYPE;
  const answer = await fetch(local(server) + path, {
    method,
    headers: { ...type, ...(token !== undefined && bearer(token)), connection: "close" },
    keepalive: false,
    ...(body !== undefined && { body: zip ? (body as Uint8Array<ArrayBuffer>) : JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, string> };
}

/** Workers share a port there alone. */
const onLinux = test.skipIf(process.platform !== "linux");

/** Of connections that fall to both workers. */
async function statuses(server: ServerProcess, path: string, token: string): Promise<number[]> {
  const answers = await Promise.all(Array.from({ length: 24 }, () => ask(server, "GET", path, token)));
  return [...new Set(answers.map(({ status }) => status))];
}

onLinux(
  "made: every worker knows it; killed and started anew: too; revoked: none, whatever is killed",
  async () => {
    await using folder = await temporaryFolder();
    const flags = ["--data-dir", folder.path, "--workers", "2", "--log", "off"];
    let server = await startProcess(flags);
    const again = async () => {
      await ended(server, "SIGKILL");
      server = await startProcess(flags);
    };
    const account = { email: "ann@example.org", password: PASSWORD };
    const { session_token } = (await ask(server, "POST", "/auth/signup", undefined, account)).body;
    const { site_id } = (await ask(server, "POST", "/sites", session_token, zipOf({ "index.html": "x" }))).body;
    const path = `/sites/${site_id}`;
    const wanted = { name: "CI", scopes: ["read"], site_ids: [site_id] };
    const { token, token_id } = (await ask(server, "POST", "/account/tokens", session_token, wanted)).body;
    expect(await statuses(server, path, token!)).toEqual([200]);
    await again();
    expect(await statuses(server, path, token!)).toEqual([200]);
    expect((await ask(server, "DELETE", `/account/tokens/${token_id}`, session_token)).status).toBe(200);
    expect(await statuses(server, path, token!)).toEqual([401]);
    await again();
    expect(await statuses(server, path, token!)).toEqual([401]);
    await server.end();
  },
  60_000,
);

test("a backup has them, verify finds nothing wrong with them, and restored they open what they did", async () => {
  await using folder = await temporaryFolder();
  const [from, to] = [`${folder.path}/data`, `${folder.path}/restored`];
  let server = await startProcess(["--data-dir", from, "--log", "off"]);
  const account = { email: "ann@example.org", password: PASSWORD };
  const { session_token } = (await ask(server, "POST", "/auth/signup", undefined, account)).body;
  const wanted = { name: "CI", scopes: ["create"] };
  const { token } = (await ask(server, "POST", "/account/tokens", session_token, wanted)).body;
  await operate(from, "verify");
  await operate(from, "backup", `${folder.path}/backup`);
  await server.end();
  await operate(to, "restore", `${folder.path}/backup`);
  server = await startProcess(["--data-dir", to, "--log", "off"]);
  expect((await ask(server, "POST", "/sites", token, zipOf({ "index.html": "x" }))).status).toBe(200);
  await server.end();
}, 60_000);
