/** The abuse tests of COMMENTS 4 about bodies, floods and states: nothing is stored that should not be, nothing is lost. */
import { describe, expect, test } from "bun:test";
import { count } from "../kit/database.ts";
import { sharedServer } from "../kit/shared.ts";
import { commentedSite, FREELY, PAGES, type Visitor } from "./commented.ts";

const server = await sharedServer(FREELY);

const JSON_TYPE = { "content-type": "application/json" };
const POSTS: readonly (readonly [method: string, path: string])[] = [
  ["POST", ""],
  ["PUT", "c_x"],
  ["DELETE", "c_x"],
  ["PATCH", "me"],
  ["DELETE", "me"],
  ["POST", "view"],
  ["POST", "c_x/approve"],
  ["POST", "c_x/reject"],
  ["POST", "c_x/resolve"],
  ["POST", "c_x/reopen"],
];

describe("(8) frozen", () => {
  test("every write is 403 site_frozen and stores nothing, a report is 202", async () => {
    const place = await commentedSite(server);
    const ann = place.visitor();
    const id = await ann.say("x");
    server.freeze(place.site);
    const rows = () => ["comments", "threads", "comment_people", "comment_events"].map((table) => server.rows(table));
    const before = rows();
    for (const [method, path] of POSTS) {
      const body = path === "view" ? new URLSearchParams({ page: "/guide.html", text: "x" }) : {};
      const answer = await ann.send(path.replace("c_x", id), { method, body });
      expect([path, answer.status, answer.body?.code]).toEqual([path, 403, "site_frozen"]);
    }
    expect(rows()).toEqual(before);
    expect((await ann.send(`${id}/report`, { method: "POST", body: { reason: "abuse" } })).status).toBe(202);
  });
});

describe("(9) expired and disabled", () => {
  test.each([
    ["expired", 410, "site_expired"],
    ["disabled", 451, "site_disabled"],
  ])("%s: %i %s on every path below /_svc too", async (what, status, code) => {
    const place = await commentedSite(server);
    const ann = place.visitor();
    const id = await ann.say("x");
    if (what === "expired") server.expire(place.site);
    else server.disable(place.site, "spam");
    const reads = [
      "",
      "threads?page=/",
      "me",
      "me/export",
      "queue",
      "view",
      "feed.json",
      id,
      "/comments.json",
      "/guide.comments.json",
    ];
    const asked = [
      ...reads.map((path) => ["GET", path] as const),
      ...POSTS,
      ["POST", `${id}/report`] as const,
      ["POST", "passcode"] as const,
    ];
    for (const [method, path] of [...asked, ["GET", "/_svc/c.js"] as const]) {
      const answer = await ann.send(path, { method });
      expect([method, path, answer.status, answer.body?.code]).toEqual([method, path, status, code]);
    }
  });
});

describe("(10) bodies", () => {
  const BODIES: [string, () => string | Uint8Array, number][] = [
    ["17 KiB", () => JSON.stringify({ body: { value: "x".repeat(17 << 10) } }), 413],
    ["1,000,000 selectors", () => `{"target":{"source":"/","selector":[${"{},".repeat(1_000_000)}{}]}}`, 413],
    [
      "200 selectors",
      () => JSON.stringify({ body: { value: "x" }, target: { source: "/", selector: Array(200).fill({}) } }),
      400,
    ],
    ["5,000 levels", () => "[".repeat(5000) + "]".repeat(5000), 400],
    ["4,000 levels inside a member", () => `{"body":${'{"a":'.repeat(2000)}1${"}".repeat(2000)}}`, 400],
    ["bytes that are no UTF-8", () => new Uint8Array([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d]), 400],
    ["a lone surrogate", () => '{"body":{"value":"a\\udc00b"},"target":"/"}', 400],
    ["a NUL", () => '{"body":{"value":"a\\u0000b"},"target":"/"}', 400],
    ["a member that is the prototype's", () => '{"__proto__":{"body":{"value":"x"}},"target":"/"}', 400],
    ["numbers for strings", () => '{"body":{"value":7},"target":9}', 400],
    ["nothing", () => "", 400],
  ];
  test.each(BODIES)("%s is refused, stores nothing and gives no identity", async (_, make, status) => {
    const place = await commentedSite(server);
    const ann = place.visitor();
    const before = count(server.data_dir, "comments");
    const answer = await ann.send("", { method: "POST", body: make(), headers: JSON_TYPE });
    expect(answer.status).toBe(status);
    expect([count(server.data_dir, "comments") - before, ann.cookie]).toEqual([0, ""]);
  });
  test("bidi controls are kept and told as they are: whoever shows them shows text", async () => {
    const place = await commentedSite(server);
    const ann = place.visitor();
    await ann.say("\u202egnp.exe\u202c");
    expect(await ann.texts()).toEqual(["\u202egnp.exe\u202c"]);
    expect((await ann.send("view?page=/guide.html")).text).toContain('<p class="said" dir="auto">');
  });
});

