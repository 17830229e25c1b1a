/** COMMENTS 2 and rulings 3, 4, 8, 11: what authors do to their own, and what stays of it. */
import { describe, expect, test } from "bun:test";
import { startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { commentedSite, FREELY, type Visitor, type Json } from "./commented.ts";

const server = await sharedServer(FREELY);

const MINUTE = 60_000;

async function cast(mode: "anonymous" | "approved" = "anonymous") {
  const place = await commentedSite(server, mode);
  return {
    place,
    ann: place.visitor(),
    bob: place.visitor(),
    stranger: place.visitor(),
    owner: await place.accountOwner(),
  };
}
const remove = (who: Visitor, id: string, headers: Record<string, string> = {}) =>
  who.send(id, { method: "DELETE", headers });
const put = (who: Visitor, id: string, headers: Record<string, string>) =>
  who.send(id, { method: "PUT", body: who.annotation("changed", "x"), headers });

describe("COMMENTS, ruling 11: PUT", () => {
  test("answers 200 in the new state, with a new ETag; everybody sees it, and that it was edited", async () => {
    const { ann, stranger } = await cast();
    const id = await ann.say("frist");
    const edited = await ann.edit(id, "first");
    expect([edited.status, edited.body.body.value, edited.headers.get("etag")]).toEqual([200, "first", '"a2"']);
    const [thread] = (await stranger.threads()).threads;
    expect(thread.comments[0]).toMatchObject({ text: "first", edited_at: expect.any(String) });
  });
  test("needs If-Match: 428 without, 412 changed with another", async () => {
    const { ann } = await cast();
    const id = await ann.say("x");
    expect([(await put(ann, id, {})).status, (await put(ann, id, {})).body.code]).toEqual([428, "if_match_required"]);
    for (const tag of ['"a9"', 'W/"a1"', '"nonsense"']) {
      const { status, body } = await put(ann, id, { "if-match": tag });
      expect([tag, status, body.code]).toEqual([tag, 412, "changed"]);
    }
    expect((await put(ann, id, { "if-match": "*" })).status).toBe(200);
  });
  test("is over after 15 minutes: 403 edit_window_over; deleting is not", async () => {
    await using own = await startServer(FREELY);
    const place = await commentedSite(own);
    const ann = place.visitor();
    const [kept, gone] = [await ann.say("x"), await ann.say("y")];
    own.advance(15 * MINUTE - 5_000);
    expect((await ann.edit(kept, "in time")).status).toBe(200);
    own.advance(10_000);
    const late = await ann.edit(kept, "too late");
    expect([late.status, late.body.code]).toEqual([403, "edit_window_over"]);
    expect((await remove(ann, gone)).status).toBe(204);
  });
});

describe("COMMENTS, ruling 11: DELETE", () => {
  test("honours If-Match where it is sent", async () => {
    const { ann } = await cast();
    const id = await ann.say("x");
    expect((await remove(ann, id, { "if-match": '"a7"' })).status).toBe(412);
    expect((await remove(ann, id, { "if-match": '"a1"' })).status).toBe(204);
  });
  test("of an unanswered root takes it away: 410 for what was public, 404 for what never was", async () => {
    const { place, ann, stranger } = await cast("approved");
    const [seen, unseen] = [await ann.say("seen"), await ann.say("unseen")];
    await place.decide(seen, "approve");
    for (const id of [seen, unseen]) expect((await remove(ann, id)).status).toBe(204);
    const codes = [await stranger.send(seen), await stranger.send(unseen)].map(({ status, body }) => [
      status,
      body.code,
    ]);
    expect(codes).toEqual([
      [410, "deleted"],
      [404, "not_found"],
    ]);
    expect(await ann.texts()).toEqual([]);
  });
  test("of an answered root leaves a gap; the replies stay, in feeds too", async () => {
    const { place, ann, bob, stranger } = await cast();
    const root = await ann.say("question");
    await bob.reply("answer", root);
    await remove(ann, root);
    const [thread] = (await stranger.threads()).threads;
    expect(thread.comments[0]).toMatchObject({ id: root, by: null, text: null, deleted: true });
    expect(thread.comments[1].text).toBe("answer");
    const feed = await place.feed();
    expect(feed.orderedItems.map((item: { body: { value: string } }) => item.body.value)).toEqual(["answer"]);
    expect((await stranger.send(root)).status).toBe(410);
    expect((await stranger.answer("still open", root)).status).toBe(201);
  });
  test("of a root whose answers all wait leaves nothing that tells of them; the first approved one brings the gap", async () => {
    const { place, ann, bob, stranger } = await cast("approved");
    const [alone, answered] = [await ann.say("alone"), await ann.say("answered")];
    for (const id of [alone, answered]) await place.decide(id, "approve");
    const waiting = await bob.reply("waits", answered);
    const { cursor } = await stranger.threads();
    for (const id of [alone, answered]) await remove(ann, id);
    const { threads, gone } = await stranger.threads("/guide.html", cursor);
    expect([threads, gone.toSorted()]).toEqual([[], [alone, answered].toSorted()]);

    const { body } = await place.api("queue?state=pending");
    expect(body.items).toMatchObject([{ id: waiting, thread_id: answered }]);
    const before = (await stranger.threads()).cursor;
    expect((await place.decide(waiting, "approve")).status).toBe(200);
    const [thread] = (await stranger.threads("/guide.html", before)).threads;
    expect(thread.comments).toMatchObject([
      { id: answered, text: null, deleted: true },
      { id: waiting, text: "waits" },
    ]);
    expect((await place.feed()).total).toBe(1);
  });
  test("by the owner of a root deletes its replies", async () => {
    const { ann, bob, owner } = await cast();
    const root = await ann.say("question");
    const reply = await bob.reply("answer", root);
    const { cursor } = await bob.threads();
    expect((await remove(owner, root)).status).toBe(204);
    const after = await bob.threads("/guide.html", cursor);
    expect([after.threads, after.gone.toSorted()]).toEqual([[], [root, reply].toSorted()]);
    for (const id of [root, reply]) expect((await bob.send(id)).status).toBe(410);
  });
});

describe("COMMENTS 2: me", () => {
  test("says who one is, and without an identity is 401 no_identity", async () => {
    const { ann, stranger } = await cast();
    await ann.say("hi");
    const { viewer } = await ann.threads();
    const { body } = await ann.send("me");
    expect(body).toEqual({ id: viewer.id, name: viewer.name, created_at: expect.any(String) });
    for (const [path, method] of [
      ["me", "GET"],
      ["me/export", "GET"],
      ["me", "PATCH"],
      ["me", "DELETE"],
    ] as const) {
      const { status, body } = await stranger.send(path, { method });
      expect([path, method, status, body.code]).toEqual([path, method, 401, "no_identity"]);
    }
  });
  test("export gives all one's own, whoever sees it, and nobody else's", async () => {
    const { ann, bob } = await cast("approved");
    await ann.say("mine, pending");
    await bob.say("not mine");
    const { body, headers } = await ann.send("me/export");
    expect(headers.get("content-type")).toStartWith("application/ld+json");
    expect(body.total).toBe(1);
    expect(body.first.items[0].body.value).toBe("mine, pending");
  });
  test("export holds nothing that was rejected: that is shown to nobody on the site's host (ruling 16)", async () => {
    const { place, ann } = await cast("approved");
    const [kept, rejected] = [await ann.say("kept"), await ann.say("rejected words")];
    await place.decide(kept, "approve");
    await place.decide(rejected, "reject");
    const { body, text } = await ann.send("me/export");
    expect([body.total, text.includes("rejected words"), text.includes(rejected)]).toEqual([1, false, false]);
    await place.decide(rejected, "approve");
    expect((await ann.send("me/export")).body.total).toBe(2);
  });
  test("DELETE erases all of it: a gap where strangers saw something, nothing of the name", async () => {
    const { place, ann, bob, stranger } = await cast();
    const root = await ann.say("a question of mine");
    const other = await bob.say("another question");
    const reply = await ann.reply("a reply of mine", other);
    await bob.reply("an answer", root);
    const { name } = (await ann.threads()).viewer;
    expect((await ann.send("me", { method: "DELETE" })).status).toBe(204);
    expect(ann.value("svc_cmt")).toBe("");
    const view = await stranger.threads();
    const gaps = view.threads.flatMap(({ comments }: Json) => comments).filter(({ deleted }: Json) => deleted);
    expect(gaps.map(({ id, by, text }: Json) => [id, by, text])).toEqual([
      [root, null, null],
      [reply, null, null],
    ]);
    const everything = JSON.stringify(view) + JSON.stringify(await place.feed()) + (await place.api("threads")).text;
    expect([everything.includes(name), everything.includes("of mine")]).toEqual([false, false]);
    expect((await stranger.send(reply)).status).toBe(410);
  });
});

describe("COMMENTS, ruling 4: names", () => {
  const rename = (who: Visitor, name: unknown) => who.send("me", { method: "PATCH", body: { name } });

  test("in other modes than approved a new name shows at once, on earlier comments too", async () => {
    const { place, ann, stranger } = await cast();
    const id = await ann.say("hi");
    const { cursor } = await stranger.threads();
    const renamed = await rename(ann, "  Ann   of Æøå ");
    expect([renamed.status, renamed.body.name]).toEqual([200, "Ann of Æøå"]);
    const seen = await stranger.threads("/guide.html", cursor);
    expect(seen.threads[0].comments[0].by.name).toBe("Ann of Æøå");
    expect((await place.feed()).orderedItems[0].creator.nickname).toBe("Ann of Æøå");
    expect((await stranger.send(id)).body.creator.nickname).toBe("Ann of Æøå");
    expect((await ann.send("me")).body.name).toBe("Ann of Æøå");
  });
  test("in approved mode strangers see it with the next approval, author and owner at once", async () => {
    const { place, ann, stranger, owner } = await cast("approved");
    const first = await ann.say("first");
    await place.decide(first, "approve");
    const before = (await stranger.threads()).threads[0].comments[0].by.name;
    await rename(ann, "New Name");
    const nameFor = async (who: Visitor) => (await who.threads()).threads[0].comments[0].by.name;
    expect([await nameFor(stranger), await nameFor(ann), await nameFor(owner)]).toEqual([
      before,
      "New Name",
      "New Name",
    ]);
    expect((await place.feed()).orderedItems[0].creator.nickname).toBe(before);
    await place.decide(await ann.say("second"), "approve");
    expect(await nameFor(stranger)).toBe("New Name");
  });
  test("an old cookie brings no old name back", async () => {
    const { ann, stranger } = await cast();
    await ann.say("hi");
    const old = ann.value("svc_cmt");
    await rename(ann, "Current");
    ann.cookies.set("svc_cmt", old);
    await ann.say("again");
    expect((await ann.send("me")).body.name).toBe("Current");
    expect((await stranger.threads()).threads[1].comments[0].by.name).toBe("Current");
  });
  test.each([
    ["", "invalid_input"],
    ["\u200b", "invalid_input"],
    ["x".repeat(41), "invalid_input"],
    ["👩‍👩‍👧‍👦".repeat(8), "invalid_input"],
    ["a\u202eb", "invalid_input"],
    ["a\nb", "invalid_input"],
    [7, "invalid_input"],
  ])("%j is refused: %s", async (name, code) => {
    const { ann } = await cast();
    await ann.say("hi");
    const before = (await ann.send("me")).body.name;
    expect((await rename(ann, name)).body.code).toBe(code);
    expect((await ann.send("me")).body.name).toBe(before);
  });
});

describe("COMMENTS, ruling 8: the owner on the site's host", () => {
  test("posts and replies at once, as Owner, in every mode; edits only their own, at any time", async () => {
    await using own = await startServer(FREELY);
    const place = await commentedSite(own, "approved");
    const [owner, ann, stranger] = [await place.owner(), place.visitor(), place.visitor()];
    const mine = await owner.say("from me");
    expect((await stranger.threads()).threads[0].comments[0].by).toMatchObject({ name: "Owner", kind: "owner" });
    expect(owner.value("svc_cmt")).toBe("");
    own.advance(30 * MINUTE);
    expect((await owner.edit(mine, "from me, later")).status).toBe(200);
    const theirs = await ann.say("from ann");
    const refused = await owner.edit(theirs, "put into her mouth");
    expect([refused.status, refused.body.code]).toEqual([403, "forbidden"]);
  });
  test("the code works once and for 5 minutes, the cookie for an hour", async () => {
    await using own = await startServer(FREELY);
    const place = await commentedSite(own);
    const use = async (code: unknown) => {
      const browser = place.visitor();
      const { status, body } = await browser.send("owner", { method: "POST", body: { code } });
      return { browser, said: [status, body?.code] };
    };
    const mint = async () => (await place.api("owner-code", { method: "POST", body: {} })).body;
    const { code, url, expires_at } = await mint();
    expect(url).toBe(`${place.origin}/#svc-owner=${code}`);
    expect(Date.parse(expires_at) - own.now()).toBeWithin(4.9 * MINUTE, 5 * MINUTE + 1);
    const { browser, said } = await use(code);
    expect(said).toEqual([204, undefined]);
    expect((await use(code)).said).toEqual([401, "invalid_code"]);
    const late = await mint();
    own.advance(5 * MINUTE + 1);
    expect((await use(late.code)).said).toEqual([401, "invalid_code"]);
    expect((await browser.send("queue")).status).toBe(200);
    own.advance(56 * MINUTE);
    expect((await browser.send("queue")).body.code).toBe("unauthorized");
  });
});
