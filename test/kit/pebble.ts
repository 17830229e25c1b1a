/** Debian's `pebble`: a real ACME server (RFC 8555), strict, that refuses half of all nonces, for names that a DNS server of the test's own tells. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { certificateFor } from "./certificate.ts";
import { debianProgram } from "./debian-package.ts";
import { until } from "./until.ts";

export interface Pebble extends AsyncDisposable {
  directory: string;
  /** PEM file that its own https is signed by. */
  ca_file: string;
  /** PEM of the root that signs what it issues. */
  root(): Promise<string>;
  /** All that it has said. */
  log(): string;
}

interface PebbleOptions {
  /** `127.0.0.1:port`. */
  dns: string;
  /** The port at which it looks for HTTP-01. */
  http_port: number;
  /** Percent of nonces that it refuses. */
  refuses?: number;
  /** Percent of orders for a name that was proved before and is not looked at again. */
  reuses?: number;
}

/** One that nobody has now. */
export function freePort(): number {
  const probe = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  const { port } = probe;
  void probe.stop(true);
  return port!;
}

export async function startPebble({ dns, http_port, refuses = 50, reuses = 50 }: PebbleOptions): Promise<Pebble> {
  const program = await debianProgram("pebble");
  const folder = await mkdtemp(join(tmpdir(), "svc-pebble-"));
  const file = (name: string) => join(folder, name);
  const pair = certificateFor(["localhost"]);
  await Promise.all([writeFile(file("cert.pem"), pair.cert), writeFile(file("key.pem"), pair.key)]);
  const [port, management] = [freePort(), freePort()];
  const config = {
    pebble: {
      listenAddress: `127.0.0.1:${port}`,
      managementListenAddress: `127.0.0.1:${management}`,
      certificate: file("cert.pem"),
      privateKey: file("key.pem"),
      httpPort: http_port,
      tlsPort: freePort(),
      ocspResponderURL: "",
      externalAccountBindingRequired: false,
    },
  };
  await writeFile(file("config.json"), JSON.stringify(config));
  let said = "";
  const child = Bun.spawn([program, "-strict", "-config", file("config.json"), "-dnsserver", dns], {
    env: { PEBBLE_WFE_NONCEREJECT: String(refuses), PEBBLE_AUTHZREUSE: String(reuses), PEBBLE_VA_NOSLEEP: "1" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const listen = async (stream: ReadableStream<Uint8Array>) => {
    for await (const piece of stream) said += Buffer.from(piece).toString();
  };
  void listen(child.stdout);
  void listen(child.stderr);
  const ask = (url: string) => fetch(url, { tls: { ca: pair.cert } });
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`pebble ended: ${said}`);
    return (await ask(`https://localhost:${port}/dir`).catch(() => null))?.ok === true;
  });
  return {
    directory: `https://localhost:${port}/dir`,
    ca_file: file("cert.pem"),
    root: async () => (await ask(`https://localhost:${management}/roots/0`)).text(),
    log: () => said,
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
