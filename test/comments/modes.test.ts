/** COMMENTS 2 and rulings 10, 12, 16, 17: modes, and who sees what in them. */
import { describe, expect, test } from "bun:test";
import { sharedServer } from "../kit/shared.ts";
import { type CommentedSite, commentedSite, FREELY, type Mode, PASSCODE } from "./commented.ts";

const server = await sharedServer(FREELY);

test("COMMENTS 4: more than two links wait in every mode, and an address is one, however it begins", async () => {
  const place = await commentedSite(server);
  const said = async (text: string) => (await place.visitor().post(text)).headers.get("svc-visibility");
  const two = [
    "see http://www.a.example and https://www.b.example",
    "www.a.example, WWW.b.example",
    "awww. nice, oh www.",
  ];
  for (const text of two) expect([text, await said(text)]).toEqual([text, null]);
  const three = ["http://a.example http://b.example http://c.example", "www.a.example HTTPS://b.example www.c.example"];
  for (const text of three) expect([text, await said(text)]).toEqual([text, "pending"]);
});

describe("SPEC's table of modes", () => {
  test("anonymous: everybody reads, whoever posts is seen at once", async () => {
    const place = await commentedSite(server, "anonymous");
    const [ann, stranger] = [place.visitor(), place.visitor()];
    expect((await ann.post("hello")).headers.get("svc-visibility")).toBeNull();
    expect(await stranger.texts()).toEqual(["hello"]);
    expect((await place.feed()).total).toBe(1);
  });

  test("passcode: nobody without a grant reads or posts, with one it is seen at once", async () => {
    const place = await commentedSite(server, "passcode");
    const [guest, stranger] = [place.visitor(), place.visitor()];
    const refused = async (path: string, method = "GET") => {
      const { status, body, headers } = await stranger.send(path, { method });
      return [status, body.code, headers.get("cache-control"), headers.get("access-control-allow-origin")];
    };
    const REFUSED = [401, "passcode_required", "private, no-store", null];
    for (const path of ["threads?page=/", "", "feed.json", "c_x", "/comments.json", "/guide.comments.json"]) {
      expect([path, ...(await refused(path))]).toEqual([path, ...REFUSED]);
    }
    expect((await stranger.post("let me in")).body.code).toBe("passcode_required");

    expect((await guest.send("passcode", { method: "POST", body: { passcode: PASSCODE } })).status).toBe(204);
    await guest.say("inside");
    expect(await guest.texts()).toEqual(["inside"]);
    const feed = await guest.send("/guide.comments.json");
    expect([feed.body.total, feed.headers.get("cache-control")]).toEqual([1, "private, no-store"]);
    expect(feed.headers.get("access-control-allow-origin")).toBeNull();
    expect(feed.headers.get("vary")).toBe("Accept, Cookie");
  });

  test("approved: only author and owner see it until it is approved", async () => {
    const place = await commentedSite(server, "approved");
    const [ann, stranger, owner] = [place.visitor(), place.visitor(), await place.owner()];
    const posted = await ann.post("am I right?");
    expect([posted.status, posted.headers.get("svc-visibility")]).toEqual([201, "pending"]);
    const id = posted.body.id.split("/").at(-1);
    expect(await ann.texts()).toEqual(["am I right?"]);
    expect(await owner.texts()).toEqual(["am I right?"]);
    expect(await stranger.texts()).toEqual([]);
    expect([(await stranger.send(id)).status, (await ann.send(id)).status]).toEqual([404, 200]);
    expect((await place.decide(id, "approve")).body.visibility).toBe("public");
    expect(await stranger.texts()).toEqual(["am I right?"]);
  });

  test("off: 404 comments_off below /_svc/comments/ and at companions, no script, no Link; threads are kept", async () => {
    const place = await commentedSite(server, "anonymous");
    const ann = place.visitor();
    await ann.say("kept");
    await place.turn("off");
    for (const path of [
      "",
      "threads?page=/",
      "me",
      "view?page=/",
      "feed.json",
      "/comments.json",
      "/guide.comments.json",
      "people/p_x",
      "nothing",
    ]) {
      const { status, body } = await ann.send(path);
      expect([path, status, body?.code]).toEqual([path, 404, "comments_off"]);
    }
    expect((await ann.post("x")).body.code).toBe("comments_off");
    const page = await ann.send("/guide.html");
    expect([page.headers.get("link"), page.text.includes("/_svc/c.js")]).toEqual([null, false]);
    await place.turn("anonymous");
    expect(await ann.texts()).toEqual(["kept"]);
  });
});

