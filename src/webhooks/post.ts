/** The process that posts letters. One POST to an address that a stranger chose goes by a socket of our own: the name is
 *  resolved once, every address of it is checked, and the connection is made to the one that was; no redirect is followed,
 *  no proxy asked, and of the answer nothing is read but its status. The process has no database and no secret: what it
 *  is given is signed. */
import { connect as connectPlain, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { callable } from "../http/public-address.ts";
import type { Numbered } from "../run/child.ts";
import { createGate } from "../run/gate.ts";
import { serveParent } from "../run/serve-parent.ts";

/** The request that a receiver gets (COMMENTS 2): the body, and the headers of Standard Webhooks that prove its origin. */
export interface SignedRequest {
  headers: Readonly<Record<string, string>>;
  body: string;
}

export interface Letter {
  url: string;
  message: SignedRequest;
  /** The owner or network that it is sent for: look-ups are shared among them. */
  place: string;
  /** SVC_WEBHOOKS_ALLOW. */
  allowed: readonly string[] | null;
}

/** `ms` from the first look-up to the answer. */
export type Posted = { ms: number } & ({ status: number } | { status: null; why: string; told: string });

interface Network {
  /** All addresses of a name, the best first. */
  resolve(name: string): Promise<readonly string[]>;
  isCallable(address: string): boolean;
}

/** Why nothing was sent, for the operator. A site's owner is told less: which addresses a name has inside is not theirs. */
class NotCallable extends Error {
  constructor(
    message: string,
    readonly told: string,
  ) {
    super(message);
  }
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
  if (refused !== undefined) {
    throw new NotCallable(
      name === refused
        ? `${refused} is no address of the internet`
        : `${name} is at ${refused}, which is no address of the internet`,
      `${name} is at an address that is not of the internet`,
    );
  }
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

/** Look-ups of one place that may be under way, those among them that nobody waits for any more. */
const LOOKUPS = 4;

type AddressesOf = (name: string) => Promise<readonly string[]>;

/** By c-ares, which takes no thread of the runtime's pool: a name server that never answers keeps nothing else waiting. */
const lookup: AddressesOf = async (name) => {
  try {
    return (await Bun.dns.lookup(name, { backend: "c-ares" })).map(({ address }) => address);
  } catch (error) {
    const { code } = error as { code?: string };
    throw new Error(`${name} was not found by DNS (${code?.replace("DNS_", "") ?? error})`);
  }
};

/** Each place has a few look-ups at a time: names that nobody answers for use up those of their own owner. */
function sharedLookups(): (place: string) => AddressesOf {
  const gates = new Map<string, ReturnType<typeof createGate>>();
  return (place) => async (name) => {
    const gate = gates.getOrInsertComputed(place, () => createGate({ width: LOOKUPS }));
    try {
      return await gate.run(() => lookup(name));
    } finally {
      const { busy, waiting } = gate.load();
      if (busy + waiting === 0) gates.delete(place);
    }
  };
}

/** Answers a letter that it is handed; never throws. */
export function posting(): (letter: Letter) => Promise<Posted> {
  const lookups = sharedLookups();
  return async ({ url, message, place, allowed }) => {
    const begun = performance.now();
    const took = () => Math.round(performance.now() - begun);
    try {
      const network = { resolve: lookups(place), isCallable: callable(allowed) };
      return { status: await post(new URL(url), message, network), ms: took() };
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return { status: null, why, told: error instanceof NotCallable ? error.told : why, ms: took() };
    }
  };
}

/** The code of the process: many letters at a time. */
export function servePosts(): void {
  const answer = posting();
  serveParent("svc-webhooks", async (message: Numbered<Letter> | "close") => {
    if (message === "close") process.exit();
    const { n, content } = message;
    process.send!({ n, content: await answer(content) } satisfies Numbered<Posted>);
  });
}
