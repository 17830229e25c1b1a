/** The feed over HTTP (COMMENTS 1 and rulings 5, 10, 15 and 17): where it is told, in whose words, to whom, and when nothing
 *  is sent again. */
import { beforeAll, describe, expect, test } from "bun:test";
import { sharedServer } from "../kit/shared.ts";
import {
  answered,
  type Answered,
  type CommentedSite,
  commentedSite,
  FREELY,
  PAGE,
  PASSCODE,
  type Visitor,
} from "./commented.ts";
import { ANNO } from "./w3c/rule.ts";

const LD_JSON = `application/ld+json; profile="${ANNO}"`;

let place: CommentedSite;
let reader: Visitor;
const server = await sharedServer(FREELY);
beforeAll(async () => {
  place = await commentedSite(server);
  reader = place.visitor();
  const ann = place.visitor();
  const root = await ann.say("Is this still true?");
  await ann.reply("It is.", root);
  await ann.say("Nice folder", "/docs/");
});

const textsOf = ({ body }: Answered): string[] =>
  (body.orderedItems ?? body.items).map((item: { body: { value: string } }) => item.body.value);

describe("COMMENTS 1: a page's companion", () => {
  test.each([
    ["/guide.comments.json", "/guide.comments.json"],
    ["/guide.html.comments.json", "/guide.comments.json"],
    ["/docs/index.comments.json", "/docs/index.comments.json"],
    ["/docs.comments.json", "/docs/index.comments.json"],
    ["/docs/index.html.comments.json", "/docs/index.comments.json"],
    ["/index.comments.json", "/index.comments.json"],
    ["/_svc/comments/feed.json?source=/guide.html", "/guide.comments.json"],
    ["/_svc/comments/feed.json?source=/guide", "/guide.comments.json"],
    ["/_svc/comments/feed.json?source=%2Fdocs%2F", "/docs/index.comments.json"],
    ["/_svc/comments/feed.json?source=/", "/index.comments.json"],
    ["/_svc/comments/feed.json?source=ORIGIN/guide.html", "/guide.comments.json"],
    ["/comments.json", "/comments.json"],
    ["/_svc/comments/feed.json", "/comments.json"],
  ])("%s tells the feed whose address is %s", async (path, address) => {
    const told = await reader.send(path.replace("ORIGIN", encodeURIComponent(place.origin)));
    expect(told.status).toBe(200);
    expect(told.body.id).toBe(place.origin + address);
    expect(told.headers.get("content-location")).toBe(place.origin + address);
    expect((await reader.send(address)).text).toBe(told.text);
  });

  test.each([
    ["/nothing.comments.json", "no page"],
    ["/logo.comments.json", "no page"],
    ["/logo.svg.comments.json", "a file that is no page"],
    ["/_svc/comments/feed.json?source=/nothing", "no page"],
    ["/_svc/comments/feed.json?source=", "no path"],
    ["/_svc/comments/feed.json?source=https://evil.example/guide.html", "another site's"],
    ["/_svc/comments/feed.json?source=//evil.example/guide.html", "another site's"],
    ["/_svc/comments/feed.json?source=%00", "no path"],
    ["/_svc/comments/feed.json?source=/%25zz", "no encoding"],
    ["/comments.json?page=1", "past the end"],
    ["/comments.json?page=-1", "no number of a page"],
    ["/comments.json?page=", "no number"],
    ["/comments.json?page=1.0", "no number of a page"],
    ["/comments.json?page=99999999999999999999", "past the end"],
    ["/comments.json?page=one", "no number"],
    ["/index.comments.json?page=0", "of an empty feed"],
  ])("%s is 404: %s (ruling 15)", async (path) => {
    expect((await reader.send(path)).status).toBe(404);
  });

  test("a page's feed has that page's comments, the site's has all, oldest first", async () => {
    expect(textsOf(await reader.send("/guide.comments.json"))).toEqual(["Is this still true?", "It is."]);
    expect(textsOf(await reader.send("/docs.comments.json"))).toEqual(["Nice folder"]);
    expect(textsOf(await reader.send("/comments.json"))).toEqual(["Is this still true?", "It is.", "Nice folder"]);
    expect(textsOf(await reader.send("/comments.json?page=0"))).toHaveLength(3);
  });

  test("an encoded name is its page's, however it is written", async () => {
    const files = { "index.html": PAGE, "über uns/it's.html": PAGE };
    const other = await commentedSite(server, "anonymous", files);
    await other.visitor().say("Grüße", "/%C3%BCber%20uns/it's");
    const told = await server.site(other.site.slug, "/%C3%BCber%20uns/it's.comments.json");
    const { body } = await answered(told);
    expect(body.id).toBe(`${other.origin}/%C3%BCber%20uns/it's.comments.json`);
    expect(body.label).toBe("Comments on /über uns/it's.html");
    expect(body.orderedItems[0].target.source).toBe(`${other.origin}/%C3%BCber%20uns/it's.html`);
  });

  test("each route of a single-page app has its own (ruling 19)", async () => {
    const shell = '<!doctype html><div id="root"></div><script type="module" src="/assets/app.js"></script>';
    const app = await commentedSite(server, "anonymous", { "index.html": shell, "assets/app.js": "history.pushState" });
    const ann = app.visitor();
    await ann.say("On users", "/app/users");
    await ann.say("On teams", "/app/teams");
    const users = await ann.send("/app/users.comments.json");
    expect([users.body.id, ...textsOf(users)]).toEqual([`${app.origin}/app/users.comments.json`, "On users"]);
    expect(textsOf(await ann.send("/app/teams.comments.json"))).toEqual(["On teams"]);
  });
});

