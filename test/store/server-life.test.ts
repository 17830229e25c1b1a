/** CONTRACT.md 1 and RELIABILITY.md 2: how svc-server starts, runs with several processes, speaks TLS, and ends. */
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, statSync } from "node:fs";
import { chmod, copyFile, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { setSchemaVersion } from "../kit/database.ts";
import { FIXTURES, TLS_CERT, TLS_KEY } from "../kit/paths.ts";
import {
  childrenOf,
  drains,
  ended,
  local,
  parentOf,
  run,
  type ServerProcess,
  SOURCE,
  startProcess,
  temporaryFolder,
} from "../kit/process.ts";
import { ZIP } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { beginUpload } from "../kit/uploads.ts";
import { zipOf } from "../kit/zip.ts";

const TLS = ["--tls-cert", TLS_CERT, "--tls-key", TLS_KEY];

async function deploy(base: string, text: string) {
  const response = await fetch(`${base}/sites`, {
    method: "POST",
    headers: ZIP,
    body: zipOf({ "index.html": text }),
    tls: { rejectUnauthorized: false },
  });
  expect(response.status).toBe(200);
  return (await response.json()) as { slug: string; url: string };
}
describe("the command line", () => {
  test("--help lists the settings and exits 0", async () => {
    const { code, stdout } = await run([...SOURCE, "--help"]);
    expect(code).toBe(0);
    expect(stdout).toContain("SVC_ANONYMOUS_TTL");
  });
  test("--print-config prints the effective settings as JSON", async () => {
    const { code, stdout } = await run([...SOURCE, "--print-config"], { env: { SVC_MAX_FILES: "7" } });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ max_files: 7, port: 8787 });
  });
  test("an invalid value exits 2 with one line", async () => {
    const { code, stderr, stdout } = await run([...SOURCE, "--port", "x"]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toBe('svc-server: --port is "x": it must be a number from 0 to 65535.\n');
  });
  test("`serve` is the default subcommand; another word exits 2", async () => {
    expect((await run([...SOURCE, "serve", "--print-config"])).code).toBe(0);
    expect((await run([...SOURCE, "sreve"])).code).toBe(2);
  });
  test.each([
    ["is not there", "/nowhere", TLS_KEY, /^svc-server: --tls-cert \(SVC_TLS_CERT\) is "\/nowhere": .*ENOENT/],
    ["is a folder", TLS_CERT, "/", /^svc-server: --tls-key \(SVC_TLS_KEY\) is "\/": /],
    ["is swapped with its key", TLS_KEY, TLS_CERT, /do not fit together/],
    ["is no PEM", join(FIXTURES, "tls", "README"), TLS_KEY, /do not fit together/],
  ])(
    "a certificate that %s stops the start: exit 2, one line, nothing made",
    async (_, cert, key, sentence) => {
      await using dir = await temporaryFolder();
      const data = join(dir.path, "data");
      for (const workers of ["1", "2"]) {
        const flags = ["--data-dir", data, "--port", "0", "--workers", workers, "--tls-cert", cert, "--tls-key", key];
        const { code, stderr } = await run([...SOURCE, ...flags]);
        expect(code).toBe(2);
        expect(stderr).toMatch(sentence);
        expect(stderr.trim().split("\n")).toHaveLength(1);
        expect(existsSync(data)).toBe(false);
      }
    },
    20_000,
  );
});

