/** COMMENTS 3 and 5: what somebody selects, in whatever writing and by whatever keys, and where the sheet stands while they
 *  write. */
import { beforeEach, expect, test } from "bun:test";
import { shared } from "../../kit/shared.ts";
import { until } from "../../kit/until.ts";
import { byRole, fill } from "../by-role.ts";
import { sized } from "../health.ts";
import { type Box, chord, click, panelShows, select } from "./hands.ts";
import { article, type CommentedSite, World } from "./world.ts";

const world = shared(await World.open());
const { browser } = world;
beforeEach(async () => {
  await browser.cdp("Network.clearBrowserCookies");
  await sized(browser, 1280);
});

interface Asked {
  threads: { anchor: { selector?: { exact: string; prefix: string; suffix: string }[] } }[];
}
async function quotes(site: CommentedSite): Promise<{ exact: string; prefix: string; suffix: string }[]> {
  const { threads } = (await (await site.ask("/_svc/comments/threads?page=/index.html")).json()) as Asked;
  return threads.flatMap(({ anchor }) => anchor.selector ?? []);
}

/** Of the element's text: UTF-16 units, the place where the selection began first. */
const selectUnits = (from: number, to: number): Promise<unknown> =>
  browser.evaluate(`(() => {
    const text = document.querySelector("#odd").firstChild;
    getSelection().setBaseAndExtent(text, ${from}, text, ${to});
  })()`);

async function comment(text: string): Promise<void> {
  await click(browser, "button", "Comment");
  await fill(browser, "textbox", "Comment", text);
  await click(browser, "button", "Post");
  await panelShows(browser, text);
}

const FAMILY = "👩‍👩‍👧";
const ODD = `Boats of 🇩🇪🇫🇷 and the ${FAMILY} crew sail, नमस्ते they call.`;

// Chromium takes what is inside one of them for nothing: each goes on behind it.
test.each([
  ["a flag", ODD.indexOf("🇩🇪") + 2, ODD.indexOf("🇫🇷") + 2, "🇩🇪🇫🇷"],
  ["a family", ODD.indexOf(FAMILY) + 3, ODD.indexOf(" sail"), `${FAMILY} crew`],
  ["half of a pair", ODD.indexOf(FAMILY) + 1, ODD.indexOf(" sail"), `${FAMILY} crew`],
  ["a syllable of Devanagari, backwards", ODD.indexOf(" call"), ODD.indexOf("नमस्ते") + 3, "स्ते they"],
])("a selection that cuts %s has all of it", async (_, from, to, exact) => {
  const site = await world.site({ "index.html": article("", `<p id="odd">${ODD}</p>`) });
  await browser.visit(`${site.origin}/`);
  await byRole(browser, "button", "Comments");
  await selectUnits(from, to);
  await comment("Whole?");
  await until(async () => (await quotes(site)).length === 1);
  const [quote] = await quotes(site);
  expect(quote!.exact).toBe(exact);
  expect(ODD).toContain(quote!.prefix.slice(-6) + exact + quote!.suffix.slice(0, 6));
});

test("what runs from right to left is quoted in the order in which it is read", async () => {
  const words = "הספינה Aurora נכנסת לנמל בשעה 12:30 בדיוק.";
  const site = await world.site({ "index.html": article("", `<p id="odd" dir="rtl">${words}</p>`) });
  await browser.visit(`${site.origin}/`);
  await byRole(browser, "button", "Comments");
  const exact = "Aurora נכנסת לנמל בשעה 12:30";
  await selectUnits(words.indexOf(exact) + exact.length, words.indexOf(exact));
  await comment("When?");
  await until(async () => (await quotes(site)).length === 1);
  expect(await quotes(site)).toMatchObject([{ exact }]);
  await browser.visit(`${site.origin}/`);
  await byRole(browser, "button", `Thread on '${exact}', 0 replies`);
});

test("Cmd+Alt+M comments as Ctrl+Alt+M does", async () => {
  const site = await world.site({ "index.html": article() });
  await browser.visit(`${site.origin}/`);
  await select(browser, "The tide tables");
  await byRole(browser, "button", "Comment");
  await chord(browser, "KeyM", "µ", "meta", "alt"); // what a Mac makes of it
  await byRole(browser, "textbox", "Comment");
});

test("on a phone the sheet stands above the keyboard", async () => {
  const { identifier } = await browser.cdp<{ identifier: string }>("Page.addScriptToEvaluateOnNewDocument", {
    source: `window.seen = Object.assign(new EventTarget(), { height: 844, offsetTop: 0, scale: 1 });
      Object.defineProperty(window, "visualViewport", { value: seen });`,
  });
  await sized(browser, 390, 844);
  const site = await world.site({ "index.html": article() });
  await browser.visit(`${site.origin}/`);
  await click(browser, "button", "Comments");
  await byRole(browser, "complementary", "Comments");
  const sheet = () =>
    browser.evaluate<Box>(
      `document.querySelector("svc-comments").shadowRoot.querySelector(".panel").getBoundingClientRect().toJSON()`,
    );
  const bottomIs = (wanted: number) =>
    until(async () => {
      const { y, height } = await sheet();
      return Math.abs(y + height - wanted) <= 1 && y >= 0;
    });
  const keyboard = (height: number) =>
    browser.evaluate(`seen.height = 844 - ${height}, seen.dispatchEvent(new Event("resize"))`);
  await bottomIs(844);
  await keyboard(320);
  await bottomIs(524);
  await keyboard(0);
  await bottomIs(844);
  await browser.cdp("Page.removeScriptToEvaluateOnNewDocument", { identifier });
});
