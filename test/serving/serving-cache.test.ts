/** ARCHITECTURE, idea 2: what serving keeps, how much of it, and when it asks again. */
import { afterAll, describe, expect, test } from "bun:test";
import { createByteBudgetCache } from "../../src/serve/cache.ts";
import { createCoders } from "../../src/coding/coders.ts";
import { createSiteServer } from "../../src/serve/site.ts";
import { createManifests, createVersions } from "../../src/serve/versions.ts";
import { createTraffic } from "../../src/run/bulletin.ts";
import { createShortcuts } from "../../src/serve/shortcuts.ts";
import { cacheBytes } from "../../src/config/machine.ts";
import { createRows } from "../../src/serve/locate.ts";
import { Exchange } from "../../src/http/exchange.ts";
import type { ServingStore } from "../../src/store/serving.ts";
import type { Stored, StoredFile } from "../../src/store/versions.ts";
import type { Site, Version } from "../../src/base/types.ts";

const SITE_ID = "site_00000000000000000000";
const VERSION_ID = "0123456789abcdef";

/** A store in memory that counts what it is asked. */
function memoryStore(paths: string[], media_type = "application/octet-stream") {
  const bytes_each = 1_000;
  const asked = { sites: 0, versions: 0, blobs: 0 };
  const counter = { value: 1 };
  const row = {
    site_id: SITE_ID,
    slug: "lab",
    label: null,
    owner_account_id: null,
    created_at: "2026-11-21T00:00:00.000Z",
    expires_at: 5_000,
    live_version_id: VERSION_ID,
    deployed_at: "",
    spa_override: null,
    frozen: 0,
    disabled_with_account: 0,
    disabled_reason: null,
    comments_mode: "off",
    comments_changes: 0,
    owner_epoch: 0,
    quarantine: null,
    cleared_version_no: null,
    site_no: 1,
    stored_bytes: 0,
    stored_disk: 0,
    stored_versions: 1,
    removals: 0,
    network: null,
    skew: 1,
    stats: 1,
    access_hash: null,
    access_set_at: null,
    access_epoch: 0,
  } satisfies Site as Site;
  const version: Version = {
    site_id: SITE_ID,
    version_id: VERSION_ID,
    digest: "",
    title: null,
    created_at: "",
    files: paths.length,
    bytes: bytes_each * paths.length,
    spa_enabled: 0,
    spa_rule: "none",
    withhold: 0,
  };
  const file = (path: string): StoredFile => ({
    blob_no: 1,
    path,
    sha256: path,
    bytes: bytes_each,
    media_type,
    made: false,
  });
  const manifest = new Map(paths.map((path) => [path, file(path)]));
  const store: ServingStore = {
    generation: { current: () => counter.value, holds: (_, value) => value === counter.value },
    sites: {
      bySlug: async (slug) => (asked.sites++, slug === row.slug ? { ...row } : null),
      movedTo: async () => null,
      tombstone: async () => null,
    },
    versions: {
      get: async (_, version_id) => (asked.versions++, version_id === VERSION_ID ? version : null),
      stored: async () => null,
      manifest: async () => manifest,
      left: async () => [],
      firstUpload: async () => null,
    },
    previews: { shown: async () => [] },
    domains: { at: async () => null, activeOf: async () => [] },
    blobs: {
      read: async ({ sha256 }) => (asked.blobs++, new Uint8Array(bytes_each).fill(sha256.length)),
      open: () => Promise.reject(new Error("nothing here is large")),
    },
  };
  return { store, asked, row, changed: () => void counter.value++ };
}

const { of: trafficOf } = createTraffic();
const coders = createCoders({ log: { error: () => {} } });
afterAll(coders.stop);

const sitesOver = (store: ServingStore, cache_bytes: number, now: () => number) =>
  createSiteServer({
    store,
    now,
    base_url: "http://localhost",
    sites_domain: "localhost",
    contact: null,
    ending: () => false,
    code: coders.code,
    cache_bytes,
    skew: null,
    skewed: () => {},
    refused: () => {},
    trafficOf,
  });

const newExchange = () => new Exchange({ address: () => null, extendTimeout: () => {}, crowded: () => false });

function serverOver(store: ServingStore, cache_bytes: number, now = () => 1_000) {
  const sites = sitesOver(store, cache_bytes, now);
  return (path: string, slug = "lab") =>
    sites.handle(new Request(`http://${slug}.localhost${path}`), { slug, version_id: null }, newExchange());
}

const PLENTY = 10_000_000;

