/** COMMENTS 5: what is seldom wanted is quiet, and in reach of a mouse, a keyboard and a finger all the same. */
import { expect, test } from "bun:test";
import { shared } from "../../kit/shared.ts";
import { until } from "../../kit/until.ts";
import { named } from "../by-role.ts";
import { sized } from "../health.ts";
import { type Box, click, panelShows, tap } from "./hands.ts";
import { article, PASSAGE, World } from "./world.ts";

/** A headless browser has no mouse of its own: this one says that its pointer hovers, and is as fine as a mouse's. */
const MOUSE = "availableHoverTypes=2,primaryHoverType=2,availablePointerTypes=4,primaryPointerType=4";
const world = shared(await World.open(`--blink-settings=${MOUSE}`));
const { browser } = world;
const site = await world.site({ "index.html": article() });
const { iri } = await site.writeOn({ exact: PASSAGE }, "First");
await site.write("Second", iri);

const IN = `document.querySelector("svc-comments").shadowRoot`;
const reports = (expression: string): Promise<string> =>
  browser.evaluate<string>(`[...${IN}.querySelectorAll(".report")].map((one) => ${expression}).join()`);

test("'Report' is seen at the comment under the mouse, and at the one that the keyboard has come to", async () => {
  await sized(browser, 1280);
  await browser.visit(`${site.origin}/`);
  await click(browser, "button", /^Thread on/);
  await panelShows(browser, "Second");
  const seen = () => reports("getComputedStyle(one).opacity");
  expect(await seen()).toBe("0,0");
  const { x, y } = await browser.evaluate<Box>(`${IN}.querySelectorAll(".text")[1].getBoundingClientRect().toJSON()`);
  await browser.cdp("Input.dispatchMouseEvent", { type: "mouseMoved", x: x + 5, y: y + 5 });
  await until(async () => (await seen()) === "0,1");
  await browser.cdp("Input.dispatchMouseEvent", { type: "mouseMoved", x: 5, y: 5 });
  await until(async () => (await seen()) === "0,0");
  await browser.press("Tab"); // from the card, which has the focus
  await until(async () => (await seen()) === "1,0");
  await browser.press("Enter");
  await panelShows(browser, "Report this comment");
});

test("under a finger it is a mark of three dots, which is called so all the same", async () => {
  await sized(browser, 390, 844);
  await browser.cdp("Emulation.setTouchEmulationEnabled", { enabled: true });
  await browser.visit(`${site.origin}/`);
  await tap(browser, "button", /^Thread on/);
  await panelShows(browser, "Second");
  expect(await reports(`getComputedStyle(one).opacity + getComputedStyle(one, "::before").content[1]`)).toBe("1·,1·");
  expect(await reports("one.offsetWidth >= 44 && one.offsetHeight >= 44")).toBe("true,true");
  expect((await named(browser, "button")).filter((name) => name === "Report")).toHaveLength(2);
  await tap(browser, "button", "Report");
  await panelShows(browser, "Report this comment");
});
