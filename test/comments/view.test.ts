/** COMMENTS 2 and ruling 13: comments as a page with forms, without a script. */
import { describe, expect, test } from "bun:test";
import { startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { commentedSite, FREELY, PASSCODE, type Visitor } from "./commented.ts";
import { XSS } from "./xss.ts";

const server = await sharedServer(FREELY);

const VIEW = "view?page=/guide.html";
const HTML = { accept: "text/html" };

/** The hidden fields of the page's form for a thread, or for the page. */
function fieldsOf(html: string, thread = ""): Record<string, string> {
  const form = html.split("<form").find((part) => part.includes(`name="thread" value="${thread}"`))!;
  return Object.fromEntries([...form.matchAll(/name="(\w+)" value="([^"]*)"/g)].map((found) => [found[1]!, found[2]!]));
}
const send = (who: Visitor, fields: Record<string, string>, headers: Record<string, string> = HTML) =>
  who.send("view", { method: "POST", body: new URLSearchParams(fields), headers });

/** The elements of a page and their attributes, as a browser would read them. */
function elementsOf(html: string): string[] {
  const found: string[] = [];
  new HTMLRewriter()
    .on("*", {
      element: ({ tagName, attributes }) =>
        void found.push([tagName, ...[...attributes].map(([name]) => name)].join(" ")),
    })
    .transform(html);
  return found;
}

describe("(3) strangers' text in view", () => {
  test("in body, quote and name: no element and no attribute more than of plain words", async () => {
    const of = async (say: (index: number) => string) => {
      const place = await commentedSite(server, "anonymous");
      const ann = place.visitor();
      for (let i = 0; i < XSS.length; i++) {
        const selector = [{ type: "TextQuoteSelector", exact: say(i), prefix: say(i), suffix: say(i) }];
        const body = ann.annotation(say(i), { source: "/guide.html", selector });
        const { status } = await ann.send("", { method: "POST", body });
        if (status !== 201) throw new Error(`${say(i)} was answered ${status}`);
        if (i === 0) await ann.send("me", { method: "PATCH", body: { name: say(i).slice(0, 40) } });
      }
      return (await ann.send(VIEW)).text + (await ann.send(`${VIEW}&part=2`)).text;
    };
    const [plain, hostile] = [await of((i) => `words ${i}`), await of((i) => XSS[i]!)];
    const count = (html: string) => Object.groupBy(elementsOf(html), (element) => element);
    const counts = (html: string) => Object.entries(count(html)).map(([element, all]) => [element, all!.length]);
    // What waits for the owner, for its links, says so in the same elements.
    expect(counts(hostile)).toEqual(counts(plain));
    for (const text of XSS) expect(hostile).toContain(Bun.escapeHTML(text.replace(/\r\n?/g, "\n")));
  });

  test("in the page's path", async () => {
    const names = ["plain", `"><img src=x onerror=alert(1)>`, "<script>alert(1)<", "' onmouseover=alert(1) x='"];
    const files = Object.fromEntries(names.map((name) => [`${name}.html`, "<p>x</p>"]));
    const place = await commentedSite(server, "anonymous", { ...files, "index.html": "" });
    const seen: string[][] = [];
    for (const name of names) {
      const page = encodeURIComponent(`/${encodeURIComponent(name)}.html`);
      seen.push(elementsOf((await place.visitor().send(`view?page=${page}`)).text));
    }
    expect(seen.slice(1)).toEqual([seen[0]!, seen[0]!, seen[0]!]);
  });

  test("in the path of an app's route: the way back leads to this host", async () => {
    const shell = '<!doctype html><div id="root"></div><script type="module" src="/app.js"></script>';
    const app = await commentedSite(server, "anonymous", { "index.html": shell, "app.js": "render()" });
    for (const page of ["//evil.example/login", "///evil.example/login"]) {
      const { status, text } = await app.visitor().send(`view?page=${encodeURIComponent(page)}`);
      const [, link] = /<a href="([^"]*)"/.exec(text) ?? [];
      expect([status, new URL(link!, app.origin).href]).toEqual([200, `${app.origin}/evil.example/login`]);
    }
  });

  test("in the text that a form is shown again with", async () => {
    const place = await commentedSite(server);
    const ann = place.visitor();
    const form = fieldsOf((await ann.send(VIEW)).text);
    const elements = elementsOf((await send(ann, { ...form, text: "plain" })).text);
    for (const text of XSS) expect(elementsOf((await send(ann, { ...form, text })).text)).toEqual(elements);
  });
});

