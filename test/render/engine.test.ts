/** CONTRACT 9, RELIABILITY A29: how long each version waits for the engine by a clock that pages move, and what becomes of a page
 *  whose browser is killed. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createEngine, startPageProcess } from "../../src/render/engine.ts";
import type { PageSeen, ToRender } from "../../src/render/job.ts";
import { openStore, type Store } from "../../src/store/index.ts";
import { read, write } from "../kit/database.ts";
import { FIXTURES } from "../kit/paths.ts";
import { type DeployResult, startServer, type TestServer } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { ASKS, page, PATIENCE_MS, script, seen, startRenderer } from "./rendering.ts";

const NOTHING_SEEN: PageSeen = {
  console: [],
  errors: [],
  failed_requests: [],
  dom_summary: { title: "", headings: [], links: 0, images: 0, text_length: 1 },
  blank: false,
  pictures: { desktop: null, phone: null },
  reason: null,
  cut_off: null,
};

describe("by a clock that pages move", () => {
  const ORDINARY_MS = 2000;
  let server: TestServer;
  let store: Store;
  let now = 0;
  /** The versions that were looked at, with the moment when they were done. */
  let done: { name: string; at: number; status: string }[] = [];
  const said: string[] = [];
  beforeEach(async () => {
    server = await startServer();
    store = await openStore({ data_dir: server.data_dir, now: () => now });
    [now, done] = [0, []];
    said.splice(0);
  });
  afterEach(async () => {
    await store.close();
    await server[Symbol.asyncDispose]();
  });

  interface Waits {
    network: string;
    account?: string;
  }
  /** A version that waits from now on. Its site's slug begins with the name. */
  async function waits(name: string, { network, account }: Waits): Promise<void> {
    const { site_id } = await server.deploy({ "index.html": name });
    const { data_dir } = server;
    write(data_dir, "update sites set slug = ? || '-' || slug where site_id = ?", name, site_id);
    if (account !== undefined)
      write(
        data_dir,
        "update sites set owner_account_id = ?, expires_at = null where site_id = ?",
        `acct_${account}`,
        site_id,
      );
    write(
      data_dir,
      `insert into renders (version_no, site_id, status, asked_at, asked_from)
       select version_no, site_id, 'pending', ?, ? from versions where site_id = ?`,
      now,
      network,
      site_id,
    );
  }

  type Fake = (name: string, most_ms: number, nth: number) => Partial<PageSeen> & { ms?: number };
  /** Pages named `endless` never end; all others are ordinary. */
  const usual: Fake = (name, most_ms) =>
    name === "endless"
      ? { ms: most_ms, cut_off: "late", reason: "The page did not come to rest in time." }
      : { ms: ORDINARY_MS };

  function engineWith(fake: Fake) {
    const begun = new Map<string, number>();
    const start = (message: ToRender, most_ms: number) => {
      if ("try" in message) return { done: Promise.resolve({ trouble: null }), kill: () => {} };
      const name = message.look.url;
      begun.set(name, (begun.get(name) ?? 0) + 1);
      const { ms = ORDINARY_MS, ...seen } = fake(name, most_ms, begun.get(name)!);
      now += ms;
      return { done: Promise.resolve({ seen: { ...NOTHING_SEEN, ...seen } }), kill: () => {} };
    };
    return createEngine(
      {
        data_dir: server.data_dir,
        chrome: process.execPath,
        renders: store.renders,
        siteOf: store.sites.byId,
        addressOf: ({ slug }) => ({ url: slug.split("-")[0]!, version_host: "x", server: "y" }),
        hasRoom: () => true,
        say: (sentence) => void said.push(sentence),
        clock: () => now,
      },
      start as typeof startPageProcess,
    );
  }

  /** Until nobody waits, or `until_ms`; `between` may add some after each. */
  async function lookAtAll(fake: Fake, until_ms = Infinity, between: () => unknown = () => {}): Promise<void> {
    const engine = engineWith(fake);
    for (let looked = await engine.turn(); looked !== null && now < until_ms; looked = await engine.turn()) {
      if (looked !== "again") done.push({ name: looked.slug.split("-")[0]!, at: now, status: looked.status });
      await between();
    }
  }
  const at = (name: string): number | undefined => done.find((one) => one.name === name)?.at;

  test("RELIABILITY A29: one account's endless pages hold up a site without an owner for 27 s, not for minutes", async () => {
    for (let n = 0; n < 7; n++) await waits("endless", { network: "theirs", account: "theirs" });
    await waits("honest", { network: "ours" });
    await lookAtAll(usual);
    // One whole turn of 20 s, a short one of 5 s for who ran into the deadline, and its own 2 s.
    expect(at("honest")).toBe(27_000);
    expect(done.map((one) => one.at).at(-1)).toBe(20_000 + 6 * 5000 + ORDINARY_MS);
  });

  test("BEYOND 8: a site that wants a password is not looked at, and nobody waits for that", async () => {
    await waits("shut", { network: "theirs" });
    write(server.data_dir, "update sites set access_hash = 'x'");
    await lookAtAll(() => {
      throw new Error("it was looked at");
    });
    expect(done).toEqual([{ name: "shut", at: 0, status: "failed" }]);
    const [row] = read<{ reason: string }>(server.data_dir, "select reason from renders");
    expect(row?.reason).toContain("wants a password");
  });

  test("RELIABILITY A29: such a page every few seconds keeps no site without an owner from its turn", async () => {
    const again = () => waits("endless", { network: "theirs", account: "theirs" });
    for (let n = 0; n < 3; n++) await again();
    await waits("honest", { network: "ours" });
    await lookAtAll(usual, 60_000, again);
    expect(at("honest")).toBe(27_000);
  });

  test("RELIABILITY A29: sixty accounts of one address hold up an owner elsewhere for one page", async () => {
    for (let n = 0; n < 60; n++) await waits("endless", { network: "theirs", account: `theirs-${n}` });
    await waits("honest", { network: "ours", account: "ours" });
    await lookAtAll(usual, 40_000);
    expect(at("honest")).toBe(22_000);
  });

  test("RELIABILITY A29: a short turn is for the page after one that ran into the deadline, and ends with one that does not", async () => {
    const turns: number[] = [];
    for (const name of ["endless", "fine", "fine", "endless", "endless", "fine"])
      await waits(name, { network: "ours", account: "ours" });
    await waits("other", { network: "other", account: "other" });
    await lookAtAll((name, most_ms, nth) => {
      if (name !== "other") turns.push(most_ms);
      else expect(most_ms).toBe(20_000);
      return usual(name, most_ms, nth);
    });
    expect(turns).toEqual([20_000, 5000, 20_000, 20_000, 5000, 5000]);
  });

  test("RELIABILITY A29: where even the quickest page takes long, a short turn is twice that, up to a whole one", async () => {
    const turns: number[] = [];
    const slow = ["fine", "fine", "endless", "endless", "slow", "slow"];
    for (const name of [...slow, ...Array.from({ length: 8 }, () => "slow"), "endless", "endless"])
      await waits(name, { network: "ours", account: "ours" });
    await lookAtAll((name, most_ms, nth) => {
      turns.push(most_ms);
      return name === "endless" ? usual(name, most_ms, nth) : { ms: name === "fine" ? 4000 : 15_000 };
    });
    expect(turns).toEqual([...[20, 20, 20, 8, 8, 20], ...Array(8).fill(20), ...[20, 20]].map((s) => s * 1000));
  });

  test("CONTRACT 9: a browser that a signal ended is a try, and the page is taken up once more", async () => {
    await waits("killed", { network: "a" });
    await waits("other", { network: "b" });
    await lookAtAll((_, __, nth) => (nth === 1 ? { reason: "The browser ended on the page.", cut_off: "killed" } : {}));
    expect(done.map(({ name, status }) => [name, status]).toSorted()).toEqual([
      ["killed", "done"],
      ["other", "done"],
    ]);
    expect(said.filter((sentence) => /is tried once more: a signal ended/.test(sentence))).toHaveLength(2);
  });

  test("CONTRACT 9: the second time it is the page's verdict; so is the first of one that crashed by itself or took too long", async () => {
    await waits("killed", { network: "a" });
    await waits("crashed", { network: "b" });
    await waits("endless", { network: "c" });
    const begun: string[] = [];
    await lookAtAll((name, most_ms, nth) => {
      begun.push(name);
      if (name === "killed") return { reason: "The browser ended on the page.", cut_off: "killed" };
      return name === "crashed" ? { reason: "The page crashed." } : usual(name, most_ms, nth);
    });
    expect(begun.toSorted()).toEqual(["crashed", "endless", "killed", "killed"]);
    const rows = read<{ status: string; tries: number }>(server.data_dir, "select status, tries from renders");
    expect(rows.map(({ status, tries }) => `${status} ${tries}`).toSorted()).toEqual([
      "failed 1",
      "failed 1",
      "failed 2",
    ]);
  });
});

