/** WEB 10: nothing shifts while a page comes in, however slowly: what a busy machine or a slow line does by chance is done
 *  here on purpose. */
import { expect, test } from "bun:test";
import { shared, sharedServer } from "../kit/shared.ts";
import { visitorOf } from "../kit/visitor.ts";
import { openBrowser } from "./chromium.ts";
import { enter } from "./entering.ts";
import { sized } from "./health.ts";
import { partOf } from "../kit/whole.ts";

/** Of a page; with the pauses a browser paints in between. */
const PIECES = 12;
const PAUSE_MS = 40;

const server = await sharedServer({ SVC_CONTACT: "abuse@svc.example" });
const browser = await openBrowser();
shared({ [Symbol.asyncDispose]: () => browser.close() });

/** The same server, whose pages come in pieces. */
const slow = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const { pathname, search } = new URL(request.url);
    const cookie = request.headers.get("cookie") ?? "";
    const answer = await server.api(pathname + search, { headers: { cookie, accept: "text/html" } });
    const bytes = await answer.bytes();
    const type = answer.headers.get("content-type")!;
    if (!type.startsWith("text/html")) return new Response(bytes, { headers: { "content-type": type } });
    const size = Math.ceil(bytes.length / PIECES);
    const pieces = new ReadableStream<Uint8Array>({
      async start(controller) {
        for (let at = 0; at < bytes.length; at += size) {
          controller.enqueue(bytes.subarray(at, at + size));
          await Bun.sleep(PAUSE_MS);
        }
        controller.close();
      },
    });
    return new Response(pieces, { status: answer.status, headers: { "content-type": type } });
  },
});
shared({ [Symbol.asyncDispose]: () => slow.stop(true) });

const OBSERVE = `window.shifts = []; new PerformanceObserver((list) => {
  for (const { value, sources } of list.getEntries())
    shifts.push(value.toFixed(5) + " " + sources.map(({ node }) => (node?.outerHTML ?? node?.textContent ?? "?").slice(0, 100)).join(" | "));
}).observe({ type: "layout-shift", buffered: true })`;
await browser.cdp("Page.addScriptToEvaluateOnNewDocument", { source: OBSERVE });

const ann = await visitorOf(server);
const images = Array.from({ length: 9 }, (_, i) => `<img src="${i}.png">`).join("");
const site = await ann.deploy({ "index.html": `<!doctype html><title>Tides and moorings</title>${images}` });
const at = (more = "") => `/dashboard/sites/${site.site_id}${more}`;

const PAGES: [name: string, path: string][] = [
  ["home", "/"],
  ["the list", "/dashboard"],
  ["the list after a deletion", "/dashboard?done=deleted"],
  ["a site", at()],
  ["a site after a deploy", at("?done=deployed")],
  ["a site's comments", at("/comments")],
  ["the question before its end", at("/delete")],
  ["the account", "/dashboard/account"],
  ["a site that is not there", "/dashboard/sites/site_x"],
  ["the manual", "/docs/cli"],
];

test.each(partOf(PAGES, 5))(
  "%s",
  async (_, path) => {
    await enter(browser, server, ann);
    for (const width of [1280, 390]) {
      await sized(browser, width);
      await browser.visit(`http://localhost:${slow.port}${path}`);
      expect([width, await browser.evaluate<string[]>("shifts")]).toEqual([width, []]);
    }
  },
  60_000,
);
