/** COMMENTS 3 and 5: what stands inside a page: components with a shadow tree of their own, and frames. */
import { beforeEach, expect, test } from "bun:test";
import { shared } from "../../kit/shared.ts";
import { until } from "../../kit/until.ts";
import { byRole, fill, named } from "../by-role.ts";
import { axeFinds } from "../health.ts";
import { type Box, boxOf, click, clickAt, gone, panelShows, panelText } from "./hands.ts";
import { article, type CommentedSite, PASSAGE, World } from "./world.ts";

const world = shared(await World.open());
const { browser } = world;
beforeEach(() => browser.cdp("Network.clearBrowserCookies"));

/** Two cards, one inside the other, and a box to write in. */
const CARDS = `<x-card></x-card><x-card class="second"></x-card><script>
  for (const card of document.querySelectorAll("x-card")) {
    const root = card.attachShadow({ mode: "open" });
    root.innerHTML = "<p>Berths are given out by the office.</p><x-fee></x-fee><input aria-label='Name' value='Ada'>";
    root.querySelector("x-fee").attachShadow({ mode: "open" }).innerHTML = "<b>Nine crowns a night</b>";
  }
</script>`;

const drag = async (element: string): Promise<void> => {
  const { x, y, width, height } = await browser.evaluate<Box>(`(() => {
    const one = ${element};
    one.scrollIntoView({ block: "center" });
    const { x, y, width, height } = one.getBoundingClientRect();
    return { x, y, width, height };
  })()`);
  const mouse = (type: string, at: number) =>
    browser.cdp("Input.dispatchMouseEvent", {
      type,
      x: at,
      y: y + height / 2,
      button: "left",
      buttons: 1,
      clickCount: 1,
    });
  await mouse("mousePressed", x + 2);
  for (const step of [20, 40, 60]) await mouse("mouseMoved", x + Math.min(step, width - 2));
  await mouse("mouseReleased", x + Math.min(60, width - 2));
};
const SECOND = "document.querySelector('.second').shadowRoot";

interface Asked {
  threads: { anchor: { selector?: unknown; hints?: { element?: string } } }[];
}
const anchors = async (site: CommentedSite) =>
  ((await (await site.ask("/_svc/comments/threads?page=/index.html")).json()) as Asked).threads.map(
    ({ anchor }) => anchor,
  );

test.each([
  ["a component", `${SECOND}.querySelector("p")`],
  ["a component inside a component", `${SECOND}.querySelector("x-fee").shadowRoot.querySelector("b")`],
])("what is selected in %s is commented on as that part of the page", async (_, element) => {
  const site = await world.site({ "index.html": article("", CARDS) });
  await browser.visit(`${site.origin}/`);
  await byRole(browser, "button", "Comments");
  await drag(element);
  await click(browser, "button", "Comment");
  await panelShows(browser, "About a part of the page");
  await fill(browser, "textbox", "Comment", "For how long?");
  await click(browser, "button", "Post");
  await until(async () => (await anchors(site)).length === 1);
  expect(await anchors(site)).toMatchObject([{ hints: { element: "body>main>x-card:nth-of-type(2)" } }]);
  expect((await anchors(site))[0]!.selector).toBeUndefined(); // it is no text of the page
  await browser.visit(`${site.origin}/`);
  const name = "Thread on 'a part of the page', 0 replies";
  await byRole(browser, "button", name);
  const apart = await browser.evaluate<number>(`(() => {
    const pin = document.querySelector("svc-comments").shadowRoot.querySelector(".pin").getBoundingClientRect();
    const card = document.querySelector(".second").getBoundingClientRect();
    return Math.max(card.top - pin.top, pin.top - card.bottom);
  })()`);
  expect(apart).toBeLessThan(10); // beside it
  await click(browser, "button", name);
  await panelShows(browser, "For how long?");
  await panelShows(browser, "About a part of the page");
  expect(await axeFinds(browser)).toEqual([]);
});

test("the button stands at the selected words, and a component's own clicks and boxes stay its own", async () => {
  const site = await world.site({ "index.html": article("", CARDS) });
  const element = "body>main>x-card:nth-of-type(2)";
  await site.write("Of the card", {
    source: `${site.origin}/index.html`,
    selector: { type: "CssSelector", value: element },
  });
  await browser.visit(`${site.origin}/`);
  await byRole(browser, "button", /^Thread on 'a part/);
  const words = `${SECOND}.querySelector("p")`;
  await drag(words);
  const button = await boxOf(browser, await byRole(browser, "button", "Comment"));
  const line = await browser.evaluate<Box>(`${words}.getBoundingClientRect().toJSON()`);
  expect([button.y + button.height <= line.y, line.y - button.y - button.height < 20]).toEqual([true, true]);
  await clickAt(browser, { x: line.x + 300, y: line.y + line.height / 2 }); // the selection goes
  await gone(browser, "button", "Comment");
  expect(await panelText(browser)).toBe("");
  await browser.evaluate(`${SECOND}.querySelector("input").select(), ${SECOND}.querySelector("input").focus()`);
  await Bun.sleep(400);
  expect(await named(browser, "button")).not.toContain("Comment");
});

test("a part that went is the whole page's again", async () => {
  const site = await world.site({ "index.html": article() });
  const selector = { type: "CssSelector", value: "#card" };
  await site.write("Of a card", { source: `${site.origin}/index.html`, selector });
  await browser.visit(`${site.origin}/`);
  await click(browser, "button", "Comments");
  await panelShows(browser, "About the whole page");
  expect((await named(browser, "button")).filter((name) => name.startsWith("Thread"))).toEqual([]);
});

test("a page of the site in a frame of the site has its own launcher, pins and threads", async () => {
  const outer = `<!doctype html><html lang="en"><title>Outer</title><h1>Outer</h1>
    <iframe src="/inner.html" title="Inner" width="1000" height="500"></iframe></html>`;
  const site = await world.site({ "index.html": outer, "inner.html": article() });
  await site.writeOn({ exact: PASSAGE }, "Inside", { page: "/inner.html" });
  await browser.visit(`${site.origin}/`);
  const root = "document.querySelector('iframe').contentDocument.querySelector('svc-comments')?.shadowRoot";
  const inner = <T>(expression: string) =>
    browser.evaluate<T>(`(() => { const root = ${root}; return ${expression}; })()`);
  await until(() => inner<boolean>("!!root?.querySelector('.pin')"));
  expect(await inner<string>("root.querySelector('.launcher').textContent")).toBe("Comments1");
  await inner("root.querySelector('.launcher').click()");
  await until(() => inner<boolean>("root.querySelector('.panel').innerText.includes('Inside')"));
  const boxes = "[...root.querySelectorAll('textarea')].map((box) => box.ariaLabel)";
  expect(await inner<string[]>(boxes)).toEqual(["Reply"]); // the only thread is the open one
});
