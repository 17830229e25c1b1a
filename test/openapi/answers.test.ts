/** BEYOND 13: what the API answers is what its description says, with no member more or less. Each call is asked with
 *  success, and with most of what refuses it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { solve } from "../../src/client/challenge.ts";
import { bearer, decideLogin, PASSWORD, type Person, signInByForm, signUp } from "../kit/people.ts";
import { type DeployResult, NOBODYS_ID, startServer, ZIP } from "../kit/server.ts";
import { zipOf } from "../kit/zip.ts";
import { HeldServer, startHeld } from "./held.ts";

const PAGE = { "index.html": "<!doctype html><title>One</title><img src=logo.png>" };
const page = (text: string) => zipOf({ "index.html": `<!doctype html><title>${text}</title>${text}` });

let held: HeldServer;
let ann: Person;
let bob: Person;
let site: DeployResult;
let own: DeployResult;
beforeAll(async () => {
  held = await startHeld("--max-files", "3", "--max-zip-bytes", "4096", "--max-bytes", "20000");
  [ann, bob] = [await signUp(held.server), await signUp(held.server)];
  site = (await held.ask("POST", "/sites", 200, { body: zipOf(PAGE), headers: ZIP })).body;
  own = (await held.ask("POST", "/sites", 200, { body: page("own"), headers: { ...ZIP, ...ann.bearer } })).body;
});
afterAll(() => held.server[Symbol.asyncDispose]());

const M = () => bearer(site.manage_token);
const at = (path: string, { site_id } = site) => `/sites/${site_id}${path}`;

describe("what the server says of itself", () => {
  test.each([["/healthz"], ["/limits"], ["/openapi.json"]])("GET %s", async (path) => {
    await held.ask("GET", path, 200);
    await held.ask("HEAD", path, 200);
  });
  test("GET /openapi.json again: 304", async () => {
    const { headers } = await held.ask("GET", "/openapi.json", 200);
    await held.ask("GET", "/openapi.json", 304, { headers: { "if-none-match": headers.get("etag")! } });
  });
});

describe("CONTRACT 4: deploys", () => {
  test("of an owned site, with a session and with a manage_token, by what was healed and warned of", async () => {
    const headers = { ...ZIP, ...ann.bearer };
    await held.ask("POST", at("/deploys", own), 200, { body: page("two"), headers });
    const files = { "site/Index.html": "<title>x</title><a href='gone.html'>x</a>", "site/a.md": "# x" };
    await held.ask("POST", at("/deploys?spa=on"), 200, { body: zipOf(files), headers: { ...ZIP, ...M() } });
    await held.ask("POST", at("/deploys?spa=auto"), 200, { body: zipOf(PAGE), headers: { ...ZIP, ...M() } });
  });

  test("dry runs", async () => {
    await held.ask("POST", "/sites?dry_run=1", 200, { body: zipOf(PAGE), headers: ZIP });
    await held.ask("POST", at("/deploys?dry_run=1&spa=off"), 200, { body: page("dry"), headers: { ...ZIP, ...M() } });
  });

  const many = Object.fromEntries(Array.from({ length: 4 }, (_, n) => [`${n}.html`, "x"]));
  const steals = "<form action='https://evil.example/in'><input type=password name=p></form>";
  test.each<[string, string, number, string, Uint8Array<ArrayBuffer>, Record<string, string>]>([
    ["no zip", "", 400, "invalid_zip", new Uint8Array([1, 2, 3]), ZIP],
    ["nothing in it", "", 400, "empty_deploy", zipOf({ ".DS_Store": "x" }), ZIP],
    ["a way out", "", 400, "unsafe_path", zipOf({ "../x.html": "x" }), ZIP],
    ["too many files", "", 413, "too_many_files", zipOf(many), ZIP],
    ["too large when unpacked", "", 413, "deploy_too_large", zipOf({ "a.txt": "x".repeat(20_001) }), ZIP],
    ["too large", "", 413, "zip_too_large", new Uint8Array(5000), ZIP],
    ["another type", "", 415, "unsupported_media_type", page("x"), { "content-type": "text/plain" }],
    ["a parameter of another value", "?spa=maybe", 400, "invalid_input", page("x"), ZIP],
    ["a short key", "", 400, "invalid_input", page("x"), { ...ZIP, "idempotency-key": "short" }],
    ["a credential that is none", "", 401, "unauthorized", page("x"), { ...ZIP, ...bearer("svc_session_none") }],
    ["a foreign page", "", 403, "cross_origin", page("x"), { ...ZIP, origin: "http://evil.example" }],
    ["a form that sends passwords away", "", 403, "abuse_rejected", zipOf({ "index.html": steals }), ZIP],
  ])("POST /sites with %s", async (_, query, status, code, body, headers) => {
    await held.ask("POST", `/sites${query}`, status, { body, headers, code });
  });

  test("an Idempotency-Key that another deploy had", async () => {
    const headers = { ...ZIP, "idempotency-key": "k".repeat(22) };
    await held.ask("POST", "/sites", 200, { body: page("one"), headers });
    await held.ask("POST", "/sites", 409, { body: page("two"), headers, code: "idempotency_conflict" });
  });

  test("of a site that is frozen, disabled, gone, another's", async () => {
    const deploy = { body: page("x"), headers: { ...ZIP, ...M() } };
    held.server.freeze(site);
    await held.ask("POST", at("/deploys"), 403, { ...deploy, code: "site_frozen" });
    held.server.disable(site, "phishing");
    await held.ask("POST", at("/deploys"), 451, { ...deploy, code: "site_disabled" });
    held.server.enable(site);
    site = (await held.ask("POST", "/sites", 200, { body: zipOf(PAGE), headers: ZIP })).body;
    await held.ask("POST", at("/deploys", own), 403, {
      ...deploy,
      headers: { ...ZIP, ...bob.bearer },
      code: "forbidden",
    });
    await held.ask("POST", `/sites/${NOBODYS_ID}/deploys`, 404, { ...deploy, headers: { ...ZIP, ...bob.bearer } });
  });
});

describe("CONTRACT 4.4: sites", () => {
  test("GET /sites/:id, whole and in pages", async () => {
    await held.ask("GET", at(""), 200, { headers: M() });
    await held.ask("GET", at("?limit=1", own), 200, { headers: ann.bearer });
    await held.ask("GET", at("?limit=0"), 400, { headers: M(), code: "invalid_input" });
    await held.ask("GET", at(`?before=${site.version_id}`), 200, { headers: M() });
    await held.ask("GET", at("?before=x"), 404, { headers: M(), code: "unknown_version" });
    await held.ask("GET", at(""), 401, { code: "unauthorized" });
  });

  test("POST /sites/:id/rollback", async () => {
    const { body } = await held.ask("POST", at("/deploys"), 200, { body: page("newer"), headers: { ...ZIP, ...M() } });
    expect(body.version_id).not.toBe(site.version_id);
    const sent = { body: { version_id: site.version_id }, headers: M() };
    await held.ask("POST", at("/rollback"), 200, sent);
    await held.ask("POST", at("/rollback"), 404, { ...sent, body: { version_id: "none" }, code: "unknown_version" });
    await held.ask("POST", at("/rollback"), 400, { ...sent, body: {}, code: "invalid_input" });
    await held.ask("POST", at("/rollback"), 400, { ...sent, body: "[", code: "invalid_json" });
    await held.ask("POST", at("/rollback"), 413, { ...sent, body: "x".repeat(70_000), code: "body_too_large" });
  });

  test("a screenshot where no engine is on: 404", async () => {
    const path = at(`/screenshots/${site.version_id}`);
    await held.ask("GET", path, 404, { headers: M(), code: "not_found" });
    await held.ask("GET", `${path}?size=tv`, 400, { headers: M(), code: "invalid_input" });
    await held.ask("GET", at("/screenshots/x"), 404, { headers: M(), code: "unknown_version" });
  });

  test("claims", async () => {
    const { claim_token } = site;
    const claim = { body: { claim_token, revoke_manage_tokens: false }, headers: ann.bearer };
    await held.ask("POST", at("/claim"), 401, { ...claim, body: { claim_token: "x" }, code: "invalid_claim" });
    await held.ask("POST", at("/claim"), 200, claim);
    await held.ask("POST", at("/claim"), 409, { ...claim, headers: bob.bearer, code: "already_owned" });
    await held.ask("DELETE", at("/manage-tokens"), 403, { headers: bob.bearer, code: "forbidden" });
    await held.ask("DELETE", at("/manage-tokens"), 200, { headers: ann.bearer });
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
});

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
});

describe("on servers of other settings", () => {
  test("CONTRACT 10: a proof of work is asked for, and taken", async () => {
    await using server = await startServer({ SVC_CHALLENGE: "pow" });
    const proving = new HeldServer(server, held.contract);
    const { body } = await proving.ask("POST", "/challenge", 200);
    await proving.ask("POST", "/sites", 403, { body: page("x"), headers: ZIP, code: "challenge_failed" });
    await proving.ask("POST", "/sites", 200, {
      body: page("x"),
      headers: { ...ZIP, "svc-challenge": await solve(body) },
    });
    held.answered.add("makeChallenge 200");
  });

  test("CONTRACT 4.4: past a limit", async () => {
    await using server = await startServer({ SVC_RATE_DEPLOY: "1/1h", SVC_QUOTA_ADDRESS: "1k" });
    const limited = new HeldServer(server, held.contract);
    const large = zipOf({ "index.html": crypto.getRandomValues(new Uint8Array(3000)) });
    await limited.ask("POST", "/sites", 403, { body: large, headers: ZIP, code: "quota_exceeded" });
    await limited.ask("POST", "/sites", 429, { body: page("x"), headers: ZIP, code: "rate_limited" });
  });

  test("CONTRACT 5: where nobody can sign up", async () => {
    await using server = await startServer("--signup", "closed", "--contact", "ops@example.org");
    const body = { email: "dan@example.org", password: PASSWORD };
    const closed = new HeldServer(server, held.contract);
    const refused = await closed.ask("POST", "/auth/signup", 403, { body, code: "signup_closed" });
    expect(refused.body.appeal).toBe("ops@example.org");
  });
});

test("every call was asked with success; a picture needs a browser (test/render)", () => {
  expect(held.unasked("Server", "Deploys", "Sites", "Account", "Sign-in")).toEqual(["readScreenshot"]);
});
