/** COMMENTS 5: the widget in light and dark, on a phone, at 400 % zoom, in forced colours, with lines from right to left. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { until } from "../../kit/until.ts";
import { byRole, fill, things } from "../by-role.ts";
import type { Browser } from "../chromium.ts";
import { axeFinds, inScheme, sized } from "../health.ts";
import { boxOf, click, panelShows, select, tap, wordsAt } from "./hands.ts";
import { article, type CommentedSite, PASSAGE, World } from "./world.ts";

let world: World;
let browser: Browser;
let site: CommentedSite;
const THEMED = article(
  "<style>:root { color-scheme: light dark } @media (prefers-color-scheme: dark) { html { background: #14181a; color: #ddd } }</style>",
);
const RTL = THEMED.replace('lang="en"', 'lang="ar" dir="rtl"');
beforeAll(async () => {
  world = await World.open();
  ({ browser } = world);
  site = await world.site({
    "index.html": THEMED,
    "rtl.html": RTL,
    "night.html": article("<style>body { background: #101418; color: #eee }</style>"),
    "paper.html": article("<style>body { background: #fff; color: #222 }</style>"),
  });
  for (const page of ["/index.html", "/rtl.html"]) {
    const root = await site.writeOn({ exact: PASSAGE }, `Is ${page} still true? See https://example.org/x.`, { page });
    await site.write("هل هذا صحيح في الإصدار الثاني؟", root.iri);
    await site.writeOn({ exact: "nobody wrote this here" }, page + "x".repeat(300), { page, by: root });
    await site.write("A page-level remark", site.origin + page, root);
  }
}, 60_000);
afterAll(() => world[Symbol.asyncDispose]());

const open = (page = "/"): Promise<unknown> => browser.visit(site.origin + page);
const beyond = (): Promise<number> =>
  browser.evaluate<number>("Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth)");

describe.each(["light", "dark"] as const)("in %s", (scheme) => {
  beforeAll(async () => void (await inScheme(browser, scheme)));

  test.each([
    ["a desk", 1280, 800],
    ["a phone", 390, 844],
    ["400 % zoom", 320, 200],
  ])("axe finds nothing on %s, in any state", async (_, width, height) => {
    await browser.cdp("Network.clearBrowserCookies");
    await sized(browser, width, height);
    await open();
    await byRole(browser, "button", /^Thread on/);
    expect(await axeFinds(browser)).toEqual([]);
    await click(browser, "button", /^Thread on/);
    await byRole(browser, "textbox", "Reply");
    expect(await axeFinds(browser)).toEqual([]);
    await fill(browser, "textbox", "Reply", "Me too");
    await click(browser, "button", "Reply");
    await click(browser, "button", "Rename");
    await byRole(browser, "textbox", "Your name");
    await click(browser, "button", "Report");
    await byRole(browser, "combobox", "Reason");
    expect(await axeFinds(browser)).toEqual([]);
    expect(await beyond()).toBe(0);
    await browser.visit(await site.ownerUrl());
    await panelShows(browser, "You moderate as Owner");
    await click(browser, "button", /^\d+ replies$/);
    await byRole(browser, "button", "Resolve");
    expect(await axeFinds(browser)).toEqual([]);
  });

  test("it is as light or dark as the page", async () => {
    await sized(browser, 1280);
    const paper = async (page: string) => {
      await open(page);
      await click(browser, "button", "Comments");
      await byRole(browser, "complementary", "Comments");
      return browser.evaluate<string>(
        "getComputedStyle(document.querySelector('svc-comments').shadowRoot.querySelector('.panel')).backgroundColor",
      );
    };
    const [white, night] = ["rgb(255, 255, 255)", "rgb(20, 24, 26)"];
    expect(await paper("/night.html")).toBe(night);
    expect(await paper("/paper.html")).toBe(white);
    expect(await paper("/")).toBe(scheme === "dark" ? night : white);
  });
});

describe("where there is room, and where there is little", () => {
  beforeAll(async () => void (await inScheme(browser, "light")));

  test("where it covers nothing it is a drawer at the right, below 1200 px a sheet of 45 % of the height", async () => {
    await sized(browser, 1600, 800);
    await open();
    await click(browser, "button", /^Thread on/);
    const drawer = await boxOf(browser, await byRole(browser, "complementary", "Comments"));
    expect([drawer.x + drawer.width > 1580, drawer.height]).toEqual([true, 800]);
    await sized(browser, 1199, 800);
    await until(async () => {
      const { x, y, height } = await boxOf(browser, await byRole(browser, "complementary", "Comments"));
      return x === 0 && Math.abs(height - 360) < 2 && Math.abs(y + height - 800) < 2;
    });
  });

  test("where lines begin at the right it stands at the left, and texts run as they are written", async () => {
    await sized(browser, 1280);
    await open("/rtl.html");
    await click(browser, "button", /^Thread on/);
    const drawer = await boxOf(browser, await byRole(browser, "complementary", "Comments"));
    expect(drawer.x).toBe(0);
    const directions = await browser.evaluate<string[]>(
      `[...document.querySelector("svc-comments").shadowRoot.querySelectorAll(".open .text")]
        .map((one) => getComputedStyle(one).direction)`,
    );
    expect(directions.slice(0, 2)).toEqual(["ltr", "rtl"]);
    expect(await beyond()).toBe(0);
  });

  test("in forced colours everything has an edge", async () => {
    await browser.cdp("Emulation.setEmulatedMedia", { features: [{ name: "forced-colors", value: "active" }] });
    await open();
    await click(browser, "button", /^Thread on/);
    const edges = await browser.evaluate<string[]>(
      `[".panel", ".card", ".pin", ".primary"].map((name) =>
        getComputedStyle(document.querySelector("svc-comments").shadowRoot.querySelector(name)).borderInlineStartWidth)`,
    );
    expect(edges.map(parseFloat).every((width) => width >= 1)).toBe(true);
    await inScheme(browser, "light");
  });

  test("nothing moves where less motion is wanted", async () => {
    await open();
    await click(browser, "button", /^Thread on/);
    const moving = await browser.evaluate<number>(
      "document.querySelector('svc-comments').shadowRoot.getAnimations().length",
    );
    expect(moving).toBe(0);
  });
});

describe("under a finger", () => {
  beforeAll(async () => {
    await browser.cdp("Network.clearBrowserCookies");
    await browser.cdp("Emulation.setDeviceMetricsOverride", {
      width: 390,
      height: 844,
      deviceScaleFactor: 1,
      mobile: true,
    });
    await browser.cdp("Emulation.setTouchEmulationEnabled", { enabled: true, maxTouchPoints: 5 });
  });
  afterAll(() => browser.cdp("Emulation.setTouchEmulationEnabled", { enabled: false }));

  test("the button stands below the selection, and a tap on it opens the sheet with a box to write in", async () => {
    await open();
    await byRole(browser, "button", /^Thread on/);
    await tap(browser, "heading", "Harbour guide");
    await browser.evaluate("getSelection().selectAllChildren(document.querySelector('#second'))"); // as a long press does
    const button = await boxOf(browser, await byRole(browser, "button", "Comment"));
    const words = await wordsAt(browser, "The tide tables");
    expect(button.y).toBeGreaterThan(words.y + words.height);
    await tap(browser, "button", "Comment");
    await byRole(browser, "textbox", "Comment");
    await browser.type("By thumb");
    await tap(browser, "button", "Post");
    await panelShows(browser, "By thumb");
  });

  test("what can be pressed is 44 px high, pins with what surrounds them too", async () => {
    await open();
    await tap(browser, "button", /^Thread on 'deploys/);
    await byRole(browser, "textbox", "Reply");
    const small: string[] = [];
    const inline = /^https:/; // in a line of text
    for (const thing of await things(browser)) {
      if (!/^(button|link|textbox)$/.test(thing.role) || inline.test(thing.name)) continue;
      const { height } = await boxOf(browser, thing);
      if (Math.round(height) < 44 && !thing.name.startsWith("Thread on")) small.push(`${thing.name}: ${height}`);
    }
    expect(small).toEqual([]);
    const spread = await browser.evaluate<number>(
      `parseFloat(getComputedStyle(document.querySelector("svc-comments").shadowRoot.querySelector(".pin"), "::after").height)`,
    );
    expect(spread).toBeGreaterThanOrEqual(44);
  });
});

test("a selection by mouse has its button above, inside the window", async () => {
  await sized(browser, 1280);
  await open();
  await byRole(browser, "button", /^Thread on/);
  await select(browser, "The tide tables");
  const button = await boxOf(browser, await byRole(browser, "button", "Comment"));
  const words = await wordsAt(browser, "The tide tables");
  expect(button.y + button.height).toBeLessThanOrEqual(words.y);
  expect(button.y).toBeGreaterThanOrEqual(0);
});
