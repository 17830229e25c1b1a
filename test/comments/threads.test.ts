/** COMMENTS 2 and rulings 10, 16, 20: what `threads` tells whom, and what has changed since. */
import { describe, expect, test } from "bun:test";
import { sharedServer } from "../kit/shared.ts";
import { type CommentedSite, commentedSite, FREELY, idOf, PASSCODE, type Visitor } from "./commented.ts";

const server = await sharedServer(FREELY);

const idsOf = (view: { threads: { id: string }[] }): string[] => view.threads.map(({ id }) => id);

async function cast(mode: "anonymous" | "approved" | "passcode" = "anonymous") {
  const place = await commentedSite(server, mode);
  return { place, ann: place.visitor(), bob: place.visitor(), stranger: place.visitor(), owner: await place.owner() };
}

describe("COMMENTS, ruling 20: the viewer", () => {
  test("without an identity is nobody, who can post", async () => {
    const { stranger } = await cast();
    expect((await stranger.threads()).viewer).toEqual({ id: null, name: null, owner: false, can_post: true });
  });
  test("with one has an id and a name; the owner is the owner", async () => {
    const { ann, owner } = await cast();
    await ann.say("hi");
    const { viewer, threads } = await ann.threads();
    expect(viewer).toEqual({ ...threads[0].comments[0].by, kind: undefined, owner: false, can_post: true });
    expect((await owner.threads()).viewer).toMatchObject({ name: "Owner", owner: true, can_post: true });
  });
  test("on a frozen site cannot post", async () => {
    const { place, ann } = await cast();
    server.freeze(place.site);
    expect((await ann.threads()).viewer.can_post).toBeFalse();
  });
});

describe("COMMENTS 2: GET threads", () => {
  test("is private, has an ETag, and is an empty 304 while nothing changed", async () => {
    const { ann } = await cast();
    await ann.say("hi");
    const first = await ann.send("threads?page=/guide.html");
    expect(first.headers.get("cache-control")).toBe("private, no-cache");
    expect(first.headers.get("vary")).toBe("Cookie");
    const etag = first.headers.get("etag")!;
    const again = await ann.send("threads?page=/guide.html", { headers: { "if-none-match": etag } });
    expect([again.status, again.text, again.headers.get("etag")]).toEqual([304, "", etag]);
    await ann.say("more");
    expect((await ann.send("threads?page=/guide.html", { headers: { "if-none-match": etag } })).status).toBe(200);
  });

  test("since a cursor holds only what changed", async () => {
    const { ann, bob } = await cast();
    const [one, two] = [await ann.say("one"), await ann.say("two")];
    const { cursor } = await bob.threads();
    expect(await bob.threads("/guide.html", cursor)).toMatchObject({ cursor, threads: [], gone: [] });
    await ann.reply("on two", two);
    const after = await bob.threads("/guide.html", cursor);
    expect(idsOf(after)).toEqual([two]);
    expect(after.threads[0].comments).toHaveLength(2);
    expect(after.cursor).not.toBe(cursor);
    await ann.send(one, { method: "DELETE" });
    const last = await bob.threads("/guide.html", after.cursor);
    expect([idsOf(last), last.gone]).toEqual([[], [one]]);
  });

  test("of another page is another list", async () => {
    const { ann } = await cast();
    await ann.say("here");
    expect(await ann.texts("/docs/")).toEqual([]);
  });

  test("replies come in their order, and resolving and reopening show at once", async () => {
    const { place, ann, bob } = await cast();
    const root = await ann.say("a");
    await bob.reply("b", root);
    await ann.reply("c", root);
    expect(await bob.texts()).toEqual(["a", "b", "c"]);
    const { cursor } = await bob.threads();
    await place.decide(root, "resolve");
    const seen = await bob.threads("/guide.html", cursor);
    expect(seen.threads[0].status).toBe("resolved");
    await place.decide(root, "reopen");
    expect((await bob.threads()).threads[0].status).toBe("open");
  });
});

