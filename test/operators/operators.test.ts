/** Takedown and its undoing (CONTRACT 7): commands on the data directory of a running server, seen at its next
 *  request, in every worker. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { operate, operator } from "../kit/operator.ts";
import { bearer, call, signUp } from "../kit/people.ts";
import { type DeployResult, JSON_TYPE, startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { zipOf } from "../kit/zip.ts";

setDefaultTimeout(60_000);

const HTML = { accept: "text/html" };
const TTL_MS = 14 * 86_400_000;

const server = await sharedServer();

const deploy = (text = "<title>A page</title>hello"): Promise<DeployResult> => server.deploy({ "index.html": text });
const act = (...argv: string[]) => operate(server.data_dir, ...argv);

/** Every route of the API that changes or reads one site by its manage_token. */
const redeploy = (site: DeployResult) =>
  server.api(`/sites/${site.site_id}/deploys`, {
    method: "POST",
    body: zipOf({ "index.html": `another ${crypto.randomUUID()}` }),
    headers: { ...bearer(site.manage_token), "content-type": "application/zip" },
  });
const rollback = (site: DeployResult) => server.rollback(site, site.version_id);
const record = (site: DeployResult) => server.api(`/sites/${site.site_id}`, { headers: bearer(site.manage_token) });
const report = (site: DeployResult) =>
  server.site(site.slug, "/_svc/report", {
    method: "POST",
    body: JSON.stringify({ reason: "spam" }),
    headers: JSON_TYPE,
  });
const codeOf = async (response: Response) => ({
  status: response.status,
  code: ((await response.json()) as { code?: string }).code,
});

