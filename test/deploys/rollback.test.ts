/** SPEC "Endpoints" and CONTRACT 4.4: rolling back, and what ends a site. */
import { describe, expect, test } from "bun:test";
import { bearer } from "../kit/people.ts";
import { type DeployResult, startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { zipOf } from "../kit/zip.ts";
import { page, records } from "./site-record.ts";

const server = await sharedServer();

const record = records(() => server);

describe("POST /sites/:id/rollback", () => {
  test("moves the pointer, deletes nothing, and can roll forward again", async () => {
    const site = await server.deploy(page("old"));
    const newer = await server.redeploy(site, page("new"));
    const back = await server.rollback(site, site.version_id);
    expect(back.status).toBe(200);
    expect(await back.json()).toEqual({
      ok: true,
      site_id: site.site_id,
      url: site.url,
      version_id: site.version_id,
      previous_version_id: newer.version_id,
    });
    expect(await (await server.site(site.slug)).text()).toContain("<p>old");
    expect((await server.rollback(site, newer.version_id)).status).toBe(200);
    expect(await (await server.site(site.slug)).text()).toContain("<p>new");
    expect((await record(site)).versions).toHaveLength(2);
  });

  test.each([
    ["an unknown one", "0123456789abcdef"],
    ["a prefix", "01"],
    ["another form", "../x"],
  ])("%s is 404 `Unknown version`, and nothing changes", async (_, version_id) => {
    const site = await server.deploy(page("stays"));
    const response = await server.rollback(site, version_id);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: "Unknown version", code: "unknown_version" });
    expect((await record(site)).live_version_id).toBe(site.version_id);
  });

  test("A1 a version of another site is unknown", async () => {
    const [site, other] = [await server.deploy(page("mine")), await server.deploy(page("theirs"))];
    expect((await server.rollback(site, other.version_id)).status).toBe(404);
  });

  test.each([[1], [null], [["x"]], [{}], [""], ["x".repeat(500)]])(
    "A12 version_id %j is 400 invalid_input",
    async (version_id) => {
      const response = await server.rollback(await server.deploy(page("types")), version_id);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ code: "invalid_input", field: "version_id" });
    },
  );
});

describe("a site's end", () => {
  test("P7 expired by one millisecond: the site is 410 and its token 404, sweep or not", async () => {
    await using own = await startServer("--anonymous-ttl", "30s");
    const site = await own.deploy(page("short"));
    own.advance(site.expires_at! - own.now() + 1);
    expect((await own.site(site.slug)).status).toBe(410);
    const gone = await own.api(`/sites/${site.site_id}`, { headers: bearer(site.manage_token) });
    expect(gone.status).toBe(404);
    expect(await gone.json()).toMatchObject({ code: "unknown_site" });
    await own.running.store.sweep(own.now());
    expect((await own.site(site.slug)).status).toBe(410);
    expect((await own.api(`/sites/${site.site_id}`, { headers: bearer(site.manage_token) })).status).toBe(404);
  });

  test.each<[state: string, act: (site: DeployResult) => void, status: number, code: string]>([
    ["frozen", (site) => server.freeze(site), 403, "site_frozen"],
    ["disabled", (site) => server.disable(site, "malware"), 451, "site_disabled"],
  ])("a %s site refuses deploys and rollbacks", async (_, act, status, code) => {
    const site = await server.deploy(page("stopped"));
    act(site);
    const deploy = await server.api(`/sites/${site.site_id}/deploys`, {
      method: "POST",
      body: zipOf(page("more")),
      headers: { ...bearer(site.manage_token), "content-type": "application/zip" },
    });
    for (const response of [deploy, await server.rollback(site, site.version_id)]) {
      expect(response.status).toBe(status);
      expect(await response.json()).toMatchObject({ code });
    }
  });
});
