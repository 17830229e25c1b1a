/** The manual as people meet it: on a phone, in the dark, by keyboard, without script, to axe (WEB 1, WEB 10). */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { ROOT } from "../kit/paths.ts";
import { startServer, type TestServer } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { things } from "./by-role.ts";
import { type Browser, openBrowser } from "./chromium.ts";
import { axeFinds, inScheme, loadOf, LOOKS, sized, watchLoads } from "./health.ts";
import { partOf } from "../kit/whole.ts";

const CHAPTERS = [...new Bun.Glob("*.md").scanSync({ cwd: join(ROOT, "docs") })].map(
  (file) => `/docs/${file.slice(0, -3)}`,
);
const PAGES = ["/docs", "/docs?q=token", "/docs?q=zzyzx", ...CHAPTERS.toSorted()];

let server: TestServer;
let browser: Browser;
beforeAll(async () => {
  server = await startServer();
  browser = await openBrowser();
  await watchLoads(browser);
}, 60_000);
afterAll(async () => {
  await browser.close();
  await server[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await sized(browser, 1280);
  await inScheme(browser, "light");
});

const becomes = (expression: string, expected: unknown) =>
  until(async () => (await browser.evaluate(expression).catch(() => undefined)) === expected);

describe("WEB 10: a page of the manual", () => {
  test.each(partOf(PAGES, 5))(
    "%s loads whole, light, still, in 40 KB, and fits 320 px",
    async (path) => {
      for (const width of [1280, 320]) {
        await sized(browser, width);
        const { failures, messages, url } = await browser.visit(server.base_url + path);
        const { shifted, requests, bytes, beyond } = await loadOf(browser);
        expect([url, width, failures, messages]).toEqual([server.base_url + path, width, [], []]);
        expect([path, shifted, beyond]).toEqual([path, 0, 0]);
        expect(bytes).toBeLessThan(40 * 1024);
        expect(requests).toBeLessThanOrEqual(5);
      }
    },
    60_000,
  );

  test.each(partOf(PAGES, 5))(
    "%s: axe finds nothing, wide and narrow, in light and in the dark",
    async (path) => {
      await browser.visit(server.base_url + path);
      for (const [width, scheme] of LOOKS) {
        await sized(browser, width);
        await inScheme(browser, scheme);
        expect([path, width, scheme, ...(await axeFinds(browser))]).toEqual([path, width, scheme]);
      }
    },
    60_000,
  );
});

describe("WEB 9: a table on a phone", () => {
  test.each(partOf(CHAPTERS.toSorted(), 5))(
    "%s: nothing has to be scrolled sideways to read one",
    async (path) => {
      await sized(browser, 390, 844);
      await browser.visit(server.base_url + path);
      const wide = await browser.evaluate<string[]>(`[...document.querySelectorAll(".table")]
        .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).map(({ textContent }) => textContent.slice(0, 80))`);
      expect(wide).toEqual([]);
    },
    60_000,
  );

  test("its rows are blocks, a cell tells its column, and for whoever hears it it is a table with rows and headers", async () => {
    await sized(browser, 390, 844);
    await browser.visit(`${server.base_url}/docs/http-api`, "Endpoints");
    const endpoints = `[...document.querySelectorAll("table")].find(({ textContent }) => textContent.includes("credential"))`;
    const tops = await browser.evaluate<number[]>(
      `[...${endpoints}.rows[1].cells].map((cell) => cell.getBoundingClientRect().top)`,
    );
    expect(tops).toHaveLength(3);
    expect(tops).toEqual([...new Set(tops)].toSorted((a, b) => a - b));
    const said = `getComputedStyle(${endpoints}.rows[1].cells[1], "::before").content`;
    expect(await browser.evaluate<string>(said)).toContain("credential");
    const all = await things(browser);
    const headers = all.filter(({ role }) => role === "columnheader").map(({ name }) => name);
    expect(headers).toContain("credential");
    expect(all.filter(({ role }) => role === "row")).toHaveLength(
      await browser.evaluate<number>(`document.querySelectorAll("tr").length`),
    );
    expect(all.filter(({ role }) => role === "cell").map(({ name }) => name)).toContain("GET /healthz");
  });
});

const openOf = (list: string): string => `document.querySelector("${list}").matches(":popover-open")`;
const OPEN = openOf(".chapters");
describe("on a phone the chapters and the headings lie over the page", () => {
  const opened = async (button = ".open", list = ".chapters"): Promise<void> => {
    await sized(browser, 390, 844);
    await browser.visit(`${server.base_url}/docs/cli`);
    await browser.click(`.manual ${button}`);
    await becomes(openOf(list), true);
  };
  test("axe finds nothing there either, and Esc closes them", async () => {
    await opened();
    for (const scheme of ["light", "dark"] as const) {
      await inScheme(browser, scheme);
      expect(await axeFinds(browser)).toEqual([]);
    }
    await browser.press("Escape");
    await becomes(OPEN, false);
  }, 60_000);
  test("a heading that is chosen is shown, and they are gone", async () => {
    await opened(".here", ".contents");
    expect(await axeFinds(browser)).toEqual([]);
    // The list scrolls: it is longer than a phone is high.
    await browser.evaluate(
      `document.querySelector('.contents [href$="#commands"]').scrollIntoView({ block: "center" })`,
    );
    await browser.click('.contents [href$="#commands"]');
    await becomes(openOf(".contents"), false);
    await opened(".here", ".contents");
    await browser.evaluate(`document.querySelector('.contents [href$="#environment"]').click()`);
    await becomes(openOf(".contents"), false);
    await becomes("location.hash", "#environment");
    await becomes(`Math.abs(document.querySelector("#environment").getBoundingClientRect().top) < 300`, true);
  }, 60_000);
});

describe("as on docs sites", () => {
  const press = `document.querySelector(".theme").click()`;
  const paper = `getComputedStyle(document.documentElement).getPropertyValue("--paper").trim()`;

  test("the colours are switched, and stay so on the next page", async () => {
    await browser.visit(`${server.base_url}/docs/cli`);
    await browser.evaluate(press);
    await becomes(paper, "#14181a");
    await browser.visit(`${server.base_url}/docs`);
    expect(await browser.evaluate<string>(paper)).toBe("#14181a");
    expect(await browser.evaluate<string>(`document.querySelector(".theme").ariaPressed`)).toBe("true");
    expect(await axeFinds(browser)).toEqual([]);
    await browser.evaluate(press);
    expect(await browser.evaluate<string>(paper)).toBe("#fff");
    await inScheme(browser, "dark");
    expect(await browser.evaluate<string>(paper)).toBe("#fff");
    await browser.evaluate("localStorage.clear()");
  }, 60_000);

  test("the heading that is being read is marked beside the text", async () => {
    await browser.visit(`${server.base_url}/docs/cli#environment`);
    await becomes(`document.querySelector(".contents [aria-current]")?.hash`, "#environment");
    await browser.evaluate("scrollTo(0, 0)");
    await becomes(`document.querySelector(".contents [aria-current]")?.hash`, undefined);
  }, 60_000);
});

test("code is copied by a button called by its first line", async () => {
  await browser.visit(`${server.base_url}/docs/http-api`);
  const [shown, names] = await browser.evaluate<[number, string[]]>(`(() => {
    const buttons = [...document.querySelectorAll(".code button")];
    return [buttons.filter((button) => button.checkVisibility()).length, buttons.map(({ ariaLabel }) => ariaLabel)];
  })()`);
  expect(shown).toBe(names.length);
  expect(names).toContain("Copy zip -qr site.zip my-site");
  expect(await axeFinds(browser)).toEqual([]);
  await browser.evaluate(`document.querySelector(".code button").click()`);
  await becomes(`/^(Copied|Selected)/.test(document.querySelector("#copied")?.textContent ?? "")`, true);
}, 60_000);

describe("the search", () => {
  test("by keyboard alone: / goes there, Enter sends it, a hit opens its section", async () => {
    await browser.visit(`${server.base_url}/docs/cli`);
    await browser.press("/");
    await becomes(`document.activeElement.getAttribute("aria-label")`, "Search the manual");
    await browser.type("device login");
    await browser.press("Enter");
    await browser.shows("Device login");
    await becomes("location.pathname + location.search", "/docs?q=device+login");
    await browser.evaluate(`document.querySelector('[href$="#device-login"]').focus()`);
    await browser.press("Enter");
    await becomes("location.pathname + location.hash", "/docs/http-api#device-login");
  }, 60_000);

  test("WEB 1.3: without script too", async () => {
    await browser.cdp("Network.setBlockedURLs", { urls: ["*.js"] });
    try {
      await browser.visit(`${server.base_url}/docs`);
      await browser.click("search input");
      await browser.type("quarantine");
      await browser.press("Enter");
      expect((await browser.shows("Hosting svc yourself › Quarantine")).text).toContain(
        "Hosting svc yourself › Quarantine",
      );
      await sized(browser, 390, 844);
      const { failures } = await browser.visit(`${server.base_url}/docs/cli`);
      expect(failures).toEqual([expect.stringMatching(/\/assets\/manual\..*js$/)]);
      await browser.click(".manual .open");
      await becomes(OPEN, true);
    } finally {
      await browser.cdp("Network.setBlockedURLs", { urls: [] });
    }
  }, 60_000);
});
