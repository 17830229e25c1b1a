/** COMMENTS, ruling 16: a reply is public only while its root is, whoever wrote it. */
import { expect, test } from "bun:test";
import { read } from "../kit/database.ts";
import { startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { commentedSite as agentsSite } from "./agents.ts";
import { type CommentedSite, commentedSite, FREELY, idOf, type Json, type Visitor } from "./commented.ts";
import { call } from "./mcp-calls.ts";

const server = await sharedServer(FREELY);

const visibilities = async (who: Visitor): Promise<string[][]> =>
  (await who.threads()).threads.map(({ comments }: Json) => comments.map(({ visibility }: Json) => visibility));

/** A thread that waits for approval, and what its owner answered to it. */
async function answered(): Promise<{ place: CommentedSite; ann: Visitor; owner: Visitor; root: string; reply: Json }> {
  const place = await commentedSite(server, "approved");
  const [ann, owner] = [place.visitor(), await place.owner()];
  const root = await ann.say("question");
  return { place, ann, owner, root, reply: await owner.answer("answer", root) };
}

test("the owner's reply beneath a root that waits is told to wait, wherever it is told", async () => {
  const { place, ann, owner, root, reply } = await answered();
  expect([reply.status, reply.headers.get("svc-visibility")]).toEqual([201, "pending"]);
  for (const who of [ann, owner]) expect(await visibilities(who)).toEqual([["pending", "pending"]]);
  const [{ comments }] = (await place.api("threads")).body.threads;
  expect(comments.map(({ visibility }: Json) => visibility)).toEqual(["pending", "pending"]);
  expect((await owner.edit(idOf(reply), "second answer")).headers.get("svc-visibility")).toBe("pending");
  // There is nothing of it to approve: it waits for its root alone.
  expect((await place.api("queue")).body.items.map(({ id }: Json) => id)).toEqual([root]);
  await ann.send(`${idOf(reply)}/report`, { method: "POST", body: { reason: "other" } });
  expect((await place.api("queue?state=reported")).body.items).toMatchObject([{ visibility: "pending" }]);
  expect((await place.visitor().threads()).threads).toEqual([]);
});

test("with its root it becomes public, waits again, and is rejected for nobody else", async () => {
  const { place, ann, owner, root, reply } = await answered();
  const stranger = place.visitor();
  await place.decide(root, "approve");
  for (const who of [ann, owner, stranger]) expect(await visibilities(who)).toEqual([["public", "public"]]);
  await ann.edit(root, "question, again");
  for (const who of [ann, owner]) expect(await visibilities(who)).toEqual([["pending", "pending"]]);
  expect(await visibilities(stranger)).toEqual([]);
  const rejected = await place.decide(root, "reject");
  expect(rejected.body.comments.map(({ visibility }: Json) => visibility)).toEqual(["rejected", "pending"]);
  expect((await owner.send(idOf(reply))).status).toBe(404);
  await place.decide(root, "approve");
  expect(await visibilities(stranger)).toEqual([["public", "public"]]);
});

test("the author's own reply there waits in every mode, and so does an answer sent again", async () => {
  const place = await commentedSite(server, "approved");
  const ann = place.visitor();
  const root = await ann.say("question");
  await place.turn("anonymous");
  for (const status of [201, 200]) {
    const reply = await ann.answer("one more thing", root, { canonical: "urn:uuid:1" });
    expect([reply.status, reply.headers.get("svc-visibility")]).toEqual([status, "pending"]);
  }
});

test.each(["the root", "all of theirs"])(
  "a thread that strangers never saw goes as a whole when its author deletes %s: nothing of it waits for the owner",
  async (what) => {
    const { place, ann, owner, root, reply } = await answered();
    const own = await ann.reply("and one more thing", root);
    const other = await ann.say("another thread");
    await ann.send(`${own}/report`, { method: "POST", body: { reason: "other" } });
    const { cursor } = await owner.threads();
    const path = what === "the root" ? root : "me";
    expect((await ann.send(path, { method: "DELETE" })).status).toBe(204);
    const left = what === "the root" ? [other] : [];
    for (const state of ["pending", "reported"]) {
      const { items } = (await place.api(`queue?state=${state}`)).body;
      expect(items.map(({ id }: Json) => id)).toEqual(state === "pending" ? left : []);
    }
    expect((await place.api("threads")).body.threads.map(({ id }: Json) => id)).toEqual(left);
    const since = await owner.threads("/guide.html", cursor);
    expect(since.gone).toEqual(expect.arrayContaining([root, idOf(reply), own]));
    for (const id of [root, idOf(reply), own]) {
      expect((await owner.send(id)).status).toBe(404);
      expect((await place.decide(id, "approve")).status).toBe(404);
    }
    const rows = read<{ n: number }>(
      server.data_dir,
      "select count(*) as n from comments where site_id = ? and text is not null",
      place.site.site_id,
    );
    expect(rows).toEqual([{ n: left.length }]);
  },
);

test("a reply beneath a gap is public", async () => {
  const place = await commentedSite(server);
  const [ann, owner] = [place.visitor(), await place.owner()];
  const root = await ann.say("question");
  await owner.reply("answer", root);
  await ann.send(root, { method: "DELETE" });
  expect(await visibilities(place.visitor())).toEqual([["public", "public"]]);
  expect((await owner.answer("more", root)).headers.get("svc-visibility")).toBeNull();
});

test("an agent's, too, where it may see what waits", async () => {
  await using own = await startServer(FREELY, { SVC_MCP: "on" });
  const site = await agentsSite(own, "approved");
  const { id } = await site.comment("question");
  const token = await site.token(["read", "reply", "see_pending"]);
  const said = await call(site, token, "reply", { thread_id: id, text: "answer", request_id: "1" });
  expect(said.structuredContent!.comment.visibility).toBe("pending");
  await site.decide(id, "approve");
  const { structuredContent } = await call(site, token, "get_thread", { thread_id: id });
  expect(structuredContent!.comments.map(({ visibility }: Json) => visibility)).toEqual(["public", "public"]);
});
