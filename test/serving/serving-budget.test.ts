/** What the caches of a serving process may hold. */
import { describe, expect, test } from "bun:test";
import { createBodies, createBodyMaker, newEncodedBody } from "../../src/serve/bodies.ts";
import { type CacheEntry, createByteBudgetCache, type FileAnswer, type FileContent } from "../../src/serve/cache.ts";
import { createEncoder } from "../../src/serve/encode.ts";
import { policyOf } from "../../src/serve/policy.ts";
import { unchanged, whole, wholeInit } from "../../src/serve/file-headers.ts";
import type { StoredFile } from "../../src/store/versions.ts";
import type { Bytes, Site } from "../../src/base/types.ts";

const item = (name: string, cost: number, dropped: string[]): CacheEntry => ({
  cost,
  used: false,
  drop: () => void dropped.push(name),
});

describe("the budget", () => {
  test("lets the oldest unused go, and passes over what was used since", () => {
    const dropped: string[] = [];
    const budget = createByteBudgetCache(30);
    const [a, b, c, d] = ["a", "b", "c", "d"].map((name) => item(name, 10, dropped)) as [
      CacheEntry,
      CacheEntry,
      CacheEntry,
      CacheEntry,
    ];
    for (const kept of [a, b, c]) budget.keep(kept);
    a.used = true;
    budget.keep(d);
    expect(dropped).toEqual(["b"]);
    budget.keep(item("e", 10, dropped));
    expect(dropped).toEqual(["b", "c"]);
    expect(budget.total()).toBe(30);
  });
  test("holds its bound when everything is in use, and when one item is larger than all of it", () => {
    const dropped: string[] = [];
    const budget = createByteBudgetCache(30);
    for (let n = 0; n < 100; n++) budget.keep({ ...item(`${n}`, 10, dropped), used: true });
    expect([budget.total(), dropped.length]).toEqual([30, 97]);
    budget.keep(item("giant", 1_000, dropped));
    expect(budget.total()).toBeLessThanOrEqual(30);
    expect(dropped).toContain("giant");
  });
  test("has memory collected for each 16 MB that were made, kept or not: bytes that are dropped are not seen to be free", () => {
    let collections = 0;
    const budget = createByteBudgetCache(1_000, () => void collections++);
    for (let n = 0; n < 100; n++) budget.made(1024 * 1024);
    expect(collections).toBe(6);
    for (let n = 0; n < 100; n++) budget.made(100);
    expect(collections).toBe(6);
  });
  test("forgets what is released, once", () => {
    const budget = createByteBudgetCache(30);
    const kept = item("a", 10, []);
    budget.keep(kept);
    budget.release(kept);
    budget.release(kept);
    expect(budget.total()).toBe(0);
  });
});

describe("coding", () => {
  const MB = 1024 * 1024;
  const coding = () => {
    const handled: Bytes[] = [];
    let collections = 0;
    const given = (size: number) => (handled.push(new Uint8Array(size).fill(97)), handled.at(-1)!);
    const blobs = { read: async () => given(MB), open: () => Promise.reject(new Error("nothing is large")) };
    const budget = createByteBudgetCache(100 * MB, () => void collections++);
    const bodies = createBodies(createBodyMaker({ blobs, budget, encoder: createEncoder(async () => given(1000)) }));
    const version = { version: { site_id: "site_x", slug: "lab" }, comments_variant: "c3", bodies: new Map() } as never;
    const bodyOf = (path: string, media_type: string) =>
      bodies.of(version, { path, sha256: path, bytes: MB, media_type, made: false, blob_no: 1 } as StoredFile);
    return { bodies, bodyOf, handled, collections: () => collections };
  };

  test.each(["text/css; charset=utf-8", "text/html; charset=utf-8"])(
    "keeps nothing of what it read of %s, nor calls for a collection of it: a deploy of 8 MB would stop pages for that",
    async (media_type) => {
      const { bodies, bodyOf, handled, collections } = coding();
      for (let n = 0; n < 40; n++) await bodies.warm(bodyOf(`ahead-${n}`, media_type), "br");
      const signal = new AbortController().signal;
      for (let n = 0; n < 40; n++) await bodies.best(bodyOf(`asked-${n}`, media_type), ["br"], signal);
      expect(handled).toHaveLength(160); // read and coded
      expect(handled.filter(({ byteLength }) => byteLength > 0)).toEqual([]);
      expect(collections()).toBe(0);
      const { content } = bodyOf("asked-7", media_type);
      expect((await content.encoded.br!.blob!.bytes()).byteLength).toBe(1000);
    },
  );
});

test("a body that is kept as it is stays whole when it is coded", async () => {
  const stored = new TextEncoder().encode("stored ".repeat(1000));
  const blobs = { read: async () => stored.slice(), open: () => Promise.reject(new Error("nothing is large")) };
  const encoder = createEncoder(async (bytes) => Bun.gzipSync(bytes));
  const bodies = createBodies(createBodyMaker({ blobs, budget: createByteBudgetCache(1_000_000), encoder }));
  const file = { path: "a.css", sha256: "a", bytes: stored.length, media_type: "text/css", made: false, blob_no: 1 };
  const body = bodies.of(
    { version: { site_id: "site_x" }, comments_variant: "", bodies: new Map() } as never,
    file as StoredFile,
  );
  const { signal } = new AbortController();
  const kept = (await bodies.best(body, ["identity"], signal))!.blob!;
  const coded = (await bodies.best(body, ["gzip"], signal))!.blob!;
  expect(await kept.bytes()).toEqual(stored);
  expect(Bun.gunzipSync(await coded.bytes())).toEqual(stored);
});

