/** BEYOND 1 to 3: the rules of a version hold in every worker from the request after its deploy on, after kill -9 too, and an
 *  older version goes on obeying its own. */
import { expect, test } from "bun:test";
import { PASSWORD } from "../kit/people.ts";
import { type ServerProcess, startProcess, temporaryFolder } from "../kit/process.ts";
import { type DeployResult, JSON_TYPE, ZIP } from "../kit/server.ts";
import { zipOf } from "../kit/zip.ts";

/** New connections spread over the workers. */
const TRIES = 20;
const PAGE = "<!doctype html><title>x</title>x";
const versionWith = (_redirects: string, _headers: string) => zipOf({ "index.html": PAGE, _redirects, _headers });

test("after kill -9 both workers obey the rules of what is live, of what was live, and of what a claim set free", async () => {
  await using folder = await temporaryFolder();
  const start = (): Promise<ServerProcess> =>
    startProcess(["--data-dir", folder.path, "--workers", "2", "--log", "off"], {
      env: { SVC_RATE_DEPLOY: "off", SVC_RATE_REDEPLOY: "off" },
    });
  let server = await start();
  const call = (path: string, init: RequestInit & { headers?: Record<string, string> } = {}) =>
    fetch(`http://127.0.0.1:${server.port}${path}`, {
      redirect: "manual",
      ...init,
      headers: { connection: "close", ...init.headers },
    });
  const post = async <Answer>(
    path: string,
    init: { body: string | Uint8Array<ArrayBuffer>; headers: Record<string, string> },
  ) => {
    const response = await call(path, { method: "POST", ...init });
    expect(response.status).toBe(200);
    return (await response.json()) as Answer;
  };
  const everywhere = async (host: string) => {
    const headers = { host: `${host}.localhost:${server.port}` };
    const seen = new Set<string>();
    for (let n = 0; n < TRIES; n++) {
      const [to, away, home] = await Promise.all(["/old", "/away", "/"].map((path) => call(path, { headers })));
      seen.add([to!.headers.get("location"), away!.status, home!.headers.get("x-made-by")].join(" "));
    }
    return [...seen];
  };
  const again = async () => {
    server.kill("SIGKILL");
    await server.exited;
    server = await start();
  };
  try {
    const first = versionWith("/old /first\n/away https://example.org/\n", "/\n  X-Made-By: one\n");
    const site = await post<DeployResult>("/sites", { body: first, headers: ZIP });
    const { site_id, slug, manage_token, claim_token, version_id } = site;
    expect(await everywhere(slug)).toEqual(["/first 404 one"]);
    await again();
    expect(await everywhere(slug)).toEqual(["/first 404 one"]);

    const second = versionWith("/old /second\n", "/\n  X-Made-By: two\n");
    const headers = { ...ZIP, authorization: `Bearer ${manage_token}` };
    await post(`/sites/${site_id}/deploys`, { body: second, headers });
    expect(await everywhere(slug)).toEqual(["/second 404 two"]);
    await again();
    expect(await everywhere(slug)).toEqual(["/second 404 two"]);
    expect(await everywhere(`${version_id}--${slug}`)).toEqual(["/first 404 one"]);

    const account = JSON.stringify({ email: "owner@example.org", password: PASSWORD });
    const { session_token } = await post<{ session_token: string }>("/auth/signup", {
      body: account,
      headers: JSON_TYPE,
    });
    const owner = { ...JSON_TYPE, authorization: `Bearer ${session_token}` };
    await post(`/sites/${site_id}/claim`, { body: JSON.stringify({ claim_token }), headers: owner });
    await post(`/sites/${site_id}/rollback`, { body: JSON.stringify({ version_id }), headers: owner });
    expect(await everywhere(slug)).toEqual(["/first 302 one"]);
    await again();
    expect(await everywhere(slug)).toEqual(["/first 302 one"]);
  } finally {
    server.kill("SIGKILL");
    await server.exited;
  }
}, 60_000);
