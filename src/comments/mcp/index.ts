/** `POST {base_url}/sites/:id/comments/mcp`: the comments of one site for agents (COMMENTS 6). No session, no stream, no
 *  state: each request is answered by what it says and by its token. */
import { Refusal } from "../../base/errors.ts";
import { answerJson, KEPT_HEADERS } from "../../http/answers.ts";
import type { Exchange } from "../../http/exchange.ts";
import { type Agent, agentOf } from "./agent.ts";
import { type Era, eraOf } from "./era.ts";
import { answerMethod, isGreeting } from "./methods.ts";
import type { McpParts } from "./parts.ts";
import { errorJson, type Message, readMessage, resultJson, RpcError } from "./rpc.ts";

interface McpCall {
  request: Request;
  exchange: Exchange;
  site_id: string;
  /** Of the Authorization header alone; null without one. */
  token: string | null;
  /** Of the API, as it was asked. */
  origin: string;
  headers: Record<string, string>;
}

type Asked = Extract<Message, { kind: "request" }>;

const accepted = ({ exchange }: McpCall): Response =>
  new Response(null, { status: 202, headers: { ...KEPT_HEADERS, "x-request-id": exchange.request_id } });

async function answerRequest(parts: McpParts, call: McpCall, agent: Agent, asked: Asked): Promise<Response> {
  const { id, method, params } = asked;
  const { exchange, request } = call;
  try {
    const era: Era = eraOf(request.headers, asked);
    return answerJson(resultJson(id, await answerMethod(era, method, { parts, agent, params })), exchange);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return answerJson(errorJson(id, error), exchange, error.status);
  }
}

async function read(call: McpCall): Promise<Message | Response> {
  try {
    return await readMessage(call.request);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return answerJson(errorJson(null, error), call.exchange, error.status);
  }
}

/** Greetings have a count of their own: a client that says hello has all its calls left. */
async function limit({ limit }: McpParts, { headers }: McpCall, { token }: Agent, message: Message | Response) {
  const greets = !(message instanceof Response) && (message.kind !== "request" || isGreeting(message.method));
  const counted = await limit("rate_mcp", greets ? `${token.token_id} greetings` : token.token_id);
  Object.assign(headers, counted.headers);
}

/** No page but the API's own, so that no name that leads here by another's doing reads what is answered. */
function refuseForeignPages({ request, origin }: McpCall): void {
  const sent = request.headers.get("origin");
  if (sent === null || sent === origin) return;
  throw new Refusal("cross_origin", "Pages of other origins cannot call this address: call it from a program.");
}

/** Throws 401, 403, 404, 429, 451. */
export async function answerAgent(parts: McpParts, call: McpCall): Promise<Response> {
  refuseForeignPages(call);
  const agent = await agentOf(parts, call.site_id, call.token);
  const message = await read(call);
  await limit(parts, call, agent, message);
  if (message instanceof Response) return message;
  if (message.kind !== "request") return accepted(call);
  return answerRequest(parts, call, agent, message);
}
