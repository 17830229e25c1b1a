/** One POST to an address that a stranger chose. It goes by a socket of our own: the name is resolved once, every address
 *  of it is checked, and the connection is made to the one that was; no redirect is followed, no proxy asked, and of the
 *  answer nothing is read but its status. */
import { createHmac } from "node:crypto";
import { connect as connectPlain, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Delivery, DeliveryContent } from "../store/notes/outbox.ts";

export interface Network {
  /** All addresses of a name, the best first. */
  resolve(name: string): Promise<readonly string[]>;
  isCallable(address: string): boolean;
}

/** For all of it: name, connection, answer. */
const LIMIT_MS = 5000;
/** No receiver has more to say before it says how it went, nor much after it. */
const LONGEST_HEAD = 16 * 1024;
const MOST_READ = 64 * 1024;
/** So many addresses of one name are tried. */
const MOST_ADDRESSES = 3;

/** Throws when one is of a private network: a name that has both kinds is up to something. */
async function addressesOf(name: string, { resolve, isCallable }: Network): Promise<readonly string[]> {
  const addresses = isIP(name) === 0 ? await resolve(name) : [name];
  if (addresses.length === 0) throw new Error(`${name} has no address`);
  const refused = addresses.find((address) => !isCallable(address));
  if (refused !== undefined) throw new Error(`${name} is at ${refused}, which is no address of the internet`);
  return addresses.slice(0, MOST_ADDRESSES);
}

function requestOf(url: URL, { headers, body }: SignedRequest): Buffer {
  const lines = [
    `POST ${url.pathname}${url.search} HTTP/1.1`,
    `host: ${url.host}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body}`);
}

/** The status of the final answer; null while its head is not complete. */
function statusIn(text: string): number | null {
  const final = text.replace(/^(?:HTTP\/1\.[01] 1\d\d[^]*?\r\n\r\n)+/, "");
  const [, status] = /^HTTP\/1\.[01] ([2-5]\d\d)[ \r][^]*?\r\n\r\n/.exec(final) ?? [];
  return status === undefined ? null : Number(status);
}

function connect(url: URL, name: string, host: string): Socket {
  const secure = url.protocol === "https:";
  const port = Number(url.port) || (secure ? 443 : 80);
  if (!secure) return connectPlain({ host, port });
  return connectTls({ host, port, ...(isIP(name) === 0 && { servername: name }) });
}

/** Resolves with the status. The rest of the answer is thrown away, for as long as `ends` allows. */
function ask(socket: Socket, connected: "connect" | "secureConnect", request: Buffer, ends: AbortSignal) {
  const answer = Promise.withResolvers<number>();
  let head: string | null = "";
  let read = 0;
  const end = (error: Error) => {
    answer.reject(error);
    socket.destroy();
  };
  ends.addEventListener("abort", () => end(new Error(`no answer within ${LIMIT_MS / 1000} seconds`)), { once: true });
  socket.on(connected, () => socket.write(request));
  socket.on("error", end);
  socket.on("close", () => end(new Error("the connection was closed before an answer")));
  socket.on("data", (bytes: Buffer) => {
    if ((read += bytes.length) > MOST_READ) socket.destroy();
    if (head === null) return;
    head += bytes.toString("latin1");
    const status = statusIn(head);
    if (status === null) return head.length > LONGEST_HEAD ? end(new Error("the answer is no HTTP")) : undefined;
    head = null;
    answer.resolve(status);
    socket.end();
  });
  return answer.promise;
}

const unreachable = (error: unknown): boolean => {
  const { code } = error as { code?: unknown };
  return typeof code === "string" && /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/.test(code);
};

async function send(url: URL, message: SignedRequest, network: Network, ends: AbortSignal): Promise<number> {
  const name = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const request = requestOf(url, message);
  const connected = url.protocol === "https:" ? "secureConnect" : "connect";
  let failure: unknown;
  for (const address of await addressesOf(name, network)) {
    ends.throwIfAborted();
    try {
      return await ask(connect(url, name, address), connected, request, ends);
    } catch (error) {
      if (!unreachable(error)) throw error;
      failure = error;
    }
  }
  throw failure;
}

/** The status of the answer. Throws without an answer, and when the address may not be called. */
export async function post(url: URL, message: SignedRequest, network: Network): Promise<number> {
  const ends = AbortSignal.timeout(LIMIT_MS);
  const late = Promise.withResolvers<never>();
  ends.addEventListener("abort", () => late.reject(new Error(`no answer within ${LIMIT_MS / 1000} seconds`)));
  return Promise.race([send(url, message, network, ends), late.promise]);
}

/** The request that a receiver gets (COMMENTS 2): the body, and the headers of Standard Webhooks that prove its origin. */
interface SignedRequest {
  headers: Readonly<Record<string, string>>;
  body: string;
}

const BASE64_SECRET = "whsec_";

/** As Standard Webhooks writes a key, `whsec_` and its base64; any other secret is taken letter by letter. */
const keyOf = (secret: string): Buffer =>
  secret.startsWith(BASE64_SECRET) ? Buffer.from(secret.slice(BASE64_SECRET.length), "base64") : Buffer.from(secret);

/** `timestamp`: whole seconds. */
const signed = (secret: string, id: string, timestamp: number, body: string): string =>
  `v1,${createHmac("sha256", keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest("base64")}`;

/** `data`: the comment's annotation. A new timestamp and signature for each try, the id stays. */
export function messageOf(
  delivery: Delivery,
  { webhook, visibility }: DeliveryContent,
  data: object,
  now: number,
): SignedRequest {
  const { id, type, created_at, site_id } = delivery;
  const body = JSON.stringify({ id, type, created_at, site_id, visibility, data });
  const timestamp = Math.floor(now / 1000);
  return {
    body,
    headers: {
      "content-type": "application/json",
      "user-agent": "svc-webhooks",
      "webhook-id": id,
      "webhook-timestamp": String(timestamp),
      "webhook-signature": signed(webhook.secret, id, timestamp, body),
    },
  };
}
