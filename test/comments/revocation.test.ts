/** RELIABILITY A25: whoever gave a site away, or held a token of it, keeps nothing of it once the owner revoked: no agent, no
 *  code, no hour as owner, no webhook. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { auditRows, count, openFile } from "../kit/database.ts";
import { bearer, call as ask, PASSWORD, type Person, signUp } from "../kit/people.ts";
import { startProcess, temporaryFolder } from "../kit/process.ts";
import { type DeployResult, JSON_TYPE, startServer, type TestServer } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { zipOf } from "../kit/zip.ts";
import { type Receiver, startReceiver } from "../webhooks/receiver.ts";
import { Commented, commentedSite as agentSite, startCommented } from "./agents.ts";
import { CommentedSite, FREELY, PAGES, type Visitor } from "./commented.ts";
import { request, send } from "./mcp-calls.ts";

/** The machine may be busy. */
setDefaultTimeout(60_000);

const EVENTS = ["thread.created", "reply.created"];
const SECRET = "sixteen letters or more";
const SCOPES = ["read", "reply", "resolve", "see_pending"];

let server: TestServer;
let ben: Person;
let hook: Receiver;
beforeAll(async () => {
  server = await startServer(FREELY, {
    SVC_MCP: "on",
    SVC_RATE_MCP: "off",
    SVC_WEBHOOKS: "on",
    SVC_WEBHOOKS_ALLOW: "127.0.0.0/8",
  });
  ben = await signUp(server);
  hook = startReceiver();
});
afterAll(async () => {
  hook.stop();
  await server[Symbol.asyncDispose]();
});

/** The site's browsers, as test/comments has them. */
const browsersOf = ({ site }: Commented) => new CommentedSite(server, site);
const manageOf =
  (world: Commented, headers: Record<string, string>) => (path: string, method: string, body?: unknown) =>
    ask(server, method, `/sites/${world.site.site_id}/comments/${path}`, body, headers);

/** All that a manage_token, or a session, can leave behind. */
interface Left {
  agent: string;
  code: string;
  /** A browser that is the owner already. */
  owner: Visitor;
  hook: string;
}

async function leaveBehind(world: Commented, path: string, by = bearer(world.site.manage_token)): Promise<Left> {
  const manage = manageOf(world, by);
  const settings = await manage("settings", "PATCH", {
    webhook: { url: `${hook.url}/${path}`, events: EVENTS, secret: SECRET },
  });
  expect(settings.status).toBe(200);
  const agent = String((await manage("tokens", "POST", { name: "Support", scopes: SCOPES })).body["token"]);
  const [used, kept] = [
    (await manage("owner-code", "POST", {})).body.code,
    (await manage("owner-code", "POST", {})).body.code,
  ];
  const owner = browsersOf(world).visitor();
  expect((await owner.send("owner", { method: "POST", body: { code: used } })).status).toBe(204);
  return { agent, code: kept, owner, hook: `/hook/${path}` };
}

/** What each of it still opens. */
async function opens(world: Commented, { agent, code, owner }: Left) {
  const browser = browsersOf(world).visitor();
  return {
    agent: (await send(world, request("tools/list"), { token: agent })).status,
    queue: (await owner.send("queue")).status,
    moderates: (await owner.send("c_none/approve", { method: "POST", body: {} })).status,
    code: (await browser.send("owner", { method: "POST", body: { code } })).status,
  };
}
const WORKS = { agent: 200, queue: 200, moderates: 404, code: 204 };
const ENDED = { agent: 401, queue: 401, moderates: 401, code: 401 };

/** Takes back what the fourteenth step of the schema added. */
const ofReceipts = (column: string) => ["receipts", column] as const;

