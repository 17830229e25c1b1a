/** RELIABILITY H59: HSTS on the API's host under https, and nowhere else. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { TLS_CERT, TLS_KEY } from "../kit/paths.ts";
import { type DeployResult, startServer, type TestServer, ZIP } from "../kit/server.ts";
import { zipOf } from "../kit/zip.ts";

const POLICY = "max-age=31536000";

describe("under https", () => {
  let server: TestServer;
  let slug: string;
  beforeAll(async () => {
    const tls = ["--tls-cert", TLS_CERT, "--tls-key", TLS_KEY];
    server = await startServer("--base-url", "https://svc.test", "--sites-domain", "svc.test", ...tls);
    const made = await ask("svc.test", "/sites", { method: "POST", body: zipOf({ "index.html": "x" }), headers: ZIP });
    ({ slug } = (await made.json()) as DeployResult);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const ask = (host: string, path: string, init: RequestInit = {}) =>
    fetch(`https://127.0.0.1:${server.port}${path}`, {
      ...init,
      redirect: "manual",
      headers: { ...(init.headers as Record<string, string>), host },
      tls: { rejectUnauthorized: false },
    });

  test.each<[path: string, status: number, init: RequestInit]>([
    ["/healthz", 200, {}],
    ["/limits", 200, {}],
    ["/signin", 200, {}],
    ["/device?user_code=BCDF-GHJK", 303, {}],
    ["/llms.txt", 200, {}],
    ["/account", 401, {}],
    ["/nothing", 404, {}],
    ["/signin", 405, { method: "DELETE" }],
    ["/auth/login", 415, { method: "POST", body: "x" }],
    ["/metrics", 404, {}],
  ])("the API's host has it, on every answer: %s, %i", async (path, status, init) => {
    const answer = await ask("svc.test", path, init);
    expect(answer.status).toBe(status);
    expect(answer.headers.get("strict-transport-security")).toBe(POLICY); // no includeSubDomains: sites are subdomains
  });

  test.each<[host: string, path: string, status: number]>([
    ["SITE.svc.test", "/", 200],
    ["SITE.svc.test", "/", 200], // the answer that is kept
    ["SITE.svc.test", "/nothing", 404],
    ["SITE.svc.test", "/_svc/report", 405],
    ["nobody-here-0000.svc.test", "/", 404],
    ["elsewhere.test", "/", 404],
    ["elsewhere.test", "/healthz", 200],
  ])("no other host has it: %s%s, %i", async (host, path, status) => {
    const answer = await ask(host.replace("SITE", slug), path);
    expect([answer.status, answer.headers.has("strict-transport-security")]).toEqual([status, false]);
  });
});

test.each<[title: string, flags: string[], host: string]>([
  ["under http", ["--base-url", "http://svc.test", "--sites-domain", "sites.test"], "svc.test"],
  ["on localhost, whose name other programs share", ["--base-url", "https://localhost"], "localhost"],
])("%s it is not said", async (_, flags, host) => {
  await using server = await startServer(...flags);
  const answer = await server.api("/healthz", { headers: { host } });
  expect([answer.status, answer.headers.has("strict-transport-security")]).toEqual([200, false]);
});

test("behind a proxy that speaks TLS the base URL says https, so it is said", async () => {
  await using server = await startServer("--base-url", "https://svc.test", "--sites-domain", "sites.test");
  const answer = await server.api("/healthz", { headers: { host: "svc.test" } });
  expect(answer.headers.get("strict-transport-security")).toBe(POLICY);
});
