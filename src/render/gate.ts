/** The browser's only way out: a proxy on this machine that leads to the site's own hosts and nowhere else. Names are not
 *  looked up at all, so there is no DNS to rebind; a redirect is a new request, judged like the first. */
import { createSign, generateKeyPairSync } from "node:crypto";
import { connect, createServer, type Server, type Socket } from "node:net";
import type { RenderJob } from "./job.ts";

interface Gate {
  port: number;
  /** Whether an address is one that the gate leads to. */
  isOwn(url: URL): boolean;
  close(): void;
}

const LOOPBACK = "127.0.0.1";
const MOST_HEAD = 16 * 1024;
const CONNECT = /^CONNECT ([^\s/]{1,300}) HTTP\/1\.[01]\r\n/;
const ABSOLUTE = /^[A-Z]{3,10} http:\/\/([^\s/?#]{1,300})[^\s]* HTTP\/1\.[01]\r\n/;
const ESTABLISHED = "HTTP/1.1 200 Connection established\r\n\r\n";

function splice(client: Socket, port: number, first: Uint8Array | null): void {
  const inner = connect(port, LOOPBACK, () => {
    if (first !== null && first.length > 0) inner.write(first);
    client.pipe(inner);
    inner.pipe(client);
  });
  for (const [one, other] of [
    [client, inner],
    [inner, client],
  ] as const) {
    one.on("error", () => other.destroy());
    one.on("close", () => other.destroy());
  }
}

/** The host that a connection asks for: by a tunnel, or a request in the form for proxies (RFC 9112, 3.2.2). */
function wanted(head: string): { host: string; tunnel: boolean } | null {
  const tunnel = CONNECT.exec(head)?.[1];
  if (tunnel !== undefined) return { host: tunnel, tunnel: true };
  const host = ABSOLUTE.exec(head)?.[1];
  return host === undefined ? null : { host, tunnel: false };
}

type PortFor = (host: string, tunnel: boolean) => number | null;

/** Reads a connection's head. One that leads elsewhere is cut off, as if no host were there; each plain request has a
 *  connection of its own, so that none comes in behind another. */
function greet(client: Socket, portFor: PortFor): void {
  let head = Buffer.alloc(0);
  const heard = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf("\r\n\r\n");
    if (end === -1 && head.length < MOST_HEAD) return;
    client.off("data", heard);
    client.pause();
    const goal = end === -1 ? null : wanted(head.toString("latin1", 0, end + 4));
    const port = goal && portFor(goal.host, goal.tunnel);
    if (goal === null || port === null) return void client.destroy();
    if (!goal.tunnel) return splice(client, port, head);
    client.write(ESTABLISHED);
    splice(client, port, head.subarray(end + 4));
  };
  client.on("data", heard);
  client.on("error", () => client.destroy());
}

function closing(answer: Response): Response {
  answer.headers.set("connection", "close");
  return answer;
}

/** Resolves with its port. */
function listening(server: Server): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.once("error", reject);
  server.listen(0, LOOPBACK, () => resolve((server.address() as { port: number }).port));
  return promise;
}

export async function openGate({ url, version_host, server }: Pick<RenderJob, "url" | "version_host" | "server">) {
  const { protocol, host, hostname } = new URL(url);
  const secure = protocol === "https:";
  const hostOf = ownHosts({ host, version_host }, secure ? "443" : "80");
  const fetch = createUpstream({ server, hostOf });
  const tls = secure ? selfSigned([hostname, version_host.replace(/:\d+$/, "")]) : undefined;
  const once = async (request: Request) => closing(await fetch(request));
  const inner = Bun.serve({ hostname: LOOPBACK, port: 0, development: false, fetch: once });
  const coded = tls && Bun.serve({ hostname: LOOPBACK, port: 0, development: false, fetch, tls });
  const innerPort = inner.port!;
  const tunnelPort = coded?.port ?? innerPort;
  const portFor: PortFor = (asked, tunnel) => (hostOf(asked) === null ? null : tunnel ? tunnelPort : innerPort);
  const front = createServer((client) => greet(client, portFor));
  const gate: Gate = {
    port: await listening(front),
    isOwn: (asked) => asked.protocol.replace(/^ws/, "http") === protocol && hostOf(asked.host) !== null,
    close() {
      front.close();
      void inner.stop(true);
      void coded?.stop(true);
    },
  };
  return gate;
}

/** A certificate that signs itself, for the gate alone: the page must have the security of its real address, and the
 *  server's own certificate may be a proxy's in front of it. Written as X.509 has it (RFC 5280): the runtime reads
 *  certificates and makes none. */

type Der = Buffer;

function der(tag: number, ...parts: Uint8Array[]): Der {
  const body = Buffer.concat(parts);
  const size = body.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}

const sequence = (...parts: Uint8Array[]): Der => der(0x30, ...parts);
const hex = (text: string): Der => Buffer.from(text, "hex");
const ECDSA_WITH_SHA256 = sequence(hex("06082a8648ce3d040302"));
const COMMON_NAME = hex("0603550403");
const SUBJECT_ALT_NAME = hex("0603551d11");

