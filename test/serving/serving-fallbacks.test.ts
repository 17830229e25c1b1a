/** RELIABILITY H32, H33: what is answered where no file is: the shell of an app, a site's own 404.html. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startExplained } from "../kit/explained.ts";
import type { TestServer } from "../kit/server.ts";
import { CONTENTS, pathSites } from "./path-sites.ts";

let server: TestServer;
const { sites, deployAll, get, seen } = pathSites(() => server);
beforeAll(async () => {
  server = await startExplained();
  await deployAll();
});
afterAll(() => server[Symbol.asyncDispose]());

describe("H32: the shell of a single-page app answers navigations", () => {
  test.each(["/x", "/x/y", "/x/y/", "/about/", "/assetsx/y", "/x?a=b.js"])(
    "%s is the shell, with its own tag",
    async (path) => {
      const answer = await get("app", path);
      expect(answer.status).toBe(200);
      expect(answer.text).toContain('<div id="root">');
      expect(answer.headers.get("etag")).toBe(`"${sites.app!.version_id}:${path.replace(/\?.*/, "")}"`);
      expect(answer.headers.get("vary")).toBe("Accept-Encoding, Sec-Fetch-Dest");
      expect(answer.headers.get("cache-control")).toBe("public, max-age=60, must-revalidate");
    },
  );
  test.each([
    "/x.js",
    "/x/app.js.map",
    "/assets/x",
    "/assets/",
    "/robots.txt",
    "/v1.2",
    "/.env",
    "/.well-known/x",
    "/.well-known/acme-challenge/x",
    "/_svc/x",
    "/%5fsvc/x",
    "/about.html/",
  ])("%s is a 404 and never the shell", async (path) => {
    const answer = await get("app", path);
    expect(answer.status).toBe(404);
    expect(answer.text).not.toContain("root");
  });
  test.each([
    ["document", 200],
    ["iframe", 200],
    ["script", 404],
    ["empty", 404],
    ["image", 404],
    ["serviceworker", 404],
  ])("a request for a %s is a %i", async (destination, status) => {
    expect((await get("app", "/x", [`Sec-Fetch-Dest: ${destination}`])).status).toBe(status);
    expect((await get("app", "/about", [`Sec-Fetch-Dest: ${destination}`])).status).toBe(200);
  });
  test("HEAD is a 200 without body, POST a 405", async () => {
    const head = await get("app", "/x", [], "HEAD");
    expect([head.status, head.text]).toEqual([200, ""]);
    expect((await get("app", "/x", [], "POST")).status).toBe(405);
  });
  test("the shell's own tag is a 304 at that path alone", async () => {
    const tag = (await get("app", "/x")).headers.get("etag");
    expect((await get("app", "/x", [`If-None-Match: ${tag}`])).status).toBe(304);
    expect((await get("app", "/y", [`If-None-Match: ${tag}`])).status).toBe(200);
    expect((await get("app", "/", [`If-None-Match: ${tag}`])).status).toBe(200);
  });
  test("200.html is the fallback document where it made the site an app", async () => {
    expect(await seen("fallback", "/x/y")).toEqual([200, "the fallback document"]);
    expect((await seen("fallback", "/"))[1]).toBe("<h1>Home</h1>");
  });
  test("the owner's setting beats the detection, both ways and at once", async () => {
    const app = await server.deploy(CONTENTS.app!);
    const status = async () => (await server.site(app.slug, "/x/y")).status;
    expect(await status()).toBe(200);
    await server.redeploy(app, CONTENTS.app!, "?spa=off");
    expect(await status()).toBe(404);
    await server.redeploy(app, CONTENTS.app!, "?spa=on");
    expect(await status()).toBe(200);
    const other = await server.deploy({ "index.html": "<h1>No app</h1><p>at all</p>" }, "?spa=on");
    expect((await server.site(other.slug, "/x/y")).status).toBe(200);
  });
});

