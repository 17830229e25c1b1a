/** COMMENTS 5: where pins lie. Beside their passages where the page has room for them, and never on what is read. */
import { expect, test } from "bun:test";
import { shared } from "../../kit/shared.ts";
import { until } from "../../kit/until.ts";
import { byRole } from "../by-role.ts";
import { axeFinds, inScheme, sized } from "../health.ts";
import { type Box, click, panelShows } from "./hands.ts";
import { World } from "./world.ts";
import { partOf } from "../../kit/whole.ts";

const NUMBERS = [1, 2, 4];
const LONG = `The harbour office answers by radio on channel twelve from six in the morning, and whoever arrives later
  writes into the book at the pier, so that the fee can be taken on the next day; boats longer than twelve metres lie at
  the northern quay, where the water is deep at every tide, and shorter ones wherever there is room between the posts.`;

/** Its text fills the window but for the margin that a page has by itself. */
const wide = (dir: string): string => `<!doctype html>
<html lang="en" dir="${dir}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Harbour rules</title><style>body { margin: 16px; font: 16px/1.6 sans-serif; text-align: justify }</style></head>
<body><main><h1>Harbour rules</h1>${Array.from({ length: 12 }, (_, i) => `<p>${i}. ${LONG}</p>`).join("")}</main></body></html>`;

const world = shared(await World.open());
const { browser } = world;
const column = wide("ltr").replace("margin: 16px", "margin: 16px; max-width: 500px");
/** All of it one block. */
const block = wide("ltr").replaceAll(/<\/p><p>/g, "<br><b>Next:</b> ");
const site = await world.site({
  "ltr.html": wide("ltr"),
  "rtl.html": wide("rtl"),
  "block.html": block,
  "column.html": column,
});
for (const dir of ["ltr", "rtl", "block", "column"]) {
  for (const i of NUMBERS) {
    const quote = { exact: "channel twelve", prefix: `${i}. The harbour office answers by radio on ` };
    await site.writeOn({ ...quote, suffix: " from six in the morning" }, `Rule ${i}?`, { page: `/${dir}.html` });
  }
}

interface Seen {
  pins: Box[];
  /** Lines of the page's text. */
  text: Box[];
  /** What covers the page under the pins. */
  rail: Box | null;
}

const look = (): Promise<Seen> =>
  browser.evaluate<Seen>(`(() => {
    const { shadowRoot } = document.querySelector("svc-comments");
    const plain = ({ x, y, width, height }) => ({ x, y, width, height });
    const range = document.createRange();
    range.selectNodeContents(document.querySelector("main"));
    const rail = shadowRoot.querySelector(".rail:not([hidden])");
    return {
      pins: [...shadowRoot.querySelectorAll(".pin:not([hidden])")].map((one) => plain(one.getBoundingClientRect())),
      text: [...document.querySelectorAll("p")].flatMap((one) => {
        range.selectNodeContents(one);
        return [...range.getClientRects()].map(plain);
      }),
      rail: rail && plain(rail.getBoundingClientRect()),
    };
  })()`);

const meet = (a: Box, b: Box): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
const within = (a: Box, b: Box): boolean =>
  a.x >= b.x && a.x + a.width <= b.x + b.width && a.y >= b.y && a.y + a.height <= b.y + b.height;

function expectClear({ pins, text, rail }: Seen): void {
  expect(pins).toHaveLength(NUMBERS.length);
  const on_text = pins.filter((pin) => !(rail && within(pin, rail)) && text.some((line) => meet(line, pin)));
  expect(on_text).toEqual([]);
}

const SCREENS = [1280, 1000, 800, 390].flatMap((width) => ["ltr", "rtl", "block"].map((dir) => [width, dir] as const));

