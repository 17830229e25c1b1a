/** CONTRACT 7: SIGHUP reads certificate and key again, also with one process, and nobody is cut off. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { connect as connectHttp2 } from "node:http2";
import { connect, type PeerCertificate } from "node:tls";
import { join } from "node:path";
import { openSockets } from "../../src/server/sockets.ts";
import { createServers } from "../../src/server/servers.ts";
import { certificateFor, pairFiles } from "../kit/certificate.ts";
import { ended, type ServerProcess, SVC_SERVER, startProcess, temporaryFolder } from "../kit/process.ts";
import { until } from "../kit/until.ts";

setDefaultTimeout(60_000);

const HOSTS = ["localhost", "*.localhost"];
const named = (name: string) => certificateFor([name, ...HOSTS]);
const tls = { rejectUnauthorized: false };

const listenersAt = (port: number): number => openSockets()!.listeners(port)!.length;

/** The common name of the certificate that a new connection gets. */
function nameAt({ port }: ServerProcess): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect({ port, host: "127.0.0.1", ...tls }, () => {
    resolve(String((socket.getPeerCertificate() as PeerCertificate).subject.CN));
    socket.destroy();
  });
  socket.on("error", reject);
  return promise;
}

async function startWith(folder: string, name: string) {
  const files = pairFiles(folder);
  await files.write(named(name));
  const server = await startProcess(["--data-dir", join(folder, "data"), "--log", "off", ...files.flags]);
  return { files, server };
}

/** Asks without end until it is told to stop; resolves to how many answers were 200, and to every other. */
function asking(ask: () => Promise<number>) {
  let stopped = false;
  const outcome = { answered: 0, failed: [] as unknown[] };
  const done = (async () => {
    while (!stopped) {
      const status = await ask().catch((error: unknown) => error);
      if (status === 200) outcome.answered++;
      else {
        outcome.failed.push(status);
        await Bun.sleep(10); // a session that has ended fails without waiting for anything
      }
    }
    return outcome;
  })();
  return {
    stop(): Promise<typeof outcome> {
      stopped = true;
      return done;
    },
  };
}

async function health(server: ServerProcess, headers: Record<string, string> = {}): Promise<number> {
  const answer = await fetch(`${server.base_url}/healthz`, { tls, headers });
  await answer.arrayBuffer();
  return answer.status;
}

/** One HTTP/2 connection for all its requests. */
function http2Asking(server: ServerProcess) {
  const session = connectHttp2(`https://127.0.0.1:${server.port}`, tls);
  const asker = asking(() => {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const stream = session.request({ ":path": "/healthz" });
    let status = 0;
    stream.on("response", (head) => (status = Number(head[":status"])));
    stream.on("end", () => resolve(status));
    stream.on("error", reject);
    stream.resume().end();
    return promise;
  });
  return { stop: () => asker.stop().finally(() => session.destroy()) };
}

