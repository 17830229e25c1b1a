/** `GET /openapi.json`: the rows of the API printed in the words of OpenAPI 3.1. A row becomes an operation with its
 *  credentials, answers and refusals; of the named shapes, headers and tags those are printed that something refers to. */
import { type ErrorCode, statusOf } from "../base/errors.ts";
import { KEPT_HEADERS } from "../http/answers.ts";
import { sessionCookieName } from "../http/context.ts";
import { siteUrl } from "../http/hosts.ts";
import { ELSEWHERE, MEANING } from "./codes.ts";
import { API, MCP, SITE_HOST } from "./index.ts";
import {
  type ApiRow,
  type ApiRows,
  HEADERS,
  headersOf,
  OF_ALL,
  OF_LIMITED,
  type Parameter,
  type RowContent,
  TAGS,
} from "./row.ts";
import type { Json, NamedShape, Schema } from "./shapes/builder.ts";
import {
  ACCOUNT,
  CHALLENGE,
  DEPLOY_TOKENS,
  DEVICE_CODE,
  DEVICE_TOKEN,
  LIMITS,
  NEW_DEPLOY_TOKEN,
  SESSIONS,
  SIGNED_IN,
  USAGE,
} from "./shapes/account.ts";
import {
  ANNOTATION,
  ANNOTATION_FILE,
  COLLECTION,
  COLLECTION_PAGE,
  CONTAINER,
  TEXT_QUOTE_SELECTOR,
} from "./shapes/annotations.ts";
import {
  AGENT_TOKENS,
  ANCHOR,
  AUTHOR,
  COMMENT,
  COMMENT_SETTINGS,
  NEW_AGENT_TOKEN,
  OWNER_CODE,
  QUEUE,
  THREAD,
  THREADS,
  THREADS_VIEW,
  VISITOR,
  WEBHOOK_DELIVERIES,
  WEBHOOK_DELIVERY,
} from "./shapes/comments.ts";
import {
  ACCOUNT_ID,
  ADDRESS,
  AGENT_TOKEN_ID,
  CARRIED,
  COMMENT_ID,
  DEPLOY_TOKEN_ID,
  ERROR,
  ERROR_CODE,
  NEXT_ACTION,
  REPORT_ID,
  SESSION_ID,
  SITE_ID,
  SLUG,
  TIME,
  VERSION_ID,
} from "./shapes/common.ts";
import {
  CHECKED,
  DEPLOY_RESULT,
  DRY_RUN,
  FILE_CHANGES,
  HEALED,
  LIVE_RENDER,
  PLAN,
  PREVIEW,
  PREVIEWS,
  RENDER,
  RENDER_WARNING,
  ROLLED_BACK,
  SHA256,
  SPA,
  WARNING,
} from "./shapes/deploys.ts";
import {
  ACCOUNT_SITES,
  ATTACHED,
  BULK_DELETED,
  CLAIMED,
  DELETED,
  DONE,
  EXPLAINED,
  REVOKED,
  ACCESS,
  ACCOUNT_DOMAINS,
  DOMAIN,
  DOMAIN_LIST,
  SETTINGS,
  STATISTICS,
  SITE,
  RECEIPT,
  VERSION,
} from "./shapes/sites.ts";
import { codesOf, type Requirement, requirements, schemesOf } from "./who.ts";

/** The settings of a server that the document depends on: its addresses, and whether it has the rows that an operator turns on. */
export interface Described {
  base_url: string;
  sites_domain: string;
  mcp: "on" | "off";
}

type JsonMembers = { [name: string]: Json };
const elsewhere = ELSEWHERE.map((code) => `\`${code}\` (${MEANING[code]})`).join(", ");

const DESCRIPTION = `Static sites: a zip in, a live URL out. The manual is at /docs.

A credential goes into \`Authorization: Bearer <token>\`; browsers have a cookie instead, and prove each write.

Errors are \`{error, code, request_id}\`, some with more: \`error\` says to a person what to do, \`code\` to a program what it is. \
To a browser (\`Accept\` has \`text/html\`) they are a page. Beside the codes of each call there are ${elsewhere}, and at \
addresses that are not here \`not_found\`.

Every GET answers HEAD too. Changes are additive: members, codes and values may join, so let be what you do not know.`;

