/** Codings are made in processes of their own (ARCHITECTURE idea 8): what happens to one happens to it alone. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { createCoders } from "../../src/coding/coders.ts";
import { type CodingProcess, startCodingProcess } from "../../src/coding/coders.ts";
import { deploy, get, prose } from "../kit/coding-attacks.ts";
import { FIXTURES } from "../kit/paths.ts";
import { codingProcesses, isRunning, type ServerProcess, startProcess, temporaryFolder } from "../kit/process.ts";
import { until } from "../kit/until.ts";

const TEXT = new TextEncoder().encode(prose(50_000, 1));
const decode = { br: brotliDecompressSync, zstd: Bun.zstdDecompressSync, gzip: gunzipSync };

/** What the operator was told. */
const logged: string[] = [];
const log = { error: (message: string, error: unknown) => void logged.push(`${message}: ${String(error)}`) };
const started: CodingProcess[] = [];
const fixture = (name: string, ...flags: string[]) =>
  startCodingProcess([process.execPath, join(FIXTURES, "processes", `${name}.ts`), ...flags]);

/** Coders whose processes are these, then real ones. */
function codersOf(options: Partial<Parameters<typeof createCoders>[0]>, ...starts: (() => CodingProcess)[]) {
  logged.length = started.length = 0;
  return createCoders({ log, processes: 1, ...options }, () => {
    const one = (starts.shift() ?? startCodingProcess)();
    started.push(one);
    return one;
  });
}

describe("a coding", () => {
  test.each(["br", "zstd", "gzip"] as const)("%s of each effort is what was given, and smaller", async (coding) => {
    const coders = codersOf({});
    const quick = (await coders.code(TEXT, coding, "quick"))!;
    const small = (await coders.code(TEXT, coding, "small"))!;
    for (const coded of [quick, small]) expect(decode[coding](coded)).toEqual(Buffer.from(TEXT));
    expect(small.byteLength).toBeLessThan(quick.byteLength);
    expect(quick.byteLength).toBeLessThan(TEXT.byteLength / 2);
    await coders.stop();
  });

  test("of what it does not make smaller is none", async () => {
    const coders = codersOf({});
    const noise = crypto.getRandomValues(new Uint8Array(1000));
    expect(await coders.code(noise, "br", "quick")).toBeNull();
    expect(await coders.code(new Uint8Array(3), "gzip", "quick")).toBeNull();
    await coders.stop();
  });

  test("of the largest body that a deploy may have takes its process 64 MB at most", async () => {
    const coders = codersOf({});
    const large = new TextEncoder().encode(prose(10_000_000, 2));
    for (let n = 0; n < 3; n++) {
      const coded = (await coders.code(large, "br", "quick"))!;
      expect(Bun.hash(brotliDecompressSync(coded))).toBe(Bun.hash(large));
      expect(started[0]!.memory() / 2 ** 20).toBeWithin(process.platform === "linux" ? 5 : 0, 64);
    }
    await coders.stop();
  }, 60_000);
});

