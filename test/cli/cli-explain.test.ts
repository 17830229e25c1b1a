/** BEYOND 5: `svc explain`: why an address of a site answers as it does. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Home, json } from "../kit/cli.ts";
import { fakeServer } from "../kit/fake-server.ts";
import { signUp } from "../kit/people.ts";
import { type DeployResult, ZIP } from "../kit/server.ts";
import { shared, sharedServer } from "../kit/shared.ts";
import { zipOf } from "../kit/zip.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(60_000);

const FILES = {
  "index.html": "<!doctype html><title>Home</title>home",
  "about.html": "<!doctype html><title>About</title>about",
  _redirects: "/old /about 301\n",
  _headers: "/*\n  X-A: one\n  Cache-Control: max-age=9\n/about\n  X-A: two\n",
};

let url: string;
let site_id: string;
let version_id: string;
const server = await sharedServer();
const home = shared(await Home.make(server.base_url));
beforeAll(async () => {
  await home.write("", Object.fromEntries(Object.entries(FILES).map(([name, text]) => [`dist/${name}`, text])));
  const body = json(await home.run(["--json"]));
  [url, site_id, version_id] = [String(body["url"]), String(body["site_id"]), String(body["version_id"])];
});

describe("BEYOND 5: svc explain prints", () => {
  test("status and address, then by, version and file, then each header with its lines", async () => {
    const { code, out, err } = await home.run(["explain", `${url}/about`]);
    expect(code).toBe(0);
    const lines = out.trimEnd().split("\n");
    expect(lines.slice(0, 4)).toEqual([
      `200 ${url}/about`,
      "by       clean_url",
      `version  ${version_id} [live]`,
      "file     about.html",
    ]);
    expect(lines.slice(4).every((line) => line.startsWith("header   "))).toBe(true);
    expect(lines).toContain("header   x-a: one, two (_headers:2, _headers:5)");
    expect(lines).toContain("header   cache-control: public, max-age=60, must-revalidate");
    expect(err).toContain("✓ file: about.html answers without its .html.");
    expect(err).toContain("_headers:3 Cache-Control does nothing here");
  });

  test("the rule with its line, and exit 0 whatever the status", async () => {
    const { code, out } = await home.run(["explain", `${url}/old?a=1`]);
    expect([code, out]).toEqual([0, expect.stringContaining("rule     _redirects:1 /old /about 301\n")]);
    expect(out).toContain("header   location: /about?a=1\n");
    const nowhere = await home.run(["explain", `${url}/nowhere`]);
    expect([nowhere.code, nowhere.out.split("\n")[0]]).toEqual([0, `404 ${url}/nowhere`]);
    expect(nowhere.err).toContain("not_found: The site has no 404.html on the way up.");
  });

  test("RELIABILITY A28: of a site in quarantine, that it is, and why a header that reports does nothing", async () => {
    await using other = await Home.make(server.base_url);
    const _headers =
      "/*\n  Content-Security-Policy-Report-Only: connect-src 'none'; report-uri https://evil.example/\n";
    await other.write("", { "dist/index.html": "<title>t</title>", "dist/_headers": _headers });
    const site = json(await other.run(["--json"]));
    server.quarantine({ site_id: String(site["site_id"]) });
    const { out, err } = await other.run(["explain", "/"]);
    expect(out).not.toContain("report-uri");
    expect(err).toContain(
      "_headers:2 Content-Security-Policy-Report-Only does nothing here: The site is in quarantine: this header would send reports or links elsewhere.",
    );
    const held = "The site is in quarantine: its pages load and send nothing elsewhere until the operator ends it. x";
    expect(err).toContain(held);
    for (const [n, words] of [["update"], ["update", "--json"]].entries()) {
      await other.write("", { "dist/index.html": `<title>${n}</title>` });
      expect((await other.run(words)).err).toContain(held);
    }
    expect((await other.run(["explain", "/", "-q"])).err).toBe("");
  });

  test("the answer alone with -q, and the API's body with --json", async () => {
    const whole = await home.run(["explain", `${url}/`]);
    expect(await home.run(["explain", `${url}/`, "-q"])).toEqual({ code: 0, out: whole.out, err: "" });
    const body = json(await home.run(["explain", `${url}/`, "--json"]));
    expect(body).toMatchObject({ ok: true, url: `${url}/`, by: "index", status: 200, version_id, live: true });
    expect(Object.keys(body)).toEqual(
      "ok url method version_id live access status by file rule location headers header_rules steps".split(" "),
    );
  });
});

describe("BEYOND 5: svc explain finds the site", () => {
  test("by its host, a version's own, an address without its scheme, or a path of what was deployed from here", async () => {
    const own = url.replace("://", `://${version_id}--`);
    for (const written of [url, own, url.replace("http://", ""), "/"]) {
      const { code, out } = await home.run(["explain", written, "-q"]);
      expect([written, code, out.split("\n")[1]]).toEqual([written, 0, "by       index"]);
    }
  });

  test("from anywhere on this machine, by links or --site; from another by the account", async () => {
    expect((await home.run(["explain", url], { cwd: "/" })).code).toBe(0);
    expect((await home.run(["explain", "/about", "--site", site_id], { cwd: "/" })).code).toBe(0);
    await using elsewhere = await Home.make(server.base_url);
    const none = await elsewhere.run(["explain", url]);
    expect([none.code, none.out]).toEqual([1, ""]);
    expect(none.err).toContain("--site <id>");
    const person = await signUp(server);
    const made = await server.post(zipOf(FILES), person.bearer);
    const mine = (await made.json()) as DeployResult;
    const env = { SVC_TOKEN: person.session_token };
    const { code, out } = await elsewhere.run(["explain", `${mine.url}/old`, "-q"], { env });
    expect([code, out.split("\n")[0]]).toEqual([0, `301 ${mine.url}/old`]);
    expect((await elsewhere.run(["explain", url], { env })).err).toContain("your account");
  });
});

describe("BEYOND 5: svc explain cannot ask", () => {
  test("a host that the site has not, or that nobody here knows: exit 1", async () => {
    const wrong = await home.run(["explain", url.replace("://", "://0123456789abcdef--")]);
    expect([wrong.code, wrong.out]).toEqual([1, ""]);
    expect(wrong.err).toContain("The site has no such host");
    expect((await home.run(["explain", "https://example.org/"])).code).toBe(1);
  });

  test("nothing: exit 2, and so what is no address", async () => {
    expect((await home.run(["explain"])).code).toBe(2);
    expect((await home.run(["explain", "http://["])).code).toBe(2);
  });

  test.each(["about", "about/team"])("a path without its slash, %s: exit 2, and how it is written", async (path) => {
    const { code, err } = await home.run(["explain", path]);
    expect([code, err]).toEqual([2, expect.stringContaining(`explain /${path}`)]);
  });

  test("a server that is older: exit 1, in a sentence", async () => {
    const old = fakeServer((path) =>
      path.includes("/explain")
        ? Response.json({ error: "There is nothing at this address of the API.", code: "not_found" }, { status: 404 })
        : Response.json({ site_id, url: "http://x.localhost" }),
    );
    await using away = await Home.make(old.url);
    const { code, err } = await away.run(["explain", "/about", "--site", site_id, "--token", "svc_manage_x"]);
    expect([code, err]).toEqual([1, expect.stringContaining("older than this svc. Upgrade it first.")]);
    await old.stop();
  });

  test("what a server says is made harmless", async () => {
    const told = {
      url: "http://x.localhost/\u001b[31m",
      version_id,
      live: true,
      status: 200,
      by: "file\u001b]0;x\u0007",
    };
    const rest = {
      file: { path: "a\u202eb" },
      rule: null,
      headers: { "x-a": "\u001b[2J" },
      header_rules: [],
      steps: [],
    };
    const hostile = fakeServer((path) =>
      Response.json(path.includes("/explain") ? { ...told, ...rest } : { site_id, url: "http://x.localhost" }),
    );
    await using away = await Home.make(hostile.url);
    const { code, out } = await away.run(["explain", "/about", "--site", site_id, "--token", "svc_manage_x"]);
    expect(code).toBe(0);
    await hostile.stop();
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f\u202e]/);
  });
});
