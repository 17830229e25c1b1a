/** BEYOND 9: what an account and a network may hold, and how many versions a site keeps. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { read, write } from "../kit/database.ts";
import { blobsFolder } from "../kit/operator.ts";
import { call, type Person, signUp } from "../kit/people.ts";
import { type Contents, type DeployResult, startServer, type TestServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { expectSound } from "../kit/sound.ts";
import { zipOf } from "../kit/zip.ts";

/** The machine may be busy. */
setDefaultTimeout(60_000);

const QUOTA = 10_000;
/** Content of so many bytes that no other has. */
const of = (bytes: number, mark: string): string => mark.padEnd(bytes, "-");
const page = (bytes: number, mark: string): Contents => ({ "index.html": of(bytes, mark) });
const from = (address: string): Record<string, string> => ({ "x-forwarded-for": address });
const TRUSTED = ["--trust-proxy", "127.0.0.1"] as const;

interface Refused {
  code?: string;
  limit?: number;
  actual?: number;
  unit?: string;
  next_actions?: { action: string }[];
}

/** `POST /sites`, or a redeploy of `site`. */
async function deploy(
  server: TestServer,
  files: Contents,
  { by, site, query = "" }: { by?: Record<string, string>; site?: Pick<DeployResult, "site_id">; query?: string } = {},
) {
  const path = site ? `/sites/${site.site_id}/deploys${query}` : `/sites${query}`;
  const headers = { "content-type": "application/zip", ...by };
  const response = await server.api(path, { method: "POST", headers, body: zipOf(files) });
  return { status: response.status, body: (await response.json()) as DeployResult & Refused };
}

const made = async (...asked: Parameters<typeof deploy>): Promise<DeployResult> => {
  const { status, body } = await deploy(...asked);
  expect(status).toBe(200);
  return body;
};

const manage = ({ manage_token }: DeployResult) => ({ authorization: `Bearer ${manage_token}` });
const usage = async (server: TestServer, { bearer }: Person) =>
  (await call(server, "GET", "/account/usage", undefined, bearer)).body;
const blobs = ({ data_dir }: TestServer): number =>
  readdirSync(blobsFolder(data_dir), { recursive: true }).filter((name) => String(name).length > 60).length;

