/** The abuse tests of COMMENTS 4 about what somebody may learn or touch that is not theirs: pending posts, other sites,
 *  other people's, forged cursors, shared caches. */
import { describe, expect, test } from "bun:test";
import { sharedServer } from "../kit/shared.ts";
import { type Answered, commentedSite, FREELY, PASSCODE, type Visitor } from "./commented.ts";

const server = await sharedServer(FREELY);

/** Every route that a stranger may read, with its headers but for what differs from request to request. */
async function allThatIsSeen(who: Visitor, ids: readonly string[], cursor: string): Promise<Record<string, string>> {
  const paths = [
    "",
    "threads?page=/guide.html",
    `threads?page=/guide.html&since=${cursor}`,
    "view?page=/guide.html",
    "feed.json",
    "feed.json?source=/guide.html",
    "feed.json?page=0",
    "feed.json?page=1",
    "/comments.json",
    "/comments.json?page=0",
    "/guide.comments.json",
    "/guide.comments.json?page=0",
    "/guide.html",
    "/",
    "queue",
    "me",
    ...ids,
    ...ids.map((id) => `${id}/history`),
  ];
  const seen: Record<string, string> = {};
  for (const path of paths) {
    const { status, headers, text } = await who.send(path);
    const stable = [...headers].filter(([name]) => !/^(?:date|x-request-id|age)$/.test(name));
    const body = text.replace(/req_\w+/g, "req").replace(/name="stamp" value="[^"]*"/g, "");
    seen[path] = `${status} ${JSON.stringify(stable)} ${body}`;
  }
  return seen;
}

describe("(4) a pending post is nowhere for a stranger, byte by byte", () => {
  test("neither the post, its edit, a reply to it, its renaming, its report nor its deletion changes any answer", async () => {
    const place = await commentedSite(server, "approved");
    const [ann, bob, stranger, owner] = [place.visitor(), place.visitor(), place.visitor(), await place.owner()];
    const shown = await bob.say("an approved one");
    await place.decide(shown, "approve");
    const { cursor } = await stranger.threads();
    let pending = "c_none";
    const look = () => allThatIsSeen(stranger, ["c_none", shown], cursor);
    const before = await look();

    const steps: Record<string, () => Promise<unknown>> = {
      post: async () => (pending = await ann.say("SECRETWORD")),
      "reply to the public one": () => ann.reply("SECRETWORD too", shown),
      edit: () => ann.edit(pending, "SECRETWORD edited"),
      "owner's answer": () => owner.reply("SECRETWORD seen", pending),
      rename: () => ann.send("me", { method: "PATCH", body: { name: "SECRETWORD name" } }),
      report: () => bob.send(`${pending}/report`, { method: "POST", body: { reason: "spam" } }),
      resolve: () => place.decide(pending, "resolve"),
      reject: () => place.decide(pending, "reject"),
      "another post": () => ann.say("SECRETWORD again"),
      erase: () => ann.send("me", { method: "DELETE" }),
    };
    for (const [name, step] of Object.entries(steps)) {
      await step();
      const after = await look();
      expect([name, after]).toEqual([name, before]);
      expect((await stranger.send(pending)).text.replace(/req_\w+/, "")).toBe(
        (await stranger.send("c_none")).text.replace(/req_\w+/, ""),
      );
    }
    expect(JSON.stringify(await look())).not.toContain("SECRETWORD");
  });

  test("of one that was public and waits again, further edits, reports and decisions change no answer", async () => {
    const place = await commentedSite(server, "approved");
    const [ann, stranger] = [place.visitor(), place.visitor()];
    const [root, other] = [await ann.say("was public"), await ann.say("stays public")];
    for (const id of [root, other]) await place.decide(id, "approve");
    const reply = await ann.reply("an answer", root);
    await place.decide(reply, "approve");
    await ann.edit(root, "SECRETWORD");
    const { cursor } = await stranger.threads();
    const look = () => allThatIsSeen(stranger, [root, reply, other], cursor);
    const before = await look();
    const steps: Record<string, () => Promise<unknown>> = {
      edit: () => ann.edit(root, "SECRETWORD again"),
      "edit of the reply": () => ann.edit(reply, "SECRETWORD below"),
      report: () => ann.send(`${root}/report`, { method: "POST", body: { reason: "spam" } }),
      resolve: () => place.decide(root, "resolve"),
      reject: () => place.decide(root, "reject"),
    };
    for (const [name, step] of Object.entries(steps)) {
      await step();
      expect([name, await look()]).toEqual([name, before]);
    }
  });

  test("the cursor of a later public change tells nothing of what was pending before it", async () => {
    const [quiet, busy] = [await commentedSite(server, "approved"), await commentedSite(server, "approved")];
    for (let i = 0; i < 5; i++) await busy.visitor().say(`pending ${i}`);
    for (const place of [quiet, busy]) await (await place.owner()).say("public");
    const [one, two] = [await quiet.visitor().threads(), await busy.visitor().threads()];
    expect(one.cursor).toMatch(/^[\w-]{22}$/);
    expect(one.cursor).not.toBe(two.cursor);
    expect(JSON.stringify(two.threads)).not.toContain("pending");
  });

  test("a mode that hides makes no difference to counts, total, modified and ETag", async () => {
    const place = await commentedSite(server, "approved");
    const ann = place.visitor();
    const of = async (path: string) => {
      const { body, headers } = await place.visitor().send(path);
      return [body.total, body.modified, headers.get("etag")];
    };
    const empty = [await of("/comments.json"), await of("")];
    expect(empty[0]!.slice(0, 2)).toEqual([0, undefined]);
    await ann.say("x");
    expect([await of("/comments.json"), await of("")]).toEqual(empty);
  });
});

