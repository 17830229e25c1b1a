/** `svc-server health`: what a container's check asks with. */
import { expect, test } from "bun:test";
import { operator } from "../kit/operator.ts";
import { TLS_CERT, TLS_KEY } from "../kit/paths.ts";
import { startProcess, temporaryFolder } from "../kit/process.ts";
import { startServer } from "../kit/server.ts";

/** A proxy that would answer for any server. */
const PROXY = { HTTP_PROXY: "http://127.0.0.1:9", HTTPS_PROXY: "http://127.0.0.1:9" };

test.each([
  ["over HTTP", []],
  ["bound to every address", ["--host", "0.0.0.0"]],
  ["over HTTPS, with a certificate that nobody signed", ["--tls-cert", TLS_CERT, "--tls-key", TLS_KEY]],
  ["with two processes", ["--workers", "2"]],
])(
  "a server %s answers: exit 0; once it has ended: exit 1",
  async (_, flags) => {
    await using folder = await temporaryFolder();
    const server = await startProcess(["--data-dir", folder.path, "--log", "off", ...flags]);
    const health = () => operator(folder.path, ["health", ...flags, "--port", String(server.port)], { env: PROXY });
    try {
      expect(await health()).toMatchObject({
        code: 0,
        stdout: "",
        stderr: expect.stringMatching(/^https?:\S+ answers\n$/),
      });
    } finally {
      server.kill("SIGTERM");
      await server.exited;
    }
    expect(await health()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("does not answer (ECONNREFUSED)"),
    });
  },
  60_000,
);

test("what answers there and is no svc-server is not well; a port that only the server knows cannot be asked", async () => {
  await using server = await startServer();
  await using other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("", { status: 502 }) });
  const health = (port: number) => operator(server.data_dir, ["health", "--port", String(port)]);
  expect(await health(other.port!)).toMatchObject({ code: 1, stderr: expect.stringContaining("answers with 502") });
  expect(await health(0)).toMatchObject({ code: 1, stderr: expect.stringContaining("Give both the same one") });
}, 60_000);
