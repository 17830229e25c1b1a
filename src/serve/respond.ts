/** Makes the response of a file to one request: 412, 304, a range, or the whole body in the coding that was agreed on; and
 *  the 404 with the site's own page. */

import type { Bytes } from "../base/types.ts";
import { KEPT_HEADERS } from "../http/answers.ts";
import { type ByteRange, ifMatch, ifNoneMatch, parseRange } from "../http/conditional.ts";
import type { Exchange } from "../http/exchange.ts";
import { acceptedCodings, type Coding, IDENTITY_ONLY } from "../http/codings.ts";
import type { Blobs } from "../store/serving.ts";
import { type Bodies, prefersIdentity } from "./bodies.ts";
import { edited, namedByBun, unchanged, whole, wholeHeaders, wholeInit } from "./file-headers.ts";
import type {
  ByteBudgetCache,
  EncodedBody,
  FileAnswer,
  FileContent,
  HeaderEdits,
  Inserted,
  PageBody,
  UnmatchedAnswer,
} from "./cache.ts";
import { type Policy, policyHeaders } from "./policy.ts";
import { preconditionFailed, rangeNotSatisfiable } from "./refusals.ts";

export type Respond = (
  request: Request,
  answer: FileAnswer,
  policy: Policy,
  exchange: Exchange,
) => Response | Promise<Response>;

/** Parts that a response is made with. */
interface RespondParts {
  blobs: Pick<Blobs, "open">;
  budget: Pick<ByteBudgetCache, "keep">;
}

export function createRespond(bodies: Bodies, parts: RespondParts): Respond {
  return (request, answer, policy, exchange) => {
    const { headers } = request;
    // In the order of RFC 9110, 13.2.2.
    const expected = headers.get("if-match");
    if (expected !== null && !ifMatch(expected, answer.etag)) throw preconditionFailed(policy);
    const held = headers.get("if-none-match");
    if (held !== null && ifNoneMatch(held, answer.etag)) return unchanged(parts.budget, answer, policy);
    const accepted = answer.body.coded ? acceptedCodings(headers.get("accept-encoding")) : IDENTITY_ONLY;
    const form = bodies.ready(answer.body, accepted);
    if (form !== undefined) return send(parts, request, answer, form, policy, exchange, accepted);
    return bodies
      .best(answer.body, accepted, request.signal)
      .then((made) => (made === null ? left() : send(parts, request, answer, made, policy, exchange, accepted)));
  };
}

/** The answer to a client that left. It is for the log and the figures only; the number is nginx's. */
const left = (): Response => new Response(null, { status: 499 });

function send(
  { blobs, budget }: RespondParts,
  request: Request,
  answer: FileAnswer,
  form: EncodedBody,
  policy: Policy,
  exchange: Exchange,
  accepted: readonly Coding[],
): Response | Promise<Response> {
  const { size } = form;
  const part = form.coding === "identity" ? wantedPart(request, answer, size, policy, accepted) : null;
  exchange.bytes = part === null ? size : part.last - part.first + 1;
  if (part === null) {
    if (form.blob !== null) return whole(budget, answer, policy, form);
    return fromDisk(
      blobs,
      request,
      answer.body.content,
      form,
      wholeInit(budget, answer, policy),
      exchange.peer.crowded(),
    );
  }
  const headers = wholeHeaders(answer, policy, form.coding);
  headers.set("content-range", `bytes ${part.first}-${part.last}/${size}`);
  const init = { status: 206, headers };
  if (form.blob === null)
    return fromDisk(blobs, request, answer.body.content, form, init, exchange.peer.crowded(), part);
  return new Response(form.blob.slice(part.first, part.last + 1), init);
}

/** The part to send, or null for the whole. Ranges count bytes of the body without a coding. If that body is sent only
 *  because its coding is not made yet, it is sent whole, because the coded body has the same entity tag. */
function wantedPart(
  request: Request,
  answer: FileAnswer,
  size: number,
  policy: Policy,
  accepted: readonly Coding[],
): ByteRange | null {
  const range = request.headers.get("range");
  if (range === null || request.method !== "GET" || !sameBody(request.headers.get("if-range"), answer)) return null;
  if (!prefersIdentity(answer.body, accepted)) return null;
  const part = parseRange(range, size);
  if (part !== "unsatisfiable") return part;
  throw rangeNotSatisfiable(size, policy);
}

/** True if If-Range names these very bytes. All codings of a file share one entity tag, so it promises nothing for a type
 *  that is coded. */
const sameBody = (validator: string | null, answer: FileAnswer): boolean =>
  validator === null || (!answer.body.coded && validator === answer.etag);

interface NotFoundParts {
  bodies: Bodies;
  blobs: Pick<Blobs, "open">;
}

/** A 404 with the site's own 404.html as its body: without validators and never cached, but with the same codings and tags
 *  as a page. */
