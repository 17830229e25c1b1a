/** A file of the service's own (script, style, picture, document), answered with its ETag, its coding and 304. */
import { Refusal } from "../base/errors.ts";
import type { Bytes } from "../base/types.ts";
import { KEPT_HEADERS } from "./answers.ts";
import { acceptedCodings, type Code, type Coding, type Compression } from "./codings.ts";
import { type ByteRange, ifNoneMatch, parseRange } from "./conditional.ts";
import type { RequestContext } from "./context.ts";

interface OwnFile {
  content: string | Uint8Array;
  type: string;
  /** `forever`: the address has the content's hash. `checked`: asked for again each time, and sent only if it changed. */
  kept: "forever" | "checked";
  /** False for what is small, or coded in itself. */
  codable?: boolean;
  /** The name under which a browser saves it: it is served in ranges, too. */
  download?: string;
}

export type AnswerOwnFile = (context: Pick<RequestContext, "request" | "exchange">, code: Code) => Promise<Response>;

const bytesOf = (content: string | Uint8Array): Bytes =>
  typeof content === "string" ? new TextEncoder().encode(content) : new Uint8Array(content);

/** The first `digits` hexadecimal digits of the content's SHA-256. */
export const contentHash = (content: string | Uint8Array, digits: number): string =>
  new Bun.CryptoHasher("sha256").update(content).digest("hex").slice(0, digits);

export function ownFile({ content, type, kept, codable = true, download }: OwnFile): AnswerOwnFile {
  const plain = bytesOf(content);
  const inCoding = codedOnce(plain);
  const hash = kept === "checked" ? contentHash(plain, 16) : null;
  const cache_control = kept === "checked" ? "no-cache" : "public, max-age=31536000, immutable";
  return async ({ request, exchange }, code) => {
    const wanted = codable ? acceptedCodings(request.headers.get("accept-encoding"))[0]! : "identity";
    const { coding, bytes } = await inCoding(wanted, code);
    const etag = hash && `"${codable ? `${hash}-${coding}` : hash}"`;
    const headers = {
      ...KEPT_HEADERS,
      "cache-control": cache_control,
      "x-request-id": exchange.request_id,
      ...(codable && { vary: "Accept-Encoding" }),
      ...(etag && { etag }),
      ...(download !== undefined && {
        "content-disposition": `attachment; filename="${download}"`,
        "accept-ranges": "bytes",
      }),
    };
    const known = request.headers.get("if-none-match");
    if (etag && known !== null && ifNoneMatch(known, etag)) return new Response(null, { status: 304, headers });
    const part = download === undefined ? null : wantedPart(request, etag, bytes.length);
    if (part !== null) {
      exchange.bytes = part.last + 1 - part.first;
      const range = { "content-type": type, "content-range": `bytes ${part.first}-${part.last}/${bytes.length}` };
      return new Response(bytes.subarray(part.first, part.last + 1), {
        status: 206,
        headers: { ...headers, ...range },
      });
    }
    exchange.bytes = bytes.length;
    const encoded = coding !== "identity" && { "content-encoding": coding };
    return new Response(bytes, { headers: { ...headers, "content-type": type, ...encoded } });
  };
}

/** The one range that was asked for, if the file is still the one that If-Range names. */
function wantedPart({ method, headers }: Request, etag: string | null, size: number): ByteRange | null {
  const [range, of] = [headers.get("range"), headers.get("if-range")];
  if (range === null || method !== "GET" || (of !== null && of !== etag)) return null;
  const part = parseRange(range, size);
  if (part !== "unsatisfiable") return part;
  throw new Refusal(
    "range_not_satisfiable",
    `The file has ${size} bytes: ask for a range that begins before its end.`,
    { size },
    { "content-range": `bytes */${size}` },
  );
}

interface Coded {
  coding: Coding;
  bytes: Bytes;
}

/** Codes the bytes once for each coding, when it is first asked for. A coding that cannot be had now is tried again by the
 *  next request. */
function codedOnce(plain: Bytes): (coding: Coding, code: Code) => Promise<Coded> {
  const identity: Coded = { coding: "identity", bytes: plain };
  const made = new Map<Coding, Promise<Coded>>([["identity", Promise.resolve(identity)]]);
  async function make(coding: Compression, code: Code): Promise<Coded> {
    const bytes = await code(plain, coding, "small");
    if (bytes === undefined) made.delete(coding);
    return bytes ? { coding, bytes } : identity;
  }
  return (coding, code) => made.getOrInsertComputed(coding, () => make(coding as Compression, code));
}
