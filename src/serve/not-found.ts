/** A 404 with the site's own 404.html as its body: no validator, never cached, but with the same codings and tags. */
import { KEPT_HEADERS } from "../http/answers.ts";
import type { Exchange } from "../http/exchange.ts";
import type { Blobs } from "../store/serving.ts";
import type { Bodies } from "./bodies.ts";
import { fromDisk } from "./from-disk.ts";
import { edited } from "./edits.ts";
import type { Body, Form, HeaderEdits, UnmatchedAnswer } from "./kept.ts";
import { acceptedCodings } from "../http/codings.ts";
import { namedByBun } from "./prebuilt.ts";
import { type Policy, policyHeaders } from "./policy.ts";
import { left } from "./respond.ts";

interface Parts {
  bodies: Bodies;
  blobs: Pick<Blobs, "open">;
}

export function ownNotFound(
  { bodies, blobs }: Parts,
  request: Request,
  answer: UnmatchedAnswer,
  policy: Policy,
  exchange: Exchange,
): Response | Promise<Response> {
  const page = answer.page!;
  const send = (form: Form): Response | Promise<Response> => {
    exchange.bytes = form.size;
    if (form.blob === null || !isShared(page, answer)) {
      const init = initWith(page, form, policy, answer.edits);
      init.headers.set("x-request-id", exchange.request_id);
      if (form.blob !== null) return new Response(form.blob, init);
      return fromDisk(blobs, request, page.content, form, init, exchange.peer.crowded());
    }
    // A Response has a copy of the headers that it is made with: a third of what its own take to be set.
    const shared = ((form.missing ??= [])[policy.index] ??= initWith(page, form, policy, null));
    shared.headers.set("x-request-id", exchange.request_id);
    return new Response(form.blob, shared);
  };
  const accepted = acceptedCodings(request.headers.get("accept-encoding"));
  const form = bodies.ready(page, accepted);
  return form === undefined
    ? bodies.best(page, accepted, request.signal).then((made) => (made === null ? left() : send(made)))
    : send(form);
}

/** A page belongs to its version, and all paths without a file get the same. */
const isShared = ({ content }: Body, { edits }: UnmatchedAnswer): boolean => content.page_of !== null && edits === null;

function initWith(page: Body, { coding }: Form, policy: Policy, edits: HeaderEdits | null) {
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
