/** What owners, agents and crowds can add to a site's comments beside comments is bounded, in number and in time. */
import { describe, expect, test } from "bun:test";
import { count, openFile, read, write } from "../kit/database.ts";
import { startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { type Answered, type CommentedSite, commentedSite, FREELY } from "./commented.ts";

const server = await sharedServer(FREELY);

const codeOf = ({ status, body }: Answered): string => `${status} ${body?.code}`;

describe("the history of what was decided", () => {
  test("keeps the last 100 lines of a comment, however often it is turned back and forth", async () => {
    const place = await commentedSite(server);
    const [id, other] = [await place.visitor().say("one"), await place.visitor().say("two")];
    await place.decide(other, "resolve", "the other");
    await place.decide(id, "resolve", "the first");
    for (let n = 0; n < 105; n++) await place.decide(id, n % 2 === 0 ? "reopen" : "resolve", `turn ${n}`);
    const { body } = await place.api(`${id}/history`);
    expect(body.total).toBe(100);
    expect(JSON.stringify(body)).not.toContain('"turn 4"');
    expect(body.first.items.at(-1).body[1].value).toBe("turn 104");
    expect((await place.api(`${other}/history`)).body.total).toBe(1);
  });

  test("and the last 5,000 of a site", async () => {
    const place = await commentedSite(server);
    const { site_id } = place.site;
    const id = await place.visitor().say("one");
    const rows = () =>
      read<{ n: number }>(server.data_dir, `select count(*) as n from comment_events where site_id = '${site_id}'`)[0]!
        .n;
    const numbers = "with recursive n (i) as (select 1 union all select i + 1 from n where i < 5000)";
    write(
      server.data_dir,
      `insert into comment_events (id, site_id, comment_no, action, by_id, by_name, by_kind, created_at)
       ${numbers} select 'e_' || ?1 || i, ?1, 1000000 + i, 'resolved', 'p_x', 'Owner', 'owner', '2026-11-22' from n`,
      site_id,
    );
    await place.decide(id, "resolve", "the newest");
    expect(rows()).toBe(5000);
    expect((await place.api(`${id}/history`)).body.total).toBe(1);
  });
});

describe("reports", () => {
  test("of a site are 5,000 at most: past them they are answered and dropped", async () => {
    const place = await commentedSite(server);
    const id = await place.visitor().say("one");
    write(
      server.data_dir,
      `insert into comment_reports (site_id, comment_no, reason, created_at)
       with recursive n (i) as (select 1 union all select i + 1 from n where i < 5000)
       select ?1, 1000000 + i, 'spam', '2026-11-22' from n`,
      place.site.site_id,
    );
    const before = count(server.data_dir, "comment_reports");
    const { status } = await place.visitor().send(`${id}/report`, { method: "POST", body: { reason: "spam" } });
    expect([status, count(server.data_dir, "comment_reports") - before]).toEqual([202, 0]);
  });
});

describe("COMMENTS 2: what a page and a site hold", () => {
  const full = async (answer: Promise<Answered>) => codeOf(await answer);
  /** As if so many had been written, one thread each, on a page of theirs. */
  function fill({ site }: CommentedSite, threads: number, page: string, state = "public"): void {
    const numbers = `with recursive n (i) as (select 1 union all select i + 1 from n where i < ${threads})`;
    write(
      server.data_dir,
      `insert into comments (id, site_id, thread_no, text, text_hash, state, was_public, created_at, modified_at, public_no, own_no)
       ${numbers} select 'c_' || ?1 || ?2 || i, ?1, 0, 'x', i, ?3, 1, '2026-11-23', '2026-11-23', 1, 1 from n`,
      site.site_id,
      page,
      state,
    );
    const theirs = "site_id = ?1 and thread_no = 0";
    write(
      server.data_dir,
      `insert into threads (thread_no, site_id, page, version_id, version_created_at, changed_no)
       select comment_no, site_id, ?2, ?3, '2026-11-23', 1 from comments where ${theirs}`,
      site.site_id,
      page,
      site.version_id,
    );
    write(server.data_dir, `update comments set thread_no = comment_no where ${theirs}`, site.site_id);
  }

  test.each(["public", "pending"])("500 threads a page, those that are %s too", async (state) => {
    const place = await commentedSite(server);
    const ann = place.visitor();
    const own = await ann.say("one of five hundred");
    fill(place, 499, "/guide.html", state);
    expect(await full(ann.post("one more"))).toBe("409 page_full");
    expect((await ann.answer("a reply", own)).status).toBe(201);
    expect((await ann.post("on another page", "/index.html")).status).toBe(201);
    await (await place.accountOwner()).send(own, { method: "DELETE" });
    expect((await ann.post("in its place")).status).toBe(201);
  });

  test("A26 rejected ones free their places, and come back only where there is room", async () => {
    const place = await commentedSite(server);
    const ann = place.visitor();
    const rejected = await ann.say("soon rejected");
    fill(place, 499, "/guide.html");
    expect(await full(ann.post("one more"))).toBe("409 page_full");
    await place.decide(rejected, "reject");
    expect((await ann.post("in its place")).status).toBe(201);
    expect(await full(place.decide(rejected, "approve"))).toBe("409 page_full");
    write(
      server.data_dir,
      "update comments set state = 'rejected' where site_id = ? and text = 'x'",
      place.site.site_id,
    );
    for (let n = 0; n < 3; n++) expect((await place.visitor().post(`honest ${n}`)).status).toBe(201);
    expect((await place.decide(rejected, "approve")).status).toBe(200);
  });

  test("A26 5,000 rejected ones fill no site; of more the oldest go for good", async () => {
    const place = await commentedSite(server);
    const oldest = await place.visitor().say("the oldest of all");
    await place.decide(oldest, "reject");
    for (let n = 0; n < 10; n++) fill(place, 500, `/page-${n}.html`, "rejected");
    const last = await place.visitor().say("still taken");
    expect((await place.decide(last, "reject")).status).toBe(200);
    expect(await full(place.decide(oldest, "approve"))).toBe("404 not_found");
    const kept = read<{ n: number }>(
      server.data_dir,
      `select count(*) as n from comments where site_id = '${place.site.site_id}' and state = 'rejected'`,
    );
    expect(kept).toEqual([{ n: 5000 }]);
  });

  test("A27 a page holds 1,000,000 bytes as they are written out: a quotation mark is six of them", async () => {
    const place = await commentedSite(server);
    const marks = (n: number) => `${n} ${'"'.repeat(3990)}`;
    for (let n = 0; n < 41; n++) expect((await place.visitor().post(marks(n))).status).toBe(201);
    expect(await full(place.visitor().post(marks(41)))).toBe("409 page_full");
    const plain = await place.visitor().say("words without any");
    expect(await full(place.visitor().answer(marks(42), plain))).toBe("409 page_full");
    expect((await place.visitor().post(marks(43), "/index.html")).status).toBe(201);
  });

  test("5,000 comments a site, of threads and replies", async () => {
    const place = await commentedSite(server);
    const ann = place.visitor();
    const own = await ann.say("the first");
    for (let n = 0; n < 11; n++) fill(place, 450, `/page-${n}.html`);
    fill(place, 48, "/last.html");
    const reply = await ann.reply("the last", own);
    expect([await full(ann.post("one more")), await full(ann.answer("one more", own))]).toEqual([
      "409 site_full",
      "409 site_full",
    ]);
    await ann.send(reply, { method: "DELETE" });
    expect((await ann.post("in its place")).status).toBe(201);
    expect((await (await commentedSite(server)).visitor().post("elsewhere")).status).toBe(201);
  });
});

describe("SVC_RATE_MODERATION", () => {
  test("counts what is decided and set on either host and in the dashboard, by site", async () => {
    await using own = await startServer({ ...FREELY, SVC_RATE_MODERATION: "6/1m" });
    const place = await commentedSite(own); // one: its settings
    const id = await place.visitor().say("one");
    const owner = await place.accountOwner(); // two: its code
    const first = await owner.send(`${id}/resolve`, { method: "POST" });
    expect([first.status, first.headers.get("ratelimit-remaining")]).toEqual([200, "3"]);
    const second = await place.decide(id, "reopen");
    expect([second.status, second.headers.get("ratelimit-remaining")]).toEqual([200, "2"]);
    expect((await place.api("tokens", { method: "POST", body: {} })).status).toBe(400);
    expect(codeOf(await owner.send("c_none", { method: "DELETE" }))).toBe("404 not_found");
    const refused = [
      await owner.send(`${id}/resolve`, { method: "POST" }),
      await owner.send(id, { method: "DELETE" }),
      await place.decide(id, "resolve"),
      await place.api(id, { method: "DELETE" }),
      await place.turn("approved"),
      await place.api("owner-code", { method: "POST", body: {} }),
      await place.api("tokens", { method: "POST", body: { name: "x", scopes: ["read"] } }),
      await place.api("tokens/agent_x", { method: "DELETE" }),
    ];
    expect(refused.map(codeOf)).toEqual(refused.map(() => "429 rate_limited"));
    expect(refused.every(({ headers }) => Number(headers.get("retry-after")) > 0)).toBeTrue();
    // Reading goes on, and so do others.
    expect((await place.api("threads")).body.threads).toMatchObject([{ id, status: "open" }]);
    expect((await owner.send("queue")).status).toBe(200);
    expect((await (await commentedSite(own)).turn("approved")).status).toBe(200);
    own.advance(61_000);
    expect((await place.decide(id, "resolve")).status).toBe(200);
  });
});

describe("SVC_RATE_OWNER_CODE", () => {
  test("wrong codes of a client, on whatever site, then 429; right ones do not count", async () => {
    await using own = await startServer({ ...FREELY, SVC_RATE_OWNER_CODE: "3/1m" });
    const [place, other] = [await commentedSite(own), await commentedSite(own)];
    const enter = async (code: unknown, at = place) =>
      codeOf(await at.visitor().send("owner", { method: "POST", body: { code } }));
    for (let n = 0; n < 5; n++) await place.owner();
    const { code } = (await place.api("owner-code", { method: "POST", body: {} })).body;
    expect([await enter("x"), await enter(7), await enter("y", other)]).toEqual([
      "401 invalid_code",
      "401 invalid_code",
      "401 invalid_code",
    ]);
    expect([await enter("z"), await enter(code)]).toEqual(["429 rate_limited", "429 rate_limited"]);
    own.advance(61_000);
    expect(await enter(code)).toBe("204 undefined");
  });

  test("a wrong code is refused while somebody holds the lock of writes", async () => {
    const place = await commentedSite(server);
    using holder = openFile(server.data_dir, "db", false);
    holder.run("begin immediate");
    const begun = performance.now();
    const refused = await place.visitor().send("owner", { method: "POST", body: { code: "svc_owner_wrong" } });
    expect(codeOf(refused)).toBe("401 invalid_code");
    holder.run("rollback");
    // Whoever waits for the lock waits for five seconds.
    expect(performance.now() - begun).toBeLessThan(4000);
  });
});

describe("what was said before", () => {
  test("of 30 that are sent at once one is public", async () => {
    const place = await commentedSite(server);
    const text = "Visit my shop, where everything is cheap, and then visit it again.";
    const root = await place.visitor().say("root");
    const ann = place.visitor();
    await ann.say("hello");
    const ways = [() => place.visitor().post(text), () => place.visitor().answer(text, root), () => ann.post("ok")];
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => ways[n % ways.length]!()));
    const shown = answers.filter(({ headers }) => headers.get("svc-visibility") === null);
    expect([answers.every(({ status }) => status === 201), shown.length]).toEqual([true, 2]);
    expect((await place.visitor().texts()).toSorted()).toEqual([text, "hello", "ok", "root"].toSorted());
  });

  test("waits, too, where it takes the place of other words", async () => {
    const place = await commentedSite(server);
    const [ann, bob] = [place.visitor(), place.visitor()];
    const text = "Visit my shop, where everything is cheap, and then visit it again.";
    await ann.say(text);
    await bob.say("Thanks");
    const [own, other] = [await bob.say("Something harmless"), await bob.say("Something else")];
    const edited = async (id: string, now: string) => (await bob.edit(id, now)).headers.get("svc-visibility");
    expect([await edited(own, text), await edited(other, "Thanks")]).toEqual(["pending", "pending"]);
    const { threads } = await place.visitor().threads();
    expect(threads.map(({ comments }: { comments: { text: string }[] }) => comments[0]!.text)).toEqual([
      text,
      "Thanks",
    ]);
    const mended = await bob.say("A sentense of my own, as long as others are, that nobody has said.");
    for (const now of [text.replace("cheap", "dear"), text.replace("cheap", "dear")]) {
      expect(await edited(mended, now)).toBeNull(); // its own words are no other's
    }
  });

  test("is found by an index, however many comments there are: a repeated text waits, also after an edit, and a gone one not", async () => {
    const place = await commentedSite(server);
    const [ann, bob] = [place.visitor(), place.visitor()];
    const long = "Visit my shop, where everything is cheap. ".repeat(3);
    const said = async (who: typeof ann, text: string) => (await who.post(text)).headers.get("svc-visibility");
    const first = await ann.say("short");
    expect([await said(bob, "short"), await said(ann, "short"), await said(ann, "Short")]).toEqual([
      null,
      "pending",
      null,
    ]);
    const shop = await ann.say(long);
    expect([await said(bob, long), await said(bob, `${long}!`)]).toEqual(["pending", null]);
    await ann.edit(first, "another text");
    expect([await said(ann, "another text"), await said(bob, long)]).toEqual(["pending", "pending"]);
    const unsaid = "Something else that is said once, and then taken back by its author.";
    await ann.send(await ann.say(unsaid), { method: "DELETE" });
    expect(await said(bob, unsaid)).toBeNull();
    await ann.send(shop, { method: "DELETE" });
    const plan = read<{ detail: string }>(
      server.data_dir,
      "explain query plan select 1 from comments where site_id = 's' and text_hash = 1 and text = 'x'",
    );
    expect(plan.map(({ detail }) => detail).join()).toContain(
      "USING INDEX comments_by_text (site_id=? AND text_hash=?)",
    );
    const kept = read(server.data_dir, "select 1 from comments where (text is null) <> (text_hash is null)");
    expect(kept).toEqual([]);
  });
});
