/** `fetch` for a server of svc: it finds one on this machine, and under Node it takes the proxy that the environment names, as Bun's
 *  does by itself (CONTRACT 8). */
import type { IncomingMessage, RequestOptions } from "node:http";
import type { Socket } from "node:net";
import { direct, isLoopback } from "./loopback.ts";

interface Proxy {
  /** Null if the variable holds no address of a proxy. */
  url: URL | null;
  /** The variable that names it. */
  variable: string;
}

/** An entry of NO_PROXY: a host with all below it, at one port or at any. */
function isExempt({ hostname, port, protocol }: URL, entry: string): boolean {
  if (entry === "*") return true;
  const [, host, at] = /^(?:\*?\.)?(.*?)(?::(\d+))?$/.exec(entry.toLowerCase())!;
  if (!host || (at !== undefined && at !== (port || (protocol === "https:" ? "443" : "80")))) return false;
  return hostname === host || hostname.endsWith(`.${host}`);
}

/** The proxy for a server, as Bun's fetch reads the environment; null if a request uses none. */
export function proxyFor(url: URL, env: Readonly<Record<string, string | undefined>>): Proxy | null {
  const name = url.protocol === "https:" ? "https_proxy" : "http_proxy";
  const variables = [name, name.toUpperCase(), "all_proxy", "ALL_PROXY"];
  const variable = variables.find((one) => env[one]);
  if (variable === undefined || isLoopback(url)) return null;
  const exempt = (env["no_proxy"] || env["NO_PROXY"] || "").split(",").map((entry) => entry.trim());
  if (exempt.some((entry) => isExempt(url, entry))) return null;
  const proxy = env[variable]!;
  const full = proxy.includes("://") ? proxy : `http://${proxy}`;
  return { url: URL.canParse(full) ? new URL(full) : null, variable };
}

const failed = (message: string, code: string, status?: number): Error =>
  Object.assign(new Error(message), { code, ...(status !== undefined && { status }) });

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, "");
const portOf = ({ port, protocol }: URL): number => Number(port || (protocol === "https:" ? 443 : 80));

/** A password with a bare % in it is meant as it stands. */
function decoded(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}

function credentialsOf({ username, password }: URL): Record<string, string> {
  if (username + password === "") return {};
  const words = [username, password].map(decoded).join(":");
  return { "proxy-authorization": `Basic ${Buffer.from(words).toString("base64")}` };
}

/** The name that the certificate of a host must have; Node takes the Host header's else, which names another. */
const nameOf = (url: URL): string => (/^[\d.]+$|:/.test(hostOf(url)) ? "" : hostOf(url));

/** Node's `http` or `https`, whichever a URL is asked by. */
const clientOf = async ({ protocol }: URL) => (protocol === "https:" ? import("node:https") : import("node:http"));

/** A connection to the server, made by the proxy (RFC 9110, 9.3.6). */
async function tunnel(proxy: URL, url: URL, signal: AbortSignal | undefined): Promise<Socket> {
  const { request } = await clientOf(proxy);
  const target = `${url.hostname}:${portOf(url)}`;
  const headers = { host: target, ...credentialsOf(proxy) };
  const by = { host: hostOf(proxy), port: portOf(proxy), servername: nameOf(proxy), agent: false };
  const where = { ...by, method: "CONNECT", path: target, headers };
  return new Promise((resolve, reject) => {
    const asked = request({ ...where, ...(signal && { signal }) });
    asked.on("error", reject);
    asked.on("response", reject); // CONNECT was taken for another method
    asked.on("connect", ({ statusCode }: IncomingMessage, socket: Socket) => {
      if (statusCode! >= 200 && statusCode! < 300) return resolve(socket);
      socket.destroy();
      reject(failed(`the proxy answered ${statusCode}`, "ERR_PROXY_TUNNEL", statusCode));
    });
    asked.end();
  });
}

/** How the request itself is sent: within a tunnel, or, without TLS, to the proxy with the whole address. */
async function routeOf(proxy: URL, url: URL, signal: AbortSignal | undefined): Promise<RequestOptions & { via: URL }> {
  if (url.protocol !== "https:") {
    const headers = { host: url.host, ...credentialsOf(proxy) };
    const by = { host: hostOf(proxy), port: portOf(proxy), servername: nameOf(proxy), agent: false };
    return { via: proxy, ...by, path: url.href, headers };
  }
  const socket = await tunnel(proxy, url, signal);
  const { connect } = await import("node:tls");
  const host = hostOf(url);
  // The certificate is checked for `host`, an address too; without it for the proxy's own name.
  const createConnection = () => connect({ socket, host, servername: nameOf(url) });
  return {
    via: url,
    host,
    port: portOf(url),
    path: url.pathname + url.search,
    headers: { host: url.host },
    createConnection,
  };
}

const WITHOUT_BODY = new Set([204, 205, 304]);

async function responseOf(message: IncomingMessage): Promise<Response> {
  const { Readable } = await import("node:stream");
  const headers = new Headers();
  for (let at = 0; at < message.rawHeaders.length; at += 2) {
    headers.append(message.rawHeaders[at]!, message.rawHeaders[at + 1]!);
  }
  const status = message.statusCode!;
  const body = WITHOUT_BODY.has(status) ? null : (Readable.toWeb(message) as unknown as ReadableStream<Uint8Array>);
  if (body === null) message.resume();
  return new Response(body, { status, headers });
}

/** `fetch` with the parts of it that svc uses: a method, plain headers, a body, a signal, no redirect. */
async function fetchThrough(proxy: Proxy, url: URL, init: RequestInit): Promise<Response> {
  if (proxy.url === null || !/^https?:$/.test(proxy.url.protocol)) {
    throw failed(`${proxy.variable} names no proxy of HTTP`, "ENOTFOUND");
  }
  const signal = init.signal ?? undefined;
  try {
    const { via, headers, ...route } = await routeOf(proxy.url, url, signal);
    const { request } = await clientOf(via);
    const { Readable } = await import("node:stream");
    const { pipeline } = await import("node:stream/promises");
    const message = await new Promise<IncomingMessage>((resolve, reject) => {
      const all = { ...headers, ...(init.headers as Record<string, string>), connection: "close" };
      const asked = request({
        ...route,
        method: init.method ?? "GET",
        headers: all,
        ...(signal && { signal }),
      });
      asked.on("error", reject);
      asked.on("response", resolve);
      const { body } = init;
      if (body instanceof ReadableStream) pipeline(Readable.fromWeb(body as never), asked).catch(reject);
      else asked.end(body instanceof ArrayBuffer ? new Uint8Array(body) : (body ?? undefined));
    });
    return await responseOf(message);
  } catch (error) {
    throw signal?.aborted === true ? signal.reason : error;
  }
}

/** Tried if localhost is known as ::1 only. */
const IPV4 = "127.0.0.1";

/** `fetch` that finds a server on this machine: Node 18 tries only the first address of a name, and if localhost is ::1 it
 *  misses a server on 127.0.0.1. `init` is called anew for each try, as a body is read once. */
export async function fetchService(address: string, init: () => RequestInit): Promise<Response> {
  const url = new URL(address);
  const proxy = process.versions.bun === undefined ? proxyFor(url, process.env) : null;
  if (proxy !== null) return fetchThrough(proxy, url, init());
  const first = fetch(url, { ...init(), ...direct(url) });
  if (url.hostname !== "localhost") return first;
  return first.catch((error: unknown) => {
    if ((error as { cause?: { code?: string } }).cause?.code !== "ECONNREFUSED") throw error;
    url.hostname = IPV4;
    return fetch(url, { ...init(), ...direct(url) });
  });
}
