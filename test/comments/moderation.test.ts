/** COMMENTS 2 and rulings 3, 6, 11, 12, 20: what owners decide, on both hosts, and who else may not. */
import { describe, expect, test } from "bun:test";
import { bearer, signUp } from "../kit/people.ts";
import { sharedServer } from "../kit/shared.ts";
import { visitorOf } from "../kit/visitor.ts";
import { CommentedSite, commentedSite, FREELY, type Json } from "./commented.ts";

const server = await sharedServer(FREELY);

const ACTIONS = ["approve", "reject", "resolve", "reopen"];

/** A site of an account, with its session. */
async function owned() {
  const person = await visitorOf(server);
  const site = await person.deploy({ "index.html": "<p>x</p>", "guide.html": "<p>y</p>" });
  const place = new CommentedSite(server, site);
  await place.turn("anonymous");
  return { place, session: person.person.bearer };
}

describe("COMMENTS 2: decisions", () => {
  test("on both hosts alike: 200 with the thread, and the same again", async () => {
    const place = await commentedSite(server, "approved");
    const [ann, owner] = [place.visitor(), await place.owner()];
    const id = await ann.say("hello");
    for (const action of ["approve", "resolve", "reopen", "reject", "approve"]) {
      const first = await owner.send(`${id}/${action}`, { method: "POST" });
      const again = await place.decide(id, action);
      expect([action, first.status, again.status]).toEqual([action, 200, 200]);
      const { mine: _, ...shown } = first.body.comments[0];
      expect(again.body).toMatchObject({ id, status: first.body.status, comments: [shown] });
    }
  });

  test("are written down once each, with who and why, for the owner alone", async () => {
    const place = await commentedSite(server, "approved");
    const ann = place.visitor();
    const id = await ann.say("hello");
    await place.decide(id, "approve");
    await place.decide(id, "resolve", "fixed in the last deploy");
    await place.decide(id, "resolve");
    const { body, headers } = await place.api(`${id}/history`);
    expect(headers.get("content-type")).toStartWith("application/ld+json");
    const lines = body.first.items.map((one: Json) => [one.motivation, one.body.value ?? one.body[0]?.value]);
    expect(lines).toEqual([
      ["moderating", "approved"],
      ["moderating", "resolved"],
    ]);
    expect((await ann.send(`${id}/history`)).status).toBe(404);
    expect((await place.api("c_none/history")).status).toBe(404);
  });

  test("a thread whose first comment is a gap can be resolved, reopened and deleted, and not approved", async () => {
    const place = await commentedSite(server);
    const [ann, bob, owner, stranger] = [place.visitor(), place.visitor(), await place.accountOwner(), place.visitor()];
    const root = await ann.say("question");
    const reply = await bob.reply("answer", root);
    expect((await ann.send(root, { method: "DELETE" })).status).toBe(204);
    const resolved = await place.decide(root, "resolve");
    expect([resolved.status, resolved.body.status]).toEqual([200, "resolved"]);
    expect((await stranger.threads()).threads).toMatchObject([{ id: root, status: "resolved" }]);
    const reopened = await owner.send(`${root}/reopen`, { method: "POST" });
    expect([reopened.status, reopened.body.status]).toEqual([200, "open"]);
    for (const action of ["approve", "reject"]) expect((await place.decide(root, action)).status).toBe(404);
    const { cursor } = await stranger.threads();
    expect((await owner.send(root, { method: "DELETE" })).status).toBe(204);
    const after = await stranger.threads("/guide.html", cursor);
    expect([after.threads, after.gone.toSorted()]).toEqual([[], [root, reply].toSorted()]);
    expect((await place.decide(root, "resolve")).status).toBe(404);
  });

  test("a note is a string of at most 1,000 characters", async () => {
    const place = await commentedSite(server);
    const id = await place.visitor().say("x");
    for (const note of [7, "x".repeat(1001)]) {
      const { status } = await place.api(`${id}/resolve`, { method: "POST", body: { note } });
      expect(status).toBe(400);
    }
  });
});