describe("COMMENTS, ruling 16: visibility", () => {
  test("a reply is public only while its root is; a hidden root goes to gone with its replies", async () => {
    const { place, ann, bob, stranger } = await cast();
    const root = await ann.say("root");
    const reply = await bob.reply("reply", root);
    const { cursor } = await stranger.threads();
    expect((await place.decide(root, "reject")).body.visibility).toBe("rejected");
    const after = await stranger.threads("/guide.html", cursor);
    expect([idsOf(after), after.gone.toSorted()]).toEqual([[], [root, reply].toSorted()]);
    expect((await place.feed()).total).toBe(0);
    for (const id of [root, reply]) expect((await stranger.send(id)).status).toBe(404);
    await place.decide(root, "approve");
    expect(await stranger.texts()).toEqual(["root", "reply"]);
  });

  test("a reply to a thread one may not see is 422 unknown_thread", async () => {
    const { ann, bob, owner } = await cast("approved");
    const root = await ann.say("waits");
    const refused = await bob.answer("me too", root);
    expect([refused.status, refused.body.code]).toEqual([422, "unknown_thread"]);
    expect((await ann.answer("mine", root)).status).toBe(201);
    expect((await owner.answer("seen", root)).status).toBe(201);
  });

  test("what is rejected is shown to nobody on the site's host, but in the queue of what was", async () => {
    const { place, ann, owner } = await cast("approved");
    const id = await ann.say("rude");
    const { cursor } = await ann.threads();
    await place.decide(id, "reject");
    expect(await ann.texts()).toEqual([]);
    expect((await ann.threads("/guide.html", cursor)).gone).toEqual([id]);
    expect(await owner.texts()).toEqual([]);
    expect((await ann.send(id)).status).toBe(404);
    const { body } = await owner.send("queue?state=rejected");
    expect(body.items).toMatchObject([{ id, text: "rude", visibility: "rejected" }]);
  });

  test("what is rejected is not told to its author who sends it again, either", async () => {
    const { place, ann, bob } = await cast();
    const root = await ann.say("root");
    const canonical = "urn:uuid:6b1d";
    const reply = idOf(await bob.answer("rude", root, { canonical }));
    await place.decide(reply, "reject");
    const again = await bob.answer("rude", root, { canonical });
    expect([again.status, again.body.code]).toEqual([404, "not_found"]);
    const thread = idOf(await bob.post("ruder", "/guide.html", { canonical: "urn:uuid:6b1e" }));
    await place.decide(thread, "reject");
    const anew = await bob.post("ruder", "/guide.html", { canonical: "urn:uuid:6b1e" });
    expect([anew.status, anew.body.code]).toEqual([404, "not_found"]);
    await place.decide(reply, "approve");
    expect((await bob.answer("rude", root, { canonical })).status).toBe(200);
  });

  test("of each comment it is told", async () => {
    const { place, ann, owner } = await cast("approved");
    const root = await ann.say("first");
    await place.decide(root, "approve");
    await ann.reply("second", root);
    const [thread] = (await owner.threads()).threads;
    expect([thread.visibility, ...thread.comments.map((one: { visibility: string }) => one.visibility)]).toEqual([
      "public",
      "public",
      "pending",
    ]);
  });

  test("an approved comment that is edited waits again", async () => {
    const { place, ann, stranger } = await cast("approved");
    const id = await ann.say("polite");
    await place.decide(id, "approve");
    const edited = await ann.edit(id, "rude");
    expect([edited.status, edited.headers.get("svc-visibility")]).toEqual([200, "pending"]);
    expect(await stranger.texts()).toEqual([]);
    expect(await ann.texts()).toEqual(["rude"]);
  });
});

describe("COMMENTS, ruling 10: the same for every reader", () => {
  async function feedsOf(readers: readonly Visitor[]): Promise<Set<string>> {
    const all: string[] = [];
    for (const reader of readers) {
      for (const path of ["/guide.comments.json", "/comments.json", ""]) {
        const { text, headers } = await reader.send(path);
        all.push(`${path} ${headers.get("etag")} ${text}`);
      }
    }
    return new Set(all);
  }
  test("companions and container show owner and author what strangers are shown", async () => {
    const { place, ann, owner, stranger } = await cast("approved");
    await place.decide(await ann.say("public"), "approve");
    await ann.say("pending");
    expect((await feedsOf([ann, owner, stranger])).size).toBe(3);
  });
  test("in passcode mode they show what a grant sees", async () => {
    const { ann, bob, owner } = await cast("passcode");
    for (const one of [ann, bob]) await one.send("passcode", { method: "POST", body: { passcode: PASSCODE } });
    await ann.say("inside");
    expect((await feedsOf([ann, bob, owner])).size).toBe(3);
  });
  test("c_… differs by viewer, and says so", async () => {
    const { ann } = await cast();
    const { headers } = await ann.send(await ann.say("hi"));
    expect(headers.get("vary")).toBe("Accept, Cookie");
    expect(headers.get("cache-control")).toBe("private, no-cache");
    expect(headers.get("allow")).toBe("GET, HEAD, OPTIONS, PUT, DELETE");
  });
});
