/** BEYOND 4: a page that was loaded before a deploy still finds its scripts, sentence by sentence. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { write } from "../../kit/database.ts";
import { startExplained } from "../../kit/explained.ts";
import { type TestServer, ZIP } from "../../kit/server.ts";
import { zipOf } from "../../kit/zip.ts";
import { AS_SCRIPT, ask, CHUNK, contents, given, left } from "./former.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startExplained();
});
afterAll(() => server[Symbol.asyncDispose]());

const HELD = "export default 1;";

describe("BEYOND 4: the answer", () => {
  test("is the file as a 200 that names its version, and says what it hangs on", async () => {
    const site = await left(server);
    const answer = await ask(server, site);
    expect([answer.status, await answer.text()]).toEqual([200, HELD]);
    const { headers } = answer;
    expect(headers.get("svc-skew")).toBe(site.former);
    expect(headers.get("etag")).toBe(`"${site.former}:${CHUNK}"`);
    expect(headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(headers.get("cache-control")).toBe("public, max-age=60, must-revalidate");
    expect(headers.get("vary")).toBe("Accept-Encoding, Sec-Fetch-Site, Sec-Fetch-Dest");
  });

  test("is noindex on a site with an owner too, whose own pages are not", async () => {
    const site = await left(server);
    server.giveAway(site);
    expect((await server.site(site.slug)).headers.get("x-robots-tag")).toBeNull();
    expect((await ask(server, site)).headers.get("x-robots-tag")).toBe("noindex");
  });

  test("has no header of _headers, whose Cache-Control counts on pages", async () => {
    const rules = { _headers: "/*\n  X-A: one\n  Cache-Control: max-age=9999\n" };
    const site = await server.deploy(contents({ ...rules, [CHUNK.slice(1)]: HELD }));
    await server.redeploy(site, contents(rules));
    server.giveAway(site);
    expect((await server.site(site.slug)).headers.get("cache-control")).toBe("max-age=9999");
    const { headers } = await ask(server, site);
    expect([headers.get("x-a"), headers.get("cache-control")]).toEqual([null, "public, max-age=60, must-revalidate"]);
  });

  test("comes in ranges, in codings and as 304, and keeps to its own tag", async () => {
    const text = "export const many = 1;\n".repeat(200);
    const font = Uint8Array.from({ length: 999 }, (_, i) => i % 251);
    const path = "/assets/font-8a7d9f2c.woff2";
    const site = await left(server, { [CHUNK.slice(1)]: text, [path.slice(1)]: font });
    const coded = await ask(server, site, CHUNK, { ...AS_SCRIPT, "accept-encoding": "br" });
    expect([coded.headers.get("content-encoding"), await coded.text()]).toEqual(["br", text]);
    const as_font = { ...AS_SCRIPT, "sec-fetch-dest": "font" };
    const part = await ask(server, site, path, { ...as_font, range: "bytes=10-19" });
    expect([part.status, part.headers.get("content-range")]).toEqual([206, "bytes 10-19/999"]);
    expect(new Uint8Array(await part.arrayBuffer())).toEqual(font.slice(10, 20));
    expect(part.headers.get("vary")).toBe("Sec-Fetch-Site, Sec-Fetch-Dest");
    expect((await ask(server, site, path, { ...as_font, range: "bytes=2000-" })).status).toBe(416);
    const known = await ask(server, site, CHUNK, { ...AS_SCRIPT, "if-none-match": `"${site.former}:${CHUNK}"` });
    expect([known.status, known.headers.get("svc-skew")]).toEqual([304, site.former]);
    expect((await ask(server, site, CHUNK, { ...AS_SCRIPT, "if-match": '"other"' })).status).toBe(412);
  });

  test("of a file beyond a megabyte comes from the disk, whole and in parts", async () => {
    const film = new Uint8Array(1_500_000).fill(7);
    const path = "/film-8a7d9f2c.mp4";
    const site = await left(server, { [path.slice(1)]: film });
    const as_video = { ...AS_SCRIPT, "sec-fetch-dest": "video" };
    expect((await (await ask(server, site, path, as_video)).arrayBuffer()).byteLength).toBe(film.length);
    const part = await ask(server, site, path, { ...as_video, range: "bytes=-5" });
    expect([part.status, (await part.arrayBuffer()).byteLength]).toEqual([206, 5]);
  });

  test("is held in by a quarantine, as pages are", async () => {
    const site = await left(server);
    server.quarantine(site);
    expect((await ask(server, site)).headers.get("content-security-policy")).toContain("default-src 'self'");
  });
});

describe("BEYOND 4: who is given it", () => {
  const USES = "script style font image audio video track worker sharedworker empty".split(" ");
  test.each(USES)("what a page loads as %s", async (use) => {
    const site = await left(server);
    expect(await given(server, site, CHUNK, { ...AS_SCRIPT, "sec-fetch-dest": use })).toBe(HELD);
  });

  const OTHERS = "document iframe frame embed object serviceworker manifest report xslt paintworklet Script".split(" ");
  test.each(OTHERS)("nothing that is loaded as %s", async (use) => {
    const site = await left(server);
    expect(await given(server, site, CHUNK, { ...AS_SCRIPT, "sec-fetch-dest": use })).toBe(404);
  });

  test.each(["cross-site", "same-site", "none", ""])("nobody from %s", async (from) => {
    const site = await left(server);
    expect(await given(server, site, CHUNK, { ...AS_SCRIPT, "sec-fetch-site": from })).toBe(404);
  });

  test("nobody who does not say: the 404 stands, also where one was given before, and after", async () => {
    const site = await server.deploy(contents({ "404.html": "own page", [CHUNK.slice(1)]: HELD }));
    await server.redeploy(site, contents({ "404.html": "own page" }));
    for (const headers of <Record<string, string>[]>[
      {},
      AS_SCRIPT,
      {},
      { "sec-fetch-dest": "script" },
      AS_SCRIPT,
      {},
    ]) {
      const all = "sec-fetch-site" in headers;
      const answer = await ask(server, site, CHUNK, headers);
      expect(answer.status).toBe(all ? 200 : 404);
      expect(answer.headers.get("cache-control")).toBe(all ? "public, max-age=60, must-revalidate" : "no-store");
      expect(answer.headers.get("svc-skew")).toBe(all ? site.version_id : null);
    }
  });

  test("GET alone: HEAD is 404, POST 405", async () => {
    const site = await left(server);
    expect((await ask(server, site, CHUNK, AS_SCRIPT, "HEAD")).status).toBe(404);
    expect((await ask(server, site, CHUNK, AS_SCRIPT, "POST")).status).toBe(405);
  });

  test("nobody on a version's own host", async () => {
    const site = await server.deploy(contents({ [CHUNK.slice(1)]: HELD }));
    const { version_id } = await server.redeploy(site, contents());
    expect(await given(server, { slug: `${version_id}--${site.slug}` })).toBe(404);
    expect(await given(server, { slug: `${site.version_id}--${site.slug}` })).toBe(HELD);
  });
});

describe("BEYOND 4: a segment of the path carries a content hash", () => {
  const names = (...list: string[]) => list.map((name) => [name] as const);
  test.each(
    names(
      "index-DiwrgTda.js",
      "main.8a7d9f2c.css",
      "app-B-x_3kfA.js",
      "chunk~1234abcd.js",
      "a_ABCDEFGH.js",
      "8a7d9f2c/app.js",
      "8a7d9f2c1234567890",
      "x.abcdefgH",
    ),
  )("%s does", async (name) => {
    const site = await left(server, { [name]: HELD });
    expect(await given(server, site, `/${name}`)).toBe(HELD);
  });
  test.each(
    names(
      "bootstrap.min.js",
      "app.js",
      "chunk-abcdefgh.js",
      "x.a1b2c3d.js",
      "jquery-3.6.0.js",
      "x-+-x_3kfA.js",
      "ä1234567.js",
    ),
  )("%s does not", async (name) => {
    const site = await left(server, { [name]: HELD });
    expect(await given(server, site, `/${encodeURIComponent(name)}`)).toBe(404);
  });
});

describe("BEYOND 4: which file", () => {
  test("none where steps 5 to 8 answer: a live file, a rule, the page of an app", async () => {
    const site = await server.deploy(contents({ [CHUNK.slice(1)]: "old", "a/b-12345678": "old" }));
    await server.redeploy(site, contents({ [CHUNK.slice(1)]: "new" }));
    expect(await given(server, site)).toBe("new");
    await server.redeploy(site, contents({ _redirects: "/assets/* /index.html 302\n" }));
    expect((await ask(server, site)).status).toBe(302);
    await server.redeploy(site, contents({ _redirects: "/* /index.html 200\n" }));
    expect((await ask(server, site, "/a/b-12345678", {})).status).toBe(200);
    expect(await given(server, site, "/a/b-12345678", { ...AS_SCRIPT, "sec-fetch-dest": "empty" })).toBe("old");
  });

  test("a 404 rule that is met ends rules and fallback, and the shield is still tried; a forced one ends all", async () => {
    const site = await server.deploy(contents({ [CHUNK.slice(1)]: HELD }));
    await server.redeploy(site, contents({ "no.html": "gone", _redirects: "/assets/* /no 404\n" }));
    expect(await given(server, site)).toBe(HELD);
    expect((await ask(server, site, CHUNK, {})).status).toBe(404);
    await server.redeploy(site, contents({ "no.html": "gone", _redirects: "/assets/* /no 404!\n" }));
    expect(await given(server, site)).toBe(404);
  });

  test("of the version that was live last; after a rollback that is the one that was left", async () => {
    const site = await server.deploy(contents({ [CHUNK.slice(1)]: "first" }));
    const second = await server.redeploy(site, contents({ [CHUNK.slice(1)]: "second" }));
    const third = await server.redeploy(site, contents());
    expect(await given(server, site)).toBe("second");
    await server.rollback(site, site.version_id);
    expect(await given(server, site)).toBe("first"); // live
    await server.rollback(site, third.version_id);
    expect((await ask(server, site)).headers.get("svc-skew")).toBe(site.version_id);
    await server.rollback(site, second.version_id);
    await server.rollback(site, third.version_id);
    expect((await ask(server, site)).headers.get("svc-skew")).toBe(second.version_id);
  });

  test("of the last ten that were left", async () => {
    const site = await server.deploy(contents({ [CHUNK.slice(1)]: HELD }));
    for (let n = 1; n <= 10; n++) await server.redeploy(site, contents());
    expect(await given(server, site)).toBe(HELD);
    await server.redeploy(site, contents());
    expect(await given(server, site)).toBe(404);
  });

  test.each([
    ["page-12345678.html", "/page-12345678.html"],
    ["page-12345678.xhtml", "/page-12345678.xhtml"],
    ["page-12345678.html", "/page-12345678"],
    ["docs-12345678/index.html", "/docs-12345678/"],
    ["_svc/x-12345678.js", "/_svc/x-12345678.js"],
    [".well-known/acme-challenge/x-12345678", "/.well-known/acme-challenge/x-12345678"],
  ])("never HTML or XHTML, a clean URL, an index, or what is the service's: %s at %s", async (name, path) => {
    const site = await left(server, { [name]: "<p>old" });
    expect(await given(server, site, path)).toBe(404);
  });

  test("at exactly that path: no rule of a former version is tried, and letter case counts", async () => {
    const site = await server.deploy(
      contents({ [CHUNK.slice(1)]: HELD, _redirects: "/b-12345678.js /assets/chunk-DiwrgTda.js 200\n" }),
    );
    await server.redeploy(site, contents());
    expect(await given(server, site, "/b-12345678.js")).toBe(404);
    expect(await given(server, site, "/assets/Chunk-DiwrgTda.js")).toBe(404);
    expect(await given(server, site, "/assets/chunk-%44iwrgTda.js")).toBe(HELD);
    expect(await given(server, site, "/assets//chunk-DiwrgTda.js")).toBe(HELD);
    expect(await given(server, site, "/assets/chunk-DiwrgTda.js/")).toBe(404);
  });

  test("an uploaded one: nothing that the service made", async () => {
    const site = await left(server);
    write(server.data_dir, "update files set made = 1 where path = ? and site_no > 0", CHUNK.slice(1));
    expect(await given(server, site)).toBe(404);
    write(server.data_dir, "update files set made = 0 where path = ?", CHUNK.slice(1));
  });

  test("none of a version in which a secret was seen", async () => {
    const secret = `const key = "${["sk", "live"].join("_")}_${"4eC39HqLyjWDarjtT1zdp7dc"}";`;
    const site = await left(server, { [CHUNK.slice(1)]: HELD, "assets/config.js": secret });
    expect(site.warnings.map(({ code }) => code)).toContain("possible_secret");
    expect(await given(server, site)).toBe(404);
  });

  test("none of a preview, until it was made live and left", async () => {
    const site = await server.deploy(contents());
    const call = (path: string, body: Uint8Array<ArrayBuffer> | null = null) => {
      const headers = { authorization: `Bearer ${site.manage_token}`, ...(body !== null && ZIP) };
      return server.api(`/sites/${site.site_id}/previews${path}`, { method: "POST", body, headers });
    };
    const made = await call("?name=pr-1", zipOf(contents({ [CHUNK.slice(1)]: HELD })));
    expect(made.status).toBe(200);
    expect(await given(server, { slug: `pr-1--${site.slug}` })).toBe(HELD);
    expect(await given(server, site)).toBe(404);
    expect((await call("/pr-1/promote")).status).toBe(200);
    expect(await given(server, site)).toBe(HELD); // live
    await server.redeploy(site, contents());
    expect((await ask(server, site)).headers.get("svc-skew")).not.toBeNull();
  });
});
