/** Deploys run in processes: slots, deadline, memory, hand-over, crashes, stop (CONTRACT 4.1, ARCHITECTURE idea 8). */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPool, type DeployPool, type DeployProcess, startDeployProcess } from "../../src/deploy/pool.ts";
import { receiveZip, takeZip } from "../../src/deploy/zip-files.ts";
import type { Deployed, DeployJob } from "../../src/deploy/job.ts";
import type { Bytes } from "../../src/base/types.ts";
import { measureStages } from "../../src/deploy/worker.ts";
import { Refusal } from "../../src/base/errors.ts";
import { prepareDataDir } from "../../src/store/sqlite/prepare.ts";
import { newSiteId } from "../../src/base/tokens.ts";
import { count, holdWrites, UNBOUNDED } from "../kit/database.ts";
import { blobFile } from "../kit/operator.ts";
import { FIXTURES } from "../kit/paths.ts";
import { isRunning } from "../kit/process.ts";
import { until } from "../kit/until.ts";
import { type Content, zipOf } from "../kit/zip.ts";

const LIMITS = { max_files: 200, max_bytes: 200 << 20, max_zip_bytes: 5 << 20 };
const folder = mkdtempSync(join(tmpdir(), "svc-pool-"));
const data_dir = join(folder, "data");
let prepared: { close(): void };
beforeAll(() => {
  prepared = prepareDataDir(data_dir);
});
afterAll(() => {
  prepared.close();
  rmSync(folder, { recursive: true, force: true });
});

let names = 0;
const job = (
  files: Record<string, Content>,
  more: Partial<Omit<DeployJob, "zip">> = {},
): Omit<DeployJob, "zip"> & { zip: Bytes } => {
  const [site_id, slugs] = [newSiteId(), [`calm-otter-${String(names++).padStart(4, "0")}`]];
  return {
    zip: zipOf(files),
    site: { sites_domain: "localhost", contact: null, slug: null, anonymous: true },
    customer: "192.0.2.1",
    network: "192.0.2.1",
    target: { kind: "new", site_id, owner: null, network: null, expires_at: 4e12, slugs, idempotency: null },
    tokens: [],
    bounds: UNBOUNDED,
    ...more,
  };
};
const page = (text: string) => job({ "index.html": `<title>${text}</title>` });
/** What the pools of a test told the operator. */
const logged: string[] = [];
beforeEach(() => void logged.splice(0));

const open = (options: Partial<Parameters<typeof createPool>[0]> = {}, startOne?: () => DeployProcess): DeployPool =>
  createPool(
    {
      data_dir,
      limits: LIMITS,
      now: Date.now,
      log: {
        error: (message, error) => void logged.push(`${message}: ${error instanceof Error ? error.message : error}`),
      },
      ...options,
    },
    startOne,
  );

const fixture = (name: string, ...flags: string[]): DeployProcess =>
  startDeployProcess([process.execPath, join(FIXTURES, "processes", `${name}.ts`), ...flags]);
/** In the middle of a file, where only a signal ends it. */
const hanging = (): DeployProcess => fixture("at-work", "hangs");
/** As if the machine gave it such a part of one core, however busy it really is. */
const given = (part: number, process: DeployProcess): DeployProcess => ({
  ...process,
  cpu: () => part * performance.now(),
});
/** First what is given, one by one, then real ones. */
const inTurn =
  (...starts: (() => DeployProcess)[]) =>
  () =>
    (starts.shift() ?? startDeployProcess)();

const handedOver = (): string[] => readdirSync(join(data_dir, "tmp"));

const sites = (): number => count(data_dir, "sites");

async function refusal(promise: Promise<unknown>): Promise<Refusal> {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(Refusal);
  return error as Refusal;
}

