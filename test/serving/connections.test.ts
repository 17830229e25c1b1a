/** CONTRACT 1 `--max-connections`, RELIABILITY A14: too many connections harm nobody who is there already, take no
 *  descriptor from files and deploys, and are told of. Only Linux tells of descriptors. */
import { describe, expect, test } from "bun:test";
import { closeSync, openSync, readFileSync } from "node:fs";
import { createConnectionLimit, openDescriptors } from "../../src/server/connection-limit.ts";
import { crowd, type Line, open } from "../kit/crowd.ts";
import { ended, local, run, type ServerProcess, SVC_SERVER, startProcess, temporaryFolder } from "../kit/process.ts";
import { ZIP } from "../kit/server.ts";
import { TLS_CERT, TLS_KEY } from "../kit/paths.ts";
import { until } from "../kit/until.ts";
import { zipOf } from "../kit/zip.ts";

const LINUX = process.platform === "linux";

/** A server that may open so many descriptors. */
const limited = (descriptors: number): string[] =>
  LINUX ? ["sh", "-c", `ulimit -n ${descriptors}; exec "$@"`, "sh", ...SVC_SERVER] : SVC_SERVER;

/** The tests' certificate is nobody's. */
const INSECURE = { tls: { rejectUnauthorized: false } };
const originOf = ({ base_url, port }: ServerProcess): string => `${new URL(base_url).protocol}//127.0.0.1:${port}`;

async function figure(server: ServerProcess, name: string): Promise<number> {
  const text = await (
    await fetch(`${originOf(server)}/metrics`, { headers: { connection: "close" }, ...INSECURE })
  ).text();
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, "m").exec(text)?.[1]);
}

async function deploy(server: ServerProcess, files: Record<string, string | Uint8Array>): Promise<string> {
  const answer = await fetch(`${originOf(server)}/sites`, {
    method: "POST",
    headers: ZIP,
    body: zipOf(files),
    ...INSECURE,
  });
  const { slug } = (await answer.json()) as { slug: string };
  return `${slug}.localhost:${server.port}`;
}

const tellings = (server: ServerProcess): number => server.stderr().split("too many connections: ").length - 1;

