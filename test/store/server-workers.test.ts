/** CONTRACT 1 and RELIABILITY 2: svc-server with several processes. */
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { copyFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { TLS_CERT, TLS_KEY } from "../kit/paths.ts";
import {
  childrenOf,
  drains,
  ended,
  local,
  parentOf,
  run,
  type ServerProcess,
  SVC_SERVER,
  startProcess,
  temporaryFolder,
} from "../kit/process.ts";
import { ZIP } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { beginUpload } from "../kit/uploads.ts";
import { zipOf } from "../kit/zip.ts";

describe("--workers 2", () => {
  const children = ({ pid }: ServerProcess) => childrenOf(pid);
  const gone = (pid: number) => until(() => parentOf(pid) === null);

  test("P3 a deploy answered by one worker is seen by the next request to any of them", async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path, "--workers", "2", "--log", "off"]);
    expect(children(server)).toHaveLength(2);
    const first = await fetch(`${local(server)}/sites`, {
      method: "POST",
      headers: ZIP,
      body: zipOf({ "index.html": "v0" }),
    });
    const { slug, site_id, manage_token } = (await first.json()) as Record<string, string>;
    const ask = async () => {
      const headers = { host: `${slug}.localhost`, connection: "close" };
      return (await fetch(`${local(server)}/`, { headers })).text();
    };
    for (let version = 1; version <= 5; version++) {
      const answer = await fetch(`${local(server)}/sites/${site_id}/deploys`, {
        method: "POST",
        headers: { ...ZIP, authorization: `Bearer ${manage_token}`, connection: "close" },
        body: zipOf({ "index.html": `v${version}` }),
      });
      expect(answer.status).toBe(200);
      const seen = await Promise.all(Array.from({ length: 12 }, ask));
      for (const text of seen) expect(text).toContain(`v${version}`);
    }
    expect(await ended(server, "SIGTERM")).toBe(0);
  }, 60_000);

  test("K30 a worker that dies is replaced, and the others answer meanwhile", async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path, "--workers", "2", "--log", "off"]);
    const [victim] = children(server);
    process.kill(victim!, "SIGKILL");
    // Until its last thread has let go of the listening socket, the kernel may still hand it a connection.
    await until(() => !existsSync(`/proc/${victim}`));
    for (let n = 0; n < 5; n++) expect((await fetch(`${local(server)}/healthz`)).status).toBe(200);
    await until(() => children(server).length === 2);
    await ended(server, "SIGTERM");
  }, 60_000);

  test("K31 no worker outlives its supervisor", async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path, "--workers", "2", "--log", "off"]);
    const workers = children(server);
    await ended(server, "SIGKILL");
    for (const pid of workers) await gone(pid);
  }, 60_000);

  test("SIGHUP replaces them one by one, and no request fails", async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path, "--workers", "2", "--log", "off"]);
    const before = children(server);
    let stop = false;
    let answered = 0;
    const client = async () => {
      while (!stop) {
        // On kept connections, as browsers and proxies have them. One that is opened in the very moment in which a
        // listener closes is the kernel's to hand on (net.ipv4.tcp_migrate_req, docs/self-hosting.md).
        const response = await fetch(`${local(server)}/healthz`);
        expect(response.status).toBe(200);
        await response.arrayBuffer();
        answered++;
      }
    };
    const clients = Promise.all([client(), client()]);
    server.kill("SIGHUP");
    for (const pid of before) await gone(pid);
    stop = true;
    await clients;
    expect(answered).toBeGreaterThan(10);
    expect(children(server)).toHaveLength(2);
    await ended(server, "SIGTERM");
  }, 60_000);

  test("a port that another server's workers share is not shared with it", async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", join(dir.path, "one"), "--workers", "2", "--log", "off"]);
    const flags = ["--workers", "2", "--port", String(server.port), "--data-dir", join(dir.path, "two")];
    expect(await run([...SVC_SERVER, ...flags])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`Is port ${server.port} in use?`),
    });
    await ended(server, "SIGTERM");
  }, 60_000);

  test("SIGHUP with a certificate that cannot be read: the workers that serve go on, and the next one heals", async () => {
    await using dir = await temporaryFolder();
    const cert = join(dir.path, "cert.pem");
    await copyFile(TLS_CERT, cert);
    const flags = ["--data-dir", join(dir.path, "data"), "--tls-cert", cert, "--tls-key", TLS_KEY];
    const server = await startProcess([...flags, "--workers", "2", "--log", "off"]);
    const before = children(server);
    await writeFile(cert, "no certificate");
    server.kill("SIGHUP");
    await until(() => server.stderr().includes("SIGHUP"));
    const health = await fetch(`${server.base_url}/healthz`, { tls: { rejectUnauthorized: false } });
    expect(health.status).toBe(200);
    expect(children(server)).toEqual(before);
    await copyFile(TLS_CERT, cert);
    server.kill("SIGHUP");
    for (const pid of before) await gone(pid);
    expect(children(server)).toHaveLength(2);
    expect(await ended(server, "SIGTERM")).toBe(0);
  }, 60_000);

  test("K32 Ctrl-C, which every process of the group gets: what is in flight is answered, exit 0", async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path, "--workers", "2", "--log", "off"]);
    const upload = await beginUpload(server.port, zipOf({ "index.html": "in flight" }));
    for (const pid of [...children(server), server.pid]) process.kill(pid, "SIGINT");
    await until(() => drains(server));
    expect(await upload.finish()).toStartWith("HTTP/1.1 200");
    expect(await server.exited).toBe(0);
  }, 60_000);
});
