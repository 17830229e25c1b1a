/** COMMENTS 5 in a real Chromium, by keyboard alone, and as a screen reader hears it. */
import { beforeEach, expect, test } from "bun:test";
import { shared } from "../../kit/shared.ts";
import { until } from "../../kit/until.ts";
import { byRole, focused, named, things } from "../by-role.ts";
import { chord, gone, panelShows, panelText, selectByKeys } from "./hands.ts";
import { article, type CommentedSite, PASSAGE, World } from "./world.ts";

const world = shared(await World.open());
const { browser } = world;
let site: CommentedSite;
beforeEach(async () => {
  await browser.cdp("Network.clearBrowserCookies");
  site = await world.site({ "index.html": article("", '<p><a href="/other.html" id="link">A link</a></p>') });
});

const PIN = `Thread on '${PASSAGE}', 0 replies`;
const open = async (): Promise<void> => void (await browser.visit(`${site.origin}/`));
const focusIs = (role: string, name: string | RegExp): Promise<void> =>
  until(async () => {
    const one = await focused(browser);
    return one?.role === role && (typeof name === "string" ? one.name === name : name.test(one.name));
  });
async function tabTo(name: string): Promise<void> {
  for (let i = 0; i < 12; i++) {
    if ((await focused(browser))?.name === name) return;
    await browser.press("Tab");
  }
  throw new Error(`Tab never came to ${name}`);
}

test("Ctrl+Alt+M comments on what is selected", async () => {
  await open();
  await selectByKeys(browser, "#first", 20);
  await byRole(browser, "button", "Comment on selection");
  await chord(browser, "KeyM", "m", "ctrl", "alt");
  await focusIs("textbox", "Comment");
  expect(await panelText(browser)).toContain("On a normal connecti");
});

test("'Comment on selection' is reached by Tab and pressed with Enter", async () => {
  await open();
  await selectByKeys(browser, "#last", 8);
  await byRole(browser, "button", "Comment on selection");
  await tabTo("Comment on selection");
  await browser.press("Enter");
  await focusIs("textbox", "Comment");
  await browser.type("Without a mouse");
  await browser.press("Tab");
  await focusIs("button", "Post");
  await browser.press("Enter");
  await until(async () => (await site.texts()).includes("Without a mouse"));
});

test("no single letter does anything", async () => {
  await site.writeOn({ exact: PASSAGE }, "Quiet");
  await open();
  await byRole(browser, "button", PIN);
  await selectByKeys(browser, "#first", 5);
  await byRole(browser, "button", "Comment on selection");
  for (const key of "abcdefghijklmnopqrstuvwxyz?/") await browser.type(key);
  await Bun.sleep(100);
  expect(await panelText(browser)).toBe("");
});

test("Enter on a pin opens its thread with the focus in the panel; Esc closes it and returns to the pin", async () => {
  await site.writeOn({ exact: PASSAGE }, "By Enter");
  await open();
  await byRole(browser, "button", PIN);
  await tabTo(PIN);
  await browser.press("Enter");
  await panelShows(browser, "By Enter");
  expect(
    await browser.evaluate<boolean>(
      `document.querySelector("svc-comments").shadowRoot.activeElement.closest("[role=complementary]") !== null`,
    ),
  ).toBe(true);
  await browser.press("Escape");
  await focusIs("button", PIN);
  expect(await panelText(browser)).toBe("");
});

test("'Show in page' moves the focus to the passage, Esc goes back to the thread, and no mark is left behind", async () => {
  await site.writeOn({ exact: PASSAGE }, "There");
  await open();
  await byRole(browser, "button", PIN);
  await tabTo(PIN);
  await browser.press("Enter");
  await tabTo("Show in page");
  await browser.press("Enter");
  await until(() => browser.evaluate<boolean>("document.activeElement.id === 'first'"));
  await browser.press("Escape");
  await until(() => browser.evaluate<boolean>("document.activeElement.localName === 'svc-comments'"));
  expect(await browser.evaluate<boolean>("document.querySelector('#first').hasAttribute('tabindex')")).toBe(false);
  expect(await panelText(browser)).toContain("There");
});

test("a comment that is not written after all leaves the selection as it was, to go on from there", async () => {
  await open();
  await selectByKeys(browser, "#second", 13);
  await byRole(browser, "button", "Comment on selection");
  await chord(browser, "KeyM", "m", "ctrl", "alt");
  await focusIs("textbox", "Comment");
  await browser.press("Escape");
  await gone(browser, "complementary", "Comments");
  expect(await browser.evaluate<string>("getSelection().toString()")).toBe("The tide tabl");
  await chord(browser, "KeyM", "m", "ctrl", "alt");
  await focusIs("textbox", "Comment");
  await panelShows(browser, "The tide tabl");
});

test("the launcher opens the panel, and Esc returns to it", async () => {
  await open();
  await byRole(browser, "button", "Comments");
  await tabTo("Comments");
  await browser.press("Enter");
  await focusIs("textbox", "Comment");
  await browser.press("Escape");
  await focusIs("button", "Comments");
});

test("Ctrl+Enter posts", async () => {
  await open();
  await byRole(browser, "button", "Comments");
  await tabTo("Comments");
  await browser.press("Enter");
  await focusIs("textbox", "Comment");
  await browser.type("In one stroke");
  await chord(browser, "Enter", "Enter", "ctrl");
  await until(async () => (await site.texts()).includes("In one stroke"));
});

test("pins and threads stand in the order in which the page is read, each under its name", async () => {
  const late = await site.writeOn({ exact: "The last boat leaves at noon" }, "Last");
  await site.writeOn({ exact: PASSAGE }, "First");
  await site.write("Answer", late.iri);
  await site.write("All of it", `${site.origin}/index.html`);
  await site.writeOn({ exact: "what nobody ever wrote on this page" }, "Lost");
  await open();
  await byRole(browser, "button", PIN);
  const pins = (await named(browser, "button")).filter((name) => name.startsWith("Thread on"));
  expect(pins).toEqual([PIN, "Thread on 'The last boat leaves at noon', 1 reply"]);
  await tabTo("Comments");
  await browser.press("Enter");
  await byRole(browser, "list", "Threads");
  const text = await panelText(browser);
  const order = ["First", "Last", "About the whole page", "No longer on the page"].map((one) => text.indexOf(one));
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  expect(order).not.toContain(-1);
});

test("a long quote is shortened in the pin's name, and a resolved thread says so", async () => {
  const quote = "The tide tables are computed from the gauge at the pier";
  await site.writeOn({ exact: quote }, "Long");
  await browser.visit(await site.ownerUrl());
  await byRole(browser, "button", "Resolve");
  await tabTo("Resolve");
  await browser.press("Enter");
  await byRole(browser, "button", "Thread on 'The tide tables are computed from the…', 0 replies, resolved");
});

test("everything that can be pressed has a name, and the panel is a landmark", async () => {
  await site.writeOn({ exact: PASSAGE }, "Named");
  await open();
  await byRole(browser, "button", PIN);
  await tabTo(PIN);
  await browser.press("Enter");
  await byRole(browser, "complementary", "Comments");
  const nameless = (await things(browser)).filter(({ role, name }) => /^(button|link|textbox)$/.test(role) && !name);
  expect(nameless).toEqual([]);
  await browser.press("Escape");
  await gone(browser, "complementary", "Comments");
});
