/** Which server is asked, and what is said where it was the wrong one (CONTRACT 8). */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { CLI, type Home, homeWithSite, json } from "../kit/cli.ts";
import { DEPLOYED, deviceCode, fakeServer } from "../kit/fake-server.ts";
import { TLS_CERT, TLS_KEY } from "../kit/paths.ts";
import { signInByForm, submit } from "../kit/people.ts";
import { sharedPerson } from "../kit/shared.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(60_000);

const { server, person } = await sharedPerson();

/** A machine on which nothing names a server. */
const newHome = () => homeWithSite("");
const login = (home: Home, ...more: string[]) => home.run(["login", ...more, "--token", person.session_token]);
/** Where no server is by default, whatever this machine runs. */
const NOWHERE = [CLI[0]!, "--define", 'SVC_DEFAULT_SERVER="http://localhost:1"', CLI[1]!];

describe("CONTRACT 8: the server of the last login is remembered", () => {
  test("svc login <url> beats DEPLOY_URL; then all commands ask it, until svc logout", async () => {
    await using home = await newHome();
    const env = { DEPLOY_URL: "http://127.0.0.1:1" };
    const signedIn = await home.run(["login", server.base_url, "--token", person.session_token], { env });
    expect(signedIn.code).toBe(0);
    expect(signedIn.err).toContain("DEPLOY_URL is set to http://127.0.0.1:1 and goes before this login.");
    expect(await home.saved("session.json")).toMatchObject({ origin: server.base_url });
    expect((await home.run(["whoami"])).out).toBe(`${person.email} ${server.base_url}\n`);
    expect(json(await home.run(["--json"]))).toMatchObject({ ok: true, owner_account_id: person.account_id });
    expect((await home.run(["list"])).code).toBe(0);
    expect((await home.run(["whoami"], { env })).code).toBe(1);
    await home.run(["logout"]);
    expect((await home.run(["whoami"], { program: NOWHERE })).err).toContain("The server is http://localhost:1.");
  });

  test("a login with --token, with --check or in a browser is remembered alike", async () => {
    await using home = await newHome();
    const asked = json(await home.run(["login", server.base_url, "--request"]));
    const { cookie, csrf } = await signInByForm(server, person);
    const fields = { user_code: String(asked["user_code"]), csrf, decision: "approve" };
    await submit(server, "/device", fields, { cookie });
    expect(json(await home.run(["login", "--check", String(asked["id"])]))).toMatchObject({ ok: true });
    expect((await home.run(["whoami"])).out).toBe(`${person.email} ${server.base_url}\n`);
  });

  test("a linked site is asked for at its own server, a new one made at that of the login", async () => {
    await using home = await newHome();
    const before = json(await home.run(["dist", "--json"], { env: { DEPLOY_URL: server.base_url } }));
    const other = fakeServer((path) =>
      Response.json(path === "/account" ? { account_id: "acct_x", email: "x@example.org" } : DEPLOYED),
    );
    expect((await home.run(["login", other.url, "--token", "svc_session_x"])).code).toBe(0);
    expect((await home.run(["update", "dist"])).out).toBe(`${before["url"]}\n`);
    await home.write("new", { "index.html": "n" });
    expect((await home.run(["new"])).out).toBe(`${DEPLOYED.url}\n`);
    await other.stop();
  });

  test.each([
    ["localhost:PORT", "http"],
    ["127.0.0.1:PORT", "http"],
    ["http://localhost:PORT/", "http"],
  ])("svc login %s asks by %s", async (address) => {
    await using home = await newHome();
    const { code, err } = await login(home, address.replace("PORT", String(server.port)));
    expect([code, err]).toEqual([
      0,
      expect.stringMatching(/Signed in as .* to http:\/\/(localhost|127\.0\.0\.1):\d+\n/),
    ]);
  });

  test.each([["svc.invalid"], ["svc.invalid:8787"]])("svc login %s, elsewhere, asks by https", async (address) => {
    await using home = await newHome();
    expect((await login(home, address)).err).toContain(`No server answers at https://${address}.`);
  });

  test.each([["ftp://x"], ["a b"], [""], ["http://"], ["me@svc.example.org"], ["https://me:pw@svc.example.org"]])(
    "svc login %p cannot be read: exit 2",
    async (address) => {
      await using home = await newHome();
      const { code, err } = await login(home, address);
      expect(code).toBe(2);
      expect(err).toContain(`"${address}" is no address of a server.`);
    },
  );

  test("the page of a login in a browser is that of the server named", async () => {
    await using home = await newHome();
    const fake = fakeServer((path) =>
      path === "/auth/device/code"
        ? Response.json(deviceCode(fake, { interval: 0.01 }))
        : Response.json({ error: "access_denied", code: "access_denied" }, { status: 400 }),
    );
    const { code, err } = await home.run(["login", fake.url]);
    await fake.stop();
    expect(code).toBe(1);
    expect(err).toContain(`Approve it at ${fake.url}/device`);
  });
});

describe("CONTRACT 8: svc whoami", () => {
  test("one line, or JSON; signed out it asks nothing", async () => {
    await using home = await newHome();
    await login(home, server.base_url);
    expect(await home.run(["whoami"])).toEqual({ code: 0, out: `${person.email} ${server.base_url}\n`, err: "" });
    expect(json(await home.run(["whoami", "--json"]))).toEqual({
      ok: true,
      account_id: person.account_id,
      email: person.email,
      server: server.base_url,
    });
    const fake = fakeServer(() => Response.json({}));
    const out = await home.run(["whoami", "--json"], { env: { DEPLOY_URL: fake.url } });
    await fake.stop();
    expect([out.code, fake.asked]).toEqual([1, []]);
    expect(json(out)).toMatchObject({ code: "unauthorized", error: expect.stringContaining(fake.url) });
  });
});

