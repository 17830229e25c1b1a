/** The document that a server tells of itself, as a contract: each answer is held against what is said of its call. The
 *  validator comes from test/tools. */
import { join } from "node:path";
import { ROOT } from "../../scripts/run.ts";

const TOOLS = join(ROOT, "test", "tools", "node_modules");

// `any`: JSON whose shape is what the tests are about.
export type Json = any;

/** What is used of ajv: the types are not there before test/tools is installed. */
interface Ajv {
  addSchema(schema: object, name: string): void;
  getSchema(address: string): ((value: unknown) => boolean) & { errors?: object[] | null };
  errorsText(errors?: object[] | null): string;
}
const { default: Ajv2020 } = (await import(join(TOOLS, "ajv", "dist", "2020.js"))) as {
  default: new (options: object) => Ajv;
};
const { default: addFormats } = (await import(join(TOOLS, "ajv-formats", "dist", "index.js"))) as {
  default: (ajv: Ajv) => void;
};

/** Every object has the members that are named, and no other: what is added to a body must be described. Of `allOf` one
 *  part names all members, and the others say more of some. */
function closed(schema: Json, part = false): Json {
  if (Array.isArray(schema)) return schema.map((one) => closed(one, part));
  if (typeof schema !== "object" || schema === null) return schema;
  const members = Object.entries(schema).map(([name, value]) => [name, closed(value, name === "allOf")]);
  const types = [schema.type].flat();
  const open = part || !types.includes("object") || typeof schema.properties !== "object";
  return { ...Object.fromEntries(members), ...(!open && { additionalProperties: false }) };
}

export interface Call {
  /** Of the API, or of a site. */
  host: "api" | "site";
  method: string;
  /** With its query. */
  path: string;
}
export interface Answered {
  status: number;
  headers: Headers;
  text: string;
}

const escaped = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");
const addressOf = (...names: string[]): string =>
  `api#/${names.map((name) => encodeURIComponent(escaped(name))).join("/")}`;

/** `/sites/{id}` as a pattern; the more of it is fixed, the sooner it is asked. */
function patternOf(template: string): { pattern: RegExp; fixed: number } {
  const text = template
    .replaceAll(".", "\\.")
    .replace(/\{page\}/, ".+")
    .replace(/\{domain\}/, "[A-Za-z0-9._~%-]{1,1000}")
    .replace(/\{\w+\}/g, "[A-Za-z0-9_-]{1,64}");
  return { pattern: new RegExp(`^${text}$`), fixed: template.replace(/\{\w+\}/g, "").length };
}

export class Contract {
  readonly #ajv: Ajv;
  readonly #paths: { template: string; host: Call["host"]; pattern: RegExp; fixed: number }[];

  constructor(readonly document: Json) {
    this.#ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
    addFormats(this.#ajv);
    this.#ajv.addSchema(closed(document), "api");
    this.#paths = Object.entries<Json>(document.paths)
      .map(([template, { servers }]) => ({
        template,
        host: servers === undefined ? ("api" as const) : ("site" as const),
        ...patternOf(template),
      }))
      .toSorted((a, b) => b.fixed - a.fixed);
  }

  /** All descriptions of calls. */
  get operations(): Json[] {
    return Object.values<Json>(this.document.paths)
      .flatMap((path) => Object.values<Json>(path))
      .filter(({ operationId }) => operationId !== undefined);
  }

  /** The description of a call; null where there is none. */
  operation({ host, method, path }: Call): { template: string; verb: string; told: Json } | null {
    const asked = path.split("?", 1)[0]!;
    const verb = method === "HEAD" ? "get" : method.toLowerCase();
    for (const { template, host: on, pattern } of this.#paths) {
      const told = this.document.paths[template][verb];
      if (on === host && told !== undefined && pattern.test(asked)) return { template, verb, told };
    }
    return null;
  }

  /** Resolves a reference into `components`. */
  resolve(json: Json): Json {
    if (json?.$ref === undefined) return json;
    const [, , kind, name] = json.$ref.split("/");
    return this.document.components[kind][name];
  }

  #valid(value: unknown, ...at: string[]): string[] {
    const validate = this.#ajv.getSchema(addressOf(...at));
    return validate(value) ? [] : [this.#ajv.errorsText(validate.errors)];
  }

  /** What of the answer is not as it is described; empty where all is. */
  breaches(call: Call, { status, headers, text }: Answered): string[] {
    const found = this.operation(call);
    if (found === null) return ["the call is not described"];
    const { template, verb, told } = found;
    const reference = told.responses[status];
    if (reference === undefined) return [`${status} is not described: ${text.slice(0, 200)}`];
    const response = this.resolve(reference);
    const missing = Object.entries<Json>(response.headers ?? {})
      .filter(([name, header]) => this.resolve(header).required && !headers.has(name))
      .map(([name]) => `${status} has no ${name}`);
    if (call.method === "HEAD") return missing;
    const at = reference.$ref?.slice(2).split("/") ?? ["paths", template, verb, "responses", String(status)];
    return [...missing, ...this.#bodyBreaches(response.content, { headers, text, at })];
  }

  #bodyBreaches(content: Json, { headers, text, at }: { headers: Headers; text: string; at: string[] }): string[] {
    if (content === undefined) return text === "" ? [] : [`a body where none is described: ${text.slice(0, 200)}`];
    const type = headers.get("content-type")?.split(";", 1)[0] ?? "none";
    if (content[type] === undefined) return [`the body is ${type}: ${text.slice(0, 200)}`];
    if (!type.endsWith("json")) return [];
    return this.#valid(JSON.parse(text), ...at, "content", type, "schema");
  }

  /** What of a body that was taken is not as it is asked for. */
  bodyBreaches(call: Call, type: string, body: unknown): string[] {
    const found = this.operation(call);
    if (found === null) return ["the call is not described"];
    const content = found.told.requestBody?.content;
    if (content?.[type] === undefined) return [`a body of type ${type} is not described`];
    return this.#valid(body, "paths", found.template, found.verb, "requestBody", "content", type, "schema");
  }
}
