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

type Answer = number | "silence" | "slow";

export interface Receiver {
  url: string;
  received: Received[];
  /** What it answers from now on; "silence": nothing; "slow": 200, just before it is given up. */
  answer: Answer | ((told: Received["told"]) => Answer);
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
      const { answer: wanted } = receiver;
      const answer = typeof wanted === "function" ? wanted(JSON.parse(body)) : wanted;
      if (answer === "silence") return new Promise<Response>(() => {});
      if (answer === "slow") await Bun.sleep(4700);
      return new Response("ok", { status: answer === "slow" ? 200 : answer });
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