test.each(partOf(SCREENS, 4))("on a page without a margin no pin lies on the text: %d px, %s", async (width, dir) => {
  await sized(browser, width, 1400);
  await browser.visit(`${site.origin}/${dir}.html`);
  await byRole(browser, "button", /^Thread on/);
  expectClear(await look());
  await click(browser, "button", /^Thread on/);
  await panelShows(browser, "Rule 1?");
  expectClear(await look());
  // A sheet has no rail: it is there on narrow windows, and where the drawer would cover "channel twelve", at the left of its line.
  expect((await look()).rail !== null).toBe(width >= 1200 && dir !== "rtl");
  expect(await axeFinds(browser)).toEqual([]);
  await click(browser, "button", "Close");
  await until(async () => (await look()).rail === null);
  expectClear(await look());
});

test("what comes late on a page that never rests has its pin soon", async () => {
  const restless = `<p id="clock"></p><script>
    setInterval(() => (document.querySelector("#clock").textContent = performance.now()), 100);
    setTimeout(() => document.querySelector("main").insertAdjacentHTML("beforeend", "<p>Ropes are coiled at last.</p>"), 3800);
  </script>`;
  const late = await world.site({ "index.html": wide("ltr").replace("</main>", `</main>${restless}`) });
  await late.writeOn({ exact: "Ropes are coiled at last" }, "By whom?");
  await browser.visit(`${late.origin}/`);
  await byRole(browser, "button", "Thread on 'Ropes are coiled at last', 0 replies");
  expect(await browser.evaluate<number>("performance.now()")).toBeLessThan(9000);
});

test("where the page has room beside the drawer, pins stay beside their passages", async () => {
  await inScheme(browser, "light");
  await sized(browser, 1280, 800);
  await browser.visit(`${site.origin}/column.html`);
  await byRole(browser, "button", /^Thread on/);
  await click(browser, "button", /^Thread on/);
  await panelShows(browser, "Rule 1?");
  await until(async () => (await look()).pins.every(({ x }) => x > 500 && x < 560));
  expect((await look()).rail).toBe(null);
});

test.each([
  ["of the page's end", "", "</main>"],
  [
    "of a part that scrolls",
    "html, body { height: 100%; margin: 0; overflow: hidden } main { height: 100%; overflow: auto }",
    "<p>5",
  ],
  ["of a box that scrolls", "section { height: 180px; overflow: auto }", "<p>5"],
])("'Show in page' brings a passage %s above the sheet", async (_, style, before) => {
  const box = `<section tabindex="0" aria-label="Box">${"<p>Some rule of the harbour.</p>".repeat(20)}<p id="deep">Ropes are coiled.</p></section>`;
  const page = wide("ltr").replace("</style>", `${style}</style>`).replace(before, `${box}${before}`);
  const scrolled = await world.site({ "index.html": page });
  await scrolled.writeOn({ exact: "Ropes are coiled" }, "Both of them?");
  await sized(browser, 390, 700);
  await browser.visit(`${scrolled.origin}/`);
  await click(browser, "button", "Comments");
  await panelShows(browser, "Both of them?");
  await click(browser, "button", "Show in page");
  const seen = () =>
    browser.evaluate<{ top: number; bottom: number; sheet: number; clear: boolean }>(`(() => {
      const { top, bottom, left, right } = document.querySelector("#deep").getBoundingClientRect();
      const sheet = document.querySelector("svc-comments").shadowRoot.querySelector(".panel").getBoundingClientRect().top;
      const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
      return { top, bottom, sheet, clear: hit?.id === "deep" };
    })()`);
  await until(async () => {
    const { top, bottom, sheet, clear } = await seen();
    return clear && top >= 0 && bottom <= sheet;
  });
  const at = await browser.evaluate<number>("scrollY");
  await browser.evaluate("document.body.click()");
  await Bun.sleep(500);
  expect(await browser.evaluate<number>("scrollY")).toBe(at);
  await click(browser, "button", "Close");
  const beyond =
    "document.documentElement.scrollHeight - document.querySelector('main').getBoundingClientRect().bottom - scrollY";
  await until(async () => (await browser.evaluate<number>(beyond)) < 40);
});
