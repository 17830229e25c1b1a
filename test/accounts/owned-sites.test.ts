/** SPEC.md, site lifecycle: owned deploys, claim, bulk-attach, listing, label, deletion (CONTRACT.md 4.4). */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { newToken } from "../../src/tokens.ts";
import { medians } from "../kit/cpu.ts";
import { auditRows, holdWrites, read } from "../kit/database.ts";
import { blobFile } from "../kit/operator.ts";
import { bearer, call, type Person, signUp } from "../kit/people.ts";
import { type DeployResult, NOBODYS_ID, startServer, type TestServer } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { beginUpload } from "../kit/uploads.ts";
import { zipOf } from "../kit/zip.ts";

/** Accounts cost a password hash each. */
setDefaultTimeout(30_000);

const DAY = 86_400_000;
let server: TestServer;
let ann: Person;
let ben: Person;
beforeAll(async () => {
  server = await startServer();
  ann = await signUp(server, "ann@example.org");
  ben = await signUp(server, "ben@example.org");
});
afterAll(() => server[Symbol.asyncDispose]());

const page = (text: string) => ({ "index.html": `<!doctype html><title>${text}</title>${text}` });
const owned = async (
  person: Person,
  text = "owned",
  at = server,
): Promise<DeployResult & { owner_account_id: string }> => {
  const response = await at.post(zipOf(page(text)), person.bearer);
  expect(response.status).toBe(200);
  return (await response.json()) as DeployResult & { owner_account_id: string };
};
const post = (path: string, body: unknown, person: Person, at = server) => call(at, "POST", path, body, person.bearer);
const claim = (site: { site_id: string; claim_token?: string }, person: Person, at = server) =>
  post(`/sites/${site.site_id}/claim`, { claim_token: site.claim_token }, person, at);
const record = async (site_id: string, headers: Record<string, string>) =>
  (await call(server, "GET", `/sites/${site_id}`, undefined, headers)).body;
const robots = async (slug: string) => (await server.site(slug)).headers.get("x-robots-tag");

/** A site whose time is over; the sweep has not run. */
async function expired(at: TestServer): Promise<DeployResult> {
  const site = await at.deploy(page("expired"));
  at.expire(site, at.now());
  return site;
}
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

  test("ignores Idempotency-Key, even one that is too short", async () => {
    const headers = { ...ann.bearer, "idempotency-key": "short" };
    const ids = await Promise.all(
      [1, 2].map(
        async () => ((await (await server.post(zipOf(page("same")), headers)).json()) as DeployResult).site_id,
      ),
    );
    expect(ids[0]).toStartWith("site_");
    expect(ids[0]).not.toBe(ids[1]!);
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
  }, 30_000);

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

