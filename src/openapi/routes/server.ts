/** What the server says of itself. */
import { ok, type Operations } from "../operation.ts";
import { flag, object, ref } from "../schema.ts";

export const SERVER: Operations = {
  "GET /healthz": {
    id: "health",
    tag: "Server",
    summary: "Whether the server answers",
    description: "On every host, so that a load balancer can ask by address.",
    who: "no_one",
    answers: ok("It does.", object({ ok: flag("True.") }), { ok: true }),
  },
  "GET /limits": {
    id: "readLimits",
    tag: "Server",
    summary: "How large a deploy may be",
    who: "no_one",
    answers: ok("The limits of this server.", ref("Limits"), {
      max_files: 200,
      max_bytes: 10_485_760,
      max_zip_bytes: 5_242_880,
      anonymous_ttl_ms: 1_209_600_000,
    }),
  },
  "GET /openapi.json": {
    id: "readDescription",
    tag: "Server",
    summary: "This description",
    who: "no_one",
    answers: {
      200: {
        description: "OpenAPI 3.1.",
        content: { "application/json": { schema: { type: "object" } } },
        headers: ["ETag"],
      },
      304: { description: "It is what If-None-Match names.", headers: ["ETag"] },
    },
  },
};