/** The kept figures are those that the rows add up to. */
describe("SVC_QUOTA_ACCOUNT", () => {
  test("a deploy that would pass it is 403 quota_exceeded with both figures, and nothing is stored", async () => {
    await using server = await startServer({ SVC_QUOTA_ACCOUNT: String(QUOTA) });
    const person = await signUp(server);
    const site = await made(server, page(6000, "a"), { by: person.bearer });
    const [sites, files] = [server.rows("sites"), blobs(server)];
    const { status, body } = await deploy(server, page(4001, "b"), { by: person.bearer });
    expect([status, body.code, body.limit, body.actual, body.unit]).toEqual([
      403,
      "quota_exceeded",
      QUOTA,
      10_001,
      "bytes",
    ]);
    expect(body.next_actions!.map(({ action }) => action)).toEqual(["prune"]);
    expect([server.rows("sites"), blobs(server)]).toEqual([sites, files]);
    for (const by of [person.bearer, manage(site)]) {
      expect((await deploy(server, page(4001, "b"), { by, site })).body.code).toBe("quota_exceeded");
    }
    expect([server.rows("versions"), blobs(server)]).toEqual([1, files]);
    await made(server, page(4000, "b"), { by: person.bearer });
    await expectSound(server);
  });

  test("equal content never fails, not even past it", async () => {
    await using server = await startServer({ SVC_QUOTA_ACCOUNT: String(QUOTA) });
    const person = await signUp(server);
    const by = person.bearer;
    const site = await made(server, { ...page(6000, "a"), "b.txt": of(3000, "b") }, { by });
    const other = await made(server, { "index.html": of(6000, "a") }, { by, site });
    expect(other.version_id).not.toBe(site.version_id); // a version of its own, out of a blob that is there
    await made(server, { ...page(6000, "a"), "b.txt": of(3000, "b") }, { by, site });
    expect(await usage(server, person)).toMatchObject({ bytes: 9000, sites: 1, versions: 2 });
    const full = await made(server, page(1000, "c"), { by });
    await made(server, page(1000, "c"), { by, site: full });
    expect((await deploy(server, { "index.html": "" }, { by })).status).toBe(200); // nothing is added
    expect((await deploy(server, { "index.html": "d" }, { by })).status).toBe(403);
  });

  test("of each site the distinct uploaded blobs count once; pages that are made do not count", async () => {
    await using server = await startServer();
    const person = await signUp(server);
    const by = person.bearer;
    const site = await made(server, { "index.html": of(500, "a"), "same.txt": of(500, "a"), "b.txt": "bb" }, { by });
    expect((await usage(server, person)).bytes).toBe(502);
    await made(server, { "index.html": of(500, "a"), "c.txt": "ccc" }, { by, site });
    expect((await usage(server, person)).bytes).toBe(505);
    await made(server, { "index.html": of(500, "a") }, { by }); // another site has its own
    await made(server, { "readme.md": "# Markdown" }, { by });
    expect({ ...(await usage(server, person)) } as object).toEqual({
      bytes: 1015,
      quota_bytes: 5 * 1024 ** 3,
      sites: 3,
      versions: 4,
      previews: 0,
      tokens: 0,
      domains: 0,
    });
    await expectSound(server);
  });

  test("beside it the disk may be taken by as much again: with small files, pages that are made, and names", async () => {
    await using server = await startServer({ SVC_QUOTA_ACCOUNT: "100m" });
    const person = await signUp(server);
    const by = person.bearer;
    const docs = (title: string): Contents => ({ "a.md": "# A", "b.md": "# B", "c.md": `# ${title}` });
    const site = await made(server, docs("first"), { by });
    const disk = () => read<{ stored_disk: number }>(server.data_dir, "select stored_disk from sites")[0]!.stored_disk;
    expect(disk()).toBeGreaterThan(10 * 4096);
    const before = disk();
    await made(server, docs("second"), { by, site }); // one title: all three pages are made anew
    expect(disk() - before).toBeGreaterThan(5 * 4096);
    expect((await usage(server, person)).bytes).toBeLessThan(50);
    write(server.data_dir, "update sites set stored_disk = ? where site_id = ?", 200 * 2 ** 20 - 5000, site.site_id);
    const limit = 200 * 2 ** 20;
    const { status, body } = await deploy(server, docs("third"), { by, site });
    const passed = body.actual! > limit;
    expect([status, body.code, body.limit, passed, body.unit]).toEqual([403, "quota_exceeded", limit, true, "bytes"]);
    await made(server, docs("first"), { by, site }); // equal content never fails
    await made(server, { "index.html": "x" }, { by, site }); // a block and a row
  });

  test("what is deleted counts no more; off: no bound, and null", async () => {
    await using server = await startServer({ SVC_QUOTA_ACCOUNT: "off" });
    const person = await signUp(server);
    const site = await made(server, page(500, "a"), { by: person.bearer });
    expect(await usage(server, person)).toMatchObject({ bytes: 500, quota_bytes: null });
    await call(server, "DELETE", `/account/sites/${site.site_id}`, undefined, person.bearer);
    expect(await usage(server, person)).toMatchObject({ bytes: 0, sites: 0, versions: 0 });
  });

  test("a claim is not refused for it; the next deploy is", async () => {
    await using server = await startServer({ SVC_QUOTA_ACCOUNT: String(QUOTA) });
    const person = await signUp(server);
    const site = await server.deploy(page(20_000, "a"));
    const { claim_token } = site;
    const claimed = await call(server, "POST", `/sites/${site.site_id}/claim`, { claim_token }, person.bearer);
    expect(claimed.status).toBe(200);
    expect((await usage(server, person)).bytes).toBe(20_000);
    expect((await deploy(server, page(1, "b"), { by: person.bearer })).body).toMatchObject({
      code: "quota_exceeded",
      actual: 20_001,
    });
    expect((await deploy(server, page(1, "b"), { by: manage(site), site })).body.code).toBe("quota_exceeded");
    await made(server, page(20_000, "a"), { by: manage(site), site });
  });

  test("many deploys at once do not pass it together", async () => {
    await using server = await startServer({ SVC_QUOTA_ACCOUNT: String(QUOTA) });
    const { bearer: by } = await signUp(server);
    const all = await Promise.all(Array.from({ length: 8 }, (_, n) => deploy(server, page(3000, `n${n}`), { by })));
    expect(all.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 403, 403, 403, 403, 403]);
    await expectSound(server);
  });

  test("a dry run is refused as the deploy would be, and stores nothing", async () => {
    await using server = await startServer({ SVC_QUOTA_ACCOUNT: "100", SVC_QUOTA_ADDRESS: "100" });
    const { bearer: by } = await signUp(server);
    const query = "?dry_run=1";
    expect((await deploy(server, page(101, "a"), { by, query })).body).toMatchObject({
      code: "quota_exceeded",
      actual: 101,
    });
    expect((await deploy(server, page(101, "a"), { query })).body.code).toBe("quota_exceeded");
    const site = await made(server, page(60, "a"), { by });
    expect((await deploy(server, page(60, "b"), { by, site, query })).body).toMatchObject({ actual: 120 });
    expect((await deploy(server, page(60, "a"), { by, site, query })).status).toBe(200);
    expect((await deploy(server, page(40, "b"), { by, site, query })).status).toBe(200);
    expect(server.rows("versions")).toBe(1);
  });
});

