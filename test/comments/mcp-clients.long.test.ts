/** COMMENTS 6 with the official clients: both protocols on one address. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TOOLS } from "../kit/paths.ts";
import { run } from "../kit/process.ts";
import { type Commented, startCommented } from "./agents.ts";
import { CLIENTS, connect } from "./mcp-clients.ts";

let world: Commented;
let token: string;
beforeAll(async () => {
  world = await startCommented({ SVC_MCP: "on", SVC_RATE_MCP: "off" });
  token = await world.token(["read", "reply", "resolve"]);
});
afterAll(() => world.server[Symbol.asyncDispose]());

/** Runs in the folder of the tools. */
const command = (name: string, args: string[]) =>
  run([process.execPath, join(TOOLS, "node_modules", "@modelcontextprotocol", name), ...args], { cwd: TOOLS });

describe.each(CLIENTS.map((kind) => [kind.name, kind] as const))("COMMENTS 6: %s", (name, kind) => {
  test("connects, reads a thread, answers it and resolves it", async () => {
    const { id } = await world.comment(`Is this still true? asks ${name}`);
    const spoken = new Set<string | null>();
    const client = await connect(kind, world.mcp_url, token, spoken);
    const { tools } = await client.listTools();
    expect([...spoken]).toContain(kind.era === "modern" ? "2026-07-28" : "2025-11-25");
    expect(spoken.has("2026-07-28")).toBe(kind.era === "modern");
    expect(tools.map((tool) => tool.name)).toEqual(["list_threads", "get_thread", "reply", "resolve", "reopen"]);
    expect(client.getInstructions()).toContain("untrusted_text");
    expect(client.getServerVersion()?.name).toBe("svc-comments");

    const listed = await client.callTool({ name: "list_threads", arguments: { page: "/guide", limit: 1 } });
    expect(listed.structuredContent!.threads).toMatchObject([
      { thread_id: id, page: "/guide.html", quote: "two seconds", untrusted_text: `Is this still true? asks ${name}` },
    ]);
    expect(JSON.parse(listed.content[0]!.text)).toEqual(listed.structuredContent);

    const reply = { thread_id: id, text: "Fixed.", request_id: `r ${name}` };
    const replied = await client.callTool({ name: "reply", arguments: reply });
    expect(replied.structuredContent).toMatchObject({ thread_id: id, repeated: false });
    const resolved = await client.callTool({ name: "resolve", arguments: { thread_id: id, note: "as asked" } });
    expect(resolved.structuredContent).toEqual({ thread_id: id, status: "resolved", changed: true });
    const { structuredContent: read } = await client.callTool({ name: "get_thread", arguments: { thread_id: id } });
    expect(read).toMatchObject({
      status: "resolved",
      comments: [{ by: { kind: "visitor" } }, { by: { kind: "agent", name: "docs-bot" }, untrusted_text: "Fixed." }],
    });
    await client.close();
  });

  test("a tool's failure is a result that says what to do, and an unknown tool an error", async () => {
    const client = await connect(kind, world.mcp_url, token);
    const failed = await client.callTool({ name: "get_thread", arguments: { thread_id: "c_none" } });
    expect(failed).toMatchObject({
      isError: true,
      content: [{ text: "There is no such thread on this site. (unknown_thread)" }],
    });
    await expect(client.callTool({ name: "deploy", arguments: {} })).rejects.toThrow("There is no such tool");
    await client.close();
  });
});

test.each(CLIENTS.filter(({ era }) => era === "legacy").map((kind) => [kind.name, kind] as const))(
  "COMMENTS 6: %s pings",
  async (_, kind) => {
    const client = await connect(kind, world.mcp_url, token);
    expect(await client.ping()).toEqual({});
    await client.close();
  },
);

test.each(CLIENTS.map((kind) => [kind.name, kind] as const))(
  "COMMENTS 6: %s is told of a wrong token",
  async (_, kind) => {
    await expect(connect(kind, world.mcp_url, "fau_wrong")).rejects.toThrow();
  },
);

test("COMMENTS 6: the inspector's CLI calls resolve", async () => {
  const { id } = await world.comment("For the inspector");
  const { stdout, stderr, code } = await command("inspector/clients/cli/build/index.js", [
    ...["--cli", world.mcp_url, "--transport", "http", "--method", "tools/call", "--tool-name", "resolve"],
    ...["--tool-arg", `thread_id=${id}`, "--header", `Authorization: Bearer ${token}`, "--format", "json"],
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(JSON.parse(stdout).result).toMatchObject({
    structuredContent: { thread_id: id, status: "resolved", changed: true },
  });
}, 60_000);

test("COMMENTS 6: the inspector finds nothing in the tools' schemas that some client could not take", async () => {
  const { stdout, stderr, code } = await command("inspector/clients/cli/build/index.js", [
    ...["--cli", world.mcp_url, "--transport", "http", "--method", "tools/list", "--strict"],
    ...["--header", `Authorization: Bearer ${token}`],
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("list_threads");
}, 60_000);

/** The suite sends no token, so somebody between adds it; the Host stays as it was sent. */
function withToken() {
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const headers = new Headers(request.headers);
      headers.set("authorization", `Bearer ${token}`);
      const body = request.method === "POST" ? await request.arrayBuffer() : null;
      return fetch(world.mcp_url, { method: request.method, headers, body });
    },
  });
}

test.each(["server-initialize", "ping", "tools-list", "dns-rebinding-protection"])(
  "COMMENTS 6: the conformance suite's %s",
  async (scenario) => {
    const proxy = withToken();
    const results = await mkdtemp(join(tmpdir(), "svc-mcp-"));
    try {
      const url = `http://localhost:${proxy.port}/mcp`;
      const args = ["server", "--url", url, "--scenario", scenario, "--output-dir", results];
      const { stdout, stderr, code } = await command("conformance/dist/index.js", args);
      expect(stdout + stderr).toMatch(/Passed: [1-9]\d*\/\d+, 0 failed/);
      expect(code).toBe(0);
    } finally {
      proxy.stop(true);
      await rm(results, { recursive: true });
    }
  },
  60_000,
);
