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
const ESTABLISHED = "HTTP/1.1 200 Connection established\r\n\r\n";
const FORBIDDEN = "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

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

/** Hears a connection's first words: a tunnel to an own host, or plain requests, each of which names its host. */
function greet(client: Socket, portFor: (host: string | null) => number | null): void {
  let head = Buffer.alloc(0);
  const heard = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf("\r\n\r\n");
    if (end === -1 && head.length < MOST_HEAD) return;
    client.off("data", heard);
    client.pause();
    const host = CONNECT.exec(head.toString("latin1", 0, MOST_HEAD))?.[1];
    const port = portFor(host ?? null);
    if (port === null || end === -1) return void client.end(FORBIDDEN);
    if (host === undefined) return splice(client, port, head);
    client.write(ESTABLISHED);
    splice(client, port, head.subarray(end + 4));
  };
  client.on("data", heard);
  client.on("error", () => client.destroy());
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
  const inner = Bun.serve({ hostname: LOOPBACK, port: 0, development: false, fetch });
  const coded = tls && Bun.serve({ hostname: LOOPBACK, port: 0, development: false, fetch, tls });
  const innerPort = inner.port!;
  const tunnelPort = coded?.port ?? innerPort;
  const portFor = (tunnel: string | null) =>
    tunnel === null ? innerPort : hostOf(tunnel) === null ? null : tunnelPort;
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
