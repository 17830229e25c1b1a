/** `svc update`: which site it is, and by which token. */
import { describe, expect, test, setDefaultTimeout } from "bun:test";
import { deployed, Home, json } from "../kit/cli.ts";
import { DEPLOYED, fakeServer } from "../kit/fake-server.ts";
import { slugOf } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(60_000);

const server = await sharedServer();

const newHome = () => Home.make(server.base_url);
const pageOf = async (url: unknown) => (await server.site(slugOf(url))).text();

describe("which site", () => {
  test("the path given finds its own link, and no other", async () => {
    await using home = await newHome();
    await home.write("", { "a/index.html": "<title>a</title>", "b/index.html": "<title>b</title>" });
    const a = await deployed(home, ["a"]);
    await home.write("", { "a/index.html": "<title>a2</title>" });
    expect(await deployed(home, ["update", "a"])).toMatchObject({ site_id: a["site_id"], changed: true, source: "a" });
    expect(await deployed(home, ["update", "a/"])).toMatchObject({ site_id: a["site_id"], changed: false });
    expect(await deployed(home, ["update", "."], home.path("a"))).toMatchObject({ site_id: a["site_id"] });
    expect(await deployed(home, ["update"], home.path("a"))).toMatchObject({ site_id: a["site_id"], source: "." });
    const none = await home.run(["update", "b", "--json"]);
    expect(none.code).toBe(1);
    expect(json(none)).toEqual({ ok: false, error: expect.stringContaining("Deploy it: svc b"), code: "not_linked" });
  });

  test("without a path the one linked path inside; of several none, and they are listed", async () => {
    await using home = await newHome();
    await home.write("", { "sites/a/index.html": "a", "sites/b/index.html": "b", "sites-too/index.html": "c" });
    const a = await deployed(home, ["sites/a"]);
    await deployed(home, ["sites-too"]);
    const cwd = home.path("sites");
    expect(await deployed(home, ["update"], cwd)).toMatchObject({ site_id: a["site_id"], source: "a" });
    const b = await deployed(home, ["b"], cwd);
    for (const command of ["update", "versions", "rollback", "forget"]) {
      const ran = await home.run([command, "--json"], { cwd });
      expect(ran.code).toBe(1);
      expect(json(ran)["code"]).toBe("several_links");
      expect(json(ran)["error"]).toContain(
        `b (${b["url"]}, ${b["site_id"]}), a (${a["url"]}, ${a["site_id"]}). Give --site and the id of one`,
      );
    }
  });

  test("nothing linked: exit 1 and how to deploy", async () => {
    await using home = await newHome();
    const { code, out, err } = await home.run(["update"]);
    expect([code, out, err]).toEqual([
      1,
      "",
      "  ✗ Nothing was deployed here yet. Deploy it: svc, or name a site: --site <id>\n",
    ]);
  });

  test("--site and --token need no link, and make none", async () => {
    await using home = await newHome();
    await using elsewhere = await newHome();
    await home.write("", { "dist/index.html": "<title>1</title>" });
    const first = await deployed(home);
    await elsewhere.write("", { "dist/index.html": "<title>2</title>two", "x/index.html": "<title>3</title>three" });
    const named = ["--site", String(first["site_id"]), `--token=${first["manage_token"]}`];
    expect(await deployed(elsewhere, ["update", ...named])).toMatchObject({
      changed: true,
      url: first["url"],
      source: "dist",
    });
    expect(await deployed(elsewhere, [...named, "update", "x"])).toMatchObject({ changed: true, source: "x" });
    expect(await pageOf(first["url"])).toContain("three");
    expect((await elsewhere.run(["update"])).code).toBe(1);
    const without = await elsewhere.run(["update", "--site", String(first["site_id"]), "--json"]);
    expect(json(without)).toEqual({ ok: false, error: expect.stringContaining("--token"), code: "unauthorized" });
  });

  test("--site takes the token of a link, and the content of where one stands", async () => {
    await using home = await newHome();
    await home.write("", { "a/dist/index.html": "<title>a</title>", "b/dist/index.html": "<title>b</title>from b" });
    const a = await deployed(home, [], home.path("a"));
    const update = await deployed(home, ["update", "--site", String(a["site_id"])], home.path("b"));
    expect(update).toMatchObject({ changed: true, source: "dist" });
    expect(await pageOf(a["url"])).toContain("from b");
  });

  test.each([["../limits"], ["a/b"], ["x?y"]])("--site %s is no id", async (id) => {
    await using home = await newHome();
    const { code, err } = await home.run(["update", "--site", id]);
    expect(code).toBe(2);
    expect(err).toContain("--site wants an id");
  });
});