describe("disable", () => {
  test("P7 the next request gets 451 with the public reason and a Link that says who blocks", async () => {
    const site = await deploy();
    expect((await server.site(site.slug)).status).toBe(200);
    await act("disable", site.slug, "--reason", "It asks for <b>bank</b> passwords");
    const page = await server.site(site.slug, "/", { headers: HTML });
    expect(page.status).toBe(451);
    expect(page.headers.get("link")).toBe(`<${server.base_url}>; rel="blocked-by"`);
    expect(page.headers.get("cache-control")).toBe("no-store");
    expect(await page.text()).toContain("It asks for &lt;b&gt;bank&lt;/b&gt; passwords");
    const json = (await (await server.site(site.slug)).json()) as { code: string; reason: string };
    expect(json).toMatchObject({ code: "site_disabled", reason: "It asks for <b>bank</b> passwords" });
  });

  test.each<[string, string, RequestInit]>([
    ["a page that the browser has cached", "/", { headers: { "if-none-match": "*" } }],
    ["a range", "/", { headers: { range: "bytes=0-1" } }],
    ["a missing page", "/missing", {}],
    ["HEAD", "/", { method: "HEAD" }],
  ])("%s is 451 too", async (_, path, init) => {
    const site = await deploy();
    await act("disable", site.slug, "--reason", "abuse");
    expect((await server.site(site.slug, path, init)).status).toBe(451);
  });

  test("the host of a stored version is 451 as its site is", async () => {
    const site = await deploy();
    await act("disable", site.slug, "--reason", "abuse");
    expect((await server.site(`${site.version_id}--${site.slug}`)).status).toBe(451);
  });

  test("deploys and rollbacks get 451 site_disabled; the record can be read and says so", async () => {
    const site = await deploy();
    await act("disable", site.slug, "--reason", "abuse");
    const refused = { status: 451, code: "site_disabled" };
    expect(await codeOf(await redeploy(site))).toEqual(refused);
    expect(await codeOf(await rollback(site))).toEqual(refused);
    expect(await codeOf(await report(site))).toEqual(refused);
    const read = await record(site);
    expect(read.status).toBe(200);
    expect(await read.json()).toMatchObject({ state: "disabled", live_version_id: site.version_id });
  });

  test("with SVC_CONTACT the refusals of the API say where to appeal", async () => {
    await using appealing = await startServer("--contact", "abuse@host.example", "--signup", "closed");
    const site = await appealing.deploy({ "index.html": "x" });
    const refusalOf = async (response: Promise<Response>) =>
      (await response).json() as Promise<Record<string, unknown>>;
    const again = () =>
      refusalOf(
        appealing.api(`/sites/${site.site_id}/deploys`, {
          method: "POST",
          body: zipOf({ "index.html": "another" }),
          headers: { ...bearer(site.manage_token), "content-type": "application/zip" },
        }),
      );
    const appeal = "abuse@host.example";
    const error = expect.stringMatching(/\. Questions or an appeal: abuse@host\.example$/);
    await operate(appealing.data_dir, "freeze", site.slug);
    expect(await again()).toMatchObject({ code: "site_frozen", appeal, error });
    await operate(appealing.data_dir, "disable", site.slug, "--reason", "abuse");
    expect(await again()).toMatchObject({ code: "site_disabled", appeal, error });
    const reported = appealing.site(site.slug, "/_svc/report", { method: "POST" });
    expect(await refusalOf(reported)).toMatchObject({ code: "site_disabled", appeal });
    const body = new URLSearchParams({ email: "a@host.example", password: "ten letters" });
    const signup = fetch(`${appealing.base_url}/auth/signup`, { method: "POST", body });
    expect(await refusalOf(signup)).toMatchObject({ code: "signup_closed", appeal, error });
  });

  test("enable brings back the state that the site had before: live, with the same bytes", async () => {
    const site = await deploy();
    const before = await server.site(site.slug);
    const [etag, body] = [before.headers.get("etag"), await before.text()];
    await act("disable", site.slug, "--reason", "abuse");
    expect((await server.site(site.slug)).status).toBe(451);
    await act("enable", site.slug);
    const after = await server.site(site.slug);
    expect([after.status, after.headers.get("etag"), await after.text()]).toEqual([200, etag, body]);
    expect((await redeploy(site)).status).toBe(200);
  });

  test("a site that was frozen before is frozen again after enable", async () => {
    const site = await deploy();
    await act("freeze", site.slug);
    await act("disable", site.slug, "--reason", "abuse");
    expect((await server.site(site.slug)).status).toBe(451);
    await act("enable", site.slug);
    expect((await server.site(site.slug)).status).toBe(200);
    expect(await codeOf(await redeploy(site))).toEqual({ status: 403, code: "site_frozen" });
  });

  test("a second disable changes the reason", async () => {
    const site = await deploy();
    await act("disable", site.slug, "--reason", "first");
    await act("disable", site.slug, "--reason", "second");
    expect(await (await server.site(site.slug)).json()).toMatchObject({ reason: "second" });
  });

  test("an expired site is 410, disabled or not", async () => {
    await using moved = await startServer();
    const site = await moved.deploy({ "index.html": "x" });
    await operate(moved.data_dir, "disable", site.slug, "--reason", "abuse");
    moved.advance(TTL_MS);
    expect((await moved.site(site.slug)).status).toBe(410);
  });
});

describe("freeze", () => {
  test("a frozen site is served, takes reports, can be read, and refuses deploys and rollbacks with 403", async () => {
    const site = await deploy();
    await act("freeze", site.slug);
    expect((await server.site(site.slug)).status).toBe(200);
    expect((await server.site(`${site.version_id}--${site.slug}`)).status).toBe(200);
    expect((await report(site)).status).toBe(202);
    expect(await (await record(site)).json()).toMatchObject({ state: "frozen" });
    const refused = { status: 403, code: "site_frozen" };
    expect(await codeOf(await redeploy(site))).toEqual(refused);
    expect(await codeOf(await rollback(site))).toEqual(refused);
    await act("unfreeze", site.slug);
    expect((await redeploy(site)).status).toBe(200);
    expect((await rollback(site)).status).toBe(200);
  });

  test("it expires all the same", async () => {
    await using moved = await startServer();
    const site = await moved.deploy({ "index.html": "x" });
    await operate(moved.data_dir, "freeze", site.slug);
    moved.advance(TTL_MS);
    expect((await moved.site(site.slug)).status).toBe(410);
  });
});