describe("a start", () => {
  test("prints exactly one ready line, and the data directory is for this user alone (A18)", async () => {
    await using dir = await temporaryFolder();
    const data_dir = join(dir.path, "data");
    const server = await startProcess(["--data-dir", data_dir]);
    expect(server.ready_line).toBe(
      `svc-server listening on http://localhost:${server.port} (sites at http://*.localhost:${server.port})`,
    );
    expect(statSync(data_dir).mode & 0o777).toBe(0o700);
    for (const name of ["db", "lock.db", "generation"]) {
      expect(statSync(join(data_dir, name)).mode & 0o077).toBe(0);
    }
    expect(await ended(server, "SIGTERM")).toBe(0);
  });

  test("a second server on the data directory exits 1 and says so; kill -9 frees it (S1)", async () => {
    await using dir = await temporaryFolder();
    const first = await startProcess(["--data-dir", dir.path]);
    const second = await run([...SOURCE, "--port", "0", "--data-dir", dir.path]);
    expect(second.code).toBe(1);
    expect(second.stderr).toContain("Another svc-server is running");
    await ended(first, "SIGKILL");
    const third = await startProcess(["--data-dir", dir.path]);
    expect(await ended(third, "SIGTERM")).toBe(0);
  });

  test("temporary files of another boot are gone, the ballast is there (S3, S4)", async () => {
    await using dir = await temporaryFolder();
    await ended(await startProcess(["--data-dir", dir.path]), "SIGTERM");
    await Bun.write(join(dir.path, "tmp", "half-written"), "x");
    const server = await startProcess(["--data-dir", dir.path]);
    expect(readdirSync(join(dir.path, "tmp"))).toEqual([]);
    expect(statSync(join(dir.path, "ballast")).size).toBe(16 * 1024 * 1024);
    await ended(server, "SIGTERM");
  });

  test("S2 a database of a newer svc-server is refused", async () => {
    await using dir = await temporaryFolder();
    await ended(await startProcess(["--data-dir", dir.path]), "SIGTERM");
    setSchemaVersion(dir.path, 9999);
    const { code, stderr } = await run([...SOURCE, "--port", "0", "--data-dir", dir.path]);
    expect(code).toBe(1);
    expect(stderr).toContain("newer svc-server");
  });

  test.each([
    ["a project's folder", "src/a.ts"],
    ["a folder with a tmp of somebody's own", "tmp/notes.txt"],
  ])("%s is not taken for a data directory: nothing in it is touched", async (_, path) => {
    await using dir = await temporaryFolder();
    await Bun.write(join(dir.path, path), "mine");
    await chmod(dir.path, 0o755);
    const { code, stderr } = await run([...SOURCE, "--port", "0", "--data-dir", dir.path]);
    expect(code).toBe(1);
    expect(stderr).toContain("give the server a folder of its own");
    expect(readdirSync(dir.path, { recursive: true }).sort()).toEqual([dirname(path), path]);
    expect(statSync(dir.path).mode & 0o777).toBe(0o755);
  });

  test("a data directory that cannot be written stops the start with a sentence", async () => {
    await using dir = await temporaryFolder();
    await Bun.write(join(dir.path, "file"), "");
    const { code, stderr } = await run([...SOURCE, "--port", "0", "--data-dir", join(dir.path, "file", "data")]);
    expect(code).toBe(1);
    expect(stderr.split("\n")).toHaveLength(2);
  });
});

describe("the end", () => {
  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
    "K32 %s: what is in flight is answered, connections close, exit 0",
    async (signal) => {
      await using dir = await temporaryFolder();
      const server = await startProcess(["--data-dir", dir.path]);
      const upload = await beginUpload(server.port, zipOf({ "index.html": "in flight" }));
      server.kill(signal);
      await until(() => drains(server));
      expect(upload.answer()).toBe("");
      expect(await upload.finish()).toStartWith("HTTP/1.1 200");
      expect(await server.exited).toBe(0);
      expect(existsSync(join(dir.path, "db-wal"))).toBe(false);
    },
  );

  test("a connection without a request holds nothing up", async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path]);
    const silent = connect(server.port, "127.0.0.1");
    silent.on("error", () => {});
    silent.write("GET / HTTP/1.1\r\nHost: loc");
    await Bun.sleep(100);
    const before = performance.now();
    expect(await ended(server, "SIGTERM")).toBe(0);
    expect(performance.now() - before).toBeLessThan(5000);
    silent.destroy();
  });

  test.if(process.platform === "linux")("SIGHUP leaves a server that nohup started alone", async () => {
    await using dir = await temporaryFolder();
    const command = ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", ...SOURCE];
    const server = await startProcess(["--data-dir", dir.path], { command });
    server.kill("SIGHUP");
    for (let n = 0; n < 3; n++) expect(await drains(server)).toBe(false);
    expect(await ended(server, "SIGTERM")).toBe(0); // a second signal of a drain would be 1
  });

  test("a second signal exits at once", async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path]);
    const stuck = await beginUpload(server.port, zipOf({ "index.html": "never comes whole" }));
    server.kill("SIGTERM");
    await until(() => drains(server));
    server.kill("SIGTERM");
    expect(await server.exited).toBe(1);
    stuck.abandon();
  });
});

