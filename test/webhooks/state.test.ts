/** COMMENTS 2: how it goes with a site's webhook, and what its owner is told of it. */
import { describe, expect, test } from "bun:test";
import { UNIT_MS } from "../../src/base/units.ts";
import { commentedSite } from "../comments/agents.ts";
import { write } from "../kit/database.ts";
import { until } from "../kit/until.ts";
import {
  afterALook,
  again,
  deliveriesOf,
  EVENTS,
  hook,
  receiver,
  SECRET,
  settled,
  tried,
  waiting,
  webhookOf,
  world,
} from "./hooked.ts";

const shut = await world("anonymous", { SVC_WEBHOOKS: "on" });

describe.concurrent("COMMENTS 2: the wait is the site's", () => {
  test("a new letter waits for the one that finds out whether the receiver is there again; then the rest goes at once", async () => {
    const site = await world();
    const there = receiver(500);
    await hook(site, there);
    await site.comment("No 0");
    await tried(site, 1);
    for (let n = 1; n < 6; n++) await site.comment(`No ${n}`);
    await afterALook();
    expect(there.received).toHaveLength(1);
    site.server.advance(10 * UNIT_MS.s);
    await until(() => there.received.length === 2);
    await afterALook();
    expect(there.received).toHaveLength(2);
    there.answer = 200;
    site.server.advance(UNIT_MS.m);
    await settled(site);
    const told = there.received.slice(2).map(({ told }) => told.data.body.value);
    expect(told).toEqual(["No 0", "No 1", "No 2", "No 3", "No 4", "No 5"]);
  });

  test("a letter that the receiver refuses alone lets the others go first after its third try", async () => {
    const site = await world();
    const there = receiver((told) => (told.data.body.value === "Poison" ? 500 : 200));
    await hook(site, there);
    await site.comment("Poison");
    await tried(site, 1);
    await site.comment("Honest");
    for (const wait of [10 * UNIT_MS.s, UNIT_MS.m]) {
      const { length } = there.received;
      site.server.advance(wait);
      await until(() => there.received.length > length);
      await afterALook();
    }
    site.server.advance(5 * UNIT_MS.m);
    await until(() => there.received.some(({ told }) => told.data.body.value === "Honest"));
    await until(() => waiting(site) === 1);
  });

  test("a wait that was written while the clock ran ahead is over when the clock is right again", async () => {
    const site = await world();
    const there = receiver(500);
    await hook(site, there);
    await site.comment("Hello");
    await tried(site, 1);
    write(site.server.data_dir, "update webhook_states set next_at = ?", site.server.now() + 3 * UNIT_MS.d);
    there.answer = 200;
    await settled(site);
    expect(there.received).toHaveLength(2);
  });
});