describe("COMMENTS 2: queue", () => {
  test("pending and reported, newest first, with the reports; approving settles them", async () => {
    const place = await commentedSite(server, "approved");
    const [ann, owner] = [place.visitor(), await place.owner()];
    const [one, two] = [await ann.say("one"), await ann.say("two")];
    await ann.send(`${one}/report`, { method: "POST", body: { reason: "privacy", text: "my address" } });
    const pending = await owner.send("queue?state=pending");
    expect(pending.headers.get("cache-control")).toBe("private, no-cache");
    expect(pending.body.items.map(({ id }: { id: string }) => id)).toEqual([two, one]);
    const reported = (await place.api("queue?state=reported")).body;
    expect(reported.items).toMatchObject([
      {
        id: one,
        thread_id: one,
        page: "/guide.html",
        text: "one",
        reports: [{ reason: "privacy", text: "my address" }],
      },
    ]);
    await place.decide(one, "approve");
    expect((await place.api("queue?state=reported")).body.items).toEqual([]);
    expect((await place.api("queue")).body.items).toHaveLength(1);
  });

  test("goes on page by page; another list's cursor, or an unknown state, is 400", async () => {
    const place = await commentedSite(server, "approved");
    const ann = place.visitor();
    for (let i = 0; i < 53; i++) await ann.say(`number ${i}`);
    const first = (await place.api("queue")).body;
    const second = (await place.api(`queue?cursor=${first.next_cursor}`)).body;
    expect([first.items.length, second.items.length, second.next_cursor]).toEqual([50, 3, null]);
    expect((await place.api(`queue?state=reported&cursor=${first.next_cursor}`)).status).toBe(400);
    expect((await place.api("queue?state=all")).status).toBe(400);
    const threads = (await place.api("threads?page=/guide")).body;
    const rest = (await place.api(`threads?page=/guide&cursor=${threads.next_cursor}`)).body;
    expect([threads.threads.length, rest.threads.length]).toEqual([50, 3]);
  });
});

describe("COMMENTS 2: GET threads on the API's host", () => {
  test("has those that wait, and is narrowed by page and status", async () => {
    const place = await commentedSite(server, "approved");
    const ann = place.visitor();
    const [guide, root] = [await ann.say("on the guide"), await ann.say("on the start", "/")];
    await place.decide(root, "resolve");
    const idsAt = async (query: string) =>
      (await place.api(`threads${query}`)).body.threads.map(({ id }: { id: string }) => id);
    expect(await idsAt("")).toEqual([root, guide]);
    expect(await idsAt("?page=/guide.html")).toEqual([guide]);
    expect(await idsAt("?status=resolved")).toEqual([root]);
    expect(await idsAt("?status=open&page=/")).toEqual([]);
    expect((await place.api("threads?status=closed")).status).toBe(400);
  });
  test("of a page that is gone still has its threads", async () => {
    const place = await commentedSite(server);
    await place.visitor().say("remember me");
    await server.redeploy(place.site, { "index.html": "only this" });
    expect((await place.api("threads?page=/guide.html")).body.threads).toHaveLength(1);
  });

  test("a page of long threads ends before the 50th, and the next one goes on behind it", async () => {
    const place = await commentedSite(server);
    const ann = place.visitor();
    const long = (n: number) => `${n} ${"é".repeat(4000)}`.slice(0, 4000);
    const written: string[] = [];
    for (const page of ["/index.html", "/guide.html", "/docs/index.html"]) {
      const id = await ann.say(long(0), page);
      for (let n = 1; n < 80; n++) await ann.reply(long(n), id);
      written.unshift(id);
    }
    const pages: string[][] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const { threads, next_cursor }: Json = (await place.api(`threads${cursor && `?cursor=${cursor}`}`)).body;
      pages.push(threads.map(({ id }: { id: string }) => id));
      cursor = next_cursor;
    }
    expect([pages.flat(), pages.length]).toEqual([written, 2]);
  });
});