describe("a request whose answer is kept", () => {
  test("is answered at once, without a promise, and asks the store nothing", async () => {
    const { store, asked } = memoryStore(["a.bin"]);
    const get = serverOver(store, PLENTY);
    const first = get("/a.bin");
    expect(first).toBeInstanceOf(Promise);
    expect((await (await first).bytes()).length).toBe(1_000);
    for (let n = 0; n < 3; n++) {
      const answer = get("/a.bin");
      expect(answer).toBeInstanceOf(Response);
      expect((await (answer as Response).bytes()).length).toBe(1_000);
    }
    expect(asked).toEqual({ sites: 1, versions: 1, blobs: 1 });
  });
  test("asks for the row alone after something changed anywhere", async () => {
    const { store, asked, changed } = memoryStore(["a.bin"]);
    const get = serverOver(store, PLENTY);
    await get("/a.bin");
    changed();
    await get("/a.bin");
    expect(asked).toEqual({ sites: 2, versions: 1, blobs: 1 });
  });
  test("is still asked of the clock: the site ends at its millisecond", async () => {
    const { store, row } = memoryStore(["a.bin"]);
    let now = row.expires_at! - 1;
    const get = serverOver(store, PLENTY, () => now);
    await get("/a.bin");
    expect(get("/a.bin")).toBeInstanceOf(Response);
    now++;
    expect(() => get("/a.bin")).toThrow(expect.objectContaining({ code: "site_expired" }));
  });
});

test("many that ask at once for what is not kept read it once", async () => {
  const { store, asked } = memoryStore(["a.bin"]);
  const get = serverOver(store, PLENTY);
  await Promise.all(Array.from({ length: 20 }, () => get("/a.bin")));
  expect(asked.blobs).toBe(1);
  expect(asked.versions).toBe(1);
});

test("a row that was read while the store changed is not taken for the new one", async () => {
  const { store, row, changed } = memoryStore(["a.bin"]);
  const bySlug = store.sites.bySlug;
  const [read, handedOver] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = async (slug: string) => {
    const found = await bySlug(slug);
    read.resolve();
    await handedOver.promise;
    return found;
  };
  const get = serverOver({ ...store, sites: { ...store.sites, bySlug: slow } }, PLENTY);
  const before = get("/a.bin");
  await read.promise;
  row.disabled_reason = "abuse";
  changed();
  handedOver.resolve();
  await before;
  expect(async () => await get("/a.bin")).toThrow(expect.objectContaining({ code: "site_disabled" }));
});

test.each([0, 2_000, 6_000])("a cache of %i bytes answers as one with plenty does", async (cache_bytes) => {
  const paths = Array.from({ length: 20 }, (_, i) => `${"x".repeat(i + 1)}.bin`);
  const { store } = memoryStore(paths);
  const get = serverOver(store, cache_bytes);
  for (let turn = 0; turn < 3; turn++) {
    for (const path of paths) {
      const answer = await get(`/${path}`);
      expect(answer.status).toBe(200);
      expect(new Set(await answer.bytes())).toEqual(new Set([path.length]));
    }
  }
});

test("what is asked for all the time stays, whatever else passes through", async () => {
  const paths = Array.from({ length: 60 }, (_, i) => `${"x".repeat(i + 1)}.bin`);
  const { store, asked } = memoryStore(paths);
  const get = serverOver(store, 60_000);
  await get("/x.bin");
  for (let turn = 0; turn < 3; turn++) {
    for (const path of paths.slice(1)) {
      await get(`/${path}`);
      expect(get("/x.bin")).toBeInstanceOf(Response);
    }
  }
  expect(asked.versions).toBe(1);
  expect(asked.blobs).toBeGreaterThan(paths.length);
});

test("a file that fails to be read is asked for again by the next request", async () => {
  const { store } = memoryStore(["a.bin"]);
  let failing = true;
  const read = (file: Stored) => (failing ? Promise.reject(new Error("EIO")) : store.blobs.read(file));
  const get = serverOver({ ...store, blobs: { ...store.blobs, read } }, PLENTY);
  expect(async () => await get("/a.bin")).toThrow("EIO");
  failing = false;
  expect((await get("/a.bin")).status).toBe(200);
});

const WARMED = { site_id: SITE_ID, removals: 0, comments_mode: "off", comments_changes: 0 } as const;

describe("compressing ahead", () => {
  function warmServer(ending: () => boolean) {
    const made = memoryStore(["a.txt", "index.html", "b.txt"], "text/plain; charset=utf-8");
    const base = {
      now: () => 1_000,
      base_url: "http://localhost",
      sites_domain: "localhost",
      contact: null,
      cache_bytes: PLENTY,
      skew: null,
      skewed: () => {},
      refused: () => {},
      trafficOf,
    };
    return { ...made, sites: createSiteServer({ ...base, store: made.store, ending, code: coders.code }) };
  }
  const ask = (path: string) => new Request(`http://lab.localhost${path}`, { headers: { "accept-encoding": "br" } });
  const peer = { address: () => null, extendTimeout: () => {}, crowded: () => false };

  test("makes what browsers ask for before they ask, once for all", async () => {
    const { sites, asked } = warmServer(() => false);
    await Promise.all([sites.warm(WARMED, VERSION_ID), sites.warm(WARMED, VERSION_ID)]);
    expect(asked).toEqual({ sites: 0, versions: 1, blobs: 3 });
    await sites.handle(ask("/a.txt"), { slug: "lab", version_id: null }, new Exchange(peer));
    const answer = sites.handle(ask("/b.txt"), { slug: "lab", version_id: null }, new Exchange(peer));
    expect((answer as Response).headers.get("content-encoding")).toBe("br");
    expect(asked.blobs).toBe(3);
  });
  test("passes over a version that is not there, and stops when the server ends", async () => {
    let ending = false;
    const { sites, asked } = warmServer(() => ending);
    await sites.warm(WARMED, "0000000000000000");
    expect(asked.blobs).toBe(0);
    ending = true;
    await sites.warm(WARMED, VERSION_ID);
    expect(asked).toEqual({ sites: 0, versions: 1, blobs: 0 });
  });
});

