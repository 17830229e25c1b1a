/** A deploy runs in a process of its own, and whatever becomes of that costs no page and no other deploy: real servers,
 *  real processes, real signals, from source and compiled (CONTRACT 4.1, RELIABILITY K30 to K32). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { chmod, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build, suffix } from "../kit/built.ts";
import { holdWrites } from "../kit/database.ts";
import {
  childrenOf,
  codingProcesses,
  deployProcesses,
  ended,
  local,
  niceOf,
  parentOf,
  type ServerProcess,
  SVC_SERVER,
  startProcess,
  temporaryFolder,
} from "../kit/process.ts";
import { ZIP } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { zipOf } from "../kit/zip.ts";
import { longTest } from "../kit/whole.ts";

let folder: string;
const compiled = () => join(folder, `svc-server${suffix}`);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-built-"));
  await build(folder, ["svc-server"]);
}, 120_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

const LINUX = process.platform === "linux";
const gone = (...pids: number[]) => until(() => pids.every((pid) => parentOf(pid) === null));

async function deploy(server: ServerProcess, title: string) {
  const body = zipOf({ "index.html": `<title>${title}</title>` });
  const response = await fetch(`${local(server)}/sites`, { method: "POST", headers: ZIP, body });
  return {
    status: response.status,
    retry: response.headers.get("retry-after"),
    ...((await response.json()) as Answer),
  };
}
interface Answer {
  slug: string;
  code?: string;
  error?: string;
}
const start = (dir: { path: string }, ...flags: string[]) =>
  startProcess(["--data-dir", join(dir.path, "data"), "--log", "off", ...flags]);

/** A server whose one warm process is stopped: the next deploy hangs in it until somebody does something about it. */
async function withHanging(server: ServerProcess): Promise<{ pid: number; slug: string }> {
  const { slug } = await deploy(server, "warms");
  const [pid] = deployProcesses(server.pid);
  process.kill(pid!, "SIGSTOP");
  return { pid: pid!, slug };
}

const page = async (server: ServerProcess, slug: string): Promise<string> =>
  (await fetch(`${local(server)}/`, { headers: { host: `${slug}.localhost` } })).text();
const handedOver = (dir: { path: string }): string[] => readdirSync(join(dir.path, "data", "tmp"));
/** A deploy has been given to a process: its zip lies there. */
const handing = (dir: { path: string }) => until(() => handedOver(dir).length > 0);

describe.if(LINUX)("RELIABILITY 6: pages come before what is coded ahead of them", () => {
  test.each([
    ["from source", SVC_SERVER],
    ["compiled", null],
  ])(
    "%s, each thread that codes ahead stands behind all others: for a deploy, and for what is coded on demand, somebody waits",
    async (_, command) => {
      await using dir = await temporaryFolder();
      const server = await startProcess(["--data-dir", join(dir.path, "data"), "--log", "off"], {
        command: command ?? [compiled()],
      });
      try {
        const all = (pids: number[]) => [...new Set(pids.flatMap(niceOf))];
        const { slug } = await deploy(server, "words ".repeat(1000));
        await until(() => all(codingProcesses(server.pid)).join() === "10");
        const headers = { host: `${slug}.localhost`, "accept-encoding": "gzip" };
        expect((await fetch(`${local(server)}/`, { headers })).headers.get("content-encoding")).toBe("gzip");
        expect(codingProcesses(server.pid).map((pid) => all([pid]).join())).toEqual(["10", "0"]);
        expect(all([server.pid, ...deployProcesses(server.pid)])).toEqual([0]);
      } finally {
        await server.end();
      }
    },
  );
});