describe("COMMENTS 1: a file of the site wins over a feed of its name", () => {
  const FILES = { "index.html": PAGE, "guide.html": PAGE, "comments.json": "[1]", "guide.comments.json": "[2]" };

  test("the file is served, the feed is told at /_svc/comments/feed.json, which Link and its own addresses name", async () => {
    const taken = await commentedSite(server, "anonymous", FILES);
    const ann = taken.visitor();
    for (let n = 0; n < 51; n++) await ann.say(`number ${n}`);
    expect((await ann.send("/comments.json")).text).toBe("[1]");
    expect((await ann.send("/guide.comments.json")).text).toBe("[2]");

    const page = await ann.send("/guide.html");
    const address = "/_svc/comments/feed.json?source=%2Fguide.html";
    expect(page.headers.get("link")).toContain(`<${address}>; rel="replies alternate"`);
    const { body } = await ann.send(address);
    expect(body).toMatchObject({
      id: taken.origin + address,
      total: 51,
      first: `${taken.origin}${address}&page=0`,
      last: `${taken.origin}${address}&page=1`,
    });
    const last = (await ann.send(body.last.slice(taken.origin.length))).body;
    expect(last).toMatchObject({ id: body.last, partOf: { id: body.id }, prev: body.first, startIndex: 50 });

    const whole = (await ann.send("/_svc/comments/feed.json")).body;
    expect([whole.id, whole.first]).toEqual(
      ["", "?page=0"].map((query) => `${taken.origin}/_svc/comments/feed.json${query}`),
    );
    expect((await ann.send("")).body.first).toBe(whole.first);
  });
});