describe("responses that are kept for one body", () => {
  const SITE = { owner_account_id: null, quarantine: null, cleared_version_no: null } as Site;
  const policy = policyOf(SITE, "live");
  const answer = (path: string) =>
    ({ etag: `"v:${path}"`, vary: null, edits: null, body: { file: { media_type: "text/css" } } }) as FileAnswer;
  /** What the budget is asked to keep. */
  const ask = (
    answers: readonly FileAnswer[],
    keep = (kept: CacheEntry[], item: CacheEntry): void => void kept.push(item),
  ): CacheEntry[] => {
    const kept: CacheEntry[] = [];
    const form = newEncodedBody({} as FileContent, "identity", new Blob(["x"]), 1);
    for (const one of answers) {
      const { headers } = whole({ keep: (item) => keep(kept, item) }, one, policy, form);
      expect(headers.get("etag")).toBe(one.etag);
    }
    return kept;
  };

  test("count towards the budget, all but the first: one file has a million ways to write its path", () => {
    const kept = ask(Array.from({ length: 100 }, (_, n) => answer(`/${n}`)));
    expect(kept).toHaveLength(99);
    expect(Math.min(...kept.map(({ cost }) => cost))).toBeGreaterThan(2000);
  });
  test("headers that a 304 or a file from the disk has count, too, from when they are made", () => {
    const kept: CacheEntry[] = [];
    const room = { keep: (item: CacheEntry) => void kept.push(item) };
    const one = answer("/a");
    for (let n = 0; n < 3; n++) {
      expect(unchanged(room, one, policy).headers.get("etag")).toBe(one.etag);
      expect(wholeInit(room, one, policy).headers.get("etag")).toBe(one.etag);
    }
    expect(kept.map(({ cost }) => cost > 1_000)).toEqual([true, true]);
    for (const item of kept) item.drop();
    expect([one.unchanged![policy.index], one.whole![policy.index]]).toEqual([undefined, undefined]);
    expect(unchanged(room, one, policy).status).toBe(304);
    expect(kept).toHaveLength(3);
  });
  test("headers of another kind of host stay when one kind's have to go", () => {
    const kept: CacheEntry[] = [];
    const room = { keep: (item: CacheEntry) => void kept.push(item) };
    const one = answer("/a");
    const of_version = policyOf(SITE, "version");
    unchanged(room, one, policy);
    unchanged(room, one, of_version);
    kept[0]!.drop();
    expect(one.unchanged![policy.index]).toBeUndefined();
    expect(one.unchanged![of_version.index]).toBeDefined();
  });
  test("headers that find no room are not kept: nobody would count them", () => {
    const full = () => {
      const room = createByteBudgetCache(2_000);
      room.keep({ ...item("in use", 1_500, []), used: true });
      return room;
    };
    const [one, rooms] = [answer("/a"), [full(), full()] as const];
    expect(unchanged(rooms[0], one, policy).status).toBe(304);
    expect(wholeInit(rooms[1], one, policy).headers.get("etag")).toBe(one.etag);
    expect([one.unchanged![policy.index], one.whole![policy.index]]).toEqual([undefined, undefined]);
    expect(rooms.map((room) => room.total())).toEqual([1_500, 1_500]);
  });
  test("what counts them holds neither their answers nor the body", async () => {
    const kept: CacheEntry[] = [];
    const room = { keep: (item: CacheEntry) => void kept.push(item) };
    const held: WeakRef<object>[] = [];
    const make = (n: number): void => {
      const form = newEncodedBody({} as FileContent, "identity", new Blob(["x"]), 1);
      const answers = [answer(`/${n}`), answer(`/${n}%20`)] as const;
      for (const one of answers) whole(room, one, policy, form);
      unchanged(room, answers[0], policy);
      held.push(new WeakRef(form), ...answers.map((one) => new WeakRef(one)));
    };
    for (let n = 0; n < 50; n++) make(n);
    for (let turn = 0; turn < 4; turn++) {
      await Bun.sleep(1); // what was made in a turn is held until its end
      Bun.gc(true);
    }
    expect(kept).toHaveLength(100);
    expect(held.filter((one) => one.deref() !== undefined).length).toBeLessThan(15);
  });
  test("are made once for each that asks, and again once their room was wanted", () => {
    const [a, b] = [answer("/a"), answer("/b")];
    expect(ask([a, b, a, b])).toHaveLength(1);
    const dropping = (kept: CacheEntry[], item: CacheEntry) => {
      kept.push(item);
      item.drop();
    };
    expect(ask([a, b, b], dropping)).toHaveLength(2);
  });
});
