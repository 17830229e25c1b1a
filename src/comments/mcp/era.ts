/** Which of the two protocols a request speaks, by what it says of itself, and whether its headers say the same as its body
 *  (COMMENTS 6): what stands between reads the headers, and must not read something else than is done. */
import { isObject, type Members, member, RpcError } from "./rpc.ts";

/** Stateless: each request says all of itself. */
const MODERN = "2026-07-28";
/** With a handshake, newest first. */
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

/** What is agreed on in a handshake. */
export const agreedVersion = (asked: unknown): string => LEGACY.find((version) => version === asked) ?? LEGACY[0];

const isLegacy = (version: unknown): boolean => LEGACY.some((one) => one === version);

function refuseUnknown(version: unknown): void {
  if (version === MODERN || isLegacy(version)) return;
  const data = { supported: [MODERN, ...LEGACY], requested: version };
  throw new RpcError("unsupported_version", `The protocol version ${String(version)} is not spoken here.`, 400, data);
}

const mismatch = (message: string): RpcError => new RpcError("header_mismatch", message);

/** What each request of the stateless protocol says of itself. */
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

/** Undefined for what is no Base64 of UTF-8. */
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
