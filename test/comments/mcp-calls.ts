/** MCP without a client: one request, with just the headers and members that it is given. */
import { JSON_TYPE } from "../kit/server.ts";
import type { Commented, ToolResult } from "./agents.ts";

interface Sent {
  token?: string | null;
  headers?: Record<string, string>;
  query?: string;
  method?: string;
}

export interface Answered {
  status: number;
  headers: Headers;
  body: any;
}

export async function send(
  world: Commented,
  body: unknown,
  { token = null, headers = {}, query = "", method = "POST" }: Sent = {},
): Promise<Answered> {
  const authorization: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const answer = await fetch(world.mcp_url + query, {
    method,
    headers: { ...JSON_TYPE, ...authorization, ...headers },
    ...(method !== "GET" && { body: text }),
  });
  const said = await answer.text();
  return { status: answer.status, headers: answer.headers, body: said === "" ? null : JSON.parse(said) };
}

export const request = (method: string, params?: object, id: unknown = 1) => ({ jsonrpc: "2.0", id, method, params });

export const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** Headers of the stateless protocol. */
export const modern = (method: string, name?: string): Record<string, string> => ({
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": method,
  ...(name !== undefined && { "mcp-name": name }),
});

/** A tool's result, by the older protocol. */
export async function call(world: Commented, token: string, name: string, args: object = {}): Promise<ToolResult> {
  const { status, body } = await send(world, request("tools/call", { name, arguments: args }), { token });
  if (status !== 200 || body.result === undefined) throw new Error(`${name}: ${status} ${JSON.stringify(body)}`);
  return body.result as ToolResult;
}