describe("COMMENTS, ruling 17: a change of mode", () => {
  test("changes no post: public stays public, pending stays pending", async () => {
    const place = await commentedSite(server, "anonymous");
    const [ann, stranger] = [place.visitor(), place.visitor()];
    await ann.say("before");
    await place.turn("approved");
    await ann.say("waits");
    expect(await stranger.texts()).toEqual(["before"]);
    await place.turn("anonymous");
    expect(await stranger.texts()).toEqual(["before"]);
  });

  test("to passcode needs one, in the call or stored before; else 400 and the mode stays", async () => {
    const place = await commentedSite(server, "anonymous");
    const without = await place.api("settings", { method: "PATCH", body: { mode: "passcode" } });
    expect([without.status, without.body.code]).toEqual([400, "invalid_input"]);
    expect((await place.api("settings")).body.mode).toBe("anonymous");
    expect((await place.turn("passcode")).body).toMatchObject({ mode: "passcode", passcode_set: true });
    await place.turn("off");
    expect((await place.api("settings", { method: "PATCH", body: { mode: "passcode" } })).status).toBe(200);
  });

  test("setting a passcode, the same even, ends all grants", async () => {
    const place = await commentedSite(server, "passcode");
    const guest = place.visitor();
    await guest.send("passcode", { method: "POST", body: { passcode: PASSCODE } });
    expect((await guest.send("threads?page=/")).status).toBe(200);
    await place.api("settings", { method: "PATCH", body: { passcode: PASSCODE } });
    expect((await guest.send("threads?page=/")).status).toBe(401);
  });
});

describe("COMMENTS 1 and ruling 15: pages where comments are on", () => {
  const seen = async (place: CommentedSite, path: string, headers: Record<string, string> = {}) => {
    const { status, headers: got, text } = await place.visitor().send(path, { headers });
    return { status, etag: got.get("etag"), link: got.get("link"), text };
  };

  test("the script is the head's first child, Link names companion and container, the ETag counts the settings", async () => {
    const place = await commentedSite(server, "anonymous");
    const { version_id } = place.site;
    const page = await seen(place, "/guide");
    expect(page.text).toContain('<head><script src="/_svc/c.js" async></script><title>');
    expect(page.link).toBe(
      '</guide.comments.json>; rel="replies alternate"; type="application/ld+json"; title="Comments", ' +
        '</_svc/comments/>; rel="http://www.w3.org/ns/oa#annotationService"',
    );
    expect(page.etag).toBe(`"${version_id}+c1:/guide"`);
    expect((await seen(place, "/logo.svg")).etag).toBe(`"${version_id}+c1:/logo.svg"`);
    expect((await seen(place, "/logo.svg")).link).toBeNull();
    expect((await seen(place, "/")).link).toStartWith("</index.comments.json>");
    expect((await seen(place, "/docs/")).link).toStartWith("</docs/index.comments.json>");

    const same = await seen(place, "/guide", { "if-none-match": page.etag! });
    expect([same.status, same.link]).toEqual([304, page.link]);
    await place.turn("approved");
    const anew = await seen(place, "/guide", { "if-none-match": page.etag! });
    expect([anew.status, anew.etag]).toEqual([200, `"${version_id}+c2:/guide"`]);
    await place.turn("off");
    const off = await seen(place, "/guide", { "if-none-match": anew.etag! });
    expect([off.status, off.etag, off.link]).toEqual([200, `"${version_id}:/guide"`, null]);
    expect(off.text).not.toContain("c.js");
  });

  test("neither script nor Link is on a version's own host, or with a 404 body", async () => {
    const files = { "index.html": "<p>x</p>", "404.html": "<h1>none</h1>" };
    const place = await commentedSite(server, "anonymous", files);
    const missing = await seen(place, "/nothing");
    expect([missing.status, missing.link, missing.text.includes("c.js")]).toEqual([404, null, false]);
    expect((await seen(place, "/404")).text).toContain("c.js");
    const { version_id, slug } = place.site;
    const stored = await server.site(`${version_id}--${slug}`, "/");
    expect([stored.headers.get("link"), (await stored.text()).includes("c.js")]).toEqual([null, false]);
    expect((await server.site(`${version_id}--${slug}`, "/_svc/comments/threads?page=/")).status).toBe(404);
  });

  test.each([
    ["<p>x", '<script src="/_svc/c.js" async></script>', "no head"],
    ["<!doctype html>\n<!-- a -->\n<html lang=en>\n<meta name=a>", "<html lang=en>\n<script", "an implied head"],
    ["<HTML><HEAD lang='<'>x", "<HEAD lang='<'><script", "capitals"],
    ["\ufeff<title>t</title>", "\ufeff<script", "a byte order mark"],
    ["<!--<head>--><head><title>t", "<!--<head>--><head><script", "a head in a comment"],
  ])("%j has the script where its head begins (%#)", async (html, expected) => {
    const place = await commentedSite(server, "anonymous", { "index.html": html });
    const page = await server.site(place.site.slug, "/");
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(await page.bytes());
    expect(text).toContain(expected);
    expect(text.split("/_svc/c.js")).toHaveLength(2);
  });

  test("a page too large for memory has both its script and its attribution, whole and in parts", async () => {
    const html = `<head><title>t</title></head>${"<p>word</p>".repeat(120_000)}`;
    const place = await commentedSite(server, "anonymous", { "index.html": html });
    const get = (headers: Record<string, string> = {}) =>
      server.site(place.site.slug, "/", { headers: { "accept-encoding": "identity", ...headers } });
    const whole = await (await get()).text();
    expect(whole).toStartWith('<head><script src="/_svc/c.js" async></script><title>t</title><meta name="generator"');
    expect(whole.length).toBeGreaterThan(html.length + 100);
    const part = await (await get({ range: "bytes=3-60" })).text();
    expect([3, 61]).toEqual([whole.indexOf(part), 3 + part.length]);
    const end = await (await get({ range: "bytes=-20" })).text();
    expect(whole.endsWith(end)).toBeTrue();
  });
});