export function ownNotFound(
  { bodies, blobs }: NotFoundParts,
  request: Request,
  answer: UnmatchedAnswer,
  policy: Policy,
  exchange: Exchange,
): Response | Promise<Response> {
  const page = answer.page!;
  const send = (form: EncodedBody): Response | Promise<Response> => {
    exchange.bytes = form.size;
    if (form.blob === null || !isShared(page, answer)) {
      const init = notFoundInit(page, form, policy, answer.edits);
      init.headers.set("x-request-id", exchange.request_id);
      if (form.blob !== null) return new Response(form.blob, init);
      return fromDisk(blobs, request, page.content, form, init, exchange.peer.crowded());
    }
    // A Response copies the headers that it is made with, which takes a third of the time of setting them one by one.
    const shared = ((form.missing ??= [])[policy.index] ??= notFoundInit(page, form, policy, null));
    shared.headers.set("x-request-id", exchange.request_id);
    return new Response(form.blob, shared);
  };
  const accepted = acceptedCodings(request.headers.get("accept-encoding"));
  const form = bodies.ready(page, accepted);
  return form === undefined
    ? bodies.best(page, accepted, request.signal).then((made) => (made === null ? left() : send(made)))
    : send(form);
}

/** True if all paths without a file get the same response: the page belongs to its version and no `_headers` change it. */
const isShared = ({ content }: PageBody, { edits }: UnmatchedAnswer): boolean =>
  content.page_of !== null && edits === null;

function notFoundInit(page: PageBody, { coding }: EncodedBody, policy: Policy, edits: HeaderEdits | null) {
  const { media_type } = page.file;
  const headers = new Headers({
    ...KEPT_HEADERS,
    "content-type": media_type,
    vary: "Accept-Encoding",
    ...(namedByBun(media_type) && { "content-disposition": "inline" }),
    ...(coding === "identity" ? {} : { "content-encoding": coding }),
    ...policyHeaders(policy),
  });
  return { status: 404, headers: edited(headers, edits, { policy, media_type, status: "missing", linked: false }) };
}

type OpensBlobs = Pick<Blobs, "open">;

/** Sends a body that is too large for memory from the disk: a file by `sendfile`, a page in pieces with its tags in between.
 *  Bun's own Range handling is kept out of it: its 416 is cacheable and empty, and it knows neither our entity tags nor
 *  `If-Range` rules. It answers a Range of a whole file, and leaves a slice alone: so a whole file goes out as a slice that
 *  ends one byte after it (BUN 2).
 *  The answer comes at once if the file's hash is known already. `part` is null for the whole body. If the server is `crowded`,
 *  no answer may keep a descriptor or much memory, so a file goes in pieces too. */
function fromDisk(
  blobs: OpensBlobs,
  { method }: Request,
  content: FileContent,
  form: EncodedBody,
  init: { status?: number; headers: Headers },
  crowded: boolean,
  part: ByteRange | null = null,
): Response | Promise<Response> {
  const respond = (file: Bun.BunFile): Response => {
    if (method === "HEAD") return headOnly(init, form.size);
    if (content.page_of === null && !crowded) return new Response(sliceOf(file, form.size, part), init);
    const range = part ?? { first: 0, last: form.size - 1 };
    return new Response(pieces(file, form, range, crowded ? SMALL_PIECE : PIECE), init);
  };
  // For HEAD too: Bun would answer 200 for a file that is not there.
  const file = blobs.open(content.stored);
  return file instanceof Promise ? file.then(respond) : respond(file);
}

/** The answer to HEAD, always for the whole body: HEAD has no ranges. */
function headOnly(init: { status?: number; headers: Headers }, size: number): Response {
  const headers = new Headers(init.headers);
  headers.set("content-length", String(size));
  return new Response(null, { ...init, headers });
}

const sliceOf = (file: Bun.BunFile, size: number, part: ByteRange | null): Blob =>
  part === null ? file.slice(0, size + 1) : file.slice(part.first, part.last + 1);

/** The bytes that a slow reader of a page holds in memory. */
const PIECE = 64 * 1024;
const SMALL_PIECE = 16 * 1024;

/** Bun sends a stream in chunks, without its length. A file that was cut short meanwhile breaks the connection. */
function pieces(
  file: Bun.BunFile,
  { inserted }: EncodedBody,
  { first, last }: ByteRange,
  most: number,
): ReadableStream {
  let next = first;
  const pull = async (controller: ReadableStreamDefaultController) => {
    if (next > last) return controller.close();
    const piece = await pieceAt(file, inserted, next, Math.min(last + 1, next + most));
    if (piece.byteLength === 0) throw new Error(`the stored file ends ${last + 1 - next} bytes too early`);
    next += piece.byteLength;
    controller.enqueue(piece);
  };
  return new ReadableStream({ pull }, { highWaterMark: 0 });
}

/** Some bytes from `from` on, at most up to `to`, of the file or of an inserted tag. */
async function pieceAt(file: Bun.BunFile, inserted: readonly Inserted[], from: number, to: number): Promise<Bytes> {
  let before = 0;
  for (const { at, bytes } of inserted) {
    const begins = at + before;
    if (from < begins) return file.slice(from - before, Math.min(to, begins) - before).bytes();
    const ends = begins + bytes.byteLength;
    if (from < ends) return bytes.subarray(from - begins, to - begins);
    before += bytes.byteLength;
  }
  return file.slice(from - before, to - before).bytes();
}
