/** The CLI's calls of the service, and a sentence for a person if no answer came. */
import { setTimeout as wait } from "node:timers/promises";
import { readAtMost, TooLongAnswer } from "../../client/bounded-body.ts";
import { fetchService } from "../../client/fetch.ts";
import { direct } from "../../client/loopback.ts";
import { Failure } from "../failure.ts";
import type { Server } from "../saved/server.ts";
import type { Credential } from "../saved/state.ts";
import { VERSION } from "../version.ts";
import { otherWays, proxyOf, refusedByProxy, throughProxy, WANTS_A_USER, whereToLook } from "./which-server.ts";
import { refusal, strange, unexpected } from "./refusal.ts";
import type { Shape } from "../../api/shapes/builder.ts";
import { readFigures } from "../../base/receipt-figures.ts";
import { FIGURES } from "./wire.ts";

/** The body that `fetch` sends: bytes, or a stream of them. */
export type Body = Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;

export interface ApiCall {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the server's base, query included. */
  path: string;
  credential: Credential | null;
  json?: unknown;
  /** `body` is made anew for each try. A stream has no length, so `bytes` gives it. */
  zip?: { type: string; bytes: number; body(): Body };
  idempotency_key?: string;
  /** The solved challenge of an anonymous deploy. */
  proof?: string;
  /** Whether a second try after a broken connection can do no harm. */
  repeatable: boolean;
}

const LONGEST_WAIT_S = 10;
const ANSWER_TIMEOUT_MS = 30_000;

