/** CONTRACT.md 6 and RELIABILITY.md H19 to H33: which file answers which path. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { resolve } from "../../src/resolve.ts";
import { expectLinear } from "../kit/cpu.ts";
import { type RawAnswer, rawSite } from "../kit/raw-http.ts";
import { type Contents, type DeployResult, startServer, type TestServer } from "../kit/server.ts";

let server: TestServer;
const sites: Record<string, DeployResult> = {};

const SHELL =
  '<!doctype html><title>App</title><div id="root"></div><script type="module" src="/assets/app.js"></script>';
const CONTENTS: Record<string, Contents> = {
  plain: {
    "index.html": "root",
    b: "file b",
    "a/b": "file a/b",
    "a/index.html": "folder a",
    "%2e%2e/x": "a literal name",
    "docs/index.html": "docs",
    "docs/deep/index.html": "deep",
    "evil.com/docs/index.html": "harmless",
    "about.html": "about page",
    "both.html": "both page",
    "both/index.html": "both folder",
    exact: "exact file",
    "exact.html": "exact page",
    "empty-folder/file.txt": "no index here",
    "a..b.html": "dots",
    "100%.html": "percent",
    "a+b": "plus",
    "a b": "space",
    "a;b=c": "semicolon",
    "a&b": "ampersand",
    "caf\u00e9.txt": "accent",
    "\u65e5\u672c.txt": "japanese",
    "a.html": "lower case",
    ["__proto__"]: "an honest name",
    "comments.json": "the site's own",
    ".well-known/security.txt": "contact",
    ".well-known/acme-challenge/token": "a certificate for the author",
    "_svc/x": "ours wins",
  },
  app: {
    "index.html": SHELL,
    "assets/app.js": "history.pushState({}, '', '/x');",
    "about.html": "about",
    _redirects: "/* /index.html 200\n",
  },
  fallback: { "index.html": "<h1>Home</h1>", "200.html": "the fallback document" },
  pages: {
    "index.html": "root",
    "404.html": "root has no such page",
    "docs/404.html": "docs have no such page",
    "docs/index.html": "docs",
  },
};

beforeAll(async () => {
  server = await startServer();
  for (const [name, files] of Object.entries(CONTENTS)) sites[name] = await server.deploy(files);
});
afterAll(() => server[Symbol.asyncDispose]());

const get = (site: string, path: string | Uint8Array, headers: string[] = [], method = "GET"): Promise<RawAnswer> =>
  rawSite(server.port, sites[site]!.slug, path, headers, method);
/** Status, and the body without attribution where it is a file of the site. */
async function seen(site: string, path: string | Uint8Array, headers: string[] = []): Promise<[number, string]> {
  const { status, text } = await get(site, path, headers);
  return [status, text.replace(/<meta name="generator".*<\/script>/s, "")];
}
const code = (answer: RawAnswer): string => (JSON.parse(answer.text) as { code: string }).code;

test.each([
  ["/a/../b", "file b"],
  ["/%2e%2e/b", "file b"],
  ["/a\\..\\b", "file b"],
  ["/a/./b", "file a/b"],
  ["/a/b/..", "folder a"],
])("H19 (B): %s is normalised before it is looked up", async (path, body) => {
  expect(await seen("plain", path)).toEqual([200, body]);
});

test.each(["/..%2fetc", "/%2e%2e%2f", "/a%5c..%5cb", "/a%00b", "/%0d%0aX:y", "/a%7fb", "/x/..%2f..%2fy"])(
  "H20: %s is refused, and nothing of it gets into a header",
  async (path) => {
    const answer = await get("plain", path);
    expect([answer.status, code(answer)]).toEqual([400, "invalid_path"]);
    expect(answer.headers.has("x")).toBe(false);
  },
);

test("H21: a path is decoded once", async () => {
  expect(await seen("plain", "/%252e%252e/x")).toEqual([200, "a literal name"]);
  expect((await get("app", "/%252e%252e/x.txt")).status).toBe(404);
});

test.each(["/%c0%ae", "/%ff", "/%zz", "/%", "/a/%e2%82"])(
  "H22: %s is no UTF-8 in percent-encoding: 400",
  async (path) => {
    const answer = await get("plain", path);
    expect([answer.status, code(answer)]).toEqual([400, "invalid_path"]);
  },
);

test("H23 (B): a raw UTF-8 path is served; a raw byte E9 is no name of anything", async () => {
  expect(await seen("plain", "/café.txt")).toEqual([200, "accent"]);
  expect((await get("plain", Uint8Array.from([...Buffer.from("/caf"), 0xe9, ...Buffer.from(".txt")]))).status).toBe(
    404,
  );
});

test("H24: names match in NFC, and each request path has its own tag", async () => {
  const composed = await get("plain", "/caf%C3%A9.txt");
  const decomposed = await get("plain", "/cafe%CC%81.txt");
  expect([composed.text, decomposed.text]).toEqual(["accent", "accent"]);
  expect(composed.headers.get("etag")).toEndWith(':/caf%C3%A9.txt"');
  expect(decomposed.headers.get("etag")).toEndWith(':/cafe%CC%81.txt"');
});
test("H24: a name that was uploaded decomposed is found by both forms", async () => {
  const { slug } = await server.deploy({ "index.html": "x", "cafe\u0301.txt": "accent" });
  const status = async (path: string) => (await server.site(slug, path)).status;
  expect([await status("/caf%C3%A9.txt"), await status("/cafe%CC%81.txt")]).toEqual([200, 200]);
});

