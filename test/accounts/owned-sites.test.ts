/** SPEC, "Site lifecycle": owned deploys, listing, label (CONTRACT 4.4). */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { holdWrites, read } from "../kit/database.ts";
import { blobFile } from "../kit/operator.ts";
import { bearer, call, type Person, signUp } from "../kit/people.ts";
import { type DeployResult } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { until } from "../kit/until.ts";
import { beginUpload } from "../kit/uploads.ts";
import { zipOf } from "../kit/zip.ts";
import { ownership, page } from "./owned.ts";

/** The machine may be busy. */
setDefaultTimeout(60_000);

const DAY = 86_400_000;
const server = await sharedServer();
const ann = await signUp(server, "ann@example.org");
const ben = await signUp(server, "ben@example.org");

const { owned, post, record, robots } = ownership(() => server);

const owners = () =>
  read(server.data_dir, "select owner_account_id from sites").map(({ owner_account_id }) => owner_account_id);

describe("a deploy with a session", () => {
  test("makes an owned site: expires_at null, owner_account_id, no claim_token, indexable", async () => {
    const site = await owned(ann);
    expect(site).toMatchObject({ expires_at: null, owner_account_id: ann.account_id });
    expect(site.manage_token).toStartWith("svc_manage_");
    expect(site).not.toContainAnyKeys(["claim_token", "claim_url"]);
    expect(site.next_actions.map(({ action }) => action)).not.toContain("claim");
    expect(await robots(site.slug)).toBeNull();
    server.advance(400 * DAY);
    expect((await server.site(site.slug)).status).toBe(200);
    server.advance(-400 * DAY);
  });

  test("makes another site each time where no Idempotency-Key came along, and refuses one that is too short", async () => {
    const post = (headers: Record<string, string>) => server.post(zipOf(page("same")), { ...ann.bearer, ...headers });
    const ids = await Promise.all([1, 2].map(async () => ((await (await post({})).json()) as DeployResult).site_id));
    expect(ids[0]).toStartWith("site_");
    expect(ids[0]).not.toBe(ids[1]!);
    const refused = await post({ "idempotency-key": "short" });
    expect([refused.status, await refused.json()]).toEqual([400, expect.objectContaining({ code: "invalid_input" })]);
  });

  test("to one's own site gives a fresh manage_token each time; with a manage_token the same one comes back", async () => {
    const site = await owned(ann, "one");
    const again = await server.redeploy({ ...site, manage_token: ann.session_token }, page("two"));
    expect(again.manage_token).toStartWith("svc_manage_");
    expect(again.manage_token).not.toBe(site.manage_token);
    expect(again).not.toContainAnyKeys(["claim_token", "claim_url"]);
    expect((await server.redeploy(again, page("three"))).manage_token).toBe(again.manage_token);
    expect((await server.redeploy(site, page("three"))).manage_token).toBe(site.manage_token);
  });

  test("keeps at most 20 manage_tokens: those never used go first, then the one used longest ago", async () => {
    const site = await owned(ann, "tokens");
    server.advance(1000);
    const mint = async () => {
      server.advance(1000);
      return (await server.redeploy({ ...site, manage_token: ann.session_token }, page("tokens"))).manage_token;
    };
    const works = async (token: string) =>
      (await call(server, "GET", `/sites/${site.site_id}`, undefined, bearer(token))).status === 200;
    await server.redeploy(site, page("tokens")); // used
    const minted: string[] = [];
    for (let i = 0; i < 21; i++) minted.push(await mint());
    expect(await works(site.manage_token)).toBe(true);
    expect(await Promise.all(minted.map(works))).toEqual([false, false, ...Array.from({ length: 19 }, () => true)]);
    for (const manage_token of minted.slice(2)) await server.redeploy({ ...site, manage_token }, page("tokens"));
    const last = await mint();
    expect(await works(site.manage_token)).toBe(false); // all were used: the one used longest ago goes
    expect(await works(minted[2]!)).toBe(true);
    expect(await works(last)).toBe(true);
  }, 60_000);

  test("reads, rolls back and redeploys one's own sites only: another's is 403, changing nothing", async () => {
    const site = await owned(ann, "mine");
    await server.redeploy({ ...site, manage_token: ann.session_token }, page("newer"));
    const rollback = (person: Person) =>
      post(`/sites/${site.site_id}/rollback`, { version_id: site.version_id }, person);
    expect(await rollback(ben)).toMatchObject({ status: 403, body: { code: "forbidden" } });
    const headers = { ...ben.bearer, "content-type": "application/zip" };
    const path = `/sites/${site.site_id}/deploys`;
    expect((await server.api(path, { method: "POST", headers, body: zipOf(page("no")) })).status).toBe(403);
    expect(await (await server.site(site.slug)).text()).toContain("newer");
    expect(await rollback(ann)).toMatchObject({ status: 200, body: { version_id: site.version_id } });
    expect(await (await server.site(site.slug)).text()).toContain("mine");
    expect(await record(site.site_id, ann.bearer)).toMatchObject({
      owner_account_id: ann.account_id,
      expires_at: null,
    });
  });

  test("is no way to an anonymous site: its owner-to-be claims it first", async () => {
    const site = await server.deploy(page("nobody's"));
    expect((await call(server, "GET", `/sites/${site.site_id}`, undefined, ann.bearer)).status).toBe(403);
  });

  test("whose session ends while the upload runs makes no site", async () => {
    const leaver = await signUp(server);
    const upload = await beginUpload(server.port, zipOf(page("late")), leaver.bearer);
    const gone = await call(server, "DELETE", "/account", undefined, leaver.bearer);
    expect([gone.status, upload.answer()]).toEqual([200, ""]);
    expect(await upload.finish()).toStartWith("HTTP/1.1 401");
    expect(owners()).not.toContain(leaver.account_id);
  });

  test("whose session ends while the pipeline runs makes no site", async () => {
    const leaver = await signUp(server);
    const writes = holdWrites(server.data_dir);
    const deploying = server.post(zipOf(page("late")), leaver.bearer);
    await until(() => Bun.file(blobFile(server.data_dir, page("late")["index.html"])).exists());
    writes.endSessions(leaver.account_id);
    writes.letGo();
    expect((await deploying).status).toBe(401);
    expect(owners()).not.toContain(leaver.account_id);
  });
});