describe("claim", () => {
  test("attaches the site to the account: owned, no expiry, indexable at the next request", async () => {
    const site = await server.deploy(page("claimed"));
    expect(await robots(site.slug)).toBe("noindex");
    const { status, body } = await claim(site, ann);
    expect(status).toBe(200);
    expect<unknown>(body).toEqual({
      ok: true,
      site_id: site.site_id,
      url: site.url,
      owner_account_id: ann.account_id,
      expires_at: null,
    });
    expect(await robots(site.slug)).toBeNull();
    server.advance(15 * DAY);
    await server.running.store.sweep(server.now());
    expect((await server.site(site.slug)).status).toBe(200);
  });

  test("A4 the token is spent: 200 again for the owner, 409 for others, no credential for anything else", async () => {
    const site = await server.deploy(page("spent"));
    const first = await claim(site, ann);
    expect((await claim(site, ann)).body).toEqual(first.body);
    expect(await claim(site, ben)).toMatchObject({ status: 409, body: { code: "already_owned" } });
    const asBearer = await call(server, "GET", `/sites/${site.site_id}`, undefined, bearer(site.claim_token!));
    expect(asBearer.status).toBe(401);
    expect((await server.redeploy(site, page("still managed"))).manage_token).toBe(site.manage_token);
  });

  test("a wrong token, a manage_token, another site's token and an unknown site are one 401 Invalid claim", async () => {
    const [site, other] = [await server.deploy(page("a")), await server.deploy(page("b"))];
    const taken = await server.deploy(page("c"));
    await claim(taken, ben);
    const answers = [
      await claim({ ...site, claim_token: newToken("svc_claim_") }, ann),
      await claim({ ...site, claim_token: site.manage_token }, ann),
      await claim({ ...site, claim_token: other.claim_token }, ann),
      await claim({ ...site, site_id: NOBODYS_ID }, ann),
      await claim({ ...taken, claim_token: newToken("svc_claim_") }, ann),
      await claim({ ...site, site_id: "..%2f" }, ann),
    ];
    for (const { status, body } of answers.slice(0, 5)) {
      expect(status).toBe(401);
      expect<unknown>({ ...body, request_id: null }).toEqual({
        error: "Invalid claim",
        code: "invalid_claim",
        request_id: null,
      });
    }
    expect(answers[5]!.status).toBe(404);
    expect(await record(site.site_id, bearer(site.manage_token))).not.toContainKey("owner_account_id");
  });

  test("a bad token takes as long for a site that exists as for one that does not", async () => {
    const site = await server.deploy(page("timed"));
    const tries = [site.site_id, NOBODYS_ID].map(
      (site_id) => () => claim({ site_id, claim_token: newToken("svc_claim_") }, ann),
    );
    const [known, unknown] = await medians(200, ...tries);
    expect(Math.max(known!, unknown!) / Math.min(known!, unknown!)).toBeLessThan(1.5);
  }, 30_000);

  test("of a site that is gone, swept or not: 404 with its former token, 401 with another", async () => {
    await using own = await startServer();
    const person = await signUp(own);
    const site = await expired(own);
    for (const swept of [false, true]) {
      if (swept) await own.running.store.sweep(own.now());
      expect(await claim(site, person, own)).toMatchObject({ status: 404, body: { code: "unknown_site" } });
      const wrong = { ...site, claim_token: newToken("svc_claim_") };
      expect(await claim(wrong, person, own)).toMatchObject({ status: 401, body: { code: "invalid_claim" } });
    }
  });

  test.each<[what: string, act: (site: DeployResult) => void]>([
    ["disabled_reason", (site) => server.disable(site, "spam")],
    ["frozen", (site) => server.freeze(site)],
  ])("goes on while an operator has set %s", async (_, act) => {
    const site = await server.deploy(page("held"));
    act(site);
    expect((await claim(site, ann)).status).toBe(200);
  });

  test("two accounts at once: one gets it", async () => {
    const site = await server.deploy(page("race"));
    const both = await Promise.all([claim(site, ann), claim(site, ben)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  });

  test.each([[{}], [{ claim_token: 1 }], [{ claim_token: "" }], [{ claim_token: "x".repeat(600) }]])(
    "a body of %j is 400 invalid_input",
    async (body) => {
      const answer = await post(`/sites/${NOBODYS_ID}/claim`, body, ann);
      expect([answer.status, answer.body.code]).toEqual([400, "invalid_input"]);
    },
  );
});

describe("bulk-attach", () => {
  const attach = async (sites: unknown, person = ann, at = server) =>
    await post("/account/bulk-attach", { sites }, person, at);
  const item = ({ site_id, manage_token }: DeployResult) => ({ site_id, manage_token });

  test("attaches what it can and skips the rest, each with its reason, in the order of the contract", async () => {
    const [fresh, hers, his, wrong] = [
      await server.deploy(page("fresh")),
      await owned(ann, "hers"),
      await owned(ben, "his"),
      await server.deploy(page("wrong")),
    ];
    const gone = await expired(server);
    const unknown = { site_id: NOBODYS_ID, manage_token: fresh.manage_token };
    const { status, body } = await attach([
      item(fresh),
      { site_id: 7 },
      "text",
      null,
      { site_id: fresh.site_id },
      unknown,
      item(gone),
      { site_id: his.site_id, manage_token: newToken("svc_manage_") },
      { site_id: wrong.site_id, manage_token: wrong.claim_token },
      item(hers),
      item(his),
      item(fresh),
    ]);
    expect(status).toBe(200);
    expect<unknown>(body).toEqual({
      attached: [fresh.site_id],
      skipped: [
        { site_id: null, reason: "invalid_input" },
        { site_id: null, reason: "invalid_input" },
        { site_id: null, reason: "invalid_input" },
        { site_id: fresh.site_id, reason: "invalid_input" },
        { site_id: NOBODYS_ID, reason: "not_found" },
        { site_id: gone.site_id, reason: "not_found" },
        { site_id: his.site_id, reason: "invalid_token" },
        { site_id: wrong.site_id, reason: "invalid_token" },
        { site_id: hers.site_id, reason: "already_yours" },
        { site_id: his.site_id, reason: "already_owned" },
        { site_id: fresh.site_id, reason: "already_yours" },
      ],
    });
    expect(await record(fresh.site_id, ann.bearer)).toMatchObject({
      expires_at: null,
      owner_account_id: ann.account_id,
    });
    expect(await robots(fresh.slug)).toBeNull();
    expect(await record(wrong.site_id, bearer(wrong.manage_token))).not.toContainKey("owner_account_id");
  });

  test("takes 1 to 100 items", async () => {
    const items = Array.from({ length: 101 }, () => ({ site_id: NOBODYS_ID, manage_token: "x" }));
    expect((await attach(items.slice(1))).status).toBe(200);
    for (const sites of [items, [], {}, "x", null, undefined, 1e400]) {
      expect(await attach(sites)).toMatchObject({ status: 400, body: { code: "invalid_input" } });
    }
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

describe("deletion", () => {
  const remove = (path: string, person = ann, at = server) => call(at, "DELETE", path, undefined, person.bearer);

  test("of one site: gone at the next request, its token learns so, its slug is never given again", async () => {
    const site = await owned(ann, "bye");
    expect<unknown>((await remove(`/account/sites/${site.site_id}`)).body).toEqual({
      ok: true,
      deleted: [site.site_id],
    });
    expect((await server.site(site.slug)).status).toBe(404);
    expect(await call(server, "GET", `/sites/${site.site_id}`, undefined, bearer(site.manage_token))).toMatchObject({
      status: 404,
      body: { code: "unknown_site" },
    });
    for (const person of [ann, ben]) {
      expect((await call(server, "GET", `/sites/${site.site_id}`, undefined, person.bearer)).status).toBe(404);
    }
    expect((await remove(`/account/sites/${site.site_id}`)).status).toBe(404);
    expect(await server.running.store.sites.tombstone(site.slug)).toMatchObject({ reason: "deleted" });
  });

  test("A1 of another's, an anonymous or an unknown site: 404, and nothing is lost", async () => {
    const [his, anonymous] = [await owned(ben, "his"), await server.deploy(page("anonymous"))];
    for (const id of [his.site_id, anonymous.site_id, NOBODYS_ID]) {
      for (const method of ["DELETE", "PATCH"]) {
        const answer = await call(
          server,
          method,
          `/account/sites/${id}`,
          method === "PATCH" ? { label: "x" } : undefined,
          ann.bearer,
        );
        expect([answer.status, answer.body.code]).toEqual([404, "unknown_site"]);
      }
    }
    expect((await server.site(his.slug)).status).toBe(200);
    expect((await server.site(anonymous.slug)).status).toBe(200);
  });

  test("of many: the caller's own go, others are skipped as not_owned, what is not there as not_found", async () => {
    const [one, two, his, anonymous] = [
      await owned(ann, "1"),
      await owned(ann, "2"),
      await owned(ben, "3"),
      await server.deploy(page("4")),
    ];
    const gone = await expired(server);
    const site_ids = [one, his, two, anonymous, gone].map(({ site_id }) => site_id);
    const { status, body } = await post(
      "/account/sites/bulk-delete",
      { site_ids: [...site_ids, NOBODYS_ID, one.site_id] },
      ann,
    );
    expect(status).toBe(200);
    expect<unknown>(body).toEqual({
      ok: true,
      deleted: [one.site_id, two.site_id],
      skipped: [
        { site_id: his.site_id, reason: "not_owned" },
        { site_id: anonymous.site_id, reason: "not_owned" },
        { site_id: gone.site_id, reason: "not_found" },
        { site_id: NOBODYS_ID, reason: "not_found" },
        { site_id: one.site_id, reason: "not_found" },
      ],
    });
  });

  test.each([[[]], [Array.from({ length: 101 }, () => NOBODYS_ID)], ["x"], [null], [[1]], [[null]], [undefined]])(
    "of many by a list of %j is 400",
    async (site_ids) => {
      const answer = await post("/account/sites/bulk-delete", { site_ids }, ann);
      expect([answer.status, answer.body.code]).toEqual([400, "invalid_input"]);
    },
  );

  test("a manage_token never deletes", async () => {
    const site = await owned(ann, "kept");
    const answer = await call(server, "DELETE", `/account/sites/${site.site_id}`, undefined, bearer(site.manage_token));
    expect(answer.status).toBe(401);
    expect((await server.site(site.slug)).status).toBe(200);
  });

  test("of the account: every site it owns and every session end, the address is free again; others stay", async () => {
    const person = await signUp(server, "leaving@example.org");
    const second = await post("/auth/login", { email: person.email, password: "correct horse battery" }, person);
    const sites = [await owned(person, "1"), await owned(person, "2")];
    const { status, body } = await remove("/account", person);
    expect(status).toBe(200);
    expect(body).toMatchObject({ ok: true });
    expect((body.deleted as string[]).toSorted()).toEqual(sites.map(({ site_id }) => site_id).toSorted());
    for (const { slug } of sites) expect((await server.site(slug)).status).toBe(404);
    for (const token of [person.session_token, second.body.session_token]) {
      expect((await call(server, "GET", "/account", undefined, bearer(token))).status).toBe(401);
    }
    expect((await signUp(server, person.email)).account_id).not.toBe(person.account_id);
    expect((await call(server, "GET", "/account", undefined, ann.bearer)).status).toBe(200);
  });

  test("and expiry leave a line in the audit log each", async () => {
    await using own = await startServer();
    const person = await signUp(own);
    const [one, two] = [await owned(person, "1", own), await owned(person, "2", own)];
    const late = await expired(own);
    await remove(`/account/sites/${one.site_id}`, person, own);
    await remove("/account", person, own);
    await own.running.store.sweep(own.now());
    const { account_id } = person;
    expect(auditRows(own.data_dir).map(({ actor, action, site_id }) => [actor, action, site_id])).toEqual([
      [account_id, "delete", one.site_id],
      [account_id, "delete", two.site_id],
      [account_id, "delete-account", null],
      ["expiry", "expire", late.site_id],
    ]);
  });

  test("removes versions, files and tokens; blobs that nobody else has go with the sweep", async () => {
    await using own = await startServer();
    const person = await signUp(own);
    const site = await owned(person, "only here", own);
    await remove(`/account/sites/${site.site_id}`, person, own);
    own.advance(2 * 60 * 60_000);
    expect((await own.running.store.sweep(own.now())).blobs).toBe(1);
    for (const table of ["sites", "versions", "files", "tokens", "blobs"]) expect(own.rows(table)).toBe(0);
  });
});

test("K26 a claim at the last millisecond wins or loses whole", async () => {
  await using own = await startServer();
  const person = await signUp(own);
  const [early, late] = [await own.deploy(page("early")), await own.deploy(page("late"))];
  own.advance(early.expires_at! - own.now() - 200);
  own.expire(late, own.now());
  const [won, lost] = [await claim(early, person, own), await claim(late, person, own)];
  expect([won.status, lost.status]).toEqual([200, 404]);
  own.advance(1000);
  await own.running.store.sweep(own.now());
  expect((await own.site(early.slug)).status).toBe(200);
  expect((await own.site(late.slug)).status).toBe(410);
});

describe("each is one transaction: what fails in the middle took no effect", () => {
  test("K22 bulk-attach: all items or none, never a site without an owner and an expiry", async () => {
    await using own = await startServer();
    const person = await signUp(own);
    const sites = [await own.deploy(page("1")), await own.deploy(page("2")), await own.deploy(page("3"))];
    own.breakAt("update", sites[1]!);
    const items = sites.map(({ site_id, manage_token }) => ({ site_id, manage_token }));
    expect((await post("/account/bulk-attach", { sites: items }, person, own)).status).toBe(500);
    for (const { site_id, expires_at } of sites) {
      expect(await own.running.store.sites.byId(site_id)).toMatchObject({ owner_account_id: null, expires_at });
    }
    own.mend();
    const again = await post("/account/bulk-attach", { sites: items }, person, own);
    expect(again.body.attached).toEqual(sites.map(({ site_id }) => site_id));
  });

  test("K23 DELETE /account and bulk-delete: all of it or nothing, audit included", async () => {
    await using own = await startServer();
    const person = await signUp(own);
    const sites = [await owned(person, "1", own), await owned(person, "2", own)];
    own.breakAt("delete", sites[1]!);
    const site_ids = sites.map(({ site_id }) => site_id);
    expect((await post("/account/sites/bulk-delete", { site_ids }, person, own)).status).toBe(500);
    expect((await call(own, "DELETE", "/account", undefined, person.bearer)).status).toBe(500);
    for (const { slug } of sites) expect((await own.site(slug)).status).toBe(200);
    expect((await call(own, "GET", "/account", undefined, person.bearer)).status).toBe(200);
    expect(auditRows(own.data_dir)).toEqual([]);
    own.mend();
    expect((await call(own, "DELETE", "/account", undefined, person.bearer)).body.deleted).toBeArrayOfSize(2);
  });
});
