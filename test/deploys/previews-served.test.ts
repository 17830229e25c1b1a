/** BEYOND 7: how a preview is served, and how it ends by itself. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { operator } from "../kit/operator.ts";
import { bearer, signUp } from "../kit/people.ts";
import { type DeployResult, JSON_TYPE, startServer, type TestServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { expectSound } from "../kit/sound.ts";
import { pageOf, previewing } from "./previewing.ts";

/** The machine may be busy. */
setDefaultTimeout(60_000);

const HOUR = 3_600_000;

const server = await sharedServer({ SVC_PREVIEW_TTL: "1h" });

const { make, list, text } = previewing(() => server);

describe("served like a version host", () => {
  test("noindex, no-cache on the alias, an hour on the version's own host; owned or not", async () => {
    const site = await server.deploy(pageOf("live"));
    const { version_id } = await make(site, pageOf("draft"), "draft");
    for (const owned of [false, true]) {
      if (owned) server.giveAway(site);
      const alias = await server.site(`draft--${site.slug}`);
      expect(alias.headers.get("cache-control")).toBe("no-cache");
      expect(alias.headers.get("x-robots-tag")).toBe("noindex");
      const version = await server.site(`${version_id}--${site.slug}`);
      expect(version.headers.get("cache-control")).toBe("public, max-age=3600");
      expect(version.headers.get("x-robots-tag")).toBe("noindex");
    }
  });

  test("the alias has the version's entity tags, which change as it moves; ranges, HEAD and 304 as anywhere", async () => {
    const site = await server.deploy(pageOf("live"));
    const label = `tags--${site.slug}`;
    const first = await make(site, pageOf("first", { "a.bin": "0123456789" }), "tags");
    const etag = `"${first.version_id}:/"`;
    expect((await server.site(label)).headers.get("etag")).toBe(etag);
    const unchanged = await server.site(label, "/", { headers: { "if-none-match": etag } });
    expect([unchanged.status, unchanged.headers.get("cache-control")]).toEqual([304, "no-cache"]);
    expect(unchanged.headers.get("x-robots-tag")).toBe("noindex");
    const part = await server.site(label, "/a.bin", { headers: { range: "bytes=2-4" } });
    expect([part.status, await part.text()]).toEqual([206, "234"]);
    expect((await server.site(label, "/", { method: "HEAD" })).headers.get("etag")).toBe(etag);
    expect((await server.site(label, "/", { method: "POST" })).status).toBe(405);
    expect((await server.site(label, "/nothing")).status).toBe(404);
    const second = await make(site, pageOf("second"), "tags");
    const moved = await server.site(label, "/", { headers: { "if-none-match": etag } });
    expect([moved.status, moved.headers.get("etag")]).toEqual([200, `"${second.version_id}:/"`]);
  });

  test("it moves at the next request, however often it was asked for before", async () => {
    const site = await server.deploy(pageOf("live"));
    for (let n = 0; n < 5; n++) {
      await make(site, pageOf(`turn ${n}`), "turn");
      for (let again = 0; again < 3; again++) expect(await text(`turn--${site.slug}`)).toContain(`<p>turn ${n}`);
    }
  });

  test("its own `_redirects` and `_headers` hold, and `https://<alias>/` of `_headers` is the alias alone", async () => {
    const site = await server.deploy(pageOf("live"));
    const headers = `https://rules--${site.slug}.localhost/*\n  X-Of: alias\nhttps://${site.slug}.localhost/*\n  X-Of: live`;
    const made = await make(site, pageOf("rules", { _redirects: "/old /new 302", _headers: headers }), "rules");
    const moved = await server.site(`rules--${site.slug}`, "/old");
    expect([moved.status, moved.headers.get("location")]).toEqual([302, "/new"]);
    expect((await server.site(`rules--${site.slug}`)).headers.get("x-of")).toBe("alias");
    expect((await server.site(`${made.version_id}--${site.slug}`)).headers.get("x-of")).toBeNull();
    await make(site, pageOf("rules", { _redirects: "/old /new 302", _headers: headers }), "other");
    expect((await server.site(`other--${site.slug}`)).headers.get("x-of")).toBeNull();
  });

  test("a quarantine of the site holds there, and ends there", async () => {
    const site = await server.deploy(pageOf("calm"));
    await make(site, pageOf("draft"), "draft");
    server.quarantine(site);
    const label = `draft--${site.slug}`;
    const held = await server.site(label);
    expect(held.headers.get("content-security-policy")).toStartWith("default-src 'self'");
    expect((await server.site(label, "/none")).headers.get("connection-allowlist")).toBe("(response-origin)");
    server.clear(site);
    expect((await server.site(label)).headers.get("content-security-policy")).toBeNull();
  });

  test("POST /_svc/report on its host reports the site; comments are told of on none of its pages", async () => {
    const site = await server.deploy(pageOf("live"));
    await make(site, pageOf("draft"), "draft");
    const { origin, host } = new URL(`http://draft--${new URL(site.url).host}`);
    const report = await server.site(`draft--${site.slug}`, "/_svc/report", {
      method: "POST",
      headers: { ...JSON_TYPE, host, origin },
      body: JSON.stringify({ reason: "phishing" }),
    });
    expect(report.status).toBe(202);
    const { stdout } = await operator(server.data_dir, ["reports", "--json"]);
    expect((JSON.parse(stdout) as { site_id: string }[]).map(({ site_id }) => site_id)).toContain(site.site_id);
    const on = await server.api(`/sites/${site.site_id}/comments/settings`, {
      method: "PATCH",
      headers: { ...JSON_TYPE, ...bearer(site.manage_token) },
      body: JSON.stringify({ mode: "anonymous" }),
    });
    expect(on.status).toBe(200);
    expect(await text(site.slug)).toContain("/_svc/c.js");
    expect(await text(`draft--${site.slug}`)).not.toContain("/_svc/c.js");
    expect((await server.site(`draft--${site.slug}`)).headers.get("etag")).not.toContain("+c");
    for (const path of ["/_svc/comments/", "/comments.json", "/index.html.comments.json"]) {
      expect((await server.site(`draft--${site.slug}`, path)).status).toBe(404);
    }
  });

  test.each([
    ["of a name that none has", (slug: string) => `nothing--${slug}`, "unknown_host"],
    ["of a name and a slug that is nobody's", () => "draft--no-such-site", "unknown_host"],
    ["with a name that none can have", (slug: string) => `a--b--${slug}`, "unknown_host"],
    ["with punycode's mark", (slug: string) => `xn--${slug}`, "unknown_host"],
  ])("a host %s is 404 %s", async (_, label, code) => {
    const site = await server.deploy(pageOf("hosts"));
    const response = await server.site(label(site.slug));
    expect([response.status, await response.json()]).toMatchObject([404, { code }]);
  });
});

