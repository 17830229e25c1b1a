/** A 404 with the site's own 404.html as its body: no validator, never cached, but with the same codings and tags. */
import { KEPT_HEADERS } from "../http/answers.ts";
import type { Exchange } from "../http/exchange.ts";
import type { Bodies } from "./bodies.ts";
import type { Body, Form, UnmatchedAnswer } from "./kept.ts";
import { acceptedCodings } from "../http/negotiate.ts";
import { type Policy, robotsHeader } from "./policy.ts";
import { keptResponse } from "./prebuilt.ts";

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
    const response = keptResponse(answer, policy, form, () => notFoundWith(page, form, policy));
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
      ...KEPT_HEADERS,
      "content-type": page.file.media_type,
      vary: "Accept-Encoding",
      ...(coding === "identity" ? {} : { "content-encoding": coding }),
      ...robotsHeader(policy),
      ...(policy.csp === null ? {} : { "content-security-policy": policy.csp }),
    },
  });
