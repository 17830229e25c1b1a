/** Answers of comments, with the headers of each kind (COMMENTS 1 and ruling 10). */
import { createHash } from "node:crypto";
import { answerEmpty, answerText } from "../http/answers.ts";
import { ifNoneMatch } from "../http/conditional.ts";
import type { Bytes } from "../base/types.ts";
import type { Ctx } from "./context.ts";
import { ANNO } from "./feed.ts";

export const LD_JSON = `application/ld+json; profile="${ANNO}"`;

type Asked = Pick<Ctx, "request" | "exchange" | "headers">;
type Fields = Readonly<Record<string, string>>;

/** Headers of an answer for one viewer alone. */
export const PRIVATE: Fields = { "cache-control": "private, no-cache", vary: "Cookie" };

/** Headers of an annotation (COMMENTS 1). */
export const ANNOTATION = {
  "content-type": LD_JSON,
  link: '<http://www.w3.org/ns/ldp#Resource>; rel="type"',
  allow: "GET, HEAD, OPTIONS, PUT, DELETE",
  "cache-control": "private, no-cache",
  vary: "Accept, Cookie",
};

/** An entity tag of a body that follows from these values alone. */
export const digestTag = (prefix: string, ...of: readonly unknown[]): string =>
  `"${prefix}-${createHash("sha256").update(JSON.stringify(of)).digest("hex").slice(0, 12)}"`;

/** Whether the client already has this body. A write is always answered whole, for it has made a new state. */
const isHeld = ({ request }: Asked, etag: string | undefined): boolean => {
  if (request.method !== "GET" && request.method !== "HEAD") return false;
  const held = request.headers.get("if-none-match");
  return etag !== undefined && held !== null && ifNoneMatch(held, etag);
};

export const emptyAnswer = ({ exchange, headers }: Asked, status: 204 | 304, fields: Fields = {}): Response =>
  answerEmpty(exchange, status, { ...headers, ...fields });

/** Answers with JSON, which may be written out already, or with 304 if the client already has it. */
export function answer(asked: Asked, body: unknown, fields: Fields, status = 200): Response {
  if (status === 200 && isHeld(asked, fields.etag)) return emptyAnswer(asked, 304, fields);
  const text = typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
  return answerText(
    text as string | Bytes,
    asked.exchange,
    { "content-type": "application/json", ...asked.headers, ...fields },
    status,
  );
}

/** Answers OPTIONS with 200: validators of the protocol do not take 204. */
export const optionsAnswer = (asked: Asked, allow: string, fields: Fields = {}): Response =>
  answer(asked, "", { "content-type": "text/plain; charset=utf-8", allow, ...fields });
