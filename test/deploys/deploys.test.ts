/** SPEC "Endpoints" and CONTRACT 4.3, 4.4: deploying, redeploying, reading a site. */
import { describe, expect, test } from "bun:test";
import { deployDigest, contentHash, versionIdOf } from "../../src/base/version-id.ts";
import { type DeployResult } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { zipOf } from "../kit/zip.ts";
import { page, records } from "./site-record.ts";

const server = await sharedServer();

const record = records(() => server);

test("GET /healthz is {ok: true}", async () => {
  const response = await server.api("/healthz");
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ ok: true });
});

test("GET /limits tells clients the limits, so that they hard-code none", async () => {
  expect(await (await server.api("/limits")).json()).toEqual({
    max_files: 200,
    max_bytes: 10_485_760,
    max_zip_bytes: 5_242_880,
    anonymous_ttl_ms: 1_209_600_000,
  });
});

describe("POST /sites", () => {
  test("answers with the whole deploy result of an anonymous site", async () => {
    const before = server.now();
    const site = await server.deploy(page("first"));
    expect(Object.keys(site).sort()).toEqual(
      [
        ...["url", "site_id", "slug", "version_id", "expires_at", "manage_token", "claim_token", "claim_url"],
        ...["next_actions", "healed", "warnings", "render"],
      ].sort(),
    );
    expect(site.site_id).toMatch(/^site_[0-9a-z]{20}$/);
    expect(site.slug).toMatch(/^[a-z]+-[a-z]+-[0-9a-z]{4}$/);
    expect(site.url).toBe(`http://${site.slug}.localhost:${server.port}`);
    expect(site.manage_token).toMatch(/^svc_manage_[A-Za-z0-9_-]{43}$/);
    expect(site.claim_token).toMatch(/^svc_claim_[A-Za-z0-9_-]{43}$/);
    expect(site.claim_url).toBe(`${server.base_url}/claim/${site.site_id}#${site.claim_token}`);
    expect(site.expires_at!).toBeWithin(before + 1_209_600_000, server.now() + 1_209_600_001);
    expect(site).toMatchObject({
      healed: [],
      render: { status: "pending", console: [], failed_requests: [], dom_summary: null },
    });
    for (const action of site.next_actions)
      expect(action).toMatchObject({ action: expect.any(String), description: expect.any(String) });
    expect(site.next_actions.map((action) => action.action)).toEqual([
      "claim",
      "update",
      "rollback",
      "enable_comments",
    ]);
  });

  test("the site is live at its URL when the answer arrives", async () => {
    const site = await server.deploy(page("at once"));
    const response = await server.site(site.slug);
    expect(response.status).toBe(200);
    expect(await response.text()).toContain("<p>at once");
  });

  test("version_id is the documented hash, which a client can compute before it uploads", async () => {
    const files = { "index.html": "<title>x</title>", "a/b.txt": "b", "Z.txt": "", "ä.txt": "ä" };
    const hashes = Object.entries(files).map(([path, text]) => [path, contentHash(Buffer.from(text))] as const);
    expect((await server.deploy(files)).version_id).toBe(versionIdOf(deployDigest(hashes)));
  });

  test("two deploys of the same files are two sites with the same version_id", async () => {
    const [a, b] = [await server.deploy(page("twin")), await server.deploy(page("twin"))];
    expect(a.site_id).not.toBe(b.site_id);
    expect(a.slug).not.toBe(b.slug);
    expect(a.version_id).toBe(b.version_id);
  });

  test.each([
    ["on", true],
    ["off", false],
  ])("?spa=%s sets the owner's override", async (value, enabled) => {
    const site = await server.deploy(page("spa"), `?spa=${value}`);
    expect((await record(site)).spa).toEqual({ enabled, rule: "setting" });
  });

  test("?spa=auto leaves it to the detection", async () => {
    expect((await record(await server.deploy(page("spa"), "?spa=auto"))).spa).toEqual({ enabled: false, rule: "none" });
  });

  test("?spa=yes is 400 invalid_input", async () => {
    const response = await server.post(zipOf(page("x")), {}, "?spa=yes");
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: "invalid_input", field: "spa" });
  });
});

