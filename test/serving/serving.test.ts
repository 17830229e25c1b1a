/** CONTRACT 6 and RELIABILITY H1, H34, H35, H40, H42, H47, H48, H58 to H60: a site and its life, as visitors see it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type RawAnswer, rawSite } from "../kit/raw-http.ts";
import { startExplained } from "../kit/explained.ts";
import { type DeployResult, type TestServer } from "../kit/server.ts";

const PAGE = { "index.html": "<title>Home</title>", "a.css": "a{}", "docs/index.html": "docs" };

let server: TestServer;
let site: DeployResult;
beforeAll(async () => {
  server = await startExplained("--contact", "abuse@svc.example");
  site = await server.deploy(PAGE);
});
afterAll(() => server[Symbol.asyncDispose]());

const get = (slug: string, path = "/", headers: string[] = [], method = "GET"): Promise<RawAnswer> =>
  rawSite(server.port, slug, path, headers, method);
const code = (answer: RawAnswer): string => (JSON.parse(answer.text) as { code: string }).code;
const fields = ({ headers }: RawAnswer) => [...headers].filter(([name]) => !["date", "x-request-id"].includes(name));

test("H1: GET / is the index, with the tag of the request path and the exact cache rule", async () => {
  const answer = await get(site.slug);
  expect(answer.status).toBe(200);
  expect(answer.text).toContain("<title>Home</title>");
  expect(answer.headers.get("etag")).toBe(`"${site.version_id}:/"`);
  expect(answer.headers.get("cache-control")).toBe("public, max-age=60, must-revalidate");
  expect(answer.headers.get("content-length")).toBe(String(answer.body.length));
  expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
});

test.each(["/", "/a.css", "/docs", "/docs/", "/nowhere"])(
  "H1: HEAD %s has the fields of GET, and no body",
  async (path) => {
    const [head, full] = [await get(site.slug, path, [], "HEAD"), await get(site.slug, path)];
    expect(head.status).toBe(full.status);
    expect(head.text).toBe("");
    expect(fields(head)).toEqual(fields(full));
  },
);

describe("H40: a site's host and the API's are worlds apart", () => {
  test("API paths on a site's host are the site's own, or nothing", async () => {
    const { slug } = await server.deploy({ "index.html": "x", "sites.html": "my sites", healthz: "fine" });
    expect((await get(slug, "/sites")).text).toContain("my sites");
    expect((await get(slug, "/healthz")).text).toBe("fine");
    expect((await get(slug, "/limits")).status).toBe(404);
    expect((await get(slug, `/sites/${site.site_id}`)).status).toBe(404);
  });
  test("a site's files are not on the API's host", async () => {
    expect((await server.api("/a.css")).status).toBe(404);
    expect((await server.api(`/${site.slug}/a.css`)).status).toBe(404);
  });
});

test.each([
  "X-Forwarded-Host: other.localhost",
  "Forwarded: host=other.localhost",
  "X-Original-URL: /a.css",
  "X-Rewrite-URL: /a.css",
  "X-HTTP-Method-Override: DELETE",
  "X-Forwarded-Proto: https",
  "X-Forwarded-For: 1.2.3.4",
])("H42: %s changes nothing", async (header) => {
  const [plain, dressed] = [await get(site.slug), await get(site.slug, "/", [header])];
  expect([dressed.status, dressed.text]).toEqual([plain.status, plain.text]);
  expect(fields(dressed)).toEqual(fields(plain));
});

describe("H47: anonymous sites are kept out of search engines, owned ones are not", () => {
  /** X-Robots-Tag by status. */
  async function robots(slug: string): Promise<Record<number, string | null>> {
    const answers = [
      await get(slug),
      await get(slug, "/a.css", ["Range: bytes=0-0"]),
      await get(slug, "/", ["If-None-Match: *"]),
      await get(slug, "/nowhere"),
    ];
    return Object.fromEntries(answers.map(({ status, headers }) => [status, headers.get("x-robots-tag")]));
  }
  test("noindex on everything of an anonymous site", async () => {
    expect(await robots(site.slug)).toEqual({ 200: "noindex", 206: "noindex", 304: "noindex", 404: "noindex" });
  });
  test("nothing on an owned site, but `all` on its 304, at once after the claim", async () => {
    const claimed = await server.deploy(PAGE);
    await robots(claimed.slug);
    server.giveAway(claimed);
    expect(await robots(claimed.slug)).toEqual({ 200: null, 206: null, 304: "all", 404: null });
  });
});