test.each([
  ["/a..b.html", "dots"],
  ["/100%25.html", "percent"],
  ["/a+b", "plus"],
  ["/a%2Bb", "plus"],
  ["/a%20b", "space"],
  ["/a;b=c", "semicolon"],
  ["/a&b", "ampersand"],
  ["/%E6%97%A5%E6%9C%AC.txt", "japanese"],
  ["/__proto__", "an honest name"],
  ["/comments.json", "the site's own"],
])("H25: %s names a file", async (path, body) => {
  expect(await seen("plain", path)).toEqual([200, body]);
});

test.each(["/A.html", "/DOCS/", "/Comments.json", "/constructor", "/toString"])(
  "H26: %s is no file of the site",
  async (path) => {
    expect((await get("plain", path)).status).toBe(404);
  },
);

test.each(["/b?v=1", "/b?", "/b?../../x", "/b?a=/docs/"])(
  "H27: the query of %s changes neither file nor tag",
  async (path) => {
    const answer = await get("plain", path);
    expect([answer.status, answer.text]).toEqual([200, "file b"]);
    expect(answer.headers.get("etag")).toBe(`"${sites.plain!.version_id}:/b"`);
  },
);

describe("H28: a folder has a slash at its end", () => {
  test.each([
    ["/docs", "/docs/"],
    ["/docs?a=1&b=/x", "/docs/?a=1&b=/x"],
    ["/docs/deep", "/docs/deep/"],
    ["/d%6fcs", "/d%6fcs/"],
  ])("%s is redirected to %s, by a relative address", async (path, location) => {
    const answer = await get("plain", path);
    expect([answer.status, answer.headers.get("location")]).toEqual([308, location]);
    expect(answer.headers.get("cache-control")).toBe("public, max-age=60, must-revalidate");
    expect(answer.text).toBe("");
  });
  test.each(["/docs/", "/docs/index.html", "/docs/index"])("%s is its index", async (path) => {
    expect(await seen("plain", path)).toEqual([200, "docs"]);
  });
});

test.each([
  "//evil.com",
  "//evil.com/docs",
  "///evil.com/docs",
  "/\\evil.com/docs",
  "/%2fevil.com/docs",
  "/%2f%2fevil.com/docs",
  "/docs//deep",
  "//docs",
])("H29: %s never leads to another host", async (path) => {
  const answer = await get("plain", path);
  expect(answer.status).toBe(404);
  expect(answer.headers.has("location")).toBe(false);
});

test.each([
  ["/about", 200, "about page"],
  ["/about.html", 200, "about page"],
  ["/about/", 404, null],
  ["/about.html/", 404, null],
  ["/exact", 200, "exact file"],
  ["/exact.html", 200, "exact page"],
  ["/both", 200, "both page"],
  ["/both/", 200, "both folder"],
  ["/docs/deep/index", 200, "deep"],
])("H30: clean URLs: %s is a %i", async (path, status, body) => {
  const [got, text] = await seen("plain", path);
  expect(got).toBe(status);
  if (body !== null) expect(text).toBe(body);
});

test.each(["/empty-folder", "/empty-folder/"])("H31: %s has no index and is not listed", async (path) => {
  const answer = await get("plain", path);
  expect([answer.status, code(answer)]).toEqual([404, "not_found"]);
  expect(answer.text).not.toContain("file.txt");
});

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

describe("H33: a site's own 404.html, the nearest up the path, is the body of its 404s", () => {
  test.each([
    ["/nowhere", "root has no such page"],
    ["/docs/nowhere.js", "docs have no such page"],
    ["/docs/a/b/c", "docs have no such page"],
    ["/docs/a/", "docs have no such page"],
    ["/docsx/a", "root has no such page"],
    ["//docs/a", "root has no such page"],
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

test.each([
  "/.well-known/acme-challenge/token",
  "/.well-known/acme%2dchallenge/token",
  "/.well-known/acme-challenge%2ftoken",
])("Z76: %s is never served, for it would get the site's author a certificate", async (path) => {
  expect((await get("plain", path)).status).toBe(404);
});
test("Z76: what else lies under .well-known/ is served, what lies under _svc/ is not", async () => {
  expect(await seen("plain", "/.well-known/security.txt")).toEqual([200, "contact"]);
  expect((await get("plain", "/_svc/x")).status).toBe(404);
  expect((await get("plain", "/%5Fsvc%2Fx")).status).toBe(404);
});

test("resolving 16 KB of hostile path takes no time to speak of", () => {
  for (const piece of ["/", "/a", "%C3%A9/", "e%CC%81"]) {
    const path = (size: number) => `/${piece.repeat(size / piece.length)}`;
    expect(resolve(new Map(), path(16_000)).kind).toBe("unmatched");
    expectLinear(16_000, path, (hostile) => resolve(new Map(), hostile));
  }
});
