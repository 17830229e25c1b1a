/** What was served a moment ago is served from memory by the shortest way: it must never outlive what it leads to. */
import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { type DeployResult, startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";

const server = await sharedServer();

/** A site whose page was just answered, three times. */
async function warmSite(): Promise<DeployResult> {
  const site = await server.deploy({ "index.html": "<title>old</title>", "about.html": "<title>about</title>" });
  for (let n = 0; n < 3; n++) expect((await server.site(site.slug)).status).toBe(200);
  return site;
}

describe("after a page was served from memory", () => {
  test("P3 a redeploy is seen by the next request, a rollback by the one after it", async () => {
    const site = await warmSite();
    const next = await server.redeploy(site, { "index.html": "<title>new</title>" });
    expect(await (await server.site(site.slug)).text()).toContain("<title>new");
    await server.api(`/sites/${site.site_id}/rollback`, {
      method: "POST",
      headers: { authorization: `Bearer ${next.manage_token}` },
      body: JSON.stringify({ version_id: site.version_id }),
    });
    expect(await (await server.site(site.slug)).text()).toContain("<title>old");
  });

  test("P7 the millisecond of its expiry ends it", async () => {
    await using own = await startServer("--anonymous-ttl", "30s");
    const site = await own.deploy({ "index.html": "<title>short</title>" });
    for (let n = 0; n < 3; n++) expect((await own.site(site.slug)).status).toBe(200);
    own.advance(site.expires_at! - own.now());
    expect((await own.site(site.slug)).status).toBe(410);
  });

  test.each<[what: string, act: (site: DeployResult) => void, status: number]>([
    ["a takedown", (site) => server.disable(site, "x"), 451],
    ["deletion", (site) => server.remove(site), 404],
    ["a claim", (site) => server.giveAway(site), 200],
  ])("%s acts at the next request", async (_, act, status) => {
    const site = await warmSite();
    act(site);
    const response = await server.site(site.slug);
    expect(response.status).toBe(status);
    if (status === 200) expect(response.headers.get("x-robots-tag")).toBeNull();
  });

  test("HEAD has no body, POST is 405, a condition and a coding are looked at anew", async () => {
    const site = await warmSite();
    expect(await (await server.site(site.slug, "/", { method: "HEAD" })).text()).toBe("");
    expect((await server.site(site.slug, "/", { method: "POST" })).status).toBe(405);
    const etag = `"${site.version_id}:/"`;
    expect((await server.site(site.slug, "/", { headers: { "if-none-match": etag } })).status).toBe(304);
    expect((await server.site(site.slug, "/", { headers: { "if-match": '"other"' } })).status).toBe(412);
  });

  test("its version host keeps its own headers", async () => {
    const site = await warmSite();
    for (let n = 0; n < 3; n++) {
      const stored = await server.site(`${site.version_id}--${site.slug}`);
      expect(stored.headers.get("cache-control")).toBe("public, max-age=3600");
      const live = await server.site(site.slug);
      expect(live.headers.get("cache-control")).toBe("public, max-age=60, must-revalidate");
    }
  });

  test("H38 a second Host header is refused as ever", async () => {
    const site = await warmSite();
    const host = `${site.slug}.localhost:${server.port}`;
    expect(await raw(`GET / HTTP/1.1\r\nHost: ${host}\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)).toStartWith(
      "HTTP/1.1 400",
    );
    expect(await raw(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)).toStartWith("HTTP/1.1 200");
  });
});

const raw = (request: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(server.port, "127.0.0.1", () => void socket.write(request));
    socket.on("data", (chunk) => (answer += chunk.toString("latin1")));
    socket.on("close", () => resolve(answer));
    socket.on("error", reject);
  });