describe("tokens", () => {
  test("--token goes first and alone; then the link's; then the session", async () => {
    await using home = await newHome();
    const record = { ...DEPLOYED, live_version_id: "x", versions: [], spa: { enabled: false } };
    const fake = fakeServer((path, _, request) => {
      if (path === "/sites") return Response.json(DEPLOYED);
      const taken = request.headers.get("authorization") === "Bearer good";
      return taken ? Response.json(record) : Response.json({ error: "No.", code: "unauthorized" }, { status: 401 });
    });
    home.server = fake.url;
    await home.write("", { "dist/index.html": "i" });
    await home.run(["-q"]);
    const sent = async (args: string[], env: Record<string, string> = {}) => {
      fake.asked.length = 0;
      const ran = await home.run(["versions", ...args, "--json"], { env });
      const listed = fake.asked.filter(({ path }) => !path.endsWith("/withheld"));
      return { tokens: listed.map(({ headers }) => headers.get("authorization")), body: json(ran) };
    };
    expect((await sent(["--token", "bad"], { SVC_TOKEN: "good" })).tokens).toEqual(["Bearer bad"]);
    expect((await sent(["--token", "good"])).tokens).toEqual(["Bearer good"]);
    const fallen = await sent([], { SVC_TOKEN: "good" });
    expect(fallen.tokens).toEqual(["Bearer svc_manage_fake", "Bearer good"]);
    expect(fallen.body["ok"]).toBe(true);
    const refused = await sent([], { SVC_TOKEN: "bad" });
    expect(refused.body).toEqual({
      ok: false,
      error: `No. The token came from the link of this folder. The server is ${fake.url}.`,
      code: "unauthorized",
    });
    await fake.stop();
  });

  test("a stored token is never sent to another server than the one that issued it", async () => {
    await using home = await newHome();
    await home.write("", { "dist/index.html": "<title>1</title>" });
    const first = await deployed(home);
    const other = fakeServer(() => Response.json(DEPLOYED));
    for (const args of [["update"], ["versions"], ["rollback"], ["update", "--site", String(first["site_id"])]]) {
      expect((await home.run(args, { env: { DEPLOY_URL: other.url } })).code).toBe(1);
    }
    expect(other.asked).toEqual([]);
    await home.run(["-q"], { env: { DEPLOY_URL: other.url } });
    expect(await home.links()).toHaveLength(2);
    expect((await home.run(["update"])).out).toBe(`${first["url"]}\n`);
    await other.stop();
  });

  test("a place that is linked on another server is told so", async () => {
    await using home = await newHome();
    await home.write("", { "dist/index.html": "<title>1</title>" });
    await deployed(home);
    const ran = await home.run(["update", "--json"], { env: { DEPLOY_URL: "http://127.0.0.1:1" } });
    const error = `What was deployed here is on ${server.base_url}, and DEPLOY_URL names http://127.0.0.1:1.`;
    expect(json(ran)).toEqual({ ok: false, error, code: "not_linked" });
  });

  test("a link of another server does not hide the one inside", async () => {
    await using home = await newHome();
    await home.write("", { "a/index.html": "<title>a</title>", "dist/index.html": "<title>d</title>" });
    const a = await deployed(home, ["a"]);
    const other = fakeServer(() => Response.json(DEPLOYED));
    await home.run(["-q"], { env: { DEPLOY_URL: other.url } });
    await other.stop();
    expect(await deployed(home, ["update"])).toMatchObject({ site_id: a["site_id"], source: "a" });
  });

  test("without DEPLOY_URL a link leads to its own server", async () => {
    await using home = await newHome();
    await home.write("", { "dist/index.html": "<title>1</title>" });
    const first = await deployed(home);
    expect((await home.run(["update"], { env: { DEPLOY_URL: "" } })).out).toBe(`${first["url"]}\n`);
  });

  test("a token that is none here is told with where it came from", async () => {
    await using home = await newHome();
    await home.write("", { "dist/index.html": "<title>1</title>" });
    await deployed(home);
    const ran = await home.run(["update", "--token", "svc_manage_wrong", "--json"]);
    expect(ran.code).toBe(1);
    expect(json(ran)).toMatchObject({
      ok: false,
      code: "unauthorized",
      error: expect.stringContaining("The token came from --token."),
    });
    expect(await home.links()).toHaveLength(1);
  });

  test("a frozen site's refusal says nothing of the token, which is good", async () => {
    await using home = await newHome();
    await home.write("", { "dist/index.html": "<title>1</title>" });
    const site = await deployed(home);
    await home.write("", { "dist/index.html": "<title>2</title>" });
    server.freeze({ site_id: String(site["site_id"]) });
    const ran = await home.run(["update", "--json"]);
    expect(json(ran)).toMatchObject({ ok: false, code: "site_frozen" });
    expect(json(ran)["error"]).not.toContain("token");
  });
});
