/** What a saved session is good for: the sites of before, `svc list`, deploys, `svc logout` (SPEC, "CLI"; CONTRACT 8). */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Home, homeWithSite, json } from "../kit/cli.ts";
import { DEPLOYED, fakeServer } from "../kit/fake-server.ts";
import { signUp } from "../kit/people.ts";
import { slugOf } from "../kit/server.ts";
import { sharedPerson } from "../kit/shared.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(60_000);

const { server, person } = await sharedPerson();

const newHome = (at = server.base_url) => homeWithSite(at);

describe("the sites of before", () => {
  test("anonymous sites of this server become the account's; what was skipped is told with its reason", async () => {
    await using home = await newHome();
    const other = await signUp(server);
    const site = async (folder: string) => {
      await home.write(folder, { "index.html": `<title>${folder}</title>` });
      return json(await home.run([folder, "--json"])) as { site_id: string; url: string; claim_token: string };
    };
    const [mine, twice, theirs, gone] = [
      await site("mine"),
      await site("twice"),
      await site("theirs"),
      await site("gone"),
    ];
    for (const [person_, { site_id, claim_token }] of [
      [other, theirs],
      [person, twice],
    ] as const) {
      await server.api(`/sites/${site_id}/claim`, {
        method: "POST",
        headers: { ...person_.bearer, "content-type": "application/json" },
        body: JSON.stringify({ claim_token }),
      });
    }
    server.remove({ ...gone, slug: slugOf(gone.url) });
    const ran = await home.run(["login", "--token", person.session_token]);
    expect(ran.code).toBe(0);
    expect(ran.err).toContain("1 site deployed here before: yours now, for good");
    expect(ran.err).toContain(mine.url);
    expect(ran.err).toContain(`${theirs.url} was skipped: it belongs to another account`);
    expect(ran.err).toContain(`${twice.url} is yours already`);
    expect(ran.err).toContain(`${gone.url} was skipped: it is gone`);
    const after = new Map((await home.links()).map((link) => [link["site_id"], link]));
    expect(after.get(mine.site_id)).toMatchObject({ expires_at: null, claim_token: null });
    expect(after.get(twice.site_id)).toMatchObject({ expires_at: null });
    expect(after.get(theirs.site_id)).toMatchObject({ expires_at: expect.any(Number) });
    expect(after.has(gone.site_id)).toBe(false);
    // What was attached is not asked for again.
    expect((await home.run(["login", "--token", person.session_token])).err).not.toContain(mine.url);
    expect((await home.run(["update", "mine", "--spa"])).code).toBe(0);
  });

  const linked = (n: number, origin: string, more: object = {}) => ({
    folder: `/p/${n}`,
    looked_up: false,
    origin,
    site_id: `site_${n}`,
    url: `http://s${n}.localhost`,
    manage_token: `svc_manage_${n}`,
    claim_token: null,
    expires_at: Date.now() + 1e6,
    used_at: n,
    ...more,
  });
  const accountOr = (answer: (request: Request) => Promise<Response>) => (path: string, _: number, request: Request) =>
    path === "/account" ? Response.json({ account_id: "acct_x", email: "x@example.org" }) : answer(request);
  async function remember(home: Home, projects: object[]): Promise<void> {
    await mkdir(home.config, { recursive: true });
    await writeFile(join(home.config, "projects.json"), JSON.stringify({ version: 1, projects }));
  }

  test("go in slices of at most 100; owned ones, those without a token and those of others stay home", async () => {
    const slices: string[][] = [];
    const fake = fakeServer(
      accountOr(async (request) => {
        const { sites } = (await request.json()) as { sites: { site_id: string; manage_token: string }[] };
        slices.push(sites.map(({ site_id }) => site_id));
        return Response.json({ attached: sites.map(({ site_id }) => site_id), skipped: [] });
      }),
    );
    await using home = await newHome(fake.url);
    const usual = Array.from({ length: 230 }, (_, n) => linked(n, fake.url));
    await remember(home, [
      ...usual,
      linked(3, fake.url, { folder: "/p/again" }),
      linked(900, "http://elsewhere.example"),
      linked(901, fake.url, { expires_at: null }),
      linked(902, fake.url, { manage_token: null }),
      linked(903, fake.url, { expires_at: 1 }),
    ]);
    const ran = json(await home.run(["login", "--token", "svc_session_x", "--json"]));
    await fake.stop();
    expect(slices.map(({ length }) => length)).toEqual([100, 100, 30]);
    expect(new Set(slices.flat()).size).toBe(230);
    expect(slices.flat()).not.toContain("site_900");
    expect(ran["attached"]).toHaveLength(230);
  });

  test("a slice that fails leaves the login, and what was attached before it", async () => {
    let calls = 0;
    const fake = fakeServer(
      accountOr(async (request) => {
        const { sites } = (await request.json()) as { sites: { site_id: string }[] };
        if (++calls > 1) return Response.json({ error: "Too often.", code: "rate_limited" }, { status: 429 });
        return Response.json({ attached: sites.map(({ site_id }) => site_id), skipped: [] });
      }),
    );
    await using home = await newHome(fake.url);
    await remember(
      home,
      Array.from({ length: 120 }, (_, n) => linked(n, fake.url)),
    );
    const { code, err } = await home.run(["login", "--token", "svc_session_x"]);
    await fake.stop();
    expect(code).toBe(0);
    expect(err).toContain("were not attached: Too often.");
    expect(await home.hasSaved("session.json")).toBe(true);
    expect((await home.links()).filter((link) => link["expires_at"] === null).length).toBeGreaterThan(0);
  });
});