describe.if(LINUX)("whatever becomes of a deploy's process", () => {
  test.each([
    ["SIGKILL", 503, /ended from outside/, /error a deploy died while starting: /],
    // The runtime answers these in a thread, beside which the deploy may go on for a moment.
    ["SIGSEGV", 500, /crashed while (starting|unpacking)/, /error a deploy died while (starting|unpacking)/],
    ["SIGBUS", 500, /crashed while (starting|unpacking)/, /error a deploy died while (starting|unpacking)/],
  ] as const)(
    "%s: that deploy is %i, pages and other deploys go on, the log has signal and stage",
    async (signal, status, words, line) => {
      await using dir = await temporaryFolder();
      const server = await start(dir);
      const { pid, slug } = await withHanging(server);
      const hanging = deploy(server, "hangs");
      await handing(dir);
      const pages = Promise.all(Array.from({ length: 200 }, () => page(server, slug)));
      expect(await deploy(server, "beside it")).toMatchObject({ status: 200 });
      process.kill(pid, signal);
      if (signal !== "SIGKILL") process.kill(pid, "SIGCONT"); // that one ends a stopped process too, and it may be gone
      const answer = await hanging;
      expect(answer).toMatchObject({ status });
      expect(answer.error).toMatch(words);
      expect((await pages).every((text) => text.includes("<title>warms</title>"))).toBeTrue();
      expect(await deploy(server, "after it")).toMatchObject({ status: 200 });
      await until(() => server.stderr().includes(`was ended by ${signal}`));
      expect(server.stderr()).toMatch(line);
      expect(handedOver(dir)).toEqual([]);
      await server.end();
    },
  );

  longTest(
    "CONTRACT 4.1: the machine gives it no time: after ten seconds 503 says that the server is busy",
    async () => {
      await using dir = await temporaryFolder();
      const server = await start(dir);
      await withHanging(server);
      const answer = await deploy(server, "waits for a processor");
      expect(answer).toMatchObject({ status: 503, code: "unavailable", retry: "5" });
      expect(answer.error).toStartWith("The server is busy and could not read the deploy in time.");
      expect(await deploy(server, "waits for a processor")).toMatchObject({ status: 200 });
      await server.end();
    },
    60_000,
  );

  test("it ends with a server that is killed, also one that hangs, and takes neither port nor data folder along", async () => {
    await using dir = await temporaryFolder();
    const server = await start(dir);
    const { pid } = await withHanging(server);
    const hanging = deploy(server, "hangs").catch(() => null);
    await handing(dir);
    expect(await deploy(server, "beside it")).toMatchObject({ status: 200 });
    const all = deployProcesses(server.pid);
    expect(all).toHaveLength(2);
    expect(all).toContain(pid);
    server.kill("SIGKILL");
    await gone(...all);
    await hanging;
    const again = await start(dir, "--port", String(server.port));
    expect(handedOver(dir)).toEqual([]);
    expect(await deploy(again, "afresh")).toMatchObject({ status: 200 });
    await again.end();
  });

  test("it has neither the server's sockets nor its environment, and writes to nobody's output", async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", join(dir.path, "data"), "--log", "off"], {
      env: { SECRET_OF_THE_SERVER: "x" },
    });
    await deploy(server, "warms");
    const [pid] = deployProcesses(server.pid);
    expect(readFileSync(`/proc/${pid}/environ`, "utf8")).not.toContain("SECRET_OF_THE_SERVER");
    const opened = (of: number) =>
      readdirSync(`/proc/${of}/fd`).flatMap((fd) => {
        try {
          return [readlinkSync(`/proc/${of}/fd/${fd}`)];
        } catch {
          return []; // the folder's own
        }
      });
    const sockets = (of: number) => opened(of).filter((name) => name.startsWith("socket:"));
    expect(sockets(server.pid).length).toBeGreaterThan(1);
    expect(sockets(pid!).filter((socket) => sockets(server.pid).includes(socket))).toEqual([]);
    expect(opened(pid!).filter((name) => name.includes("lock.db"))).toEqual([]);
    expect(readlinkSync(`/proc/${pid}/fd/1`)).toBe("/dev/null");
    expect(readFileSync(`/proc/${pid}/oom_score_adj`, "utf8")).toBe("1000\n");
    expect(await ended(server, "SIGTERM")).toBe(0);
    expect(server.stderr()).toBe("");
  });
});

describe.if(LINUX)("signals to the whole group", () => {
  test("SIGHUP, which renews a certificate, in the middle of a deploy: it is answered 200, and the server goes on", async () => {
    await using dir = await temporaryFolder();
    const server = await start(dir);
    await deploy(server, "warms");
    const writes = holdWrites(join(dir.path, "data"));
    const publishing = deploy(server, "publishing");
    await handing(dir);
    for (const pid of deployProcesses(server.pid)) process.kill(pid, "SIGHUP");
    server.kill("SIGHUP");
    await Bun.sleep(200);
    writes.letGo();
    expect(await publishing).toMatchObject({ status: 200 });
    expect((await fetch(`${local(server)}/healthz`)).status).toBe(200);
    expect(await ended(server, "SIGTERM")).toBe(0);
  });

  test.each(["SIGINT", "SIGTERM"] as const)(
    "%s in the middle of a deploy: it is answered 200, exit 0",
    async (signal) => {
      await using dir = await temporaryFolder();
      const server = await start(dir);
      await deploy(server, "warms");
      const writes = holdWrites(join(dir.path, "data"));
      const publishing = deploy(server, "publishing");
      await handing(dir);
      const all = [...deployProcesses(server.pid)];
      const exit = ended(server, signal);
      for (const pid of all) process.kill(pid, signal);
      await until(async () => (await fetch(`${local(server)}/healthz`).catch(() => null)) === null);
      writes.letGo();
      expect(await publishing).toMatchObject({ status: 200 });
      expect(await exit).toBe(0);
      await gone(...all);
    },
  );

  test("K32 a drain gives up a deploy that hangs, with 503, and leaves no process", async () => {
    await using dir = await temporaryFolder();
    const server = await start(dir);
    const { pid } = await withHanging(server);
    // Without an answer it is null: the server's time was over before the deploy's.
    const hanging = deploy(server, "hangs").catch(() => null);
    await handing(dir);
    expect(await ended(server, "SIGTERM")).toBe(0);
    expect(((await hanging) ?? { status: 503 }).status).toBeOneOf([400, 503]);
    await gone(pid);
  }, 30_000);
});