describe('PIPELINE 2: below the root a shell whose addresses are relative is served with <base href="/">', () => {
  const shell = (head: string, body = "") =>
    `<!doctype html><html><head><title>App</title>${head}</head><body><div id="root"></div>${body}</body></html>`;
  const app = (index: string) => ({ "index.html": index, "app.js": "history.pushState(1,'','/x')", "assets/a.js": "" });
  const BASE = '<head><base href="/">';
  const page = async (index: string, path: string, files = {}) => {
    const { slug } = await server.deploy({ ...app(index), ...files });
    return (await server.site(slug, path, { headers: { "sec-fetch-dest": "document" } })).text();
  };

  test.each([
    ["a script", shell('<script type="module" src="./assets/a.js"></script>')],
    ["a script without ./", shell('<script defer src="app.js"></script>')],
    [
      "a stylesheet, and a script at the root",
      shell('<link rel="stylesheet" href="a.css"><script src="/app.js"></script>'),
    ],
    [
      "an import in the page",
      shell("", '<script type="module">import("./assets/a.js")</script><script src="/app.js"></script>'),
    ],
    ["a base without an address", shell('<base target="_top"><script src="app.js"></script>')],
  ])("%s", async (_, index) => {
    expect(await page(index, "/users/7")).toContain(BASE);
    expect(await page(index, "/users/")).toContain(BASE);
    expect(await page(index, "/users")).not.toContain("<base href");
    expect(await page(index, "/")).not.toContain("<base href");
  });
  test.each([
    ["addresses at the root", shell('<script src="/app.js"></script><a name="x" href="#x"></a>')],
    ["a base of its own", shell('<base href="/"><script src="app.js"></script>')],
    ["other hosts alone", shell('<script src="https://x.example/a.js"></script><script src="/app.js"></script>')],
  ])("none for %s", async (_, index) => {
    expect((await page(index, "/users/7")).match(/<base/g)?.length ?? 0).toBe(index.split("<base").length - 1);
  });
  test("200.html is a shell like any", async () => {
    const index = shell('<script src="app.js"></script>');
    expect(await page("<h1>Home</h1>", "/a/b", { "200.html": index })).toContain(BASE);
  });
  test("it comes before the script of comments, and leads a large page too", async () => {
    const large = shell('<script src="app.js"></script>', `<!--${"x".repeat(2 << 20)}-->`);
    const site = await server.deploy(app(large));
    const got = await server.site(site.slug, "/users/7");
    const text = await got.text();
    expect(text).toContain(BASE);
    expect(text).toEndWith("</body></html>");
    expect((await server.site(site.slug, "/users")).headers.get("etag")).not.toBe(got.headers.get("etag"));
  });
});

describe("H33: a site's own 404.html, the nearest up the path, is the body of its 404s", () => {
  test.each([
    ["/nowhere", "root has no such page"],
    ["/docs/nowhere.js", "docs have no such page"],
    ["/docs/a/b/c", "docs have no such page"],
    ["/docs/a/", "docs have no such page"],
    ["/docsx/a", "root has no such page"],
    ["//docs/a", "docs have no such page"],
    [`/${"a/".repeat(5_000)}`, "root has no such page"],
  ])("%.40s", async (path, body) => {
    const answer = await get("pages", path);
    expect(answer.status).toBe(404);
    expect(answer.text).toContain(body);
    expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.has("etag")).toBe(false);
    expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
    expect(answer.headers.get("svc-version")).toBe("2026-11-21");
    expect(answer.headers.get("x-robots-tag")).toBe("noindex");
  });
  test("HEAD has the same fields and no body", async () => {
    const [head, full] = [await get("pages", "/nowhere", [], "HEAD"), await get("pages", "/nowhere")];
    expect([head.status, head.text]).toEqual([404, ""]);
    expect(head.headers.get("content-length")).toBe(String(full.body.length));
  });
  test("each answer has an id of its own, however many are made at once", async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => get("pages", "/nowhere")));
    expect(new Set(answers.map(({ headers }) => headers.get("x-request-id"))).size).toBe(50);
  });
  test("it is compressed like any page", async () => {
    const answer = await get("pages", "/nowhere", ["Accept-Encoding: gzip"]);
    expect(answer.headers.get("vary")).toBe("Accept-Encoding");
    const body =
      answer.headers.get("content-encoding") === "gzip" ? Bun.gunzipSync(new Uint8Array(answer.body)) : answer.body;
    expect(Buffer.from(body).toString()).toContain("root has no such page");
  });
  test("asked for by its name it is an ordinary page", async () => {
    expect((await get("pages", "/404.html")).status).toBe(200);
  });
  test("without one a browser gets a page and a program JSON, both with no-store", async () => {
    const page = await get("plain", "/nowhere", ["Accept: text/html,*/*;q=0.8"]);
    expect([page.status, page.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
    expect(page.text).toContain("<h1>");
    expect(page.text).toContain(page.headers.get("x-request-id")!);
    const json = await get("plain", "/nowhere", ["Accept: */*"]);
    expect(json.headers.get("content-type")).toBe("application/json");
    expect(JSON.parse(json.text)).toEqual({
      error: expect.any(String),
      code: "not_found",
      request_id: json.headers.get("x-request-id"),
    });
    for (const answer of [page, json]) {
      expect(answer.headers.get("cache-control")).toBe("no-store");
      expect(answer.headers.has("etag")).toBe(false);
    }
  });
});
