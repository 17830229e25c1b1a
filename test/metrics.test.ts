/** `GET /metrics` (CONTRACT.md 7): who may see it, and that it counts for all workers. */
import { describe, expect, test } from "bun:test";
import { startProcess, temporaryFolder } from "./process.ts";
import { startServer } from "./server.ts";
import { zipOf } from "./zip.ts";

const TOKEN = "a-token-of-some-length";

/** `name{labels}` → value. */
function figures(text: string): Map<string, number> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ")))]));
}

describe("who may see it", () => {
  test.each<[string, number, Record<string, string>]>([
    ["a program on this machine, by address", 200, {}],
    ["by the name localhost", 200, { host: "localhost" }],
    ["by the IPv6 address", 200, { host: "[::1]:99" }],
    ["by another name", 404, { host: "svc.example" }],
    ["by the name of a site", 404, { host: "some-site-0000.localhost" }],
    ["with X-Forwarded-For: a proxy asks for somebody", 404, { "x-forwarded-for": "127.0.0.1" }],
    ["with X-Forwarded-Host", 404, { "x-forwarded-host": "localhost" }],
    ["with Forwarded", 404, { forwarded: "for=127.0.0.1" }],
  ])("without a token: %s: %i", async (_, status, headers) => {
    await using server = await startServer();
    const host = headers.host ?? `127.0.0.1:${server.port}`;
    expect((await server.api("/metrics", { headers: { ...headers, host } })).status).toBe(status);
  });

  test.each<[string, number, string]>([
    ["the token", 200, `Bearer ${TOKEN}`],
    ["the token with a lower-case scheme", 200, `bearer ${TOKEN}`],
    ["another token", 404, `Bearer ${TOKEN}x`],
    ["half of it", 404, `Bearer ${TOKEN.slice(0, -1)}`],
    ["a Basic credential", 404, `Basic ${btoa(`x:${TOKEN}`)}`],
  ])("through a proxy, with %s: %i", async (_, status, authorization) => {
    await using folder = await temporaryFolder();
    const child = await startProcess(["--data-dir", folder.path, "--base-url", "http://svc.test", "--log", "off"], {
      env: { SVC_METRICS_TOKEN: TOKEN },
    });
    const headers = { host: "svc.test", "x-forwarded-for": "192.0.2.7", authorization };
    const answer = await fetch(`http://127.0.0.1:${new URL(await portOf(child)).port}/metrics`, { headers });
    child.kill("SIGTERM");
    await child.exited;
    expect(answer.status).toBe(status);
  });

  test("to others there is nothing at the address, and it is said so as anywhere", async () => {
    await using server = await startServer();
    const at = async (path: string) => {
      const answer = await server.api(path, { headers: { "x-forwarded-for": "192.0.2.7" } });
      const { error, code } = (await answer.json()) as { error: string; code: string };
      return { status: answer.status, error, code };
    };
    expect(await at("/metrics")).toEqual(await at("/no-such-thing"));
  });

  test("a token that is too short stops the start; the token is never printed", async () => {
    await using folder = await temporaryFolder();
    const start = startProcess(["--data-dir", folder.path], { env: { SVC_METRICS_TOKEN: "short" } });
    expect(start).rejects.toThrow("SVC_METRICS_TOKEN");
    await start.catch(() => {});
  });
});