test("H48: a name never enters a header as it is", async () => {
  const name = 'a"; filename=b\u65e5\u672c.bin';
  const { slug } = await server.deploy({ "index.html": "x", [name]: new Uint8Array(10), "d\u00e9/index.html": "d" });
  const answer = await get(slug, `/${encodeURIComponent(name)}`);
  expect([answer.status, answer.headers.get("content-disposition")]).toEqual([200, "inline"]);
  expect((await get(slug, "/d\u00e9")).headers.get("location")).toBe("/d%C3%A9/");
});

describe("H58: <version_id>--<slug> is that stored version", () => {
  let moving: DeployResult;
  let first: string;
  const host = (version_id: string, slug = moving.slug) => `${version_id}--${slug}`;
  beforeAll(async () => {
    moving = await server.deploy({ "index.html": "first" });
    first = moving.version_id;
    moving = { ...(await server.redeploy(moving, { "index.html": "second", "extra.txt": "new" })) };
  });

  test("both versions are there, with an hour's cache and noindex", async () => {
    for (const [version_id, body] of [
      [first, "first"],
      [moving.version_id, "second"],
    ] as const) {
      const answer = await get(host(version_id));
      expect(answer.status).toBe(200);
      expect(answer.text).toContain(body);
      expect(answer.headers.get("cache-control")).toBe("public, max-age=3600");
      expect(answer.headers.get("x-robots-tag")).toBe("noindex");
      expect(answer.headers.get("etag")).toBe(`"${version_id}:/"`);
    }
    expect((await get(host(first), "/extra.txt")).status).toBe(404);
  });
  test("noindex also where the site is owned, and on its 304", async () => {
    const owned = await server.deploy(PAGE);
    server.giveAway(owned);
    const asked = [
      get(host(owned.version_id, owned.slug)),
      get(host(owned.version_id, owned.slug), "/", ["If-None-Match: *"]),
    ];
    for (const answer of await Promise.all(asked)) expect(answer.headers.get("x-robots-tag")).toBe("noindex");
  });
  test("an unknown version, or one of another site, is a 404 unknown_version", async () => {
    for (const version_id of ["0000000000000000", site.version_id]) {
      const answer = await get(host(version_id));
      expect([answer.status, code(answer), answer.headers.get("cache-control")]).toEqual([
        404,
        "unknown_version",
        "no-store",
      ]);
    }
  });
  test("a slug that is nobody's is unknown_host", async () => {
    expect(code(await get(host(first, "quiet-river-0000")))).toBe("unknown_host");
  });
  test("the owner's SPA setting holds there too", async () => {
    const app = await server.deploy({ "index.html": "<h1>No app</h1>" });
    expect((await get(host(app.version_id, app.slug), "/x/y")).status).toBe(404);
    await server.redeploy(app, { "index.html": "<h1>No app</h1>" }, "?spa=on");
    expect((await get(host(app.version_id, app.slug), "/x/y")).status).toBe(200);
  });
  test("they end with the site: 451, 410, 404", async () => {
    const ending = async () => {
      const made = await server.deploy(PAGE);
      const asked = host(made.version_id, made.slug);
      expect((await get(asked)).status).toBe(200);
      return { ...made, asked };
    };
    const [disabled, expired, deleted] = [await ending(), await ending(), await ending()];
    server.disable(disabled, "abuse");
    server.expire(expired, 1);
    server.remove(deleted);
    const answers = [await get(disabled.asked), await get(expired.asked), await get(deleted.asked)];
    expect(answers.map(({ status }) => status)).toEqual([451, 410, 404]);
  });
});

test("H59, H60: nothing is set in a site's name, nothing tells our version, Date is there", async () => {
  for (const [path, headers] of [
    ["/", []],
    ["/nowhere", []],
    ["/a.css", ["Range: bytes=0-0"]],
  ] as const) {
    const answer = await get(site.slug, path, [...headers]);
    for (const name of [
      "service-worker-allowed",
      "clear-site-data",
      "strict-transport-security",
      "server",
      "x-powered-by",
      "set-cookie",
    ]) {
      expect(answer.headers.has(name)).toBe(false);
    }
    expect(answer.headers.has("date")).toBe(true);
  }
});
