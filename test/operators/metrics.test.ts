/** `GET /metrics` (CONTRACT 7): who may see it, and that it counts for all workers. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { unlink } from "node:fs/promises";
import { blobFile, operate } from "../kit/operator.ts";
import { run, SVC_SERVER, startProcess, temporaryFolder } from "../kit/process.ts";
import { startServer, type TestServer } from "../kit/server.ts";
import { until } from "../kit/until.ts";

setDefaultTimeout(60_000);

const TOKEN = "a-token-of-some-length";

/** `name{labels}` → value. */
function figures(text: string): Map<string, number> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ")))]),
  );
}

describe("who may see it", () => {
  let plain: TestServer;
  let named: TestServer;
  beforeAll(async () => {
    plain = await startServer();
    named = await startServer("--base-url", "http://svc.test", { SVC_METRICS_TOKEN: TOKEN });
  });
  afterAll(() => Promise.all([plain[Symbol.asyncDispose](), named[Symbol.asyncDispose]()]));

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
    const host = headers.host ?? `127.0.0.1:${plain.port}`;
    expect((await plain.api("/metrics", { headers: { ...headers, host } })).status).toBe(status);
  });

  test.each<[string, number, string]>([
    ["the token", 200, `Bearer ${TOKEN}`],
    ["the token with a lower-case scheme", 200, `bearer ${TOKEN}`],
    ["another token", 404, `Bearer ${TOKEN}x`],
    ["half of it", 404, `Bearer ${TOKEN.slice(0, -1)}`],
    ["a Basic credential", 404, `Basic ${btoa(`x:${TOKEN}`)}`],
  ])("through a proxy, with %s: %i", async (_, status, authorization) => {
    const headers = { host: "svc.test", "x-forwarded-for": "192.0.2.7", authorization };
    expect((await named.api("/metrics", { headers })).status).toBe(status);
  });

  test("to others there is nothing at the address, and it is said so as anywhere", async () => {
    const at = async (path: string) => {
      const answer = await plain.api(path, { headers: { "x-forwarded-for": "192.0.2.7" } });
      const { error, code } = (await answer.json()) as { error: string; code: string };
      return { status: answer.status, error, code };
    };
    expect(await at("/metrics")).toEqual(await at("/no-such-thing"));
  });

  test("the token opens it on the API's own host alone", async () => {
    const authorization = `Bearer ${TOKEN}`;
    const at = async (host: string) => (await named.api("/metrics", { headers: { host, authorization } })).status;
    expect([await at("svc.test"), await at("some-site-0000.svc.test"), await at("else.test")]).toEqual([200, 404, 404]);
  });

  test("a token that is too short stops the start, and no message or print-out shows one", async () => {
    const secret = "too/short";
    const refused = await run([...SVC_SERVER, "--print-config"], { env: { SVC_METRICS_TOKEN: secret } });
    expect([refused.code, refused.stdout]).toEqual([2, ""]);
    expect(refused.stderr).toContain("SVC_METRICS_TOKEN");
    expect(refused.stderr).not.toContain(secret);
    const printed = await run([...SVC_SERVER, "--print-config"], { env: { SVC_METRICS_TOKEN: TOKEN } });
    expect(JSON.parse(printed.stdout)).toMatchObject({ metrics_token: "***" });
  });
});

/** Its buckets hold what is below their bound, the last holds all, and the sum is theirs. */
function expectHistogram(text: string, name: string): void {
  const lines = [...text.matchAll(new RegExp(`^${name}_bucket\\{le="([^"]+)"\\} (\\d+)$`, "gm"))];
  const bounds = lines.map(([, bound]) => (bound === "+Inf" ? Infinity : Number(bound)));
  const counts = lines.map(([, , count]) => Number(count));
  expect(bounds).toEqual(bounds.toSorted((a, b) => a - b));
  expect(bounds.at(-1)).toBe(Infinity);
  expect(counts).toEqual(counts.toSorted((a, b) => a - b));
  const all = figures(text);
  expect(all.get(`${name}_count`)).toBe(counts.at(-1)!);
  expect(all.get(`${name}_count`)).toBeGreaterThan(0);
  expect(all.get(`${name}_sum`)).toBeGreaterThan(0);
}

