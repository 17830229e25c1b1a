/** BEYOND 11: visitors of a day, counted by a sketch under a salt that ends with the day. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "../kit/process.ts";
import { type DeployResult, startServer, type TestServer } from "../kit/server.ts";
import { shared, sharedServer } from "../kit/shared.ts";
import { until } from "../kit/until.ts";
import { NAVIGATION, statistics } from "./visiting.ts";

setDefaultTimeout(120_000);
const DAY = 86_400_000;
const PROXY = ["--trust-proxy", "127.0.0.1"];
const PAGE = { "index.html": "<!doctype html><title>Home</title>" };

const server = await sharedServer(...PROXY);
const folder = shared(await temporaryFolder());

const from = async (at: TestServer, { slug }: DeployResult, address: string, headers: Record<string, string> = {}) => {
  const answer = await at.site(slug, "/", { headers: { ...NAVIGATION, "x-forwarded-for": address, ...headers } });
  expect(answer.status).toBe(200);
};

/** An address for each number. */
const address = (n: number): string => `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;

async function many(site: DeployResult, first: number, end: number): Promise<void> {
  const next = { n: first };
  const visitor = async () => {
    while (next.n < end) await from(server, site, address(next.n++));
  };
  await Promise.all(Array.from({ length: 8 }, visitor));
}

const today = ({ now }: TestServer): string => new Date(now()).toISOString().slice(0, 10);
const saltOf = (at: TestServer): Promise<string> => readFile(join(at.data_dir, "stats-salt"), "utf8");

describe("BEYOND 11: distinct visitors", () => {
  test("are exact below 20, and within 5 % at 100, 1,000 and 10,000", async () => {
    const site = await server.deploy(PAGE);
    let so_far = 0;
    for (const count of [1, 7, 19, 100, 1000, 10_000]) {
      await many(site, so_far, count);
      await many(site, 0, Math.min(count, 20)); // who comes again is one
      so_far = count;
      const { visitors } = (await statistics(server, site)).totals;
      if (count < 20) expect(visitors).toBe(count);
      else expect(Math.abs(visitors - count) / count).toBeLessThanOrEqual(0.05);
    }
  });

  test("are those of an address, of a /64 for IPv6, and of a browser", async () => {
    const site = await server.deploy(PAGE);
    const counts = async () => (await statistics(server, site)).totals.visitors;
    for (const one of ["192.0.2.1", "192.0.2.1", "2001:db8:1:2::1", "2001:db8:1:2:ffff::9"])
      await from(server, site, one);
    expect(await counts()).toBe(2);
    await from(server, site, "2001:db8:1:3::1");
    await from(server, site, "192.0.2.1", { "user-agent": "Mozilla/5.0 Safari" });
    expect(await counts()).toBe(4);
  });

  test("of two days are two: totals add the days", async () => {
    await using other = await startServer(...PROXY);
    const site = await other.deploy(PAGE, "");
    other.giveAway(site);
    await from(other, site, "192.0.2.1");
    other.advance(DAY);
    await from(other, site, "192.0.2.1");
    const { totals, days } = await statistics(other, site, "days=2");
    expect(totals).toEqual({ views: 2, visitors: 2, bots: 0, misses: 0 });
    expect(days.map(({ views, visitors }) => [views, visitors])).toEqual([
      [1, 1],
      [1, 1],
    ]);
  });
});

describe("BEYOND 11: DATA/stats-salt", () => {
  test("is there from the start on, for the server's user alone, and goes on through a restart of the same day", async () => {
    await using other = await startServer(...PROXY);
    expect((await stat(join(other.data_dir, "stats-salt"))).mode & 0o777).toBe(0o600);
    other.standAt(Date.parse(`${today(other)}T12:00:00Z`));
    const site = await other.deploy(PAGE);
    await from(other, site, "192.0.2.1");
    const before = await saltOf(other);
    await other.stop();
    await other.start(PROXY);
    await from(other, site, "192.0.2.1");
    expect(await saltOf(other)).toBe(before);
    expect((await statistics(other, site)).totals).toMatchObject({ views: 2, visitors: 1 });
  });

  test("is overwritten once the day is over, whether anybody visits or not", async () => {
    await using other = await startServer(...PROXY);
    const { ino, size } = await stat(join(other.data_dir, "stats-salt"));
    const before = JSON.parse(await saltOf(other)) as { day: number; salt: string };
    other.advance(DAY);
    await until(async () => !(await saltOf(other)).includes(before.salt));
    expect(JSON.parse(await saltOf(other))).toMatchObject({ day: before.day + 1 });
    // In its place: the blocks of a removed file keep what it held.
    expect(await stat(join(other.data_dir, "stats-salt"))).toMatchObject({ ino, size });
  });

  test("the first visitors of a day are counted, before its salt is there", async () => {
    await using other = await startServer(...PROXY);
    const site = await other.deploy(PAGE);
    other.giveAway(site);
    other.advance(DAY);
    await Promise.all(Array.from({ length: 10 }, (_, n) => from(other, site, address(n))));
    expect((await statistics(other, site)).totals).toMatchObject({ views: 10, visitors: 10 });
  });

  test.each(["", "{", "[]", '{"day":1,"salt":"short"}', "\0".repeat(100)])(
    "damaged as %j, it is made anew",
    async (text) => {
      await using other = await startServer(...PROXY);
      const site = await other.deploy(PAGE);
      await other.stop();
      await Bun.write(join(other.data_dir, "stats-salt"), text);
      await other.start(PROXY);
      await from(other, site, "192.0.2.1");
      expect((await statistics(other, site)).totals).toMatchObject({ views: 1, visitors: 1 });
    },
  );

  test("nothing of an address or a browser is in the data directory, before or after the flush", async () => {
    const { path } = folder;
    const { startProcess } = await import("../kit/process.ts");
    const running = await startProcess(["--data-dir", path, ...PROXY], { env: { SVC_STATS_FLUSH: "1s" } });
    const body = (await import("../kit/zip.ts")).zipOf(PAGE);
    const made = await fetch(`http://127.0.0.1:${running.port}/sites`, { method: "POST", body, headers: { "content-type": "application/zip" } }); // prettier-ignore
    const { slug } = (await made.json()) as DeployResult;
    const headers = {
      ...NAVIGATION,
      host: `${slug}.localhost:${running.port}`,
      "x-forwarded-for": "198.51.100.77",
      "user-agent": "Unmistakable/9.9",
    };
    await fetch(`http://127.0.0.1:${running.port}/`, { headers });
    await until(async () => await Bun.file(join(path, "stats.db")).exists());
    running.kill("SIGTERM");
    await running.exited;
    const grep = Bun.spawnSync(["grep", "-rlaE", "198.51.100.77|Unmistakable", path]);
    expect(grep.stdout.toString()).toBe("");
  });
});