function asSchema15(data_dir: string): void {
  using db = openFile(data_dir, "db", false);
  // Later steps add these again.
  for (const what of [
    ...["index comments_by_network", "index comments_by_size", "table passcode_networks"],
    ...["index comment_settings_plain", "index audit_invited", "index audit_repeated"],
    ...["table webhook_states", "table webhook_deliveries", "index webhook_outbox_by_site", "table notices"],
    "index receipts_by_against",
    "index threads_open",
    "table former_slugs",
    ...["table domains", "table certificates", "table acme_challenges"],
  ]) {
    db.run(`drop ${what}`);
  }
  for (const [table, column] of [
    ["comments", "network"],
    ["comments", "written"],
    ["threads", "written"],
    ["comment_settings", "webhook_encrypted"],
    ["webhook_outbox", "probes"],
    ["webhook_outbox", "notice"],
    ["sites", "owner_epoch"],
    ...(["access_hash", "access_set_at", "access_epoch"] as const).map((column) => ["sites", column] as const),
    ["agent_tokens", "made_by"],
    ["owner_codes", "made_by"],
    ["comment_settings", "webhook_by"],
    ...["checked_pages", "checked_links", "checked_files", "against", "added", "changed", "removed", "same"].map(
      ofReceipts,
    ),
    ...["named_added", "named_changed", "named_removed", "renderer"].map(ofReceipts),
  ] as const) {
    db.run(`alter table ${table} drop column ${column}`);
  }
  db.run("alter table webhook_outbox add column next_at integer not null default 0");
  db.run("create index webhook_outbox_by_site on webhook_outbox (site_id, next_at)");
  db.run("PRAGMA user_version = 15");
}

const claim = ({ site_id, claim_token }: DeployResult, body: object) =>
  ask(server, "POST", `/sites/${site_id}/claim`, { claim_token, ...body }, ben.bearer);
const revoke = ({ site_id }: DeployResult) =>
  ask(server, "DELETE", `/sites/${site_id}/manage-tokens`, undefined, ben.bearer);
const pathsTold = () => hook.received.map(({ path }) => path);

const REVOCATIONS: [string, (world: Commented) => Promise<{ status: number; body: object }>][] = [
  ["a claim with revoke_manage_tokens", async ({ site }) => claim(site, { revoke_manage_tokens: true })],
  [
    "DELETE manage-tokens after a claim without it",
    async ({ site }) => {
      await claim(site, {});
      return revoke(site);
    },
  ],
  [
    "a claim that is said again with it",
    async ({ site }) => {
      await claim(site, {});
      return claim(site, { revoke_manage_tokens: true });
    },
  ],
];

