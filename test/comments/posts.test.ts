/** COMMENTS 2 and rulings 13, 16, 18, 19: what is taken as a comment, and on which page. */
import { describe, expect, test } from "bun:test";
import { sharedServer } from "../kit/shared.ts";
import { commentedSite, FREELY, idOf } from "./commented.ts";

const server = await sharedServer(FREELY);
const place = await commentedSite(server);

const quote = (exact: string, prefix = "", suffix = "") => [{ type: "TextQuoteSelector", exact, prefix, suffix }];
const LD = { "content-type": 'application/ld+json; profile="http://www.w3.org/ns/anno.jsonld"' };

describe("COMMENTS 2: POST /_svc/comments/", () => {
  test("answers 201 with the annotation, its address, its ETag and, the first time, an identity", async () => {
    const ann = place.visitor();
    const target = {
      source: `${place.origin}/guide.html`,
      selector: quote("two seconds", "finish in ", " and return"),
    };
    const canonical = "urn:uuid:0c1f";
    const first = await ann.send("", { method: "POST", body: ann.annotation("Still true?", target, { canonical }) });
    expect(first.status).toBe(201);
    expect(first.headers.get("content-type")).toBe(LD["content-type"]);
    expect(first.headers.get("location")).toBe(first.body.id);
    expect(first.body).toMatchObject({
      motivation: "commenting",
      canonical,
      body: { type: "TextualBody", value: "Still true?", format: "text/plain" },
      target: { type: "SpecificResource", source: target.source, selector: target.selector },
    });
    expect(first.headers.get("etag")).toBe('"a1"');
    expect(first.headers.getSetCookie()).toHaveLength(1);
    expect((await ann.post("again")).headers.getSetCookie()).toEqual([]);

    const { threads } = await ann.threads();
    expect(threads[0].anchor).toMatchObject({ source: target.source, selector: target.selector, carried: "exact" });
    expect(threads[0].comments[0]).toMatchObject({ text: "Still true?", mine: true, edited_at: null });
  });

  test("the same canonical again is 200 and adds nothing; another visitor's is another", async () => {
    const [ann, bob] = [place.visitor(), place.visitor()];
    await ann.say("hello there");
    const canonical = "urn:uuid:5d6e";
    const [one, two] = [await ann.post("once", "/", { canonical }), await ann.post("once", "/", { canonical })];
    expect([one.status, two.status, two.body.id]).toEqual([201, 200, one.body.id]);
    const other = await bob.post("once", "/", { canonical });
    expect([other.status, other.body.id === one.body.id]).toEqual([201, false]);
  });

  test("a reply is stored under the root, whichever comment of the thread it names", async () => {
    const ann = place.visitor();
    const root = await ann.say("a root");
    const reply = await ann.reply("a reply", root);
    const deep = await ann.answer("a reply to the reply", reply);
    // The root is what a reply's target names.
    expect(deep.status).toBe(201);
    expect(deep.body.target).toBe(`${place.origin}/_svc/comments/${root}`);
  });
});