describe.if(LINUX)("--workers 2", () => {
  test("each worker has processes of its own, and none outlives it", async () => {
    await using dir = await temporaryFolder();
    const server = await start(dir, "--workers", "2");
    const workers = childrenOf(server.pid);
    const processes = () => workers.flatMap(deployProcesses);
    await until(async () => {
      const headers = { ...ZIP, connection: "close" };
      const body = zipOf({ "index.html": "x" });
      await fetch(`${local(server)}/sites`, { method: "POST", headers, body });
      return workers.every((pid) => deployProcesses(pid).length > 0);
    });
    const all = processes();
    const [mine] = deployProcesses(workers[0]!);
    process.kill(mine!, "SIGSTOP"); // one that cannot hear that its channel closed
    process.kill(workers[0]!, "SIGKILL");
    await gone(workers[0]!, mine!);
    server.kill("SIGKILL");
    await gone(...workers, ...all);
  }, 60_000);
});

describe("compiled", () => {
  test("deploys from any working directory, and its process is the same program", async () => {
    await using dir = await temporaryFolder();
    const flags = ["--data-dir", "data", "--log", "off"];
    const server = await startProcess(flags, { command: [compiled()], cwd: dir.path });
    expect(await deploy(server, "compiled")).toMatchObject({ status: 200 });
    if (LINUX) {
      const [pid] = deployProcesses(server.pid);
      expect(readlinkSync(`/proc/${pid}/exe`)).toBe(compiled());
      expect(existsSync(join(dir.path, "data", "db"))).toBeTrue();
    }
    expect(await ended(server, "SIGTERM")).toBe(0);
  });

  test.if(LINUX).each([
    ["deleted", "1"],
    ["replaced", "1"],
    ["replaced", "2"],
  ])("goes on with its own program where the file was %s while it runs, with %s workers", async (how, workers) => {
    await using dir = await temporaryFolder();
    const program = join(dir.path, "svc-server");
    await Bun.write(program, Bun.file(compiled()));
    await chmod(program, 0o755);
    const flags = ["--data-dir", join(dir.path, "data"), "--log", "off", "--workers", workers];
    const server = await startProcess(flags, { command: [program] });
    if (how === "deleted") await rm(program);
    else {
      const other = join(dir.path, "other");
      await Bun.write(other, "#!/bin/sh\necho another version; exit 1\n");
      await chmod(other, 0o755);
      await rename(other, program);
    }
    expect(await deploy(server, "by its own")).toMatchObject({ status: 200 });
    if (workers === "2") {
      const before = childrenOf(server.pid);
      server.kill("SIGHUP"); // each goes when the one in its place serves
      await until(() => before.every((pid) => parentOf(pid) === null) || server.stderr().includes("did not start"));
    }
    expect(await ended(server, "SIGTERM")).toBe(0);
    expect(server.stderr()).toBe("");
  });

  test.if(LINUX)("renders Markdown in its process", async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", join(dir.path, "data"), "--log", "off"], {
      command: [compiled()],
    });
    const body = zipOf({ "README.md": "# Compiled" });
    const response = await fetch(`${local(server)}/sites`, { method: "POST", headers: ZIP, body });
    const { slug } = (await response.json()) as Answer;
    expect(await page(server, slug)).toContain('<h1 id="compiled">Compiled</h1>');
    await server.end();
  });
});

longTest.if(LINUX)(
  "an address that starts a thousand deploys has all of them answered, by as many processes as there are slots",
  async () => {
    await using dir = await temporaryFolder();
    const server = await startProcess(["--data-dir", join(dir.path, "data"), "--log", "off"], { command: SVC_SERVER });
    const { slug } = await deploy(server, "stays");
    const most = Math.max(2, navigator.hardwareConcurrency);
    let processes = 0;
    const statuses = new Map<number, number>();
    const watching = setInterval(() => (processes = Math.max(processes, deployProcesses(server.pid).length)), 50);
    const lane = async () => {
      for (let n = 0; n < 10; n++) {
        const { status } = await deploy(server, `${Math.random()}`);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: 100 }, lane));
    clearInterval(watching);
    expect([...statuses.keys()].toSorted()).toEqual([200, 503]);
    expect([...statuses.values()].reduce((sum, n) => sum + n)).toBe(1000);
    expect(processes).toBeLessThanOrEqual(most);
    expect(await page(server, slug)).toContain("<title>stays</title>");
    expect(handedOver(dir)).toEqual([]);
    await server.end();
  },
  120_000,
);