test("CONTRACT 9: a process that a signal ended is told apart from one that ended by itself, and from one that was late", async () => {
  const message: ToRender = { try: { program: "", sandbox: false, folder: "/tmp" } };
  const outcome = async (fixture: string, most_ms: number, signal: boolean) => {
    const command = [process.execPath, join(FIXTURES, "processes", fixture)];
    const running = startPageProcess(message, most_ms, command);
    if (signal) void Bun.sleep(300).then(() => running.kill());
    return running.done.catch(({ message, cut_off }: { message: string; cut_off: string | null }) => [
      message,
      cut_off,
    ]);
  };
  const [CRASHED, LATE] = ["The browser that looked at the page crashed.", "kept the browser busy"];
  expect(await outcome("hangs.ts", 20_000, true)).toEqual([CRASHED, "killed"]);
  expect(await outcome("exits.ts", 20_000, false)).toEqual([CRASHED, null]);
  expect(await outcome("hangs.ts", 300, false)).toEqual([expect.stringContaining(LATE), "late"]);
});

describe("with a real browser", () => {
  /** The processes that this one started under this name, or that one of these started. */
  function childrenOf(parent: number): { pid: number; comm: string }[] {
    const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    return all.flatMap((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
        const end = stat.lastIndexOf(")");
        const isOurs = Number(stat.slice(end + 2).split(" ")[1]) === parent;
        return isOurs ? [{ pid: Number(pid), comm: stat.slice(stat.indexOf("(") + 1, end) }] : [];
      } catch {
        return []; // it ended
      }
    });
  }
  const engines = (): number[] =>
    childrenOf(process.pid)
      .filter(({ comm }) => comm === "svc-render")
      .map(({ pid }) => pid);
  const browsers = (): number[] => engines().flatMap((pid) => childrenOf(pid).map((one) => one.pid));

  /** Kills what looks at the page, once the page has begun. */
  async function kill(which: () => number[]): Promise<void> {
    await until(() => which().length > 0);
    await Bun.sleep(1000);
    for (const pid of which()) process.kill(pid, "SIGKILL");
  }

  test.each([
    ["the process that looks", engines],
    ["the browser", browsers],
  ])(
    "CONTRACT 9: %s is killed: the page is looked at again, and its receipt is there",
    async (_, which) => {
      await using server = await startRenderer();
      await seen(server, await server.deploy({ "index.html": page("<p>Warm</p>") })); // the browser was tried by now
      const slow = `${ASKS}; setTimeout(() => clearInterval(asking), 2500)`;
      const site: DeployResult = await server.deploy({ "index.html": page(`<p>Text</p>${script(slow)}`) });
      await kill(which);
      expect(await seen(server, site)).toMatchObject({ status: "done", dom_summary: { text_length: 4 } });
    },
    2 * PATIENCE_MS,
  );
});