describe("COMMENTS, ruling 18: members", () => {
  const TAKEN: [string, (target: string) => object][] = [
    ["without motivation", (target) => ({ body: { type: "TextualBody", value: "x" }, target })],
    ["without format", (target) => ({ motivation: "commenting", body: { type: "TextualBody", value: "x" }, target })],
    ["as ld+json", (target) => ({ body: { value: "x" }, target })],
    ["of 4,000 code points", (target) => ({ body: { value: "😀".repeat(4000) }, target })],
    ["with lists of one", (target) => ({ motivation: ["commenting"], body: [{ value: "x" }], target: [target] })],
    ["with a query and a hash", (target) => ({ body: { value: "x" }, target: `${target}?a=b#c` })],
    ["with its path alone", () => ({ body: { value: "x" }, target: "/guide.html" })],
    ["in a right-to-left script", (target) => ({ body: { value: "שלום \u202eabc" }, target })],
  ];
  test.each(TAKEN)("%s it is taken", async (name, make) => {
    const body = JSON.stringify(make(`${place.origin}/guide.html`));
    const headers = name === "as ld+json" ? LD : { "content-type": "application/json" };
    expect((await place.visitor().send("", { method: "POST", body, headers })).status).toBe(201);
  });

  test("the client's id, creator, dates and status are ignored", async () => {
    const ann = place.visitor();
    const body = ann.annotation("mine", `${place.origin}/`, {
      id: "https://evil.example/x",
      creator: { type: "Person", nickname: "Owner" },
      created: "1999-01-01T00:00:00Z",
      "schema:creativeWorkStatus": "resolved",
    });
    const { body: stored } = await ann.send("", { method: "POST", body });
    expect(stored.id).toStartWith(`${place.origin}/_svc/comments/c_`);
    expect(stored.creator.nickname).not.toBe("Owner");
    expect(stored.created).not.toContain("1999");
    expect(stored["schema:creativeWorkStatus"]).toBe("open");
  });

  const REFUSED: [string, number, string, (target: string) => unknown][] = [
    ["an empty text", 400, "invalid_annotation", (target) => ({ body: { value: "" }, target })],
    ["a blank text", 400, "invalid_annotation", (target) => ({ body: { value: " \n\u200b\u2003" }, target })],
    ["no text", 400, "invalid_annotation", (target) => ({ target })],
    ["4,001 code points", 400, "invalid_annotation", (target) => ({ body: { value: "😀".repeat(4001) }, target })],
    ["a NUL", 400, "invalid_annotation", (target) => ({ body: { value: "a\0b" }, target })],
    ["a lone surrogate", 400, "invalid_annotation", (target) => `{"body":{"value":"\\ud800"},"target":"${target}"}`],
    ["HTML", 400, "invalid_annotation", (target) => ({ body: { value: "x", format: "text/html" }, target })],
    [
      "another motivation",
      400,
      "invalid_annotation",
      (target) => ({ motivation: "tagging", body: { value: "x" }, target }),
    ],
    ["no target", 400, "invalid_annotation", () => ({ body: { value: "x" } })],
    ["no JSON", 400, "invalid_annotation", () => "{"],
    [
      "a note of ActivityStreams",
      400,
      "invalid_annotation",
      (target) => ({ type: "Note", body: { value: "x" }, target }),
    ],
    ["no annotation among its types", 400, "invalid_annotation", (target) => ({ type: [], body: "x", target })],
    ["a number for its type", 400, "invalid_annotation", (target) => ({ type: 7, body: "x", target })],
    ["an image for its body", 400, "invalid_annotation", (target) => ({ body: { type: "Image", value: "x" }, target })],
    ["a list", 400, "invalid_annotation", () => "[]"],
    ["a page that is none", 422, "unknown_page", () => ({ body: { value: "x" }, target: "/nothing.html" })],
    ["a file that is no page", 422, "unknown_page", () => ({ body: { value: "x" }, target: "/logo.svg" })],
    ["another site", 422, "unknown_page", () => ({ body: { value: "x" }, target: "https://other.example/guide.html" })],
    ["a thread that is none", 422, "unknown_thread", () => ({ body: { value: "x" }, target: "/_svc/comments/c_none" })],
    [
      "an empty quote",
      400,
      "invalid_annotation",
      (source) => ({ body: { value: "x" }, target: { source, selector: quote(" ") } }),
    ],
    [
      "a quote of 1,201 code points",
      422,
      "anchor_too_long",
      (source) => ({ body: { value: "x" }, target: { source, selector: quote("é".repeat(1201)) } }),
    ],
    [
      "a selector that could do more than name an element",
      400,
      "invalid_annotation",
      (source) => ({
        body: { value: "x" },
        target: { source, selector: [{ type: "CssSelector", value: "a:has(b)" }] },
      }),
    ],
  ];
  test.each(REFUSED)("with %s it is %i %s", async (_, status, code, make) => {
    const made = make(`${place.origin}/guide.html`);
    const body = typeof made === "string" ? made : JSON.stringify(made);
    const headers = { "content-type": "application/json" };
    const refused = await place.visitor().send("", { method: "POST", body, headers });
    expect([refused.status, refused.body.code]).toEqual([status, code]);
    expect(refused.headers.getSetCookie()).toEqual([]);
  });

  test("a body that is not UTF-8 is 400 invalid_annotation, one over 16 KiB 413, one that is no JSON type 415", async () => {
    const ann = place.visitor();
    const json = { "content-type": "application/json" };
    const bytes = new Uint8Array([...new TextEncoder().encode('{"body":{"value":"'), 0xff, 0xfe, 34, 125, 125]);
    const cases = [
      await ann.send("", { method: "POST", body: bytes, headers: json }),
      await ann.send("", { method: "POST", body: `{"a":"${"x".repeat(17 << 10)}"}`, headers: json }),
      await ann.send("", { method: "POST", body: "{}", headers: { "content-type": "text/plain" } }),
    ];
    expect(cases.map(({ status, body }) => [status, body.code])).toEqual([
      [400, "invalid_annotation"],
      [413, "body_too_large"],
      [415, "unsupported_media_type"],
    ]);
  });

  test("a longer prefix or suffix is cut, next to the passage", async () => {
    const ann = place.visitor();
    const selector = quote("two seconds", `${"a".repeat(100)}B`, `C${"d".repeat(100)}`);
    const target = { source: `${place.origin}/`, selector };
    const { body } = await ann.send("", { method: "POST", body: ann.annotation("cut", target) });
    const { prefix, suffix } = body.target.selector[0];
    expect([prefix, suffix]).toEqual([`${"a".repeat(63)}B`, `C${"d".repeat(63)}`]);
  });
});

