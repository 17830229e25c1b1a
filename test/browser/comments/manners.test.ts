/** COMMENTS 5: the widget keeps to itself: keys that are typed into it are its own, words in it have their languages, and
 *  what a page does with its own size and direction is followed. */
import { beforeEach, expect, test } from "bun:test";
import { shared } from "../../kit/shared.ts";
import { until } from "../../kit/until.ts";
import { byRole, focused, valueOf } from "../by-role.ts";
import { sized } from "../health.ts";
import { type Box, boxOf, chord, click, clickAt, gone, panelShows, panelText, select, wordsAt } from "./hands.ts";
import { article, PASSAGE, World } from "./world.ts";

const world = shared(await World.open());
const { browser } = world;
beforeEach(async () => {
  await browser.cdp("Network.clearBrowserCookies");
  await sized(browser, 1280);
});

const PIN = `Thread on '${PASSAGE}', 0 replies`;
const inPanel = <T>(expression: string): Promise<T> =>
  browser.evaluate<T>(
    `(() => { const root = document.querySelector("svc-comments").shadowRoot; return ${expression}; })()`,
  );

/** As a keyboard does it: with the key's own events. */
async function typeKeys(text: string): Promise<void> {
  for (const key of text) {
    await browser.cdp("Input.dispatchKeyEvent", { type: "keyDown", key, text: key });
    await browser.cdp("Input.dispatchKeyEvent", { type: "keyUp", key });
  }
}

test("a page's own shortcuts hear nothing of what is typed into a comment", async () => {
  const shortcuts = `<input id="search" aria-label="Search"><script>
    window.heard = [];
    for (const type of ["keydown", "keypress", "keyup"]) {
      document.addEventListener(type, (event) => {
        heard.push(event.key);
        if (event.target.localName !== "input") document.querySelector("#search").focus();
      });
    }
  </script>`;
  const site = await world.site({ "index.html": article("", shortcuts) });
  await browser.visit(`${site.origin}/`);
  await click(browser, "button", "Comments");
  await byRole(browser, "textbox", "Comment");
  await typeKeys("s/he");
  expect(await focused(browser)).toEqual({ role: "textbox", name: "Comment" });
  expect(await valueOf(browser, "textbox", "Comment")).toBe("s/he");
  expect(await browser.evaluate<string[]>("heard")).toEqual([]);
  await browser.press("Escape");
  await until(() => inPanel<boolean>("root.querySelector('.panel').hidden"));
});

test("'/' is a slash in a comment on a docs site, whose search it opens elsewhere", async () => {
  const site = await world.site({
    "README.md": "# Tides\n\nHeights are above chart datum.\n",
    "b.md": "# Knots\n\nBowline.\n",
  });
  await browser.visit(`${site.origin}/`);
  await click(browser, "button", "Comments");
  await byRole(browser, "textbox", "Comment");
  await typeKeys("/1");
  expect(await valueOf(browser, "textbox", "Comment")).toBe("/1");
});

test("its own words are English, and those of visitors and pages in the page's language", async () => {
  const site = await world.site({ "index.html": article().replace('lang="en"', 'lang="de"') });
  await site.writeOn({ exact: PASSAGE }, "Stimmt das noch?");
  await browser.visit(`${site.origin}/`);
  await click(browser, "button", PIN);
  await panelShows(browser, "Stimmt das noch?");
  const languages = await inPanel<string[]>(
    `["button", ".launcher", ".quote", ".text", "textarea"].map((name) => root.querySelector(name).closest("[lang]")?.lang)`,
  );
  expect(languages).toEqual(["en", "en", "de", "de", "de"]);
});

