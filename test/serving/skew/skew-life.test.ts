/** BEYOND 4: how long the skew shield holds, and what ends it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { read } from "../../kit/database.ts";
import { startExplained } from "../../kit/explained.ts";
import { startProcess, temporaryFolder } from "../../kit/process.ts";
import { JSON_TYPE, startServer, type TestServer, ZIP } from "../../kit/server.ts";
import { zipOf } from "../../kit/zip.ts";
import { AS_SCRIPT, ask, CHUNK, contents, given, left } from "./former.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startExplained();
});
afterAll(() => server[Symbol.asyncDispose]());

const DAY = 86_400_000;
const HELD = "export default 1;";

const figure = async (name: string): Promise<number> => {
  const text = await (await server.api("/metrics")).text();
  return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)![1]);
};

const settings = (site: { site_id: string; manage_token: string }, body: object, at = server): Promise<Response> =>
  at.api(`/sites/${site.site_id}/settings`, {
    method: "PATCH",
    headers: { ...JSON_TYPE, authorization: `Bearer ${site.manage_token}` },
    body: JSON.stringify(body),
  });

describe("BEYOND 4: SVC_SKEW", () => {
  test("is 7 days from when the version was last live, to the millisecond of the clock, whatever was kept", async () => {
    const site = await left(server);
    server.advance(6 * DAY);
    expect(await given(server, site)).toBe(HELD);
    server.advance(DAY - 10_000);
    expect(await given(server, site)).toBe(HELD);
    server.advance(20_000);
    expect(await given(server, site)).toBe(404);
  });

  test("begins anew when the version was live again, and a site that was left long ago goes on from its next deploy", async () => {
    const site = await server.deploy(contents({ [CHUNK.slice(1)]: HELD }));
    const second = await server.redeploy(site, contents());
    server.giveAway(site);
    server.advance(8 * DAY);
    expect(await given(server, site)).toBe(404);
    await server.rollback(site, site.version_id);
    server.advance(30 * DAY);
    await server.rollback(site, second.version_id);
    server.advance(6 * DAY);
    expect(await given(server, site)).toBe(HELD);
  });

  test("off gives nothing", async () => {
    await using off = await startServer({ SVC_SKEW: "off" });
    expect(await given(off, await left(off))).toBe(404);
  });

  test("is what the operator says, to the millisecond", async () => {
    await using short = await startServer({ SVC_SKEW: "30s" });
    const site = await left(short);
    const [row] = read<{ ends: number }>(short.data_dir, "select max(live_until) + 30000 as ends from versions");
    short.standAt(row!.ends - 1);
    expect(await given(short, site)).toBe(HELD);
    short.standAt(row!.ends);
    expect(await given(short, site)).toBe(404);
  });
});

test("BEYOND 4: what led nowhere, time and again, leads to a file from the deploy or setting on that makes it so", async () => {
  const own = { "404.html": "own page" };
  const site = await server.deploy(contents(own));
  const nowhere = async () => {
    for (let n = 0; n < 3; n++) expect(await given(server, site)).toBe(404);
  };
  await nowhere();
  const second = await server.redeploy(site, contents({ ...own, [CHUNK.slice(1)]: HELD }));
  const third = await server.redeploy(site, contents(own));
  expect(await given(server, site)).toBe(HELD);
  await settings(site, { skew: false });
  await nowhere();
  await settings(site, { skew: true });
  expect(await given(server, site)).toBe(HELD);
  server.advance(8 * DAY);
  await nowhere();
  await server.rollback(site, second.version_id);
  await server.rollback(site, third.version_id);
  expect(await given(server, site)).toBe(HELD);
});

describe("BEYOND 4: what ends it", () => {
  test("{skew: false}, at the next request; true brings it back", async () => {
    const site = await left(server);
    expect(await given(server, site)).toBe(HELD);
    expect((await settings(site, { skew: false })).status).toBe(200);
    expect(await given(server, site)).toBe(404);
    await settings(site, { skew: true });
    expect(await given(server, site)).toBe(HELD);
  });

  test("the version's removal", async () => {
    await using few = await startServer({ SVC_KEEP_VERSIONS: "2" });
    const site = await left(few);
    expect(await given(few, site)).toBe(HELD);
    await few.redeploy(site, contents());
    expect(await given(few, site)).toBe(404);
  });

  test("a takedown, an end and a deletion, as of any page", async () => {
    const [disabled, expired, deleted] = [await left(server), await left(server), await left(server)];
    server.disable(disabled, "phishing");
    server.expire(expired);
    server.remove(deleted);
    expect(await given(server, disabled)).toBe(451);
    expect(await given(server, expired)).toBe(410);
    expect(await given(server, deleted)).toBe(404);
  });
});

test("BEYOND 4: each answer counts in svc_skew_answers_total, a 404 and an explanation in nothing", async () => {
  const site = await left(server);
  const before = await figure("svc_skew_answers_total");
  for (let n = 0; n < 3; n++) await (await server.site(site.slug, CHUNK, { headers: { range: "x" } })).text();
  expect(await figure("svc_skew_answers_total")).toBe(before);
  await given(server, site); // with its explanation
  expect(await figure("svc_skew_answers_total")).toBe(before + 1);
});

describe("BEYOND 4: over restarts and in every worker", () => {
  /** New connections spread over the workers. */
  const TRIES = 20;

  test("after kill -9 what was answered holds in both workers: a deploy, a rollback, a setting", async () => {
    await using folder = await temporaryFolder();
    const start = () =>
      startProcess(["--data-dir", folder.path, "--workers", "2", "--log", "off"], {
        env: { SVC_RATE_DEPLOY: "off", SVC_RATE_REDEPLOY: "off" },
      });
    let process = await start();
    const call = (path: string, init: RequestInit & { headers?: Record<string, string> } = {}) =>
      fetch(`http://127.0.0.1:${process.port}${path}`, { ...init, headers: { connection: "close", ...init.headers } });
    const deploy = async (path: string, token: string, files: Record<string, string | Uint8Array>) => {
      const headers = { ...ZIP, ...(token && { authorization: `Bearer ${token}` }) };
      return (await (await call(path, { method: "POST", headers, body: zipOf(files) })).json()) as Record<
        string,
        string
      >;
    };
    const change = async (method: string, path: string, token: string, body: object) => {
      const headers = { ...JSON_TYPE, authorization: `Bearer ${token}` };
      expect((await call(path, { method, headers, body: JSON.stringify(body) })).status).toBe(200);
    };
    const everywhere = async (slug: string) => {
      const headers = { host: `${slug}.localhost:${process.port}`, ...AS_SCRIPT };
      const seen = new Set<number>();
      for (let n = 0; n < TRIES; n++) seen.add((await call(CHUNK, { headers })).status);
      return [...seen];
    };
    const again = async () => {
      process.kill("SIGKILL");
      await process.exited;
      process = await start();
    };
    try {
      const { site_id, slug, manage_token, version_id } = await deploy(
        "/sites",
        "",
        contents({ [CHUNK.slice(1)]: HELD }),
      );
      const token = manage_token!;
      expect(await everywhere(slug!)).toEqual([200]);
      const second = await deploy(`/sites/${site_id}/deploys`, token, contents());
      await again();
      expect(await everywhere(slug!)).toEqual([200]);
      await change("PATCH", `/sites/${site_id}/settings`, token, { skew: false });
      expect(await everywhere(slug!)).toEqual([404]);
      await again();
      expect(await everywhere(slug!)).toEqual([404]);
      await change("PATCH", `/sites/${site_id}/settings`, token, { skew: true });
      await change("POST", `/sites/${site_id}/rollback`, token, { version_id });
      await change("POST", `/sites/${site_id}/rollback`, token, { version_id: second.version_id });
      await again();
      expect(await everywhere(slug!)).toEqual([200]);
    } finally {
      process.kill("SIGKILL");
      await process.exited;
    }
  }, 60_000);

  test("a restart forgets nothing of when a version was left", async () => {
    await using short = await startServer({ SVC_SKEW: "1h" });
    const site = await left(short);
    await short.stop();
    await short.start([{ SVC_SKEW: "1h" }]);
    expect((await ask(short, site)).headers.get("svc-skew")).toBe(site.former);
    short.advance(3_600_000);
    await short.stop();
    await short.start([{ SVC_SKEW: "1h" }]);
    expect(await given(short, site)).toBe(404);
  });
});
