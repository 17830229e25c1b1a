/** CONTRACT 1 `--tls-cert`, RELIABILITY A14: over HTTP/2 one connection has a hundred answers under way, and whoever reads
 *  none of them must not take what others need. */
import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { type ClientHttp2Session, connect } from "node:http2";
import { residentBytes } from "../torture/parts/figures.ts";
import { ended, startProcess, temporaryFolder } from "../kit/process.ts";
import { TLS_CERT, TLS_KEY } from "../kit/paths.ts";
import { ZIP } from "../kit/server.ts";
import { zipOf } from "../kit/zip.ts";

const MB = 1024 * 1024;
const LARGE = crypto
  .getRandomValues(new Uint8Array(48 * 1024))
  .toHex()
  .repeat(32); // 3 MB, another place another byte

/** The status and the body of an answer. */
function ask(session: ClientHttp2Session, host: string, headers: Record<string, string> = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
  const stream = session.request({ ":path": "/large.bin", ":authority": host, ...headers });
  const parts: Buffer[] = [];
  let status = 0;
  stream.on("response", (head) => (status = Number(head[":status"])));
  stream.on("data", (part: Buffer) => parts.push(part));
  stream.on("end", () => resolve({ status, text: Buffer.concat(parts).toString("latin1") }));
  stream.on("error", reject);
  stream.end();
  return promise;
}

describe.if(process.platform === "linux")("HTTP/2", () => {
  test("A14 500 answers of 3 MB that nobody reads hold neither a descriptor each nor their bytes", async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path, "--tls-cert", TLS_CERT, "--tls-key", TLS_KEY]);
    const origin = `https://127.0.0.1:${server.port}`;
    const tls = { rejectUnauthorized: false };
    const body = zipOf({ "index.html": "<title>here</title>", "large.bin": LARGE });
    const answer = await fetch(`${origin}/sites`, { method: "POST", headers: ZIP, body, tls });
    const { slug } = (await answer.json()) as { slug: string };
    const host = `${slug}.localhost:${server.port}`;
    const reader = connect(origin, tls);
    expect((await ask(reader, host)).text).toBe(LARGE);
    const descriptors = () => readdirSync(`/proc/${server.pid}/fd`).length;
    const before = { memory: residentBytes(server.pid), descriptors: descriptors() };
    const stuck = Array.from({ length: 5 }, () => connect(origin, { ...tls, settings: { initialWindowSize: 0 } }));
    await Promise.all(
      stuck.flatMap((session) =>
        Array.from({ length: 100 }, () => {
          const stream = session.request({ ":path": "/large.bin", ":authority": host });
          return new Promise((resolve) => stream.on("response", resolve));
        }),
      ),
    );
    expect((await ask(reader, host)).text).toBe(LARGE);
    const part = await ask(reader, host, { range: "bytes=1000000-1999999" });
    expect([part.status, part.text === LARGE.slice(1_000_000, 2_000_000)]).toEqual([206, true]);
    expect(descriptors() - before.descriptors).toBeLessThan(150);
    expect(residentBytes(server.pid) - before.memory).toBeLessThan(100 * MB);
    for (const session of [reader, ...stuck]) session.destroy();
    expect(await ended(server, "SIGTERM")).toBe(0);
  }, 60_000);
});
