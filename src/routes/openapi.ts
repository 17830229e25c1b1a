/** `GET /openapi.json`: what the API takes and answers, in the words of OpenAPI 3.1 (BEYOND 13). */
import { createHash } from "node:crypto";
import type { Described } from "../api/document.ts";
import { KEPT_HEADERS } from "../http/answers.ts";
import { codedFile } from "../http/coded-file.ts";
import { ifNoneMatch } from "../http/conditional.ts";
import { acceptedCodings } from "../http/negotiate.ts";
import type { Ctx, Handler } from "./context.ts";

/** Made by the first who asks: a server of which nobody asks it does without. */
async function made(config: Described) {
  const document = await import("../api/document.ts").then(({ openapi }) => openapi(config));
  const bytes = new TextEncoder().encode(JSON.stringify(document));
  return { tag: createHash("sha256").update(bytes).digest("hex").slice(0, 16), coded: codedFile(bytes) };
}

/** Asked for again each time, and not sent again where it is the same. */
async function answer({ request, exchange, parts }: Ctx, { tag, coded }: Awaited<ReturnType<typeof made>>) {
  const { coding, bytes } = await coded(acceptedCodings(request.headers.get("accept-encoding"))[0]!, parts.code);
  const etag = `"${tag}-${coding}"`;
  const headers = {
    ...KEPT_HEADERS,
    "cache-control": "no-cache",
    "x-request-id": exchange.request_id,
    vary: "Accept-Encoding",
    etag,
  };
  const known = request.headers.get("if-none-match");
  if (known !== null && ifNoneMatch(known, etag)) return new Response(null, { status: 304, headers });
  exchange.bytes = bytes.length;
  const encoded = coding !== "identity" && { "content-encoding": coding };
  return new Response(bytes, { headers: { ...headers, "content-type": "application/json", ...encoded } });
}

const documents = new WeakMap<Described, ReturnType<typeof made>>();

/** `GET /openapi.json`. */
export const describe: Handler = async (ctx) => {
  const { config } = ctx.parts;
  return answer(ctx, await documents.getOrInsertComputed(config, made));
};