describe("a deploy in a process", () => {
  test("gives what was published, with title, healed and warnings", async () => {
    const pool = open();
    const deployed: Deployed = await pool.deploy(job({ "Page.html": "<title>Hi</title>", "d/index.html": "x" }));
    expect(deployed).toMatchObject({ changed: true, title: "Hi", warnings: [] });
    expect(deployed.site.live_version_id).toBe(deployed.version_id);
    expect(deployed.healed.map(({ code }) => code)).toEqual(["index_from_single_html"]);
    await pool.stop();
  });

  test("CONTRACT 7: tells files and bytes as uploaded, and how long each stage took, for the log", async () => {
    const pool = open();
    const { files, bytes, stages } = await pool.deploy(job({ "a.md": "# A", "b.md": "# B" }));
    expect([files, bytes]).toEqual([2, 6]);
    const names = Object.keys(stages);
    expect([...names.slice(0, 2), names.at(-1)]).toEqual(["waiting", "unpacking", "publishing"]);
    expect(names).toContain("rendering Markdown");
    expect(Object.values(stages).every((ms) => Number.isFinite(ms) && ms >= 0)).toBeTrue();
    await pool.stop();
  });

  test("a stage that is gone back to is one stage, and none is counted twice", () => {
    let now = 0;
    const { at, times } = measureStages(() => now);
    for (const [stage, ms] of [
      ["unpacking", 5],
      ["describing", 7],
      ["describing", 1],
      ["unpacking", 2],
    ] as const) {
      at(stage);
      now += ms;
    }
    expect(times()).toEqual({ unpacking: 7, describing: 8 });
    now += 100;
    expect(times()).toEqual({ unpacking: 7, describing: 8 });
  });

  test("goes by the pool's clock, also when it moves between two jobs", async () => {
    let now = Date.parse("2031-05-01T00:00:00Z");
    const pool = open({ slots: 1, now: () => now });
    expect((await pool.deploy(page("a"))).site.created_at).toStartWith("2031-05-01");
    now = Date.parse("2019-05-01T00:00:00Z");
    expect((await pool.deploy(page("b"))).site.created_at).toStartWith("2019-05-01");
    await pool.stop();
  });

  test("takes the zip's memory along, but only where it is the zip's alone", async () => {
    const pool = open();
    const whole = page("whole");
    await pool.deploy(whole);
    expect(whole.zip.byteLength).toBe(0);

    const part = page("part");
    const around = new Uint8Array(part.zip.length + 8).fill(7);
    around.set(part.zip, 4);
    await pool.deploy({ ...part, zip: around.subarray(4, -4) });
    expect(around.at(-1)).toBe(7);
    await pool.stop();
  });

  test("refusals of pipeline and store cross with code, status, details and headers", async () => {
    const pool = open({ limits: { ...LIMITS, max_files: 1 } });
    const many = await refusal(pool.deploy(job({ "a.txt": "1", "b.txt": "2" })));
    expect(many).toMatchObject({ code: "too_many_files", status: 413, details: { limit: 1, actual: 2 } });
    expect(many.details["largest"]).toBeArray();
    const target = {
      kind: "existing",
      site_id: newSiteId(),
      by: { account_id: "acct_x", session_id: "sess_x" },
    } as const;
    expect(await refusal(pool.deploy({ ...page("x"), target }))).toMatchObject({ code: "unknown_site", status: 404 });
    expect(await pool.deploy(page("the process lives"))).toMatchObject({ changed: true });
    await pool.stop();
  });

  test("an error that is no refusal is thrown here with the process's own stack, and costs no later deploy", async () => {
    const pool = open({ slots: 1 });
    const broken = { ...page("x"), tokens: null as never };
    const error = await pool.deploy(broken).catch((thrown: unknown) => thrown as Error);
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(Refusal);
    expect((error as Error).stack).toContain("publish.ts");
    expect(await pool.deploy(page("x and no error"))).toMatchObject({ changed: true });
    await pool.stop();
  });

  test("RELIABILITY 2: a disk that fails in it is 503, and the log has the reason and the process's stack", async () => {
    const broken = mkdtempSync(join(tmpdir(), "svc-pool-broken-"));
    mkdirSync(join(broken, "db"));
    const pool = open({ data_dir: broken });
    expect(await refusal(pool.deploy(page("x")))).toMatchObject({ code: "unavailable", status: 503 });
    expect(logged).toEqual([expect.stringMatching(/^a deploy was refused: The database .* was deleted or emptied/)]);
    await pool.stop();
    rmSync(broken, { recursive: true });
  });
});