test("what found no room is not found again by a shortcut", async () => {
  const { store } = memoryStore(["a.bin"]);
  const request = new Request("http://lab.localhost/a.bin");
  for (const [cache_bytes, found] of [
    [PLENTY, true],
    [0, false],
  ] as const) {
    const sites = sitesOver(store, cache_bytes, () => 1_000);
    await sites.handle(request, { slug: "lab", version_id: null }, newExchange());
    expect(sites.answerFromShortcut(request, "lab.localhost", newExchange()) !== null).toBe(found);
  }
});

test("ten thousand small sites are kept, each with its page of 5 KB: none of them is read twice", async () => {
  const [sites, share] = [1_000, 1 / 10]; // the tenth of them in the tenth of the cache
  const { store, row } = memoryStore([]);
  const read = { sites: 0, blobs: 0 };
  const files = (site_id: string): StoredFile[] =>
    ["index.html", "page.css", "404.html", "app.css"].map((path) => {
      return { blob_no: 1, path, sha256: `${site_id}/${path}`, bytes: 5_300, media_type: "text/css", made: false };
    });
  const many: ServingStore = {
    ...store,
    sites: { ...store.sites, bySlug: async (slug) => (read.sites++, { ...row, slug, site_id: `site_${slug}` }) },
    versions: {
      ...store.versions,
      get: async (site_id, version_id) => ({ ...(await store.versions.get("", version_id))!, site_id }),
      manifest: async (site_id) => new Map(files(site_id).map((file) => [file.path, file])),
    },
    blobs: { ...store.blobs, read: async ({ bytes }) => (read.blobs++, new Uint8Array(bytes)) },
  };
  const get = serverOver(many, cacheBytes(1, Infinity) * share);
  for (let n = 0; n < sites; n++) await get("/page.css", `bench-${n}`);
  expect(read).toEqual({ sites, blobs: sites });
  for (let n = 0; n < sites; n++) expect((await get("/page.css", `bench-${n}`)).status).toBe(200);
  expect(read.blobs).toBe(sites);
});

test("a row that is pushed out is not held by its version, nor is one whose place another has taken", async () => {
  const { store, changed } = memoryStore(["a.bin"]);
  const rooms = [createByteBudgetCache(1_000), createByteBudgetCache(30_000), createByteBudgetCache(30_000)] as const;
  const manifests = createManifests(store, rooms[2]);
  const versions = createVersions({ store, budget: rooms[1], manifests, shortcuts: createShortcuts(trafficOf) });
  const rows = createRows(store, rooms[0], versions);
  const first = await rows.read("lab");
  const version = first.live!;
  expect(version.row).toBe(first);
  changed();
  const second = await rows.read("lab");
  expect([version.row, second.live]).toEqual([second, version]);
  rooms[0].keep({ cost: 900, used: false, drop: () => {} });
  expect([rows.ready("lab"), version.row]).toEqual([undefined, null]);
  rows.setLive(second, version);
  expect([second.live, version.row]).toEqual([version, null]);
});

test("a manifest is pushed out by others alone: what was answered from it stays, what was not reads it again", async () => {
  const { store, asked } = memoryStore(Array.from({ length: 60 }, (_, i) => `${"x".repeat(i + 1)}.bin`));
  const room = createByteBudgetCache(30_000); // it takes 24,000
  const manifests = createManifests(store, room);
  const versions = createVersions({
    store,
    budget: createByteBudgetCache(30_000),
    manifests,
    shortcuts: createShortcuts(trafficOf),
  });
  const loaded = (await versions.read({ site_id: SITE_ID, removals: 0 }, VERSION_ID, ""))!;
  manifests.release(loaded);
  expect([loaded.manifest, room.total()]).toEqual([null, 0]);
  expect((await manifests.of(loaded))!.size).toBe(60);
  expect(room.total()).toBe(24_000);
  room.keep({ cost: 9_000, used: true, drop: () => {} });
  expect(loaded.manifest).toBeNull();
  expect(versions.ready({ site_id: SITE_ID, removals: 0 }, VERSION_ID, "")).toBe(loaded);
  expect((await manifests.of(loaded))!.size).toBe(60);
  expect(asked.versions).toBe(1);
});