describe("SVC_PREVIEW_TTL", () => {
  async function statuses(of: TestServer, site: DeployResult, version_id: string): Promise<number[]> {
    const labels = [`short--${site.slug}`, `${version_id}--${site.slug}`];
    return (await Promise.all(labels.map((label) => of.site(label)))).map(({ status }) => status);
  }

  test("ends it to the millisecond, sweep or not; the sweep takes its version", async () => {
    await using own = await startServer({ SVC_PREVIEW_TTL: "1h" });
    const asked = previewing(() => own);
    const site = await own.deploy(pageOf("stays"));
    const { version_id, expires_at } = await asked.make(site, pageOf("short"), "short");
    expect(Math.abs(expires_at - (own.now() + HOUR))).toBeLessThan(20_000);
    own.standAt(expires_at - 1);
    expect(await statuses(own, site, version_id)).toEqual([200, 200]);
    expect(await asked.list(site)).toHaveLength(1);
    await own.running.store.sweep(own.now());
    expect(own.rows("versions")).toBe(2);
    own.standAt(expires_at);
    expect(await statuses(own, site, version_id)).toEqual([404, 404]);
    expect(await (await own.site(`short--${site.slug}`)).json()).toMatchObject({ code: "unknown_host" });
    expect(await asked.list(site)).toEqual([]);
    expect((await asked.promote(site, "short")).status).toBe(404);
    expect(own.rows("versions")).toBe(2);
    await own.running.store.sweep(own.now());
    expect(own.rows("versions")).toBe(1);
    expect(await statuses(own, site, version_id)).toEqual([404, 404]);
    await expectSound(own);
  });

  test("counts from its last deploy, also of the same content", async () => {
    const site = await server.deploy(pageOf("stays"));
    const first = await make(site, pageOf("long"), "short");
    server.advance(HOUR / 2);
    const again = await make(site, pageOf("long"), "short");
    expect(again.expires_at).toBeGreaterThan(first.expires_at + HOUR / 2 - 20_000);
    server.advance(HOUR * 0.75);
    expect(await statuses(server, site, first.version_id)).toEqual([200, 200]);
    server.advance(HOUR / 4);
    expect(await statuses(server, site, first.version_id)).toEqual([404, 404]);
  });

  test("what was promoted meanwhile has no end", async () => {
    const site = await server.deploy(pageOf("stays"));
    const made = await make(site, pageOf("promoted"), "short");
    const { promote } = previewing(() => server);
    expect((await server.site(`${made.version_id}--${site.slug}`)).status).toBe(200);
    expect((await promote(site, "short")).status).toBe(200);
    server.advance(HOUR);
    await server.running.store.sweep(server.now());
    expect((await server.site(`${made.version_id}--${site.slug}`)).status).toBe(200);
    expect(await text(site.slug)).toContain("<p>promoted");
    await expectSound(server);
  });

  test("the sweep takes hundreds in slices, and what another preview shows stays", async () => {
    await using own = await startServer({ SVC_PREVIEW_TTL: "1h" });
    const asked = previewing(() => own);
    const sites = [await own.deploy(pageOf("a")), await own.deploy(pageOf("b")), await own.deploy(pageOf("c"))];
    for (const site of sites) for (let n = 0; n < 20; n++) await asked.make(site, pageOf(`n${n}`), `n${n}`);
    own.advance(HOUR / 2);
    const kept = await asked.make(sites[0]!, pageOf("n3"), "kept");
    own.advance(HOUR / 2);
    await own.running.store.sweep(own.now());
    expect([own.rows("previews"), own.rows("versions")]).toEqual([1, 4]);
    expect((await own.site(`${kept.version_id}--${sites[0]!.slug}`)).status).toBe(200);
    await expectSound(own);
  });
});

