/** CONTRACT 1 and RELIABILITY 2: how svc-server starts, speaks TLS, and ends. */
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, statSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { readConfig } from "../../src/config/index.ts";
import { startService } from "../../src/server/service.ts";
import { setSchemaVersion } from "../kit/database.ts";
import { FIXTURES, TLS_CERT, TLS_KEY } from "../kit/paths.ts";
import { drains, ended, local, run, sharedPages, SVC_SERVER, startProcess, temporaryFolder } from "../kit/process.ts";
import { until } from "../kit/until.ts";
import { beginUpload } from "../kit/uploads.ts";
import { zipOf } from "../kit/zip.ts";
import { deployPage } from "./deploy-page.ts";

const TLS = ["--tls-cert", TLS_CERT, "--tls-key", TLS_KEY];

describe("the command line", () => {
  test("--help lists the settings and exits 0", async () => {
    const { code, stdout } = await run([...SVC_SERVER, "--help"]);
    expect(code).toBe(0);
    expect(stdout).toContain("SVC_ANONYMOUS_TTL");
  });
  test("--print-config prints the effective settings as JSON", async () => {
    const { code, stdout } = await run([...SVC_SERVER, "--print-config"], { env: { SVC_MAX_FILES: "7" } });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ max_files: 7, port: 8787 });
  });
  test("an invalid value exits 2 with one line", async () => {
    const { code, stderr, stdout } = await run([...SVC_SERVER, "--port", "x"]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toBe('svc-server: --port is "x": it must be a number from 0 to 65535.\n');
  });
  test("`serve` is the default subcommand; another word exits 2", async () => {
    expect((await run([...SVC_SERVER, "serve", "--print-config"])).code).toBe(0);
    expect((await run([...SVC_SERVER, "sreve"])).code).toBe(2);
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
        const { code, stderr } = await run([...SVC_SERVER, ...flags]);
        expect(code).toBe(2);
        expect(stderr).toMatch(sentence);
        expect(stderr.trim().split("\n")).toHaveLength(1);
        expect(existsSync(data)).toBe(false);
      }
    },
    60_000,
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
    for (const name of ["db", "lock.db"]) expect(statSync(join(data_dir, name)).mode & 0o077).toBe(0);
    for (const page of sharedPages(data_dir)) expect(statSync(page).mode & 0o077).toBe(0);
    expect(await ended(server, "SIGTERM")).toBe(0);
  });

  test("a second server on the data directory exits 1 and says so; kill -9 frees it (S1)", async () => {
    await using dir = await temporaryFolder();
    const first = await startProcess(["--data-dir", dir.path]);
    const second = await run([...SVC_SERVER, "--port", "0", "--data-dir", dir.path]);
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
    const { code, stderr } = await run([...SVC_SERVER, "--port", "0", "--data-dir", dir.path]);
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
    const { code, stderr } = await run([...SVC_SERVER, "--port", "0", "--data-dir", dir.path]);
    expect(code).toBe(1);
    expect(stderr).toContain("give the server a folder of its own");
    expect(readdirSync(dir.path, { recursive: true }).sort()).toEqual([dirname(path), path]);
    expect(statSync(dir.path).mode & 0o777).toBe(0o755);
  });

  test.each([
    [
      "a data directory below a file",
      ["--data-dir", "file/data"],
      /^svc-server: That is a file where a folder is needed\. \(/,
    ],
    [
      "a file for a data directory",
      ["--data-dir", "file"],
      /^svc-server: That is a file where a folder is needed\. \(/,
    ],
    [
      "another machine's address",
      ["--data-dir", "data", "--host", "203.0.113.9"],
      /^svc-server: The address 203\.0\.113\.9 is none of this machine's: set --host /,
    ],
  ] as const)("%s stops it with a sentence that says what to do", async (_, flags, sentence) => {
    await using dir = await temporaryFolder();
    await Bun.write(join(dir.path, "file"), "");
    for (const workers of ["1", "2"]) {
      const { code, stderr } = await run([...SVC_SERVER, "--port", "0", "--workers", workers, ...flags], {
        cwd: dir.path,
      });
      expect(code).toBe(1);
      expect(stderr).toMatch(sentence);
      expect(stderr.split("\n")).toHaveLength(2);
    }
  });
});

describe("the end", () => {
  test.each(["SIGTERM", "SIGINT"] as const)(
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
    const config = readConfig(["--port", "0", "--log", "off", "--data-dir", dir.path], {});
    const service = await startService(config, { now: Date.now, drain_ms: 600_000 });
    const silent = connect(service.config.port, "127.0.0.1");
    silent.on("error", () => {});
    await new Promise((resolve) => silent.write("GET / HTTP/1.1\r\nHost: loc", resolve));
    expect((await fetch(`${local(service.config)}/healthz`)).status).toBe(200); // so the server has that one, too
    await service.stop(); // ten minutes, where anything waits for it
    silent.destroy();
  });

  test.if(process.platform === "linux")("SIGHUP leaves a server that nohup started alone", async () => {
    await using dir = await temporaryFolder();
    const command = ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", ...SVC_SERVER];
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

describe("TLS", () => {
  test("with --tls-cert and --tls-key the API and sites are HTTPS", async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path, ...TLS]);
    expect(server.base_url).toStartWith("https://localhost:");
    const { url } = await deployPage(server.base_url, "<title>secret</title>");
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
