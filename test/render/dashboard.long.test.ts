/** CONTRACT 9, WEB 5 and 6: what a browser saw, as an owner sees it in theirs. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { read } from "../kit/database.ts";
import type { TestServer } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { type Visitor, visitorOf } from "../kit/visitor.ts";
import { type Browser, openBrowser } from "../browser/chromium.ts";
import { enter } from "../browser/entering.ts";
import { page, PATIENCE_MS, script, startRenderer } from "./rendering.ts";

setDefaultTimeout(2 * PATIENCE_MS);

let server: TestServer;
let browser: Browser;
let ann: Visitor;
beforeAll(async () => {
  server = await startRenderer();
  browser = await openBrowser();
  ann = await enter(browser, server, await visitorOf(server));
});
afterAll(async () => {
  await browser.close();
  await server[Symbol.asyncDispose]();
});

const settled = () => until(() => read(server.data_dir, "select 1 from renders where status = 'pending'").length === 0);
/** Of all pictures of the page that were asked for, how wide each is. */
const widths = () =>
  browser.evaluate<number[]>("[...document.querySelectorAll('main img')].map((one) => one.naturalWidth)");

test("WEB 5, WEB 6: lists have a picture of each version, a site's page says what was seen and what to do", async () => {
  const site = await ann.deploy({ "index.html": page("<h1>Kites</h1>") });
  await settled();
  const broken = `<h1>Kites rise</h1>${script("console.warn('<b>thin</b> air'); fetch(['wi', 'nd.json'].join('')); lift()")}`;
  await ann.redeploy(site, { "index.html": page(broken) });
  await settled();

  const list = await browser.visit(`${server.base_url}/dashboard`);
  expect(list.failures).toEqual([]);
  await until(async () => (await widths()).join() === "1280"); // it loads when it is seen
  expect(list.text).toContain("2 warnings");

  const { text, failures } = await browser.visit(`${server.base_url}/dashboard/sites/${site.site_id}`);
  expect(failures).toEqual([]);
  expect(text).toContain("In a browser");
  expect(text).toContain("lift is not defined");
  expect(text).toContain("Add wind.json to the deploy, or change the script that asks for it.");
  await browser.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))");
  const { text: opened } = await browser.shows("<b>thin</b> air");
  expect(opened).toContain("1 request failed");
  // Both pictures of the live version, and one of each in the list; what is below the window loads when it is seen.
  await browser.evaluate("document.querySelector('main').lastElementChild.scrollIntoView(false)");
  await until(async () => (await widths()).join() === "1280,390,1280,1280");
});

test("CONTRACT 9: another account sees no picture of it", async () => {
  const site = await ann.deploy({ "index.html": page("<h1>Secret</h1>") });
  await settled();
  const bob = await visitorOf(server);
  const path = `/sites/${site.site_id}/screenshots/${site.version_id}`;
  const asked = (cookie: string) => server.api(path, { headers: { cookie } }).then(({ status }) => status);
  expect([await asked(ann.cookie), await asked(bob.cookie)]).toEqual([200, 403]);
});