describe("(12) a flood of invented paths", () => {
  test("a page that is none takes no thread and leaves no row", async () => {
    const place = await commentedSite(server);
    const ann = place.visitor();
    const before = count(server.data_dir, "threads");
    for (let i = 0; i < 50; i++) expect((await ann.post("x", `/nowhere-${i}`)).status).toBe(422);
    for (let i = 0; i < 20; i++) expect((await ann.send(`threads?page=/nowhere-${i}`)).status).toBe(404);
    expect([count(server.data_dir, "threads") - before, ann.cookie]).toEqual([0, ""]);
  });
  test("on a single-page app, where every path is one, 1,000 pages take comments and no more", async () => {
    const shell = '<div id="root"></div><script type="module" src="/app.js"></script>';
    const place = await commentedSite(server, "anonymous", { "index.html": shell, "app.js": "x" });
    const ann = place.visitor();
    await ann.say("first", "/p");
    for (let i = 0; i < 999; i += 37) {
      await Promise.all(
        Array.from({ length: Math.min(37, 999 - i) }, (_, k) => ann.say(`text ${i + k}`, `/p/${i + k}`)),
      );
    }
    const refused = await ann.post("one more", "/q");
    expect([refused.status, refused.body.code]).toEqual([409, "site_full"]);
    expect((await ann.post("on a page that has some", "/p")).status).toBe(201);
    const [{ id }] = (await ann.threads("/p/7")).threads;
    await ann.send(id, { method: "DELETE" });
    expect((await ann.post("where one is gone there is room", "/q")).status).toBe(201);
  }, 60_000);
});

describe("(13) 200 posts at once", () => {
  test("none is lost, and none is there twice: each was sent twice under its canonical", async () => {
    const place = await commentedSite(server, "anonymous", PAGES);
    const ann = place.visitor();
    const root = await ann.say("root");
    const send = (who: Visitor, i: number) => who.answer(`reply ${i}`, root, { canonical: `urn:uuid:${i}` });
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) => i).flatMap((i) => [send(ann, i), send(ann, i)]),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(100);
    expect(statuses.filter((status) => status === 200)).toHaveLength(100);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(100);
    const texts = await ann.texts();
    expect(texts).toHaveLength(101);
    expect(new Set(texts).size).toBe(101);
    expect((await place.feed()).total).toBe(101);
  }, 60_000);

  test("of 200 visitors: 200 people, 200 posts", async () => {
    const place = await commentedSite(server);
    const posts = await Promise.all(Array.from({ length: 200 }, (_, i) => place.visitor().post(`from ${i}`)));
    expect(posts.every(({ status }) => status === 201)).toBeTrue();
    const { threads } = await place.visitor().threads();
    const people = threads.map(({ comments }: { comments: { by: { id: string } }[] }) => comments[0]!.by.id);
    expect([threads.length, new Set(people).size]).toEqual([200, 200]);
  }, 60_000);
});
