/** WEB 9 and 10 on a site's comments: what axe finds, shifts, weight and width of the page in each of its states. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Commenter, ownerCalls, turnOn } from "../../comments/commenter.ts";
import { type DeployResult, startServer, type TestServer } from "../../kit/server.ts";
import { type Visitor, visitorOf } from "../../kit/visitor.ts";
import { type Browser, openBrowser } from "../chromium.ts";
import { enter } from "../entering.ts";
import { atEdges, axeFinds, filledButtons, inScheme, loadOf, LOOKS, lowTargets, sized, watchLoads } from "../health.ts";

const FREE = { SVC_RATE_COMMENT: "off", SVC_RATE_COMMENT_IDENTITY: "off", SVC_RATE_COMMENT_SITE: "off" };
const LONG = "Wm".repeat(100);
const RTL = "מרחבא بالعالم";

let server: TestServer;
let browser: Browser;
let ann: Visitor;
const sites: Record<"off" | "empty" | "full" | "frozen", DeployResult> = {} as never;

async function fillSite(site: DeployResult): Promise<void> {
  await turnOn(server, site, "anonymous");
  const own = ownerCalls(server, site, site.manage_token);
  const visitor = new Commenter(server, site);
  const rtl = await visitor.comment(RTL, { page: `/${LONG}.html`, exact: RTL });
  await visitor.rename(RTL);
  const long = new Commenter(server, site);
  const id = await long.comment(`${LONG} ${"words and words ".repeat(200)}`, { exact: "passage ".repeat(140) });
  await long.rename("W".repeat(40));
  for (let i = 0; i < 20; i++) await long.reply(id, i % 2 === 0 ? LONG : RTL);
  await visitor.report(rtl, "abuse", LONG);
  await visitor.report(rtl, "other", RTL);
  for (let i = 0; i < 25; i++) await long.comment(`Thread ${i}`, { exact: `passage ${i}` });
  await own("POST", `${id}/resolve`, { note: LONG });
  await own("POST", `${await long.comment(LONG)}/reject`, {});
  await turnOn(server, site, "approved");
  await visitor.comment(LONG);
  await visitor.reply(rtl, "waits");
}

beforeAll(async () => {
  server = await startServer(FREE);
  browser = await openBrowser();
  await watchLoads(browser);
  ann = await visitorOf(server);
  const page = "<!doctype html><title>x</title>x";
  for (const name of ["off", "empty", "full", "frozen"] as const) {
    sites[name] = await ann.deploy({ "index.html": page, [`${LONG}.html`]: page });
  }
  await ann.change(sites.full, { label: "W".repeat(80) });
  await turnOn(server, sites.empty, "approved");
  await fillSite(sites.full);
  await turnOn(server, sites.frozen, "anonymous");
  await new Commenter(server, sites.frozen).comment("stays");
  server.freeze(sites.frozen);
}, 120_000);
afterAll(async () => {
  await browser.close();
  await server[Symbol.asyncDispose]();
});

const at = (name: keyof typeof sites, more = "") => `/dashboard/sites/${sites[name].site_id}/comments${more}`;
/** Sends the form with that end of its address. */
const submit = (action: string, fields: Record<string, string> = {}) => `(() => {
  const form = document.querySelector('main form[action$="${action}"]');
  for (const [name, value] of Object.entries(${JSON.stringify(fields)})) form.elements[name].value = value;
  setTimeout(() => form.submit());
})()`;

const STATES: [state: string, path: () => string, says: string, act?: string][] = [
  ["comments that never were on", () => at("off"), "Comments are off"],
  ["no threads yet", () => at("empty"), "No open threads"],
  ["open threads", () => at("full"), "Older"],
  ["the older ones, with long words and both directions", () => at("full", "?show=resolved"), "What was decided"],
  ["what waits", () => at("full", "?show=pending"), "waits"],
  ["what was reported", () => at("full", "?show=reported"), "Reported as abuse"],
  ["what was rejected", () => at("full", "?show=rejected"), "Show again"],
  ["after a decision", () => at("full", "?show=open&done=comment-approved"), "Approved: everybody sees it."],
  ["settings that were refused", () => at("empty"), "at least 8", submit("/settings", { passcode: "short" })],
  ["a frozen site", () => at("frozen"), "has frozen this site"],
  ["the link for the owner", () => at("empty"), "within five minutes", submit("/owner")],
  ["a site's page with what waits", () => at("full").replace("/comments", ""), "waiting for you"],
];

const LARGEST = 40 * 1024;

describe.each(STATES)("%s", (_state, path, says, act) => {
  test("WEB 10: nothing for axe in light and dark, no shift, no scroll sideways, few bytes", async () => {
    await enter(browser, server, ann);
    for (const [width, scheme] of LOOKS) {
      await inScheme(browser, scheme);
      await sized(browser, width);
      await browser.visit(server.base_url + path(), act ? "" : says);
      if (act) await browser.evaluate(act);
      const { text, failures } = await browser.shows(says);
      expect(text).toContain(says);
      expect(failures.filter((failure) => !(act && /^4\d\d /.test(failure)))).toEqual([]);
      await browser.evaluate("document.querySelectorAll('details.history').forEach((one) => (one.open = true))");
      const { shifted, bytes, beyond } = await loadOf(browser);
      expect([scheme, width, shifted, beyond]).toEqual([scheme, width, 0, 0]);
      expect(bytes).toBeLessThan(LARGEST);
      expect(await atEdges(browser)).toEqual([]);
      expect((await filledButtons(browser)).slice(1)).toEqual([]);
      expect(await axeFinds(browser)).toEqual([]);
    }
  }, 60_000);
});

test('WEB 10: what "More" opens lies inside the window, a margin from its edges', async () => {
  await enter(browser, server, ann);
  for (const width of [1280, 768, 390, 320]) {
    await sized(browser, width);
    await browser.visit(server.base_url + at("full"), "Older");
    const near = await browser.evaluate<number[]>(`[...document.querySelectorAll("details.all")].map((more) => {
      more.open = true;
      const { left, right } = more.lastElementChild.getBoundingClientRect();
      return Math.min(left, innerWidth - right);
    })`);
    expect(near.length).toBeGreaterThan(0);
    expect([width, Math.min(...near) >= 8]).toEqual([width, true]);
    expect((await loadOf(browser)).beyond).toBe(0);
  }
}, 60_000);

test("WEB 9: what is pressed is 24 px high at least, 44 where it is touched", async () => {
  await enter(browser, server, ann);
  for (const path of [at("full"), at("full", "?show=resolved"), at("full", "?show=reported")]) {
    expect([path, ...(await lowTargets(browser, server.base_url + path))]).toEqual([path]);
  }
}, 60_000);