describe("POST /sites/:id/deploys", () => {
  test("a new content becomes a version and goes live; the token comes back, a claim_token does not", async () => {
    const site = await server.deploy(page("one"));
    const again = await server.redeploy(site, page("two"));
    expect(again).toMatchObject({ site_id: site.site_id, slug: site.slug, url: site.url, expires_at: site.expires_at });
    expect(again.version_id).not.toBe(site.version_id);
    expect(again.manage_token).toBe(site.manage_token);
    expect(again).not.toContainAnyKeys(["claim_token", "claim_url", "owner_account_id"]);
    expect(await (await server.site(site.slug)).text()).toContain("<p>two");
  });

  test("content equal to the live version changes nothing", async () => {
    const site = await server.deploy(page("same"));
    const again = await server.redeploy(site, page("same"));
    expect(again.version_id).toBe(site.version_id);
    expect((await record(site)).versions).toHaveLength(1);
  });

  test("content equal to an older version makes that one live and stores no duplicate", async () => {
    const site = await server.deploy(page("A"));
    await server.redeploy(site, page("B"));
    const third = await server.redeploy(site, page("A"));
    expect(third.version_id).toBe(site.version_id);
    const { versions, live_version_id } = await record(site);
    expect(versions).toHaveLength(2);
    expect(live_version_id).toBe(site.version_id);
    expect(await (await server.site(site.slug)).text()).toContain("<p>A");
  });

  test("?spa=on counts also when the content is live already", async () => {
    const site = await server.deploy(page("setting"));
    await server.redeploy(site, page("setting"), "?spa=on");
    expect((await record(site)).spa).toEqual({ enabled: true, rule: "setting" });
    expect((await server.site(site.slug, "/deep/link")).status).toBe(200);
    await server.redeploy(site, page("setting"), "?spa=auto");
    expect((await server.site(site.slug, "/deep/link")).status).toBe(404);
  });

  test("sixteen deploys at once to one site all answer 200, and one of them is live, whole", async () => {
    const site = await server.deploy(page("start"));
    const texts = Array.from({ length: 16 }, (_, n) => `parallel ${n}`);
    const results = await Promise.all(texts.map((text) => server.redeploy(site, page(text))));
    const { versions, live_version_id } = await record(site);
    expect(versions).toHaveLength(17);
    const live = results.findIndex((result) => result.version_id === live_version_id);
    expect(await (await server.site(site.slug)).text()).toContain(`<p>${texts[live]}<`.slice(0, -1));
  });
});

describe("GET /sites/:id", () => {
  test("is the site record with its versions, newest first", async () => {
    const site = await server.deploy({ ...page("v1"), "b.txt": "12345" });
    const second = await server.redeploy(site, page("v2"));
    const found = await record(site);
    expect(found).toEqual({
      site_id: site.site_id,
      slug: site.slug,
      url: site.url,
      label: null,
      expires_at: site.expires_at,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      state: "live",
      live_version_id: second.version_id,
      spa: { enabled: false, rule: "none" },
      comments: { mode: "off" },
      versions: [
        {
          version_id: second.version_id,
          title: "v2",
          created_at: expect.any(String),
          files: 1,
          bytes: expect.any(Number),
        },
        {
          version_id: site.version_id,
          title: "v1",
          created_at: expect.any(String),
          files: 2,
          bytes: expect.any(Number),
        },
      ],
    } as never);
    expect(found.versions[1]!.bytes).toBe(page("v1")["index.html"].length + 5);
  });

  test.each<[state: string, act: (site: DeployResult) => void]>([
    ["frozen", (site) => server.freeze(site)],
    ["disabled", (site) => server.disable(site, "phishing")],
  ])("state %s can still be read", async (state, act) => {
    const site = await server.deploy(page(state));
    act(site);
    expect(await record(site)).toMatchObject({ state });
  });
});
