/** COMMENTS, ruling 11, and RFC 9110 13.1.1: which state of a comment a change is meant for, and what names that state. */
import { describe, expect, test } from "bun:test";
import { sharedServer } from "../kit/shared.ts";
import { visitorOf } from "../kit/visitor.ts";
import { CommentedSite, commentedSite, FREELY } from "./commented.ts";

const server = await sharedServer(FREELY);

/** Of a comment as it was first written, which is `"a1"`. */
const REFUSED = [
  '"a7"',
  'W/"a1"',
  "a1",
  '"A1"',
  '"a01"',
  '"b1"',
  '"a1',
  "",
  ",",
  '"a2", "a3"',
  'W/"a1", "a2"',
  '*, "a2"',
];
const HONOURED = ['"a1"', "*", ' "a1" ', '"a7", "a1"', '"x,y" ,W/"a9","a1", "a2"', ', "a1"'];

async function owned() {
  const person = await visitorOf(server);
  const place = new CommentedSite(server, await person.deploy({ "index.html": "<p>x</p>", "guide.html": "<p>y</p>" }));
  await place.turn("anonymous");
  return { place, session: person.person.bearer };
}

describe("If-Match", () => {
  test("on PUT: a list of tags, of which a strong one must be the comment's; a star is any; without it 428", async () => {
    const place = await commentedSite(server);
    const ann = place.visitor();
    const put = (id: string, headers: Record<string, string>) =>
      ann.send(id, { method: "PUT", body: ann.annotation("changed", "x"), headers });
    const id = await ann.say("first");
    for (const tag of REFUSED) {
      const { status, body } = await put(id, { "if-match": tag });
      expect([tag, status, body.code]).toEqual([tag, 412, "changed"]);
    }
    expect((await put(id, {})).body.code).toBe("if_match_required");
    for (const tag of HONOURED)
      expect([tag, (await put(await ann.say(tag), { "if-match": tag })).status]).toEqual([tag, 200]);
  });

  test("on DELETE it is honoured where it is sent, by an author and by an owner's cookie", async () => {
    const place = await commentedSite(server);
    const [ann, owner] = [place.visitor(), await place.accountOwner()];
    for (const who of [ann, owner]) {
      const id = await ann.say("first");
      for (const tag of REFUSED) {
        const { status, body } = await who.send(id, { method: "DELETE", headers: { "if-match": tag } });
        expect([tag, status, body.code]).toEqual([tag, 412, "changed"]);
      }
    }
    for (const tag of HONOURED) {
      const { status } = await ann.send(await ann.say(tag), { method: "DELETE", headers: { "if-match": tag } });
      expect([tag, status]).toEqual([tag, 204]);
    }
  });

  test("on DELETE by a session on the API's host, too; another site's comment stays 404", async () => {
    const [{ place, session }, other] = [await owned(), await owned()];
    const ann = place.visitor();
    const remove = (id: string, tag: string, at = place, who = session) =>
      at.api(id, { method: "DELETE", headers: { ...who, "if-match": tag } });
    const id = await ann.say("first");
    for (const tag of REFUSED) {
      const { status, body } = await remove(id, tag);
      expect([tag, status, body.code]).toEqual([tag, 412, "changed"]);
    }
    expect((await remove(id, '"a1"', other.place, other.session)).status).toBe(404);
    await ann.edit(id, "second");
    expect((await remove(id, '"a1"')).status).toBe(412);
    expect((await remove(id, '"a2"')).status).toBe(204);
    expect((await ann.send(id)).status).toBe(410);
  });
});

describe("ruling 4: a name that strangers do not see yet is part of the tag for those who do", () => {
  test("one's own annotation has another tag after a rename in approved mode, and strangers' has not", async () => {
    const place = await commentedSite(server, "approved");
    const [ann, owner, stranger] = [place.visitor(), await place.owner(), place.visitor()];
    const id = await ann.say("shown");
    await place.decide(id, "approve");
    const waiting = await ann.say("waits");
    const seen = async (who: typeof ann, of: string, tag?: string) => {
      const { status, headers, body } = await who.send(of, {
        headers: tag === undefined ? {} : { "if-none-match": tag },
      });
      return { status, tag: headers.get("etag")!, name: body?.creator.nickname };
    };
    const before = { own: await seen(ann, id), waits: await seen(ann, waiting), out: await seen(stranger, id) };
    await ann.send("me", { method: "PATCH", body: { name: "Renamed" } });
    for (const [who, of, was] of [
      [ann, id, before.own],
      [ann, waiting, before.waits],
      [owner, id, before.own],
      [owner, waiting, before.waits],
    ] as const) {
      const now = await seen(who, of, was.tag);
      expect(now).toMatchObject({ status: 200, name: "Renamed" });
      expect(now.tag).not.toBe(was.tag);
      expect((await seen(who, of, now.tag)).status).toBe(304);
    }
    expect(await seen(stranger, id, before.out.tag)).toMatchObject({ status: 304 });
    expect(await seen(stranger, id)).toEqual(before.out);
  });

  test("no tag ever names two states: renamed, approved, renamed back, in either mode", async () => {
    for (const mode of ["approved", "anonymous"] as const) {
      const place = await commentedSite(server, mode);
      const [ann, stranger] = [place.visitor(), place.visitor()];
      const [id, waiting] = [await ann.say("one"), await ann.say("two https://a.b https://c.d https://e.f")];
      await place.decide(id, "approve");
      const states = new Map<string, string>();
      const look = async () => {
        for (const who of [ann, stranger]) {
          for (const of of [id, waiting]) {
            const { status, headers, text } = await who.send(of);
            if (status !== 200) continue;
            const key = `${of} ${headers.get("etag")}`;
            expect(states.get(key) ?? text).toBe(text);
            states.set(key, text);
          }
        }
      };
      for (const name of ["Bee", "Cee", "Bee", "Dee"]) {
        await ann.send("me", { method: "PATCH", body: { name } });
        await look();
        if (name !== "Cee") await place.decide(id, "approve");
        await look();
      }
      expect(states.size).toBeGreaterThan(6);
    }
  });

  test("the author changes and deletes by the tag that they see, and by no older one", async () => {
    const place = await commentedSite(server, "approved");
    const ann = place.visitor();
    const id = await ann.say("shown");
    await place.decide(id, "approve");
    const old = (await ann.send(id)).headers.get("etag")!;
    await ann.send("me", { method: "PATCH", body: { name: "Renamed" } });
    const put = (tag: string) =>
      ann.send(id, { method: "PUT", body: ann.annotation("changed", "x"), headers: { "if-match": tag } });
    expect((await put(old)).status).toBe(412);
    const changed = await put((await ann.threads()).threads[0].comments[0].etag);
    expect(changed.status).toBe(200);
    const headers = { "if-match": changed.headers.get("etag")! };
    expect((await ann.send(id, { method: "DELETE", headers })).status).toBe(204);
  });
});