describe("COMMENTS 2: view", () => {
  test("shows the threads, takes a comment and a reply, and sends the browser back", async () => {
    const place = await commentedSite(server);
    const ann = place.visitor();
    const form = fieldsOf((await ann.send(VIEW)).text);
    server.advance(3_000);
    const sent = await send(ann, { ...form, text: "by <form>" });
    expect([sent.status, sent.headers.get("location")]).toEqual([303, "/_svc/comments/view?page=%2Fguide.html"]);
    const page = await ann.send(VIEW);
    expect(page.text).toContain("by &lt;form&gt;");
    const [thread] = (await ann.threads()).threads;
    server.advance(3_000);
    await send(ann, { ...fieldsOf(page.text, thread.id), text: "a reply" });
    expect(await ann.texts()).toEqual(["by <form>", "a reply"]);
  });

  test("holds no script, may be framed by nobody, is private and is not indexed", async () => {
    const place = await commentedSite(server);
    const { headers, text } = await place.visitor().send(VIEW);
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    expect([headers.get("cache-control"), headers.get("vary")]).toEqual(["private, no-cache", "Cookie"]);
    expect(headers.get("x-robots-tag")).toBe("noindex");
    expect(text).not.toContain("<script");
  });

  test.each([
    ["a filled field that people do not see", { website: "x" }, 3_000],
    ["a form that is sent in under two seconds", {}, 1_000],
    ["a form of another site", { stamp: "v1.0.x.y" }, 3_000],
    ["no stamp", { stamp: "" }, 3_000],
  ])("%s stores nothing and shows the form again, with the text", async (_, extra, wait) => {
    const place = await commentedSite(server);
    const ann = place.visitor();
    const form = fieldsOf((await ann.send(VIEW)).text);
    server.advance(wait);
    const again = await send(ann, { ...form, text: "keep me", ...extra });
    expect([again.status, again.text.includes("keep me")]).toEqual([200, true]);
    expect(await ann.texts()).toEqual([]);
  });

  test("says what was wrong beside the form", async () => {
    const place = await commentedSite(server);
    const ann = place.visitor();
    const form = fieldsOf((await ann.send(VIEW)).text);
    server.advance(3_000);
    const refused = await send(ann, { ...form, text: "x".repeat(4001) });
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('role="alert"');
    expect(refused.text).toContain("longer than 4000");
  });

  test("tells the time as the widget does, also where the page is kept for the next reader", async () => {
    const place = await commentedSite(server);
    await place.visitor().post("On time");
    const said = async () => />([^<]*)<\/time>/.exec((await place.visitor().send(VIEW)).text)?.[1];
    expect(await said()).toBe("just now");
    server.advance(3 * 3_600_000);
    expect(await said()).toBe("3 hours ago");
    server.advance(24 * 3_600_000);
    expect(await said()).toBe("yesterday");
    server.advance(24 * 3_600_000);
    expect(await said()).toBe("2 days ago");
  });

  test("a NUL in what was refused takes nothing else's place", async () => {
    const place = await commentedSite(server);
    const ann = place.visitor();
    await ann.post("Here before");
    const form = fieldsOf((await ann.send(VIEW)).text);
    server.advance(3_000);
    const { status, text } = await send(ann, { ...form, text: "a\0b\0c" });
    expect([status, text.includes(">abc</textarea>"), text.includes("just now</time>")]).toEqual([400, true, true]);
    expect(fieldsOf(text)["stamp"]).toMatch(/^v1\./);
  });

  test("in mode approved it says before posting that the owner reads first", async () => {
    const place = await commentedSite(server);
    const ann = place.visitor();
    const hint = "The owner reads it before others do.";
    expect((await ann.send(VIEW)).text).not.toContain(hint);
    await place.turn("approved");
    expect((await ann.send(VIEW)).text).toContain(hint);
  });

  test("in passcode mode asks for it first", async () => {
    const place = await commentedSite(server, "passcode");
    const guest = place.visitor();
    const locked = await guest.send(VIEW);
    expect(locked.text).toContain('name="passcode"');
    expect(locked.text).toContain("A passcode guards these comments, not the page.");
    const wrong = await send(guest, { page: "/guide.html", passcode: "not this one" });
    expect([wrong.status, wrong.text.includes("That passcode is wrong. Ask whoever sent you this page.")]).toEqual([
      401,
      true,
    ]);
    expect((await send(guest, { page: "/guide.html", passcode: PASSCODE })).status).toBe(303);
    expect((await guest.send(VIEW)).text).toContain('name="text"');
  });

  test("past a limit it is 429 with Retry-After, of comments and of passcodes", async () => {
    await using own = await startServer({ ...FREELY, SVC_RATE_COMMENT: "1/1m", SVC_RATE_PASSCODE: "1/10m" });
    const limited = async (visitor: Visitor, fields: Record<string, string>) => {
      await send(visitor, fields);
      const { status, headers } = await send(visitor, fields);
      return [status, Number(headers.get("retry-after")) > 0];
    };
    const ann = (await commentedSite(own)).visitor();
    const form = fieldsOf((await ann.send(VIEW)).text);
    own.advance(3_000);
    expect(await limited(ann, { ...form, text: "hello" })).toEqual([429, true]);
    const guest = (await commentedSite(own, "passcode")).visitor();
    expect(await limited(guest, { page: "/guide.html", passcode: "not this one" })).toEqual([429, true]);
  });

  test("says that what one wrote waits, and that a frozen site's comments are frozen", async () => {
    const place = await commentedSite(server, "approved");
    const ann = place.visitor();
    await ann.say("hello");
    expect((await ann.send(VIEW)).text).toContain("awaiting approval");
    server.freeze(place.site);
    const frozen = (await ann.send(VIEW)).text;
    expect([frozen.includes("Comments are frozen"), frozen.includes("<textarea")]).toEqual([true, false]);
  });

  test("its POST is refused like any other write", async () => {
    const place = await commentedSite(server);
    const ann = place.visitor();
    const fields = fieldsOf((await ann.send(VIEW)).text);
    const foreign = await send(ann, fields, { ...HTML, origin: "https://evil.example" });
    expect(foreign.status).toBe(403);
  });

  test("ruling 12: a frozen site and a missing passcode are said before the body is looked at", async () => {
    const nowhere = { page: "/nowhere.html", text: "x" };
    const frozen = await commentedSite(server);
    server.freeze(frozen.site);
    const codes = [await send(frozen.visitor(), nowhere, {})];
    const file = { method: "POST", body: new Uint8Array(20_000), headers: { "content-type": "text/plain" } };
    codes.push(await frozen.visitor().send("view", file));
    codes.push(await send((await commentedSite(server, "passcode")).visitor(), nowhere, {}));
    expect(codes.map(({ status, body }) => [status, body?.code])).toEqual([
      [403, "site_frozen"],
      [403, "site_frozen"],
      [401, "passcode_required"],
    ]);
  });
});