/** Named shapes, in the order of the document. */
const SCHEMAS: Readonly<Record<string, Schema>> = Object.fromEntries(
  [
    DEPLOY_RESULT,
    DRY_RUN,
    FILE_CHANGES,
    CHECKED,
    HEALED,
    WARNING,
    RENDER_WARNING,
    RENDER,
    LIVE_RENDER,
    SPA,
    ROLLED_BACK,
    PREVIEW,
    PREVIEWS,
    PLAN,
    SHA256,
    SITE,
    VERSION,
    RECEIPT,
    CLAIMED,
    ATTACHED,
    ACCOUNT_SITES,
    DELETED,
    BULK_DELETED,
    REVOKED,
    DONE,
    EXPLAINED,
    ACCESS,
    DOMAIN,
    DOMAIN_LIST,
    ACCOUNT_DOMAINS,
    SETTINGS,
    STATISTICS,
    ACCOUNT,
    USAGE,
    SESSIONS,
    SIGNED_IN,
    DEVICE_CODE,
    DEVICE_TOKEN,
    LIMITS,
    CHALLENGE,
    NEW_DEPLOY_TOKEN,
    DEPLOY_TOKENS,
    COMMENT_SETTINGS,
    WEBHOOK_DELIVERY,
    WEBHOOK_DELIVERIES,
    OWNER_CODE,
    NEW_AGENT_TOKEN,
    AGENT_TOKENS,
    AUTHOR,
    CARRIED,
    ANCHOR,
    COMMENT,
    THREAD,
    THREADS,
    QUEUE,
    THREADS_VIEW,
    VISITOR,
    TEXT_QUOTE_SELECTOR,
    ANNOTATION,
    ANNOTATION_FILE,
    COLLECTION,
    COLLECTION_PAGE,
    CONTAINER,
    ERROR_CODE,
    ERROR,
    NEXT_ACTION,
    SITE_ID,
    ACCOUNT_ID,
    SESSION_ID,
    DEPLOY_TOKEN_ID,
    AGENT_TOKEN_ID,
    COMMENT_ID,
    REPORT_ID,
    VERSION_ID,
    SLUG,
    TIME,
    ADDRESS,
  ].map(({ name, definition }: NamedShape) => [name, definition()]),
);

export function openapi(config: Described): Json {
  const errors = new Map<string, Json>();
  const { paths, operations } = pathsOf(config, errors);
  const responses = Object.fromEntries(errors);
  const tags = only(TAGS, new Set(operations.flatMap((one) => one.tags)));
  const schemes = new Set(operations.flatMap(({ security }) => security.flatMap((any) => Object.keys(any))));
  return {
    openapi: "3.1.1",
    info: {
      title: "svc",
      version: KEPT_HEADERS["svc-version"],
      description: DESCRIPTION,
      license: { name: "MIT", identifier: "MIT" },
    },
    externalDocs: { url: "/docs/http-api", description: "The same in prose." },
    servers: [{ url: "/", description: "This server." }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: referred("schemas", SCHEMAS, paths, responses),
      responses,
      headers: referred("headers", HEADERS, paths, responses),
      securitySchemes: only(schemesOf(sessionCookieName(config.base_url)), schemes),
    },
  };
}

/** `errors`: collects the responses of refusals, by name. */
function pathsOf(config: Described, errors: Map<string, Json>) {
  const paths = new Map<string, JsonMembers>();
  const operations: Printed[] = [];
  const add = (rows: ApiRows, members: JsonMembers): void => {
    for (const [name, row] of Object.entries(rows)) {
      const [method, path] = name.split(" ") as [string, string];
      const printed = operationOf(method, path, row, errors);
      paths.getOrInsertComputed(templateOf(path), () => ({ ...members }))[method.toLowerCase()] = printed;
      operations.push(printed);
    }
  };
  const { [MCP]: mcp, ...others } = API;
  add(config.mcp === "on" ? API : others, {});
  const url = siteUrl(config, "{slug}");
  const variables = { slug: { default: "quiet-heron-7f3k", description: "The site's, from `slug` of its record." } };
  add(SITE_HOST, { servers: [{ url, description: "The site's own host.", variables }] });
  return { paths: Object.fromEntries(paths), operations };
}

/** `/sites/:id` as OpenAPI writes it. */
const templateOf = (path: string): string => path.replace(/:(\w+)/g, "{$1}");

const parameter = (place: "path" | "query" | "header", { name, description, shape, required }: Parameter): Json => ({
  name,
  in: place,
  description,
  required: required ?? false,
  schema: shape.schema(),
});

