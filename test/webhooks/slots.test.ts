/** RELIABILITY A31: slots go by turns. Receivers that are slow or dead delay the letters of nobody else. */
import { describe, expect, test } from "bun:test";
import type { DeliveryContent, DueDelivery } from "../../src/store/notes/outbox.ts";
import { createDeliveries } from "../../src/webhooks/delivery.ts";
import { UNIT_MS } from "../../src/base/units.ts";
import { type Commented, commentedSite } from "../comments/agents.ts";
import { read, write } from "../kit/database.ts";
import { JSON_TYPE } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { EVENTS, hook, ON, receiver, SECRET, world } from "./hooked.ts";

const FREELY = { ...ON, SVC_RATE_COMMENT: "off" };

/** As if another network had set the webhook: all tests come from one. */
const from = ({ server, site }: Commented, network: string) =>
  write(server.data_dir, "update webhook_states set customer = ? where site_id = ?", network, site.site_id);

interface Crowd {
  place: string;
  sites: number;
  took_ms?: number;
  failing?: 0 | 1;
}

/** Sites with a letter that is due each, in the order of their last turns, and receivers that never answer: how many of
 *  each place are sent one. */
async function begunOf(...crowds: Crowd[]): Promise<Record<string, number>> {
  const waiting = crowds.flatMap(({ place, sites, took_ms = 0, failing = 0 }) =>
    Array.from({ length: sites }, (_, n): DueDelivery => {
      const site_id = `${place} ${took_ms} ${failing} ${n}`;
      return {
        id: site_id,
        site_id,
        type: "thread.created",
        created_at: "",
        tries: 0,
        place,
        took_ms,
        failing,
        turn_at: 0,
      };
    }),
  );
  const begun: Record<string, number> = {};
  const deliveries = createDeliveries({
    outbox: {
      due: async () => waiting,
      content: async () => ({ visibility: "public" }) as unknown as DeliveryContent,
      drop: async () => {},
      delivered: async () => null,
      failed: async () => null,
    },
    post:
      () =>
      ({ place }) => {
        begun[place] = (begun[place] ?? 0) + 1;
        return new Promise(() => {});
      },
    letterOf: () => ({ url: "https://hooks.example/", secret: SECRET, members: {} }),
    now: Date.now,
    heard: () => {},
    lost: () => new Promise(() => {}),
  });
  await deliveries.turn();
  await Bun.sleep(10);
  return begun;
}

describe("RELIABILITY A31: who has the sixteen slots", () => {
  const [slow, dead] = [{ took_ms: 4700 }, { took_ms: 5000, failing: 1 as const }];
  test.each<[string, Crowd[], Record<string, number>]>([
    ["few sites have them all", [{ place: "a", sites: 5 }], { a: 5 }],
    ["a crowd leaves a quarter free for who comes next", [{ place: "a", sites: 40 }], { a: 12 }],
    [
      "who comes after a crowd has its slots at once",
      [
        { place: "a", sites: 40 },
        { place: "b", sites: 2 },
      ],
      { a: 10, b: 2 },
    ],
    [
      "five crowds share them",
      ["a", "b", "c", "d", "e"].map((place) => ({ place, sites: 40 })),
      { a: 4, b: 3, c: 3, d: 3, e: 3 },
    ],
    [
      "slow receivers have half of them at most",
      ["a", "b", "c", "d"].map((place) => ({ place, sites: 9, ...slow })),
      { a: 2, b: 2, c: 2, d: 2 },
    ],
    ["slow ones of one place leave a quarter of that half", [{ place: "a", sites: 40, ...slow }], { a: 6 }],
    [
      "dead and slow ones share it, quick ones have the rest, and each half keeps a quarter free",
      [
        { place: "a", sites: 20, ...dead },
        { place: "b", sites: 20, ...slow },
        { place: "c", sites: 20 },
      ],
      { a: 3, b: 3, c: 6 },
    ],
  ])("%s", async (_, crowds, expected) => {
    expect(await begunOf(...crowds)).toEqual(expected);
  });
});

describe.concurrent("RELIABILITY A31: receivers of others", () => {
  test("sixteen that answer after 4.7 s do not delay another's letter", async () => {
    const site = await world("anonymous", FREELY);
    const [slow, there] = [receiver("slow"), receiver(200)];
    const crowd = await Promise.all(Array.from({ length: 16 }, () => commentedSite(site.server)));
    for (const [n, one] of crowd.entries()) {
      await hook(one, slow);
      from(one, `network ${n % 2}`);
      for (let m = 0; m < 6; m++) await one.comment(`No ${m}`);
    }
    await until(() => slow.received.length > 8);
    await hook(site, there);
    const begun = performance.now();
    await site.comment("Hello");
    await until(() => there.received.length === 1);
    // All 96 letters of the slow ones take half a minute, sixteen at a time.
    expect(performance.now() - begun).toBeLessThan(8000);
  }, 60_000);

  test("a dozen that are dead do not keep one that failed once from its next try", async () => {
    const site = await world("anonymous", FREELY);
    const [silent, there] = [receiver("silence"), receiver(500)];
    const crowd = await Promise.all(Array.from({ length: 12 }, () => commentedSite(site.server)));
    for (const [n, one] of crowd.entries()) {
      await hook(one, silent);
      from(one, `network ${n % 2}`);
      for (let m = 0; m < 10; m++) await one.comment(`No ${m}`);
    }
    await hook(site, there);
    await site.comment("Hello");
    await until(() => there.received.length === 1);
    there.answer = 200;
    await until(
      () => read(site.server.data_dir, "select 1 from webhook_states where failing_since > ''").length === 13,
    );
    const begun = performance.now();
    site.server.advance(10 * UNIT_MS.s);
    await until(() => there.received.length === 2);
    // One try of each of the 120 letters of the dead ones takes more than a minute.
    expect(performance.now() - begun).toBeLessThan(20_000);
    // The dead are sent one letter each to see whether they are there again.
    expect(silent.received.length).toBeLessThanOrEqual(24);
  }, 90_000);
});

test("RELIABILITY A31: without an owner the customer that set the webhook counts, an IPv6 /48 as one", async () => {
  const site = await world("anonymous", { ...FREELY, SVC_TRUST_PROXY: "127.0.0.1/32" });
  const { server, site: one } = site;
  const other = await commentedSite(server);
  const another = await commentedSite(server);
  const webhook = { url: "https://hooks.example/", events: EVENTS, secret: SECRET };
  async function set({ site_id, manage_token }: typeof one, address: string): Promise<string> {
    const headers = { ...JSON_TYPE, authorization: `Bearer ${manage_token}`, "x-forwarded-for": address };
    const init = { method: "PATCH", headers, body: JSON.stringify({ webhook }) };
    expect((await server.api(`/sites/${site_id}/comments/settings`, init)).status).toBe(200);
    const sql = "select customer from webhook_states where site_id = ?";
    return read<{ customer: string }>(server.data_dir, sql, site_id)[0]!.customer;
  }
  const first = await set(one, "2001:db8:1:2::3");
  expect(await set(other.site, "2001:db8:1:ffff::3")).toBe(first);
  expect(await set(another.site, "2001:db8:2:2::3")).not.toBe(first);
  expect(first).not.toContain("2001");
});
