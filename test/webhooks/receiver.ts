/** A receiver of webhooks on this machine, and what the `standardwebhooks` package (test/tools) says of what it got. */
import { join } from "node:path";
import { TOOLS } from "../kit/paths.ts";

const PACKAGE = join(TOOLS, "node_modules", "standardwebhooks", "dist", "index.js");

interface Checker {
  /** Throws where the signature is another one, or the timestamp over five minutes off. */
  verify(body: string, headers: Record<string, string>): unknown;
}
const { Webhook } = (await import(PACKAGE)) as {
  Webhook: new (secret: string, options?: { format: "raw" }) => Checker;
};
export { Webhook };

export interface Received {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
  /** The body. */
  told: { id: string; type: string; created_at: string; site_id: string; visibility: string; data: any };
}

export interface Receiver {
  url: string;
  received: Received[];
  /** What it answers from now on; "silence": nothing. */
  answer: number | "silence";
  stop(): void;
}

export function startReceiver(tls?: { cert: string; key: string }, hostname = "127.0.0.1"): Receiver {
  const received: Received[] = [];
  const server = Bun.serve({
    port: 0,
    hostname,
    ...(tls && { tls }),
    fetch: async (request) => {
      const body = await request.text();
      const { pathname } = new URL(request.url);
      const headers = Object.fromEntries(request.headers);
      received.push({ method: request.method, path: pathname, headers, body, told: JSON.parse(body) });
      if (receiver.answer === "silence") return new Promise<Response>(() => {});
      return new Response("ok", { status: receiver.answer });
    },
  });
  const receiver: Receiver = {
    url: `${tls ? "https" : "http"}://${hostname}:${server.port}/hook`,
    received,
    answer: 200,
    stop: () => server.stop(true),
  };
  return receiver;
}
