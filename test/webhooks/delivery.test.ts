/** COMMENTS 2, webhooks: what happens in a site's comments is posted to the address that its owner set. The delivery looks
 *  every second, so these tests wait at the same time; those that move the clock have a server of their own. */
import { describe, expect, setSystemTime, test } from "bun:test";
import { read, write } from "../kit/database.ts";
import { until } from "../kit/until.ts";
import { UNIT_MS } from "../../src/base/units.ts";
import { commentedSite } from "../comments/agents.ts";
import { longTest } from "../kit/whole.ts";
import {
  afterALook,
  EVENTS,
  hook,
  ON,
  receiver,
  SECRET,
  settled,
  tried,
  typesOf,
  waiting,
  webhookOf,
  world,
} from "./hooked.ts";
import { type Received, Webhook } from "./receiver.ts";

const { server } = await world("anonymous", { ...ON, SVC_MCP: "on" });
const shut = await world("anonymous", { SVC_WEBHOOKS: "on" });

describe.concurrent("COMMENTS 2: what is told", () => {
  test("each event with the comment's annotation, signed as Standard Webhooks has it", async () => {
    const site = await commentedSite(server);
    const there = receiver();
    await hook(site, there);
    const { id } = await site.comment("Is this still true?");
    const reply = await site.answer(id, "It is.");
    await site.decide(id, "resolve");
    await site.decide(id, "reopen");
    expect((await site.report(reply.id)).status).toBe(202);
    await settled(site);

    expect(typesOf(there)).toEqual(EVENTS);
    const checker = new Webhook(SECRET);
    for (const { method, path, headers, body, told } of there.received) {
      expect([method, path, headers["content-type"]]).toEqual(["POST", "/hook", "application/json"]);
      expect(checker.verify(body, headers)).toEqual(told);
      expect(Object.keys(told)).toEqual(["id", "type", "created_at", "site_id", "visibility", "data"]);
      expect(told).toMatchObject({ id: headers["webhook-id"], site_id: site.site.site_id, visibility: "public" });
      expect(told.data).toMatchObject({ "@context": "http://www.w3.org/ns/anno.jsonld", type: "Annotation" });
    }
    const [created, replied, resolved, reopened, reported] = there.received.map(({ told }) => told.data);
    expect(created).toMatchObject({
      body: { value: "Is this still true?" },
      target: { source: `${site.site.url}/guide.html` },
    });
    expect(created.id).toEndWith(`/_svc/comments/${id}`);
    expect(replied).toMatchObject({ motivation: "replying", target: created.id });
    expect([resolved.id, reopened.id, reported.id]).toEqual([created.id, created.id, replied.id]);
    expect(new Set(there.received.map(({ told }) => told.id)).size).toBe(5);
  });

  test("a secret of any other kind is taken letter by letter", async () => {
    const site = await commentedSite(server);
    const there = receiver();
    await hook(site, there, EVENTS, "just a long password");
    await site.comment("Hello");
    await settled(site);
    const [{ body, headers }] = there.received as [Received];
    const { verify } = Webhook.prototype;
    expect(verify.call(new Webhook("just a long password", { format: "raw" }), body, headers)).toBeObject();
    expect(() => new Webhook(SECRET).verify(body, headers)).toThrow();
  });

  test("only the events that were asked for; what was already so is none", async () => {
    const site = await commentedSite(server);
    const there = receiver();
    await hook(site, there, ["thread.resolved"]);
    const { id } = await site.comment("Hello");
    await site.decide(id, "resolve");
    await site.decide(id, "resolve");
    await site.decide(id, "reopen");
    await settled(site);
    expect(typesOf(there)).toEqual(["thread.resolved"]);
  });

  test("what waits for approval is told to the owner's address, and that it waits", async () => {
    const site = await commentedSite(server, "approved");
    const there = receiver();
    await hook(site, there);
    const { id } = await site.comment("Waiting");
    await settled(site);
    await site.decide(id, "approve");
    await site.answer(id, "A waiting answer");
    await settled(site);
    expect(there.received.map(({ told }) => [told.type, told.visibility])).toEqual([
      ["thread.created", "pending"],
      ["reply.created", "pending"],
    ]);
  });

  test("what was rejected or erased before it was told is told to nobody", async () => {
    const site = await world("approved");
    const there = receiver(500);
    await hook(site, there);
    const rejected = await site.comment("To be rejected");
    await until(() => there.received.length === 1);
    await site.decide(rejected.id, "reject");
    there.answer = 200;
    site.server.advance(UNIT_MS.m);
    await settled(site);
    expect(there.received).toHaveLength(1);

    there.answer = 500;
    const erased = await site.comment("To be erased");
    await until(() => there.received.length === 2);
    const init = { method: "DELETE", headers: { cookie: erased.cookie, "sec-fetch-site": "same-origin" } };
    expect((await site.server.site(site.site.slug, "/_svc/comments/me", init)).status).toBe(204);
    site.server.advance(UNIT_MS.m);
    await settled(site);
    expect(there.received).toHaveLength(2);
  });

  test("an agent's reply is told as one", async () => {
    const site = await commentedSite(server);
    const there = receiver();
    const { id } = await site.comment("Question");
    await hook(site, there, ["reply.created"]);
    const args = { name: "reply", arguments: { thread_id: id, text: "Answer", request_id: "1" } };
    const token = await site.token(["reply"]);
    await fetch(site.mcp_url, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: args }),
    });
    await settled(site);
    expect(there.received.map(({ told }) => told.data.creator)).toMatchObject([{ type: "Software", name: "docs-bot" }]);
  });
});

