/** The browser's only way out: a proxy on this machine that leads to the site's own hosts and nowhere else. Names are not
 *  looked up at all, so there is no DNS to rebind; a redirect is a new request, judged like the first. */
import { connect, createServer, type Server, type Socket } from "node:net";
import type { RenderJob } from "../job.ts";
import { selfSigned } from "./certificate.ts";
import { ownHosts } from "./own-hosts.ts";
import { createUpstream } from "./upstream.ts";

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

/** Where a connection wants to go: a tunnel, or a request in the form that proxies are asked in (RFC 9112, 3.2.2). */
function wanted(head: string): { host: string; tunnel: boolean } | null {
  const tunnel = CONNECT.exec(head)?.[1];
  if (tunnel !== undefined) return { host: tunnel, tunnel: true };
  const host = ABSOLUTE.exec(head)?.[1];
  return host === undefined ? null : { host, tunnel: false };
}

type PortFor = (host: string, tunnel: boolean) => number | null;

/** Hears a connection's first words. What leads elsewhere is cut off, as if nobody were there; each plain request has a
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
