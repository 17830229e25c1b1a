/** COMMENTS 5: what comments cost a page before they are used, and after. */
import { gunzipSync } from "node:zlib";
import { beforeEach, describe, expect, test } from "bun:test";
import { shared } from "../../kit/shared.ts";
import { until } from "../../kit/until.ts";
import { byRole, fill } from "../by-role.ts";
import { loadOf, watchLoads } from "../health.ts";
import { longestTask, pace, watchTasks } from "../journeys/tasks.ts";
import { click, panelShows, select } from "./hands.ts";
import { article, type CommentedSite, PASSAGE, type Stranger, World } from "./world.ts";

const world = shared(await World.open());
const { browser } = world;
await watchLoads(browser);
const slower = await pace(browser);
let site: CommentedSite;
beforeEach(async () => {
  await browser.cdp("Network.clearBrowserCookies");
  site = await world.site({ "index.html": article() });
});

const raw = async (path: string, headers: Record<string, string> = {}) => {
  const response = await site.ask(path, { headers, decompress: false } as RequestInit);
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
};
const gzip = { "accept-encoding": "gzip" };

describe("the scripts", () => {
  const LOADER = "/_svc/c.js";
  const widgetIn = (loader: string): string => /\/_svc\/c\/[0-9a-f]{12}\.js/.exec(loader)![0];

  test("the loader is at most 2 KB, and asked for again each time", async () => {
    const { response, bytes } = await raw(LOADER, gzip);
    expect(response.headers.get("content-encoding")).toBe("gzip");
    expect(bytes.length).toBeLessThanOrEqual(2048);
    expect(response.headers.get("cache-control")).toBe("no-cache");
    expect(response.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    const etag = response.headers.get("etag")!;
    const again = await raw(LOADER, { ...gzip, "if-none-match": etag });
    expect([again.response.status, again.response.headers.get("etag"), again.bytes.length]).toEqual([304, etag, 0]);
  });

  test("the widget is at most 25 KB, under its content's hash, for ever; another hash is 404", async () => {
    const path = widgetIn(gunzipSync((await raw(LOADER, gzip)).bytes).toString());
    const { response, bytes } = await raw(path, gzip);
    expect(bytes.length).toBeLessThanOrEqual(25 * 1024);
    expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(response.headers.get("vary")).toBe("Accept-Encoding");
    const hash = new Bun.CryptoHasher("sha256").update(gunzipSync(bytes)).digest("hex").slice(0, 12);
    expect(path).toBe(`/_svc/c/${hash}.js`);
    expect((await site.ask(path.replace(hash, "0".repeat(12)))).status).toBe(404);
  });
});

test("a page with no thread yet: two requests more, no widget, no shift, nothing from elsewhere", async () => {
  const { failures, messages } = await browser.visit(`${site.origin}/`);
  await byRole(browser, "button", "Comments");
  expect([failures, messages]).toEqual([[], []]);
  const { shifted, requests } = await loadOf(browser);
  expect([shifted, requests]).toEqual([0, 3]); // the page, the loader, the threads
  const names = await browser.evaluate<string[]>("performance.getEntriesByType('resource').map(({ name }) => name)");
  expect(names.filter((name) => !name.startsWith(`${site.origin}/_svc/`))).toEqual([]);
});

test("no shift, no message and no request to another origin in all of a visit", async () => {
  await site.writeOn({ exact: PASSAGE }, "One");
  const { failures, messages } = await browser.visit(`${site.origin}/`);
  await click(browser, "button", /^Thread on/);
  await fill(browser, "textbox", "Reply", "Two");
  await click(browser, "button", "Reply");
  await until(async () => (await site.texts()).length === 2);
  await click(browser, "button", "Close");
  await select(browser, "computed from the gauge");
  await click(browser, "button", "Comment");
  await fill(browser, "textbox", "Comment", "Three");
  await click(browser, "button", "Post");
  await panelShows(browser, "Three");
  expect([failures, messages]).toEqual([[], []]);
  expect((await loadOf(browser)).shifted).toBe(0);
  const names = await browser.evaluate<string[]>("performance.getEntriesByType('resource').map(({ name }) => name)");
  expect(names.filter((name) => !name.startsWith(`${site.origin}/_svc/`))).toEqual([]);
});

test("less than 50 ms of the page's thread before the first use", async () => {
  await browser.visit("about:blank");
  const watch = await watchTasks(browser);
  await browser.visit(`${site.origin}/`);
  await byRole(browser, "button", "Comments");
  const { longest_ms, tasks } = await watch.end();
  expect(tasks).toBeGreaterThan(10);
  expect(longest_ms).toBeLessThan(50 * slower);
});

test("a long page with 100 threads, 50 of them lost, is anchored in tasks of less than 50 ms", async () => {
  const words = (i: number) => `paragraph number ${i} speaks of boat ${i * 7} and of pier ${i * 13}`;
  const text = Array.from(
    { length: 1000 },
    (_, i) => `<p>The ${words(i)}, while the wind turns and the tide falls.</p>`,
  );
  const long = await world.site({ "index.html": article("", text.join("")) });
  const somebody = await long.writeOn({ exact: words(0) }, "Found 0");
  for (let i = 1; i < 50; i++) await long.writeOn({ exact: words(i * 19) }, `Found ${i}`, { by: somebody });
  for (let i = 0; i < 50; i++) {
    await long.writeOn({ exact: `no sentence of this page says what ${i * 3} gulls would like` }, `Lost ${i}`, {
      by: somebody,
    });
  }
  const longest_ms = await longestTask(browser, async () => {
    await browser.visit(`${long.origin}/`);
    await until(() =>
      browser.evaluate<boolean>(
        "document.querySelector('svc-comments')?.shadowRoot.querySelectorAll('.pin').length === 50",
      ),
    );
  });
  expect(longest_ms).toBeLessThan(50 * slower);
  expect((await loadOf(browser)).shifted).toBe(0);
});

test("a page with 500 threads, as many as there can be, is as quiet before anybody opens them", async () => {
  const words = (i: number) => `boat ${i * 7} lies at pier ${i * 13}`;
  const text = Array.from({ length: 500 }, (_, i) => `<p>In the year ${i} ${words(i)}, while the tide falls.</p>`);
  const full = await world.site({ "index.html": article("", text.join("")) });
  const somebody = await full.writeOn({ exact: words(0) }, "Thread 0");
  for (let i = 1; i < 500; i++) {
    const quote = { exact: words(i), prefix: `In the year ${i} `, suffix: ", while the tide falls." };
    await full.writeOn(quote, `Thread ${i}`, { by: somebody });
  }
  const longest_ms = await longestTask(browser, async () => {
    await browser.visit(`${full.origin}/`);
    await until(() =>
      browser.evaluate<boolean>(
        "document.querySelector('svc-comments')?.shadowRoot.querySelectorAll('.pin').length === 500",
      ),
    );
  });
  expect(longest_ms).toBeLessThan(50 * slower);
  await click(browser, "button", "Comments");
  await panelShows(browser, "Thread 499");
}, 60_000);

test("a hundred threads in one block of 6,000 lines cost little beside the page itself", async () => {
  const line = (i: number) =>
    `${i} says that boat ${i * 7} lies at pier ${i * 13} ${"and so on ".repeat(i % 3 ? 2 : 14)}`;
  const text = Array.from({ length: 6000 }, (_, i) => line(i)).join("\n");
  const style =
    "<style>body { margin: 0; max-width: none; padding: 0 } pre { margin: 0; white-space: pre-wrap }</style>";
  const page = { "index.html": article("", `<pre>${text}</pre>`).replace("</head>", `${style}</head>`) };
  const [bare, full] = [await world.site(page, "off"), await world.site(page)];
  let by: Stranger | undefined;
  for (let i = 0; i < 6000; i += 60) {
    const quote = { exact: `boat ${i * 7} lies at pier ${i * 13}`, prefix: `${i} says that `, suffix: " and so on" };
    by = await full.writeOn(quote, `Thread ${i}`, by && { by });
  }
  const alone = await longestTask(browser, () => browser.visit(`${bare.origin}/`));
  const longest_ms = await longestTask(browser, async () => {
    await browser.visit(`${full.origin}/`);
    await until(() =>
      browser.evaluate<boolean>(
        "document.querySelector('svc-comments')?.shadowRoot.querySelectorAll('.pin[data-lies]').length === 100",
      ),
    );
  });
  expect(longest_ms).toBeLessThan(alone + 150);
  expect((await loadOf(browser)).shifted).toBe(0);
}, 60_000);