const nameOf = (text: string): Der => sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(text)))));
/** As `YYYYMMDDHHMMSSZ`. */
const timeOf = (text: string): Der => der(0x18, Buffer.from(text));

function unsigned(names: readonly string[], key: Uint8Array): Der {
  const name = nameOf("svc render");
  const alternative = sequence(...names.map((one) => der(0x82, Buffer.from(one))));
  return sequence(
    der(0xa0, hex("020102")),
    der(0x02, Buffer.from([1])),
    ECDSA_WITH_SHA256,
    name,
    sequence(timeOf("20200101000000Z"), timeOf("20991231235959Z")),
    name,
    key,
    der(0xa3, sequence(sequence(SUBJECT_ALT_NAME, der(0x04, alternative)))),
  );
}

const pem = (bytes: Uint8Array): string =>
  `-----BEGIN CERTIFICATE-----\n${Buffer.from(bytes).toString("base64").replace(/.{64}/g, "$&\n")}\n-----END CERTIFICATE-----\n`;

/** PEM texts of a new key and its certificate for these names. */
function selfSigned(names: readonly string[]): { key: string; cert: string } {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const body = unsigned(names, publicKey.export({ type: "spki", format: "der" }));
  const signature = createSign("SHA256").update(body).sign(privateKey);
  const whole = sequence(body, ECDSA_WITH_SHA256, der(0x03, Buffer.from([0]), signature));
  return { key: privateKey.export({ type: "pkcs8", format: "pem" }) as string, cert: pem(whole) };
}

interface SiteHosts {
  /** Host and port of the site's URL: shown to the page, answered with the version that is looked at. */
  host: string;
  version_host: string;
}

const withPort = (host: string, fallback: string): string => (/:\d+$/.test(host) ? host : `${host}:${fallback}`);

/** The `Host` that the server is asked with; null for a host that is not the site's. `port`: where none is written. */
function ownHosts({ host, version_host }: SiteHosts, port: string): (asked: string | null) => string | null {
  const [own, version] = [withPort(host, port), withPort(version_host, port)];
  return (asked) => {
    if (asked === null) return null;
    const name = withPort(asked.toLowerCase(), port);
    return name === own || name === version ? version_host : null;
  };
}

/** A page asks for a few hundred files; one that goes on is a loop. */
const MOST_REQUESTS = 2000;
const MOST_BYTES = 128 * 1024 * 1024;
const AT_ONCE = 12;
const LARGE = 4 * 1024 * 1024;

/** Headers that the server's answer may depend on. None that a proxy would set: the page must not choose its address. */
const HEADERS = [
  "accept",
  "accept-encoding",
  "accept-language",
  "if-none-match",
  "if-range",
  "range",
  "sec-fetch-dest",
  "sec-fetch-mode",
  "sec-fetch-site",
  "service-worker",
  "user-agent",
];
/** Headers that say how the server's answer came, not what it is. */
const HOP = ["connection", "keep-alive", "transfer-encoding", "alt-svc"];

const refused = (status: number, why: string): Response =>
  new Response(`${why}\n`, { status, headers: { "content-type": "text/plain", "cache-control": "no-store" } });

function passedOn(request: Request, host: string): Headers {
  const headers = new Headers({ host });
  for (const name of HEADERS) {
    const value = request.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  return headers;
}

interface UpstreamOptions {
  /** `http://127.0.0.1:8787`. */
  server: string;
  /** `ownHosts`. */
  hostOf: (asked: string | null) => string | null;
}

/** A handler for what the browser asks. A page only reads: what would write is answered as the server answers it. */
function createUpstream({ server, hostOf }: UpstreamOptions): (request: Request) => Promise<Response> {
  let asked = 0;
  let bytes = 0;
  let busy = 0;

  async function ask(request: Request, host: string): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const answer = await fetch(`${server}${pathname}${search}`, {
      method: request.method,
      headers: passedOn(request, host),
      redirect: "manual",
      decompress: false,
      tls: { rejectUnauthorized: false },
    } as BunFetchRequestInit);
    const headers = new Headers(answer.headers);
    for (const name of HOP) headers.delete(name);
    const size = Number(answer.headers.get("content-length") ?? 0);
    bytes += size;
    if (request.method === "HEAD") return new Response(null, { status: answer.status, headers });
    // A large file passes through; small ones are read at once, which frees their place for the next.
    const body = size > LARGE ? answer.body : await answer.arrayBuffer();
    return new Response(body, { status: answer.status, headers });
  }

  return async (request) => {
    const host = hostOf(request.headers.get("host"));
    if (host === null) return refused(403, "The render engine asks no host but the site's own.");
    if (request.method !== "GET" && request.method !== "HEAD") return refused(405, "The render engine only reads.");
    if (++asked > MOST_REQUESTS || bytes > MOST_BYTES) return refused(429, "The page asks for too much.");
    while (busy >= AT_ONCE) await Bun.sleep(2);
    busy++;
    try {
      return await ask(request, host);
    } catch {
      return refused(502, "The server did not answer.");
    } finally {
      busy--;
    }
  };
}