describe.concurrent("COMMENTS 2: what the owner is told of it", () => {
  test("when it last worked, since when it does not and why, and how many letters wait", async () => {
    const site = await world();
    const there = receiver();
    await hook(site, there);
    const fresh = { last_delivered_at: null, failing_since: null, last_error: null, waiting: 0, lost: 0 };
    expect(await webhookOf(site)).toEqual({ url: there.url, events: EVENTS, ...fresh });
    await site.comment("Taken");
    await settled(site);
    const { last_delivered_at } = await webhookOf(site);
    expect(Date.parse(last_delivered_at!)).toBeGreaterThan(0);
    there.answer = 503;
    await site.comment("Not taken");
    await tried(site, 1);
    await site.comment("Nor this one");
    const failing = await webhookOf(site);
    expect(failing).toMatchObject({ last_delivered_at, last_error: "it answered 503", waiting: 2, lost: 0 });
    expect(failing.failing_since! >= last_delivered_at!).toBeTrue();
    there.answer = 200;
    site.server.advance(10 * UNIT_MS.s);
    await settled(site);
    expect(await webhookOf(site)).toMatchObject({ failing_since: null, last_error: null, waiting: 0 });
  });

  test("the last letters with what became of each; one of them is sent again under its id", async () => {
    const site = await world();
    const there = receiver();
    await hook(site, there);
    await site.comment("Taken");
    await settled(site);
    there.answer = 500;
    await site.comment("Not taken");
    await tried(site, 1);
    const [second, first] = await deliveriesOf(site);
    expect(first).toEqual({
      id: there.received[0]!.told.id,
      type: "thread.created",
      at: expect.any(String),
      outcome: "delivered",
      status: 200,
      tries: 1,
    });
    expect(second).toMatchObject({ id: there.received[1]!.told.id, outcome: "failed", status: 500, tries: 1 });
    there.answer = 200;
    const answer = await again(site, first!.id);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ id: first!.id, outcome: "waiting" });
    await settled(site);
    const ids = there.received.map(({ headers }) => headers["webhook-id"]);
    expect(ids.toSorted()).toEqual([first!.id, first!.id, second!.id, second!.id].toSorted());
    expect((await deliveriesOf(site)).map(({ outcome }) => outcome)).toEqual(["delivered", "delivered"]);
    expect((await again(site, "msg_unknown")).status).toBe(404);
    await site.configure({ webhook: null });
    expect(await (await again(site, first!.id)).json()).toMatchObject({ code: "invalid_input" });
  });

  test("410 ends the webhook, and says when; setting it anew begins again", async () => {
    const site = await world();
    const there = receiver(410);
    await hook(site, there);
    await site.comment("Gone");
    await until(async () => (await webhookOf(site)).ended_at !== undefined, 50);
    expect(await webhookOf(site)).toMatchObject({ url: there.url, waiting: 0, lost: 1, last_error: "it answered 410" });
    await site.comment("To nobody");
    site.server.advance(UNIT_MS.d);
    await afterALook();
    expect([waiting(site), there.received.length]).toEqual([0, 1]);
    expect(await deliveriesOf(site)).toMatchObject([{ outcome: "given_up", status: 410, tries: 1 }]);
    there.answer = 200;
    await hook(site, there);
    expect((await webhookOf(site)).ended_at).toBeUndefined();
    await site.comment("Here again");
    await settled(site);
    expect(there.received).toHaveLength(2);
  });

  test("a former address that answers late says nothing of the one that is set now", async () => {
    const site = await world();
    const there = receiver();
    const late = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: async () => (await Bun.sleep(2000), new Response("gone", { status: 410 })),
    });
    try {
      await hook(site, { url: late.url.href });
      await site.comment("Hello");
      await until(() => late.pendingRequests === 1, 20);
      await hook(site, { url: there.url });
      await until(() => there.received.length === 1, 50);
      const { ended_at, lost } = await webhookOf(site);
      expect([ended_at, lost]).toEqual([undefined, 0]);
    } finally {
      await late.stop(true);
    }
  });

  // By its number: not every machine knows `localhost`.
  test("no address inside that a name of the internet has", async () => {
    const site = await commentedSite(shut.server);
    await hook(site, { url: "https://hooks.example/" });
    write(
      site.server.data_dir,
      "update comment_settings set webhook = json_set(webhook, '$.url', 'http://127.0.0.1:9/') where site_id = ?",
      site.site.site_id,
    );
    await site.comment("Hello");
    await tried(site, 1);
    expect((await webhookOf(site)).last_error).toBe("127.0.0.1 is at an address that is not of the internet");
  });

  test("which name was not found", async () => {
    const site = await commentedSite(shut.server);
    // No name server is asked: a part of a name has 63 letters at most.
    const name = `${"a".repeat(64)}.example`;
    await hook(site, { url: `https://${name}/` });
    await site.comment("Hello");
    await tried(site, 1);
    expect((await webhookOf(site)).last_error).toBe(`${name} was not found by DNS (ENOTFOUND)`);
  });
});
