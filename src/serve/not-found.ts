/** A 404 with the site's own 404.html as its body: no validator, never cached, but with the same codings and tags. */
import { API_DATE, type Exchange } from "../http/exchange.ts";
import { kept, type UnmatchedAnswer } from "./responses.ts";
import type { Bodies, Body, Form } from "./bodies.ts";
import { acceptedCodings } from "../http/negotiate.ts";
import { type Policy, robotsHeader } from "./policy.ts";

export function ownNotFound(
  bodies: Bodies,
  request: Request,
  answer: UnmatchedAnswer,
  page: Body,
  policy: Policy,
  exchange: Exchange,
): Response | Promise<Response> {
  const send = (form: Form): Response => {
    if (request.method === "GET") exchange.bytes = form.blob!.size;
    const response = kept(answer, policy, form, () => notFoundWith(page, form, policy));
    response.headers.set("x-request-id", exchange.request_id);
    return response;
  };
  const accepted = acceptedCodings(request.headers.get("accept-encoding"));
  const form = bodies.ready(page, accepted);
  return form === undefined ? bodies.best(page, accepted).then(send) : send(form);
}

const notFoundWith = (page: Body, { coding, blob }: Form, policy: Policy): Response =>
  new Response(blob, {
    status: 404,
    headers: {
      "content-type": page.file.media_type,
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "svc-version": API_DATE,
      vary: "Accept-Encoding",
      ...(coding === "identity" ? {} : { "content-encoding": coding }),
      ...robotsHeader(policy),
      ...(policy.csp === null ? {} : { "content-security-policy": policy.csp }),
    },
  });
