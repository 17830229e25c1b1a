/** BEYOND 13: what is answered of comments, to keepers on the API's host, to visitors on a site's, and to agents, is
 *  what the description says, with no member more or less. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { FREELY, PAGES, PASSCODE } from "../comments/commented.ts";
import { bearer, type Person, signUp } from "../kit/people.ts";
import { type DeployResult, JSON_TYPE, ZIP } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { zipOf } from "../kit/zip.ts";
import { startReceiver } from "../webhooks/receiver.ts";
import type { Json } from "./contract.ts";
import { type Held, type HeldServer, type Sent, startHeld } from "./held.ts";

const LD_JSON = 'application/ld+json; profile="http://www.w3.org/ns/anno.jsonld"';
const NOBODY = `c_${"z".repeat(20)}`;

let held: HeldServer;
let ann: Person;
let site: DeployResult;
beforeAll(async () => {
  held = await startHeld(FREELY, { SVC_MCP: "on", SVC_WEBHOOKS: "on", SVC_WEBHOOKS_ALLOW: "127.0.0.0/8" });
  ann = await signUp(held.server);
  const sent = { body: zipOf(PAGES), headers: { ...ZIP, ...ann.bearer } };
  site = (await held.ask("POST", "/sites", 200, sent)).body;
  await manage("PATCH", "settings", 200, { body: { mode: "anonymous" } });
});
afterAll(() => held.server[Symbol.asyncDispose]());

type Asked = Sent & { code?: string };

/** Below `/sites/:id/comments/`. */
const manage = (method: string, path: string, status: number, sent: Asked = {}): Promise<Held> => {
  const headers = { ...bearer(site.manage_token), ...sent.headers };
  return held.ask(method, `/sites/${site.site_id}/comments/${path}`, status, { ...sent, headers });
};
/** On the site's host, from a page of its own. */
const visit = (method: string, path: string, status: number, sent: Asked = {}): Promise<Held> => {
  const headers = { ...(method !== "GET" && { origin: site.url }), ...sent.headers };
  const at = path.startsWith("/") ? path : `/_svc/comments/${path}`;
  return held.ask(method, at, status, { ...sent, on: site.slug, headers });
};

const saying = (text: string, target: unknown = `${site.url}/guide.html`, more: object = {}): object => ({
  type: "Annotation",
  body: { type: "TextualBody", value: text },
  target,
  ...more,
});
const idOf = ({ body }: Held): string => body.id.split("/").at(-1);
const cookieOf = ({ headers }: Held): { cookie: string } => ({ cookie: headers.getSetCookie()[0]!.split(";")[0]! });
const post = (text: string, sent: Asked = {}, target?: unknown): Promise<Held> =>
  visit("POST", "", 201, { body: saying(text, target), ...sent });

describe("COMMENTS 2: set up by whoever manages the site", () => {
  test("settings, with a webhook, and what they are refused for", async () => {
    await manage("GET", "settings", 200);
    const webhook = { url: "https://hooks.example.org/in", events: ["thread.created"], secret: "0123456789abcdef" };
    await manage("PATCH", "settings", 200, { body: { webhook } });
    await manage("PATCH", "settings", 400, { body: { mode: "open" }, code: "invalid_input" });
    await manage("PATCH", "settings", 415, { body: "x", headers: { "content-type": "text/plain" } });
    await manage("GET", "settings", 401, { headers: bearer("svc_manage_none"), code: "unauthorized" });
  });

  test("letters of the webhook, how it goes with it, and one that is sent again", async () => {
    const there = startReceiver();
    const webhook = { url: there.url, events: ["thread.created"], secret: "0123456789abcdef" };
    try {
      await manage("PATCH", "settings", 200, { body: { webhook } });
      expect((await manage("GET", "webhook/deliveries", 200)).body).toEqual({ deliveries: [] });
      await post("To be told");
      const isTaken = async () =>
        (await manage("GET", "webhook/deliveries", 200)).body.deliveries[0]?.outcome === "delivered";
      await until(isTaken, 100);
      const again = (id: string) => `webhook/deliveries/${id}/again`;
      const { id } = there.received[0]!.told;
      await manage("POST", again(id), 200, { body: {} });
      await until(async () => there.received.length === 2 && (await isTaken()), 100);
      await manage("POST", again("msg_none"), 404, { body: {}, code: "not_found" });
      there.answer = 410;
      await manage("POST", again(id), 200, { body: {} });
      await until(async () => "ended_at" in (await manage("GET", "settings", 200)).body.webhook, 100);
      await manage("POST", again(id), 400, { body: {}, code: "invalid_input" });
    } finally {
      there.stop();
      await manage("PATCH", "settings", 200, { body: { webhook: null } });
    }
  });

  test("tokens of agents", async () => {
    const { body } = await manage("POST", "tokens", 201, { body: { name: "docs-bot", scopes: ["read"] } });
    await manage("GET", "tokens", 200);
    await manage("POST", "tokens", 400, { body: { name: "docs-bot", scopes: ["all"] }, code: "invalid_input" });
    await manage("DELETE", `tokens/${body.token_id}`, 204);
    await manage("DELETE", `tokens/${body.token_id}`, 404, { code: "not_found" });
  });
});

