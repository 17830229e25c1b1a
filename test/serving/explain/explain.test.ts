/** BEYOND 5: what is told of an address beside the answer itself, which the tables of serving and rules hold it to. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type Person, signUp } from "../../kit/people.ts";
import { type DeployResult, ZIP } from "../../kit/server.ts";
import { sharedServer } from "../../kit/shared.ts";
import { zipOf } from "../../kit/zip.ts";

setDefaultTimeout(60_000);

let person: Person;
let site: DeployResult;
let app: DeployResult;
const server = await sharedServer();
beforeAll(async () => {
  person = await signUp(server);
  site = await server.deploy({ "old-12345678.js": "1", "index.html": "first" });
  const { version_id } = await server.redeploy(site, FILES);
  site = { ...site, version_id };
  app = await server.deploy({ "index.html": SHELL, "assets/app.js": "history.pushState({}, '', '/x');" });
});

const SHELL =
  '<!doctype html><title>App</title><div id="root"></div><script type="module" src="/assets/app.js"></script>';
const FILES = {
  "index.html": "<!doctype html><title>Home</title>home",
  "about.html": "<!doctype html><title>About</title>about",
  "docs/index.html": "docs",
  "docs/404.html": "no such page in docs",
  "gone.html": "gone",
  "data.json": "[1]",
  _redirects: [
    "# comment",
    "/old /about 301",
    "/data.json /about 302!",
    "/shown /about 200   # a page",
    "/app/* /index.html 200",
    "/self/* /self/:splat",
    "/self/* /about 302",
    "/gone/* /gone 404",
    "/away https://example.org/ 302",
    "/nofile /missing 200",
  ].join("\n"),
  _headers: [
    "/*",
    "  X-A: one",
    "  Cache-Control: max-age=9",
    "/about",
    "  X-A: two",
    "  ! X-B",
    "/:page",
    "  X-Page: :page",
  ].join("\n"),
};

interface Told {
  url: string;
  method: string;
  version_id: string;
  live: boolean;
  access: string;
  status: number;
  by: string;
  file: { path: string; bytes: number; sha256: string; media_type: string; made: boolean } | null;
  rule: object | null;
  location: string | null;
  headers: Record<string, string>;
  header_rules: { path: string; name: string; value: string | null; applied: boolean; reason?: string }[];
  steps: { step: string; matched: boolean; why: string }[];
}

const ask = (query: Record<string, string>, of = site, token = of.manage_token): Promise<Response> =>
  server.api(`/sites/${of.site_id}/explain?${new URLSearchParams(query)}`, {
    headers: { authorization: `Bearer ${token}` },
  });

async function told(url: string, also: Record<string, string> = {}, of = site, token = of.manage_token): Promise<Told> {
  const answer = await ask({ url, ...also }, of, token);
  expect(answer.status).toBe(200);
  return (await answer.json()) as Told;
}

/** The steps' names, the last of which matched. */
const stepsOf = ({ steps }: Told): string => steps.map(({ step }) => step).join(" ");
const SKEW = { sec_fetch_site: "same-origin", sec_fetch_dest: "script" };
const TO_RULE = "forced_rule file rule";
const ALL = `${TO_RULE} spa_fallback skew not_found`;

