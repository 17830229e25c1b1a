/** `GET /openapi.json`: what the API takes and answers, in the words of OpenAPI 3.1 (BEYOND 13). */
import type { Described } from "../api/document.ts";
import { type AnswerOwnFile, ownFile } from "../http/own-file.ts";
import type { Handler } from "./context.ts";

/** Made at the first request: most servers are never asked for it. */
async function made(config: Described): Promise<AnswerOwnFile> {
  const { openapi } = await import("../api/document.ts");
  return ownFile({ content: JSON.stringify(openapi(config)), type: "application/json", kept: "checked" });
}

const documents = new WeakMap<Described, Promise<AnswerOwnFile>>();

/** `GET /openapi.json`. */
export const describe: Handler = async (ctx) => {
  const { config, code } = ctx.parts;
  return (await documents.getOrInsertComputed(config, made))(ctx, code);
};
