/** The service as the CLI calls it. */
import { setTimeout as wait } from "node:timers/promises";
import { direct } from "../../client/loopback.ts";
import { Failure } from "../failure.ts";
import { svc, svcServer } from "../invocation.ts";
import { proxyFor } from "./proxy.ts";
import { SAVED_SESSION, type Credential, type Server } from "../saved/state.ts";
import { VERSION } from "../version.ts";

/** What `fetch` sends: the bytes, or a stream of them. */
export type Body = Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;

export interface ApiCall {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Below the server's base, query included. */
  path: string;
  credential: Credential | null;
  json?: unknown;
  /** `body` is made anew for each try. A stream does not tell its length, so `bytes` does. */
  zip?: { bytes: number; body(): Body };
  idempotency_key?: string;
  /** The solved challenge of an anonymous deploy. */
  proof?: string;
  /** A second try after a broken connection can do no harm. */
  repeatable: boolean;
}

/** An answer that is no success, with what the server said. */
export class ApiFailure extends Failure {
  constructor(
    readonly status: number,
    code: string,
    message: string,
  ) {
    super(code, message);
  }
}

const LONGEST_WAIT_S = 10;
const ANSWER_TIMEOUT_MS = 30_000;

function requestInit({ base }: Server, call: ApiCall): BunFetchRequestInit & { duplex?: "half" } {
  const headers: Record<string, string> = { accept: "application/json", "user-agent": `svc/${VERSION}` };
  if (call.credential) headers["authorization"] = `Bearer ${call.credential.token}`;
  if (call.idempotency_key) headers["idempotency-key"] = call.idempotency_key;
  if (call.proof) headers["svc-challenge"] = call.proof;
  // A redirect could carry the token to another server.
  const init = { method: call.method, headers, redirect: "manual" as const, ...direct(new URL(base)) };
  if (call.zip) {
    Object.assign(headers, { "content-type": "application/zip", "content-length": String(call.zip.bytes) });
    return { ...init, body: call.zip.body(), duplex: "half" };
  }
  const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
  if (call.json === undefined) return { ...init, signal };
  headers["content-type"] = "application/json";
  return { ...init, signal, body: JSON.stringify(call.json) };
}

/** The code of Bun's error where the proxy refuses to connect to the server. */
const REFUSED_BY_PROXY = "ERR_PROXY_TUNNEL";

/** In these cases nothing was sent, and a second try at once would fail in the same way. */
const NO_CONNECTION = new Set([
  "ConnectionRefused",
  "ECONNREFUSED",
  "FailedToOpenSocket",
  "ENOTFOUND",
  "TimeoutError",
  REFUSED_BY_PROXY,
]);

/** Parts of OpenSSL's codes for a certificate that cannot be trusted. */
const UNTRUSTED = /CERT|SIGNATURE|CRL|ALTNAME/;

/** Where there is a proxy, it may be what failed. */
const throughProxy = (proxy: string | null): string => (proxy === null ? "" : ` through the proxy ${proxy}`);

function unreachable(server: Server, error: unknown): Failure {
  const proxy = proxyFor(server.base, process.env);
  const via = throughProxy(proxy);
  const { code, name, message } = Object(error) as { code?: string; name?: string; message?: string };
  const reason = code ?? name ?? message ?? "no answer";
  if (UNTRUSTED.test(reason)) {
    const way = "Check DEPLOY_URL; for a certificate authority of your own set NODE_EXTRA_CA_CERTS to its PEM file.";
    return new Failure("untrusted", `The certificate of ${server.origin} is not to be trusted (${reason}). ${way}`);
  }
  if (name === "TimeoutError")
    return new Failure("unreachable", `${server.origin} did not answer in time${via}. Try again.`);
  if (!NO_CONNECTION.has(reason)) {
    return new Failure("unreachable", `The connection to ${server.origin}${via} broke (${reason}). Try again.`);
  }
  const way = server.named
    ? `Check DEPLOY_URL${proxy === null ? "" : ", the proxy"} and the network.`
    : `Start one in another terminal with ${svcServer()}, or name yours: DEPLOY_URL=https://… ${svc()}`;
  return new Failure("unreachable", `No server answers at ${server.origin}${via}. ${way}`);
}