const ofAddresses = await sharedServer(...TRUSTED, { SVC_QUOTA_ADDRESS: String(QUOTA) });

describe("SVC_QUOTA_ADDRESS", () => {
  const start = () => startServer(...TRUSTED, { SVC_QUOTA_ADDRESS: String(QUOTA) });
  /** A server for all of them. What an earlier test deployed has expired, so every network is free again. */
  const free = (): TestServer => {
    ofAddresses.advance(30 * 86_400_000);
    return ofAddresses;
  };

  test("counts the sites without an owner that one network deployed, and says how to go on", async () => {
    const server = free();
    const by = from("1.1.1.1");
    const site = await made(server, page(6000, "a"), { by });
    const { status, body } = await deploy(server, page(5000, "b"), { by });
    expect([status, body.code, body.limit, body.actual, body.unit]).toEqual([
      403,
      "quota_exceeded",
      QUOTA,
      11_000,
      "bytes",
    ]);
    expect(body.next_actions!.map(({ action }) => action)).toEqual(["login"]);
    // A redeploy counts for the network that made the site, wherever it comes from.
    const elsewhere = { ...from("2.2.2.2"), ...manage(site) };
    expect((await deploy(server, page(5000, "b"), { by: elsewhere, site })).body.code).toBe("quota_exceeded");
    await made(server, page(4000, "c"), { by: elsewhere, site });
    await made(server, page(9000, "d"), { by: from("2.2.2.2") });
    await expectSound(server);
  });

  test.each([
    ["an IPv6 /64 is one", "2001:db8:1:2::1", "2001:db8:1:2:ffff::2", 403],
    ["another /64 is another", "2001:db8:1:2::1", "2001:db8:1:3::1", 200],
  ])("%s", async (_, first, second, status) => {
    const server = free();
    await made(server, page(6000, "a"), { by: from(first) });
    expect((await deploy(server, page(6000, "b"), { by: from(second) })).status).toBe(status);
  });

  test.each<[string, (server: TestServer, site: DeployResult, person: Person) => unknown]>([
    ["a claim", (server, { site_id, claim_token }, { bearer }) => claimed(server, site_id, claim_token!, bearer)],
    ["an attach", (server, site, { bearer }) => attached(server, site, bearer)],
    ["its expiry, before any sweep", (server, site) => server.expire(site)],
    ["its deletion", (server, site) => server.remove(site)],
  ])("%s frees it", async (_, end) => {
    const server = free();
    const by = from("1.1.1.1");
    const person = await signUp(server);
    const site = await made(server, page(9000, "a"), { by });
    expect((await deploy(server, page(2000, "b"), { by })).status).toBe(403);
    await end(server, site, person);
    await made(server, page(2000, "b"), { by });
  });

  test("a repeated deploy under an Idempotency-Key is the first one's answer, however full it is", async () => {
    const server = free();
    const by = { ...from("1.1.1.1"), "idempotency-key": "0123456789abcdef0123456789" };
    const site = await made(server, page(9000, "a"), { by });
    expect((await made(server, page(9000, "a"), { by })).site_id).toBe(site.site_id);
  });

  test("no address is kept, only its hash under a key of this server", async () => {
    const kept: unknown[] = [];
    for (let n = 0; n < 2; n++) {
      await using server = await start();
      await made(server, page(1, "a"), { by: from("203.0.113.77") });
      const [row] = read<{ network: string }>(server.data_dir, "select network from sites");
      expect(row!.network).toMatch(/^[\w-]{22}$/);
      kept.push(row!.network);
    }
    expect(kept[0]).not.toBe(kept[1]);
  });
});

const claimed = async (server: TestServer, site_id: string, claim_token: string, bearer: Record<string, string>) =>
  expect((await call(server, "POST", `/sites/${site_id}/claim`, { claim_token }, bearer)).status).toBe(200);