describe("COMMENTS, ruling 12: settings", () => {
  test.each([
    [{}, "nothing to change"],
    [{ mode: "open" }, "an unknown mode"],
    [{ mode: "passcode", passcode: "seven77" }, "a short passcode"],
    [{ webhook: { url: "http://10.0.0.1/", events: ["thread.created"], secret: "x".repeat(20) } }, "a private address"],
    [{ webhook: { url: "http://localhost/", events: ["thread.created"], secret: "x".repeat(20) } }, "this machine"],
    [{ webhook: { url: "https://a.example/", events: ["all"], secret: "x".repeat(20) } }, "an unknown event"],
  ])("%j is 400 invalid_input, and nothing changes", async (body) => {
    const place = await commentedSite(server, "anonymous");
    const refused = await place.api("settings", { method: "PATCH", body });
    expect([refused.status, refused.body.code]).toEqual([400, "invalid_input"]);
    expect((await place.api("settings")).body).toEqual({
      mode: "anonymous",
      last_mode: "anonymous",
      passcode_set: false,
      webhook: null,
    });
  });

  test("answers never hold the passcode or the webhook's secret", async () => {
    const place = await commentedSite(server, "passcode");
    const webhook = { url: "https://hooks.example/x", events: ["thread.created"], secret: "a very secret one" };
    const changed = await place.api("settings", { method: "PATCH", body: { webhook } });
    const { secret: _, ...shown } = webhook;
    const state = { last_delivered_at: null, failing_since: null, last_error: null, waiting: 0, lost: 0 };
    expect(changed.body).toEqual({
      mode: "passcode",
      last_mode: "passcode",
      passcode_set: true,
      webhook: { ...shown, ...state },
    });
    const all = changed.text + (await place.api("settings")).text;
    expect([all.includes("secret"), all.includes(PASSCODE)]).toEqual([false, false]);
    expect((await place.api("settings", { method: "PATCH", body: { webhook: null } })).body.webhook).toBeNull();
  });

  test("of the site's record too", async () => {
    const place = await commentedSite(server, "approved");
    const record = await server.api(`/sites/${place.site.site_id}`, {
      headers: { authorization: `Bearer ${place.site.manage_token}` },
    });
    expect(((await record.json()) as { comments: { mode: Mode } }).comments).toEqual({ mode: "approved" });
  });
});
