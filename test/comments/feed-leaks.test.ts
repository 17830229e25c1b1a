/** Abuse test 4, the feeds' part (COMMENTS 4: approved mode must not leak): what waits or was rejected changes no byte of
 *  what strangers are told, no header and no tag. */
import { describe, expect, test } from "bun:test";
import { sharedServer } from "../kit/shared.ts";
import { type CommentedSite, commentedSite, FREELY, idOf, type Visitor } from "./commented.ts";
import { ANNO } from "./w3c/rule.ts";

const SECRET = "only for the owner's eyes";
const PATHS = [
  "/comments.json",
  "/comments.json?page=0",
  "/comments.json?page=1",
  "/comments.json?iris=1",
  "/guide.comments.json",
  "/guide.comments.json?page=0",
  "/index.comments.json",
  "/docs.comments.json",
  "/_svc/comments/feed.json",
  "/_svc/comments/feed.json?source=/guide.html",
  "/_svc/comments/",
  "/guide.html",
];
const ACCEPTED = ["*/*", `application/ld+json; profile="${ANNO}"`];

/** What differs between any two answers. */
const PASSING = new Set(["date", "x-request-id"]);

/** Everything that a stranger is told: bodies, statuses and headers. */
async function told(place: CommentedSite, publics: readonly string[]): Promise<string> {
  const answers: unknown[] = [];
  for (const path of [...PATHS, ...publics.map((id) => `/_svc/comments/${id}`)]) {
    for (const accept of ACCEPTED) {
      const { status, headers, text } = await place.visitor().send(path, { headers: { accept } });
      const kept = [...headers].filter(([name]) => !PASSING.has(name));
      // A refusal tells the request's own id.
      answers.push([path, accept, status, kept, status === 200 ? text : JSON.parse(text).code]);
    }
  }
  return JSON.stringify(answers, null, 1);
}

/** A 304 for every tag that a stranger holds. */
async function unchanged(place: CommentedSite, tags: ReadonlyMap<string, string>): Promise<void> {
  for (const [path, etag] of tags) {
    const { status } = await place.visitor().send(path, { headers: { "if-none-match": etag } });
    expect([path, status]).toEqual([path, 304]);
  }
}

async function tagsOf(place: CommentedSite): Promise<Map<string, string>> {
  const tags = new Map<string, string>();
  for (const path of PATHS) {
    const etag = (await place.visitor().send(path)).headers.get("etag");
    if (etag !== null) tags.set(path, etag);
  }
  return tags;
}

const server = await sharedServer(FREELY);

interface Scene {
  place: CommentedSite;
  ann: Visitor;
  owner: Visitor;
  /** What strangers see: Ann's thread, and the owner's answer. */
  publics: [root: string, reply: string];
}

async function scene(): Promise<Scene> {
  const place = await commentedSite(server, "approved");
  const [ann, owner] = [place.visitor(), await place.accountOwner()];
  const root = await ann.say("approved by the owner");
  await place.decide(root, "approve");
  return { place, ann, owner, publics: [root, await owner.reply("by the owner", root)] };
}

describe("abuse test 4: what strangers are told is the same to the byte after", () => {
  const waiting = ({ ann }: Scene): Promise<string> => ann.say(SECRET);
  const patch = (name: string) => ({ method: "PATCH", body: { name } });

  test.each<[string, (scene: Scene) => Promise<unknown>]>([
    ["a thread that waits", waiting],
    ["a thread that waits on a page without others", ({ ann }) => ann.say(SECRET, "/")],
    ["a reply that waits", ({ ann, publics }) => ann.reply(SECRET, publics[0])],
    [
      "a hundred threads that wait",
      async ({ place }) => {
        for (let n = 0; n < 100; n++) await place.visitor().say(`${SECRET} ${n}`);
      },
    ],
    ["the owner's answer to one that waits", async (it) => it.owner.reply(SECRET, await waiting(it))],
    ["one that waits and is edited", async (it) => it.ann.edit(await waiting(it), `${SECRET}, again`)],
    ["one that waits and is taken back", async (it) => it.ann.send(await waiting(it), { method: "DELETE" })],
    ["one that is rejected", async (it) => it.place.decide(await waiting(it), "reject", SECRET)],
    [
      "one that is rejected twice, and deleted by the owner",
      async (it) => {
        const id = await waiting(it);
        for (const action of ["reject", "reject"]) await it.place.decide(id, action);
        expect((await it.owner.send(id, { method: "DELETE" })).status).toBe(204);
      },
    ],
    ["one that waits and is resolved", async (it) => it.place.decide(await waiting(it), "resolve")],
    ["a new name, until something of theirs is approved", ({ ann }) => ann.send("me", patch("Not Yet Approved"))],
    [
      "a report",
      ({ place, publics }) =>
        place.visitor().send(`${publics[0]}/report`, { method: "POST", body: { reason: "spam", text: SECRET } }),
    ],
    ["an approval of what is public already", ({ place, publics }) => place.decide(publics[1], "approve")],
    [
      "a stranger who erases what waits of theirs",
      async ({ place }) => {
        const other = place.visitor();
        await other.say(SECRET);
        await other.send("me", { method: "DELETE" });
      },
    ],
    ["a post that is refused", ({ ann }) => ann.post("x".repeat(4001))],
  ])(
    "%s",
    async (_what, happen) => {
      const it = await scene();
      const [before, tags] = [await told(it.place, it.publics), await tagsOf(it.place)];
      await happen(it);
      await unchanged(it.place, tags);
      expect(await told(it.place, it.publics)).toBe(before);
      expect(before).not.toContain(SECRET);
    },
    60_000,
  );

  test("the check sees what does become public: an approval, to everybody alike", async () => {
    const it = await scene();
    const before = await told(it.place, it.publics);
    const id = await waiting(it);
    await it.place.decide(id, "approve");
    const after = await told(it.place, it.publics);
    expect(after).not.toBe(before);
    expect(after).toContain(SECRET);
  });
});

