/** A row of a table and its description become a path of the document. */
import type { Method } from "../http/match.ts";
import type { Operation, Parameter } from "./operation.ts";
import { responsesOf } from "./responses.ts";
import { type Json, ref, type Schema } from "./schema.ts";
import { type Requirement, requirements } from "./security.ts";

/** What begins every row of a table. */
export type Row = readonly [method: Method, path: string, ...rest: unknown[]];

/** `/sites/:id` as OpenAPI writes it. */
export const templateOf = (path: string): string => path.replace(/:(\w+)/g, "{$1}");

const placeholders = (path: string): string[] => [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!);

const parameter = (place: "path" | "query" | "header", { name, description, schema, required }: Parameter): Json => ({
  name,
  in: place,
  description,
  required: required ?? false,
  schema,
});

function inPath(path: string, { path: described = {} }: Operation): Json[] {
  return placeholders(path).map((name) => {
    const schema: Schema = described[name] ?? ref("SiteId");
    const description = described[name] ? "Which one." : "Which site.";
    return parameter("path", { name, description, schema, required: true });
  });
}

/** An operation of the document. */
export type Told = {
  readonly tags: readonly string[];
  readonly security: readonly Requirement[];
  readonly [member: string]: Json;
};

/** `shared`: responses of errors, by name. */
export function operationOf([method, path]: Row, operation: Operation, shared: Map<string, Json>): Told {
  const { id, tag, summary, description, who, query = [], headers = [], body } = operation;
  const parameters = [
    ...inPath(path, operation),
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
    ...(body && { requestBody: body }),
    responses: responsesOf(method, operation, shared),
  };
}
