/** COMMENTS 1, the headers of a feed, in a real browser: what a page of another site reads of it, and what it cannot do. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type CommentedSite, commentedSite, FREELY, PASSCODE } from "../../comments/commented.ts";
import { startServer, type TestServer } from "../../kit/server.ts";
import { type Browser, openBrowser } from "../chromium.ts";

const PROFILE = 'application/ld+json; profile="http://www.w3.org/ns/anno.jsonld"';
const IRIS = 'return=representation;include="http://www.w3.org/ns/oa#PreferContainedIRIs"';

let server: TestServer;
let browser: Browser;
let place: CommentedSite;
beforeAll(async () => {
  server = await startServer(FREELY);
  place = await commentedSite(server);
  await place.visitor().say("for everybody");
  browser = await openBrowser();
  await browser.visit((await server.deploy({ "index.html": "<title>Elsewhere</title>another site" })).url);
}, 60_000);
afterAll(async () => {
  await browser.close();
  await server[Symbol.asyncDispose]();
});

/** What the other site's page gets: the JSON's member, or the name of the error. */
const fetched = (address: string, member: string, init: RequestInit = {}): Promise<unknown> =>
  browser.evaluate(
    `fetch(${JSON.stringify(address)}, ${JSON.stringify(init)})
      .then(async (response) => [response.status, response.headers.get("etag") !== null, (await response.json()).${member}])
      .catch((error) => error.name)`,
  );

describe("a page of another site", () => {
  test("reads a feed and its tag, in SPEC's words and, by the profile, in the W3C's", async () => {
    const feed = `${place.origin}/comments.json`;
    expect(await fetched(feed, "type")).toEqual([200, true, "OrderedCollection"]);
    const asked = { headers: { accept: PROFILE } };
    expect(await fetched(feed, "type", asked)).toEqual([200, true, ["OrderedCollection", "AnnotationCollection"]]);
  });

  test("reads the container by a preference", async () => {
    const container = `${place.origin}/_svc/comments/`;
    expect(await fetched(container, "id", { headers: { prefer: IRIS } })).toEqual([200, true, `${container}?iris=1`]);
  });

  test("writes nothing, with the visitor's cookies or without", async () => {
    const body = JSON.stringify({
      type: "Annotation",
      body: { type: "TextualBody", value: "from elsewhere" },
      target: `${place.origin}/guide.html`,
    });
    const container = `${place.origin}/_svc/comments/`;
    for (const credentials of ["include", "omit"] as const) {
      const headers = { "content-type": "application/ld+json" };
      expect(await fetched(container, "id", { method: "POST", headers, body, credentials })).toBe("TypeError");
    }
    expect((await place.feed()).total).toBe(1);
  });

  test("reads nothing in passcode mode: no answer is for it", async () => {
    const closed = await commentedSite(server, "passcode");
    const guest = closed.visitor();
    await guest.send("passcode", { method: "POST", body: { passcode: PASSCODE } });
    await guest.say("inside");
    for (const credentials of ["include", "omit"] as const) {
      expect(await fetched(`${closed.origin}/comments.json`, "total", { credentials })).toBe("TypeError");
    }
  });
});
