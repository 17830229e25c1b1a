/** COMMENTS 6, the protocol: what is asked by which era, and what its errors are. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Commented, commentedSite, startCommented } from "./agents.ts";
import { META, modern, request, send } from "./mcp-calls.ts";

let world: Commented;
let token: string;
beforeAll(async () => {
  world = await startCommented({ SVC_MCP: "on", SVC_RATE_MCP: "off" });
  token = await world.token(["read", "reply", "resolve"]);
});
afterAll(() => world.server[Symbol.asyncDispose]());

const post = (body: unknown, headers: Record<string, string> = {}) => send(world, body, { token, headers });

describe("COMMENTS 6: where it is", () => {
  test("off, as it is by default, there is nothing", async () => {
    await using server = (await startCommented()).server;
    const off = await commentedSite(server);
    const answer = await send(off, request("ping"), { token: await off.token(["read"]) });
    expect([answer.status, answer.body.code]).toEqual([404, "not_found"]);
    expect((await send(off, "", { method: "GET" })).status).toBe(404);
  });

  test.each(["GET", "DELETE", "PUT", "PATCH"])("%s is 405: there is no stream and no session", async (method) => {
    const { status, headers } = await send(world, "", { token, method });
    expect([status, headers.get("allow")]).toEqual([405, "POST"]);
  });

  test("a page of another origin is refused, a page of the API's own is not", async () => {
    const { origin } = new URL(world.mcp_url);
    expect((await post(request("ping"), { origin })).status).toBe(200);
    for (const foreign of ["https://evil.example", "null", world.site.url.replace(/\/$/, "")]) {
      const { status, body } = await post(request("ping"), { origin: foreign });
      expect([status, body.code]).toEqual([403, "cross_origin"]);
    }
  });

  test("a Host that is not the API's reaches no site's comments", async () => {
    expect((await post(request("ping"), { host: "evil.example" })).status).toBe(404);
    // A site's own address takes no POST.
    expect((await post(request("ping"), { host: new URL(world.site.url).host })).status).toBe(405);
  });

  test("what is no JSON is refused", async () => {
    const { status, body } = await post(request("ping"), { "content-type": "text/plain" });
    expect([status, body.code]).toEqual([415, "unsupported_media_type"]);
    const large = await post({ ...request("ping"), x: "x".repeat(70_000) });
    expect([large.status, large.body.code]).toEqual([413, "body_too_large"]);
  });
});

describe("COMMENTS 6: JSON-RPC", () => {
  test.each([
    ["{", 400, -32700, "no JSON"],
    ["[".repeat(100), 400, -32700, "nested too deep"],
    ['{"jsonrpc":"2.0","id":1,"method":"ping"}\xff', 400, -32700, "something behind it"],
    ["[]", 400, -32600, "a batch of nothing"],
    [JSON.stringify([request("ping")]), 400, -32600, "a batch"],
    ["7", 400, -32600, "a number"],
    ['{"id":1,"method":"ping"}', 400, -32600, "no version"],
    ['{"jsonrpc":"1.0","id":1,"method":"ping"}', 400, -32600, "another version"],
    ['{"jsonrpc":"2.0","id":1}', 400, -32600, "no method"],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}', 400, -32600, "an id that is none"],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', 400, -32600, "an id of null"],
    ['{"jsonrpc":"2.0","id":1,"method":7}', 400, -32600, "a method that is none"],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', 400, -32600, "params that are a list"],
  ])("%s is %i with %i: %s", async (body, status, code) => {
    const answer = await post(body);
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ jsonrpc: "2.0", id: null, error: { code } });
  });

  test("ids come back as they were, texts and numbers", async () => {
    for (const id of [0, -5, "x", "ü"]) expect((await post(request("ping", {}, id))).body.id).toBe(id);
  });

  test("a notification and a response are taken, and nothing is said to them", async () => {
    for (const message of [
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } },
      { jsonrpc: "2.0", id: 9, result: {} },
      { jsonrpc: "2.0", id: 9, error: { code: -1, message: "no" } },
    ]) {
      expect(await post(message)).toMatchObject({ status: 202, body: null });
    }
  });

  test("answers are no one's to keep", async () => {
    const { headers } = await post(request("tools/list"));
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("content-type")).toBe("application/json");
  });
});

describe("COMMENTS 6: 2025-11-25 and older", () => {
  test.each([
    ["2025-11-25", "2025-11-25"],
    ["2025-06-18", "2025-06-18"],
    ["2025-03-26", "2025-03-26"],
    ["2024-11-05", "2024-11-05"],
    ["1999-01-01", "2025-11-25"],
  ])("a handshake for %s agrees on %s", async (protocolVersion, agreed) => {
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: "x", version: "1" } };
    const { status, body } = await post(request("initialize", params));
    expect(status).toBe(200);
    expect(body.result).toMatchObject({ protocolVersion: agreed, capabilities: { tools: {} } });
    expect(body.result.resultType).toBeUndefined();
  });

  test("what there is not is an error in the answer", async () => {
    for (const method of ["resources/list", "server/discover", "constructor", "__proto__"]) {
      const { status, body } = await post(request(method));
      expect([status, body.error.code]).toEqual([200, -32601]);
    }
  });

  test("a version of the header that nobody knows is 400, with those that are known", async () => {
    const { status, body } = await post(request("ping"), { "mcp-protocol-version": "2031-01-01" });
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: -32022, data: { requested: "2031-01-01" } });
    expect(body.error.data.supported).toEqual(["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]);
    expect((await post(request("ping"), { "mcp-protocol-version": "2025-06-18" })).status).toBe(200);
  });
});

describe("COMMENTS 6: 2026-07-28", () => {
  const discover = request("server/discover", { _meta: META });
  const LIST = { ...modern("tools/call", "list_threads") };
  const listing = request("tools/call", { _meta: META, name: "list_threads", arguments: {} });

  test("server/discover says what there is", async () => {
    const { status, body } = await post(discover, modern("server/discover"));
    expect(status).toBe(200);
    expect(body.result).toMatchObject({
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: {} },
      cacheScope: "private",
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "svc-comments" } },
    });
    expect(body.result.ttlMs).toBeGreaterThanOrEqual(0);
    expect(body.result.instructions).toContain("untrusted_text");
  });

  test("results are complete, and lists say how long they may be kept", async () => {
    const list = await post(request("tools/list", { _meta: META }), modern("tools/list"));
    expect(list.body.result).toMatchObject({ resultType: "complete", cacheScope: "private" });
    const called = await post(listing, LIST);
    expect(called.body.result).toMatchObject({ resultType: "complete", isError: false });
    expect(called.body.result.ttlMs).toBeUndefined();
  });

  test.each([
    [{ ...LIST, "mcp-name": "get_thread" }, "another name"],
    [{ ...LIST, "mcp-name": "=?base64?bm8=?=" }, "another name in Base64"],
    [{ ...LIST, "mcp-name": "=?base64?bm8?=" }, "Base64 that is not whole"],
    [{ ...LIST, "mcp-name": "=?base64?/w==?=" }, "Base64 of no UTF-8"],
    [{ ...LIST, "mcp-method": "tools/list" }, "another method"],
    [{ ...LIST, "mcp-protocol-version": "2025-11-25" }, "another version"],
    [modern("tools/call"), "no name"],
    [{ "mcp-protocol-version": "2026-07-28", "mcp-name": "list_threads" }, "no method"],
    [{ "mcp-method": "tools/call", "mcp-name": "list_threads" }, "no version"],
  ])("headers %j are 400 with -32020: %s than the body", async (headers) => {
    const { status, body } = await post(listing, headers as Record<string, string>);
    expect([status, body.error.code, body.id]).toEqual([400, -32020, 1]);
  });

  test("a name in Base64 counts as what it says", async () => {
    const name = `=?base64?${Buffer.from("list_threads").toString("base64")}?=`;
    expect((await post(listing, modern("tools/call", name))).status).toBe(200);
  });

  test.each([
    [{}, "no _meta"],
    [{ _meta: {} }, "an empty one"],
    [{ _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } }, "no capabilities"],
    [{ _meta: { ...META, "io.modelcontextprotocol/clientCapabilities": [] } }, "capabilities that are none"],
    [{ _meta: { ...META, "io.modelcontextprotocol/protocolVersion": undefined } }, "no version"],
  ])("params %j are 400 with -32602: %s", async (params) => {
    const { status, body } = await post(request("tools/list", params), modern("tools/list"));
    expect([status, body.error.code]).toEqual([400, -32602]);
  });

  test("a version that nobody knows is 400 with -32022, in the body too", async () => {
    const version = { "io.modelcontextprotocol/protocolVersion": "2031-01-01" };
    const { status, body } = await post(request("tools/list", { _meta: { ...META, ...version } }), {
      "mcp-protocol-version": "2031-01-01",
      "mcp-method": "tools/list",
    });
    expect([status, body.error.code]).toEqual([400, -32022]);
    expect(body.error.data.supported).toContain("2026-07-28");
  });

  test("what there is not is 404 with -32601, the old handshake and ping among it", async () => {
    for (const method of ["resources/list", "ping", "initialize"]) {
      const { status, body } = await post(request(method, { _meta: META }), modern(method));
      expect([status, body.error.code]).toEqual([404, -32601]);
    }
  });

  test("an unknown tool is an error in the answer", async () => {
    const asked = request("tools/call", { _meta: META, name: "deploy", arguments: {} });
    const { status, body } = await post(asked, modern("tools/call", "deploy"));
    expect([status, body.error.code]).toEqual([200, -32602]);
  });
});