test.each(["html { zoom: 1.5 }", "html { zoom: 0.75 } body { zoom: 1.2 }"])(
  "on a page with %s it has its own size, and lies where it belongs",
  async (style) => {
    const site = await world.site({ "index.html": article(`<style>${style}</style>`) });
    await site.writeOn({ exact: PASSAGE }, "Large?");
    await browser.visit(`${site.origin}/`);
    await byRole(browser, "button", PIN);
    const pin = await inPanel<Box>("root.querySelector('.pin').getBoundingClientRect().toJSON()");
    const words = await wordsAt(browser, PASSAGE);
    expect([pin.width, Math.abs(pin.y + 14 - words.y - words.height / 2) < 3, pin.x < 1280]).toEqual([28, true, true]);
    await select(browser, "The tide tables");
    const button = await boxOf(browser, await byRole(browser, "button", "Comment"));
    const selected = await wordsAt(browser, "The tide tables");
    expect(Math.abs(button.y + button.height + 8 - selected.y)).toBeLessThan(3);
    await browser.evaluate("getSelection().empty()");
    await click(browser, "button", PIN);
    const panel = await boxOf(browser, await byRole(browser, "complementary", "Comments"));
    expect([panel.width, panel.height]).toEqual([376, 800]);
  },
);

test.each([
  ["html { font-size: 32px }", 2],
  ["html { font-size: 62.5% }", 1], // a page that counts so has larger letters than its root
  ["html { font-size: 100px }", 2],
])("%s: letters, pins and controls are %i times as large", async (style, times) => {
  const site = await world.site({ "index.html": article(`<style>${style}</style>`) });
  await site.writeOn({ exact: PASSAGE }, "Readable?");
  await browser.visit(`${site.origin}/`);
  await byRole(browser, "button", PIN);
  const launcher = await inPanel<number>("parseFloat(getComputedStyle(root.querySelector('.launcher')).fontSize)");
  await click(browser, "button", PIN);
  await panelShows(browser, "Readable?");
  const sizes = await inPanel<number[]>(
    `[".text", ".name", ".quote", "textarea", ".primary"].map((name) => parseFloat(getComputedStyle(root.querySelector(name)).fontSize))`,
  );
  expect(sizes).toEqual([15, 14, 14, 15, 14].map((size) => size * times));
  expect(launcher).toBe(15 * times);
  expect(await inPanel<number>("root.querySelector('.pin').offsetWidth")).toBe(28 * times);
  expect((await boxOf(browser, await byRole(browser, "button", "Close"))).width).toBeGreaterThanOrEqual(40 * times);
});

const NIGHT = "rgb(20, 24, 26)";
const paper = (): Promise<string> => inPanel<string>("getComputedStyle(root.querySelector('.panel')).backgroundColor");

test.each([
  ["a picture behind light words", "html { background: linear-gradient(#111, #223); color: #eee }"],
  ["a mixed colour", "body { background: color-mix(in srgb, #000 90%, #fff); color: #eee }"],
  ["a colour of another space", "body { background: oklch(20% 0.02 250); color: #eee }"],
  ["the browser's own darkness", ":root { color-scheme: dark }"],
])("a page that is dark by %s has a dark panel", async (_, style) => {
  const site = await world.site({ "index.html": article(`<style>${style}</style>`) });
  await browser.visit(`${site.origin}/`);
  await click(browser, "button", "Comments");
  await byRole(browser, "complementary", "Comments");
  expect(await paper()).toBe(NIGHT);
});

test("a page that is turned dark and light again takes the open panel along", async () => {
  const toggle = `<button id="turn">Turn</button><script>
    document.querySelector("#turn").onclick = () => document.documentElement.classList.toggle("night");
  </script>`;
  const style =
    "<style>body { transition: background-color 0.2s } .night body { background: #101418; color: #eee }</style>";
  const site = await world.site({ "index.html": article(style, toggle) });
  await browser.visit(`${site.origin}/`);
  await click(browser, "button", "Comments");
  await byRole(browser, "complementary", "Comments");
  const before = await paper();
  await Bun.sleep(3200); // what is looked at after a load is over
  await browser.evaluate("document.querySelector('#turn').click()");
  await until(async () => (await paper()) === NIGHT);
  await browser.evaluate("document.documentElement.classList.remove('night')"); // by no click
  await until(async () => (await paper()) === before);
});

test("a page whose body alone runs from right to left has the drawer at the left", async () => {
  const site = await world.site({ "index.html": article().replace("<body>", '<body dir="rtl">') });
  await site.writeOn({ exact: PASSAGE }, "Left?");
  await browser.visit(`${site.origin}/`);
  await click(browser, "button", PIN);
  expect((await boxOf(browser, await byRole(browser, "complementary", "Comments"))).x).toBe(0);
});