describe("A25 after a revocation", () => {
  test.each(REVOCATIONS)("nothing that the giver's manage_token made opens anything: %s", async (name, revocation) => {
    const [world, other] = [await agentSite(server, "approved"), await agentSite(server, "approved")];
    const path = name.replaceAll(" ", "-");
    const [left, others] = [await leaveBehind(world, path), await leaveBehind(other, `${path}-other`)];
    expect(await opens(world, { ...left, code: await freshCode(world) })).toEqual(WORKS);
    const { status, body } = await revocation(world);
    expect(status).toBe(200);
    expect(Object.keys(body).toSorted()).toEqual(
      name.startsWith("DELETE") ? ["ok", "revoked"] : ["expires_at", "ok", "owner_account_id", "site_id", "url"],
    );
    expect(await opens(world, left)).toEqual(ENDED);
    expect(await opens(other, others)).toEqual(WORKS);
    // The owner sees that nothing is left, and can begin anew.
    const manage = manageOf(world, ben.bearer);
    expect((await manage("tokens", "GET")).body["tokens"]).toEqual([]);
    expect((await manage("settings", "GET")).body["webhook"]).toBeNull();
    expect(await opens(world, await leaveBehind(world, `${path}-anew`, ben.bearer))).toEqual(WORKS);
  });

  test("the giver's agent reads no comment that comes later, answers none, and its webhook is told of none", async () => {
    const world = await agentSite(server, "approved");
    const left = await leaveBehind(world, "support");
    await world.comment("before");
    await until(() => pathsTold().filter((path) => path === left.hook).length === 1, 50);
    await claim(world.site, { revoke_manage_tokens: true });
    const { id } = await world.comment("my order number is 4711");
    for (const [tool, args] of [
      ["list_threads", {}],
      ["get_thread", { thread_id: id }],
      ["reply", { thread_id: id, text: "We moved: log in at https://evil.example", request_id: "1" }],
    ] as const) {
      const body = request("tools/call", { name: tool, arguments: args });
      expect([tool, (await send(world, body, { token: left.agent })).status]).toEqual([tool, 401]);
    }
    // Another site's letter has arrived since: the delivery had its turn.
    const other = await agentSite(server);
    await leaveBehind(other, "later");
    await other.comment("elsewhere");
    await until(() => pathsTold().includes("/hook/later"), 50);
    expect(pathsTold().filter((path) => path === left.hook)).toHaveLength(1);
    expect(hook.received.some(({ body }) => body.includes("4711"))).toBe(false);
  });

  test("letters that waited for the giver's webhook are dropped, and go to no webhook that the owner sets", async () => {
    const world = await agentSite(server);
    await leaveBehind(world, "waits");
    hook.answer = 500;
    await world.comment("waits for another try");
    await until(() => pathsTold().includes("/hook/waits"), 50);
    expect(count(server.data_dir, "webhook_outbox")).toBeGreaterThan(0);
    await claim(world.site, { revoke_manage_tokens: true });
    hook.answer = 200;
    const waiting = server.running.store.notes;
    expect((await waiting.settings({ site_id: world.site.site_id, comments_mode: "anonymous" })).webhook).toBeNull();
    await leaveBehind(world, "owners", ben.bearer);
    server.advance(11_000);
    await world.comment("after");
    await until(() => pathsTold().includes("/hook/owners"), 50);
    const told = hook.received.filter(({ path }) => path === "/hook/owners").map(({ told }) => told.data.body.value);
    expect(told).toEqual(["after"]);
  });

  test("a claim again ends what the giver made, and not what the owner's account made since", async () => {
    const world = await agentSite(server);
    await claim(world.site, {});
    const [givers, owners] = [await leaveBehind(world, "givers"), await leaveBehind(world, "owners-own", ben.bearer)];
    await claim(world.site, { revoke_manage_tokens: true });
    // An hour as owner ends for all: the owner opens another.
    expect(await opens(world, givers)).toEqual(ENDED);
    expect(await opens(world, owners)).toEqual({ ...WORKS, queue: 401, moderates: 401 });
    expect((await manageOf(world, ben.bearer)("settings", "GET")).body["webhook"]).toMatchObject({
      url: `${hook.url}/owners-own`,
    });
  });

  test("DELETE manage-tokens also ends what a session made: whoever had one may have made it", async () => {
    const world = await agentSite(server);
    await claim(world.site, {});
    const left = await leaveBehind(world, "stolen", ben.bearer);
    expect((await revoke(world.site)).body["revoked"]).toBe(1);
    expect(await opens(world, left)).toEqual(ENDED);
    const reasons = auditRows(server.data_dir).filter(
      ({ site_id, action }) => site_id === world.site.site_id && action === "revoke-tokens",
    );
    expect(reasons.map(({ reason }) => reason)).toEqual([
      `1 of them, 1 agent token, 1 owner code, the webhook to ${new URL(hook.url).host}`,
    ]);
  });

  test("what an older version left behind counts as the giver's", async () => {
    await using own = (await startCommented({ SVC_MCP: "on" })).server;
    const world = await agentSite(own);
    await world.configure({
      webhook: { url: `${hook.url}/old`.replace("127.0.0.1", "hooks.example"), events: EVENTS, secret: SECRET },
    });
    const token = await world.token(SCOPES);
    const person = await signUp(own);
    await own.stop();
    asSchema15(own.data_dir);
    await own.start([{ ...FREELY, SVC_MCP: "on" }]);
    expect((await send(world, request("tools/list"), { token })).status).toBe(200);
    const { site_id, claim_token } = world.site;
    const revoking = { claim_token, revoke_manage_tokens: true };
    expect((await ask(own, "POST", `/sites/${site_id}/claim`, revoking, person.bearer)).status).toBe(200);
    expect((await send(world, request("tools/list"), { token })).status).toBe(401);
    const settings = await ask(own, "GET", `/sites/${site_id}/comments/settings`, undefined, person.bearer);
    expect(settings.body["webhook"]).toBeNull();
  });

  test("a claim that fails ends nothing", async () => {
    const world = await agentSite(server);
    const left = await leaveBehind(world, "fails");
    const { status } = await claim({ ...world.site, claim_token: "svc_claim_x" }, { revoke_manage_tokens: true });
    expect(status).toBe(401);
    expect(await opens(world, left)).toEqual(WORKS);
  });
});