describe("what it says", () => {
  const read = async (port: number) => {
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { connection: "close" } });
    expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    return answer.text();
  };

  test("Prometheus' text format: each name with one HELP and one TYPE before its lines", async () => {
    await using server = await startServer();
    await server.deploy({ "index.html": "x" });
    const text = await read(server.port);
    expect(text.endsWith("\n")).toBe(true);
    let name = "";
    let type = "";
    const seen = new Set<string>();
    for (const line of text.trimEnd().split("\n")) {
      const preamble = /^# (HELP|TYPE) ([a-z_]+) (.+)$/.exec(line);
      if (preamble?.[1] === "HELP") {
        name = preamble[2]!;
        expect(seen).not.toContain(name);
        seen.add(name);
      } else if (preamble) {
        expect([preamble[2], preamble[3]]).toEqual([name, expect.stringMatching(/^(counter|gauge|histogram)$/)]);
        type = preamble[3]!;
        // By Prometheus' conventions: promtool says so too, where it is there (.ci/run).
        expect([name, name.endsWith("_total")]).toEqual([name, type === "counter"]);
        expect(name).not.toMatch(/_(count|sum|bucket)$|_(ms|milliseconds|kb|mb|minutes)(_|$)/);
      } else {
        const suffix = type === "histogram" ? "_(bucket|sum|count)" : "";
        const labels = String.raw`(\{([a-z]+="[^"\\\n]+",?)+\})?`;
        expect(line).toMatch(new RegExp(String.raw`^${name}${suffix}${labels} \d+(\.\d+)?$`));
      }
    }
    expect(seen).toContain("svc_blobs_missing");
    for (const one of ["svc_request_duration_seconds", "svc_deploy_duration_seconds"]) expectHistogram(text, one);
  });

  test("latencies, slots, descriptors, connections, start and build stand there", async () => {
    await using server = await startServer("--max-connections", "77");
    await server.deploy({ "index.html": "x" });
    await server.site("nobody-at-all-0000");
    const all = figures(await read(server.port));
    expect(all.get("svc_request_duration_seconds_count")).toBe(2); // not yet the one that asks
    expect(all.get("svc_deploy_duration_seconds_count")).toBe(1);
    expect(all.get("svc_deploy_duration_seconds_sum")).toBeGreaterThan(0);
    expect(all.get("svc_deploy_slots")).toBeGreaterThanOrEqual(2);
    expect([all.get("svc_deploy_slots_busy"), all.get("svc_deploys_waiting")]).toEqual([0, 0]);
    const started = all.get('process_start_time_seconds{worker="0"}')!;
    expect(Math.abs(started - server.now() / 1000)).toBeLessThan(600);
    expect(all.get('process_cpu_seconds_total{worker="0"}')).toBeGreaterThan(0);
    expect([...all.keys()].find((name) => name.startsWith("svc_build_info"))).toContain(`bun="${Bun.version}"`);
    if (process.platform !== "linux") return; // nobody else tells
    expect(all.get('process_open_fds{worker="0"}')).toBeGreaterThan(10);
    expect(all.get('process_max_fds{worker="0"}')).toBeGreaterThan(100);
    expect(all.get("svc_connections_allowed")).toBe(77);
  });

  test("a deploy that runs and one that waits are seen while they do", async () => {
    await using server = await startServer();
    const before = figures(await read(server.port)).get("svc_deploy_slots")!;
    const many = Array.from({ length: 4 * before }, (_, n) =>
      server.deploy({ "index.html": "x", "more.txt": "y".repeat(2_000_000) + n }),
    );
    const seen = { busy: 0, waiting: 0 };
    const watching = until(async () => {
      const all = figures(await read(server.port));
      seen.busy = Math.max(seen.busy, all.get("svc_deploy_slots_busy")!);
      seen.waiting = Math.max(seen.waiting, all.get("svc_deploys_waiting")!);
      return seen.busy > 0 && seen.waiting > 0;
    }, 1);
    await Promise.all([watching, Promise.allSettled(many)]);
    expect(seen.busy).toBeLessThanOrEqual(before);
    await until(async () => figures(await read(server.port)).get("svc_deploy_slots_busy") === 0);
  });

  test("answers by class, bytes, deploys, refusals by code, reports, sites by state", async () => {
    await using server = await startServer();
    const site = await server.deploy({ "index.html": "x".repeat(1000) });
    await server.deploy({ "index.html": "y" });
    await operate(server.data_dir, "freeze", site.slug);
    const before = figures(await read(server.port));
    expect((await server.site(site.slug)).status).toBe(200);
    expect((await server.site(site.slug, "/none")).status).toBe(404);
    expect((await server.post(new Uint8Array([1, 2, 3]))).status).toBe(400);
    const form = { "content-type": "application/x-www-form-urlencoded" };
    await server.site(site.slug, "/_svc/report", { method: "POST", body: "reason=x", headers: form });
    const after = figures(await read(server.port));
    const grown = (name: string) => after.get(name)! - before.get(name)!;
    expect({
      ok: grown('svc_requests_total{class="2xx"}'),
      refused: grown('svc_requests_total{class="4xx"}'),
      not_found: grown('svc_refusals_total{code="not_found"}'),
      invalid_zip: grown('svc_refusals_total{code="invalid_zip"}'),
      reports: grown("svc_abuse_reports_total"),
      deploys: after.get("svc_deploys_total"),
      live: after.get('svc_sites{state="live"}'),
      frozen: after.get('svc_sites{state="frozen"}'),
      versions: after.get("svc_versions"),
      missing: after.get("svc_blobs_missing"),
    }).toEqual({
      ok: 3, // the page, the report, and the first reading of the figures
      refused: 2,
      not_found: 1,
      invalid_zip: 1,
      reports: 1,
      deploys: 2,
      live: 1,
      frozen: 1,
      versions: 2,
      missing: 0,
    });
    expect(grown("svc_response_bytes_total")).toBeGreaterThan(1000);
    expect(after.get('process_resident_memory_bytes{worker="0"}')).toBeGreaterThan(10_000_000);
  });

  test("H54 a missing blob shows: at the request that meets it, and from the start on", async () => {
    await using server = await startServer();
    const site = await server.deploy({ "index.html": "x", "a.txt": "a text" });
    await unlink(blobFile(server.data_dir, "a text"));
    expect((await server.site(site.slug, "/a.txt")).status).toBe(500);
    expect(figures(await read(server.port)).get("svc_blob_failures_total")).toBe(1);
    await server.stop();
    await server.start([]);
    await until(async () => figures(await read(server.port)).get("svc_blobs_missing") === 1);
  });

  test("two workers count together, and each shows its memory", async () => {
    await using folder = await temporaryFolder();
    const child = await startProcess(["--data-dir", folder.path, "--workers", "2", "--log", "off"]);
    try {
      const ask = () =>
        fetch(`http://127.0.0.1:${child.port}/nothing`, { headers: { connection: "close" }, keepalive: false });
      for (let n = 0; n < 40; n++) await ask();
      await until(async () => figures(await read(child.port)).get('svc_refusals_total{code="not_found"}') === 40);
      const names = [...figures(await read(child.port)).keys()];
      expect(names.filter((name) => name.startsWith("process_resident_memory_bytes"))).toHaveLength(2);
    } finally {
      await child.end();
    }
  }, 60_000);
});