describe("COMMENTS 1 and 2: what visitors read and write", () => {
  test("a thread with a passage, a reply, an edit, and who wrote them", async () => {
    const selector = [{ type: "TextQuoteSelector", exact: "two seconds", prefix: "finish in ", suffix: " and" }];
    const target = { type: "SpecificResource", source: `${site.url}/guide.html`, selector };
    const first = await post("Still true?", {}, target);
    const [id, who] = [idOf(first), cookieOf(first)];
    await post("Yes.", { headers: who }, first.body.id);
    const { headers } = await visit("GET", id, 200);
    await visit("GET", id, 304, { headers: { "if-none-match": headers.get("etag")! } });
    const change = { body: saying("Still so?"), headers: { ...who, "if-match": headers.get("etag")! } };
    await visit("PUT", id, 200, change);
    await visit("PUT", id, 412, { ...change, code: "changed" });
    await visit("PUT", id, 428, { ...change, headers: who, code: "if_match_required" });
    await visit("PUT", id, 401, { ...change, headers: {}, code: "no_identity" });
    const view = await visit("GET", "threads?page=/guide.html", 200, { headers: who });
    await visit("GET", `threads?page=/guide.html&since=${view.body.cursor}`, 200, { headers: who });
    const etag = view.headers.get("etag")!;
    await visit("GET", "threads?page=/guide.html", 304, { headers: { ...who, "if-none-match": etag } });
    await visit("GET", "threads?page=/none.html", 404, { code: "not_found" });
    await visit("GET", "me", 200, { headers: who });
    await visit("PATCH", "me", 200, { body: { name: "Ann" }, headers: who });
    await visit("PATCH", "me", 422, { body: { name: "owner" }, headers: who, code: "name_reserved" });
    await visit("GET", "me/export", 200, { headers: who });
    await visit("DELETE", id, 204, { headers: who });
    await visit("DELETE", "me", 204, { headers: who });
    await visit("GET", "me", 401, { code: "no_identity" });
  });

  test("the same again under its canonical name: 200", async () => {
    const body = saying("Once", undefined, { canonical: "urn:uuid:5f0e1c9a-2b4d-4f6e-8a70-c1d2e3f4a5b6" });
    const first = await visit("POST", "", 201, { body, headers: { "content-type": LD_JSON } });
    await visit("POST", "", 200, { body, headers: cookieOf(first) });
  });

  test("what is refused", async () => {
    const nowhere = saying("x", `${site.url}/none.html`);
    const reply = saying("x", `${site.url}/_svc/comments/${NOBODY}`, { motivation: "replying" });
    const long = [{ type: "TextQuoteSelector", exact: "x".repeat(1201) }];
    await visit("POST", "", 400, { body: saying(""), code: "invalid_annotation" });
    await visit("POST", "", 422, { body: nowhere, code: "unknown_page" });
    await visit("POST", "", 422, { body: reply, code: "unknown_thread" });
    await visit("POST", "", 422, {
      body: saying("x", { source: `${site.url}/`, selector: long }),
      code: "anchor_too_long",
    });
    await visit("POST", "", 413, { body: saying("x".repeat(20_000)), code: "body_too_large" });
    await visit("POST", "", 403, {
      body: saying("x"),
      headers: { origin: "http://evil.example" },
      code: "cross_origin",
    });
    await visit("GET", NOBODY, 404, { code: "not_found" });
  });

  test("COMMENTS 1: feeds, their pages, the container, and what they take", async () => {
    for (let n = 0; n < 2; n++) await post(`${n}`);
    for (const path of ["/comments.json", "/guide.comments.json", "feed.json", "feed.json?source=/guide.html", ""]) {
      const { headers } = await visit("GET", path, 200);
      await visit("GET", path, 200, { headers: { accept: LD_JSON } });
      await visit("GET", path, 304, { headers: { "if-none-match": headers.get("etag")! } });
    }
    await visit("GET", "/comments.json?page=0", 200);
    await visit("GET", "/comments.json?page=0&iris=1", 200);
    await visit("GET", "/comments.json?page=9", 404, { code: "not_found" });
    await visit("GET", "/none.comments.json", 404, { code: "not_found" });
    for (const path of ["", "feed.json", NOBODY]) await visit("OPTIONS", path, 200);
  });

  test("the page without a script", async () => {
    await visit("GET", "view?page=/guide.html", 200);
    await visit("GET", "view?page=/none.html", 404, { code: "not_found" });
    await visit("POST", "view", 200, { body: new URLSearchParams({ page: "/guide.html", text: "x" }) });
  });

  test("reports, of a comment and of the site", async () => {
    const report = { body: { reason: "spam", text: "Buy this" } };
    await visit("POST", `${NOBODY}/report`, 202, report);
    await visit("POST", `${NOBODY}/report`, 400, { body: { reason: "x" }, code: "invalid_input" });
    await visit("POST", "/_svc/report", 202, { body: { reason: "phishing" } });
    await visit("POST", "/_svc/report", 400, { body: {}, code: "invalid_input" });
  });

  test("the entrance of a site that wants a password, and of one that wants none", async () => {
    await visit("POST", "/_svc/access", 200, { body: { password: "whatever" } });
    const access = `/sites/${site.site_id}/access`;
    const password = "open sesame 1";
    await held.ask("PUT", access, 200, { body: { password }, headers: ann.bearer });
    await visit("POST", "/_svc/access", 401, { body: { password: "another one" }, code: "wrong_password" });
    await visit("POST", "/_svc/access", 200, { body: { password } });
    await held.ask("DELETE", access, 200, { headers: ann.bearer });
  });
});