describe("P10: the deadline", () => {
  test("ends a process that a regular expression holds, with 400 too_complex naming stage and file; the next is served", async () => {
    let hung: DeployProcess;
    const pool = open(
      { slots: 1, deadline_ms: 2000 },
      inTurn(() => (hung = given(1, hanging()))),
    );
    const before = sites();
    const refused = await refusal(pool.deploy(page("hangs")));
    expect(refused).toMatchObject({ code: "too_complex", status: 400, details: { stage: "unpacking" } });
    expect(refused.message).toContain("within 2 seconds: it hung while unpacking a\\u{ad}.html. ");
    expect(sites()).toBe(before);
    await until(() => !isRunning(hung.pid));
    expect(await pool.deploy(page("by another process"))).toMatchObject({ changed: true });
    await pool.stop();
  }, 20_000);

  test("CONTRACT 4.1: of a process that got less than half of it, it says that the server is busy: 503, and no file is named", async () => {
    const [starved, fed] = [given(0.4, hanging()), given(0.6, hanging())];
    const pool = open(
      { slots: 1, deadline_ms: 1000 },
      inTurn(
        () => starved,
        () => fed,
      ),
    );
    const refused = await refusal(pool.deploy(page("starves")));
    expect(refused).toMatchObject({ code: "unavailable", status: 503, details: {}, headers: { "retry-after": "5" } });
    expect(refused.message).toStartWith("The server is busy and could not read the deploy in time.");
    await until(() => !isRunning(starved.pid));
    expect(await refusal(pool.deploy(page("hangs")))).toMatchObject({ code: "too_complex", status: 400 });
    // A machine that is busy itself may starve the next one, too.
    const next = async () => pool.deploy(page("by another process")).catch((error: Refusal) => error);
    let answer = await next();
    for (let left = 5; left > 0 && answer instanceof Refusal && answer.status === 503; left--) answer = await next();
    expect(answer).toMatchObject({ changed: true });
    await pool.stop();
  }, 20_000);

  test("processor time is the process's own, as the kernel counts it", async () => {
    const [working, resting] = [hanging(), startDeployProcess()];
    const zip = await receiveZip(data_dir, [zipOf({ "a.txt": "x" })]);
    void working.run({ zip_path: zip.path } as never).catch(() => {});
    try {
      // Its own start takes the other one a few hundred milliseconds on a slow machine.
      await until(() => working.cpu() >= 2 * Math.max(150, resting.cpu()));
    } finally {
      working.kill();
      resting.kill();
    }
    await until(() => Number.isNaN(working.cpu()));
    await zip.remove();
  }, 20_000);

  test("one that is stopped is one that the machine gave no time", async () => {
    const stopped = startDeployProcess();
    const pool = open(
      { slots: 1, deadline_ms: 500 },
      inTurn(() => stopped),
    );
    process.kill(stopped.pid, "SIGSTOP");
    expect(await refusal(pool.deploy(page("stops")))).toMatchObject({ code: "unavailable", status: 503 });
    await until(() => !isRunning(stopped.pid));
    await pool.stop();
  });

  test("ends where publishing begins: a publish that waits past it is not ended", async () => {
    const pool = open({ slots: 1, deadline_ms: 1000 });
    await pool.deploy(page("warms the process"));
    const writes = holdWrites(data_dir);
    const deploying = pool.deploy(page("slow"));
    await Bun.sleep(1600); // the timer of the deadline, set before this one, has fired
    writes.letGo();
    expect(await deploying).toMatchObject({ changed: true, title: "slow" });
    await pool.stop();
  }, 60_000);

  test("the file that hands the zip over says where the deploy is, from the first note on", async () => {
    const zip = await receiveZip(data_dir, [zipOf({ "a.txt": "x" })]);
    expect(await zip.step()).toEqual({ stage: "starting", file: null });
    const taken = takeZip(zip.path);
    expect([...taken.zip]).toEqual([...zipOf({ "a.txt": "x" })]);
    taken.note("unpacking", "ünder/a.html");
    expect(await zip.step()).toEqual({ stage: "unpacking", file: "ünder/a.html" });
    taken.note("making an index");
    expect(await zip.step()).toEqual({ stage: "making an index", file: null });
    taken.note("unpacking", "x".repeat(5000));
    expect((await zip.step()).file).toMatch(/^x{400,}$/);
    taken.close();
    await zip.remove();
    expect(await zip.step()).toEqual({ stage: "starting", file: null });
  });

  test("a zip that looks like a note of its own is none", async () => {
    const zip = await receiveZip(data_dir, [new TextEncoder().encode("upload\nunpacking\n/etc/passwd\n")]);
    expect(await zip.step()).toEqual({ stage: "starting", file: null });
    await zip.remove();
  });
});

