/**
 * `GET /openapi.json`: the API in the words of OpenAPI 3.1. A row of a table (method, path) finds its description in
 * routes/ under its name; paths.ts makes an operation of the two, with the answers of responses.ts and the credentials of
 * security.ts; schemas/ has the bodies, of which those are told that something names. What no row answers is not told.
 */
import { KEPT_HEADERS } from "../http/answers.ts";
import { sessionCookieName } from "../http/cookies.ts";
import { siteUrl } from "../http/hosts.ts";
import { ELSEWHERE, MEANING } from "./codes.ts";
import { HEADERS } from "./headers.ts";
import { type RouteName, TAGS } from "./operation.ts";
import { operationOf, type Row, templateOf, type Told } from "./paths.ts";
import { OPERATIONS } from "./routes/index.ts";
import type { Json } from "./schema.ts";
import { SCHEMAS } from "./schemas/index.ts";
import { schemesOf } from "./security.ts";

export interface Described {
  /** Of the API's own host. */
  rows: readonly Row[];
  /** Of a site's host. */
  site_rows: readonly Row[];
  config: { base_url: string; sites_domain: string };
}

type Members = { [name: string]: Json };

const elsewhere = ELSEWHERE.map((code) => `\`${code}\` (${MEANING[code]})`).join(", ");

const DESCRIPTION = `Static sites: a zip in, a live URL out. The manual is at /docs.

A credential goes into \`Authorization: Bearer <token>\`; browsers have a cookie instead, and prove each write.

Errors are \`{error, code, request_id}\`, some with more: \`error\` says to a person what to do, \`code\` to a program what it is. \
To a browser (\`Accept\` has \`text/html\`) they are a page. Beside the codes of each call there are ${elsewhere}, and at \
addresses that are not here \`not_found\`.

Every GET answers HEAD too. Changes are additive: members, codes and values may join, so let be what you do not know.`;

const nameOf = ([method, path]: Row) => `${method} ${path}` as RouteName;

function pathsOf({ rows, site_rows, config }: Described, shared: Map<string, Json>) {
  const paths = new Map<string, Members>();
  const operations: Told[] = [];
  const add = (row: Row, servers: Members): void => {
    const operation = OPERATIONS[nameOf(row)];
    if (operation === undefined) return; // a page, or what pages load
    const path = paths.getOrInsertComputed(templateOf(row[1]), () => ({ ...servers }));
    const told = operationOf(row, operation, shared);
    path[row[0].toLowerCase()] = told;
    operations.push(told);
  };
  for (const row of rows) add(row, {});
  const url = siteUrl(config, "{slug}");
  const variables = { slug: { default: "quiet-heron-7f3k", description: "The site's, from `slug` of its record." } };
  for (const row of site_rows) add(row, { servers: [{ url, description: "The site's own host.", variables }] });
  return { paths: Object.fromEntries(paths), operations };
}

/** What `json` names by `$ref`. */
function namesIn(json: Json, found = new Set<string>()): Set<string> {
  if (typeof json !== "object" || json === null) return found;
  for (const [member, value] of Object.entries(json)) {
    if (member === "$ref") found.add(value as string);
    else namesIn(value as Json, found);
  }
  return found;
}

/** Those of `all` that something names, in their own order. */
function named(kind: string, all: Readonly<Record<string, Json>>, ...from: readonly Json[]): Members {
  const refs = namesIn(from as Json);
  const prefix = `#/components/${kind}/`;
  for (let size = -1; size !== refs.size;) {
    size = refs.size;
    for (const [name, json] of Object.entries(all)) if (refs.has(prefix + name)) namesIn(json, refs);
  }
  return Object.fromEntries(Object.entries(all).filter(([name]) => refs.has(prefix + name)));
}

const only = (all: Readonly<Record<string, Json>>, names: ReadonlySet<string>): Members =>
  Object.fromEntries(Object.entries(all).filter(([name]) => names.has(name)));

export function openapi(described: Described): Json {
  const shared = new Map<string, Json>();
  const { paths, operations } = pathsOf(described, shared);
  const responses = Object.fromEntries(shared);
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
      schemas: named("schemas", SCHEMAS, paths, responses),
      responses,
      headers: named("headers", HEADERS, paths, responses),
      securitySchemes: only(schemesOf(sessionCookieName(described.config.base_url)), schemes),
    },
  };
}
