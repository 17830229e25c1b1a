/** RELIABILITY 2, G3 and K26: what the sweep makes of a clock that is wrong, or was. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { slotOf } from "../../src/run/metrics.ts";
import { startUpkeep } from "../../src/upkeep/index.ts";
import { openStore } from "../../src/store/index.ts";
import { auditRows, write } from "../kit/database.ts";
import { type DeployResult, startServer, type TestServer } from "../kit/server.ts";
import { until } from "../kit/until.ts";

setDefaultTimeout(60_000);

const DAY = 86_400_000;
let server: TestServer;
beforeEach(async () => {
  server = await startServer();
});
afterEach(() => server[Symbol.asyncDispose]());

/** As if they had been deployed then: one version each, in this order. */
async function deployedAt(...times: number[]): Promise<void> {
  for (const [n, at] of times.entries()) {
    const { site_id } = await server.deploy({ "index.html": `site ${n}` });
    const created_at = new Date(at).toISOString();
    write(server.data_dir, "update versions set created_at = ? where site_id = ?", created_at, site_id);
  }
}

const sweep = (now: () => number): Promise<string> =>
  openStore({ data_dir: server.data_dir, now }).then(async (store) => {
    const done = await store.sweep(now()).then(
      () => "swept",
      (error: Error) => error.message,
    );
    await store.close();
    return done;
  });

describe("G3 the clock is asked after the deploys", () => {
  const now = Date.now();
  const cases: [name: string, deploys: number[], swept: boolean][] = [
    ["no deploy", [], true],
    ["deploys of the past", [now - DAY, now], true],
    ["one of a clock that ran a year ahead, as the newest", [now - DAY, now - 1000, now + 365 * DAY], true],
    ["one of a clock that ran ahead, as the first", [now + 365 * DAY, now - 1000], true],
    ["most of the last ones ahead, but one by the clock as it is", [...Array(9).fill(now + DAY), now], true],
    ["the only one ahead", [now + DAY], false],
    ["most of the last ones ahead", [now - DAY, now + DAY, now + DAY], false],
  ];
  test.each(cases)("%s", async (_, deploys, swept) => {
    await deployedAt(...deploys);
    const said = await sweep(() => now);
    if (swept) return expect(said).toBe("swept");
    expect(said).toContain(`The clock is behind: it shows ${new Date(now).toISOString()}`);
    expect(said).toContain(`are of up to ${new Date(now + DAY).toISOString()}`);
  });

  test("a deploy that commits while the database is checked is not ahead of it", async () => {
    await deployedAt(now + 20_000); // the check began before it and ends after it
    const times = [now];
    expect(await sweep(() => times.pop() ?? now + 30_000)).toBe("swept");
  });
});

/** Sweeps one after the other, by a clock that is a month ahead at those of these numbers. */
async function sweeping(ahead_at: readonly number[], sweeps: number): Promise<void> {
  const figures = server.running.store.figures;
  const done = () => figures.get(slotOf("svc_sweeps_total"));
  const before = done();
  const now = () => Date.now() + (ahead_at.includes(done() - before + 1) ? 30 * DAY : 0);
  const config = { ...server.running.config, gc_interval: 30 };
  const running = startUpkeep(config, now, () => {});
  await until(() => done() - before >= sweeps);
  await running.stop();
}

describe("G4, K26 a site goes once it has been expired for a whole interval", () => {
  const expiries = () => auditRows(server.data_dir).filter(({ action }) => action === "expire").length;
  let site: DeployResult;
  beforeEach(async () => {
    site = await server.deploy({ "index.html": "x" });
  });

  test.each([
    ["at the first sweep", [1]],
    ["at one in the middle", [3]],
    ["at every other one", [2, 4]],
  ])("a clock that is ahead %s takes nothing away: put right, it brings the site back", async (_, ahead_at) => {
    await sweeping(ahead_at, 6);
    expect(expiries()).toBe(0);
    server.advance(30 * DAY);
    expect((await server.site(site.slug)).status).toBe(410);
    server.advance(-30 * DAY);
    expect((await server.site(site.slug)).status).toBe(200);
  });

  test("at two sweeps in a row it is removed, and stays so", async () => {
    await sweeping([2, 3], 4);
    expect(expiries()).toBe(1);
    expect((await server.site(site.slug)).status).toBe(410);
  });
});