const pathParameters = (path: string, { path: described = {} }: ApiRow): Json[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => {
    const shape = described[name] ?? SITE_ID;
    return parameter("path", {
      name,
      description: described[name] ? "Which one." : "Which site.",
      shape,
      required: true,
    });
  });

const printedContent = (content: RowContent): JsonMembers =>
  Object.fromEntries(
    Object.entries(content).map(([type, { shape, ...rest }]) => [type, { schema: shape.schema(), ...rest }]),
  );

/** An operation of the document. */
type Printed = {
  readonly tags: readonly string[];
  readonly security: readonly Requirement[];
  readonly [member: string]: Json;
};

function operationOf(method: string, path: string, row: ApiRow, errors: Map<string, Json>): Printed {
  const { id, tag, summary, description, who, query = [], headers = [], body } = row;
  const parameters = [
    ...pathParameters(path, row),
    ...query.map((one) => parameter("query", one)),
    ...headers.map((one) => parameter("header", one)),
  ];
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    security: requirements(method, who),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { ...body, content: printedContent(body.content) } }),
    responses: responsesOf(method, row, errors),
  };
}

const WAITS: ReadonlySet<number> = new Set([429, 503, 507]);

function headersOfError(status: number): readonly string[] {
  if (status === 401) return [...OF_ALL, "WWW-Authenticate"];
  if (status === 429) return [...OF_ALL, "Retry-After", ...OF_LIMITED];
  return WAITS.has(status) ? [...OF_ALL, "Retry-After"] : OF_ALL;
}

/** Calls that are refused with the same share a response; its name says with what. */
const responseName = (status: number, codes: readonly ErrorCode[]): string => [status, ...codes].join(".");

function errorResponse(status: number, codes: readonly ErrorCode[]): Json {
  const code: Schema = codes.length === 1 ? { const: codes[0]! } : { enum: codes };
  return {
    description: codes.map((one) => `\`${one}\`: ${MEANING[one]}.`).join(" "),
    headers: headersOf(headersOfError(status)),
    content: {
      "application/json": {
        schema: { allOf: [ERROR.schema(), { type: "object", properties: { code }, required: ["code"] }] },
      },
    },
  };
}

function byStatus(codes: readonly ErrorCode[]): Map<number, ErrorCode[]> {
  const found = new Map<number, ErrorCode[]>();
  for (const code of codes) found.getOrInsertComputed(statusOf(code), () => []).push(code);
  return found;
}

function responsesOf(method: string, row: ApiRow, errors: Map<string, Json>): JsonMembers {
  const codes = codesOf(method, row);
  const limited = codes.includes("rate_limited");
  const responses: JsonMembers = {};
  for (const [status, { description, content, headers = [] }] of Object.entries(row.answers)) {
    const names = [...OF_ALL, ...headers, ...(limited && status < "300" ? OF_LIMITED : [])];
    responses[status] = {
      description,
      headers: headersOf(names),
      ...(content && { content: printedContent(content) }),
    };
  }
  for (const [status, ofStatus] of byStatus(codes)) {
    const name = responseName(status, ofStatus);
    errors.getOrInsertComputed(name, () => errorResponse(status, ofStatus));
    responses[String(status)] = { $ref: `#/components/responses/${name}` };
  }
  return responses;
}

/** All that `json` names by `$ref`. */
function namesIn(json: Json, found = new Set<string>()): Set<string> {
  if (typeof json !== "object" || json === null) return found;
  for (const [member, value] of Object.entries(json)) {
    if (member === "$ref") found.add(value as string);
    else namesIn(value as Json, found);
  }
  return found;
}

/** The entries of `all` that something names, in their own order. */
function referred(kind: string, all: Readonly<Record<string, Json>>, ...from: readonly Json[]): JsonMembers {
  const refs = namesIn(from as Json);
  const prefix = `#/components/${kind}/`;
  for (let size = -1; size !== refs.size;) {
    size = refs.size;
    for (const [name, json] of Object.entries(all)) if (refs.has(prefix + name)) namesIn(json, refs);
  }
  return Object.fromEntries(Object.entries(all).filter(([name]) => refs.has(prefix + name)));
}

const only = (all: Readonly<Record<string, Json>>, names: ReadonlySet<string>): JsonMembers =>
  Object.fromEntries(Object.entries(all).filter(([name]) => names.has(name)));