describe("BEYOND 5: by, and the steps that were tried, in order", () => {
  test.each<
    [url: string, also: Record<string, string>, status: number, by: string, steps: string, file: string | null]
  >([
    ["/", {}, 200, "index", "forced_rule file", "index.html"],
    ["/index.html", {}, 200, "file", "forced_rule file", "index.html"],
    ["/about", {}, 200, "clean_url", "forced_rule file", "about.html"],
    ["/docs", {}, 308, "slash", "forced_rule file", null],
    ["/docs/", {}, 200, "index", "forced_rule file", "docs/index.html"],
    ["/data.json", {}, 302, "rule", "forced_rule", null],
    ["/old", {}, 301, "rule", TO_RULE, null],
    ["/shown", {}, 200, "rule", TO_RULE, "about.html"],
    ["/app/x", {}, 200, "rule", TO_RULE, "index.html"],
    ["/self/x", {}, 404, "service_404", ALL, null],
    ["/gone/x", {}, 404, "page_404", `${TO_RULE} skew not_found`, "gone.html"],
    ["/docs/x", {}, 404, "page_404", ALL, "docs/404.html"],
    ["/nothing", {}, 404, "service_404", ALL, null],
    ["/old-12345678.js", {}, 404, "service_404", ALL, null],
    ["/old-12345678.js", SKEW, 200, "skew", `${TO_RULE} spa_fallback skew`, "old-12345678.js"],
    ["/old-12345678.js", { ...SKEW, method: "HEAD" }, 404, "service_404", ALL, null],
    ["/comments.json", {}, 404, "feed", "", null],
    ["/_svc/c.js", {}, 200, "reserved", "", null],
    ["/_svc/nothing", {}, 404, "reserved", "", null],
    ["/.well-known/acme-challenge/x", {}, 404, "reserved", "", null],
    ["/%zz", {}, 400, "invalid_path", "", null],
  ])("%s %o is %i by %s", async (url, also, status, by, steps, file) => {
    const answer = await told(url, also);
    expect([answer.status, answer.by, stepsOf(answer), answer.file?.path ?? null]).toEqual([status, by, steps, file]);
    expect(answer.steps.every(({ why }) => /^\S.*\.$/.test(why))).toBe(true);
  });

  test.each([
    ["/x/y", {}, 200, "spa_fallback", `${TO_RULE} spa_fallback`],
    ["/x/y", { sec_fetch_dest: "script" }, 404, "service_404", ALL],
    ["/x.js", {}, 404, "service_404", ALL],
  ] as const)("of a single-page app %s %o is %i by %s", async (url, also, status, by, steps) => {
    const answer = await told(url, also, app);
    expect([answer.status, answer.by, stepsOf(answer)]).toEqual([status, by, steps]);
  });

  test("on a version's own host the shield is not tried", async () => {
    const url = `http://${site.version_id}--${site.slug}.localhost:${server.port}/nothing`;
    const answer = await told(url, SKEW);
    expect([answer.by, stepsOf(answer)]).toEqual(["service_404", `${TO_RULE} spa_fallback not_found`]);
  });

  test("a rule that is for the address and is not taken is named with the reason", async () => {
    const why = async (url: string, also = {}) =>
      (await told(url, also)).steps.find(({ step }) => step === "rule")!.why;
    expect(await why("/away")).toContain("Line 9 leads to another host, which counts once the site has an owner.");
    expect(await why("/nofile")).toContain("Line 10 shows a file that is not there.");
    expect(await why("/app/x.js")).toContain("Line 5 shows a page for whatever is missing");
    expect(await why("/app/x", { sec_fetch_dest: "script" })).toContain("Line 5 shows a page to navigations alone");
    expect(await why("/self/x")).toContain("Line 6 leads to this very address.");
  });

  test("state, of a site that the operator disabled, and to whom nothing else is told", async () => {
    const off = await server.deploy({ "index.html": "x" });
    server.disable(off, "phishing");
    const answer = await told("/", {}, off);
    expect(answer).toMatchObject({ status: 451, by: "state", file: null, rule: null, steps: [], header_rules: [] });
    expect(answer.headers["content-type"]).toBe("application/json");
  });
});