describe("slots", () => {
  test("who comes when all are taken waits, then gets 503 unavailable with Retry-After: 1", async () => {
    const pool = open({ slots: 1, wait_ms: 300 });
    const writes = holdWrites(data_dir);
    const first = pool.deploy(page("first"));
    const second = await refusal(pool.deploy(page("second")));
    expect(second).toMatchObject({ code: "unavailable", status: 503, headers: { "retry-after": "1" } });
    writes.letGo();
    expect(await first).toMatchObject({ title: "first" });
    expect(await pool.deploy(page("third"))).toMatchObject({ title: "third" });
    await pool.stop();
  });

  test("more deploys than slots are all served", async () => {
    const pool = open({ slots: 2 });
    const titles = await Promise.all(
      ["a", "b", "c", "d", "e", "f"].map(async (t) => (await pool.deploy(page(t))).title),
    );
    expect(titles).toEqual(["a", "b", "c", "d", "e", "f"]);
    await pool.stop();
  });
});

describe("P10: memory", () => {
  test("a process that takes more than it may is ended, with 400 too_complex naming stage and file", async () => {
    const pool = open(
      { slots: 1, memory_bytes: 192 << 20 },
      inTurn(() => fixture("at-work", "grows")),
    );
    const refused = await refusal(pool.deploy(page("grows")));
    expect(refused).toMatchObject({ code: "too_complex", status: 400, details: { stage: "unpacking" } });
    expect(refused.message).toContain("within 192 MB of memory: it took more while unpacking a\\u{ad}.html. ");
    expect(await pool.deploy(page("another"))).toMatchObject({ changed: true });
    await pool.stop();
  }, 20_000);
});

describe("PIPELINE 1: Markdown that passes the memory in a process that did other deploys before", () => {
  const SLOW = { "a.md": "_a*".repeat(50_000), "b.md": "# B" };
  const isRendering = (): boolean =>
    handedOver().some((name) => readFileSync(join(data_dir, "tmp", name), "utf8").includes("\nrendering Markdown\n"));
  /** It takes too much as soon as it renders Markdown. */
  const greedy = (): DeployProcess => ({ ...startDeployProcess(), memory: () => (isRendering() ? Infinity : 0) });

  test("is rendered once more in a fresh one", async () => {
    const [first, second] = [greedy(), startDeployProcess()];
    const pool = open(
      { slots: 1 },
      inTurn(
        () => first,
        () => second,
      ),
    );
    await pool.deploy(page("warms it"));
    expect(await pool.deploy(job(SLOW))).toMatchObject({ changed: true, files: 2 });
    await until(() => !isRunning(first.pid));
    expect(handedOver()).toEqual([]);
    await pool.stop();
  }, 60_000);

  test("is refused where the fresh one takes too much as well, or where the first was fresh", async () => {
    const pool = open({ slots: 1 }, inTurn(greedy, greedy, greedy));
    await pool.deploy(page("warms the first"));
    const again = await refusal(pool.deploy(job(SLOW))); // the first and the second
    const fresh = await refusal(pool.deploy(job(SLOW))); // the third alone
    for (const refused of [again, fresh])
      expect(refused).toMatchObject({ code: "too_complex", status: 400, details: { stage: "rendering Markdown" } });
    expect(await pool.deploy(page("in a fourth"))).toMatchObject({ changed: true });
    await pool.stop();
  }, 60_000);
});