describe("A25 a body that comes after the revocation", () => {
  /** Sends the head and a part of the body, then does `between`, then sends the rest. */
  async function slowly(
    url: string,
    init: RequestInit,
    text: string,
    between: () => Promise<unknown>,
  ): Promise<number> {
    const done = Promise.withResolvers<void>();
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(new TextEncoder().encode(text.slice(0, 1)));
        await done.promise;
        controller.enqueue(new TextEncoder().encode(text.slice(1)));
        controller.close();
      },
    });
    const answer = fetch(url, { ...init, body });
    await Bun.sleep(300); // its head is there
    await between();
    done.resolve();
    return (await answer).status;
  }

  test("of an agent writes nothing", async () => {
    const world = await agentSite(server);
    const { id } = await world.comment("Is it so?");
    const { agent } = await leaveBehind(world, "slow");
    const args = { thread_id: id, text: "We moved", request_id: "1" };
    const text = JSON.stringify(request("tools/call", { name: "reply", arguments: args }));
    const init = { method: "POST", headers: { ...JSON_TYPE, ...bearer(agent) } };
    expect(await slowly(world.mcp_url, init, text, () => claim(world.site, { revoke_manage_tokens: true }))).toBe(401);
    expect(await browsersOf(world).visitor().texts()).toEqual(["Is it so?"]);
  });

  test.each([
    ["approve", { note: "mine" }],
    ["reject", {}],
    ["resolve", {}],
    ["reject-all", { of: "visitor" }],
  ])("of a manage_token decides nothing: %s", async (action, body) => {
    const world = await agentSite(server, "approved");
    const { id } = await world.comment("waits");
    const url = `http://127.0.0.1:${server.port}/sites/${world.site.site_id}/comments/${id}/${action}`;
    const init = { method: "POST", headers: { ...JSON_TYPE, ...bearer(world.site.manage_token) } };
    const text = JSON.stringify(body);
    expect(await slowly(url, init, text, () => claim(world.site, { revoke_manage_tokens: true }))).toBe(401);
    const { body: queue } = await manageOf(world, ben.bearer)("queue", "GET");
    expect(queue["items"]).toMatchObject([{ id, visibility: "pending" }]);
  });

  test.each([
    [
      "writes nothing",
      "",
      (owner: Visitor, { origin }: CommentedSite) => owner.annotation("We moved", `${origin}/guide.html`),
    ],
    ["decides nothing", "approve", () => ({ note: "mine" })],
  ] as const)("of a browser that was the owner %s", async (_, action, bodyOf) => {
    const world = await agentSite(server, "approved");
    const place = browsersOf(world);
    const { id } = await world.comment("waits");
    const { owner } = await leaveBehind(world, `slow-${action}`);
    const path = `/_svc/comments/${action === "" ? "" : `${id}/${action}`}`;
    const { host } = new URL(place.origin);
    const init = { method: "POST", headers: { ...JSON_TYPE, host, origin: place.origin, cookie: owner.cookie } };
    const text = JSON.stringify(bodyOf(owner, place));
    const url = `http://127.0.0.1:${server.port}${path}`;
    expect(await slowly(url, init, text, () => claim(world.site, { revoke_manage_tokens: true }))).toBe(401);
    expect(await place.visitor().texts()).toEqual([]);
  });
});

