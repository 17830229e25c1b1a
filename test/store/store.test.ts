/** RELIABILITY 2: the store's protocol, where black-box requests cannot reach. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { MODERATION } from "../../src/store/moderation.ts";
import { openDataDir } from "../../src/store/sqlite/data-dir.ts";
import { databaseFile } from "../../src/store/sqlite/database.ts";
import type { Publish } from "../../src/store/publish.ts";
import { openStore, type Store } from "../../src/store/index.ts";
import { DamagedBlob } from "../../src/store/refusals.ts";
import type { Stored } from "../../src/store/versions.ts";
import { prepareDataDir } from "../../src/store/sqlite/prepare.ts";
import type { Bytes, Site } from "../../src/base/types.ts";
import { contentHash, deployDigest, versionIdOf } from "../../src/base/version-id.ts";
import { openFile, UNBOUNDED } from "../kit/database.ts";
import { until } from "../kit/until.ts";

const HOUR = 3_600_000;
let data_dir: string;
let data: { close(): void };
let store: Store;
let clock: number;

beforeEach(async () => {
  data_dir = await mkdtemp(join(tmpdir(), "svc-test-"));
  data = prepareDataDir(data_dir);
  clock = Date.now();
  store = await openStore({ data_dir, now: () => clock });
});
afterEach(async () => {
  store.close();
  data.close();
  await rm(data_dir, { recursive: true, force: true });
});

const version = (files: Record<string, string>): Publish["version"] => {
  const contents = Object.entries(files).map(([path, text]) => {
    const bytes = new Uint8Array(Buffer.from(text)) as Bytes;
    return { path, bytes, sha256: contentHash(bytes) };
  });
  const digest = deployDigest(contents.map(({ path, sha256 }) => [path, sha256] as const));
  return {
    version_id: versionIdOf(digest),
    digest,
    title: null,
    spa: { enabled: false, rule: "none" },
    files: contents.length,
    bytes: contents.reduce((sum, { bytes }) => sum + bytes.length, 0),
    manifest: contents.map(({ path, sha256, bytes }) => ({
      path,
      sha256,
      bytes: bytes.length,
      media_type: "text/plain;charset=utf-8",
      made: false,
    })),
    blobs: new Map(contents.map(({ sha256, bytes }) => [sha256, bytes])),
    healed: [],
    warnings: [],
    checked: { pages: 0, links: 0, files: 0 },
    renderer: null,
    suspicions: [],
  };
};

const WHOLE = { limit: 1000, before: null };
let sites = 0;
const newSite = (slugs = [`slug-${++sites}`]): Publish["target"] => ({
  kind: "new",
  site_id: `site_${String(++sites).padStart(20, "0")}`,
  owner: null,
  network: null,
  expires_at: clock + HOUR,
  slugs,
  idempotency: null,
});
const publish = (content: Publish["version"], target = newSite(), token = `hash-${++sites}`) =>
  store.publish({ target, version: content, tokens: [{ hash: token, kind: "manage" }], bounds: UNBOUNDED });
const redeploy = (site_id: string, token_hash: string, content: Publish["version"]) =>
  store.publish({
    target: { kind: "existing", site_id, by: { token_hash } },
    version: content,
    tokens: [],
    bounds: UNBOUNDED,
  });

/** The first file of a site's live version, as its manifest has it. */
const storedIn = async ({ site_id, live_version_id }: Site): Promise<Stored> =>
  [...(await store.versions.manifest(site_id, live_version_id))!.values()][0]!;

const pathOf = (sha256: string) => join(data_dir, "blobs", sha256.slice(0, 2), sha256);
const writeBlob = (sha256: string, text: string): void => {
  mkdirSync(dirname(pathOf(sha256)), { recursive: true });
  writeFileSync(pathOf(sha256), text);
};
const files = () =>
  readdirSync(join(data_dir, "blobs"), { recursive: true }).filter((path) => String(path).length > 60);
const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => "published",
    (error) => error.code as string,
  );

