/** JSON-RPC as MCP uses it: one message a request, whose members say its kind; errors have a status of HTTP. */

import { Refusal } from "../../base/errors.ts";
import { mediaType, readAnyJson } from "../../http/body.ts";

export type Members = Readonly<Record<string, unknown>>;

type RpcId = string | number;

export type Message =
  | { kind: "request"; id: RpcId; method: string; params: Members }
  | { kind: "notification"; method: string; params: Members }
  /** An answer of the client. We ask clients nothing, so it is dropped. */
  | { kind: "response" };

/** The codes of JSON-RPC and MCP's own (COMMENTS 6). */
const CODES = {
  parse_error: -32700,
  invalid_request: -32600,
  unknown_method: -32601,
  invalid_params: -32602,
  header_mismatch: -32020,
  unsupported_version: -32022,
} as const;

/** A failure of the protocol. A tool that fails gives a result instead. */
export class RpcError extends Error {
  constructor(
    readonly why: keyof typeof CODES,
    message: string,
    /** The status of HTTP. */
    readonly status: 200 | 400 | 404 = 400,
    readonly data?: object,
  ) {
    super(message);
  }
}

export const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Undefined if the object has no such member of its own. */
export const member = (object: unknown, name: string): unknown =>
  isObject(object) && Object.hasOwn(object, name) ? object[name] : undefined;

const isId = (value: unknown): value is RpcId => typeof value === "string" || Number.isSafeInteger(value);

/** Null if it is no message of JSON-RPC. */
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

/** `id` is null if none could be read. */
export const errorJson = (id: RpcId | null, { why, message, data }: RpcError) => ({
  jsonrpc: "2.0",
  id,
  error: { code: CODES[why], message, ...(data !== undefined && { data }) },
});

// A request says itself which of the two protocols it speaks. Its headers must say the same as its body (COMMENTS 6): a proxy
// reads the headers, and the server must do what the proxy has read.

/** Versions without a handshake: each request has everything. */
const MODERN = "2026-07-28";
/** Versions with a handshake, newest first. */
const LEGACY = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;
export const STATELESS = [MODERN];

export type Era = "modern" | "legacy";

const VERSION = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
export const SERVER_INFO = "io.modelcontextprotocol/serverInfo";

interface Asked {
  method: string;
  params: Members;
}

/** The version that a handshake ends with. */
export const agreedVersion = (asked: unknown): string => LEGACY.find((version) => version === asked) ?? LEGACY[0];

const isLegacy = (version: unknown): boolean => LEGACY.some((one) => one === version);

function refuseUnknown(version: unknown): void {
  if (version === MODERN || isLegacy(version)) return;
  const data = { supported: [MODERN, ...LEGACY], requested: version };
  throw new RpcError("unsupported_version", `The protocol version ${String(version)} is not spoken here.`, 400, data);
}

const mismatch = (message: string): RpcError => new RpcError("header_mismatch", message);

/** The members that each request of the stateless protocol must have. */
function refuseIncomplete(params: Members): void {
  const meta = member(params, "_meta");
  const missing = isObject(meta)
    ? [VERSION, CAPABILITIES].filter((name) => member(meta, name) === undefined)
    : [`_meta with ${VERSION} and ${CAPABILITIES}`];
  if (missing.length > 0) throw new RpcError("invalid_params", `The request lacks ${missing.join(" and ")}.`);
  if (typeof member(meta, VERSION) !== "string" || !isObject(member(meta, CAPABILITIES))) {
    throw new RpcError("invalid_params", `${VERSION} is a string and ${CAPABILITIES} an object.`);
  }
}

const ENCODED = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/;

/** Undefined if it is not Base64 of UTF-8. */
function decoded(value: string): string | undefined {
  const [, base64] = ENCODED.exec(value) ?? [];
  if (base64 === undefined) return value.startsWith("=?base64?") ? undefined : value;
  const bytes = Buffer.from(base64, "base64");
  if (bytes.toString("base64") !== base64) return undefined;
  const text = bytes.toString();
  return text.includes("\ufffd") ? undefined : text;
}

function refuseOtherHeaders(headers: Headers, { method, params }: Asked): void {
  if (headers.get("mcp-protocol-version") === null) throw mismatch("The header MCP-Protocol-Version is missing.");
  const named = headers.get("mcp-method");
  if (named === null) throw mismatch("The header Mcp-Method is missing.");
  if (named.trim() !== method) throw mismatch(`The header Mcp-Method says ${named}, the body ${method}.`);
  if (method !== "tools/call") return;
  const name = headers.get("mcp-name");
  if (name === null) throw mismatch("The header Mcp-Name is missing.");
  if (decoded(name.trim()) !== member(params, "name")) throw mismatch(`The header Mcp-Name is not the body's name.`);
}

/** Throws `RpcError`. */
export function eraOf(headers: Headers, asked: Asked): Era {
  const header = headers.get("mcp-protocol-version")?.trim() ?? null;
  const claimed = member(member(asked.params, "_meta"), VERSION);
  if (header !== null) refuseUnknown(header);
  if (claimed !== undefined && typeof claimed === "string") refuseUnknown(claimed);
  if (header !== null && claimed !== undefined && header !== claimed) {
    throw mismatch(`The header MCP-Protocol-Version says ${header}, the body ${String(claimed)}.`);
  }
  if ((header ?? claimed) !== MODERN) return "legacy";
  if (asked.method === "initialize" && claimed === undefined) throw mismatch(`${MODERN} has no handshake.`);
  refuseIncomplete(asked.params);
  refuseOtherHeaders(headers, asked);
  return "modern";
}