const freshCode = async (world: Commented): Promise<string> =>
  (await manageOf(world, bearer(world.site.manage_token))("owner-code", "POST", {})).body.code;

describe("A25 a manage_token never deletes", () => {
  test("nor does a browser that its code made the owner: it moderates, and DELETE is 403 with a sentence", async () => {
    const world = await agentSite(server);
    const { id } = await world.comment("stays");
    const { owner } = await leaveBehind(world, "deletes");
    const own = await owner.say("said as owner");
    for (const one of [id, own, "c_none"]) {
      const { status, body } = await owner.send(one, { method: "DELETE" });
      expect([status, body.code]).toEqual([403, "forbidden"]);
      expect(body.error).toContain("manage_token");
    }
    expect(await browsersOf(world).visitor().texts()).toEqual(["stays", "said as owner"]);
    expect((await owner.send(`${id}/resolve`, { method: "POST", body: {} })).status).toBe(200);
    expect((await owner.send(`${id}/reject`, { method: "POST", body: {} })).status).toBe(200);
  });

  test("what that browser wrote as a visitor is its own, and it deletes that", async () => {
    const world = await agentSite(server);
    const ann = browsersOf(world).visitor();
    const id = await ann.say("mine");
    const code = await freshCode(world);
    expect((await ann.send("owner", { method: "POST", body: { code } })).status).toBe(204);
    expect((await ann.send(id, { method: "DELETE" })).status).toBe(204);
  });

  test("a code of the owner's session gives a browser that deletes", async () => {
    const world = await agentSite(server);
    await claim(world.site, {});
    const { id } = await world.comment("goes");
    const { owner } = await leaveBehind(world, "may-delete", ben.bearer);
    expect((await owner.send(id, { method: "DELETE" })).status).toBe(204);
    expect((await browsersOf(world).visitor().send(id)).status).toBe(410);
  });
});

test("A25 of two workers neither takes what a revocation ended at the next request", async () => {
  await using folder = await temporaryFolder();
  const env = { SVC_MCP: "on", SVC_RATE_MCP: "off", ...FREELY };
  const running = await startProcess(["--data-dir", folder.path, "--workers", "2", "--log", "off"], { env });
  const { port } = running;
  const at = (path: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    headers.set("connection", "close"); // each may come to the other worker
    return fetch(`http://127.0.0.1:${port}${path}`, { ...init, headers });
  };
  const site = (slug: string, path = "/", init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    headers.set("host", `${slug}.localhost:${port}`);
    return at(path, { ...init, headers });
  };
  const post = async (path: string, body: unknown, token: string): Promise<Record<string, string>> => {
    const headers = { ...JSON_TYPE, ...(token !== "" && bearer(token)) };
    return (await at(path, { method: "POST", headers, body: JSON.stringify(body) })).json() as never;
  };
  try {
    const made = (await (
      await at("/sites", { method: "POST", headers: { "content-type": "application/zip" }, body: zipOf(PAGES) })
    ).json()) as DeployResult;
    const { session_token } = await post("/auth/signup", { email: "ann@example.org", password: PASSWORD }, "");
    const place = new CommentedSite({ api: at, site }, made);
    await place.turn("anonymous");
    const owner = await place.owner();
    const { body } = await place.api("tokens", { method: "POST", body: { name: "Support", scopes: ["read"] } });
    const asked = async () => [
      (await owner.send("queue")).status,
      (
        await at(`/sites/${made.site_id}/comments/mcp`, {
          method: "POST",
          headers: { ...JSON_TYPE, ...bearer(body.token) },
          body: JSON.stringify(request("tools/list")),
        })
      ).status,
    ];
    for (let n = 0; n < 20; n++) expect(await asked()).toEqual([200, 200]);
    await post(
      `/sites/${made.site_id}/claim`,
      { claim_token: made.claim_token, revoke_manage_tokens: true },
      session_token!,
    );
    for (let n = 0; n < 20; n++) expect(await asked()).toEqual([401, 401]);
  } finally {
    await running.end();
  }
});
