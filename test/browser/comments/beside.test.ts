/** COMMENTS 5: the panel never covers the passage that it is about, and the box in sight is the open thread's. */
import { beforeEach, describe, expect, test } from "bun:test";
import { shared } from "../../kit/shared.ts";
import { until } from "../../kit/until.ts";
import { partOf } from "../../kit/whole.ts";
import { byRole, fill, focused, named } from "../by-role.ts";
import { loadOf, sized, watchLoads } from "../health.ts";
import { type Box, click, clickAt, panelShows, select, wordsAt } from "./hands.ts";
import { article, PASSAGE, World } from "./world.ts";

const world = shared(await World.open());
const { browser } = world;
await watchLoads(browser);
beforeEach(() => browser.cdp("Network.clearBrowserCookies"));

const FILLER =
  "The harbour office answers by radio from six in the morning, and nobody is in a hurry there at all. ".repeat(4);
const FIRST = "Ferries cross at high water and wait for nobody at all";
const LAST = "the northern quay where the water is deep at every tide";
const text = `${FIRST}. ${FILLER}${LAST}.`;
const GUIDE = `# Guide\n\n${text}\n\n## Ropes\n\n${"Ropes are coiled. ".repeat(90)}\n\n## Knots\n\n${FILLER}\n\n## Lights\n\n${FILLER}\n`;
const docs = await world.site({
  "README.md": GUIDE,
  "b.md": "# Tides\n\nHigh and low.\n",
  "c.md": "# Knots\n\nBowline.\n",
});
const plain = await world.site({
  "index.html": article().replace(PASSAGE, `${FIRST}. ${FILLER} and ${LAST}`),
  "full.html": `<!doctype html><html lang="en"><title>Full</title><meta name="viewport" content="width=device-width"><body style="margin:16px;font:16px/1.6 sans-serif"><main><h1>Full</h1><p>${text}</p>${`<p>${FILLER}</p>`.repeat(9)}</main>`,
  "rtl.html": `<!doctype html><html lang="en" dir="rtl"><title>Right</title><meta name="viewport" content="width=device-width"><body style="margin:16px;font:16px/1.6 sans-serif"><main><h1>Right</h1><p>${text}</p>${`<p>${FILLER}</p>`.repeat(9)}</main>`,
});
for (const exact of [FIRST, LAST]) {
  await docs.writeOn({ exact }, `About ${exact.slice(0, 12)}`);
  for (const page of ["/index.html", "/full.html", "/rtl.html"]) {
    await plain.writeOn({ exact }, `About ${exact.slice(0, 12)}`, { page });
  }
}

interface Seen {
  passage: Box[];
  panel: Box;
  rail: Box | null;
}

const look = (): Promise<Seen> =>
  browser.evaluate<Seen>(`(() => {
    const root = document.querySelector("svc-comments").shadowRoot;
    const plain = ({ x, y, width, height }) => ({ x, y, width, height });
    const rail = root.querySelector(".rail:not([hidden])");
    const [range] = CSS.highlights.get("svc-comment-active") ?? [];
    return {
      passage: range ? [...range.getClientRects()].map(plain) : [],
      panel: plain(root.querySelector(".panel").getBoundingClientRect()),
      rail: rail && plain(rail.getBoundingClientRect()),
    };
  })()`);

const meet = (a: Box, b: Box): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

/** Once scrolling has come to its end: the whole passage is in the window and nothing lies on it. */
const clear = (): Promise<void> =>
  until(async () => {
    const { passage, panel, rail } = await look();
    const height = await browser.evaluate<number>("innerHeight");
    return (
      passage.length > 0 &&
      passage.every((one) => one.y >= 0 && one.y + one.height <= height && !meet(one, panel)) &&
      !passage.some((one) => rail && meet(one, rail))
    );
  });

const WIDTHS = [390, 768, 1024, 1280, 1366, 1440, 1536, 1600];
const PLACES = ["docs", "index", "full", "rtl"].flatMap((page) => WIDTHS.map((width) => [page, width] as const));
const addressOf = (page: string): string => (page === "docs" ? `${docs.origin}/` : `${plain.origin}/${page}.html`);

