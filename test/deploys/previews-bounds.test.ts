/** BEYOND 7 and 9: previews are counted, charged and judged as deploys are, and kept apart from the versions a site keeps. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { read } from "../kit/database.ts";
import { operator } from "../kit/operator.ts";
import { call, signUp } from "../kit/people.ts";
import { type DeployResult, startServer, type TestServer, ZIP } from "../kit/server.ts";
import { expectSound } from "../kit/sound.ts";
import { zipOf } from "../kit/zip.ts";
import { pageOf, previewing } from "./previewing.ts";
import { records } from "./site-record.ts";

/** The machine may be busy. */
setDefaultTimeout(60_000);

const ofBytes = (bytes: number, mark: string) => ({ "index.html": mark.padEnd(bytes, "-") });

const versions = (server: TestServer, site: DeployResult) => records(() => server)(site).then((it) => it.versions);

describe("quotas", () => {
  test("count previews: one that would pass it is 403 quota_exceeded, and nothing is stored; its end gives room", async () => {
    await using server = await startServer({ SVC_QUOTA_ADDRESS: "10000", SVC_PREVIEW_TTL: "1h" });
    const { make, post } = previewing(() => server);
    const site = await server.deploy(ofBytes(4000, "live"));
    await make(site, ofBytes(4000, "one"), "one");
    const rows = server.rows("versions");
    const refused = await post(site, ofBytes(4000, "two"), "?name=two");
    expect([refused.status, await refused.json()]).toMatchObject([
      403,
      { code: "quota_exceeded", limit: 10_000, actual: 12_000, unit: "bytes" },
    ]);
    expect(server.rows("versions")).toBe(rows);
    expect((await post(site, ofBytes(4000, "live"), "?name=same")).status).toBe(200);
    await expectSound(server);
    server.advance(3_600_000);
    await server.running.store.sweep(server.now());
    await make(site, ofBytes(4000, "two"), "two");
    await expectSound(server);
  });

  test("GET /account/usage tells bytes with, versions without them, and how many there are", async () => {
    await using server = await startServer({ SVC_PREVIEW_TTL: "1h" });
    const { make } = previewing(() => server);
    const person = await signUp(server);
    const sent = { method: "POST", body: zipOf(ofBytes(1000, "live")), headers: { ...ZIP, ...person.bearer } };
    const site = (await (await server.api("/sites", sent)).json()) as DeployResult;
    await make(site, ofBytes(500, "draft"), "a");
    await make(site, ofBytes(500, "draft"), "b");
    const usage = async () => (await call(server, "GET", "/account/usage", undefined, person.bearer)).body;
    expect(await usage()).toMatchObject({ bytes: 1500, versions: 1, previews: 2, sites: 1 });
    server.advance(3_600_000);
    expect(await usage()).toMatchObject({ previews: 0 });
  });
});

describe("SVC_KEEP_VERSIONS", () => {
  test("counts what is or was live alone: previews neither go with the oldest nor push one out", async () => {
    await using server = await startServer({ SVC_KEEP_VERSIONS: "2" });
    const { make, promote, text } = previewing(() => server);
    const site = await server.deploy(pageOf("v1"));
    await make(site, pageOf("draft"), "draft");
    const second = await server.redeploy(site, pageOf("v2"));
    expect(await versions(server, site)).toHaveLength(2);
    const third = await server.redeploy(site, pageOf("v3"));
    expect((await versions(server, site)).map(({ version_id }) => version_id)).toEqual([
      third.version_id,
      second.version_id,
    ]);
    expect(await text(`draft--${site.slug}`)).toContain("<p>draft");
    const { version_id } = (await (await promote(site, "draft")).json()) as { version_id: string };
    expect((await versions(server, site)).map((version) => version.version_id)).toEqual([version_id, third.version_id]);
    await expectSound(server);
  });

  test("an old version that a preview shows leaves the list and stays as the preview's", async () => {
    await using server = await startServer({ SVC_KEEP_VERSIONS: "1", SVC_PREVIEW_TTL: "1h" });
    const { make, promote, text } = previewing(() => server);
    const site = await server.deploy(pageOf("first"));
    await make(site, pageOf("first"), "old");
    await server.redeploy(site, pageOf("next"));
    expect(await versions(server, site)).toHaveLength(1);
    expect((await server.rollback(site, site.version_id)).status).toBe(404);
    expect(await text(`old--${site.slug}`)).toContain("<p>first");
    expect(await text(`${site.version_id}--${site.slug}`)).toContain("<p>first");
    await expectSound(server);
    expect((await promote(site, "old")).status).toBe(200);
    expect(await text(site.slug)).toContain("<p>first");
    await make(site, pageOf("next"), "gone");
    server.advance(3_600_000);
    await server.running.store.sweep(server.now());
    expect((await server.site(`gone--${site.slug}`)).status).toBe(404);
    await expectSound(server);
  });
});

test("they count in the rates of redeploys", async () => {
  await using server = await startServer({ SVC_RATE_REDEPLOY: "2/1h" });
  const { make, post } = previewing(() => server);
  const site = await server.deploy(pageOf("rates"));
  await make(site, pageOf("one"), "one");
  await server.redeploy(site, pageOf("two"));
  const third = await post(site, pageOf("three"), "?name=three");
  expect([third.status, await third.json()]).toMatchObject([429, { code: "rate_limited" }]);
  expect(third.headers.get("retry-after")).not.toBeNull();
});

test("suspicious pages begin a quarantine as a deploy's do; what an operator cleared was looked at, and nothing that comes under its number later is", async () => {
  await using server = await startServer({ SVC_PREVIEW_TTL: "1h" });
  const { make } = previewing(() => server);
  const suspicious = (n: number) => ({
    "index.html": `<!doctype html><title>PayPal – ${n}</title><form><input type=password></form>`,
  });
  const site = await server.deploy(pageOf("calm"));
  const quarantined = () =>
    read<{ quarantine: string | null }>(server.data_dir, "select quarantine from sites")[0]!.quarantine !== null;
  await make(site, suspicious(1), "one");
  expect(quarantined()).toBe(true);
  expect((await operator(server.data_dir, ["clear", site.site_id])).code).toBe(0);
  await make(site, suspicious(1), "one");
  expect(quarantined()).toBe(false);
  server.advance(3_600_000);
  await server.running.store.sweep(server.now());
  await make(site, suspicious(2), "two");
  expect(quarantined()).toBe(true);
});