describe("logout", () => {
  test("deletes the session alone, asks nothing of the server, and may be repeated", async () => {
    await using home = await newHome();
    await home.run([]);
    await home.run(["login", "--token", person.session_token]);
    const offline = { env: { DEPLOY_URL: "http://127.0.0.1:1" } };
    const first = await home.run(["logout"], offline);
    expect([first.code, first.out]).toEqual([0, ""]);
    expect(first.err).toContain("Signed out");
    expect(await home.hasSaved("session.json")).toBe(false);
    expect(await home.hasSaved("projects.json")).toBe(true);
    expect((await home.run(["logout"], offline)).err).toContain("There was no saved session.");
    expect(json(await home.run(["logout", "--json"]))).toEqual({ ok: true });
    expect((await server.api("/account", { headers: person.bearer })).status).toBe(200);
  });
});

describe("list", () => {
  test("the account's sites as an array, newest first", async () => {
    await using home = await newHome();
    const owner = await signUp(server);
    await home.run(["login", "--token", owner.session_token]);
    expect((await home.run(["list"])).out).toBe("[]\n");
    const first = json(await home.run(["--json"]));
    server.advance(1000);
    const second = json(await home.run(["dist/index.html", "--json"]));
    for (const flags of [[], ["--json"], ["-q"]]) {
      const { out, code } = await home.run(["list", ...flags]);
      expect(code).toBe(0);
      expect(JSON.parse(out)).toEqual(
        [second, first].map(({ site_id, url, version_id }) => ({
          site_id,
          url,
          slug: slugOf(url),
          label: null,
          created_at: expect.stringMatching(/Z$/),
          live_version_id: version_id,
        })),
      );
    }
    const env = { SVC_TOKEN: owner.session_token, SVC_CONFIG_DIR: home.path("empty") };
    expect(JSON.parse((await home.run(["list"], { env })).out)).toHaveLength(2);
  });

  test("without a session: exit 1 and the way to get one", async () => {
    await using home = await newHome();
    const { code, out, err } = await home.run(["list"]);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain("svc list needs your account: run svc login, or set SVC_TOKEN.");
    expect(json(await home.run(["list", "--json"]))).toMatchObject({ ok: false, code: "unauthorized" });
  });
});

describe("the session", () => {
  test("is shown to the server that gave it, and to no other", async () => {
    const fake = fakeServer(() => Response.json(DEPLOYED));
    await using home = await newHome();
    await home.run(["login", "--token", person.session_token]);
    await home.run(["dist"], { env: { DEPLOY_URL: fake.url } });
    await fake.stop();
    expect(fake.asked.map(({ headers }) => headers.get("authorization"))).toEqual([null]);
  });

  test("that has ended makes no anonymous site: it is told how to go on", async () => {
    await using home = await newHome();
    const other = await signUp(server);
    await home.run(["login", "--token", other.session_token]);
    await server.api("/auth/logout", { method: "POST", headers: other.bearer });
    const { code, err, out } = await home.run([]);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain("The token came from the saved session. Sign in again: svc login");
    expect(json(await home.run(["list", "--json"]))["code"]).toBe("unauthorized");
  });
});