describe("publish", () => {
  test("a content is stored once, however many sites and paths have it", async () => {
    await publish(version({ a: "same", b: "same" }));
    await publish(version({ c: "same" }));
    expect(files()).toHaveLength(1);
  });

  test("Z78 the same 16 digits with another digest are 409 version_collision, only within one site", async () => {
    const one = version({ a: "one" });
    const { site } = await publish(one, newSite(), "collide");
    const forged = { ...version({ a: "two" }), version_id: one.version_id };
    expect(await refusal(redeploy(site.site_id, "collide", forged))).toBe("version_collision");
    expect(await refusal(publish(forged))).toBe("published");
  });

  test("P9 a slug is never given twice: of the offered ones the first that is free is taken", async () => {
    const first = await publish(version({ a: "1" }), newSite(["taken"]));
    const second = await publish(version({ a: "2" }), newSite(["taken", "free"]));
    expect([first.site.slug, second.site.slug]).toEqual(["taken", "free"]);
    clock += HOUR;
    await store.sweep(clock);
    expect((await publish(version({ a: "3" }), newSite(["taken", "free", "other"]))).site.slug).toBe("other");
    expect(await refusal(publish(version({ a: "4" }), newSite(["taken"])))).toBe("unavailable");
  });

  test.each([
    ["cut", (path: string) => truncateSync(path, 2)],
    ["flipped", (path: string) => writeFileSync(path, "hellp world")],
    ["deleted", (path: string) => rmSync(path)],
  ])("P5 a blob that was %s is never served, and a deploy of the same bytes heals it (W3)", async (_, damage) => {
    const content = version({ a: "hello world" });
    const { site } = await publish(content, newSite(), "heal");
    const stored = await storedIn(site);
    damage(pathOf(stored.sha256));
    await expect(store.blobs.read(stored)).rejects.toThrow(DamagedBlob);
    await expect(store.blobs.open(stored)).rejects.toThrow(DamagedBlob);
    await redeploy(site.site_id, "heal", content);
    expect(Buffer.from(await store.blobs.read(stored)).toString()).toBe("hello world");
    expect(await (await store.blobs.open(stored)).text()).toBe("hello world");
  });

  test("P5 a large blob is hashed again when the file has changed since", async () => {
    const { site } = await publish(version({ a: "large" }));
    const stored = await storedIn(site);
    expect(await (await store.blobs.open(stored)).text()).toBe("large");
    writeFileSync(pathOf(stored.sha256), "lorge");
    utimesSync(pathOf(stored.sha256), 1, 1);
    await expect(store.blobs.open(stored)).rejects.toThrow(DamagedBlob);
  });

  test("a site that expired, was frozen, disabled or lost the token while the deploy ran is not changed (W6)", async () => {
    const { site } = await publish(version({ a: "1" }), newSite(), "token");
    const sql = (text: string) => {
      using db = databaseFile.openStore(data_dir);
      db.run(text);
    };
    const attempt = () => refusal(redeploy(site.site_id, "token", version({ a: "2" })));
    sql("update sites set frozen = 1");
    expect(await attempt()).toBe("site_frozen");
    sql("update sites set frozen = 0, disabled_reason = 'x'");
    expect(await attempt()).toBe("site_disabled");
    sql("update sites set disabled_reason = null");
    expect(await refusal(redeploy(site.site_id, "other", version({ a: "2" })))).toBe("unauthorized");
    clock += HOUR;
    expect(await attempt()).toBe("unknown_site");
    expect((await store.versions.list(site.site_id, WHOLE)).versions.length).toBe(1);
  });

  test("a manage_token beyond the twentieth pushes the longest unused one out", async () => {
    const target = { ...newSite(), idempotency: { key_hash: "key", address: "here" } } as Publish["target"];
    for (let n = 0; n < 25; n++) {
      await store.publish({
        target,
        version: version({ a: "1" }),
        tokens: [{ hash: `m${n}`, kind: "manage" }],
        bounds: UNBOUNDED,
      });
      clock += 1;
    }
    const known = await Promise.all(Array.from({ length: 25 }, (_, n) => store.tokens.find(`m${n}`)));
    expect(known.filter((token) => token !== null)).toHaveLength(20);
    expect(known[0]).toBeNull();
    expect(known[24]).not.toBeNull();
  });
});

