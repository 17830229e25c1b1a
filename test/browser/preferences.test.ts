/** WEB 9 in a real Chromium: what a person's machine asks for (less motion, its own colours, a larger picture) leaves every
 *  page usable. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startServer, type TestServer } from "../kit/server.ts";
import { visitorOf } from "../kit/visitor.ts";
import { type Browser, openBrowser } from "./chromium.ts";
import { enter } from "./entering.ts";
import { loadOf, watchLoads } from "./health.ts";

const PAGES = ["/", "/dashboard", "SITE", "SITE/changes", "SITE/comments", "/dashboard/account", "/device", "/docs"];
let server: TestServer;
let browser: Browser;
let site_page: string;
beforeAll(async () => {
  server = await startServer();
  browser = await openBrowser();
  await watchLoads(browser);
  const visitor = await enter(browser, server, await visitorOf(server));
  const site = await visitor.deploy({ "index.html": "<title>One</title><img src=missing.png>", "a.txt": "a" });
  await visitor.redeploy(site, { "index.html": "<title>Two</title>", "b.txt": "b" });
  site_page = `/dashboard/sites/${site.site_id}`;
}, 60_000);
afterAll(async () => {
  await browser.close();
  await server[Symbol.asyncDispose]();
});

const prefer = (features: Record<string, string>): Promise<unknown> =>
  browser.cdp("Emulation.setEmulatedMedia", {
    features: Object.entries(features).map(([name, value]) => ({ name, value })),
  });
const shown = (width: number, height: number, deviceScaleFactor: number): Promise<unknown> =>
  browser.cdp("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor, mobile: false });
const open = (path: string) => browser.visit(server.base_url + path.replace("SITE", site_page));

/** What can be used on the page and is there to be seen; the way past the header comes with the focus. */
const CONTROLS = `[...document.querySelectorAll("a[href]:not(.skip), button, input:not([type=hidden]), textarea, select, summary")]
  .filter((one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && one.getClientRects().length > 0
    && one.getBoundingClientRect().width > 2 && one.getBoundingClientRect().height > 2)`;
const MOVING = `[...document.querySelectorAll("*")].filter((one) => {
  const { transitionDuration, animationName } = getComputedStyle(one);
  return animationName !== "none" || transitionDuration.split(", ").some((time) => time !== "0s");
}).map(({ outerHTML }) => outerHTML.slice(0, 100))`;

describe("less motion", () => {
  test("WEB 9: there is motion where nobody minds it", async () => {
    await prefer({ "prefers-reduced-motion": "no-preference" });
    await open("/");
    expect((await browser.evaluate<string[]>(MOVING)).length).toBeGreaterThan(0);
  });
  test.each(PAGES)("WEB 9: on %s nothing moves under prefers-reduced-motion", async (path) => {
    await prefer({ "prefers-reduced-motion": "reduce" });
    await open(path);
    expect(await browser.evaluate<string[]>(MOVING)).toEqual([]);
    expect(await browser.evaluate<number>("document.getAnimations().length")).toBe(0);
  });
});

describe("colours of the machine's own", () => {
  const INVISIBLE = `${CONTROLS}.filter((one) => {
    const { borderStyle, borderWidth, textDecorationLine, backgroundColor } = getComputedStyle(one);
    const bordered = borderStyle !== "none" && parseFloat(borderWidth) > 0;
    const ground = getComputedStyle(document.body).backgroundColor;
    const is_link = one.localName === "a" || one.localName === "summary"; // in LinkText, or with its triangle
    return !bordered && !is_link && (backgroundColor === ground || backgroundColor === "rgba(0, 0, 0, 0)")
      && one.textContent.trim() === "";
  }).map(({ outerHTML }) => outerHTML.slice(0, 120))`;
  const WITHOUT_RING = `${CONTROLS}.filter((one) => {
    one.focus({ focusVisible: true });
    if (document.activeElement !== one) return false;
    const around = [one, ...one.querySelectorAll("*"), one.parentElement].map((each) => getComputedStyle(each));
    return !around.some(({ outlineStyle, outlineWidth }) => outlineStyle !== "none" && parseFloat(outlineWidth) >= 1);
  }).map(({ outerHTML }) => outerHTML.slice(0, 120))`;
  test.each(PAGES)("WEB 9: on %s each control can be seen, and that it has the focus", async (path) => {
    await prefer({ "forced-colors": "active", "prefers-reduced-motion": "reduce" });
    await open(path);
    expect(await browser.evaluate<boolean>(`matchMedia("(forced-colors: active)").matches`)).toBe(true);
    expect(await browser.evaluate<number>(`${CONTROLS}.length`)).toBeGreaterThan(2);
    expect(await browser.evaluate<string[]>(INVISIBLE)).toEqual([]);
    expect(await browser.evaluate<string[]>(WITHOUT_RING)).toEqual([]);
  });
});

describe("a picture four times as large", () => {
  /** Brought into view, its middle is its own: nothing lies on it. */
  const COVERED = `${CONTROLS}.filter((one) => {
    one.scrollIntoView({ block: "center", behavior: "instant" });
    const { x, y, width, height } = one.getClientRects()[0];
    const there = document.elementFromPoint(x + width / 2, y + height / 2);
    return there === null || !(one.contains(there) || there.contains(one));
  }).map(({ outerHTML }) => outerHTML.slice(0, 120))`;
  test.each(PAGES)(
    "WEB 9: %s at 400 % of 1280 × 800 has no scroll sideways, and each control is reached",
    async (path) => {
      await prefer({ "prefers-reduced-motion": "reduce" });
      await shown(320, 200, 4);
      await open(path);
      expect((await loadOf(browser)).beyond).toBe(0);
      expect(await browser.evaluate<string[]>(COVERED)).toEqual([]);
    },
  );
});