describe("the account's sites", () => {
  test("are listed newest first, all at once", async () => {
    const person = await signUp(server);
    expect<unknown>((await call(server, "GET", "/account/sites", undefined, person.bearer)).body).toEqual({
      sites: [],
      cursor: null,
    });
    const first = await owned(person, "first");
    server.advance(1000);
    const second = await owned(person, "second");
    const { body } = await call(server, "GET", "/account/sites", undefined, person.bearer);
    const shown = ({ site_id, slug, url, version_id }: DeployResult) => ({
      site_id,
      slug,
      label: null,
      url,
      created_at: expect.any(String) as unknown as string,
      live_version_id: version_id,
    });
    expect<unknown>(body).toEqual({ sites: [shown(second), shown(first)], cursor: null });
  });

  test.each([
    ["a label is trimmed", { label: "  My site  " }, { label: "My site" }],
    ["an empty label clears it", { label: "   " }, { label: null }],
    ["80 characters, whatever they are", { label: "😀".repeat(80) }, { label: "😀".repeat(80) }],
    ["spa true", { spa: true }, { spa: { enabled: true, rule: "setting" } }],
    ["spa false", { spa: false }, { spa: { enabled: false, rule: "setting" } }],
    ["spa null: as detected", { spa: null }, { spa: { enabled: false, rule: "none" } }],
    [
      "both, and what is unknown is ignored",
      { label: "L", spa: true, x: 1 },
      { label: "L", spa: { enabled: true, rule: "setting" } },
    ],
    ["NUL and control characters stay text", { label: "a\u0000\u001b[31mb" }, { label: "a\u0000\u001b[31mb" }],
  ])("PATCH %s: 200 with the site record", async (_, change, expected) => {
    const site = await owned(ann, "patched");
    const { status, body } = await call(server, "PATCH", `/account/sites/${site.site_id}`, change, ann.bearer);
    expect(status).toBe(200);
    expect(body).toMatchObject(expected);
    expect(body).toEqual(await record(site.site_id, ann.bearer));
  });

  test("PATCH of spa is served at the next request", async () => {
    const site = await owned(ann, "spa");
    const deep = async () => (await server.site(site.slug, "/deep/link", { headers: { accept: "text/html" } })).status;
    expect(await deep()).toBe(404);
    await call(server, "PATCH", `/account/sites/${site.site_id}`, { spa: true }, ann.bearer);
    expect(await deep()).toBe(200);
  });

  test.each([
    [{}],
    [{ x: 1 }],
    [{ label: 1 }],
    [{ label: null }],
    [{ label: "x".repeat(81) }],
    [{ spa: "on" }],
    [{ spa: 1 }],
    [{ label: "good", spa: "bad" }],
    [JSON.parse('{"__proto__": {"label": "x"}}') as object],
  ])("PATCH with %j is 400 invalid_input and changes nothing", async (change) => {
    const site = await owned(ann, "kept");
    const answer = await call(server, "PATCH", `/account/sites/${site.site_id}`, change, ann.bearer);
    expect([answer.status, answer.body.code]).toEqual([400, "invalid_input"]);
    expect(await record(site.site_id, ann.bearer)).toMatchObject({ label: null });
  });
});
