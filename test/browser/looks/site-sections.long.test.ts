/** WEB 9 and 10 on what a site's page has beside versions: previews, and what a browser saw. What axe finds, shifts, width,
 *  weight, and how high is what a finger presses. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { pageOf, previewing } from "../../deploys/previewing.ts";
import { write } from "../../kit/database.ts";
import { type DeployResult, startServer, type TestServer } from "../../kit/server.ts";
import { type Visitor, visitorOf } from "../../kit/visitor.ts";
import { type Browser, openBrowser } from "../chromium.ts";
import { enter } from "../entering.ts";
import { axeFinds, inScheme, loadOf, LOOKS, lowTargets, sized, watchLoads } from "../health.ts";

let server: TestServer;
let browser: Browser;
let ann: Visitor;
let site: DeployResult;
let frozen: DeployResult;

const LONG = "Wm".repeat(100);
const RTL = "מרחבא بالعالم";
/** With any slug and `--` of at most 63 characters. */
const LONG_NAME = "w".repeat(30);
const { make } = previewing(() => server);

/** As a browser's receipt is kept: the engine itself is tried in test/render. */
function planSeen(): void {
  const seen = {
    console: [{ level: "error", text: LONG, url: null, line: null }],
    failed_requests: [{ url: `/${LONG}`, method: "GET", status: null, reason: "net::ERR_FAILED" }],
    dom_summary: { title: LONG, headings: [], links: 1, images: 1, text_length: 1 },
  };
  const warnings = [{ code: "script_error", message: `${LONG} is not defined`, path: `${LONG}.js`, fix_recipe: LONG }];
  write(server.data_dir, "delete from renders");
  write(
    server.data_dir,
    `insert into renders (version_no, site_id, status, asked_at, seen, warned, warnings)
     select version_no, site_id, 'done', 1, ?, 1, ? from versions`,
    JSON.stringify(seen),
    JSON.stringify(warnings),
  );
}

beforeAll(async () => {
  server = await startServer({ SVC_RENDER: "chrome", SVC_CHROME: "/nowhere" });
  browser = await openBrowser();
  await watchLoads(browser);
  ann = await visitorOf(server);
  [site, frozen] = [await ann.deploy(pageOf(LONG)), await ann.deploy(pageOf("frozen"))];
  for (const one of [site, frozen]) {
    await make(one, pageOf("named"), LONG_NAME);
    await make(one, pageOf(LONG, { "long.txt": "x" }));
    await make(one, pageOf(RTL, { "rtl.txt": "x" }));
  }
  await make(site, pageOf(LONG), "same-as-live");
  server.freeze(frozen);
  planSeen();
  await enter(browser, server, ann);
}, 60_000);
afterAll(async () => {
  await browser.close();
  await server[Symbol.asyncDispose]();
});

const at = ({ site_id }: DeployResult): string => `/dashboard/sites/${site_id}`;

describe.each<[state: string, path: () => string, says: string]>([
  ["a site with previews that a browser saw", () => at(site), "All previews"],
  ["its previews", () => `${at(site)}/previews`, "Same as live"],
  ["the same after one has ended", () => `${at(site)}/previews?done=preview-ended`, "The preview has ended"],
  ["a frozen site with previews", () => `${at(frozen)}/previews`, LONG_NAME],
  ["the list of sites that a browser saw", () => "/dashboard", "1 warning"],
])("%s", (_state, path, says) => {
  test("WEB 10: nothing for axe in light and dark, no shift, no scroll sideways, few bytes", async () => {
    for (const [width, scheme] of LOOKS) {
      await inScheme(browser, scheme);
      await sized(browser, width);
      const { text, failures, messages } = await browser.visit(server.base_url + path(), says);
      expect(text).toContain(says);
      expect([failures, messages]).toEqual([[], []]);
      const { shifted, bytes, beyond } = await loadOf(browser);
      expect([scheme, width, shifted, beyond]).toEqual([scheme, width, 0, 0]);
      expect(bytes).toBeLessThan(40 * 1024);
      await browser.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))");
      expect((await loadOf(browser)).beyond).toBe(0);
      expect(await axeFinds(browser)).toEqual([]);
    }
  }, 60_000);
});

test("WEB 9: what is pressed is 24 px high at least, 44 where it is touched", async () => {
  for (const path of [at(site), "/dashboard/account/tokens"]) {
    expect([path, ...(await lowTargets(browser, server.base_url + path))]).toEqual([path]);
  }
}, 60_000);
