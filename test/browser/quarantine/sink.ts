/** The host of whoever collects: it remembers which ways led to it. */

export interface Sink extends AsyncDisposable {
  /** Where a way is to arrive. */
  at(way: string): string;
  /** What arrived since the last time. */
  taken(): Set<string>;
  /** An address for STUN, and how many packets came there. */
  udp: { address: string; packets(): number };
}

export async function openSink(): Promise<Sink> {
  let arrived = new Set<string>();
  let packets = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request, self) {
      arrived.add(decodeURIComponent(new URL(request.url).pathname.slice(1)));
      if (self.upgrade(request)) return undefined;
      return new Response("", { headers: { "access-control-allow-origin": "*" } });
    },
    websocket: { message() {} },
  });
  const socket = await Bun.udpSocket({ port: 0, hostname: "127.0.0.1", socket: { data: () => void packets++ } });
  return {
    at: (way) => `http://sink.localhost:${server.port}/${encodeURIComponent(way).replaceAll("'", "%27")}`,
    taken() {
      const all = arrived;
      arrived = new Set();
      return all;
    },
    udp: { address: `127.0.0.1:${socket.port}`, packets: () => packets },
    async [Symbol.asyncDispose]() {
      socket.close();
      await server.stop(true);
    },
  };
}
