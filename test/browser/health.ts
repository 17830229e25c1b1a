/** What a page of the web side must never show (WEB 10): what axe finds, shifts of its layout, weight, a scroll sideways. */
import { join } from "node:path";
import { TOOLS } from "../kit/paths.ts";
import { WHOLE } from "../kit/whole.ts";
import type { Browser } from "./chromium.ts";

const AXE = await Bun.file(join(TOOLS, "node_modules", "axe-core", "axe.min.js")).text();
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const RUN = `axe.run({ runOnly: ${JSON.stringify(RULES)} }).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" | ")))`;

/** What axe finds on the page as it stands. */
export async function axeFinds(browser: Browser): Promise<string[]> {
  await browser.evaluate(`window.axe?.run ? 0 : ((0, eval)(${JSON.stringify(AXE)}), 0)`);
  return browser.evaluate<string[]>(RUN);
}

export const sized = (browser: Browser, width: number, height = 800): Promise<unknown> =>
  browser.cdp("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: width < 500 });

export const inScheme = (browser: Browser, scheme: "light" | "dark"): Promise<unknown> =>
  browser.cdp("Emulation.setEmulatedMedia", {
    features: [
      { name: "prefers-color-scheme", value: scheme },
      { name: "prefers-reduced-motion", value: "reduce" }, // a colour on its way has no contrast of its own
    ],
  });

/** Wide and narrow, in light and in the dark: each width and each scheme once; each with each by `bun run torture looks`. */
export const LOOKS: readonly (readonly [width: number, scheme: "light" | "dark"])[] = [
  [1280, "light"],
  [320, "dark"],
  ...(WHOLE ? ([[1280, "dark"], [320, "light"]] as const) : []), // prettier-ignore
];

const PRESSED = `main :is(button, .button, select, .field, input:not([type=hidden], [type=checkbox], [type=radio]), summary,
  .tabs a, .site-tabs a, .sections a, .lists a, .pages a, label:has(input))`;

/** What is pressed on a page and lower than 24 px, or than 44 where it is touched (WEB 9). */
export async function lowTargets(browser: Browser, url: string): Promise<string[]> {
  const found: string[] = [];
  for (const [width, least] of [
    [1280, 24],
    [390, 44],
  ] as const) {
    await sized(browser, width);
    await browser.cdp("Emulation.setTouchEmulationEnabled", { enabled: width === 390 });
    await browser.visit(url);
    const low = await browser.evaluate<string[]>(`[...document.querySelectorAll(${JSON.stringify(PRESSED)})]
      .filter((element) => element.checkVisibility() && element.getBoundingClientRect().height < ${least})
      .map((element) => element.outerHTML)`);
    found.push(...low.map((element) => `${width} px: ${element}`));
  }
  await browser.cdp("Emulation.setTouchEmulationEnabled", { enabled: false });
  return found;
}

const TEXTS = "h2, h3, p, label, legend, .button, .field";
/** Contents of cards, their own padding included, that stand nearer to the edge than 8 px. */
export const atEdges = (browser: Browser): Promise<string[]> =>
  browser.evaluate<string[]>(`[...document.querySelectorAll("main .card")]
    .filter((card) => getComputedStyle(card).borderLeftStyle !== "none")
    .flatMap((card) => {
      const { left } = card.getBoundingClientRect();
      return [...card.querySelectorAll(${JSON.stringify(TEXTS)})]
        .filter((one) => one.checkVisibility() && !one.matches(".hidden, .hidden *, .pick, .diff *, .quiet"))
        .filter((one) => one.getBoundingClientRect().left + parseFloat(getComputedStyle(one).paddingLeft) - left < 8)
        .map((one) => one.outerHTML.slice(0, 120));
    })`);

/** The filled buttons in sight: a page has one thing to do. */
export const filledButtons = (browser: Browser): Promise<string[]> =>
  browser.evaluate<string[]>(`[...document.querySelectorAll("main .primary")]
    .filter((one) => one.checkVisibility()).map(({ textContent }) => textContent.trim())`);

/** Two kinds of shift are no fault. One soon after a press is what was asked for: browsers say so for half a second, in which a
 *  busy machine draws nothing. And a busy machine draws half a page, up to a button whose picture it has yet to read or without
 *  the scroll bar of the whole: what moves before the second frame of a page that was read to its end is not counted. */
const OBSERVE = `window.shifts = []; window.pressed_at = -1e9; window.whole_at = Infinity;
for (const kind of ["pointerdown", "keydown"]) addEventListener(kind, ({ timeStamp }) => { pressed_at = timeStamp }, true);
document.addEventListener("readystatechange", () => {
  requestAnimationFrame(() => requestAnimationFrame(() => { whole_at = performance.now() }));
}, { once: true });
new PerformanceObserver((list) => {
  for (const { value, hadRecentInput, startTime, sources } of list.getEntries())
    if (!hadRecentInput && startTime - pressed_at > 3000)
      shifts.push({ value, at: startTime, moved: sources.map(({ node, previousRect, currentRect }) =>
        (node?.outerHTML ?? node?.data ?? "").slice(0, 80) + " " + JSON.stringify([previousRect, currentRect])) });
}).observe({ type: "layout-shift", buffered: true })`;

/** From now on every page is loaded anew, and its shifts are counted. */
export async function watchLoads(browser: Browser): Promise<void> {
  await browser.cdp("Network.setCacheDisabled", { cacheDisabled: true });
  await browser.cdp("Page.addScriptToEvaluateOnNewDocument", { source: OBSERVE });
}

export interface Load {
  shifted: number;
  requests: number;
  /** Over the wire, headers included. */
  bytes: number;
  /** Pixels that a scroll sideways would reach. */
  beyond: number;
}

/** The load of the page that was visited last. It prints what shifted: the sum of a failure says nothing. */
export async function loadOf(browser: Browser): Promise<Load> {
  const { moved, ...load } = await browser.evaluate<Load & { moved: string[] }>(`(async () => {
    while (whole_at === Infinity) await new Promise(requestAnimationFrame);
    const counted = shifts.filter(({ at }) => at > whole_at);
    const loaded = performance.getEntries().filter(({ entryType }) => /^(navigation|resource)$/.test(entryType));
    const root = document.documentElement;
    return {
      shifted: counted.reduce((sum, { value }) => sum + value, 0),
      moved: counted.flatMap(({ moved }) => moved),
      requests: loaded.length,
      bytes: loaded.reduce((sum, { transferSize }) => sum + transferSize, 0),
      beyond: Math.max(0, root.scrollWidth - root.clientWidth), // less by the gutter of a scrollbar that is not there
    };
  })()`);
  if (moved.length > 0) console.error(`shifted:\n${moved.join("\n")}`);
  return load;
}