describe("BEYOND 5: the body", () => {
  test("has its members and no others, and the answer is not kept", async () => {
    const answer = await ask({ url: "/about?a=1#b" });
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const body = (await answer.json()) as Told;
    expect(Object.keys(body)).toEqual(
      "url method version_id live access status by file rule location headers header_rules steps".split(" "),
    );
    const about = FILES["about.html"];
    expect(body).toMatchObject({
      url: `http://${site.slug}.localhost:${server.port}/about?a=1`,
      method: "GET",
      version_id: site.version_id,
      live: true,
      access: "public",
      file: {
        path: "about.html",
        bytes: about.length,
        sha256: new Bun.CryptoHasher("sha256").update(about).digest("hex"),
        media_type: "text/html; charset=utf-8",
        made: false,
      },
    });
    expect(
      Object.keys(body.headers).some((name) => name !== name.toLowerCase() || /^(?:date|x-request-id)$/.test(name)),
    ).toBe(false);
  });

  test("a rule is told with its line as it stands there, and where it leads", async () => {
    const { rule, location } = await told("/old?q=1");
    const line = { text: "/old /about 301", from: "/old", to: "/about", status: 301, forced: false };
    expect([rule, location]).toEqual([{ path: "_redirects:2", ...line }, "/about?q=1"]);
    expect((await told("/data.json")).rule).toMatchObject({ path: "_redirects:3", forced: true });
    expect((await told("/gone/x")).rule).toMatchObject({ path: "_redirects:8", status: 404 });
    expect((await told("/")).rule).toBeNull();
  });

  test("each line of _headers for the address is told in order, with why it does nothing", async () => {
    const { header_rules, headers } = await told("/about");
    expect(header_rules.map(({ path, name, value, applied }) => [path, name, value, applied])).toEqual([
      ["_headers:2", "X-A", "one", true],
      ["_headers:3", "Cache-Control", "max-age=9", false],
      ["_headers:6", "X-B", null, true],
      ["_headers:5", "X-A", "two", true],
      ["_headers:8", "X-Page", "about", true],
    ]);
    expect(header_rules[1]!.reason).toBe("It counts on the live address of a site that has an owner.");
    expect(headers["x-a"]).toBe("one, two");
    for (const url of ["/old", "/nothing"]) {
      const { header_rules } = await told(url);
      expect(header_rules.length).toBeGreaterThan(0);
      expect(header_rules.every(({ applied, reason }) => !applied && reason !== undefined)).toBe(true);
    }
  });

  test("what 32 headers and 8 KiB leave out is told, too", async () => {
    const lines = Array.from({ length: 34 }, (_, n) => `  X-${n}: ${n}`);
    const many = await server.deploy({ "index.html": "x", _headers: ["/*", ...lines].join("\n") });
    const { header_rules } = await told("/", {}, many);
    expect(header_rules.map(({ applied }) => applied)).toEqual([...Array<boolean>(32).fill(true), false, false]);
    expect(header_rules.at(-1)!.reason).toContain("32 headers");
    const long = ["/*", ...Array.from({ length: 6 }, (_, n) => `  X-${n}: ${"a".repeat(1900)}`)].join("\n");
    const large = await server.deploy({ "index.html": "x", _headers: long });
    expect((await told("/", {}, large)).header_rules.at(-1)!.reason).toContain("8 KiB");
  });

  test("a version's own host is told as itself", async () => {
    const [first] = await versionsOf(site);
    const url = `http://${first}--${site.slug}.localhost:${server.port}/`;
    const answer = await told(url);
    expect(answer).toMatchObject({ url, version_id: first, live: false, by: "index" });
    expect(answer.headers["cache-control"]).toBe("public, max-age=3600");
    const live = await told(`https://${site.version_id}--${site.slug}.localhost/`);
    expect(live).toMatchObject({ version_id: site.version_id, live: true });
  });

  test("a preview is told as what its name shows, and is none of the site's hosts before and after", async () => {
    const at = await server.deploy({ "index.html": "live" });
    const url = `http://pr-1--${at.slug}.localhost:${server.port}/`;
    expect((await ask({ url }, at)).status).toBe(400);
    const headers = { ...ZIP, authorization: `Bearer ${at.manage_token}` };
    const body = zipOf({ "index.html": "shown" });
    const path = `/sites/${at.site_id}/previews`;
    const made = (await (await server.api(`${path}?name=pr-1`, { method: "POST", body, headers })).json()) as {
      version_id: string;
    };
    const answer = await told(url, {}, at);
    expect(answer).toMatchObject({ url, version_id: made.version_id, live: false, by: "index" });
    expect(answer.headers["cache-control"]).toBe("no-cache");
    expect(stepsOf(await told(`${url}nothing`, SKEW, at))).toBe(`${TO_RULE} spa_fallback not_found`);
  });

  test("accept_encoding chooses the coding, method HEAD tells what HEAD gets", async () => {
    const long = await server.deploy({ "index.html": "<p>text</p>".repeat(500) });
    expect((await told("/", { accept_encoding: "gzip" }, long)).headers["content-encoding"]).toBe("gzip");
    expect((await told("/", {}, long)).headers["content-encoding"]).toBeUndefined();
    expect(await told("/", { method: "HEAD" }, long)).toMatchObject({ method: "HEAD", status: 200 });
  });

  test("counts nothing", async () => {
    const figures = async () =>
      (await (await server.api("/metrics")).text()).match(/^svc_skew_answers_total \d+$/m)![0];
    const before = await figures();
    await told("/old-12345678.js", SKEW);
    expect(await figures()).toBe(before);
  });
});

