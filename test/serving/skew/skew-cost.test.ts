/** BEYOND 4: what the skew shield asks of the store, and how much it keeps, whoever asks for what. */
import { describe, expect, test } from "bun:test";
import { createBodies, createBodyMaker } from "../../../src/serve/bodies.ts";
import { createByteBudgetCache } from "../../../src/serve/cache.ts";
import { createEncoder } from "../../../src/serve/encode.ts";
import { createSkew } from "../../../src/serve/skew.ts";
import type { Blobs } from "../../../src/store/serving.ts";
import type { LeftVersion, StoredFile } from "../../../src/store/versions.ts";
import type { Site } from "../../../src/base/types.ts";
import { AS_SCRIPT } from "./former.ts";

const HELD = "assets/app-12345678.js";
const blobs: Blobs = { read: async () => new Uint8Array(3), open: () => Promise.reject(new Error("nothing is large")) };

/** A site with one former version that has one file. */
function shielded(room: number) {
  const asked = { left: 0, files: 0 };
  const counter = { value: 1 };
  const versions: LeftVersion[] = [{ version_no: 1, version_id: "0123456789abcdef", live_until: 0, withhold: 0 }];
  const file: StoredFile = {
    path: HELD,
    sha256: "x",
    bytes: 3,
    media_type: "text/javascript; charset=utf-8",
    made: false,
    blob_no: 1,
  };
  const store = {
    generation: { current: () => counter.value, holds: (_: string, value: number) => value === counter.value },
    versions: {
      get: () => Promise.reject(new Error("no version is read")),
      stored: () => Promise.reject(new Error("no version is read")),
      manifest: () => Promise.reject(new Error("no manifest is read")),
      left: async () => (asked.left++, versions.map((version) => ({ ...version }))),
      firstUpload: async (_: readonly number[], path: string) => (
        asked.files++,
        path === HELD ? { version_no: 1, file } : null
      ),
    },
  };
  const budget = createByteBudgetCache(room);
  const encoder = createEncoder(async () => undefined);
  const bodies = createBodies(createBodyMaker({ blobs, budget, encoder }));
  const skew = createSkew({ store, bodies, budget, now: () => 1_000, lasts_ms: 10_000 });
  const site = { site_id: "site_x", slug: "lab", skew: 1 } as Site;
  const ask = (path: string, headers: Record<string, string> = AS_SCRIPT) =>
    skew.answer(new Request(`http://lab.localhost${path}`, { headers }), site, path);
  return { asked, budget, ask, versions, counter };
}

const PLENTY = 1_000_000;
const nowhere = (n: number) => `/nowhere-${String(n).padStart(8, "0")}.js`;

describe("BEYOND 4: the store is asked", () => {
  test("nothing for a 404 without the two headers, or without a hash, and it is answered at once", async () => {
    const { ask, asked } = shielded(PLENTY);
    for (const headers of [{}, { "sec-fetch-dest": "script" }, { ...AS_SCRIPT, "sec-fetch-site": "cross-site" }]) {
      expect(ask(nowhere(1), headers as Record<string, string>)).toBeString();
    }
    expect(ask("/app.js")).toBeString();
    expect(asked).toEqual({ left: 0, files: 0 });
  });

  test("once for an address, whether it leads to a file or not, and never waited for again", async () => {
    const { ask, asked } = shielded(PLENTY);
    for (const path of [`/${HELD}`, nowhere(1)]) await ask(path);
    expect(asked).toEqual({ left: 1, files: 2 });
    for (let n = 0; n < 100; n++)
      for (const path of [`/${HELD}`, nowhere(1)]) expect(ask(path)).not.toBeInstanceOf(Promise);
    expect(asked).toEqual({ left: 1, files: 2 });
  });

  test("for the list of versions alone when some site changed, and for the addresses anew when this one did", async () => {
    const { ask, asked, versions, counter } = shielded(PLENTY);
    await ask(`/${HELD}`);
    counter.value++;
    await ask(`/${HELD}`);
    expect(asked).toEqual({ left: 2, files: 1 });
    versions[0]!.live_until = 500;
    counter.value++;
    await ask(`/${HELD}`);
    expect(asked).toEqual({ left: 3, files: 2 });
  });

  test("for no address where no version was left of late", async () => {
    const { ask, asked, versions } = shielded(PLENTY);
    versions[0]!.live_until = -20_000;
    for (let n = 0; n < 100; n++) expect(await ask(nowhere(n))).toBeString();
    expect(asked).toEqual({ left: 1, files: 0 });
  });
});

test("BEYOND 4: a flood of addresses that lead nowhere takes no more than its room", async () => {
  const { ask, budget, asked } = shielded(100_000);
  for (let n = 0; n < 5_000; n++) await ask(nowhere(n));
  expect(asked.files).toBe(5_000);
  expect(budget.total()).toBeLessThanOrEqual(100_000);
  const found = await ask(`/${HELD}`);
  expect(found).toHaveProperty("skew", "0123456789abcdef");
});

test("BEYOND 4: two that look for one address at once are counted once", async () => {
  const { ask, budget } = shielded(PLENTY);
  await ask(nowhere(1));
  const one = budget.total();
  await Promise.all(Array.from({ length: 20 }, () => ask(nowhere(2))));
  await ask(nowhere(3));
  const both = budget.total();
  expect(both - one).toBeLessThan(3 * 600);
});
