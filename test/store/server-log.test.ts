/** CONTRACT 3 and 7: the access log, and the lines of a start and of each deploy. */
import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { ended, local, SVC_SERVER, startProcess, temporaryFolder } from "../kit/process.ts";
import { until } from "../kit/until.ts";
import { zipOf } from "../kit/zip.ts";
import { deployPage } from "./deploy-page.ts";

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
        `^\\S+Z GET 127\\.0\\.0\\.1:${server.port} /nothing 404 ${length} [\\d.]+ms 127\\.0\\.0\\.1 not_found req_\\w+$`,
      ),
    );
    expect(line).toEndWith(response.headers.get("x-request-id")!);
    expect(server.stderr()).not.toContain("secret");
    expect(server.stderr()).not.toContain("hidden");
  });

  test("json: the same as members", async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path, "--log", "json"]);
    const { slug } = await deployPage(local(server), "<title>logged</title>");
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
    const [, line, ...more] = server.stderr().split("\n"); // behind the line of the start
    expect(more).toEqual([""]);
    expect(line).toContain("/a%0a2026-01-01T00:00:00Z%1b[31m");
    expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u); // letters of every script stay as they are
  });

  test.each(["text", "json"])("%s: path and host are cut at 500 characters", async (format) => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path, "--log", format]);
    const host = `${"h".repeat(600)}.localhost`;
    await fetch(`${local(server)}/${"p".repeat(499)}`);
    await fetch(`${local(server)}/${"x".repeat(8_000)}`, { headers: { host } });
    await ended(server, "SIGTERM");
    const [, whole, cut] = server.stderr().trim().split("\n"); // the first one is the start's
    expect(whole).toMatch(/\/p{499}[" ]/);
    expect(cut).toMatch(/\/x{499}…/);
    expect(cut).toMatch(/h{500}…/);
    expect(cut!.length).toBeLessThan(1_300);
  });

  test("the address of a client that left before its answer is still its own", async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path], { env: { SVC_RATE_SIGN_IN: "off" } });
    const body = JSON.stringify({ email: "nobody@example.org", password: "not the password" });
    const request = `POST /auth/login HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    const lines = () =>
      server
        .stderr()
        .split("\n")
        .filter((line) => line.includes("/auth/login"));
    await until(async () => {
      const left = Promise.withResolvers<void>();
      const socket = connect(server.port, "127.0.0.1", () => socket.write(request));
      socket.on("close", () => left.resolve());
      setTimeout(() => socket.destroy(), 30); // the hash takes longer
      await left.promise;
      return lines().length >= 3;
    });
    await ended(server, "SIGTERM");
    for (const line of lines()) expect(line).toContain("ms 127.0.0.1 ");
  });

  test("an error's code stands before the request id, in text and json; where there is none, - and no member", async () => {
    for (const format of ["text", "json"] as const) {
      await using dir = await temporaryFolder();
      const server = await startProcess(["--data-dir", dir.path, "--log", format]);
      const { slug } = await deployPage(local(server), "<title>logged</title>");
      const headers = { host: `${slug}.localhost` };
      for (const path of ["/", "/none"]) await fetch(local(server) + path, { headers });
      await fetch(`${local(server)}/healthz`, { method: "DELETE" });
      await ended(server, "SIGTERM");
      const lines = server.stderr().split("\n").slice(-4, -1);
      const codes = lines.map((line) =>
        format === "text" ? line.split(" ").at(-2) : ((JSON.parse(line) as { code?: string }).code ?? "-"),
      );
      expect(codes).toEqual(["-", "not_found", "method_not_allowed"]);
    }
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
    const child = Bun.spawn([...SVC_SERVER, "--port", "0", "--data-dir", dir.path], {
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

describe("RELIABILITY 2, full disk: the operator hears of it", () => {
  test("a disk that takes no deploys is one error line a minute, however many were refused, with SVC_LOG=off too", async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", dir.path, "--log", "off"], { env: { SVC_DISK_HIGH: "1" } });
    const deploy = async () => {
      const headers = { "content-type": "application/zip" };
      const body = zipOf({ "index.html": "<title>No room</title>" });
      return (await fetch(`${local(server)}/sites`, { method: "POST", headers, body })).status;
    };
    expect([await deploy(), await deploy(), await deploy()]).toEqual([507, 507, 507]);
    expect((await fetch(`${local(server)}/healthz`)).status).toBe(200);
    await ended(server, "SIGTERM");
    const lines = server.stderr().trim().split("\n");
    expect(lines).toEqual([
      expect.stringMatching(
        /^\S+Z error no room on the disk: writes that were refused \(507\) since the last such line: 1; the last one: The server's disk /,
      ),
    ]);
  });
});