const codeOf = ({ status, body }: Answered): string => `${status} ${body?.code}`;

describe("(6) reply, report, approve across sites", () => {
  test("an id of one site is none on another", async () => {
    const [one, two] = [await commentedSite(server), await commentedSite(server)];
    const [ann, bob, owner] = [one.visitor(), two.visitor(), await two.accountOwner()];
    const id = await ann.say("on one");
    expect(codeOf(await bob.answer("from two", id))).toBe("422 unknown_thread");
    const absolute = { target: `${one.origin}/_svc/comments/${id}`, body: { value: "x" } };
    expect((await bob.send("", { method: "POST", body: absolute })).status).toBe(422);
    expect((await bob.send(id)).status).toBe(404);
    expect((await bob.send(`${id}/report`, { method: "POST", body: { reason: "spam" } })).status).toBe(202);
    for (const action of ["approve", "reject", "resolve", "reopen"]) {
      expect(codeOf(await owner.send(`${id}/${action}`, { method: "POST" }))).toBe("404 not_found");
    }
    expect((await owner.send(id, { method: "DELETE" })).status).toBe(404);
    expect((await one.api("queue?state=reported")).body.items).toEqual([]);
    expect(await ann.texts()).toEqual(["on one"]);
  });
  test("an owner's code opens its own site alone", async () => {
    const [one, two] = [await commentedSite(server), await commentedSite(server)];
    const { body } = await one.api("owner-code", { method: "POST", body: {} });
    const wrong = await two.visitor().send("owner", { method: "POST", body: { code: body.code } });
    expect(codeOf(wrong)).toBe("401 invalid_code");
    expect((await one.visitor().send("owner", { method: "POST", body: { code: body.code } })).status).toBe(204);
  });
});

describe("(7) an author and another's post", () => {
  test("edits, deletes and decides nothing of it; of a pending one there is nothing", async () => {
    const place = await commentedSite(server);
    const [ann, bob] = [place.visitor(), place.visitor()];
    await bob.say("bob's");
    const id = await ann.say("ann's");
    expect(codeOf(await bob.edit(id, "bob's words"))).toBe("403 forbidden");
    expect(codeOf(await bob.send(id, { method: "DELETE" }))).toBe("403 forbidden");
    for (const action of ["approve", "reject", "resolve", "reopen"]) {
      expect((await bob.send(`${id}/${action}`, { method: "POST" })).status).toBe(401);
    }
    await place.turn("approved");
    const hidden = await ann.say("hidden");
    expect(codeOf(await bob.edit(hidden, "x"))).toBe("404 not_found");
    expect(codeOf(await bob.send(hidden, { method: "DELETE" }))).toBe("404 not_found");
    expect(await ann.texts()).toEqual(["bob's", "ann's", "hidden"]);
  });
});

