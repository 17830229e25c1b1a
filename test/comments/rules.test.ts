/** COMMENTS 1 and ruling 19 where a site has rules of its own (BEYOND 2 and 3): a page has its comments at whatever address it
 *  is shown, and says so whatever headers the site adds. */
import { describe, expect, test } from "bun:test";
import { startServer } from "../kit/server.ts";
import { shared } from "../kit/shared.ts";
import { commentedSite, FREELY, PAGE, PAGES } from "./commented.ts";

const server = shared(await startServer(FREELY));
const COMMENTS =
  '</guide.comments.json>; rel="replies alternate"; type="application/ld+json"; title="Comments", ' +
  '</_svc/comments/>; rel="http://www.w3.org/ns/oa#annotationService"';

describe("BEYOND 2: a page that a rule shows", () => {
  const rules = "/tour /guide.html 200\n/trips/:name /guide 200\n/picture /logo.svg 200\n/docs/* /index.html 200!\n";

  test.each(["/tour", "/tour/", "/trips/7"])("at %s is the page of its file", async (path) => {
    const place = await commentedSite(server, "anonymous", { ...PAGES, _redirects: rules });
    const [ann, bob] = [place.visitor(), place.visitor()];
    const shown = await ann.send(path);
    expect([shown.status, shown.headers.get("link"), shown.text.includes("/_svc/c.js")]).toEqual([200, COMMENTS, true]);
    await ann.say("where it is shown", path);
    await ann.say("where it lies", "/guide.html");
    const seen = await bob.threads(path);
    expect([seen.page, seen.threads.length]).toEqual(["/guide.html", 2]);
    expect((await bob.texts("/guide.html")).toSorted()).toEqual(["where it is shown", "where it lies"].toSorted());
    for (const feed of ["/guide.comments.json", `/_svc/comments/feed.json?source=${path}`]) {
      const { body } = await bob.send(feed);
      expect([body.total, body.id]).toEqual([2, `${place.origin}/guide.comments.json`]);
    }
    expect((await bob.send(`view?page=${path}`)).text).toContain("where it lies");
  });

  test("by force is what is shown there, and what lies there is no page any more", async () => {
    const place = await commentedSite(server, "anonymous", { ...PAGES, _redirects: rules });
    const ann = place.visitor();
    const { headers } = await ann.send("/docs/");
    expect(headers.get("link")).toStartWith("</index.comments.json>");
    expect((await ann.threads("/docs/")).page).toBe("/index.html");
  });

  test.each([
    ["no page: a picture", "/picture"],
    ["no page: what no rule is for", "/trips/7/8"],
  ])("%s", async (_, path) => {
    const place = await commentedSite(server, "anonymous", { ...PAGES, _redirects: rules });
    const ann = place.visitor();
    expect((await ann.send(`threads?page=${path}`)).status).toBe(404);
    expect((await ann.post("nowhere", path)).body.code).toBe("unknown_page");
  });

  test("keeps its threads over a deploy", async () => {
    const place = await commentedSite(server, "anonymous", { ...PAGES, _redirects: rules });
    const ann = place.visitor();
    const target = {
      source: `${place.origin}/tour`,
      selector: [{ type: "TextQuoteSelector", exact: "two seconds", prefix: "finish in ", suffix: " and return" }],
    };
    expect((await ann.send("", { method: "POST", body: ann.annotation("Really?", target) })).status).toBe(201);
    const moved = PAGE.replace("<h1>Guide</h1>", "<h1>Guide</h1><p>New words before it.</p>");
    await server.redeploy(place.site, { ...PAGES, "guide.html": moved, _redirects: rules });
    const { threads } = await ann.threads("/tour");
    expect(threads.map(({ anchor }: { anchor: { carried: string } }) => anchor.carried)).toEqual(["exact"]);
  });
});

describe("BEYOND 3: a Link of the site's own", () => {
  test.each([
    ["is added to", "/*\n  Link: </style.css>; rel=preload", `${COMMENTS}, </style.css>; rel=preload`],
    ["is not taken away", "/*\n  ! Link", COMMENTS],
  ])("the one to the comments %s", async (_, lines, link) => {
    const place = await commentedSite(server, "anonymous", { ...PAGES, _headers: `${lines}\n` });
    const visitor = place.visitor();
    const { headers } = await visitor.send("/guide");
    expect(headers.get("link")).toBe(link);
    const unchanged = await visitor.send("/guide", { headers: { "if-none-match": headers.get("etag")! } });
    expect([unchanged.status, unchanged.headers.get("link")]).toEqual([304, link]);
  });

  test("stands alone where there are no comments, and on what is no page", async () => {
    const place = await commentedSite(server, "anonymous", { ...PAGES, _headers: "/*\n  Link: <a>; rel=b\n" });
    const visitor = place.visitor();
    expect((await visitor.send("/logo.svg")).headers.get("link")).toBe("<a>; rel=b");
    await place.turn("off");
    expect((await visitor.send("/guide")).headers.get("link")).toBe("<a>; rel=b");
  });
});