describe("COMMENTS, ruling 14: a quote that is posted", () => {
  test.each([
    ["exact", quote("two seconds", "finish in ", " and return")],
    ["edited", quote("a normal connection deploys finish in five seconds and return", "On ", " a live URL.")],
    ["lost", quote("made by a script", "nowhere ", " to be found")],
    [null, undefined],
  ])("is %p", async (carried, selector) => {
    const site = await commentedSite(server);
    const ann = site.visitor();
    const target = { source: "/guide.html", ...(selector && { selector }) };
    expect((await ann.send("", { method: "POST", body: ann.annotation("x", target) })).status).toBe(201);
    const [thread] = (await ann.threads()).threads;
    expect(thread.anchor.carried).toBe(carried);
    const { position } = thread.anchor.hints ?? {};
    expect(position === undefined).toBe(carried === "lost" || carried === null);
    // Ruling 1: the hints reach no feed.
    expect(JSON.stringify(await site.feed())).not.toContain("position");
  });
});

describe("COMMENTS, ruling 19: pages", () => {
  test.each([
    ["/guide", "/guide.html"],
    ["/guide.html", "/guide.html"],
    ["/docs/", "/docs/index.html"],
    ["/docs", "/docs/index.html"],
    ["/", "/index.html"],
  ])("%s is %s", async (path, page) => {
    const ann = place.visitor();
    const { body } = await ann.post(`on ${path}`, path);
    expect(body.target.source).toBe(place.origin + page);
    const view = await ann.threads(path);
    expect(view.page).toBe(page);
    expect(JSON.stringify(view.threads)).toContain(`on ${path}`);
  });

  test("a page that is none is 404 to readers", async () => {
    const ann = place.visitor();
    for (const path of ["threads?page=/nothing", "threads", "view?page=/nothing", "feed.json?source=/nothing"]) {
      expect([path, (await ann.send(path)).status]).toEqual([path, 404]);
    }
    expect((await ann.send("/nothing.comments.json")).status).toBe(404);
  });

  test("on a single-page app each path that gets the shell is a page of its own", async () => {
    const shell = '<!doctype html><div id="root"></div><script type="module" src="/app.js"></script>';
    const app = await commentedSite(server, "anonymous", { "index.html": shell, "app.js": "render()" });
    const ann = app.visitor();
    await ann.say("about users", "/users");
    expect(await ann.texts("/users")).toEqual(["about users"]);
    expect(await ann.texts("/")).toEqual([]);
    expect(await ann.texts("/users/7")).toEqual([]);
    const page = await ann.send("/users", { headers: { "sec-fetch-dest": "document" } });
    expect(page.headers.get("link")).toStartWith("</users.comments.json>");
    expect((await app.feed("/users.comments.json")).total).toBe(1);
    expect((await ann.post("x", "/app.js")).body.code).toBe("unknown_page");
  });

  test("odd names keep their way back", async () => {
    const odd = await commentedSite(server, "anonymous", {
      "über uns/100%.html": "<p>x</p>",
      "index.html": "<p>y</p>",
    });
    const ann = odd.visitor();
    const path = "/%C3%BCber%20uns/100%25.html";
    await ann.say("odd", path);
    const { page, threads } = await ann.threads(path);
    expect([page, threads.length]).toEqual([path, 1]);
    expect(await ann.texts(page)).toEqual(["odd"]);
    const shown = await ann.send(path);
    const companion = /<([^>]+)>/.exec(shown.headers.get("link")!)![1]!;
    expect((await odd.feed(companion)).total).toBe(1);
  });

  test("a deployed file of a companion's name wins; Link then names the feed", async () => {
    const files = {
      "guide.html": "<p>x</p>",
      "guide.comments.json": '["mine"]',
      "comments.json": "{}",
      "index.html": "",
    };
    const own = await commentedSite(server, "anonymous", files);
    const ann = own.visitor();
    await ann.say("told elsewhere");
    expect((await ann.send("/guide.comments.json")).body).toEqual(["mine"]);
    expect((await ann.send("/comments.json")).body).toEqual({});
    const link = (await ann.send("/guide.html")).headers.get("link")!;
    const feed = "/_svc/comments/feed.json?source=%2Fguide.html";
    expect(link).toStartWith(`<${feed}>`);
    const { body } = await ann.send(feed);
    expect([body.total, body.id, body.first]).toEqual([1, own.origin + feed, `${own.origin}${feed}&page=0`]);
    expect((await ann.send("feed.json")).body.id).toBe(`${own.origin}/_svc/comments/feed.json`);
  });
});

describe("COMMENTS 4: what waits for the owner in every mode", () => {
  test.each([
    ["three links", "see https://a.example http://b.example and www.c.example"],
    ["a body that the visitor repeats", "buy my thing"],
    ["a long body that anybody repeats", "this very long text was said by somebody else before"],
  ])("%s", async (what, text) => {
    const site = await commentedSite(server);
    const [ann, bob, stranger] = [site.visitor(), site.visitor(), site.visitor()];
    if (what.includes("visitor repeats")) await ann.say(text);
    if (what.includes("anybody")) await bob.say(text);
    const posted = await ann.post(text);
    expect([posted.status, posted.headers.get("svc-visibility")]).toEqual([201, "pending"]);
    expect((await stranger.threads()).threads).not.toContainEqual(expect.objectContaining({ id: idOf(posted) }));
  });
});
