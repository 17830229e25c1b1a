/** A 404 with the site's own 404.html as its body: no validator, never cached, but with the same codings and tags. */
import { KEPT_HEADERS } from "../http/answers.ts";
import type { Exchange } from "../http/exchange.ts";
import type { Blobs } from "../store/serving.ts";
import type { Bodies } from "./bodies.ts";
import { fromDisk } from "./from-disk.ts";
import type { Body, Form } from "./kept.ts";
import { acceptedCodings } from "../http/negotiate.ts";
import { type Policy, policyHeaders } from "./policy.ts";
import { left } from "./respond.ts";

interface Parts {
  bodies: Bodies;
  blobs: Pick<Blobs, "open">;
}

export function ownNotFound(
  { bodies, blobs }: Parts,
  request: Request,
  page: Body,
  policy: Policy,
  exchange: Exchange,
): Response | Promise<Response> {
  const send = (form: Form): Response | Promise<Response> => {
    exchange.bytes = form.size;
    if (form.blob === null) {
      const init = initWith(page, form, policy);
      init.headers.set("x-request-id", exchange.request_id);
      return fromDisk(blobs, request, page.content, form, init, exchange.peer.crowded());
    }
    // A Response has a copy of the headers that it is made with: a third of what its own take to be set.
    const shared = ((form.missing ??= [])[policy.index] ??= initWith(page, form, policy));
    shared.headers.set("x-request-id", exchange.request_id);
    return new Response(form.blob, shared);
  };
  const accepted = acceptedCodings(request.headers.get("accept-encoding"));
  const form = bodies.ready(page, accepted);
  return form === undefined
    ? bodies.best(page, accepted, request.signal).then((made) => (made === null ? left() : send(made)))
    : send(form);
}

const initWith = (page: Body, { coding }: Form, policy: Policy) => ({
  status: 404,
  headers: new Headers({
    ...KEPT_HEADERS,
    "content-type": page.file.media_type,
    vary: "Accept-Encoding",
    ...(coding === "identity" ? {} : { "content-encoding": coding }),
    ...policyHeaders(policy),
  }),
});
