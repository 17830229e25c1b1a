/** Expiry (SPEC, CONTRACT 2 and 4.4, K26): an anonymous site is gone at the moment it names, swept in its time, and never
 *  comes back. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type AuditLine, blobFile, listed, operate } from "../kit/operator.ts";
import { bearer } from "../kit/people.ts";
import { startProcess, temporaryFolder } from "../kit/process.ts";
import { type DeployResult, startServer, type TestServer } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { zipOf } from "../kit/zip.ts";
import { longTest } from "../kit/whole.ts";

setDefaultTimeout(60_000);

const DAY_MS = 86_400_000;

describe("with a moved clock", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test("expires_at is SVC_ANONYMOUS_TTL after the deploy, 14 days unless set; a redeploy does not move it", async () => {
    const before = server.now();
    const site = await server.deploy({ "index.html": "x" });
    expect(site.expires_at).toBeGreaterThanOrEqual(before + 14 * DAY_MS);
    expect(site.expires_at).toBeLessThanOrEqual(server.now() + 14 * DAY_MS);
    server.advance(DAY_MS);
    expect((await server.redeploy(site, { "index.html": "y" })).expires_at).toBe(site.expires_at);
    server.advance(-DAY_MS);
  });

  test("H35, P7 it is 410 from that millisecond on, before any sweep, on every address of the site", async () => {
    const site = await server.deploy({ "index.html": "x", "a.txt": "y" });
    expect((await server.site(site.slug)).status).toBe(200);
    const left = site.expires_at! - server.now();
    server.advance(left - 1000);
    expect((await server.site(site.slug)).status).toBe(200);
    server.advance(1000);
    const hosts: [string, string, RequestInit][] = [
      [site.slug, "/", {}],
      [site.slug, "/a.txt", { headers: { range: "bytes=0-0" } }],
      [site.slug, "/", { headers: { "if-none-match": "*" } }],
      [site.slug, "/missing", {}],
      [site.slug, "/", { method: "HEAD" }],
      [`${site.version_id}--${site.slug}`, "/", {}],
    ];
    for (const [slug, path, init] of hosts) {
      const answer = await server.site(slug, path, init);
      expect([slug, path, answer.status, answer.headers.get("cache-control")]).toEqual([slug, path, 410, "no-store"]);
    }
    server.advance(-left);
  });

  test("on the API it is gone for its former token, and unauthorized for others", async () => {
    const site = await server.deploy({ "index.html": "x" });
    const other = await server.deploy({ "index.html": "other" });
    server.advance(14 * DAY_MS);
    const at = (headers: Record<string, string>) => server.api(`/sites/${site.site_id}`, { headers });
    expect((await at(bearer(site.manage_token))).status).toBe(404);
    expect(await (await at(bearer(site.manage_token))).json()).toMatchObject({ code: "unknown_site" });
    expect((await at(bearer(other.manage_token))).status).toBe(401);
    const body = zipOf({ "index.html": "again" });
    const headers = { ...bearer(site.manage_token), "content-type": "application/zip" };
    expect((await server.api(`/sites/${site.site_id}/deploys`, { method: "POST", body, headers })).status).toBe(404);
    server.advance(-14 * DAY_MS);
  });
});

test("the sweep removes what expired and keeps the tombstone: still 410, the token still learns that it is gone", async () => {
  await using server = await startServer("--gc-interval", "1s");
  const site = await server.deploy({ "index.html": "x" });
  const kept = await server.deploy({ "index.html": "y" });
  server.expire(site);
  const sites = async () => (await listed<{ site_id: string }>(server.data_dir, "sites")).map((row) => row.site_id);
  await until(async () => !(await sites()).includes(site.site_id));
  expect(await sites()).toEqual([kept.site_id]);
  expect((await server.site(site.slug)).status).toBe(410);
  expect((await server.api(`/sites/${site.site_id}`, { headers: bearer(site.manage_token) })).status).toBe(404);
  const audit = (await listed<AuditLine>(server.data_dir, "audit")).filter((row) => row.site_id === site.site_id);
  expect(audit).toMatchObject([{ actor: "expiry", action: "expire" }]);
});

test("K26 a clock that is set back a year brings no swept site back; one that is ahead sweeps no owned one", async () => {
  await using server = await startServer();
  const site = await server.deploy({ "index.html": "x" });
  const owned = await server.deploy({ "index.html": "owned" });
  server.giveAway(owned);
  await server.running.store.sweep(server.now() + 400 * DAY_MS);
  server.advance(-365 * DAY_MS);
  expect((await server.site(site.slug)).status).toBe(410);
  server.advance(2 * 365 * DAY_MS);
  expect((await server.site(site.slug)).status).toBe(410);
  expect((await server.site(owned.slug)).status).toBe(200);
});

longTest("once for real: a server with a TTL of seconds and two workers, nobody's hand on the clock", async () => {
  await using folder = await temporaryFolder();
  const flags = ["--anonymous-ttl", "10s", "--gc-interval", "1s", "--workers", "2", "--log", "off"];
  const child = await startProcess(["--data-dir", folder.path, ...flags]);
  const at = (slug: string) =>
    fetch(`http://127.0.0.1:${child.port}/`, {
      headers: { host: `${slug}.localhost:${child.port}`, connection: "close" },
      keepalive: false,
    });
  try {
    const made = await fetch(`http://127.0.0.1:${child.port}/sites`, {
      method: "POST",
      body: zipOf({ "index.html": "for ten seconds" }),
      headers: { "content-type": "application/zip" },
    });
    const site = (await made.json()) as DeployResult;
    expect((await at(site.slug)).status).toBe(200);
    await Bun.sleep(Math.max(0, site.expires_at! - Date.now()));
    const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await at(site.slug)).status));
    expect(new Set(statuses)).toEqual(new Set([410]));
    await until(async () => (await listed(folder.path, "sites")).length === 0);
    expect((await at(site.slug)).status).toBe(410);
    expect((await listed<AuditLine>(folder.path, "audit")).map((row) => row.actor)).toEqual(["expiry"]);
    // Its bytes stay for an hour: a deploy of the same may be under way.
    await operate(folder.path, "gc");
    expect(await Bun.file(blobFile(folder.path, "for ten seconds")).exists()).toBe(true);
  } finally {
    await child.end();
  }
});