describe("what becomes of its site", () => {
  test("an anonymous site's previews end with it; a claim keeps them", async () => {
    await using own = await startServer("--anonymous-ttl", "30m");
    const asked = previewing(() => own);
    const [gone, kept] = [await own.deploy(pageOf("gone")), await own.deploy(pageOf("kept"))];
    const person = await signUp(own);
    for (const site of [gone, kept]) await asked.make(site, pageOf("draft"), "draft");
    const claim = await own.api(`/sites/${kept.site_id}/claim`, {
      method: "POST",
      headers: { ...JSON_TYPE, ...person.bearer },
      body: JSON.stringify({ claim_token: kept.claim_token }),
    });
    expect(claim.status).toBe(200);
    own.advance(HOUR / 2);
    expect((await own.site(`draft--${gone.slug}`)).status).toBe(410);
    expect(await asked.text(`draft--${kept.slug}`)).toContain("<p>draft");
    await own.running.store.sweep(own.now());
    expect([own.rows("previews"), own.rows("versions")]).toEqual([1, 2]);
    await expectSound(own);
  });

  test("deleted or disabled, its previews answer as it does", async () => {
    const site = await server.deploy(pageOf("taken down"));
    await make(site, pageOf("draft"), "draft");
    server.disable(site, "malware");
    expect((await server.site(`draft--${site.slug}`)).status).toBe(451);
    server.enable(site);
    expect((await server.site(`draft--${site.slug}`)).status).toBe(200);
    await operator(server.data_dir, ["delete", site.site_id]);
    expect((await server.site(`draft--${site.slug}`)).status).toBe(404);
    await server.running.store.sweep(server.now());
    await expectSound(server);
  });

  test("a backup has its previews, and what is restored shows them", async () => {
    const site = await server.deploy(pageOf("kept"));
    await make(site, pageOf("kept draft"), "kept");
    await using copy = await startServer();
    await copy.stop();
    const folder = `${copy.data_dir}-backup`;
    expect((await operator(server.data_dir, ["backup", folder])).code).toBe(0);
    await using restored = await startServer();
    await restored.stop();
    const { rm } = await import("node:fs/promises");
    await rm(restored.data_dir, { recursive: true });
    expect((await operator(restored.data_dir, ["restore", folder])).code).toBe(0);
    await rm(folder, { recursive: true });
    await restored.start([]);
    expect(await (await restored.site(`kept--${site.slug}`)).text()).toContain("<p>kept draft");
    await expectSound(restored);
  });
});
