/** JSON-RPC as MCP uses it: one message to a request, told apart by its members; errors with their status of HTTP. */
import { Refusal } from "../../base/errors.ts";
import { mediaType, readAnyJson } from "../../http/body.ts";

export type Members = Readonly<Record<string, unknown>>;

type RpcId = string | number;

export type Message =
  | { kind: "request"; id: RpcId; method: string; params: Members }
  | { kind: "notification"; method: string; params: Members }
  /** Nothing was asked of clients, so none of it is awaited. */
  | { kind: "response" };

/** The codes of JSON-RPC, and those that MCP has of its own (COMMENTS 6). */
const CODES = {
  parse_error: -32700,
  invalid_request: -32600,
  unknown_method: -32601,
  invalid_params: -32602,
  header_mismatch: -32020,
  unsupported_version: -32022,
} as const;

/** A failure of the protocol. What a tool cannot do is a result instead. */
export class RpcError extends Error {
  constructor(
    readonly why: keyof typeof CODES,
    message: string,
    /** Of HTTP. */
    readonly status: 200 | 400 | 404 = 400,
    readonly data?: object,
  ) {
    super(message);
  }
}

export const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Undefined where it has none of its own. */
export const member = (object: unknown, name: string): unknown =>
  isObject(object) && Object.hasOwn(object, name) ? object[name] : undefined;

const isId = (value: unknown): value is RpcId => typeof value === "string" || Number.isSafeInteger(value);

/** Null for what JSON-RPC knows no kind of. */
function messageIn(body: unknown): Message | null {
  if (!isObject(body) || body.jsonrpc !== "2.0") return null;
  const [id, method, sent] = [member(body, "id"), member(body, "method"), member(body, "params")];
  if (method === undefined)
    return Object.hasOwn(body, "result") || Object.hasOwn(body, "error") ? { kind: "response" } : null;
  const params = sent === undefined ? {} : sent;
  if (typeof method !== "string" || !isObject(params)) return null;
  if (!Object.hasOwn(body, "id")) return { kind: "notification", method, params };
  return isId(id) ? { kind: "request", id, method, params } : null;
}

/** Throws `RpcError`, 413 and 415. */
export async function readMessage(request: Request): Promise<Message> {
  if (mediaType(request) !== "application/json") {
    throw new Refusal("unsupported_media_type", "Send JSON: Content-Type: application/json.");
  }
  const body = await readAnyJson(request).catch((error: unknown) => {
    if (!(error instanceof Refusal) || error.code !== "invalid_json") throw error;
    throw new RpcError("parse_error", error.message);
  });
  const message = messageIn(body);
  if (message !== null) return message;
  const why = Array.isArray(body) ? "Batches are not taken: send one message." : "This is no message of JSON-RPC 2.0.";
  throw new RpcError("invalid_request", why);
}

export const resultJson = (id: RpcId, result: object) => ({ jsonrpc: "2.0", id, result });

/** `id`: null where none could be read. */
export const errorJson = (id: RpcId | null, { why, message, data }: RpcError) => ({
  jsonrpc: "2.0",
  id,
  error: { code: CODES[why], message, ...(data !== undefined && { data }) },
});
