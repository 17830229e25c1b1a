/** Deploys run in threads: slots, deadline, hand-over, crashes, stop (CONTRACT 4.1, ARCHITECTURE idea 8). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { handOver } from "../../src/deploy/hand-over.ts";
import type { Deployed, DeployJob } from "../../src/deploy/job.ts";
import { createPool, type DeployPool } from "../../src/deploy/pool.ts";
import { startDeployWorker } from "../../src/deploy/start-worker.ts";
import { measureStages } from "../../src/deploy/stages.ts";
import { Refusal } from "../../src/errors.ts";
import { createGate } from "../../src/gate.ts";
import { prepareDataDir } from "../../src/store/sqlite/prepare.ts";
import { newSiteId } from "../../src/tokens.ts";
import { count, holdWrites } from "../kit/database.ts";
import { blobFile } from "../kit/operator.ts";
import { FIXTURES, ROOT } from "../kit/paths.ts";
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
const job = (files: Record<string, Content>, more: Partial<DeployJob> = {}): DeployJob => {
  const [site_id, slugs] = [newSiteId(), [`calm-otter-${String(names++).padStart(4, "0")}`]];
  return {
    zip: zipOf(files),
    site: { sites_domain: "localhost", contact: null, slug: null, anonymous: true },
    target: { kind: "new", site_id, owner: null, expires_at: 4e12, slugs, idempotency: null },
    tokens: [],
    ...more,
  };
};
const page = (text: string) => job({ "index.html": `<title>${text}</title>` });
/** Keeps the pipeline busy for many seconds: 100 MB of tags, in a zip of 100 KB. */
const hanging = () => job({ "a.txt": "x", "index.html": "<x-y>".repeat(20 << 20) });

const open = (
  options: Partial<Parameters<typeof createPool>[0]> = {},
  startOne?: () => ReturnType<typeof startDeployWorker>,
): DeployPool => createPool({ data_dir, limits: LIMITS, now: Date.now, ...options }, startOne);

const sites = (): number => count(data_dir, "sites");

async function refusal(promise: Promise<unknown>): Promise<Refusal> {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(Refusal);
  return error as Refusal;
}

describe("a deploy in a thread", () => {
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
    expect([names[0], names.at(-1)]).toEqual(["unpacking", "publishing"]);
    expect(names).toContain("rendering Markdown");
    expect(Object.values(stages).every((ms) => Number.isInteger(ms) && ms >= 0)).toBeTrue();
    await pool.stop();
  });

  test("a stage that is gone back to is one stage, and none is counted twice", () => {
    let now = 0;
    const { at, times } = measureStages(() => now);
    for (const [stage, ms] of [
      ["a", 5],
      ["b", 7],
      ["b", 1],
      ["a", 2],
    ] as const) {
      at(stage);
      now += ms;
    }
    expect(times()).toEqual({ a: 7, b: 8 });
    now += 100;
    expect(times()).toEqual({ a: 7, b: 8 });
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
    expect(await pool.deploy(page("the thread lives"))).toMatchObject({ changed: true });
    await pool.stop();
  });

  test("an error that is no refusal is thrown here with the thread's own stack, and costs no later deploy", async () => {
    const pool = open({ slots: 1, data_dir: join(folder, "later") });
    const error = await pool.deploy(page("x")).catch((thrown: unknown) => thrown as Error);
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(Refusal);
    expect((error as Error).stack).toContain("worker.ts");
    const later = prepareDataDir(join(folder, "later"));
    expect(await pool.deploy(page("x"))).toMatchObject({ changed: true });
    await pool.stop();
    later.close();
  });
});

