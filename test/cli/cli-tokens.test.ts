/** `svc tokens revoke`: the owner ends every manage_token of a site (CONTRACT 4.4 and 8). */
import { afterAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { deployed, type Home, homeWithSite, json } from "../kit/cli.ts";
import { bearer, call, signUp } from "../kit/people.ts";
import { sharedServer } from "../kit/shared.ts";
import { zipOf } from "../kit/zip.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(60_000);

let home: Home;
const server = await sharedServer();
const person = await signUp(server);
beforeEach(async () => {
  await home?.[Symbol.asyncDispose]();
  home = await homeWithSite(server.base_url);
});
afterAll(() => home?.[Symbol.asyncDispose]());

const login = () => home.run(["login", "--token", person.session_token]);
const opens = async (site_id: unknown, token: unknown) =>
  (await call(server, "GET", `/sites/${String(site_id)}`, undefined, bearer(String(token)))).status;

describe("svc tokens revoke", () => {
  test("ends those of the linked site, says how many on stderr, and prints nothing on stdout", async () => {
    const { site_id, manage_token } = await deployed(home);
    await login();
    expect(await opens(site_id, manage_token)).toBe(200); // signing in attached it
    const { code, out, err } = await home.run(["tokens", "revoke"]);
    expect([code, out]).toEqual([0, ""]);
    expect(err).toBe("\n  ✓ 1 manage_token ended: only your account changes the site\n");
    expect(await opens(site_id, manage_token)).toBe(401);
  });

  test("--site names another, --json prints the answer of the API", async () => {
    const { site_id } = await server.deploy({ "index.html": "x" });
    await login();
    const refused = await home.run(["tokens", "revoke", "--site", site_id, "--json"]);
    expect([refused.code, json(refused)["code"]]).toEqual([1, "forbidden"]);
    const own = await server.post(zipOf({ "index.html": "owned" }), person.bearer);
    const site = (await own.json()) as { site_id: string };
    expect(json(await home.run(["tokens", "revoke", "--site", site.site_id, "--json"]))).toEqual({
      ok: true,
      revoked: 1,
    });
  });

  test("the next update goes by the session, and its fresh token is the link's", async () => {
    const { site_id } = await deployed(home);
    await login();
    await home.run(["tokens", "revoke"]);
    await home.write("", { "dist/index.html": "<title>second</title>" });
    const { manage_token } = await deployed(home, ["update"]);
    expect(await opens(site_id, manage_token)).toBe(200);
    const env = { SVC_TOKEN: "svc_session_none" }; // so that only the link can open the site
    expect((await home.run(["versions"], { env })).code).toBe(0);
  });

  test("another machine whose token has ended goes on by the session, and keeps the fresh token", async () => {
    const { site_id } = await deployed(home);
    await login();
    await call(server, "DELETE", `/sites/${String(site_id)}/manage-tokens`, undefined, person.bearer);
    await home.write("", { "dist/index.html": "<title>third</title>" });
    expect((await home.run(["update"])).code).toBe(0);
    const env = { SVC_TOKEN: "svc_session_none" };
    expect((await home.run(["versions"], { env })).code).toBe(0);
  });

  test("signed out it asks nothing of the server and says how to sign in", async () => {
    await deployed(home);
    const ran = await home.run(["tokens", "revoke"]);
    expect([ran.code, ran.err]).toEqual([1, expect.stringContaining("login")]);
  });

  test("a site that is gone: the link is dropped", async () => {
    const { site_id } = await deployed(home);
    await login();
    await call(server, "DELETE", `/account/sites/${String(site_id)}`, undefined, person.bearer);
    expect((await home.run(["tokens", "revoke"])).err).toContain("The link to it was dropped");
  });

  test.each([[["tokens"]], [["tokens", "end"]]])("%j is wrong usage: exit 2 and what there is", async (args) => {
    const ran = await home.run(args);
    expect([ran.code, ran.err]).toEqual([2, expect.stringMatching(/svc|cli\.ts/)]);
    expect(ran.err).toContain("tokens revoke");
  });
});