describe("a coding process", () => {
  test.each(["SIGSEGV", "SIGKILL"] as const)("that dies by %s costs one body its coding", async (signal) => {
    // It has the body, and never answers.
    const coders = codersOf({}, () => fixture("hangs"));
    const lost = coders.code(TEXT, "br", "quick");
    await until(() => started.length > 0);
    process.kill(started[0]!.pid, signal);
    expect(await lost).toBeNull();
    expect(logged).toEqual([
      expect.stringMatching(new RegExp(`^a body of 50000 bytes was not coded: process \\d+ was ended by ${signal}`)),
    ]);
    expect(await coders.code(TEXT, "br", "quick")).not.toBeNull();
    await coders.stop();
  });

  test("that hangs is ended at its deadline", async () => {
    const coders = codersOf({ deadline_ms: 2000 }, () => fixture("hangs"));
    expect(await coders.code(TEXT, "br", "quick")).toBeNull();
    await until(() => !isRunning(started[0]!.pid));
    expect(await coders.code(TEXT, "br", "quick")).not.toBeNull();
    await coders.stop();
  });

  test("that cannot be started is missed once a second, and told of once", async () => {
    const coders = codersOf({}, () => startCodingProcess(["/nowhere/svc-server"]));
    for (let n = 0; n < 5; n++) expect(await coders.code(TEXT, "br", "quick")).toBeUndefined();
    expect(logged).toEqual([expect.stringMatching(/^no coding process: .*nowhere/)]);
    await Bun.sleep(1000);
    expect(await coders.code(TEXT, "br", "quick")).not.toBeNull();
    await coders.stop();
  });

  test("ends when it had nothing to do for as long as it may", async () => {
    const coders = codersOf({ idle_ms: 50 });
    await coders.code(TEXT, "br", "quick");
    await until(() => !isRunning(started[0]!.pid));
    expect(await coders.code(TEXT, "br", "quick")).not.toBeNull();
    await coders.stop();
  });

  test("ends with those who asked it, who then get no coding; and nobody starts another", async () => {
    const coders = codersOf({ processes: 2 }, () => fixture("hangs"));
    const [hung, asked] = [coders.code(TEXT, "br", "quick"), coders.code(TEXT, "br", "quick")];
    expect(await asked).not.toBeNull();
    await coders.stop();
    expect(await hung).toBeUndefined();
    expect(await coders.code(TEXT, "br", "quick")).toBeUndefined();
    await until(() => started.every(({ pid }) => !isRunning(pid)));
    expect([started.length, logged]).toEqual([2, []]);
  });
});

describe.skipIf(process.platform !== "linux")("a server's coding processes", () => {
  let server: ServerProcess;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let slug: string;
  const FILES = 12;
  beforeAll(async () => {
    folder = await temporaryFolder();
    server = await startProcess(["--data-dir", folder.path, "--log", "off"]);
    const files = Array.from({ length: FILES }, (_, n) => [`f${n}.txt`, prose(300_000, n)]);
    ({ slug } = await deploy(server, { "index.html": "x", ...Object.fromEntries(files) }));
  });
  afterAll(async () => {
    await server.end();
    await folder[Symbol.asyncDispose]();
  });

  test("are started when somebody wants a coding; killed all the time, they cost no answer", async () => {
    const killed = new Set<number>();
    const end = setInterval(() => {
      for (const pid of codingProcesses(server.pid)) {
        try {
          process.kill(pid, killed.size % 2 === 0 ? "SIGSEGV" : "SIGKILL");
          killed.add(pid);
        } catch {} // it has just ended
      }
    }, 20);
    try {
      for (let n = 0; n < FILES; n++) {
        const answer = await get(server, slug, `/f${n}.txt`, "zstd");
        const body = new Uint8Array(await answer.arrayBuffer());
        const text = answer.headers.get("content-encoding") === "zstd" ? Bun.zstdDecompressSync(body) : body;
        expect([answer.status, Buffer.from(text).toString()]).toEqual([200, prose(300_000, n)]);
      }
    } finally {
      clearInterval(end);
    }
    expect(killed.size).toBeGreaterThan(1);
    await until(async () => {
      const answer = await get(server, slug, "/f0.txt", "gzip");
      await answer.arrayBuffer();
      return answer.headers.get("content-encoding") === "gzip";
    });
  }, 60_000);

  test("know none of the server's environment", async () => {
    await (await get(server, slug, "/f1.txt", "gzip")).arrayBuffer();
    await until(() => codingProcesses(server.pid).length > 0);
    const environ = await Bun.file(`/proc/${codingProcesses(server.pid)[0]}/environ`).text();
    const names = environ.split("\0").map((line) => line.split("=")[0]);
    expect(names.filter((name) => name && !/^(BUN_|DO_NOT_TRACK|NODE_CHANNEL)/.test(name))).toEqual([]);
  });

  test("end with the server, however it ends", async () => {
    await (await get(server, slug, "/f2.txt", "gzip")).arrayBuffer();
    await until(() => codingProcesses(server.pid).length > 0);
    const pids = codingProcesses(server.pid);
    process.kill(server.pid, "SIGKILL");
    await until(() => pids.every((pid) => !isRunning(pid)));
  });
});
