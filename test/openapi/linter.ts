/** What others say of a description: the schema of OpenAPI 3.1 and a linter, both from test/tools. */
import { join } from "node:path";
import { ROOT } from "../../scripts/run.ts";
import type { Json } from "./contract.ts";

const TOOLS = join(ROOT, "test", "tools", "node_modules");

/** What is used of them: the types are not there before test/tools is installed. */
interface Problem {
  ruleId: string;
  message: string;
  location: { pointer?: string }[];
}
interface Linter {
  createConfig(config: object): Promise<object>;
  lintFromString(asked: { source: string; config: object; absoluteRef: string }): Promise<Problem[]>;
}
interface Validator {
  validate(document: object): Promise<{ valid: boolean; errors?: object[] }>;
}
const linter = (await import(join(TOOLS, "@redocly", "openapi-core", "lib", "index.js"))) as Linter;
const { Validator } = (await import(join(TOOLS, "@seriousme", "openapi-schema-validator", "index.js"))) as {
  Validator: new () => Validator;
};

const RULES = {
  // Nothing refuses these: whether the server is there, its limits, this description, a challenge.
  "operation-4xx-response": "off",
  // A container's address ends so (Annotation Protocol 4.1).
  "no-path-trailing-slash": "off",
  // The server of the test is on localhost.
  "no-server-example.com": "off",
};

/** `rule at place: message`, of whatever the linter's strictest rules find. */
export async function lint(document: Json): Promise<string[]> {
  const config = await linter.createConfig({ extends: ["recommended-strict"], rules: RULES });
  const found = await linter.lintFromString({ source: JSON.stringify(document), config, absoluteRef: "openapi.json" });
  return found.map(({ ruleId, message, location }) => `${ruleId} at ${location[0]?.pointer}: ${message}`);
}

/** What the schema that the OpenAPI Initiative publishes finds. */
export async function schemaErrors(document: Json): Promise<object[]> {
  const { valid, errors = [] } = await new Validator().validate(structuredClone(document));
  return valid ? [] : errors;
}