describe("COMMENTS 2: what is decided", () => {
  test("by a manage_token, by the owner's session, and by the owner's browser", async () => {
    const [one, two] = [await post("one"), await post("two")];
    await visit("POST", `${idOf(two)}/report`, 202, { body: { reason: "abuse" } });
    await manage("GET", "threads", 200);
    await manage("GET", "threads?page=/guide.html&status=open", 200);
    await manage("GET", "threads?status=x", 400, { code: "invalid_input" });
    await manage("GET", "queue?state=reported", 200);
    const { body } = await manage("POST", "owner-code", 200, { body: {} });
    const headers = cookieOf(await visit("POST", "owner", 204, { body: { code: body.code } }));
    await visit("POST", "owner", 401, { body: { code: body.code }, code: "invalid_code" });
    for (const action of ["resolve", "reopen", "reject", "approve"]) {
      await manage("POST", `${idOf(one)}/${action}`, 200, { body: { note: "seen" } });
      await manage("POST", `${NOBODY}/${action}`, 404, { body: {}, code: "not_found" });
      await visit("POST", `${idOf(two)}/${action}`, 200, { body: {}, headers });
      await visit("POST", `${idOf(two)}/${action}`, 401, { body: {}, code: "unauthorized" });
    }
    await manage("POST", `${idOf(one)}/reject-all`, 200, { body: { of: "visitor", note: "seen" } });
    await manage("POST", `${idOf(one)}/reject-all`, 400, { body: { of: "x" }, code: "invalid_input" });
    await manage("POST", `${NOBODY}/reject-all`, 404, { body: { of: "network" }, code: "not_found" });
    await manage("GET", `${idOf(one)}/history`, 200);
    await manage("GET", `${NOBODY}/history`, 404, { code: "not_found" });
    await visit("GET", "queue?state=reported", 200, { headers });
    await visit("GET", "queue", 401, { code: "unauthorized" });
    await manage("DELETE", idOf(one), 403, { code: "forbidden" });
    await manage("DELETE", idOf(one), 204, { headers: ann.bearer });
    await visit("GET", idOf(one), 410, { code: "deleted" });
  });

  test("in mode approved a post waits, and says so; in mode passcode it needs the passcode", async () => {
    await manage("PATCH", "settings", 200, { body: { mode: "approved" } });
    expect((await post("waits")).headers.get("svc-visibility")).toBe("pending");
    await manage("GET", "queue", 200);
    await manage("PATCH", "settings", 200, { body: { mode: "passcode", passcode: PASSCODE } });
    for (const path of ["", "threads?page=/", NOBODY, "/comments.json"]) {
      await visit("GET", path, 401, { code: "passcode_required" });
    }
    await visit("POST", "passcode", 401, { body: { passcode: "x" }, code: "wrong_passcode" });
    const headers = cookieOf(await visit("POST", "passcode", 204, { body: { passcode: PASSCODE } }));
    await visit("GET", "/comments.json", 200, { headers });
  });
});