function requestInit(call: ApiCall): RequestInit & { duplex?: "half" } {
  const headers: Record<string, string> = {
    accept: "application/json",
    "user-agent": `svc/${VERSION} (${process.platform})`,
  };
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

/** The seconds after which a busy server asks for one more try; null if it asks for none, or for a long wait. */
function pauseAskedFor(response: Response): number | null {
  const after = response.headers.get("retry-after");
  const seconds = after === null || !/^\d+$/.test(after) ? null : Number(after);
  return response.status === 503 && seconds !== null && seconds <= LONGEST_WAIT_S ? seconds : null;
}

async function send(server: Server, call: ApiCall): Promise<Response> {
  const once = () => fetchService(server.base + call.path, () => requestInit(call));
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

/** The server's answer, read to its end. Throws if it is no success. */
async function answer(server: Server, call: ApiCall, most?: number): Promise<[Response, Uint8Array]> {
  const response = await send(server, call);
  const bytes = await readAtMost(response, most).catch(async (error: unknown) => {
    throw await unreachable(server, error, true);
  });
  if (response.ok) return [response, bytes];
  // Without TLS the proxy itself answers.
  if (response.status === WANTS_A_USER && proxyOf(server) !== null) throw refusedByProxy(server, WANTS_A_USER);
  throw refusal(server, call, response, parsed(new TextDecoder().decode(bytes)));
}

/** The bytes of a success; at most `most` are read. */
export const askBytes = async (server: Server, call: ApiCall, most: number): Promise<Uint8Array> =>
  (await answer(server, call, most))[1];

/** Resolves to the body of a success, `{}` if it has none; every other outcome throws a Failure with a sentence. */
export async function ask<Answer>(server: Server, call: ApiCall, shape: Shape<Answer>): Promise<Answer> {
  const [response, bytes] = await answer(server, call);
  const body = response.status === 204 ? {} : parsed(new TextDecoder().decode(bytes));
  if (typeof body !== "object" || body === null) throw strange(server, response);
  const missing = shape.check(body);
  const figures = readFigures(response.headers.get("svc-receipt"));
  if (missing === null) return (figures === null ? body : { ...body, [FIGURES]: figures }) as Answer;
  const sentence = `${server.origin} answered without ${missing}, which svc needs. Is it the address of an svc server?`;
  throw unexpected(server, response.status, sentence);
}

const SOON_MS = 3_000;

/** The answer, if it comes soon; else `otherwise`. For facts that are told beside the work that a person asked for. */
export function soon<Answer>(asked: Promise<Answer>, otherwise: Answer): Promise<Answer> {
  let timer: ReturnType<typeof setTimeout>;
  const late = new Promise<Answer>((resolve) => (timer = setTimeout(() => resolve(otherwise), SOON_MS)));
  return Promise.race([asked, late]).finally(() => clearTimeout(timer));
}

/** The reason why no answer came, such as `ECONNREFUSED`: Bun has it on the error, Node on its cause. */
function reasonOf(error: unknown): string {
  const { code, name, message, cause } = Object(error) as {
    code?: string;
    name?: string;
    message?: string;
    cause?: { code?: string; message?: string };
  };
  if (name === "TimeoutError") return name;
  return code ?? cause?.code ?? cause?.message ?? name ?? message ?? "no answer";
}

/** The code of Bun's error if the proxy refuses to connect to the server. */
const REFUSED_BY_PROXY = "ERR_PROXY_TUNNEL";

/** In these cases nothing was sent, and a second try at once would fail in the same way. */
const NO_CONNECTION = new Set([
  "ConnectionRefused",
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EAI_AGAIN",
  "FailedToOpenSocket",
  "ENOTFOUND",
  "bad port",
  "TimeoutError",
  REFUSED_BY_PROXY,
]);

/** Parts of OpenSSL's codes for a certificate that cannot be trusted. */
const UNTRUSTED = /CERT|SIGNATURE|CRL|ALTNAME/;
/** The other side did not speak TLS, or spoke something else than HTTP. */
const OTHER_SCHEME = /^(EPROTO|ECONNRESET|ConnectionClosed|UND_ERR_SOCKET|HPE_|ERR_SSL_|Malformed_HTTP_Response)/;

/** A system's code: people find it in manuals and in other programs' messages. A runtime's own says nothing to them. */
const OF_THE_SYSTEM = /^E[A-Z]+$/;

const wasNeverSent = (error: unknown): boolean => NO_CONNECTION.has(reasonOf(error));

const PROBE_MS = 3_000;

/** The address under the other scheme, if the port speaks that. No token is sent to find out. */
async function underOtherScheme({ origin }: Server): Promise<string | null> {
  const url = new URL(origin);
  // Without a port the two schemes are two servers.
  if (url.port === "") return null;
  url.protocol = url.protocol === "https:" ? "http:" : "https:";
  const init = { signal: AbortSignal.timeout(PROBE_MS), redirect: "manual" as const, ...direct(url) };
  const answers = await fetch(new URL("/healthz", url), init).then(
    async (response) => {
      await response.body?.cancel();
      // A server that refuses plain requests on its port for TLS says so with a 400.
      return response.status !== 400;
    },
    (error: unknown) => UNTRUSTED.test(reasonOf(error)),
  );
  return answers ? url.origin : null;
}

/** The failure for a call without an answer. `begun` means that an answer began and broke off, so the scheme was right. */
async function unreachable(server: Server, error: unknown, begun = false): Promise<Failure> {
  if (error instanceof TooLongAnswer) {
    return unexpected(server, 200, `${server.origin} sent ${error.message}: that is no answer of an svc server.`);
  }
  const reason = reasonOf(error);
  const via = throughProxy(server);
  if (UNTRUSTED.test(reason)) {
    const way = "For a certificate authority of your own set NODE_EXTRA_CA_CERTS to its PEM file.";
    const look = server.chosen_by === "DEPLOY_URL" ? "Check DEPLOY_URL. " : "";
    const sentence = `The certificate of ${server.origin} is not to be trusted (${reason}). ${look}${way}`;
    return new Failure("untrusted", `${sentence} ${otherWays(server)}`.trim());
  }
  const { status } = Object(error) as { status?: number };
  if (reason === REFUSED_BY_PROXY && status !== undefined) return refusedByProxy(server, status);
  if (NO_CONNECTION.has(reason) && reason !== "TimeoutError") {
    const look = whereToLook(server, proxyOf(server) !== null);
    return new Failure("unreachable", `No server answers at ${server.origin}${via}. ${look}`);
  }
  return new Failure("unreachable", `${await broken(server, reason, via, begun)} ${otherWays(server)}`.trim());
}

async function broken(server: Server, reason: string, via: string, begun: boolean): Promise<string> {
  const { origin } = server;
  if (reason === "TimeoutError") return `${origin} did not answer in time${via}. Try again.`;
  const other = !begun && OTHER_SCHEME.test(reason) ? await underOtherScheme(server) : null;
  if (other === null) {
    const why = OF_THE_SYSTEM.test(reason) ? ` (${reason})` : "";
    return `The connection to ${origin}${via} broke${why}. Try again.`;
  }
  const [is, was] = [other, origin].map((one) => new URL(one).protocol.slice(0, -1));
  return `${new URL(origin).host} speaks ${is}, not ${was}: its address is ${other}.`;
}
