/** A person at the widget: a real mouse, keyboard and finger, which find things by role and name as people do. The widget
 *  stands in a shadow tree, so what is pressed is pressed at its place on the screen. */
import { until } from "../../kit/until.ts";
import { byRole, named, on, type Thing } from "../by-role.ts";
import type { Browser } from "../chromium.ts";

interface Point {
  x: number;
  y: number;
}

export interface Box extends Point {
  width: number;
  height: number;
}

/** Where a thing is on the screen, scrolled to where it can be pressed. */
export async function boxOf(browser: Browser, { dom_node }: Pick<Thing, "dom_node">): Promise<Box> {
  await browser.cdp("DOM.scrollIntoViewIfNeeded", { backendNodeId: dom_node });
  const { quads } = await browser.cdp<{ quads: number[][] }>("DOM.getContentQuads", { backendNodeId: dom_node });
  const [x, y, right, , , bottom] = quads[0]!;
  return { x: x!, y: y!, width: right! - x!, height: bottom! - y! };
}

const middle = ({ x, y, width, height }: Box): Point => ({ x: x + width / 2, y: y + height / 2 });

const mouse = (browser: Browser, type: string, point: Point): Promise<unknown> =>
  browser.cdp("Input.dispatchMouseEvent", { type, ...point, button: "left", buttons: 1, clickCount: 1 });

export async function clickAt(browser: Browser, point: Point): Promise<void> {
  await browser.cdp("Input.dispatchMouseEvent", { type: "mouseMoved", ...point });
  await mouse(browser, "mousePressed", point);
  await mouse(browser, "mouseReleased", point);
}

const TWO_FRAMES = "new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))";
/** A thing that is never the topmost at its place is pressed all the same: whether that works is the test's question. */
const FRAMES = 100;

/** Its place once it no longer moves and nothing lies over it, as whoever aims at it waits for. On a busy machine a
 *  panel that slides in stands still between two of its frames, so frames are what is waited for. */
async function restingBox(browser: Browser, thing: Thing): Promise<Box> {
  let before = await boxOf(browser, thing);
  for (let seen = 0; ; seen++) {
    await browser.evaluate(TWO_FRAMES);
    const now = await boxOf(browser, thing);
    const { x, y } = middle(now);
    const top = "const top = this.getRootNode().elementFromPoint";
    const rests = now.x === before.x && now.y === before.y;
    if (rests && (seen > FRAMES || (await on(browser, thing, `${top}(${x}, ${y}); return this.contains(top)`))))
      return now;
    before = now;
  }
}

export async function click(browser: Browser, role: string, name: string | RegExp): Promise<void> {
  await clickAt(browser, middle(await restingBox(browser, await byRole(browser, role, name))));
}

export async function tap(browser: Browser, role: string, name: string | RegExp): Promise<void> {
  const point = middle(await restingBox(browser, await byRole(browser, role, name)));
  await browser.cdp("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [point] });
  await browser.cdp("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
}

/** Where the words are on the screen. */
export const wordsAt = (browser: Browser, words: string): Promise<Box> =>
  browser.evaluate<Box>(`(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const at = walker.currentNode.data.indexOf(${JSON.stringify(words)});
      if (at < 0) continue;
      const range = document.createRange();
      range.setStart(walker.currentNode, at);
      range.setEnd(walker.currentNode, at + ${words.length});
      const { x, y, width, height } = range.getBoundingClientRect();
      return { x, y, width, height };
    }
  })()`);

/** Drags the mouse over the words. */
export async function select(browser: Browser, words: string): Promise<void> {
  const { x, y, width, height } = await wordsAt(browser, words);
  const line = y + height / 2;
  await mouse(browser, "mousePressed", { x: x + 1, y: line });
  await mouse(browser, "mouseMoved", { x: x + width / 2, y: line });
  await mouse(browser, "mouseMoved", { x: x + width - 1, y: line });
  await mouse(browser, "mouseReleased", { x: x + width - 1, y: line });
}

const MODIFIERS = { alt: 1, ctrl: 2, meta: 4, shift: 8 };

/** A key with others held down. */
export async function chord(browser: Browser, code: string, key: string, ...held: (keyof typeof MODIFIERS)[]) {
  const modifiers = held.reduce((sum, name) => sum + MODIFIERS[name], 0);
  const windowsVirtualKeyCode = key.length === 1 ? key.toUpperCase().charCodeAt(0) : 39;
  for (const type of ["rawKeyDown", "keyUp"]) {
    await browser.cdp("Input.dispatchKeyEvent", { type, code, key, modifiers, windowsVirtualKeyCode });
  }
}

/** Selects by keyboard: so many characters of an element. The first is given, as a search of the page leaves it: without
 *  caret browsing no key begins a selection. */
export async function selectByKeys(browser: Browser, selector: string, count: number): Promise<void> {
  const text = `document.querySelector(${JSON.stringify(selector)}).firstChild`;
  await browser.evaluate(`getSelection().setBaseAndExtent(${text}, 0, ${text}, 1)`);
  for (let i = 1; i < count; i++) await chord(browser, "ArrowRight", "ArrowRight", "shift");
}

/** Once nothing of that role has a name that fits. */
export const gone = (browser: Browser, role: string, name: string): Promise<void> =>
  until(async () => !(await named(browser, role)).includes(name));

/** What the panel shows, as text. */
export const panelText = (browser: Browser): Promise<string> =>
  browser.evaluate<string>(
    `document.querySelector("svc-comments")?.shadowRoot.querySelector(".panel:not([hidden])")?.innerText ?? ""`,
  );

/** Nothing is on its way any more: a page that is left before its answer may not have sent it, or sends it twice, which
 *  without the cookie of the first try is two. */
export const panelShows = (browser: Browser, text: string): Promise<void> =>
  until(async () => {
    const shown = await panelText(browser);
    return shown.includes(text) && !shown.includes("sending…");
  });

/** What the live region says. */
export const said = (browser: Browser): Promise<string> =>
  browser.evaluate<string>(
    `document.querySelector("svc-comments")?.shadowRoot.querySelector("[role=status]")?.textContent ?? ""`,
  );