describe.if(process.platform === "linux")("one process", () => {
  test("no request on an open or a new connection fails, and new connections get the new pair within 3 s", async () => {
    await using dir = await temporaryFolder();
    const { files, server } = await startWith(dir.path, "first.localhost");
    const clients = [
      asking(() => health(server)),
      asking(() => health(server, { connection: "close" })),
      asking(async () => ((await nameAt(server)) ? 200 : 0)),
      http2Asking(server),
    ];
    for (const name of ["second.localhost", "third.localhost", "fourth.localhost"]) {
      await files.write(named(name));
      server.kill("SIGHUP");
      const from = performance.now();
      await until(async () => (await nameAt(server)) === name);
      expect(performance.now() - from).toBeLessThan(3000);
      for (let n = 0; n < 20; n++) expect(await nameAt(server)).toBe(name);
    }
    for (const outcome of await Promise.all(clients.map((client) => client.stop()))) {
      expect(outcome.failed).toEqual([]);
      expect(outcome.answered).toBeGreaterThan(10);
    }
    expect(await ended(server, "SIGTERM")).toBe(0);
  });

  test("what is in flight on an open connection is answered; its answer closes the connection", async () => {
    await using dir = await temporaryFolder();
    const { files, server } = await startWith(dir.path, "first.localhost");
    const socket = connect({ port: server.port, host: "127.0.0.1", ...tls });
    let heard = "";
    socket.setEncoding("utf8").on("data", (text: string) => (heard += text));
    const closed = new Promise((resolve) => socket.on("close", resolve));
    socket.write(
      `POST /auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{`,
    );
    expect(await health(server)).toBe(200); // so the server has that one, too
    await files.write(named("second.localhost"));
    server.kill("SIGHUP");
    await until(async () => (await nameAt(server)) === "second.localhost");
    socket.write("}");
    await until(() => heard.includes("request_id"));
    expect(heard).toStartWith("HTTP/1.1 400");
    expect(heard.toLowerCase()).toContain("\r\nconnection: close\r\n");
    await closed;
    expect(await ended(server, "SIGTERM")).toBe(0);
  });

  test.each([
    ["that cannot be read", (cert: string) => writeFile(cert, "no certificate"), "do not fit together"],
    ["that does not fit", (cert: string) => writeFile(cert, named("other.localhost").cert), "do not fit together"],
    ["that is gone", (cert: string) => Bun.file(cert).delete(), "that can be read (ENOENT)"],
  ])("a pair %s leaves the old one, and a log line says so", async (_, spoil, sentence) => {
    await using dir = await temporaryFolder();
    const { files, server } = await startWith(dir.path, "first.localhost");
    await spoil(files.cert);
    server.kill("SIGHUP");
    await until(() => server.stderr().includes("SIGHUP"));
    const line = server
      .stderr()
      .split("\n")
      .find((one) => one.includes("SIGHUP"));
    expect(line).toMatch(/ error SIGHUP: the certificate stays as it was: --tls-cert /);
    expect(line).toContain(sentence);
    expect(await nameAt(server)).toBe("first.localhost");
    await files.write(named("second.localhost"));
    server.kill("SIGHUP");
    await until(async () => (await nameAt(server)) === "second.localhost");
    expect(await ended(server, "SIGTERM")).toBe(0);
  });

  test("without TLS there is nothing to read: the server goes on, and says so", async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path]);
    server.kill("SIGHUP");
    await until(() => server.stderr().includes("there is no certificate to read again"));
    const answer = await fetch(`${server.base_url}/healthz`);
    expect([answer.status, answer.headers.get("connection")]).toEqual([200, expect.not.stringMatching(/close/)]);
    expect(await ended(server, "SIGTERM")).toBe(0); // a second signal of a drain would be 1
  });
});

/** Sockets that say which they are, without TLS. `at`: who gets so many new connections. */
function numbered(quiet_ms: number) {
  let made = 0;
  const servers = createServers(
    (port, shares) => {
      const number = ++made;
      return Bun.serve({ port, hostname: "127.0.0.1", reusePort: shares, fetch: () => new Response(`${number}`) });
    },
    0,
    quiet_ms,
  );
  const ask = async () =>
    (await fetch(`http://127.0.0.1:${servers.port}/`, { headers: { connection: "close" }, keepalive: false })).text();
  const at = async () => new Set(await Promise.all(Array.from({ length: 40 }, ask)));
  return { servers, at };
}

describe.if(process.platform === "linux")("the sockets of one port", () => {
  test("the youngest takes all new connections, also after an older one has closed", async () => {
    const { servers, at } = numbered(0);
    expect(await at()).toEqual(new Set(["1"]));
    for (const youngest of ["2", "3", "4"]) {
      servers.replace();
      expect(await at()).toEqual(new Set([youngest]));
    }
    await Bun.sleep(5);
    servers.endQuiet();
    await until(() => servers.stopping().length === 0);
    expect(listenersAt(servers.port)).toBe(1);
    expect(await at()).toEqual(new Set(["4"]));
    servers.replace();
    expect(await at()).toEqual(new Set(["5"]));
    servers.shut();
    await until(() => servers.stopping().length === 0);
    servers.open();
    expect(await at()).toEqual(new Set(["6"]));
    servers.replace();
    expect(await at()).toEqual(new Set(["7"]));
    servers.shut();
  });

  test("one that is still asked stays until it is not", async () => {
    const { servers, at } = numbered(200);
    await at();
    servers.replace();
    servers.endQuiet();
    expect(listenersAt(servers.port)).toBe(2);
    await until(() => {
      servers.endQuiet();
      return listenersAt(servers.port) === 1;
    });
    expect(await at()).toEqual(new Set(["2"]));
    servers.shut();
  });
});

describe.if(process.platform === "linux")("a server that was started on a terminal", () => {
  test.each(["1", "2"])("drains at SIGHUP, which a closed terminal sends (%s workers)", async (workers) => {
    await using dir = await temporaryFolder();
    let shown = "";
    const child = Bun.spawn([...SVC_SERVER, "--port", "0", "--data-dir", dir.path, "--workers", workers], {
      terminal: { data: (_terminal, bytes) => void (shown += new TextDecoder().decode(bytes)) },
    });
    await until(() => shown.includes("listening on"));
    child.kill("SIGHUP");
    expect(await child.exited).toBe(0);
  });
});