test("the zip is whole again for another process, also one that is shorter than a note", async () => {
  for (const content of ["x", "y".repeat(100_000)]) {
    const bytes = zipOf({ "a.txt": content, "b.bin": crypto.getRandomValues(new Uint8Array(3000)) });
    const parts = [bytes.slice(0, 100), bytes.slice(100, 1500), bytes.slice(1500)];
    for (const whole of [bytes, bytes.slice(0, 40)]) {
      const zip = await receiveZip(data_dir, whole === bytes ? parts : [whole.slice()]);
      const taken = takeZip(zip.path);
      taken.note("unpacking", "ü".repeat(600));
      taken.close();
      await zip.putBack();
      expect(readFileSync(zip.path)).toEqual(Buffer.from(whole));
      await zip.remove();
    }
  }
});

describe("a process between two deploys", () => {
  test("is kept, and given the next one", async () => {
    let started = 0;
    const pool = open({ slots: 2 }, () => (started++, startDeployProcess()));
    for (const title of ["a", "b", "c"]) await pool.deploy(page(title));
    expect(started).toBe(1);
    await pool.stop();
  });

  test("ends when it had nothing to do for as long as it may", async () => {
    const started = startDeployProcess();
    const pool = open(
      { idle_ms: 50 },
      inTurn(() => started),
    );
    await pool.deploy(page("then nothing"));
    await until(() => !isRunning(started.pid));
    expect(await pool.deploy(page("again"))).toMatchObject({ changed: true });
    await pool.stop();
  });

  test("is replaced where Markdown left a thread at work in it", async () => {
    const started = startDeployProcess();
    const pool = open(
      { slots: 1 },
      inTurn(() => started),
    );
    const { warnings } = await pool.deploy(job({ "a.md": "_a*".repeat(50_000), "b.md": "# B" }));
    expect(warnings.map(({ code }) => code)).toEqual(["markdown_too_complex"]);
    await until(() => !isRunning(started.pid));
    expect(await pool.deploy(page("in another"))).toMatchObject({ changed: true });
    await pool.stop();
  }, 20_000);
});

describe("the zip", () => {
  test("is a file that only this user reads, and is gone with the deploy, however it ended", async () => {
    let seen: { names: string[]; mode: number } | undefined;
    const started = startDeployProcess();
    const watched: DeployProcess = {
      ...started,
      run(task, mayPublish) {
        seen = { names: handedOver(), mode: statSync(task.zip_path).mode & 0o777 };
        return started.run(task, mayPublish);
      },
    };
    const pool = open(
      { slots: 1, deadline_ms: 1000 },
      inTurn(
        () => watched,
        () => fixture("exits"),
        hanging,
      ),
    );
    await pool.deploy(page("published"));
    expect(seen).toEqual({ names: [expect.stringMatching(/^upload-\w{16}$/)], mode: 0o600 });
    await refusal(pool.deploy({ ...page("refused"), zip: new TextEncoder().encode("no zip") }));
    started.kill();
    await refusal(pool.deploy(page("its process exits")));
    await refusal(pool.deploy(page("hangs")));
    expect(handedOver()).toEqual([]);
    await pool.stop();
  }, 20_000);

  test("finds its folder again where somebody took it away", async () => {
    const pool = open();
    rmSync(join(data_dir, "tmp"), { recursive: true });
    await Promise.all(["a", "b"].map((title) => pool.deploy(page(title))));
    expect(statSync(join(data_dir, "tmp")).mode & 0o777).toBe(0o700);
    await pool.stop();
  });

  test("that cannot be written is 503, and the log says why", async () => {
    const pool = open({ data_dir: join(folder, "nowhere") });
    expect(await refusal(pool.deploy(page("x")))).toMatchObject({ code: "unavailable", status: 503 });
    expect(logged).toEqual([expect.stringMatching(/^a deploy could not begin: ENOENT.*nowhere/)]);
    await pool.stop();
  });
});

