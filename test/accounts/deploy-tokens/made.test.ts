/** BEYOND 7: deploy tokens are made, listed and revoked by their account's session. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { auditRows, openFile } from "../../kit/database.ts";
import { bearer, call, type Person, signInByForm, signUp } from "../../kit/people.ts";
import { type DeployResult, JSON_TYPE, NOBODYS_ID } from "../../kit/server.ts";
import { sharedServer } from "../../kit/shared.ts";
import { ownership } from "../owned.ts";
import { givenBy } from "./given.ts";

setDefaultTimeout(60_000);
const DAY_MS = 86_400_000;

let ann: Person;
let ben: Person;
let site: DeployResult;
const server = await sharedServer();
beforeAll(async () => {
  [ann, ben] = [await signUp(server), await signUp(server)];
  site = await owned(ann);
});

const { owned } = ownership(() => server);
const { ask, give, list, revoke } = givenBy(() => server);

describe("BEYOND 7: POST /account/tokens", () => {
  test("answers {token_id, token, name, scopes, site_ids, created_at, expires_at}, 90 days long", async () => {
    const made = await give(ann, ["deploy"]);
    expect(Object.keys(made)).toEqual(["token_id", "token", "name", "scopes", "site_ids", "created_at", "expires_at"]);
    expect(made.token_id).toMatch(/^tok_[0-9a-z]{20}$/);
    expect(made.token).toMatch(/^svc_deploy_[\w-]{43}$/);
    expect(made).toMatchObject({ name: "CI", scopes: ["deploy"], site_ids: null });
    expect(made.expires_at - Date.parse(made.created_at)).toBe(90 * DAY_MS);
  });

  test("stores the token as its hash alone, and it is in no list", async () => {
    const { token, token_id } = await give(ann, ["read"], { name: "hashed" });
    using db = openFile(server.data_dir);
    const row = db.query("select * from deploy_tokens where token_id = ?").get(token_id) as Record<string, unknown>;
    expect(row["hash"]).toBe(new Bun.CryptoHasher("sha256").update(token).digest("hex"));
    expect(JSON.stringify(row)).not.toContain(token);
    expect(JSON.stringify(await list(ann))).not.toContain("svc_deploy_");
  });

  test.each([
    ["1s", 1000],
    ["15m", 900_000],
    ["12h", 43_200_000],
    ["366d", 366 * DAY_MS],
  ])("expires_in %s", async (expires_in, ms) => {
    const { created_at, expires_at } = await give(ben, ["read"], { expires_in });
    expect(expires_at - Date.parse(created_at)).toBe(ms);
  });

  test.each([
    ["expires_in", { expires_in: "367d" }],
    ["expires_in", { expires_in: "0s" }],
    ["expires_in", { expires_in: "90" }],
    ["expires_in", { expires_in: 90 }],
    ["expires_in", { expires_in: null }],
    ["expires_in", { expires_in: "-1d" }],
    ["expires_in", { expires_in: "1e3d" }],
    ["name", { name: "" }],
    ["name", { name: "   " }],
    ["name", { name: "x".repeat(81) }],
    ["name", { name: "two\nlines" }],
    ["name", { name: "\u001b[31mred" }],
    ["name", { name: "turned \u202e round" }],
    ["name", { name: "half \ud800" }],
    ["name", { name: ["x"] }],
    ["name", { name: undefined }],
    ["scopes", { scopes: [] }],
    ["scopes", { scopes: ["deploy", "delete"] }],
    ["scopes", { scopes: ["DEPLOY"] }],
    ["scopes", { scopes: "deploy" }],
    ["scopes", { scopes: ["__proto__"] }],
    ["scopes", { scopes: [["deploy"]] }],
    ["scopes", { scopes: { 0: "deploy", length: 1 } }],
    ["scopes", { scopes: undefined }],
    ["site_ids", { site_ids: [] }],
    ["site_ids", { site_ids: null }],
    ["site_ids", { site_ids: "all" }],
    ["site_ids", { site_ids: [NOBODYS_ID] }],
    ["site_ids", { site_ids: ["__proto__"] }],
    ["site_ids", { site_ids: [{ site_id: "site_x" }] }],
  ])("%s that is none is 400 and makes nothing: %j", async (field, wrong) => {
    const before = (await list(ann)).length;
    const { status, body } = await ask(ann, { name: "CI", scopes: ["deploy"], ...wrong });
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: "invalid_input", field });
    expect(await list(ann)).toHaveLength(before);
  });

  test.each(["x", "x".repeat(80), "😀".repeat(80), "Тест-сборка", "部署", "ציבורי", "a'b\"c<script>"])(
    "a name of 1 to 80 characters: %s",
    async (name) => {
      expect((await give(ben, ["read"], { name })).name).toBe(name);
    },
  );

  test("a name is trimmed and NFC; what is said twice counts once, in the order of the table", async () => {
    const sites = [site.site_id, site.site_id];
    const made = await give(ann, ["deploy", "read", "deploy"], { name: "  Cafe\u0301 ", site_ids: sites });
    expect(made).toMatchObject({ name: "Café", scopes: ["read", "deploy"], site_ids: [site.site_id] });
  });

  test("another's site, one that is gone or without an owner is 400, and 21 sites are", async () => {
    const gone = await owned(ann, "gone");
    await call(server, "DELETE", `/account/sites/${gone.site_id}`, undefined, ann.bearer);
    const bens = await owned(ben, "ben's");
    const nobodys = await server.deploy({ "index.html": "nobody's" });
    for (const { site_id } of [gone, bens, nobodys]) {
      const { status, body } = await ask(ann, { name: "CI", scopes: ["read"], site_ids: [site.site_id, site_id] });
      expect(status).toBe(400);
      expect(body.error).toContain(site_id);
    }
    const many = Array.from({ length: 21 }, () => site.site_id);
    expect((await ask(ann, { name: "CI", scopes: ["read"], site_ids: many })).status).toBe(400);
    expect((await give(ann, ["read"], { site_ids: many.slice(1) })).site_ids).toEqual([site.site_id]);
  });

  test("create goes with no site_ids", async () => {
    const { status, body } = await ask(ann, { name: "CI", scopes: ["create", "read"], site_ids: [site.site_id] });
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: "invalid_input", field: "site_ids" });
  });

  test("a body whose members are inherited, repeated or polluted gives no more than it says", async () => {
    const raw = (body: string) =>
      server.api("/account/tokens", { method: "POST", headers: { ...JSON_TYPE, ...ann.bearer }, body });
    const inherited = await raw('{"__proto__": {"name": "CI", "scopes": ["deploy"]}}');
    expect(inherited.status).toBe(400);
    const twice = await raw('{"name": "CI", "scopes": ["deploy"], "scopes": ["read"]}');
    expect(await twice.json()).toMatchObject({ scopes: ["read"] });
    const polluted = await raw('{"name": "CI", "scopes": ["read"], "__proto__": {"site_ids": ["x"]}}');
    expect(await polluted.json()).toMatchObject({ site_ids: null });
  });

  test("the 51st live token of an account is 403 quota_exceeded; one that ended makes room", async () => {
    const eve = await signUp(server);
    const made = [];
    for (let n = 0; n < 50; n++) made.push(await give(eve, ["read"], { name: `n${n}` }));
    const { status, body } = await ask(eve, { name: "one more", scopes: ["read"] });
    expect(status).toBe(403);
    expect(body).toMatchObject({ code: "quota_exceeded", limit: 50, actual: 51 });
    await revoke(eve, made[0]!.token_id);
    await give(eve, ["read"], { expires_in: "1s" });
    expect((await ask(eve, { name: "one more", scopes: ["read"] })).status).toBe(403);
    server.advance(1000);
    await give(eve, ["read"]);
  });

  test("by cookie it needs the proof of a page of ours", async () => {
    const { cookie, csrf } = await signInByForm(server, ann);
    const { host, origin } = new URL(server.base_url);
    const made = (headers: Record<string, string>) =>
      call(server, "POST", "/account/tokens", { name: "by cookie", scopes: ["read"] }, { cookie, host, ...headers });
    expect((await made({ origin })).body.code).toBe("cross_origin");
    expect((await made({ origin: "http://evil.example", "svc-csrf": csrf })).body.code).toBe("cross_origin");
    expect((await made({ origin, "svc-csrf": csrf })).status).toBe(200);
  });
});

describe("BEYOND 7: GET and DELETE /account/tokens", () => {
  test("lists the account's own, newest first, with last_used_at and without token", async () => {
    const dan = await signUp(server);
    const names = ["first", "second", "third"];
    for (const name of names) {
      await give(dan, ["read", "create"], { name });
      server.advance(10);
    }
    const tokens = await list(dan);
    expect(tokens.map(({ name }) => name)).toEqual(names.toReversed());
    const { token_id, created_at, expires_at, ...rest } = tokens[0]!;
    expect<unknown>(rest).toEqual({ name: "third", scopes: ["read", "create"], site_ids: null, last_used_at: null });
    expect(await list(await signUp(server))).toEqual([]);
  });

  test("one that has expired is in no list, and the sweep removes it", async () => {
    const dan = await signUp(server);
    const { token_id } = await give(dan, ["read"], { expires_in: "1s" });
    server.advance(1000);
    expect(await list(dan)).toEqual([]);
    expect((await revoke(dan, token_id)).status).toBe(404);
    const count = () => {
      using db = openFile(server.data_dir);
      return db.query("select count(*) from deploy_tokens where token_id = ?").values(token_id)[0]![0];
    };
    expect(count()).toBe(1);
    await server.running.store.sweep(server.now());
    expect(count()).toBe(0);
  });

  test("an ended one is 404 the second time, and another's is 404 and stays", async () => {
    const { token_id } = await give(ann, ["read"]);
    expect(await revoke(ben, token_id)).toMatchObject({ status: 404, body: { code: "not_found" } });
    const { status, body } = await revoke(ann, token_id);
    expect([status, body] as unknown).toEqual([200, { ok: true }]);
    expect((await revoke(ann, token_id)).status).toBe(404);
    expect((await revoke(ann, "tok_x")).status).toBe(404);
  });

  test("what was made and revoked stands in the audit, without the token", async () => {
    const dan = await signUp(server);
    const { token_id, token } = await give(dan, ["deploy", "create"]);
    await revoke(dan, token_id);
    const rows = auditRows(server.data_dir).filter(({ account_id }) => account_id === dan.account_id);
    expect(rows).toMatchObject([
      { actor: dan.account_id, action: "create-token", reason: `${token_id}: deploy, create` },
      { actor: dan.account_id, action: "revoke-token", reason: token_id },
    ]);
    expect(JSON.stringify(rows)).not.toContain(token);
  });

  test("GET /account/usage counts them", async () => {
    const dan = await signUp(server);
    await give(dan, ["read"]);
    await give(dan, ["read"], { expires_in: "1s" });
    const usage = async () => (await call(server, "GET", "/account/usage", undefined, dan.bearer)).body["tokens"];
    expect(await usage()).toBe(2);
    server.advance(1000);
    expect(await usage()).toBe(1);
  });

  test("a deploy token makes, lists and revokes none", async () => {
    const { token, token_id } = await give(ann, ["deploy", "create"]);
    const made = await call(server, "POST", "/account/tokens", { name: "x", scopes: ["read"] }, bearer(token));
    const listed = await call(server, "GET", "/account/tokens", undefined, bearer(token));
    const ended = await call(server, "DELETE", `/account/tokens/${token_id}`, undefined, bearer(token));
    expect([made.status, listed.status, ended.status]).toEqual([401, 401, 401]);
  });
});