describe("COMMENTS 1: the headers of a feed", () => {
  test.each(["/comments.json", "/comments.json?page=0", "/guide.comments.json", "/_svc/comments/feed.json"])(
    "%s",
    async (path) => {
      const { headers } = await reader.send(path);
      expect(headers.get("content-type")).toBe(LD_JSON);
      expect(headers.get("etag")).toMatch(/^"c-[0-9a-f]+-p0"$/);
      expect(headers.get("cache-control")).toBe("public, max-age=0, must-revalidate");
      expect(headers.get("vary")).toBe("Accept");
      expect(headers.get("allow")).toBe("GET, HEAD, OPTIONS");
      expect(headers.get("access-control-allow-origin")).toBe("*");
      expect(headers.get("access-control-expose-headers")).toBe("ETag, Link, Content-Location");
      expect(headers.get("set-cookie")).toBeNull();
    },
  );

  test("HEAD says the same without a body", async () => {
    const [got, asked] = [await reader.send("/comments.json"), await reader.send("/comments.json", { method: "HEAD" })];
    expect([asked.status, asked.text]).toEqual([200, ""]);
    for (const name of ["content-type", "etag", "allow", "vary", "cache-control", "content-length"]) {
      expect([name, asked.headers.get(name)]).toEqual([name, got.headers.get(name)]);
    }
  });

  test("OPTIONS is 200, and lets pages of other sites ask by the profile", async () => {
    const cross = { origin: "https://other.example", "access-control-request-method": "GET" };
    for (const path of ["/comments.json", "/guide.comments.json", "/_svc/comments/feed.json", "/_svc/comments/"]) {
      const { status, headers } = await reader.send(path, { method: "OPTIONS", headers: cross });
      expect([path, status, headers.get("access-control-allow-origin")]).toEqual([path, 200, "*"]);
      expect(headers.get("access-control-allow-methods")).toBe("GET, HEAD, OPTIONS");
      expect(headers.get("access-control-allow-headers")).toContain("Accept");
    }
  });

  test.each(["POST", "PUT", "PATCH", "DELETE"])("%s is 405, and says what there is", async (method) => {
    const { status, headers } = await reader.send("/comments.json", { method });
    expect([status, headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
  });

  test("a page names its feed and the container, also unchanged and by HEAD, and a 404 names neither (rulings 15 and 17)", async () => {
    const link = `</guide.comments.json>; rel="replies alternate"; type="application/ld+json"; title="Comments", </_svc/comments/>; rel="http://www.w3.org/ns/oa#annotationService"`;
    const page = await reader.send("/guide");
    expect(page.headers.get("link")).toBe(link);
    const held = { "if-none-match": page.headers.get("etag")! };
    const unchanged = await reader.send("/guide", { headers: held });
    expect([unchanged.status, unchanged.headers.get("link")]).toEqual([304, link]);
    expect((await reader.send("/guide", { method: "HEAD" })).headers.get("link")).toBe(link);
    for (const path of ["/nothing", "/logo.svg"]) expect((await reader.send(path)).headers.get("link")).toBeNull();
  });

  test("the text of a comment ends no script that it is written into", async () => {
    const other = await commentedSite(server);
    await other.visitor().say("</script><img src=x onerror=alert(1)><!--");
    const { text, body } = await other.visitor().send("/comments.json");
    expect(text).not.toContain("<");
    expect(body.orderedItems[0].body.value).toBe("</script><img src=x onerror=alert(1)><!--");
  });
});

describe("ruling 5: in whose words the collection says what it is", () => {
  const SPEC = "OrderedCollection";
  const W3C = ["OrderedCollection", "AnnotationCollection"];

  test.each([
    [undefined, SPEC],
    ["*/*", SPEC],
    ["application/json", SPEC],
    ["application/ld+json", SPEC],
    [LD_JSON, W3C],
    [`APPLICATION/LD+JSON;PROFILE="${ANNO}"`, W3C],
    [`text/html, application/ld+json; q=0.5; profile="https://x.example/a,b ${ANNO}"`, W3C],
    [`application/ld+json; profile="${ANNO}"; q=0, */*`, SPEC],
    [`application/json; profile="${ANNO}"`, SPEC],
    [`application/ld+json; profile="${ANNO}x"`, SPEC],
    ['application/ld+json; profile="http://www.w3.org/ns/activitystreams"', SPEC],
    [`"${ANNO}`, SPEC],
  ])("Accept: %s", async (accept, type) => {
    const told = await reader.send("/comments.json", accept === undefined ? {} : { headers: { accept } });
    expect(told.body.type).toEqual(type);
    expect(told.headers.get("content-type")).toBe(LD_JSON);
  });

  test("two of other words have other tags", async () => {
    const tags = [
      await reader.send("/comments.json"),
      await reader.send("/comments.json", { headers: { accept: LD_JSON } }),
    ];
    expect(new Set(tags.map(({ headers }) => headers.get("etag"))).size).toBe(2);
  });
});

describe("COMMENTS 1: what a client holds is not sent again", () => {
  test("304 without a body, with the headers that a cache needs, until something public changes", async () => {
    const own = await commentedSite(server);
    const [ann, owner] = [own.visitor(), await own.owner()];
    const id = await ann.say("one");
    const tagOf = async (path: string): Promise<string> => (await ann.send(path)).headers.get("etag")!;
    for (const path of ["/comments.json", "/comments.json?page=0", "/guide.comments.json", "/_svc/comments/"]) {
      const etag = await tagOf(path);
      const held = await ann.send(path, { headers: { "if-none-match": `"x", W/${etag}` } });
      expect([path, held.status, held.text, held.headers.get("etag")]).toEqual([path, 304, "", etag]);
      expect(held.headers.get("vary")).toContain("Accept");
      expect(held.headers.get("cache-control")).toContain("must-revalidate");
    }
    const before = await tagOf("/comments.json");
    const changes: (() => Promise<unknown>)[] = [
      () => ann.edit(id, "one, edited"),
      () => owner.reply("an answer", id),
      () => own.decide(id, "resolve"),
      () => own.decide(id, "reopen"),
      () => ann.send("me", { method: "PATCH", body: { name: "Ann Other" } }),
      () => own.decide(id, "reject"),
    ];
    const tags = [before];
    for (const change of changes) {
      await change();
      tags.push(await tagOf("/comments.json"));
    }
    expect(new Set(tags).size).toBe(tags.length);
  });

  test("a report changes nothing that a feed tells", async () => {
    const own = await commentedSite(server);
    const id = await own.visitor().say("one");
    const before = (await own.visitor().send("/comments.json")).headers.get("etag");
    expect((await own.visitor().send(`${id}/report`, { method: "POST", body: { reason: "spam" } })).status).toBe(202);
    expect((await own.visitor().send("/comments.json")).headers.get("etag")).toBe(before);
  });
});

describe("COMMENTS 1: who gets a feed", () => {
  test("in passcode mode 401 without a grant, kept by nobody and read by no other site; a grant reads all the same", async () => {
    const own = await commentedSite(server, "passcode");
    const [guest, other, stranger] = [own.visitor(), own.visitor(), own.visitor()];
    for (const one of [guest, other]) {
      expect((await one.send("passcode", { method: "POST", body: { passcode: PASSCODE } })).status).toBe(204);
    }
    await guest.say("inside");
    for (const path of [
      "/comments.json",
      "/guide.comments.json?page=0",
      "/_svc/comments/feed.json",
      "/_svc/comments/",
    ]) {
      for (const method of ["GET", "HEAD"]) {
        const { status, headers, text } = await stranger.send(path, { method });
        expect([path, status, headers.get("cache-control")]).toEqual([path, 401, "private, no-store"]);
        expect(headers.get("access-control-allow-origin")).toBeNull();
        expect(text).not.toContain("inside");
      }
      const [mine, theirs] = [await guest.send(path), await other.send(path)];
      expect([path, mine.status, mine.headers.get("cache-control")]).toEqual([path, 200, "private, no-store"]);
      expect(mine.headers.get("vary")).toContain("Cookie");
      expect(mine.headers.get("access-control-allow-origin")).toBeNull();
      expect([theirs.text, theirs.headers.get("etag")]).toEqual([mine.text, mine.headers.get("etag")]);
    }
    const preflight = await stranger.send("/comments.json", { method: "OPTIONS" });
    expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([200, null]);
  });

  test("in passcode mode the owner reads it below /_svc/comments/, and is nobody outside (ruling 8)", async () => {
    const own = await commentedSite(server, "passcode");
    const owner = await own.owner();
    await owner.say("the owner's");
    // As a browser does, by the cookie's path.
    const send = (path: string) => (path.startsWith("/_svc/comments/") ? owner : own.visitor()).send(path);
    expect(textsOf(await send("/_svc/comments/feed.json"))).toEqual(["the owner's"]);
    expect((await send("/_svc/comments/")).body.total).toBe(1);
    expect((await send("/comments.json")).status).toBe(401);
  });

  test("a tag that was seen through a grant is worth nothing without one (abuse test 19)", async () => {
    const own = await commentedSite(server, "passcode");
    const guest = own.visitor();
    await guest.send("passcode", { method: "POST", body: { passcode: PASSCODE } });
    await guest.say("inside");
    const etag = (await guest.send("/comments.json")).headers.get("etag")!;
    for (const held of [etag, "*"]) {
      const asked = await own.visitor().send("/comments.json", { headers: { "if-none-match": held } });
      expect(asked.status).toBe(401);
    }
  });

  test("off: 404 comments_off by every method, and no Link (ruling 17); a file of that name is still the site's", async () => {
    const own = await commentedSite(server, "anonymous", {
      "index.html": PAGE,
      "x.html": PAGE,
      "x.comments.json": "[]",
    });
    const ann = own.visitor();
    await ann.say("kept", "/");
    await own.turn("off");
    for (const path of ["/comments.json", "/index.comments.json", "/_svc/comments/feed.json", "/_svc/comments/"]) {
      for (const method of ["GET", "OPTIONS"]) {
        const { status, body } = await ann.send(path, { method });
        expect([path, method, status, body.code]).toEqual([path, method, 404, "comments_off"]);
      }
    }
    expect((await ann.send("/")).headers.get("link")).toBeNull();
    expect((await ann.send("/x.comments.json")).text).toBe("[]");
    await own.turn("anonymous");
    expect(textsOf(await ann.send("/comments.json"))).toEqual(["kept"]);
  });

  test("a version's own host tells no feed: comments are the live version's", async () => {
    const label = `${place.site.version_id}--${place.site.slug}`;
    for (const path of ["/comments.json", "/guide.comments.json", "/_svc/comments/"]) {
      expect((await server.site(label, path)).status).toBe(404);
    }
    expect((await server.site(label, "/guide.html")).headers.get("link")).toBeNull();
  });

  test("where the site is gone, expired or disabled, a feed is answered as a page is", async () => {
    const own = await commentedSite(server);
    await own.visitor().say("one");
    const both = async (): Promise<number[]> => [
      (await own.visitor().send("/guide.html")).status,
      (await own.visitor().send("/comments.json")).status,
      (await own.visitor().send("/_svc/comments/feed.json")).status,
    ];
    server.freeze(own.site);
    expect(await both()).toEqual([200, 200, 200]);
    server.disable(own.site, "phishing");
    expect(await both()).toEqual([451, 451, 451]);
    server.enable(own.site);
    server.expire(own.site);
    expect(await both()).toEqual([410, 410, 410]);
  });
});