test("a resolved passage is underlined under the mouse, and a click on it opens its thread", async () => {
  const site = await world.site({ "index.html": article() });
  await site.writeOn({ exact: PASSAGE }, "Settled long ago");
  await browser.visit(await site.ownerUrl());
  await click(browser, "button", "Resolve");
  await byRole(browser, "button", `${PIN}, resolved`);
  await browser.cdp("Network.clearBrowserCookies");
  await browser.visit(`${site.origin}/`);
  await byRole(browser, "button", `${PIN}, resolved`);
  const marked = (name: string) => browser.evaluate<string[]>(`[...(CSS.highlights.get("${name}") ?? [])].map(String)`);
  expect([await marked("svc-comment"), await marked("svc-comment-resolved")]).toEqual([[], []]);
  const { x, y, width, height } = await wordsAt(browser, PASSAGE);
  const point = { x: x + width / 2, y: y + height / 2 };
  await browser.cdp("Input.dispatchMouseEvent", { type: "mouseMoved", ...point });
  await until(async () => (await marked("svc-comment-resolved")).join() === PASSAGE);
  await clickAt(browser, point);
  await panelShows(browser, "Settled long ago");
});

test("where a browser has no highlights, pins alone show where threads are", async () => {
  const { identifier } = await browser.cdp<{ identifier: string }>("Page.addScriptToEvaluateOnNewDocument", {
    source: "Object.defineProperty(CSS, 'highlights', { value: undefined }); delete window.Highlight;",
  });
  const site = await world.site({ "index.html": article() });
  await site.writeOn({ exact: PASSAGE }, "By the pin");
  const { failures } = await browser.visit(`${site.origin}/`);
  await click(browser, "button", PIN);
  await panelShows(browser, "By the pin");
  expect(failures).toEqual([]);
  await browser.cdp("Page.removeScriptToEvaluateOnNewDocument", { identifier });
});

test("what is printed is the page alone", async () => {
  const site = await world.site({ "index.html": article() });
  await site.writeOn({ exact: PASSAGE }, "On screen only");
  await browser.visit(`${site.origin}/`);
  await byRole(browser, "button", PIN);
  const painted = () =>
    browser.evaluate<string>(
      `getComputedStyle(document.querySelector("#first"), "::highlight(svc-comment)").backgroundColor`,
    );
  const on_screen = await painted();
  await browser.cdp("Emulation.setEmulatedMedia", { media: "print" });
  expect(await painted()).not.toBe(on_screen);
  expect(await inPanel<boolean>("root.querySelector('.pin').checkVisibility()")).toBe(false);
  await browser.cdp("Emulation.setEmulatedMedia", { media: "" });
});

test.each(["<textarea>", "<input value='"])("what is selected in %s of the page gets no button", async (begun) => {
  const box = `${begun}Words that one writes${begun.endsWith("'") ? "'>" : "</textarea>"}`;
  const site = await world.site({ "index.html": article("", `<label>Box ${box}</label>`) });
  await browser.visit(`${site.origin}/`);
  await select(browser, "The tide tables");
  await byRole(browser, "button", "Comment");
  await browser.evaluate(
    "document.querySelector('main label > *').focus(), document.querySelector('main label > *').select()",
  );
  await gone(browser, "button", "Comment");
  await chord(browser, "KeyM", "m", "ctrl", "alt");
  await Bun.sleep(300);
  expect(await panelText(browser)).toBe("");
});

test("Ctrl+Alt+M in a component that keeps its keys to itself comments all the same", async () => {
  const site = await world.site({
    "index.html": article(
      "",
      `<script>document.body.addEventListener("keydown", (event) => event.stopPropagation())</script>`,
    ),
  });
  await browser.visit(`${site.origin}/`);
  await select(browser, "The tide tables");
  await byRole(browser, "button", "Comment");
  await chord(browser, "KeyM", "m", "ctrl", "alt");
  await byRole(browser, "textbox", "Comment");
});