describe.concurrent("COMMENTS 2: a receiver that does not take it", () => {
  longTest(
    "gets it seven times more, each time later, under the same id; then it is given up",
    async () => {
      const site = await world();
      const there = receiver(503);
      await hook(site, there);
      await site.comment("Hello");
      await until(() => there.received.length === 1);
      const { s, m, h } = UNIT_MS;
      const waits = [10 * s, m, 5 * m, 30 * m, 2 * h, 8 * h, 24 * h];
      let tries = 1;
      for (const wait of waits) {
        await tried(site, tries);
        site.server.advance(wait - 5 * UNIT_MS.s);
        await afterALook();
        expect(there.received).toHaveLength(tries);
        site.server.advance(5 * UNIT_MS.s);
        await until(() => there.received.length === tries + 1);
        tries++;
      }
      await settled(site);
      site.server.advance(UNIT_MS.d);
      await afterALook();
      expect(there.received).toHaveLength(8);
      expect(new Set(there.received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
      const times = there.received.map(({ headers }) => Number(headers["webhook-timestamp"]));
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      expect(times.at(-1)! - times[0]!).toBeGreaterThan(34 * 60 * 60);
      const last = there.received.at(-1)!;
      setSystemTime(new Date(Number(last.headers["webhook-timestamp"]) * 1000));
      expect(new Webhook(SECRET).verify(last.body, last.headers)).toEqual(last.told);
      setSystemTime();
    },
    90_000,
  );

  test.each([307, 404, 500])("%i is no receipt", async (status) => {
    const site = await world();
    const there = receiver(status);
    await hook(site, there);
    await site.comment("Hello");
    await tried(site, 1);
    there.answer = 204;
    site.server.advance(10 * UNIT_MS.s);
    await settled(site);
    expect(there.received).toHaveLength(2);
  });

  test("the outbox survives a restart in the middle", async () => {
    const site = await world();
    const there = receiver(500);
    await hook(site, there);
    await site.comment("Before the restart");
    await tried(site, 1);
    await site.server.stop();
    there.answer = 200;
    site.server.advance(UNIT_MS.m);
    await site.server.start([ON]);
    await settled(site);
    const ids = there.received.map(({ told }) => told.id);
    expect(ids).toEqual([ids[0]!, ids[0]!]);
  });

  longTest.serial(
    "twenty dead receivers hold nobody up",
    async () => {
      const site = await world();
      const [silent, there] = [receiver("silence"), receiver()];
      for (let n = 0; n < 20; n++) {
        const dead = await commentedSite(site.server);
        await hook(dead, silent);
        for (let m = 0; m < 3; m++) await dead.comment(`Nobody hears No ${m}`);
      }
      // By now it is known that they are dead.
      await until(() => read(site.server.data_dir, "select 1 from webhook_outbox where tries > 0").length >= 16);
      await hook(site, there);
      const begun = performance.now();
      await site.comment("Hello");
      await until(() => there.received.length === 1);
      expect(performance.now() - begun).toBeLessThan(6500);
      const page = performance.now();
      expect((await site.server.site(site.site.slug, "/guide.html")).status).toBe(200);
      expect(performance.now() - page).toBeLessThan(4000);
    },
    60_000,
  );

  test("of a receiver that takes nothing a thousand letters wait, and no more", async () => {
    const site = await world();
    const there = receiver("silence");
    await hook(site, there);
    const { id } = await site.comment("First");
    write(
      site.server.data_dir,
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 1100)
       insert into webhook_outbox (id, site_id, type, comment_no, created_at)
       select 'msg_' || i, ?, 'thread.created', 1, '2026-11-21T00:00:00.000Z' from n`,
      site.site.site_id,
    );
    const before = waiting(site);
    await site.answer(id, "One too many");
    expect(waiting(site)).toBe(before);
    expect((await webhookOf(site)).lost).toBe(1);
    const metrics = async () => (await site.server.api("/metrics")).text();
    await until(async () => /^svc_webhooks_refused_total 1$/m.test(await metrics()), 200);
    expect(await metrics()).toMatch(new RegExp(`^svc_webhooks_waiting ${before}$`, "m"));
    expect(Number(/^svc_webhooks_oldest_seconds (\d+)$/m.exec(await metrics())![1])).toBeGreaterThan(UNIT_MS.d / 1000);
  });
});

describe.concurrent("COMMENTS 2: whom it concerns", () => {
  test("off, as it is by default, the address is kept and nothing is delivered, not even later", async () => {
    const site = await world("anonymous", {});
    const there = receiver();
    const webhook = { url: "https://hooks.example/in", events: EVENTS, secret: SECRET };
    const answer = await site.manage("settings", "PATCH", { webhook });
    expect(await answer.json()).toMatchObject({ webhook: { url: webhook.url, events: EVENTS } });
    const loopback = JSON.stringify({ ...webhook, url: there.url });
    write(site.server.data_dir, "update comment_settings set webhook = ?", loopback);
    await site.comment("Hello");
    await afterALook();
    expect(waiting(site)).toBe(0);
    await site.server.stop();
    await site.server.start([ON]);
    await afterALook();
    expect(there.received).toEqual([]);
  });

  test("what waits when the operator turns it off is not sent when it is turned on again", async () => {
    const site = await world();
    const there = receiver(500);
    await hook(site, there);
    await site.comment("Before it was off");
    await until(() => there.received.length === 1);
    await site.server.stop();
    expect(waiting(site)).toBe(1);
    there.answer = 200;
    await site.server.start([]);
    expect(waiting(site)).toBe(0);
    await site.server.stop();
    site.server.advance(UNIT_MS.m);
    await site.server.start([ON]);
    await afterALook();
    expect(there.received).toHaveLength(1);
  });

  test("an address that was taken back gets nothing of what waited", async () => {
    const site = await world();
    const there = receiver(500);
    await hook(site, there);
    await site.comment("Hello");
    await until(() => there.received.length === 1);
    await site.configure({ webhook: null });
    there.answer = 200;
    site.server.advance(UNIT_MS.m);
    await settled(site);
    expect(there.received).toHaveLength(1);
  });

  test("with a site what waits for its receiver goes too", async () => {
    const site = await world();
    const there = receiver(500);
    await hook(site, there);
    await site.comment("Hello");
    await until(() => there.received.length === 1);
    site.server.disable(site.site, "abuse");
    there.answer = 200;
    site.server.advance(UNIT_MS.m);
    await settled(site);
    expect(there.received).toHaveLength(1);
  });
});

describe.concurrent("RELIABILITY A20: no private address", () => {
  test.each([
    "http://127.0.0.1/",
    "http://localhost/",
    "http://hooks.localhost/",
    "http://[::1]/",
    "http://[::ffff:10.0.0.1]/",
    "http://10.0.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://100.100.100.200/",
    "http://0/",
    "http://0x7f000001/",
    "http://router.local/",
    "http://intranet/",
    "ftp://hooks.example/",
    "https://user:password@hooks.example/",
    "hooks.example",
  ])("%s is 400 when it is set", async (url) => {
    const site = shut;
    const answer = await site.manage("settings", "PATCH", { webhook: { url, events: EVENTS, secret: SECRET } });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: "invalid_input", field: "webhook" });
    expect(await (await site.manage("settings")).json()).toMatchObject({ webhook: null });
  });

  test.each(["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"])(
    "a name that turns out to be %s is not called when it is due, whatever it was when it was set",
    async (name) => {
      const site = await commentedSite(shut.server);
      const there = receiver();
      const url = there.url.replace("127.0.0.1", name);
      await hook(site, { url: "https://hooks.example/" });
      const { site_id } = site.site;
      const moved = "update comment_settings set webhook = json_set(webhook, '$.url', ?) where site_id = ?";
      write(site.server.data_dir, moved, url, site_id);
      await site.comment("Hello");
      await tried(site, 1);
      expect(there.received).toEqual([]);
    },
  );

  test("SVC_WEBHOOKS_ALLOW opens the networks that it names, and no other", async () => {
    const site = await commentedSite(server);
    const set = async (url: string) =>
      (await site.manage("settings", "PATCH", { webhook: { url, events: EVENTS, secret: SECRET } })).status;
    expect(await set("http://127.0.0.9/")).toBe(200);
    expect(await set("http://10.0.0.1/")).toBe(400);
    expect(await set("http://[::1]/")).toBe(400);
  });
});