describe("the access log", () => {
  test("text: one line an answer, without query or token, with the request id of the answer", async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path]);
    const response = await fetch(`${local(server)}/nothing?token=secret`, {
      headers: { authorization: "Bearer hidden" },
    });
    await ended(server, "SIGTERM");
    const line = server
      .stderr()
      .split("\n")
      .find((text) => text.includes("/nothing"))!;
    const { length } = await response.text();
    expect(line).toMatch(
      new RegExp(
        `^\\S+Z GET 127\\.0\\.0\\.1:${server.port} /nothing 404 ${length} [\\d.]+ms 127\\.0\\.0\\.1 req_\\w+$`,
      ),
    );
    expect(line).toEndWith(response.headers.get("x-request-id")!);
    expect(server.stderr()).not.toContain("secret");
    expect(server.stderr()).not.toContain("hidden");
  });

  test("json: the same as members", async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path, "--log", "json"]);
    const { slug } = await deploy(local(server), "<title>logged</title>");
    const headers = { host: `${slug}.localhost` };
    await fetch(`${local(server)}/`, { headers, method: "HEAD" });
    await ended(server, "SIGTERM");
    const lines = server
      .stderr()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.find((line) => line.method === "HEAD")).toEqual({
      time: expect.any(String),
      method: "HEAD",
      host: `${slug}.localhost`,
      path: "/",
      status: 200,
      bytes: 0,
      ms: expect.any(Number),
      address: "127.0.0.1",
      request_id: expect.stringMatching(/^req_/),
    });
  });

  test("A17 control characters of a host or path stay inside their line", async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path]);
    await fetch(`${local(server)}/a%0a2026-01-01T00:00:00Z%1b[31m`, { headers: { host: "x\u00e9.localhost" } });
    await ended(server, "SIGTERM");
    expect(server.stderr()).toMatch(/^[\x20-\x7e\n]*$/);
    expect(server.stderr().trim().split("\n")).toHaveLength(1);
  });

  test("off: answers are not logged", async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path, "--log", "off"]);
    await fetch(`${local(server)}/healthz`);
    await ended(server, "SIGTERM");
    expect(server.stderr()).toBe("");
  });

  test("a pipe that nobody reads never stops the server", async () => {
    await using dir = await temporaryFolder();
    const child = Bun.spawn([...SOURCE, "--port", "0", "--data-dir", dir.path], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const line = new TextDecoder().decode((await child.stdout.getReader().read()).value);
    const base = `http://127.0.0.1:${/localhost:(\d+)/.exec(line)![1]}`;
    const path = `/${"x".repeat(4000)}`;
    for (let n = 0; n < 40; n++) {
      const answers = await Promise.all(Array.from({ length: 16 }, () => fetch(base + path)));
      for (const answer of answers) expect(answer.status).toBe(404);
    }
    expect((await fetch(`${base}/healthz`)).status).toBe(200);
    child.kill("SIGTERM");
    expect(await child.exited).toBe(0);
  });
});

describe("TLS", () => {
  test("with --tls-cert and --tls-key the API and sites are HTTPS", async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path, ...TLS]);
    expect(server.base_url).toStartWith("https://localhost:");
    const { url } = await deploy(server.base_url, "<title>secret</title>");
    expect(url).toStartWith("https://");
    const page = await fetch(url, { tls: { rejectUnauthorized: false } });
    expect(await page.text()).toContain("<title>secret</title>");
    await ended(server, "SIGTERM");
  });

  test("HTTP/2 is negotiated", async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path, ...TLS]);
    const http2 = await import("node:http2");
    const session = http2.connect(`https://127.0.0.1:${server.port}`, { rejectUnauthorized: false });
    const status = await new Promise((resolve, reject) => {
      session.on("error", reject);
      session
        .request({ ":path": "/healthz" })
        .on("response", (headers) => resolve(headers[":status"]))
        .end();
    });
    expect(status).toBe(200);
    session.close();
    await ended(server, "SIGTERM");
  });
});

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
  }, 20_000);

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
  }, 20_000);

  test("K31 no worker outlives its supervisor", async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path, "--workers", "2", "--log", "off"]);
    const workers = children(server);
    await ended(server, "SIGKILL");
    for (const pid of workers) await gone(pid);
  }, 20_000);

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
  }, 30_000);

  test("a port that another server's workers share is not shared with it", async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", join(dir.path, "one"), "--workers", "2", "--log", "off"]);
    const flags = ["--workers", "2", "--port", String(server.port), "--data-dir", join(dir.path, "two")];
    expect(await run([...SOURCE, ...flags])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`Is port ${server.port} in use?`),
    });
    await ended(server, "SIGTERM");
  }, 20_000);

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
  }, 30_000);

  test("K32 Ctrl-C, which every process of the group gets: what is in flight is answered, exit 0", async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path, "--workers", "2", "--log", "off"]);
    const upload = await beginUpload(server.port, zipOf({ "index.html": "in flight" }));
    for (const pid of [...children(server), server.pid]) process.kill(pid, "SIGINT");
    await until(() => drains(server));
    expect(await upload.finish()).toStartWith("HTTP/1.1 200");
    expect(await server.exited).toBe(0);
  }, 20_000);
});
