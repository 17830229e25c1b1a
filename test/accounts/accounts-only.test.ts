/** BEYOND 0: `SVC_ANONYMOUS=off`, a server on which sites are made by accounts alone. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Home, json } from "../kit/cli.ts";
import { call, signUp } from "../kit/people.ts";
import { startServer, TestServer, ZIP } from "../kit/server.ts";
import { shared } from "../kit/shared.ts";
import { seen, visitorOf } from "../kit/visitor.ts";
import { zipOf } from "../kit/zip.ts";

setDefaultTimeout(60_000);

const server = shared(await startServer({ SVC_ANONYMOUS: "off" }));
const person = await signUp(server);
const page = zipOf({ "index.html": "<title>For accounts</title>" });
const SENTENCE = "Sites are made by accounts alone on this server: sign up or in, then deploy again.";

describe("POST /sites", () => {
  test.each([
    ["a deploy", ""],
    ["a dry run", "?dry_run=1"],
  ])("%s without an account is 401 account_required with the way on, and stores nothing", async (_, query) => {
    const before = server.rows("sites");
    const answer = await server.post(page, {}, query);
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect(await answer.json()).toMatchObject({
      error: SENTENCE,
      code: "account_required",
      next_actions: [{ action: "login", command: "svc login" }],
    });
    expect(server.rows("sites")).toBe(before);
  });

  test("it is told before a byte of the upload is read, and counts for no rate", async () => {
    await using tight = await startServer({ SVC_ANONYMOUS: "off", SVC_RATE_DEPLOY: "1/1m" });
    for (let n = 0; n < 3; n++) expect((await tight.post(new Uint8Array(9_000_000))).status).toBe(401);
  });

  test("of an account, by session or deploy token, it is as ever", async () => {
    expect((await server.post(page, person.bearer)).status).toBe(200);
    const made = await call(server, "POST", "/account/tokens", { name: "ci", scopes: ["create"] }, person.bearer);
    expect((await server.post(page, { authorization: `Bearer ${made.body.token}` })).status).toBe(200);
  });

  test.each([
    ["invite", "sign in, or sign up with an invitation"],
    ["closed", "sign in, then deploy again"],
  ])("with SVC_SIGNUP=%s the sentence offers only what there is", async (signup, said) => {
    await using other = await startServer({ SVC_ANONYMOUS: "off", SVC_SIGNUP: signup });
    expect(await (await other.post(page)).text()).toContain(said);
  });
});

test("sites without an owner that are there go on: deploys, previews and claims", async () => {
  const before = await startServer();
  const site = await before.deploy({ "index.html": "<title>Before</title>" });
  await before.running.stop();
  await using after = new TestServer(before.data_dir);
  await after.start([{ SVC_ANONYMOUS: "off" }]);
  expect((await after.site(site.slug)).status).toBe(200);
  expect((await after.redeploy(site, { "index.html": "<title>After</title>" })).version_id).not.toBe(site.version_id);
  const headers = { ...ZIP, authorization: `Bearer ${site.manage_token}` };
  const preview = { method: "POST", headers, body: page };
  expect((await after.api(`/sites/${site.site_id}/previews?name=a`, preview)).status).toBe(200);
  const { bearer } = await signUp(after);
  const { claim_token } = site;
  expect((await call(after, "POST", `/sites/${site.site_id}/claim`, { claim_token }, bearer)).status).toBe(200);
});

test("/limits says so with `off` alone", async () => {
  await using open = await startServer();
  expect(await (await server.api("/limits")).json()).toMatchObject({ anonymous: false });
  expect(await (await open.api("/limits")).json()).not.toContainKey("anonymous");
});

describe("what it says of itself", () => {
  test("the start page asks to sign in, and promises nothing without an account", async () => {
    const { text, html } = await seen(await server.api("/", { headers: { accept: "text/html" } }));
    expect(text).toContain("Sign in to publish");
    expect(html).toMatch(/href="\/signin"[^>]*>\s*Sign in/);
    expect(html).toMatch(/href="\/signup"[^>]*>\s*Create an account/);
    for (const promise of ["without an account", "data-zone", 'name="zip"']) expect(html).not.toContain(promise);
    expect(text).toContain("svc login svc ./my-site");
  });

  test("signed in, it is the drop zone", async () => {
    const ann = await visitorOf(server);
    const { html } = await ann.read("/");
    expect(html).toContain("data-zone");
    expect(html).not.toContain("Sign in to publish");
  });

  test("its form, sent all the same, is 401 as a page", async () => {
    const body = new FormData();
    body.append("key", "k".repeat(32));
    body.append("zip", new File([page], "site.zip", { type: "application/zip" }));
    const { host } = new URL(server.base_url);
    const headers = { host, origin: server.base_url, "sec-fetch-site": "same-origin", accept: "text/html" };
    const answer = await seen(await server.api("/", { method: "POST", headers, body }));
    expect([answer.status, answer.text.includes(SENTENCE)]).toEqual([401, true]);
  });

  test("llms.txt says how a program gets in", async () => {
    const text = await (await server.api("/llms.txt")).text();
    expect(text).toContain("401 account_required");
    expect(text).toContain('curl -H "Authorization: Bearer $SVC_TOKEN" --data-binary');
    expect(text).not.toContain("A site made without an account");
  });
});

describe("svc", () => {
  let home: Home;
  afterAll(() => home[Symbol.asyncDispose]());
  test("names the command that signs in, and works behind it", async () => {
    home = await Home.make(server.base_url);
    await home.write("site", { "index.html": "<title>By svc</title>" });
    const refused = await home.run(["site", "--json"]);
    expect(json(refused)).toMatchObject({
      ok: false,
      code: "account_required",
      error: `${SENTENCE} svc login signs you in.`,
    });
    await home.run(["login", "--token", person.session_token]);
    expect(json(await home.run(["site", "--json"]))).toMatchObject({ ok: true, owner_account_id: person.account_id });
  });
});
