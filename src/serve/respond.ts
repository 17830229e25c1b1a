/** A file's answer to one request: 412, 304, a range, or the whole body in the coding that was agreed on. */
import type { Exchange } from "../http/exchange.ts";
import type { Blobs } from "../store/serving.ts";
import { type Bodies, prefersIdentity } from "./bodies.ts";
import type { Budget } from "./budget.ts";
import { type ByteRange, ifMatch, ifNoneMatch, parseRange } from "../http/conditional.ts";
import { fromDisk } from "./from-disk.ts";
import { acceptedCodings, type Coding, IDENTITY_ONLY } from "../http/codings.ts";
import type { FileAnswer, Form } from "./kept.ts";
import type { Policy } from "./policy.ts";
import { unchanged, whole, wholeHeaders, wholeInit } from "./prebuilt.ts";
import { preconditionFailed, rangeNotSatisfiable } from "./refusals.ts";

export type Respond = (
  request: Request,
  answer: FileAnswer,
  policy: Policy,
  exchange: Exchange,
) => Response | Promise<Response>;

/** What an answer is made with. */
interface Parts {
  blobs: Pick<Blobs, "open">;
  budget: Pick<Budget, "keep">;
}

export function createRespond(bodies: Bodies, parts: Parts): Respond {
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

/** Nobody reads it: for the log and the figures, by the number that nginx has for it. */
export const left = (): Response => new Response(null, { status: 499 });

function send(
  { blobs, budget }: Parts,
  request: Request,
  answer: FileAnswer,
  form: Form,
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

/** The part to send, or null for the whole. Ranges are of the body as it goes out without a coding: what goes out so only
 *  because its coding is not made yet goes out whole, for the same tag stands for the coded body. */
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

/** The entity tag is shared by the codings of a type, so there it is no promise of the same bytes. */
const sameBody = (validator: string | null, answer: FileAnswer): boolean =>
  validator === null || (!answer.body.coded && validator === answer.etag);