describe("what goes on", () => {
  const HELD: [string, string[], number, string][] = [
    ["frozen", ["freeze"], 403, "site_frozen"],
    ["disabled", ["disable", "--reason", "abuse"], 451, "site_disabled"],
  ];
  const hold = (site: { site_id: string }, [verb, ...rest]: string[]) => act(verb!, site.site_id, ...rest);

  test.each(HELD)("a %s site can be claimed, and then labelled and deleted by its owner", async (state, held) => {
    const [site, person] = [await deploy(), await signUp(server)];
    await hold(site, held);
    const { site_id, claim_token } = site;
    const claimed = await call(server, "POST", `/sites/${site_id}/claim`, { claim_token }, person.bearer);
    expect(claimed).toMatchObject({ status: 200, body: { owner_account_id: person.account_id } });
    const record = await call(server, "GET", `/sites/${site_id}`, undefined, person.bearer);
    expect(record).toMatchObject({ status: 200, body: { state } });
    const listing = await call(server, "GET", "/account/sites", undefined, person.bearer);
    expect(listing.body.sites).toHaveLength(1);
    const labelled = await call(server, "PATCH", `/account/sites/${site_id}`, { label: "Mine" }, person.bearer);
    expect(labelled).toMatchObject({ status: 200, body: { label: "Mine", state } });
    const deleted = await call(server, "DELETE", `/account/sites/${site_id}`, undefined, person.bearer);
    expect(deleted).toMatchObject({ status: 200, body: { deleted: [site_id] } });
    expect((await server.site(site.slug)).status).toBe(404);
  });

  test.each(HELD)("a %s site can be attached", async (_, held) => {
    const [site, person] = [await deploy(), await signUp(server)];
    await hold(site, held);
    const sites = [{ site_id: site.site_id, manage_token: site.manage_token }];
    const attached = await call(server, "POST", "/account/bulk-attach", { sites }, person.bearer);
    expect(attached).toMatchObject({ status: 200, body: { attached: [site.site_id] } });
  });

  test.each(HELD)("of a %s site its owner's session changes no version either", async (_, held, status, code) => {
    const person = await signUp(server);
    const made = await server.post(zipOf({ "index.html": "owned" }), person.bearer);
    const site = (await made.json()) as DeployResult;
    await hold(site, held);
    const headers = { ...person.bearer, "content-type": "application/zip" };
    const body = zipOf({ "index.html": "another" });
    const path = `/sites/${site.site_id}`;
    expect(await codeOf(await server.api(`${path}/deploys`, { method: "POST", body, headers }))).toEqual({
      status,
      code,
    });
    const { version_id } = site;
    const back = await call(server, "POST", `${path}/rollback`, { version_id }, person.bearer);
    expect(back).toMatchObject({ status, body: { code } });
    expect((await call(server, "DELETE", "/account", undefined, person.bearer)).status).toBe(200);
    expect((await server.site(site.slug)).status).toBe(404);
  });
});

describe("delete", () => {
  test("the site is unknown at the next request, and its token learns that it is gone", async () => {
    const site = await deploy();
    expect((await server.site(site.slug)).status).toBe(200);
    await act("delete", site.slug);
    expect(await codeOf(await server.site(site.slug))).toEqual({ status: 404, code: "unknown_host" });
    expect(await codeOf(await record(site))).toEqual({ status: 404, code: "unknown_site" });
    expect(await codeOf(await redeploy(site))).toEqual({ status: 404, code: "unknown_site" });
    const again = await operator(server.data_dir, ["delete", site.slug]);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("is gone: deleted at")]);
  });

  test("its slug stays taken for ever", async () => {
    const site = await deploy();
    await act("delete", site.slug);
    expect(() => server.remove({ site_id: "site_x", slug: site.slug })).toThrow("UNIQUE");
  });
});