describe("sweep", () => {
  const later = () => (clock = Date.now() + 2 * HOUR);

  test("an orphan goes once it is an hour old, a blob that a version names never (P4)", async () => {
    const kept = version({ a: "kept" });
    const owner = { account_id: "acct_x", session_id: "sess_x" };
    const session = { session_id: owner.session_id, hash: "hash-x", client: "" };
    const account = { account_id: owner.account_id, email: "x@example.org", password_hash: "-" };
    await store.accounts.create({ ...account, session, invitation_hash: null });
    await store.publish({
      target: { ...newSite(), owner, expires_at: null } as Publish["target"],
      version: kept,
      tokens: [],
      bounds: UNBOUNDED,
    });
    const orphan = contentHash(Buffer.from("orphan"));
    writeBlob(orphan, "orphan");
    expect(await store.sweep(clock)).toEqual({ sites: 0, blobs: 0, temporary: 0 });
    expect(await store.sweep(later())).toEqual({ sites: 0, blobs: 1, temporary: 0 });
    expect(existsSync(pathOf(orphan))).toBe(false);
    expect(existsSync(pathOf([...kept.blobs.keys()][0]!))).toBe(true);
  });

  test("an expired site goes with its versions and tokens and leaves a tombstone; its blobs follow", async () => {
    const content = version({ a: "bye" });
    const { site } = await publish(content, newSite(["bye-bye"]), "former");
    expect(await store.sweep(later())).toEqual({ sites: 1, blobs: 1, temporary: 0 });
    expect(await store.sites.byId(site.site_id)).toBeNull();
    expect((await store.versions.list(site.site_id, WHOLE)).versions).toEqual([]);
    expect(await store.tokens.find("former")).toEqual({ site_id: site.site_id, kind: "manage", gone: true });
    expect(await store.sites.tombstone("bye-bye")).toMatchObject({ reason: "expired", site_id: site.site_id });
    expect(files()).toEqual([]);
  });

  test("P4 deploys of the same bytes and sweeps of their orphans, side by side, lose nothing", async () => {
    const content = version(Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`f${n}`, `content ${n}`])));
    const other = await openStore({ data_dir, now: () => clock });
    const remover = openDataDir(data_dir, () => clock);
    const remove = (site_id: string) => MODERATION.actOnSite.on(remover)({ action: "delete", site_id });
    const old = () => {
      for (const sha256 of content.blobs.keys()) if (existsSync(pathOf(sha256))) utimesSync(pathOf(sha256), 1, 1);
    };
    for (let round = 0; round < 15; round++) {
      old();
      const [, published] = await Promise.all([other.sweep(clock, true), publish(content)]);
      for (const sha256 of content.blobs.keys()) expect(existsSync(pathOf(sha256))).toBe(true);
      await remove(published.site.site_id);
    }
    remover.close();
    await other.close();
  });

  test.each([
    ["the clock is behind the newest deploy", () => (clock -= 24 * HOUR), /clock/],
    [
      "twenty blobs, and most, are unknown to the database",
      () => {
        for (let n = 0; n < 20; n++) {
          const name = contentHash(Buffer.from(`stray ${n}`));
          writeBlob(name, "");
        }
        later();
      },
      /right database/,
    ],
  ])("G3 nothing is swept when %s, unless forced", async (_, spoil, sentence) => {
    await publish(version({ a: "1" }));
    spoil();
    await expect(store.sweep(clock)).rejects.toThrow(sentence);
    expect(files().length).toBeGreaterThan(0);
    await store.sweep(clock, true);
  });
});

test("S6 blobs that live versions name and that are not on disk are found", async () => {
  const content = version({ a: "here", b: "gone" });
  await publish(content);
  expect(await store.missingBlobs()).toEqual([]);
  const gone = contentHash(Buffer.from("gone"));
  rmSync(pathOf(gone));
  expect(await store.missingBlobs()).toEqual([gone]);
});

test("K17 migrations: each step is one transaction, a second run changes nothing", () => {
  using db = openFile(data_dir, "fresh", false);
  databaseFile.migrate(db);
  const schema = () => db.query("select sql from sqlite_schema order by name").all();
  const before = schema();
  databaseFile.migrate(db);
  expect(schema()).toEqual(before);
  expect(db.query<{ user_version: number }, []>("PRAGMA user_version").get()!.user_version).toBeGreaterThan(0);
});

test("another process's commit moves the generation even where it never said so", async () => {
  const watching = await openStore({ data_dir, now: () => clock, watch: true });
  const before = watching.generation.current("any");
  await publish(version({ a: "1" }));
  expect(watching.generation.current("any")).toBeGreaterThan(before);
  const told = watching.generation.current("any");
  using db = databaseFile.openStore(data_dir);
  db.run("update sites set frozen = 1");
  await until(() => watching.generation.current("any") > told);
  watching.close();
});

test("the pragmas are those of RELIABILITY 2", () => {
  using db = databaseFile.openStore(data_dir);
  const value = (name: string) => Object.values(db.query<Record<string, unknown>, []>(`PRAGMA ${name}`).get()!)[0];
  expect([
    value("journal_mode"),
    value("synchronous"),
    value("busy_timeout"),
    value("foreign_keys"),
    value("trusted_schema"),
    value("secure_delete"),
  ]).toEqual(["wal", 2, 5000, 1, 0, 1]);
  expect(statSync(join(data_dir, "db")).mode & 0o077).toBe(0);
});
