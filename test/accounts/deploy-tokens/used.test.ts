/** BEYOND 7: what a deploy token opens, and when it ends. Each route is in matrix-deploy-tokens.test.ts. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { holdWrites, read as rowsOf } from "../../kit/database.ts";
import { blobFile, operate, operator } from "../../kit/operator.ts";
import { bearer, call, PASSWORD, type Person, signUp } from "../../kit/people.ts";
import { type DeployResult, startServer } from "../../kit/server.ts";
import { sharedServer } from "../../kit/shared.ts";
import { until } from "../../kit/until.ts";
import { ownership } from "../owned.ts";
import { givenBy } from "./given.ts";

setDefaultTimeout(60_000);

let ann: Person;
let ben: Person;
let site: DeployResult;
const server = await sharedServer();
beforeAll(async () => {
  [ann, ben] = [await signUp(server), await signUp(server)];
  site = await owned(ann);
});

const { owned, claim } = ownership(() => server);
const { give, list, revoke, deploy, create, read } = givenBy(() => server);
const manageTokens = () => server.rows("tokens");

describe("BEYOND 7: a deploy by it", () => {
  test("answers with the presented token as manage_token, and nothing that lasts is made", async () => {
    const { token } = await give(ann, ["deploy"]);
    const before = manageTokens();
    for (const text of ["one", "two", "two"]) {
      const answer = await deploy(site, token, text);
      expect(answer).toMatchObject({ status: 200, manage_token: token, owner_account_id: ann.account_id });
      expect(answer).not.toHaveProperty("claim_token");
    }
    expect(manageTokens()).toBe(before);
  });

  test("has the keys that a deploy by session has", async () => {
    const { token } = await give(ann, ["deploy"]);
    const bySession = await deploy(site, ann.session_token, "keys");
    expect(Object.keys(await deploy(site, token, "keys"))).toEqual(Object.keys(bySession));
  });

  test("with create makes a site of the account, answers so too, and cannot change it afterwards", async () => {
    const { token } = await give(ann, ["create"]);
    const before = manageTokens();
    const made = await create(token, "new");
    expect(made).toMatchObject({
      status: 200,
      manage_token: token,
      owner_account_id: ann.account_id,
      expires_at: null,
    });
    expect(made).not.toHaveProperty("claim_token");
    expect(manageTokens()).toBe(before);
    expect(await deploy(made, token)).toMatchObject({ status: 403, code: "scope_missing", needed: "deploy" });
    const both = await give(ann, ["create", "deploy"]);
    expect(await deploy(await create(both.token, "both"), both.token, "next")).toMatchObject({ status: 200 });
  });

  test("with create a repeated Idempotency-Key finds the account's site", async () => {
    const { token } = await give(ann, ["create"]);
    const key = { "idempotency-key": "k".repeat(40) };
    const first = await create(token, "once", key);
    expect(await create(token, "once", key)).toMatchObject({ site_id: first.site_id, manage_token: token });
    expect(await create(ann.session_token, "once", key)).toMatchObject({ site_id: first.site_id });
    const other = await give(ben, ["create"]);
    expect((await create(other.token, "once", key)).site_id).not.toBe(first.site_id);
  });

  test("without create makes no site, and none without an owner either", async () => {
    const { token } = await give(ann, ["deploy"]);
    const before = server.rows("sites");
    expect(await create(token)).toMatchObject({ status: 403, code: "scope_missing", needed: "create" });
    expect(server.rows("sites")).toBe(before);
  });

  test("rehearses where it could deploy", async () => {
    const [may, mayNot] = [await give(ann, ["deploy"]), await give(ann, ["preview"])];
    expect(await deploy(site, may.token, "dry", "?dry_run=1")).toMatchObject({ status: 200, dry_run: true });
    expect(await deploy(site, mayNot.token, "dry", "?dry_run=1")).toMatchObject({ status: 403, needed: "deploy" });
  });

  test("counts in the rate of its account, with its owner's and another token's", async () => {
    await using slow = await startServer({ SVC_RATE_OWNED: "5/1m" });
    const eve = await signUp(slow);
    const given = givenBy(() => slow);
    const tokens = [await given.give(eve, ["create", "deploy"]), await given.give(eve, ["create", "deploy"])];
    const made = await given.create(tokens[0]!.token);
    expect(await given.deploy(made, tokens[1]!.token, "2")).toMatchObject({ status: 200 });
    expect(await given.deploy(made, eve.session_token, "3")).toMatchObject({ status: 200 });
    expect(await given.deploy(made, tokens[0]!.token, "4")).toMatchObject({ status: 429 });
  });

  test("its making counts there too: whoever is signed in cannot fill the audit", async () => {
    await using slow = await startServer({ SVC_RATE_OWNED: "3/1m" });
    const eve = await signUp(slow);
    const given = givenBy(() => slow);
    for (let n = 0; n < 3; n++) expect((await given.ask(eve, { name: "x", scopes: ["read"] })).status).toBe(200);
    expect((await given.ask(eve, { name: "x", scopes: ["read"] })).status).toBe(429);
    expect((await given.ask(await signUp(slow), { name: "x", scopes: ["read"] })).status).toBe(200);
  });

  test("counts in the quota of its account", async () => {
    await using small = await startServer({ SVC_QUOTA_ACCOUNT: "1k" });
    const given = givenBy(() => small);
    const { token } = await given.give(await signUp(small), ["create"]);
    expect(await given.create(token, "x".repeat(2000))).toMatchObject({ status: 403, code: "quota_exceeded" });
  });
});

describe("BEYOND 7: the site it is for", () => {
  test("one that is not listed is 403 forbidden, and one that comes later is", async () => {
    const listed = await give(ann, ["deploy"], { site_ids: [site.site_id] });
    const all = await give(ann, ["deploy"]);
    const later = await owned(ann, "later");
    expect(await deploy(later, listed.token)).toMatchObject({ status: 403, code: "forbidden" });
    expect(await deploy(later, all.token, "all")).toMatchObject({ status: 200 });
    expect(await deploy(site, listed.token, "listed")).toMatchObject({ status: 200 });
  });

  test("that somebody else claims is 403, before and after, and opens once the account has it", async () => {
    const { token } = await give(ann, ["deploy"]);
    const [bens, anns] = [await server.deploy({ "index.html": "b" }), await server.deploy({ "index.html": "a" })];
    for (const one of [bens, anns]) expect(await deploy(one, token)).toMatchObject({ status: 403, code: "forbidden" });
    await claim(bens, ben);
    await claim(anns, ann);
    expect(await deploy(bens, token)).toMatchObject({ status: 403, code: "forbidden" });
    expect(await deploy(anns, token)).toMatchObject({ status: 200 });
  });

  test("that is gone is 404, listed or not", async () => {
    const gone = await owned(ann, "gone");
    const tokens = [await give(ann, ["deploy"], { site_ids: [gone.site_id] }), await give(ann, ["deploy"])];
    await call(server, "DELETE", `/account/sites/${gone.site_id}`, undefined, ann.bearer);
    for (const { token } of tokens) {
      expect(await deploy(gone, token)).toMatchObject({ status: 404, code: "unknown_site" });
      expect((await read(gone, token)).status).toBe(404);
    }
  });

  test("that is frozen or disabled is as for any other", async () => {
    const { token } = await give(ann, ["deploy"]);
    const [frozen, disabled] = [await owned(ann, "f"), await owned(ann, "d")];
    server.freeze(frozen);
    server.disable(disabled, "spam");
    expect(await deploy(frozen, token)).toMatchObject({ status: 403, code: "site_frozen" });
    expect(await deploy(disabled, token)).toMatchObject({ status: 451, code: "site_disabled" });
    expect((await read(disabled, token)).status).toBe(200);
  });
});

describe("BEYOND 7: a token that ends while a deploy is on its way publishes nothing", () => {
  const liveOf = async () => (await read(site, ann.session_token)).body["live_version_id"];

  test.each([
    ["revoked", "delete from deploy_tokens where token_id = ?", 401, "unauthorized"],
    ["expired", "update deploy_tokens set expires_at = 1 where token_id = ?", 401, "unauthorized"],
    ["for other sites", "update deploy_tokens set site_ids = '[]' where token_id = ?", 403, "forbidden"],
    ["of an account that was disabled", "update accounts set disabled_reason = 'x'", 401, "unauthorized"],
  ])("%s: %s", async (how, statement, status, code) => {
    const { token, token_id } = await give(ann, ["deploy"]);
    const [before, text] = [await liveOf(), `late ${how}`];
    const writes = holdWrites(server.data_dir);
    const deploying = deploy(site, token, text);
    const stored = blobFile(server.data_dir, `<!doctype html><title>${text}</title>${text}`);
    await until(() => Bun.file(stored).exists());
    writes.run(statement, ...(statement.includes("?") ? [token_id] : []));
    writes.letGo();
    expect(await deploying).toMatchObject({ status, code });
    const undo = holdWrites(server.data_dir);
    undo.run("update accounts set disabled_reason = null");
    undo.letGo();
    expect(await liveOf()).toBe(before);
  });

  test("a new site is not made either", async () => {
    const { token, token_id } = await give(ann, ["create"]);
    const before = server.rows("sites");
    const writes = holdWrites(server.data_dir);
    const creating = create(token, "late site");
    const stored = blobFile(server.data_dir, "<!doctype html><title>late site</title>late site");
    await until(() => Bun.file(stored).exists());
    writes.run("delete from deploy_tokens where token_id = ?", token_id);
    writes.letGo();
    expect(await creating).toMatchObject({ status: 401 });
    expect(server.rows("sites")).toBe(before);
  });

  test("a rollback that commits after it does not happen", async () => {
    const { token, token_id } = await give(ann, ["deploy"]);
    await revoke(ann, token_id);
    const deploy_hash = new Bun.CryptoHasher("sha256").update(token).digest("hex");
    const by = { deploy_hash, token_id, account_id: ann.account_id, scope: "deploy" as const };
    const rollback = server.running.store.rollback({ site_id: site.site_id, by, version_id: site.version_id });
    expect(await rollback.catch(({ code }: { code: string }) => code)).toBe("unauthorized");
  });

  test("to the millisecond: the last one before its end is taken, the next is 401", async () => {
    const { token, token_id, expires_at } = await give(ann, ["read"], { expires_in: "1h" });
    const isListed = async () => (await list(ann)).some((one) => one.token_id === token_id);
    server.standAt(expires_at - 1);
    expect([(await read(site, token)).status, await isListed()]).toEqual([200, true]);
    server.standAt(expires_at);
    expect([(await read(site, token)).status, await isListed()]).toEqual([401, false]);
    server.standAt(null);
  });
});

describe("BEYOND 7: last_used_at", () => {
  const usedAt = async (person: Person) => (await list(person))[0]!.last_used_at;

  test("is noted once a minute at most, by a refused call too", async () => {
    const dan = await signUp(server);
    const { token } = await give(dan, ["read"]);
    expect(await usedAt(dan)).toBe(null);
    expect((await read(site, token)).status).toBe(403);
    await until(async () => (await usedAt(dan)) !== null);
    const first = await usedAt(dan);
    server.advance(50_000);
    await read(site, token);
    await Bun.sleep(100);
    expect(await usedAt(dan)).toBe(first);
    server.advance(15_000);
    await read(site, token);
    await until(async () => (await usedAt(dan)) !== first);
  });

  test("is not waited for: with the database's lock in another's hand the call is answered", async () => {
    const dan = await signUp(server);
    const { token } = await give(dan, ["read"]);
    const mine = await owned(dan, "held");
    const writes = holdWrites(server.data_dir);
    const answers = await Promise.all(Array.from({ length: 20 }, () => read(mine, token)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    writes.letGo();
    await until(async () => (await usedAt(dan)) !== null);
  });
});

describe("BEYOND 7: it ends with its account", () => {
  test("DELETE /account", async () => {
    const eve = await signUp(server);
    const { token } = await give(eve, ["create"]);
    await call(server, "DELETE", "/account", undefined, eve.bearer);
    expect(await create(token)).toMatchObject({ status: 401 });
    const left = "select 1 from deploy_tokens where account_id = ?";
    expect(rowsOf(server.data_dir, left, eve.account_id)).toEqual([]);
  });

  test("svc-server account disable keeps it out, enable lets it in again; reset ends it", async () => {
    await using own = await startServer();
    const eve = await signUp(own);
    const given = givenBy(() => own);
    const { token } = await given.give(eve, ["create", "deploy"]);
    const made = await given.create(token);
    await operate(own.data_dir, "account", "disable", eve.email, "--reason", "unpaid");
    expect(await given.deploy(made, token, "2")).toMatchObject({ status: 401, code: "unauthorized" });
    expect(await given.create(token)).toMatchObject({ status: 401 });
    await operate(own.data_dir, "account", "enable", eve.email);
    expect(await given.deploy(made, token, "2")).toMatchObject({ status: 200 });
    const reset = await operator(own.data_dir, ["account", "reset", eve.email], { input: "another password\n" });
    expect(reset.stderr).toContain("and so has its deploy token");
    expect(await given.deploy(made, token, "3")).toMatchObject({ status: 401 });
  });

  test("a changed password ends none", async () => {
    const eve = await signUp(server);
    const { token } = await give(eve, ["create"]);
    const change = { current_password: PASSWORD, new_password: "another long password" };
    expect((await call(server, "POST", "/account/password", change, eve.bearer)).status).toBe(200);
    expect(await create(token)).toMatchObject({ status: 200 });
  });

  test("a sign-out ends none, and a token ends no session", async () => {
    const eve = await signUp(server);
    const { token } = await give(eve, ["create"]);
    expect((await call(server, "POST", "/auth/logout", {}, bearer(token))).status).toBe(401);
    expect((await call(server, "POST", "/auth/logout", {}, eve.bearer)).status).toBe(200);
    expect(await create(token)).toMatchObject({ status: 200 });
  });

  test("account list counts its use as the account's", async () => {
    const eve = await signUp(server);
    const { token } = await give(eve, ["read"]);
    server.advance(3 * 86_400_000);
    await read(site, token);
    await until(async () => {
      const { stdout } = await operate(server.data_dir, "account", "list", "--json");
      const rows = JSON.parse(stdout) as { email: string; last_used_at: string }[];
      const used = rows.find(({ email }) => email === eve.email)!.last_used_at;
      return Math.abs(Date.parse(used) - server.now()) < 60_000;
    });
  });
});