test("COMMENTS 6: MCP's messages, its failures, and who may not call", async () => {
  await manage("PATCH", "settings", 200, { body: { mode: "anonymous" } });
  const scopes = ["read", "reply", "resolve", "see_pending"];
  const headers = bearer((await manage("POST", "tokens", 201, { body: { name: "bot", scopes } })).body.token);
  const rpc = (method: string, params?: object) => ({ jsonrpc: "2.0", id: 1, method, ...(params && { params }) });
  await manage("POST", "mcp", 200, { body: rpc("ping"), headers });
  await manage("POST", "mcp", 200, { body: rpc("tools/call", { name: "list_threads", arguments: {} }), headers });
  await manage("POST", "mcp", 202, { body: { jsonrpc: "2.0", method: "notifications/initialized" }, headers });
  await manage("POST", "mcp", 200, { body: rpc("none"), headers });
  await manage("POST", "mcp", 400, { body: "[", headers: { ...headers, ...JSON_TYPE } });
  await manage("POST", "mcp", 401, { body: rpc("ping"), headers: bearer("fau_none"), code: "unauthorized" });
});

test("of a site that is frozen, without comments, disabled, expired, nobody's", async () => {
  held.server.freeze(site);
  await visit("POST", "", 403, { body: saying("x"), code: "site_frozen" });
  const whole: [number, string, () => unknown][] = [
    [404, "comments_off", () => manage("PATCH", "settings", 200, { body: { mode: "off" } })],
    [451, "site_disabled", () => held.server.disable(site, "phishing")],
  ];
  for (const [status, code, happens] of whole) {
    await happens();
    for (const path of ["", "threads?page=/", NOBODY, "me", "queue", "view", "feed.json", "/comments.json"]) {
      await visit("GET", path, status, { code });
    }
    for (const path of ["", "passcode", "owner", `${NOBODY}/report`, `${NOBODY}/approve`]) {
      await visit("POST", path, status, { body: {}, code });
    }
  }
  await held.ask("GET", "/comments.json", 404, { on: "nobodys-site-0000", code: "unknown_host" });
  const gone: Json = (await held.ask("POST", "/sites", 200, { body: zipOf(PAGES), headers: ZIP })).body;
  held.server.expire(gone);
  await held.ask("GET", "/_svc/comments/threads?page=/", 410, { on: gone.slug, code: "site_expired" });
});

test("every call was asked with success", () => {
  expect(held.unasked("Comments", "On a site's host")).toEqual([]);
});