/** A busy server asks for one more try after so many seconds. Null: it asked for none, or for a long wait. */
function pauseAskedFor(response: Response): number | null {
  const after = response.headers.get("retry-after");
  const seconds = after === null || !/^\d+$/.test(after) ? null : Number(after);
  return response.status === 503 && seconds !== null && seconds <= LONGEST_WAIT_S ? seconds : null;
}

async function send(server: Server, call: ApiCall): Promise<Response> {
  const once = () => fetch(server.base + call.path, requestInit(server, call));
  let response: Response;
  try {
    response = await once();
  } catch (error) {
    const { code, name } = Object(error) as { code?: string; name?: string };
    if (!call.repeatable || NO_CONNECTION.has(code ?? name ?? "")) throw unreachable(server, error);
    response = await once().catch((again: unknown) => Promise.reject(unreachable(server, again)));
  }
  const pause = pauseAskedFor(response);
  if (pause === null) return response;
  await wait(pause * 1000);
  return once().catch((error: unknown) => Promise.reject(unreachable(server, error)));
}

/** Refusals of 401 or 403 that are about the content, not about the credential. */
const CONTENT_CODES = new Set(["abuse_rejected", "challenge_failed", "quota_exceeded"]);

function refusal(server: Server, call: ApiCall, response: Response, body: unknown): ApiFailure {
  const { error, code } = Object(body) as { error?: unknown; code?: unknown };
  const { status } = response;
  if (typeof error !== "string" || typeof code !== "string") {
    const moved = response.headers.get("location");
    const via = throughProxy(proxyFor(server.base, process.env));
    const hint =
      moved === null ? "Is it the address of an svc server?" : `It points to ${moved}: set DEPLOY_URL to that.`;
    const sentence = `${server.origin} answered ${status}${via} without saying why. ${hint}`;
    return new ApiFailure(status, "unexpected_answer", sentence);
  }
  const later = response.headers.get("retry-after");
  const parts = [error];
  if ((status === 401 || status === 403) && !CONTENT_CODES.has(code)) {
    parts.push(call.credential ? `The token came from ${call.credential.from}.` : "No token was sent.");
    if (status === 401 && call.credential?.from === SAVED_SESSION) parts.push(`Sign in again: ${svc("login")}`);
  }
  if (status === 429 && later !== null) parts.push(`Try again in ${later} s.`);
  return new ApiFailure(status, code, parts.join(" "));
}

/** The bytes of a success; at most so many are read. */
export async function askBytes(server: Server, call: ApiCall, most: number): Promise<Uint8Array> {
  const response = await send(server, call);
  if (!response.ok) throw refusal(server, call, response, await response.json().catch(() => null));
  const broken = (error: unknown): never => {
    throw unreachable(server, error);
  };
  const bytes = new Uint8Array(await response.arrayBuffer().catch(broken));
  if (bytes.length <= most) return bytes;
  throw new Failure(
    "unexpected_answer",
    `${server.origin} sent ${bytes.length} bytes where at most ${most} were expected.`,
  );
}

/** Resolves to the body of a success, `{}` where it has none; every other outcome throws a Failure with a sentence. */
export async function ask<Answer>(server: Server, call: ApiCall): Promise<Answer> {
  const response = await send(server, call);
  if (response.status === 204) return {} as Answer;
  let body: unknown = null;
  try {
    body = JSON.parse(await response.text());
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw unreachable(server, error);
  }
  if (response.ok && typeof body === "object" && body !== null) return body as Answer;
  throw refusal(server, call, response, body);
}