describe("the panel leaves free what it is about", () => {
  test.each(partOf(PLACES, 16))("%s at %d px: from a pin, and from the list", async (page, width) => {
    await sized(browser, width, width < 500 ? 844 : 768);
    await browser.visit(addressOf(page));
    await click(browser, "button", /^Thread on 'Ferries/);
    await panelShows(browser, `About ${FIRST.slice(0, 12)}`);
    await clear();
    await clickAtCard(`About ${LAST.slice(0, 12)}`);
    await until(async () => (await marked()) === LAST);
    await clear();
    expect((await loadOf(browser)).shifted).toBe(0);
    expect((await loadOf(browser)).beyond).toBe(0);
  });

  test.each([390, 1024, 1280])("nor the one that is being commented on: docs at %d px", async (width) => {
    await sized(browser, width, width < 500 ? 844 : 768);
    await browser.visit(addressOf("docs"));
    await byRole(browser, "button", /^Thread on/);
    await select(browser, "harbour office answers");
    await click(browser, "button", "Comment");
    await byRole(browser, "textbox", "Comment");
    await clear();
  });

  test("a link to a comment lands on its passage, and nothing shifts", async () => {
    await sized(browser, 1280, 768);
    const { id } = await docs.writeOn({ exact: "High and low" }, "Which?", { page: "/b.html" });
    await browser.visit(`${docs.origin}/b.html#svc-${id}`);
    await panelShows(browser, "Which?");
    await clear();
    expect((await loadOf(browser)).shifted).toBe(0);
  });

  test("a docs site folds its lists away while the panel is open, and has them back afterwards", async () => {
    await sized(browser, 1100, 768);
    await browser.visit(addressOf("docs"));
    const shown = (name: string) => browser.evaluate<boolean>(`document.querySelector("${name}").checkVisibility()`);
    await click(browser, "button", /^Thread on/);
    await byRole(browser, "complementary", "Comments");
    expect([await shown(".pages"), await shown(".contents")]).toEqual([false, false]);
    expect(await browser.evaluate<boolean>("'svcComments' in document.documentElement.dataset")).toBe(true);
    await click(browser, "button", "Close");
    expect(await shown(".pages")).toBe(true);
    expect(await browser.evaluate<boolean>("'svcComments' in document.documentElement.dataset")).toBe(false);
    await sized(browser, 1280, 768);
    await browser.visit(addressOf("docs")); // pins have their places again
    await click(browser, "button", /^Thread on/);
    await byRole(browser, "complementary", "Comments");
    expect([await shown(".pages"), await shown(".contents")]).toEqual([true, false]);
  });
});

const marked = (): Promise<string> =>
  browser.evaluate<string>(`String([...CSS.highlights.get("svc-comment-active") ?? []])`);

/** Presses a thread in the list. */
async function clickAtCard(words: string): Promise<void> {
  const { x, y, width, height } = await browser.evaluate<Box>(`(() => {
    const card = [...document.querySelector("svc-comments").shadowRoot.querySelectorAll(".card")]
      .find((one) => one.textContent.includes(${JSON.stringify(words)}));
    card.scrollIntoView({ block: "nearest" });
    const { x, y, width, height } = card.querySelector(".text").getBoundingClientRect();
    return { x, y, width, height };
  })()`);
  await clickAt(browser, { x: x + width / 2, y: y + height / 2 });
}

describe("the box in sight", () => {
  const boxes = async () => (await named(browser, "textbox")).filter((name) => name === "Comment" || name === "Reply");
  const hint = () =>
    browser.evaluate<string>(
      `document.querySelector("svc-comments").shadowRoot.querySelector(".foot textarea")?.placeholder`,
    );

  test("is the open thread's, however long that is; the whole page has a button above the list", async () => {
    const site = await world.site({ "index.html": article() });
    const { iri } = await site.writeOn({ exact: PASSAGE }, "Is it true?");
    await site.writeOn({ exact: "The tide tables" }, "Another one");
    for (let n = 1; n < 8; n++) await site.write(`Answer ${n}`, iri);
    await sized(browser, 1280, 720);
    await browser.visit(`${site.origin}/`);
    await click(browser, "button", "Comments");
    await byRole(browser, "textbox", "Comment");
    expect([await boxes(), await hint()]).toEqual([["Comment"], "Comment on the whole page…"]);
    await click(browser, "button", "7 replies");
    await byRole(browser, "textbox", "Reply");
    expect(await boxes()).toEqual(["Reply"]);
    expect(await hint()).toMatch(/^Reply to \w+ \w+…$/);
    const seen = await browser.evaluate<Box>(
      `document.querySelector("svc-comments").shadowRoot.querySelector(".foot textarea").getBoundingClientRect().toJSON()`,
    );
    expect(seen.y + seen.height).toBeLessThanOrEqual(720);
    await fill(browser, "textbox", "Reply", "Yes, it is");
    await click(browser, "button", "Reply");
    await until(async () => (await site.texts()).includes("Yes, it is"));
    await click(browser, "button", "Comment on the whole page");
    expect(await focused(browser)).toEqual({ role: "textbox", name: "Comment" });
    expect([await boxes(), await hint()]).toEqual([["Comment"], "Comment on the whole page…"]);
    expect(await named(browser, "button")).not.toContain("Comment on the whole page");
  });

  test("a long thread that is opened has room above it for the ring of the focus", async () => {
    const site = await world.site({ "index.html": article() });
    await site.writeOn({ exact: PASSAGE }, "Is it true?");
    const { iri } = await site.writeOn({ exact: "The tide tables" }, "Another one");
    for (let n = 1; n < 14; n++) await site.write(`Answer ${n}`, iri);
    for (const width of [1600, 390]) {
      await sized(browser, width, 720);
      await browser.visit(`${site.origin}/`);
      await click(browser, "button", /^Thread on 'The tide/);
      await panelShows(browser, "Answer 13");
      const [card, head] = await browser.evaluate<[number, number]>(`(() => {
        const root = document.querySelector("svc-comments").shadowRoot;
        return [root.querySelector(".card.open").getBoundingClientRect().top, root.querySelector(".head").getBoundingClientRect().bottom];
      })()`);
      expect(card - head).toBeGreaterThanOrEqual(7);
    }
  });

  test("is in sight on a phone, too", async () => {
    const site = await world.site({ "index.html": article() });
    const { iri } = await site.writeOn({ exact: PASSAGE }, "Is it true?");
    for (let n = 1; n < 8; n++) await site.write(`Answer ${n}`, iri);
    await sized(browser, 390, 844);
    await browser.visit(`${site.origin}/`);
    await click(browser, "button", /^Thread on/);
    await byRole(browser, "textbox", "Reply");
    const { y, height } = await browser.evaluate<Box>(
      `document.querySelector("svc-comments").shadowRoot.querySelector(".foot textarea").getBoundingClientRect().toJSON()`,
    );
    expect(y + height).toBeLessThanOrEqual(844);
    expect((await wordsAt(browser, PASSAGE)).y).toBeGreaterThan(0);
  });
});
