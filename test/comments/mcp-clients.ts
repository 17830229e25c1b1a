/** The official clients of MCP, as one kind of client: each connects, lists and calls. They come from test/tools. */
import { join } from "node:path";
import { TOOLS } from "../kit/paths.ts";
import type { ToolResult } from "./agents.ts";

interface Tool {
  name: string;
  description?: string;
  inputSchema: object;
  outputSchema?: object;
  annotations?: Record<string, unknown>;
}

/** What all of them have in common. */
export interface McpClient {
  connect(transport: object): Promise<void>;
  getServerVersion(): { name: string; version: string } | undefined;
  getInstructions(): string | undefined;
  ping(): Promise<unknown>;
  listTools(): Promise<{ tools: Tool[] }>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<ToolResult>;
  close(): Promise<void>;
}

type ClientClass = new (info: { name: string; version: string }, options?: object) => McpClient;
interface TransportOptions {
  requestInit: { headers: Record<string, string> };
  fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
}
type TransportClass = new (url: URL, options: TransportOptions) => object;

const from = async (file: string): Promise<Record<string, unknown>> =>
  import(join(TOOLS, "node_modules", "@modelcontextprotocol", file));

const [v1, v1Http, v2] = await Promise.all([
  from("sdk/dist/esm/client/index.js"),
  from("sdk/dist/esm/client/streamableHttp.js"),
  from("client/dist/index.mjs"),
]);

interface Kind {
  name: string;
  Client: ClientClass;
  Transport: TransportClass;
  options?: object;
  /** What the requests of this client say that they speak. */
  era: "modern" | "legacy";
}

const V1 = { Client: v1.Client, Transport: v1Http.StreamableHTTPClientTransport } as Pick<Kind, "Client" | "Transport">;
const V2 = { Client: v2.Client, Transport: v2.StreamableHTTPClientTransport } as Pick<Kind, "Client" | "Transport">;
const negotiating = (mode: unknown) => ({ versionNegotiation: { mode } });

export const CLIENTS: readonly Kind[] = [
  { name: "SDK v1", ...V1, era: "legacy" },
  { name: "client v2 by default", ...V2, era: "legacy" },
  { name: "client v2, legacy", ...V2, options: negotiating("legacy"), era: "legacy" },
  { name: "client v2, auto", ...V2, options: negotiating("auto"), era: "modern" },
  { name: "client v2, pinned to 2026-07-28", ...V2, options: negotiating({ pin: "2026-07-28" }), era: "modern" },
];

/** `spoken`: what the header MCP-Protocol-Version said. */
export async function connect(
  { Client, Transport, options }: Kind,
  url: string,
  token: string,
  spoken = new Set<string | null>(),
): Promise<McpClient> {
  const client = new Client({ name: "svc-tests", version: "1.0.0" }, options);
  const watched: TransportOptions["fetch"] = (asked, init) => {
    spoken.add(new Headers(init?.headers).get("mcp-protocol-version"));
    return fetch(asked, init);
  };
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new Transport(new URL(url), { requestInit, fetch: watched }));
  return client;
}