async function versionsOf({ site_id, manage_token }: DeployResult): Promise<string[]> {
  const headers = { authorization: `Bearer ${manage_token}` };
  const { versions } = (await (await server.api(`/sites/${site_id}`, { headers })).json()) as {
    versions: { version_id: string }[];
  };
  return versions.map(({ version_id }) => version_id).reverse();
}

describe("BEYOND 5: what cannot be asked is 400 invalid_input", () => {
  test.each<[what: string, query: Record<string, string>]>([
    ["no url", {}],
    ["an empty one", { url: "" }],
    ["one over 4,096 characters", { url: `/${"a".repeat(4096)}` }],
    ["neither path nor address", { url: "about" }],
    ["another scheme", { url: "ftp://x.localhost/" }],
    ["a script", { url: "javascript:alert(1)" }],
    ["another host", { url: "https://example.org/" }],
    ["the API's host", { url: "http://localhost/" }],
    ["POST", { url: "/", method: "POST" }],
    ["OPTIONS", { url: "/", method: "OPTIONS" }],
    ["a header with a line end", { url: "/", accept_encoding: "br\r\nX: y" }],
    ["a header beyond ASCII", { url: "/", sec_fetch_dest: "é" }],
    ["a header over 500 characters", { url: "/", sec_fetch_site: "x".repeat(501) }],
  ])("%s", async (_, query) => {
    const answer = await ask(query);
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([400, "invalid_input"]);
  });

  test("another site's host, and a version that the site has not", async () => {
    for (const name of [app.slug, `${app.version_id}--${site.slug}`, `${app.version_id}--${app.slug}`]) {
      expect((await ask({ url: `http://${name}.localhost:${server.port}/` })).status).toBe(400);
    }
  });

  test("what begins with two slashes is a path, and leads to no other host", async () => {
    expect(await told("//example.org/x")).toMatchObject({ status: 404 });
    expect((await told("/\\example.org/docs")).url).toStartWith(`http://${site.slug}.localhost`);
  });

  test("4,096 characters are asked", async () => {
    expect((await told(`/${"a".repeat(4095)}`)).status).toBe(404);
  });
});

describe("BEYOND 5: of an owned site", () => {
  test("Cache-Control counts, on the live host alone, and rules lead to other hosts", async () => {
    const answer = await server.api("/sites", {
      method: "POST",
      body: zipOf(FILES),
      headers: { ...ZIP, ...person.bearer },
    });
    const mine = (await answer.json()) as DeployResult;
    expect((await told("/", {}, mine)).headers["cache-control"]).toBe("max-age=9");
    const own_host = `http://${mine.version_id}--${mine.slug}.localhost:${server.port}/`;
    expect((await told(own_host, {}, mine)).headers["cache-control"]).toBe("public, max-age=3600");
    expect(await told("/away", {}, mine)).toMatchObject({ by: "rule", location: "https://example.org/" });
  });
});