describe("COMMENTS, ruling 6: who may on the API's host", () => {
  const ROUTES = [
    ["GET", "settings"],
    ["PATCH", "settings"],
    ["POST", "owner-code"],
    ["POST", "tokens"],
    ["GET", "tokens"],
    ["DELETE", "tokens/agent_x"],
    ["GET", "threads"],
    ["GET", "queue"],
    ...ACTIONS.map((action) => ["POST", `c_x/${action}`]),
    ["DELETE", "c_x"],
    ["GET", "c_x/history"],
  ] as const;

  test("the site's manage_token and its owner's session; nobody else on any route", async () => {
    const { place, session } = await owned();
    const [stranger, other] = [await signUp(server), await commentedSite(server)];
    const credentials: [string, Record<string, string>, number][] = [
      ["nobody", {}, 401],
      ["another site's token", bearer(other.site.manage_token), 401],
      ["another account", stranger.bearer, 403],
      ["nonsense", bearer("fau_x"), 401],
    ];
    for (const [method, path] of ROUTES) {
      const body = method === "GET" || method === "DELETE" ? undefined : {};
      for (const [who, headers, status] of credentials) {
        const refused = await place.api(path!, { method: method!, headers, ...(body && { body }) });
        expect([method, path, who, refused.status]).toEqual([method, path, who, status]);
      }
      for (const headers of [bearer(place.site.manage_token), session]) {
        const { status } = await place.api(path!, { method: method!, headers, ...(body && { body }) });
        expect([method, path, [401].includes(status)]).toEqual([method, path, false]);
      }
    }
  });

  test("a manage_token rejects and never deletes; a session deletes", async () => {
    const { place, session } = await owned();
    const id = await place.visitor().say("x");
    const refused = await place.api(id, { method: "DELETE" });
    expect([refused.status, refused.body.code]).toEqual([403, "forbidden"]);
    expect((await place.decide(id, "reject")).status).toBe(200);
    expect((await place.api(id, { method: "DELETE", headers: session })).status).toBe(204);
  });

  test("an id of another site is 404", async () => {
    const [one, two] = [await commentedSite(server), await commentedSite(server)];
    const id = await one.visitor().say("of one");
    for (const action of ACTIONS) expect((await two.decide(id, action)).status).toBe(404);
    expect((await two.api(`${id}/history`)).status).toBe(404);
  });
});

describe("COMMENTS 2: tokens", () => {
  test("are shown once, listed without their secret, and revoked", async () => {
    const place = await commentedSite(server);
    const made = await place.api("tokens", { method: "POST", body: { name: "docs-bot", scopes: ["reply", "read"] } });
    expect([made.status, made.headers.get("cache-control")]).toEqual([201, "no-store"]);
    expect(made.body).toMatchObject({
      name: "docs-bot",
      scopes: ["read", "reply"],
      token: expect.stringMatching(/^fau_[\w-]{43}$/),
    });
    const days = (Date.parse(made.body.expires_at) - server.now()) / 86_400_000;
    expect(days).toBeWithin(89.9, 90.1);
    const listed = await place.api("tokens");
    expect([listed.body.tokens.length, listed.text.includes(made.body.token)]).toEqual([1, false]);
    expect(listed.body.tokens[0]).toMatchObject({ token_id: made.body.token_id, last_used_at: null });
    expect((await place.api(`tokens/${made.body.token_id}`, { method: "DELETE" })).status).toBe(204);
    expect((await place.api(`tokens/${made.body.token_id}`, { method: "DELETE" })).status).toBe(404);
    expect((await place.api("tokens")).body.tokens).toEqual([]);
  });
  test.each([
    { name: "x" },
    { name: "x", scopes: [] },
    { name: "x", scopes: ["approve"] },
    { name: "", scopes: ["read"] },
    { name: "a\u202eb", scopes: ["read"] },
    { name: "x", scopes: ["read"], expires_in_days: 91 },
    { name: "x", scopes: ["read"], expires_in_days: 0.5 },
  ])("%j is 400", async (body) => {
    const place = await commentedSite(server);
    expect((await place.api("tokens", { method: "POST", body })).status).toBe(400);
  });
});

describe("COMMENTS, rulings 3 and 20: moderation on the site's host", () => {
  test("without a valid owner cookie is 401 unauthorized", async () => {
    const place = await commentedSite(server);
    const ann = place.visitor();
    const id = await ann.say("x");
    for (const action of ACTIONS) {
      const { status, body } = await ann.send(`${id}/${action}`, { method: "POST" });
      expect([action, status, body.code]).toEqual([action, 401, "unauthorized"]);
    }
    expect((await ann.send("queue")).body.code).toBe("unauthorized");
    const owner = await place.owner();
    const foreign = (await commentedSite(server)).visitor();
    foreign.cookies.set("svc_cmt_own", owner.value("svc_cmt_own"));
    expect((await foreign.send("queue")).status).toBe(401);
  });
});
