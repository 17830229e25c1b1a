/** `health`: does the server on this machine answer? For whoever starts it anew where it does not: in an image there is no
 *  curl to ask with. */
import type { Config } from "../config/index.ts";
import type { Command } from "./command.ts";

/** Less than the 5 s that a container's check is usually given. */
const WAIT_MS = 4_000;

/** Where a server that is bound to `host` can be asked from here. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}

function addressOf({ host, port, tls_cert }: Config): string {
  if (port === 0)
    throw new Error("--port 0 lets the server pick a port, which nobody else knows. Give both the same one.");
  return `${tls_cert === null ? "http" : "https"}://${reachable(host)}:${port}`;
}

export const health: Command = {
  name: "health",
  arguments: [],
  options: {},
  summary: "ask the server on this machine whether it answers; exit code 1 where it does not",
  more: "It asks /healthz at the address that --host and --port (SVC_HOST, SVC_PORT) name. Who signed the certificate does not matter.",
  async run({ config, note }) {
    const address = addressOf(await config());
    const options = { signal: AbortSignal.timeout(WAIT_MS), tls: { rejectUnauthorized: false }, proxy: false } as const;
    const status = await fetch(`${address}/healthz`, options).then(
      (answer) => `answers with ${answer.status}`,
      (error: Error) => `does not answer (${"code" in error ? error.code : error.name})`,
    );
    const well = status.endsWith(" 200");
    note(well ? `${address} answers` : `${address} ${status}`);
    return well ? 0 : 1;
  },
};