const attached = async (
  server: TestServer,
  { site_id, manage_token }: DeployResult,
  bearer: Record<string, string>,
): Promise<void> => {
  const sites = [{ site_id, manage_token }];
  expect((await call(server, "POST", "/account/bulk-attach", { sites }, bearer)).body["attached"]).toEqual([site_id]);
  expect(read(server.data_dir, "select network from sites where site_id = ?", site_id)).toEqual([{ network: null }]);
};

describe("SVC_KEEP_VERSIONS", () => {
  const versionsOf = async (server: TestServer, site: DeployResult) => {
    const { body } = await call(server, "GET", `/sites/${site.site_id}`, undefined, manage(site));
    return (body["versions"] as { version_id: string }[]).map(({ version_id }) => version_id);
  };
  /** Each version has a file of its own and one that all have. */
  const content = (n: number): Contents => ({
    "index.html": `<title>${n}</title>`,
    "own.txt": of(100, `${n}`),
    "all.txt": "all",
  });

  test("after a deploy the oldest beyond it are gone: from the list, rollback, their hosts and the figures", async () => {
    await using server = await startServer({ SVC_KEEP_VERSIONS: "3" });
    const site = await server.deploy(content(1));
    const ids = [site.version_id];
    const old = `${site.version_id}--${site.slug}`;
    expect((await server.site(old, "/own.txt")).status).toBe(200); // kept in memory from here on
    for (const n of [2, 3, 4, 5]) ids.unshift((await server.redeploy(site, content(n))).version_id);
    expect(await versionsOf(server, site)).toEqual(ids.slice(0, 3));
    const gone = await server.rollback(site, site.version_id);
    expect([gone.status, await gone.json()]).toMatchObject([
      404,
      { code: "unknown_version", error: "Unknown version" },
    ]);
    const host = await server.site(old, "/own.txt");
    expect([host.status, await host.json()]).toMatchObject([404, { code: "unknown_version" }]);
    expect((await server.site(`${ids[2]}--${site.slug}`, "/own.txt")).status).toBe(200);
    expect(read(server.data_dir, "select stored_bytes, stored_versions from sites")).toEqual([
      { stored_bytes: 3 * (100 + "<title>1</title>".length) + 3, stored_versions: 3 },
    ]);
    expect(server.rows("files")).toBe(9);
    await expectSound(server);
    // Its content may be deployed anew.
    const again = await server.redeploy(site, content(1));
    expect(again.version_id).toBe(site.version_id);
    expect(await (await server.site(old, "/own.txt")).text()).toBe(of(100, "1"));
    expect(await versionsOf(server, site)).toEqual([site.version_id, ...ids.slice(0, 2)]);
    await expectSound(server);
  });

  test("never the live one, however old it is", async () => {
    await using server = await startServer({ SVC_KEEP_VERSIONS: "2" });
    const site = await server.deploy(content(1));
    const second = await server.redeploy(site, content(2));
    await server.rollback(site, site.version_id);
    // Stored already: what goes live again is an old version.
    await server.redeploy(site, content(1));
    expect(await versionsOf(server, site)).toEqual([second.version_id, site.version_id]);
    const third = await server.redeploy(site, content(3));
    expect(await versionsOf(server, site)).toEqual([third.version_id, second.version_id]);
    expect(await (await server.site(site.slug)).text()).toContain("<title>3</title>");
  });

  test("a longer history is cut down by the next deploys; equal content cuts too", async () => {
    await using server = await startServer({ SVC_KEEP_VERSIONS: "off" });
    const site = await server.deploy(content(1));
    for (let n = 2; n <= 9; n++) await server.redeploy(site, content(n));
    expect((await versionsOf(server, site)).length).toBe(9);
    await server.stop();
    await server.start([{ SVC_KEEP_VERSIONS: "2" }]);
    await server.redeploy(site, content(9));
    expect((await versionsOf(server, site)).length).toBe(2);
    expect(await (await server.site(site.slug)).text()).toContain("<title>9</title>");
    await expectSound(server);
  });

  test("blobs that no version names any more go with a sweep, the others stay", async () => {
    await using server = await startServer({ SVC_KEEP_VERSIONS: "1" });
    const site = await server.deploy(content(1));
    await server.redeploy(site, content(2));
    expect(blobs(server)).toBe(5);
    expect((await server.running.store.sweep(server.now() + 2 * 3_600_000)).blobs).toBe(2);
    await expectSound(server);
    expect(await (await server.site(site.slug, "/own.txt")).text()).toBe(of(100, "2"));
  });
});
