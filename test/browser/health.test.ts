/** WEB 10: what the tests take for a shift: whatever moves once a page is there, and nothing of one that is drawn while it is read. */
import { expect, test } from "bun:test";
import { shared } from "../kit/shared.ts";
import { openBrowser } from "./chromium.ts";
import { loadOf, watchLoads } from "./health.ts";

const HEAD = `<!doctype html><title>Tides</title><body style="margin:0 auto;width:600px"><h1>Tides</h1>`;
const REST = "<p>High and low.</p>".repeat(80); // with it comes a scroll bar, which moves the heading
const LATE = `${HEAD}${REST}<script>setTimeout(() => document.body.prepend("Late"), 600)</script>`;
/** Longer than it takes a browser to draw what it has. */
const PAUSE_MS = 400;

const pages = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch(request) {
    const body = new ReadableStream<string>({
      async start(controller) {
        controller.enqueue(new URL(request.url).pathname === "/late" ? LATE : HEAD);
        await Bun.sleep(PAUSE_MS);
        controller.enqueue(REST);
        controller.close();
      },
    });
    return new Response(body, { headers: { "content-type": "text/html" } });
  },
});
shared({ [Symbol.asyncDispose]: () => pages.stop(true) });
const browser = await openBrowser();
shared({ [Symbol.asyncDispose]: () => browser.close() });
await watchLoads(browser);

const shiftedOn = async (path: string): Promise<number> => {
  await browser.visit(`${pages.url}${path}`);
  return (await loadOf(browser)).shifted;
};

test("what moves before the page was read to its end is no shift", async () => {
  expect(await shiftedOn("halves")).toBe(0);
  const all = await browser.evaluate<number>("shifts.length");
  expect(all).toBeGreaterThan(0);
});

test("what moves afterwards is one", async () => {
  await browser.visit(`${pages.url}late`);
  await Bun.sleep(2 * PAUSE_MS);
  expect((await loadOf(browser)).shifted).toBeGreaterThan(0);
});
