/** The contract of the API: rows with method, path, who may call, body, answers and codes. Handlers join in src/routes, which lets in whom a row names;
 *  document.ts prints the rows as `/openapi.json`; shapes/ has the bodies, of which the CLI takes what it reads. */
import { ACCOUNT_ROWS } from "./account.ts";
import { COMMENT_ROWS } from "./comments.ts";
import { ok, type ApiRows } from "./row.ts";
import { LIMITS } from "./shapes/account.ts";
import { boolean, custom, object } from "./shapes/builder.ts";
import { SITE_ROWS } from "./sites.ts";
import { VERSION_ROWS } from "./versions.ts";
export { SITE_HOST } from "./site-host.ts";

const SERVER = {
  "GET /healthz": {
    id: "health",
    tag: "Server",
    summary: "Whether the server answers",
    description: "On every host, so that a load balancer can ask by address.",
    who: "no_one",
    answers: ok("It does.", object({ ok: boolean("True.") }), { ok: true }),
    codes: [],
  },
  "GET /limits": {
    id: "readLimits",
    tag: "Server",
    summary: "How large a deploy may be",
    who: "no_one",
    answers: ok("The limits of this server.", LIMITS, {
      max_files: 200,
      max_bytes: 10_485_760,
      max_zip_bytes: 5_242_880,
      anonymous_ttl_ms: 1_209_600_000,
    }),
    codes: [],
  },
} satisfies ApiRows;

const DESCRIPTION = {
  "GET /openapi.json": {
    id: "readDescription",
    tag: "Server",
    summary: "This description",
    who: "no_one",
    answers: {
      200: {
        description: "OpenAPI 3.1.",
        content: { "application/json": { shape: custom({ type: "object" }) } },
        headers: ["ETag"],
      },
      304: { description: "It is what If-None-Match names.", headers: ["ETag"] },
    },
    codes: [],
  },
} satisfies ApiRows;

/** All rows of the API, in the order of SPEC. */
export const API = { ...SERVER, ...SITE_ROWS, ...VERSION_ROWS, ...ACCOUNT_ROWS, ...COMMENT_ROWS, ...DESCRIPTION };

/** The row that an operator turns on (COMMENTS 6). */
export const MCP = "POST /sites/:id/comments/mcp" satisfies keyof typeof API;