describe("the deadline", () => {
  test("ends the pipeline with 400 too_complex naming stage and file, stores nothing, and replaces the thread", async () => {
    const pool = open({ slots: 1, deadline_ms: 1500 });
    await pool.deploy(page("warms the thread"));
    const before = sites();
    const hung = await refusal(pool.deploy(hanging()));
    expect(hung).toMatchObject({ code: "too_complex", status: 400, details: { path: "index.html" } });
    expect(hung.message).toMatch(/within 1\.5 seconds: it hung while [a-z ]+ index\.html\./);
    expect(sites()).toBe(before);
    expect(await pool.deploy(page("by another thread"))).toMatchObject({ changed: true });
    await pool.stop();
  }, 60_000);

  test("shows the file's name harmless in its sentence", async () => {
    const pool = open({ slots: 1, deadline_ms: 500 });
    await pool.deploy(page("warms the thread"));
    const hung = await refusal(pool.deploy(job({ "in\u00addex.html": "<x-y>".repeat(20 << 20) })));
    expect(hung.message).toContain(" in\\u{ad}dex.html. ");
    await pool.stop();
  }, 20_000);

  test("ends where publishing begins: a publish that waits past it is not ended", async () => {
    const pool = open({ slots: 1, deadline_ms: 1000 });
    await pool.deploy(page("warms the thread"));
    const writes = holdWrites(data_dir);
    const deploying = pool.deploy(page("slow"));
    await Bun.sleep(1600); // the timer of the deadline, set before this one, has fired
    writes.letGo();
    expect(await deploying).toMatchObject({ changed: true, title: "slow" });
    await pool.stop();
  }, 60_000);

  test("either the thread publishes or the pool ends it, never both", () => {
    const [pool, other] = [handOver(), handOver()];
    const thread = handOver(pool.memory);
    expect([thread.startPublishing(), pool.end()]).toEqual([true, false]);
    const late = handOver(other.memory);
    expect([other.end(), late.startPublishing(), other.end()]).toEqual([true, false, false]);
  });

  test("the place crosses whole, and is cut where it is too long for its memory", () => {
    const pool = handOver();
    const thread = handOver(pool.memory);
    expect(pool.place()).toEqual({ stage: "starting", file: null });
    thread.at("unpacking", "ünder/a.html");
    expect(pool.place()).toEqual({ stage: "unpacking", file: "ünder/a.html" });
    thread.at("listing");
    expect(pool.place()).toEqual({ stage: "listing", file: null });
    thread.at("unpacking", "x".repeat(5000));
    expect(pool.place().file).toStartWith("xxx");
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

  test("a slot that is given back goes to who waits longest, before any newcomer", async () => {
    const slots = createGate(1);
    const order: string[] = [];
    const holding = Promise.withResolvers<void>();
    const enter = (name: string) => slots.run(async () => void order.push(name));
    const first = slots.run(() => holding.promise);
    const waiting = ["a", "b"].map(enter);
    holding.resolve();
    await first;
    await Promise.all([...waiting, enter("c")]);
    expect(order).toEqual(["a", "b", "c"]);
  });
});

describe("a thread that crashes", () => {
  test.each([
    ["throws", /boom/],
    ["exits", /it ended by itself/],
  ])("that %s fails its own job with an error for the log, and is replaced", async (how, message) => {
    const crashing = pathToFileURL(join(FIXTURES, "threads", `${how}.ts`));
    let started = 0;
    const pool = open({ slots: 1 }, () => (started++ === 0 ? startDeployWorker(crashing) : startDeployWorker()));
    const error = await pool.deploy(page("x")).catch((thrown: unknown) => thrown as Error);
    expect(error).not.toBeInstanceOf(Refusal);
    expect((error as Error).message).toMatch(message);
    expect(await pool.deploy(page("y"))).toMatchObject({ changed: true });
    expect(started).toBe(2);
    await pool.stop();
  });
});

describe("stop", () => {
  test("gives up what does not publish yet, waits for what does, and refuses the rest", async () => {
    const pool = open({ slots: 2 });
    await Promise.all([pool.deploy(page("warms")), pool.deploy(page("both"))]);
    const writes = holdWrites(data_dir);
    const publishing = pool.deploy(page("publishing"));
    const reading = refusal(pool.deploy(hanging()));
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

test("a compiled program runs its threads from any working directory, and ends by itself after stop", async () => {
  const program = join(folder, "program.ts");
  const [pool, prepare, zip] = ["src/deploy/pool.ts", "src/store/sqlite/prepare.ts", "test/kit/zip.ts"].map((path) =>
    JSON.stringify(join(ROOT, path)),
  );
  await Bun.write(
    program,
    `import { createPool } from ${pool}; import { prepareDataDir } from ${prepare}; import { zipOf } from ${zip};
     const prepared = prepareDataDir(process.argv[2]!);
     const pool = createPool({ data_dir: process.argv[2]!, limits: ${JSON.stringify(LIMITS)}, now: Date.now });
     const target = { kind: "new", site_id: "site_x", owner: null, expires_at: 4e12, slugs: ["a-b-1"], idempotency: null } as const;
     const site = { sites_domain: "localhost", contact: null, slug: null, anonymous: true };
     const { title } = await pool.deploy({ zip: zipOf({ "index.html": "<title>compiled</title>" }), site, target, tokens: [] });
     await pool.stop(); prepared.close(); console.log(title);`,
  );
  const outfile = join(folder, process.platform === "win32" ? "program.exe" : "program");
  const build = Bun.spawnSync(
    [process.execPath, "build", "--compile", `--outfile=${outfile}`, "--root", ROOT, program, "src/deploy/worker.ts"],
    { cwd: ROOT, stderr: "pipe" },
  );
  expect(build.stderr.toString() + build.exitCode).toEndWith("0");
  const run = Bun.spawn([outfile, join(folder, "compiled")], { cwd: tmpdir(), stdout: "pipe", stderr: "pipe" });
  const [out, problems, code] = await Promise.all([run.stdout.text(), run.stderr.text(), run.exited]);
  expect({ out, problems, code }).toEqual({ out: "compiled\n", problems: "", code: 0 });
}, 60_000);