describe("CONTRACT 8: a failure that comes of which server was asked names it, and how to name another", () => {
  const WAYS = "DEPLOY_URL=https://… svc, or svc login <url>";
  const unauthorized = () => Response.json({ error: "No.", code: "unauthorized" }, { status: 401 });
  const CASES: [string, () => Response, string][] = [
    ["unauthorized", unauthorized, "unauthorized"],
    ["unexpected_answer", () => new Response("<h1>hello</h1>"), "unexpected_answer"],
  ];
  test.each(CASES)("%s: by the last login, and by DEPLOY_URL", async (_, answer, code) => {
    await using home = await newHome();
    let answers: () => Response = () => Response.json({ account_id: "acct_x", email: "x@example.org" });
    const fake = fakeServer(() => answers());
    await home.run(["login", fake.url, "--token", "svc_session_x"]);
    answers = answer;
    const byLogin = json(await home.run(["whoami", "--json"]));
    expect(byLogin["code"]).toBe(code);
    expect(byLogin["error"]).toContain(fake.url);
    expect(byLogin["error"]).toContain(WAYS);
    const byName = json(await home.run(["whoami", "--json"], { env: { DEPLOY_URL: fake.url } }));
    await fake.stop();
    expect(byName["error"]).toContain(fake.url);
    expect(byName["error"]).not.toContain("svc login <url>");
  });

  test("unreachable: by the last login, by the build, by a link and by DEPLOY_URL", async () => {
    await using home = await newHome();
    const fake = fakeServer((path) =>
      Response.json(path === "/account" ? { account_id: "acct_x", email: "x@example.org" } : DEPLOYED),
    );
    await home.run(["dist"], { env: { DEPLOY_URL: fake.url } });
    await home.run(["login", fake.url, "--token", "svc_session_x"]);
    await fake.stop();
    const byLogin = (await home.run(["list"])).err;
    expect(byLogin).toContain(`No server answers at ${fake.url}. It is the server of your last login`);
    expect(byLogin).toContain(WAYS);
    const named = (await home.run(["list"], { env: { DEPLOY_URL: "http://127.0.0.1:1", SVC_TOKEN: "t" } })).err;
    expect(named).toContain("No server answers at http://127.0.0.1:1. Check DEPLOY_URL and the network.");
    expect(named).toContain(`You are signed in to ${fake.url}.`);
    await home.run(["logout"]);
    const byLink = (await home.run(["update", "dist"], { program: NOWHERE })).err;
    expect(byLink).toContain(`No server answers at ${fake.url}. It is where this was deployed`);
    expect(byLink).not.toContain("svc login <url>");
    expect((await home.run([], { program: NOWHERE })).err).toContain(WAYS);
  });

  test("a session kept for another server is named", async () => {
    await using home = await newHome();
    await login(home, server.base_url);
    const { err } = await home.run(["list"], { env: { DEPLOY_URL: "http://127.0.0.1:1" } });
    expect(err).toContain("svc list needs your account: run svc login, or set SVC_TOKEN.");
    expect(err).toContain("The server is http://127.0.0.1:1.");
    expect(err).toContain(`You are signed in to ${server.base_url}.`);
  });
});

describe("the wrong address is told as what it is", () => {
  test("https asked of an http port, and http of an https port", async () => {
    await using home = await newHome();
    const secure = server.base_url.replace("http:", "https:");
    const asked = json(await home.run(["--json"], { env: { DEPLOY_URL: secure } }));
    expect(asked).toMatchObject({ code: "unreachable" });
    expect(asked["error"]).toContain(
      `localhost:${server.port} speaks http, not https: its address is ${server.base_url}.`,
    );
    const tls = { cert: Bun.file(TLS_CERT), key: Bun.file(TLS_KEY) };
    const other = Bun.serve({ hostname: "127.0.0.1", port: 0, tls, fetch: () => new Response("{}") });
    const { port } = other;
    const plain = await home.run([], { env: { DEPLOY_URL: `http://localhost:${port}` } });
    await other.stop(true);
    expect(plain.err).toContain(`speaks https, not http: its address is https://localhost:${port}.`);
  });

  test("a site's URL", async () => {
    await using home = await newHome();
    const { url } = await server.deploy({ "index.html": "<title>t</title>" });
    for (const args of [["--json"], ["list", "--json"], ["login", "--request"]]) {
      const env = { DEPLOY_URL: url, SVC_TOKEN: "svc_session_x" };
      const ran = json(await home.run(args, { env }));
      expect(ran).toMatchObject({ code: "unexpected_answer" });
      expect(ran["error"]).toContain(
        `${url} is the address of a site, not of its server. It may be ${server.base_url}.`,
      );
    }
  });

  test("a page of the server: the path is what is too much", async () => {
    await using home = await newHome();
    const ran = await home.run(["--json"], { env: { DEPLOY_URL: `${server.base_url}/dashboard/` } });
    expect(json(ran)["error"]).toContain(`its address may be ${server.base_url}, without /dashboard.`);
  });

  test.each([
    [502, "A proxy in front of it does not reach the server."],
    [503, "takes no requests now."],
    [504, "waited too long for the server."],
  ])("a proxy's %i", async (status, sentence) => {
    await using home = await newHome();
    const fake = fakeServer(() => new Response("<h1>nginx</h1>", { status }));
    const { err } = await home.run([], { env: { DEPLOY_URL: fake.url } });
    await fake.stop();
    expect(err).toContain(`${fake.url} answered ${status} without saying why.`);
    expect(err).toContain(sentence);
  });
});