describe("a process that dies", () => {
  test.each([
    ["throws", /ended with 1: .*boom/s],
    ["exits", /ended with 3$/],
  ])("because its program %s: 500 naming where it was, logged with the reason, and replaced", async (how, reason) => {
    const pool = open(
      { slots: 1 },
      inTurn(() => fixture(how)),
    );
    const refused = await refusal(pool.deploy(page("x")));
    expect(refused).toMatchObject({ code: "internal", status: 500, details: { stage: "starting" } });
    expect(logged).toEqual([expect.stringMatching(/^a deploy died while starting: process \d+ /)]);
    expect(logged[0]).toMatch(reason);
    expect(await pool.deploy(page("y"))).toMatchObject({ changed: true });
    await pool.stop();
  });

  test.each([
    ["SIGSEGV", "internal", 500],
    ["SIGBUS", "internal", 500],
    ["SIGABRT", "internal", 500],
    ["SIGILL", "internal", 500],
    ["SIGKILL", "unavailable", 503],
  ] as const)("by %s in the middle of a file: %s, logged with signal, stage and file", async (signal, code, status) => {
    const started = hanging();
    const pool = open(
      { slots: 1 },
      inTurn(() => started),
    );
    const refused = refusal(pool.deploy(page("x")));
    await until(() =>
      handedOver().some((name) => readFileSync(join(data_dir, "tmp", name), "utf8").includes("\nunpacking\n")),
    );
    process.kill(started.pid, signal);
    expect(await refused).toMatchObject({ code, status });
    expect((await refused).message).toContain("nothing was stored");
    expect(logged).toEqual([expect.stringContaining("a deploy died while unpacking a\\u{ad}.html: ")]);
    expect(logged[0]).toContain(`was ended by ${signal}`);
    expect(await pool.deploy(page("y"))).toMatchObject({ changed: true });
    await pool.stop();
  });

  test("while it publishes: 503 that does not ask to repeat it, for the change may be there", async () => {
    const started = startDeployProcess();
    const pool = open(
      { slots: 1 },
      inTurn(() => started),
    );
    const writes = holdWrites(data_dir);
    const refused = refusal(pool.deploy(page("unknown")));
    await until(() => Bun.file(blobFile(data_dir, "<title>unknown</title>")).exists());
    process.kill(started.pid, "SIGKILL");
    expect(await refused).toMatchObject({ code: "unavailable", status: 503, headers: {} });
    expect((await refused).message).toContain("Look whether your change is there before you repeat it");
    expect(logged).toEqual([expect.stringContaining("a deploy died while publishing: ")]);
    writes.letGo();
    await pool.stop();
  });

  test("between two deploys: the next one has another, or is told to try again", async () => {
    const started = startDeployProcess();
    const pool = open(
      { slots: 1 },
      inTurn(() => started),
    );
    await pool.deploy(page("a"));
    process.kill(started.pid, "SIGKILL");
    const next = await pool.deploy(page("b")).catch((thrown: unknown) => thrown);
    if (next instanceof Refusal) expect(next).toMatchObject({ code: "unavailable", headers: { "retry-after": "1" } });
    else expect(next).toMatchObject({ changed: true });
    expect(await pool.deploy(page("c"))).toMatchObject({ changed: true });
    await pool.stop();
  });

  test("before it began, for its program cannot be started: 503, and the log says which file", async () => {
    const gone = join(folder, "no-such-program");
    const pool = open(
      { slots: 1 },
      inTurn(() => startDeployProcess([gone])),
    );
    expect(await refusal(pool.deploy(page("x")))).toMatchObject({ code: "unavailable", status: 503 });
    expect(logged).toEqual([expect.stringContaining(gone)]);
    expect(await pool.deploy(page("y"))).toMatchObject({ changed: true });
    await pool.stop();
  });
});

describe("stop", () => {
  test("gives up what does not publish yet, waits for what does, and refuses the rest", async () => {
    const pool = open({ slots: 2 }, inTurn(startDeployProcess, hanging));
    const writes = holdWrites(data_dir);
    const publishing = pool.deploy(page("publishing"));
    const reading = refusal(pool.deploy(page("hangs")));
    const waiting = refusal(pool.deploy(page("waiting")));
    await until(() => Bun.file(blobFile(data_dir, "<title>publishing</title>")).exists());
    let stopped = false;
    const stop = pool.stop().then(() => (stopped = true));
    expect(await reading).toMatchObject({ code: "unavailable", status: 503 });
    expect(await waiting).toMatchObject({ code: "unavailable", status: 503 });
    expect(await refusal(pool.deploy(page("late")))).toMatchObject({ code: "unavailable" });
    expect(stopped).toBe(false);
    writes.letGo();
    expect(await publishing).toMatchObject({ title: "publishing" });
    await stop;
  }, 60_000);
});
