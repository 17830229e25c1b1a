/** BEYOND 11 in a real Chromium: the tab of statistics, in two widths, by day and by night, by keyboard and without scripts. */
import { expect, test } from "bun:test";
import { shared, sharedServer } from "../kit/shared.ts";
import { visitorOf } from "../kit/visitor.ts";
import { NAVIGATION, visit } from "../statistics/visiting.ts";
import { byRole, press } from "./by-role.ts";
import { openBrowser } from "./chromium.ts";
import { enter } from "./entering.ts";
import { axeFinds, filledButtons, inScheme, loadOf, LOOKS, sized, watchLoads } from "./health.ts";

const server = await sharedServer();
const browser = shared({ browser: await openBrowser(), async [Symbol.asyncDispose]() { await this.browser.close(); } }).browser; // prettier-ignore
await watchLoads(browser);
const ann = await enter(browser, server, await visitorOf(server));
const page = (title: string) => `<!doctype html><title>${title}</title><h1>${title}</h1>`;
const FILES = { "index.html": page("Home"), "pricing.html": page("Pricing") };
const site = await ann.deploy(FILES);
const quiet = await ann.deploy({ "index.html": page("Quiet") });
for (let i = 0; i < 3; i++) await visit(server, site.slug, "/", { ...NAVIGATION, referer: "https://news.example/" });
for (const path of ["/pricng", `/${"very-long-".repeat(20)}`]) await visit(server, site.slug, path);
const at = ({ site_id }: { site_id: string }, query = "") =>
  `${server.base_url}/dashboard/sites/${site_id}/statistics${query}`;

test.each(LOOKS)("the tab is whole at %d px in %s, with figures, without, and over 400 days", async (width, scheme) => {
  await sized(browser, width);
  await inScheme(browser, scheme);
  for (const url of [at(site), at(quiet), at(site, "?days=400")]) {
    const { failures } = await browser.visit(url);
    expect(failures).toEqual([]);
    await browser.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })");
    expect(await axeFinds(browser)).toEqual([]);
    const { shifted, beyond } = await loadOf(browser);
    expect([shifted, beyond]).toEqual([0, 0]);
    expect(await filledButtons(browser)).toEqual(["Open site"]);
  }
});

test("a visit of this very browser is there at once, and no request of the page goes elsewhere", async () => {
  await browser.visit(`${site.url}/pricing`);
  await browser.visit(at(site, "?days=7"));
  const { text } = await browser.shows("/pricing");
  expect(text).toMatch(/Views\s+3/); // Chromium without a window says so: a bot's
  expect(text).toMatch(/Bots\s+1/);
});

test("the chart has words for who does not see it, and its figures are a table", async () => {
  await browser.visit(at(site, "?days=7"));
  await byRole(browser, "image", /A bar for each day from .* The most on .*: 3 views, 1 visitor/);
  await browser.evaluate("document.querySelector('figure summary').click()");
  expect((await browser.shows("Day (UTC)")).text).toContain("Broken links");
});

test("the line that mends a link is copied by its button, and the spans are links", async () => {
  await browser.visit(at(site));
  await browser.cdp("Browser.grantPermissions", { permissions: ["clipboardReadWrite", "clipboardSanitizedWrite"] });
  await press(browser, "button", "Copy the line for /pricng");
  expect(await browser.evaluate<string>("navigator.clipboard.readText()")).toBe("/pricng /pricing 301");
  await press(browser, "link", "7 days");
  expect((await browser.shows("As a table")).url).toBe(at(site, "?days=7"));
});

test("the switch, by keyboard", async () => {
  await browser.visit(at(quiet));
  await browser.evaluate("document.querySelector('#counting ~ form button').focus()");
  await browser.press("Enter");
  expect((await browser.shows("Count visits: off")).text).toContain("Visits are not counted any more");
  await press(browser, "button", "Count visits");
  await browser.shows("Count visits: on");
});

test("without scripts the figures are there, and nothing that needs one", async () => {
  await browser.cdp("Emulation.setScriptExecutionDisabled", { value: true });
  expect((await browser.visit(at(site), "/pricng /pricing 301")).text).not.toContain("Copy");
  await browser.cdp("Emulation.setScriptExecutionDisabled", { value: false });
});