describe("(14) since: forged, of the future, of another site, page or viewer", () => {
  test("each gives the whole list, and never more than the viewer may see", async () => {
    const [place, other] = [await commentedSite(server, "approved"), await commentedSite(server, "approved")];
    const [ann, stranger, owner] = [place.visitor(), place.visitor(), await place.owner()];
    await place.decide(await ann.say("shown"), "approve");
    await ann.say("hidden");
    await place.decide(await other.visitor().say("there"), "approve");
    const whole = (await stranger.threads()).threads;
    const cursors = [
      "",
      "x",
      "A".repeat(22),
      "9".repeat(5000),
      "-1",
      "%00",
      (await other.visitor().threads()).cursor,
      (await stranger.threads("/docs/")).cursor,
      (await owner.threads()).cursor,
      (await ann.threads()).cursor,
    ];
    for (const cursor of cursors) {
      const { threads, gone } = await stranger.threads("/guide.html", cursor);
      expect([cursor, threads, gone]).toEqual([cursor, whole, []]);
    }
    // Not its last letter, of which some bits say nothing.
    const flipped = (await stranger.threads()).cursor.replace(/^./, (first: string) => (first === "A" ? "B" : "A"));
    expect((await stranger.threads("/guide.html", flipped)).threads).toEqual(whole);
  });
});

describe("(19) a shared cache between viewers", () => {
  /** A cache as RFC 9111 has it: by URL and what Vary names; nothing private, nothing that may not be stored. */
  function sharedCache() {
    const kept = new Map<string, { etag: string; text: string; vary: string[]; by: string }>();
    const cookieOf = (who: Visitor, vary: string[]) => (vary.includes("cookie") ? who.cookie : "");
    return async (who: Visitor, path: string): Promise<string> => {
      const known = kept.get(path);
      const fits = known && known.by === cookieOf(who, known.vary);
      const answer = await who.send(path, { headers: fits ? { "if-none-match": known.etag } : {} });
      if (answer.status === 304) return known!.text;
      const caching = answer.headers.get("cache-control") ?? "";
      const vary = (answer.headers.get("vary") ?? "").toLowerCase().split(/, */);
      const etag = answer.headers.get("etag");
      if (!/private|no-store/.test(caching) && etag) {
        kept.set(path, { etag, text: answer.text, vary, by: cookieOf(who, vary) });
      }
      return answer.text;
    };
  }
  test.each(["approved", "passcode"] as const)("in %s mode nobody gets through it what was another's", async (mode) => {
    const place = await commentedSite(server, mode);
    const [ann, stranger] = [place.visitor(), place.visitor()];
    if (mode === "passcode") await ann.send("passcode", { method: "POST", body: { passcode: PASSCODE } });
    const id = await ann.say("for her eyes");
    const through = sharedCache();
    const paths = [
      "threads?page=/guide.html",
      "",
      "/comments.json",
      "/guide.comments.json",
      id,
      "me",
      "me/export",
      "view?page=/guide.html",
    ];
    for (const path of paths) await through(ann, path);
    for (const path of paths)
      expect([path, (await through(stranger, path)).includes("her eyes")]).toEqual([path, false]);
  });
  test("an ETag of one viewer is no 304 for another", async () => {
    const place = await commentedSite(server, "approved");
    const [ann, stranger] = [place.visitor(), place.visitor()];
    await ann.say("x");
    const etag = (await ann.send("threads?page=/guide.html")).headers.get("etag")!;
    expect((await stranger.send("threads?page=/guide.html", { headers: { "if-none-match": etag } })).status).toBe(200);
  });
});
