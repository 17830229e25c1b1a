/** BEYOND 13: what the API answers to accounts is what its description says, with no member more or less. Each call is asked
 *  with success, and with most of what refuses it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { bearer, decideLogin, PASSWORD, type Person, signInByForm, signUp } from "../kit/people.ts";
import { type DeployResult, NOBODYS_ID, startServer, ZIP } from "../kit/server.ts";
import { zipOf } from "../kit/zip.ts";
import { HeldServer, startHeld } from "./held.ts";

const page = (text: string) => zipOf({ "index.html": `<!doctype html><title>${text}</title>${text}` });

let held: HeldServer;
let ann: Person;
let bob: Person;
let own: DeployResult;

beforeAll(async () => {
  held = await startHeld();
  [ann, bob] = [await signUp(held.server), await signUp(held.server)];
  const sent = { body: page("first"), headers: { ...ZIP, ...ann.bearer } };
  await held.ask("POST", "/sites", 200, sent);
  own = (await held.ask("POST", "/sites", 200, { body: page("own"), headers: { ...ZIP, ...ann.bearer } })).body;
});
afterAll(() => held.server[Symbol.asyncDispose]());

describe("CONTRACT 4.4 and 5: the account", () => {
  test("itself, its usage, its sessions, its sites", async () => {
    const headers = ann.bearer;
    for (const path of ["", "/usage", "/sessions", "/sites", "/sites?limit=1"]) {
      await held.ask("GET", `/account${path}`, 200, { headers });
      await held.ask("GET", `/account${path}`, 401, { code: "unauthorized" });
    }
    const { body } = await held.ask("GET", "/account/sites?limit=1", 200, { headers });
    await held.ask("GET", `/account/sites?cursor=${body.cursor}`, 200, { headers });
    await held.ask("GET", "/account/sites?cursor=x", 400, { headers, code: "invalid_input" });
  });

  test("bulk-attach, with each of its reasons", async () => {
    const ask = async () => (await held.ask("POST", "/sites", 200, { body: page("free"), headers: ZIP })).body;
    const [one, two, three] = [await ask(), await ask(), await ask()];
    const attach = (sites: object[], by: Person) =>
      held.ask("POST", "/account/bulk-attach", 200, { body: { sites }, headers: by.bearer });
    const pick = ({ site_id, manage_token }: DeployResult) => ({ site_id, manage_token });
    await attach([pick(two)], bob);
    const sites = [one, one, two, { ...three, manage_token: "x" }, { ...three, site_id: NOBODYS_ID }].map(pick);
    const { body } = await attach(sites, ann);
    const reasons = body.skipped.map(({ reason }: { reason: string }) => reason);
    expect(reasons).toEqual(["already_yours", "already_owned", "invalid_token", "not_found"]);
    const bad = { body: '{"sites": [7]}', headers: { ...ann.bearer, "content-type": "application/json" } };
    expect((await held.ask("POST", "/account/bulk-attach", 200, bad)).body.skipped).toEqual([
      { site_id: null, reason: "invalid_input" },
    ]);
    await held.ask("POST", "/account/bulk-attach", 400, { body: { sites: [] }, headers: ann.bearer });
  });

  test("PATCH and DELETE of its sites", async () => {
    const headers = ann.bearer;
    const path = `/account/sites/${own.site_id}`;
    await held.ask("PATCH", path, 200, { body: { label: "Garden club", spa: null }, headers });
    await held.ask("PATCH", path, 400, { body: { name: "x" }, headers, code: "invalid_input" });
    await held.ask("PATCH", path, 404, { body: { label: "x" }, headers: bob.bearer, code: "unknown_site" });
    const bulk = { body: { site_ids: [own.site_id, NOBODYS_ID] }, headers };
    await held.ask("POST", "/account/sites/bulk-delete", 200, bulk);
    await held.ask("DELETE", path, 404, { headers, code: "unknown_site" });
    const again = (await held.ask("POST", "/sites", 200, { body: page("x"), headers: { ...ZIP, ...headers } })).body;
    await held.ask("DELETE", `/account/sites/${again.site_id}`, 200, { headers });
  });

  test("BEYOND 7: deploy tokens: made, listed, used, revoked", async () => {
    const headers = ann.bearer;
    const mine: DeployResult = (
      await held.ask("POST", "/sites", 200, { body: page("x"), headers: { ...ZIP, ...headers } })
    ).body;
    const make = (status: number, body: object) => held.ask("POST", "/account/tokens", status, { body, headers });
    const { token, token_id } = (await make(200, { name: "CI", scopes: ["read"], expires_in: "1d" })).body;
    await make(200, { name: "One", scopes: ["preview"], site_ids: [mine.site_id] });
    await make(400, { name: "CI", scopes: [] });
    await held.ask("GET", `/sites/${mine.site_id}`, 200, { headers: bearer(token) });
    await held.ask("GET", "/account/domains", 200, { headers });
    expect((await held.ask("GET", "/account/tokens", 200, { headers })).body.tokens).toHaveLength(2);
    const deploy = { body: page("x"), headers: { ...ZIP, ...bearer(token) }, code: "scope_missing" };
    expect((await held.ask("POST", `/sites/${mine.site_id}/deploys`, 403, deploy)).body.needed).toBe("deploy");
    await held.ask("POST", "/sites", 403, deploy);
    await held.ask("DELETE", `/account/tokens/${token_id}`, 200, { headers });
    await held.ask("DELETE", `/account/tokens/${token_id}`, 404, { headers, code: "not_found" });
    for (let n = 1; n < 50; n++) await make(200, { name: `${n}`, scopes: ["create"] });
    await held.ask("POST", "/account/tokens", 403, {
      body: { name: "x", scopes: ["read"] },
      headers,
      code: "quota_exceeded",
    });
  });

  test("by cookie: with the proof, and without", async () => {
    const { cookie, csrf } = await signInByForm(held.server, ann);
    const { host, origin } = new URL(held.server.base_url);
    const headers = { cookie, host, origin };
    const made = (
      await held.ask("POST", "/sites", 200, { body: page("x"), headers: { ...ZIP, ...headers, "svc-csrf": csrf } })
    ).body;
    await held.ask("DELETE", `/account/sites/${made.site_id}`, 403, { headers, code: "cross_origin" });
    const { body } = await held.ask("GET", "/account/sessions", 200, { headers });
    const { session_id } = body.sessions.find(({ current }: { current: boolean }) => current);
    await held.ask("DELETE", `/account/sessions/${session_id}`, 200, { headers: ann.bearer });
    await held.ask("DELETE", `/account/sessions/${session_id}`, 404, { headers: ann.bearer, code: "not_found" });
  });

  test("sign-up, sign-in, another password, sign-out, the end", async () => {
    const [email, password, fresh] = ["cleo@example.org", PASSWORD, "another horse battery"];
    await held.ask("POST", "/auth/signup", 200, { body: { email, password } });
    await held.ask("POST", "/auth/signup", 409, { body: { email, password }, code: "email_taken" });
    await held.ask("POST", "/auth/login", 401, { body: { email, password: "x" }, code: "unauthorized" });
    await held.ask("POST", "/auth/login", 415, { body: "x", headers: { "content-type": "text/plain" } });
    const form = new URLSearchParams({ email, password, next: "/dashboard" });
    await held.ask("POST", "/auth/login", 303, { body: form });
    const headers = bearer(
      (await held.ask("POST", "/auth/login", 200, { body: { email, password } })).body.session_token,
    );
    const change = { current_password: password, new_password: fresh };
    await held.ask("POST", "/account/password", 200, { body: change, headers });
    await held.ask("POST", "/account/password", 401, { body: change, headers, code: "unauthorized" });
    const { body } = await held.ask("POST", "/auth/login", 200, { body: { email, password: fresh } });
    await held.ask("POST", "/auth/logout", 200, { headers: bearer(body.session_token) });
    await held.ask("POST", "/auth/logout", 401, { headers: bearer(body.session_token), code: "unauthorized" });
    await held.ask("DELETE", "/account", 200, { headers });
  });

  test("RFC 8628: a device login", async () => {
    const poll = (status: number, device_code: string, code?: string) =>
      held.ask("POST", "/auth/device/token", status, { body: { device_code }, ...(code !== undefined && { code }) });
    const { device_code, user_code } = (await held.ask("POST", "/auth/device/code", 200)).body;
    await poll(400, device_code, "authorization_pending");
    await poll(400, device_code, "slow_down");
    await poll(400, "x", "expired_token");
    await decideLogin(held.server, user_code, "approve", ann);
    held.server.advance(20_000);
    await poll(200, device_code);
    const second = (await held.ask("POST", "/auth/device/code", 200)).body;
    await decideLogin(held.server, second.user_code, "deny", ann);
    await poll(400, second.device_code, "access_denied");
  });

  test("CONTRACT 4.4: past what an account may deploy, tokens too", async () => {
    await using server = await startServer({ SVC_RATE_OWNED: "1/1h" });
    const limited = new HeldServer(server, held.contract);
    const sent = { body: { name: "CI", scopes: ["read"] }, headers: (await signUp(server)).bearer };
    await limited.ask("POST", "/account/tokens", 200, sent);
    await limited.ask("POST", "/account/tokens", 429, { ...sent, code: "rate_limited" });
  });

  test("CONTRACT 5: where nobody can sign up", async () => {
    await using server = await startServer("--signup", "closed", "--contact", "ops@example.org");
    const body = { email: "dan@example.org", password: PASSWORD };
    const closed = new HeldServer(server, held.contract);
    const refused = await closed.ask("POST", "/auth/signup", 403, { body, code: "signup_closed" });
    expect(refused.body.appeal).toBe("ops@example.org");
  });
});

test("every call was asked with success", () => {
  expect(held.unasked("Account", "Sign-in")).toEqual([]);
});