describe("COMMENTS, rulings 10, 11 and 16: what a feed holds", () => {
  test("it is the same for author, owner and stranger, whatever waits", async () => {
    const { place, ann, owner } = await scene();
    await ann.say(SECRET);
    for (const path of ["/comments.json", "/guide.comments.json?page=0", "/_svc/comments/"]) {
      const seen = [];
      for (const one of [ann, owner, place.visitor()]) {
        const { text, headers } = await one.send(path);
        seen.push([text, headers.get("etag"), headers.get("cache-control"), headers.get("set-cookie")]);
      }
      expect(seen[1]).toEqual(seen[0]!);
      expect(seen[2]).toEqual(seen[0]!);
    }
  });

  test("a post that waits and one that never was are the same 404", async () => {
    const { place, ann } = await scene();
    const hidden = await ann.say(SECRET);
    const missing = `c_${"z".repeat(hidden.length - 2)}`;
    const [a, b] = [await place.visitor().send(hidden), await place.visitor().send(missing)];
    expect([a.status, b.status]).toEqual([404, 404]);
    expect({ ...a.body, request_id: null }).toEqual({ ...b.body, request_id: null });
  });

  test("a reply is told only while its root is, and the count of a root has public replies alone", async () => {
    const { place, ann, publics } = await scene();
    await ann.reply(SECRET, publics[0]);
    const totals = async (): Promise<unknown[]> => {
      const { body } = await place.visitor().send("/guide.comments.json");
      return [body.total, body.orderedItems[0]?.["schema:commentCount"]];
    };
    expect(await totals()).toEqual([2, 1]);
    await place.decide(publics[0], "reject");
    expect(await totals()).toEqual([0, undefined]);
    await place.decide(publics[0], "approve");
    expect(await totals()).toEqual([2, 1]);
  });

  test("what its author deletes leaves the feed, and the replies stay", async () => {
    const { place, ann, publics } = await scene();
    expect((await ann.send(publics[0], { method: "DELETE" })).status).toBe(204);
    const { body } = await place.visitor().send("/guide.comments.json");
    expect([body.total, body.orderedItems[0].body.value]).toEqual([1, "by the owner"]);
    expect((await place.visitor().send(publics[0])).status).toBe(410);
  });

  test("a new name is told once something of theirs is approved, on the earlier ones too (ruling 4)", async () => {
    const { place, ann, publics } = await scene();
    await ann.send("me", { method: "PATCH", body: { name: "Grey Goose" } });
    const nameOf = async (): Promise<string> =>
      (await place.visitor().send(publics[0])).body.creator.nickname as string;
    const before = await nameOf();
    expect(before).not.toBe("Grey Goose");
    const id = idOf(await ann.post("another"));
    expect(await nameOf()).toBe(before);
    await place.decide(id, "approve");
    expect(await nameOf()).toBe("Grey Goose");
    const { orderedItems } = (await place.visitor().send("/comments.json")).body;
    expect(orderedItems.map(({ creator }: { creator: { nickname: string } }) => creator.nickname)).toEqual([
      "Grey Goose",
      "Owner",
      "Grey Goose",
    ]);
  });

  test("what is approved later stands where it was written", async () => {
    const { place, ann, owner } = await scene();
    const early = await ann.say("written early");
    await owner.say("written late");
    await place.decide(early, "approve");
    const { orderedItems } = (await place.visitor().send("/comments.json")).body;
    const texts = orderedItems.map(({ body }: { body: { value: string } }) => body.value);
    expect(texts.slice(-2)).toEqual(["written early", "written late"]);
  });
});