describe.if(LINUX)("connections", () => {
  test.each([
    ["http", []],
    ["https", ["--tls-cert", TLS_CERT, "--tls-key", TLS_KEY]],
  ])(
    "CONTRACT 1 --max-connections by %s: whoever is past it is closed at once, and those who are there go on",
    async (scheme, tls) => {
      await using dir = await temporaryFolder();
      const server = await startProcess(["--data-dir", dir.path, "--max-connections", "20", ...tls]);
      const secure = scheme === "https";
      const host = await deploy(server, { "index.html": "<title>here</title>" });
      await until(async () => (await figure(server, "svc_connections")) <= 1);
      const guests: Line[] = [];
      const asked: (number | null)[] = [];
      while (guests.length < 26) {
        const guest = await open(server.port, "", secure);
        guests.push(guest);
        asked.push(await guest.ask(host));
      }
      const inside = asked.filter((status) => status === 200).length;
      const refused = (status: number | null) => status === 503 || status === null;
      expect(inside).toBeGreaterThanOrEqual(16); // a connection of the test's own may linger
      expect(inside).toBeLessThanOrEqual(20);
      expect(asked.slice(0, inside)).toEqual(asked.slice(0, inside).map(() => 200));
      expect(asked.slice(inside).every(refused)).toBe(true);
      await until(() => guests.slice(inside).every((guest) => guest.closed()));
      for (const guest of guests.slice(0, inside)) expect(await guest.ask(host)).toBe(200);
      for (const { socket } of guests) socket.destroy();
      await until(async () => (await open(server.port, "", secure)).ask(host).then((status) => status === 200));
      expect(await figure(server, "svc_connections_refused_total")).toBeGreaterThanOrEqual(6);
      expect(await figure(server, "svc_connections_allowed")).toBe(20);
      expect(await ended(server, "SIGTERM")).toBe(0);
      expect(tellings(server)).toBe(1);
    },
    60_000,
  );

  test.each([
    ["say nothing", ""],
    ["drip a head", "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "],
  ])(
    "A14 2,000 that %s, with 512 descriptors: old and new visitors, files and deploys have what they need",
    async (_, first) => {
      await using dir = await temporaryFolder();
      const server = await startProcess(["--data-dir", dir.path], { command: limited(512) });
      const large = new Uint8Array(3_000_000).fill(65);
      const host = await deploy(server, { "index.html": "<title>here</title>", "large.bin": large });
      const old = await open(server.port);
      expect(await old.ask(host)).toBe(200);
      const upload = zipOf({ "index.html": "<title>slow</title>" });
      const head = `POST /sites HTTP/1.1\r\nHost: localhost:${server.port}\r\nContent-Type: application/zip\r\n`;
      const slow = await open(server.port, `${head}Content-Length: ${upload.length}\r\n\r\n`);
      // The slow one is connected before its head is read: a busy server answers these when it has read that.
      for (let n = 0; n < 3; n++) expect(await old.ask(host)).toBe(200);
      using strangers = await crowd(server.port, 2_000, first);
      expect(await old.ask(host)).toBe(200);
      await until(async () => (await open(server.port)).ask(host).then((status) => status === 200));
      await until(() => strangers.filter((one) => one.closed()).length > 1_000);
      // A newcomer of the crowd's own network may be told to come again, as long as its silent ones are not all ended.
      let file = new Response();
      await until(async () => (file = await fetch(`${local(server)}/large.bin`, { headers: { host } })).status !== 503);
      expect([file.status, (await file.bytes()).length]).toEqual([200, large.length]);
      expect(await deploy(server, { "index.html": "<title>more</title>" })).toContain("localhost");
      slow.socket.write(upload);
      expect(await slow.next()).toBe(200);
      expect(await old.ask(host)).toBe(200);
      expect(await figure(server, "svc_connections_refused_total")).toBeGreaterThan(1_000);
      for (const { socket } of strangers) socket.destroy();
      await until(async () => (await figure(server, "svc_connections")) < 20);
      expect(await figure(server, "svc_timer_failures_total")).toBe(0);
      expect(await ended(server, "SIGTERM")).toBe(0);
      expect(tellings(server)).toBe(1);
    },
    120_000,
  );

  test("one network has at most half of the places: beyond that its silent ones are ended, and newcomers refused", async () => {
    let ended_ones = 0;
    const limit = createConnectionLimit({
      max: 40,
      descriptors: 5_000,
      tls: false,
      isProxy: () => false,
      refused: () => void ended_ones++,
    });
    const admitted: boolean[] = [];
    using server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch(request, self) {
        const { address, port } = self.requestIP(request)!;
        admitted.push(limit.admits({ client: () => ({ peer: `${address} ${port}`, address }) }));
        return new Response("x");
      },
    });
    const port = server.port!;
    const [first] = await crowd(port, 1);
    await first!.ask("x");
    using silent = await crowd(port, 30, "GET / HTTP/1.1\r\n");
    await until(() => (limit.watch(port), ended_ones === 30), 100);
    await until(() => silent.every((one) => one.closed()));
    expect(first!.closed()).toBe(false);
    using talking = await crowd(port, 30);
    for (const one of talking) await one.ask("x");
    limit.watch(port);
    using more = await crowd(port, 1);
    await more[0]!.ask("x");
    await first!.ask("x");
    expect(admitted.slice(-2)).toEqual([false, true]);
    first!.socket.destroy();
    limit.close();
  });

  test("A14 silent ones of a crowd go before a visitor of another network who is slow, and for one who is new", async () => {
    const limit = createConnectionLimit({
      max: 40,
      descriptors: 5_000,
      tls: false,
      isProxy: () => false,
      refused: () => {},
    });
    const admitted = new Map<string, boolean>();
    using server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch(request, self) {
        const { address, port } = self.requestIP(request)!;
        admitted.set(address, limit.admits({ client: () => ({ peer: `${address} ${port}`, address }) }));
        return new Response("x");
      },
    });
    const port = server.port!;
    const slow = await open(port, "GET / HTTP/1.1\r\n", false, "127.0.0.2");
    await Bun.sleep(150); // so it does not count as one who has just come, as the crowd does
    using silent = await crowd(port, 60, "GET / HTTP/1.1\r\n");
    await until(() => (limit.watch(port), silent.some((one) => one.closed())), 100);
    expect(slow.closed()).toBe(false);
    using more = await crowd(port, 60, "GET / HTTP/1.1\r\n");
    const late = await open(port, "", false, "127.0.0.3");
    expect(await late.ask("x")).toBe(200);
    slow.socket.write("Host: x\r\n\r\n");
    expect(await slow.next()).toBe(200);
    expect([admitted.get("127.0.0.2"), admitted.get("127.0.0.3")]).toEqual([true, true]);
    for (const { socket } of [slow, late]) socket.destroy();
    limit.close();
  });

  test("without a descriptor nobody is let in until some are free again", async () => {
    const descriptors = openDescriptors()! + 200;
    const limit = createConnectionLimit({
      max: 1_000,
      descriptors,
      tls: false,
      isProxy: () => true,
      refused: () => {},
    });
    expect(limit.watch(0)).toBe("open");
    const files = Array.from({ length: 200 }, () => openSync("/dev/null", "r"));
    const said = new Set(Array.from({ length: 30 }, () => limit.watch(0)));
    expect([...said]).toEqual(["open", "shut"]);
    for (const file of files) closeSync(file);
    const later = new Set(Array.from({ length: 2 }, () => limit.watch(0)));
    limit.close();
    expect([...later]).not.toContain("open"); // an eighth of the places must be free
  });
});

describe.if(LINUX)("RELIABILITY A14: without any descriptor", () => {
  test("the timers go on, pages that are kept are answered, and afterwards everything is as before", async () => {
    await using dir = await temporaryFolder();
    const env = { SVC_GC_INTERVAL: "1s" };
    const server = await startProcess(["--data-dir", dir.path], { env });
    const host = await deploy(server, { "index.html": "<title>here</title>" });
    const old = await open(server.port);
    expect(await old.ask(host)).toBe(200);
    const limit = (soft: string) => run(["prlimit", "--pid", String(server.pid), `--nofile=${soft}:`]);
    const [, before] = /^Max open files\s+(\d+)/m.exec(readFileSync(`/proc/${server.pid}/limits`, "utf8"))!;
    expect((await limit("16")).code).toBe(0);
    const complaints = () => server.stderr().split("error sweep: ").length - 1;
    await until(() => complaints() >= 2); // more than a turn of every timer
    expect(await old.ask(host)).toBe(200);
    expect((await limit(before!)).code).toBe(0);
    await until(async () => (await figure(server, "svc_sweeps_total")) > 0);
    expect(await deploy(server, { "index.html": "<title>after</title>" })).toContain("localhost");
    old.socket.destroy();
    expect(await ended(server, "SIGTERM")).toBe(0);
  }, 60_000);
});
