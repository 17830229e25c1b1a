/** The service as the CLI calls it. */
import { setTimeout as wait } from "node:timers/promises";
import { readAtMost } from "../../client/bounded-body.ts";
import { localFetch } from "../../client/local-fetch.ts";
import type { Server } from "../saved/server.ts";
import type { Credential } from "../saved/state.ts";
import { VERSION } from "../version.ts";
import { refusal, strange, unexpected } from "./refusal.ts";
import type { Shape } from "./shape.ts";
import { unreachable, wasNeverSent } from "./unreachable.ts";

/** What `fetch` sends: the bytes, or a stream of them. */
export type Body = Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;

export interface ApiCall {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Below the server's base, query included. */
  path: string;
  credential: Credential | null;
  json?: unknown;
  /** `body` is made anew for each try. A stream does not tell its length, so `bytes` does. */
  zip?: { type: string; bytes: number; body(): Body };
  idempotency_key?: string;
  /** The solved challenge of an anonymous deploy. */
  proof?: string;
  /** A second try after a broken connection can do no harm. */
  repeatable: boolean;
}

const LONGEST_WAIT_S = 10;
const ANSWER_TIMEOUT_MS = 30_000;

function requestInit(call: ApiCall): RequestInit & { duplex?: "half" } {
  const headers: Record<string, string> = { accept: "application/json", "user-agent": `svc/${VERSION}` };
  if (call.credential) headers["authorization"] = `Bearer ${call.credential.token}`;
  if (call.idempotency_key) headers["idempotency-key"] = call.idempotency_key;
  if (call.proof) headers["svc-challenge"] = call.proof;
  // A redirect could carry the token to another server.
  const init = { method: call.method, headers, redirect: "manual" as const };
  if (call.zip) {
    Object.assign(headers, { "content-type": call.zip.type, "content-length": String(call.zip.bytes) });
    return { ...init, body: call.zip.body(), duplex: "half" };
  }
  const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
  if (call.json === undefined) return { ...init, signal };
  headers["content-type"] = "application/json";
  return { ...init, signal, body: JSON.stringify(call.json) };
}

/** A busy server asks for one more try after so many seconds. Null: it asked for none, or for a long wait. */
function pauseAskedFor(response: Response): number | null {
  const after = response.headers.get("retry-after");
  const seconds = after === null || !/^\d+$/.test(after) ? null : Number(after);
  return response.status === 503 && seconds !== null && seconds <= LONGEST_WAIT_S ? seconds : null;
}

async function send(server: Server, call: ApiCall): Promise<Response> {
  const once = () => localFetch(server.base + call.path, () => requestInit(call));
  const last = () => once().catch(async (error: unknown) => Promise.reject(await unreachable(server, error)));
  let response: Response;
  try {
    response = await once();
  } catch (error) {
    if (!call.repeatable || wasNeverSent(error)) throw await unreachable(server, error);
    response = await last();
  }
  const pause = pauseAskedFor(response);
  if (pause === null) return response;
  await wait(pause * 1000);
  return last();
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

/** What the server answered, read to its end. Throws where it is no success. */
async function answer(server: Server, call: ApiCall, most?: number): Promise<[Response, Uint8Array]> {
  const response = await send(server, call);
  const bytes = await readAtMost(response, most).catch(async (error: unknown) => {
    throw await unreachable(server, error, true);
  });
  if (response.ok) return [response, bytes];
  throw refusal(server, call, response, parsed(new TextDecoder().decode(bytes)));
}

/** The bytes of a success; at most so many are read. */
export const askBytes = async (server: Server, call: ApiCall, most: number): Promise<Uint8Array> =>
  (await answer(server, call, most))[1];

/** Resolves to the body of a success, `{}` where it has none; every other outcome throws a Failure with a sentence. */
export async function ask<Answer>(server: Server, call: ApiCall, shape: Shape<Answer>): Promise<Answer> {
  const [response, bytes] = await answer(server, call);
  const body = response.status === 204 ? {} : parsed(new TextDecoder().decode(bytes));
  if (typeof body !== "object" || body === null) throw strange(server, response);
  const missing = shape(body);
  if (missing === null) return body as Answer;
  const sentence = `${server.origin} answered without ${missing}, which svc needs. Is it the address of an svc server?`;
  throw unexpected(server, response.status, sentence);
}
