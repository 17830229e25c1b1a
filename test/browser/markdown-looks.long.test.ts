/** PIPELINE 1: what a reader of a Markdown site sees, on a phone, in forced colours, and of hostile texts. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type DeployResult, startServer, type TestServer } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { type Browser, openBrowser } from "./chromium.ts";
import { axeFinds } from "./health.ts";

const HOSTILE = `# Hostile <img src=x onerror=alert(1)>

## \`<img src=x onerror=alert(2)>\` and &lt;script&gt;

Words \`<script>alert(3)</script>\` and &lt;img src=x onerror=alert(4)&gt; in a line.
`;
const CODE = `# Code

\`\`\`ts
const answer = 42; // ${"a long line ".repeat(20)}
\`\`\`

\`\`\`
${"plain ".repeat(30)}
\`\`\`

\`\`\`diff
--- a/x
+++ b/x
@@ -1 +1 @@
-old
+new ${"and longer ".repeat(20)}
 same
\`\`\`

## One

## Two
`;
const FILES = {
  "README.md": "# Kites\n\nThey rise against the wind.",
  "code.md": CODE,
  "hostile.md": HOSTILE,
  "zh.md": "# 风筝\n\n风筝迎风而起。整个夏天都在海边的每一片沙滩上飞翔。",
  "guide/README.md": "# The guide\n\nAll of it.",
  "guide/a.md": "# A page",
};

let server: TestServer;
let browser: Browser;
let site: DeployResult;
beforeAll(async () => {
  server = await startServer();
  browser = await openBrowser();
  site = await server.deploy(FILES);
}, 60_000);
afterAll(async () => {
  await browser.close();
  await server[Symbol.asyncDispose]();
});

const screen = async (width: number, touch = false): Promise<void> => {
  await browser.cdp("Emulation.setDeviceMetricsOverride", { width, height: 800, deviceScaleFactor: 1, mobile: touch });
  await browser.cdp("Emulation.setTouchEmulationEnabled", { enabled: touch });
};
const media = (features: Record<string, string>): Promise<unknown> =>
  browser.cdp("Emulation.setEmulatedMedia", {
    media: "",
    features: Object.entries(features).map(([name, value]) => ({ name, value })),
  });
const open = (path: string) => browser.visit(site.url + path);
beforeEach(async () => {
  await open("/");
  await screen(1280);
  await media({ "prefers-color-scheme": "light" });
});

const STATUS = `document.querySelector(".found [role=status]").textContent`;
const type = (words: string): Promise<void> =>
  browser.evaluate(`(() => {
    const input = document.querySelector("search input");
    input.focus();
    input.value = ${JSON.stringify(words)};
    input.dispatchEvent(new Event("input", { bubbles: true }));
  })()`);
const says = async (words: string, text: string): Promise<void> => {
  await type(words);
  await until(async () => (await browser.evaluate(STATUS)) === text);
};

test.each(["/", "/code", "/guide/a", "/nowhere"])(
  "%s is three requests",
  async (path) => {
    await browser.cdp("Network.clearBrowserCache");
    await open(path);
    const asked = await browser.evaluate<string[]>(`performance.getEntriesByType("resource").map(({ name }) => name)`);
    expect(asked.map((name) => new URL(name).pathname).toSorted()).toEqual(["/_docs/script.js", "/_docs/style.css"]);
  },
  60_000,
);

describe("listings", () => {
  /** Whether anything of the button lies over a letter, and where name and button are. */
  const LAYOUT = `JSON.stringify([...document.querySelectorAll(".code")].map((box) => {
    const button = box.querySelector("button").getBoundingClientRect();
    const range = document.createRange();
    range.selectNodeContents(box.querySelector("code"));
    const label = getComputedStyle(box, "::before");
    const over = [...range.getClientRects()].some((text) =>
      text.left < button.right && text.right > button.left && text.top < button.bottom && text.bottom > button.top);
    return { over, height: button.height, shown: getComputedStyle(box.querySelector("button")).opacity,
      label: label.display === "none" ? "" : label.content.replaceAll('"', "") };
  }))`;
  const layout = async () =>
    JSON.parse(await browser.evaluate<string>(LAYOUT)) as {
      over: boolean;
      height: number;
      shown: string;
      label: string;
    }[];

  test.each([
    ["a phone", 390, true],
    ["a narrow window with a mouse", 390, false],
    ["a tablet", 1024, true],
  ])(
    "on %s Copy is there, covers no code, and the language stands beside it",
    async (_, width, touch) => {
      await screen(width, touch);
      await open("/code");
      const boxes = await layout();
      expect(boxes.map(({ label }) => label)).toEqual(["ts", "none", "diff"]);
      for (const { over, height, shown } of boxes) {
        expect([over, shown]).toEqual([false, "1"]);
        expect(height).toBeGreaterThanOrEqual(44);
      }
    },
    60_000,
  );

  test("what came is green, what went is red, on lines of their own colour", async () => {
    const colours = (name: string): Promise<[number[], string]> =>
      browser.evaluate(`(() => {
        const { color, backgroundColor } = getComputedStyle(document.querySelector("pre .${name}"));
        return [color.match(/\\d+/g).map(Number), backgroundColor];
      })()`);
    for (const scheme of ["light", "dark"]) {
      await media({ "prefers-color-scheme": scheme });
      await open("/code");
      const [[came, behind_came], [went, behind_went]] = [await colours("i"), await colours("d")];
      expect(came[1]!).toBeGreaterThan(came[0]! + 20);
      expect(went[0]!).toBeGreaterThan(went[1]! + 20);
      expect(new Set([behind_came, behind_went, "rgba(0, 0, 0, 0)"]).size).toBe(3);
    }
    const code = await browser.evaluate<string>(`document.querySelector(".language-diff").textContent`);
    expect(code).toContain("-old\n+new and longer");
    expect(code).toEndWith("\n same\n");
  }, 60_000);
});

/** Pixels of a part of the page that are more blue than anything else. */
const blueOf = async (selector: string): Promise<number> => {
  const clip = await browser.evaluate<Record<string, number>>(
    `(({ x, y, width, height }) => ({ x, y, width, height, scale: 1 }))(document.querySelector("${selector}").getBoundingClientRect())`,
  );
  const { data } = await browser.cdp<{ data: string }>("Page.captureScreenshot", { format: "png", clip });
  return browser.evaluate<number>(`(async () => {
    const image = new Image();
    image.src = "data:image/png;base64,${data}";
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
    canvas.drawImage(image, 0, 0);
    const { data } = canvas.getImageData(0, 0, image.width, image.height);
    let blue = 0;
    for (let i = 0; i < data.length; i += 4) if (data[i + 2] > Math.max(data[i], data[i + 1]) + 40) blue++;
    return blue;
  })()`);
};

test.each(["light", "dark"])(
  "the cross that empties the search has the page's colours (%s)",
  async (scheme) => {
    await media({ "prefers-color-scheme": scheme });
    await open("/");
    await says("wind", "1 found in titles and text");
    expect(await blueOf("search")).toBe(0);
  },
  60_000,
);

test("the list of pages stands on a tint of its own, up to the window's edge", async () => {
  await screen(1800);
  await open("/guide/a");
  const [pages, paper] = await browser.evaluate<string[]>(
    `[".pages", "body"].map((name) => getComputedStyle(document.querySelector(name)).backgroundColor)`,
  );
  expect(pages).not.toBe(paper);
  const { data } = await browser.cdp<{ data: string }>("Page.captureScreenshot", {
    format: "png",
    clip: { x: 2, y: 400, width: 1, height: 1, scale: 1 },
  });
  const edge = await browser.evaluate<string>(`(async () => {
    const image = new Image();
    image.src = "data:image/png;base64,${data}";
    await image.decode();
    const canvas = new OffscreenCanvas(1, 1).getContext("2d");
    canvas.drawImage(image, 0, 0);
    return "rgb(" + [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).join(", ") + ")";
  })()`);
  expect(edge).toBe(pages!);
  expect(await browser.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(1800);
}, 60_000);

describe("search", () => {
  test("it says what it looked through, and how many of how many it shows", async () => {
    expect(await browser.evaluate<string>(`document.querySelector("search input").placeholder`)).toBe(
      "Search titles and text",
    );
    await says("zzzz", "Nothing found in titles and text");
    await says("rise", "1 found in titles and text");
    await says("沙滩", "1 found in titles and text");
    expect(await browser.evaluate<string>(`document.querySelector(".found mark").textContent`)).toBe("沙滩");
    const many = Array.from({ length: 30 }, (_, i) => [`p${i}.md`, `# Page ${i}\n\nKites.`]);
    await browser.visit((await server.deploy(Object.fromEntries(many))).url);
    await says("kites", "20 of 30 found in titles and text");
  }, 60_000);

  test("what it finds is text, never markup", async () => {
    await open("/");
    for (const words of ["img", "script", "hostile", "onerror"]) {
      await type(words);
      await until(async () => (await browser.evaluate<number>(`document.querySelectorAll(".found a").length`)) > 0);
      const made = await browser.evaluate<string[]>(
        `[...new Set([...document.querySelectorAll(".found ul *")].map(({ localName }) => localName))].sort()`,
      );
      expect(made.filter((name) => !["a", "b", "li", "mark", "p"].includes(name))).toEqual([]);
    }
    expect(await browser.evaluate<string>(`document.querySelector(".found").textContent`)).toContain("<img src=x");
  }, 60_000);

  test("where the index does not come it says so, and tries again at the next key", async () => {
    await browser.cdp("Network.setBlockedURLs", { urls: ["*search.json"] });
    await says("wind", "The search cannot be loaded: check your connection");
    expect(await browser.evaluate<boolean>(`document.querySelector(".found").hidden`)).toBe(false);
    await browser.cdp("Network.setBlockedURLs", { urls: [] });
    await says("winds", "Nothing found in titles and text");
    await says("wind", "1 found in titles and text");
  }, 60_000);
});

describe("a page that is not there", () => {
  const MAIN = `document.querySelector("main").innerText`;
  test("says how to go on, and leads home", async () => {
    await open("/nowhere/at/all");
    expect(await browser.evaluate<string>(MAIN)).toContain("Go to Kites, look through the list of pages, or search.");
    await says("rise", "1 found in titles and text");
    await browser.click("main a");
    await until(async () => (await browser.evaluate<string>("location.pathname")) === "/");
  }, 60_000);
  test("without a script it does not speak of a search", async () => {
    await browser.cdp("Emulation.setScriptExecutionDisabled", { value: true });
    const { text } = await open("/nowhere");
    await browser.cdp("Emulation.setScriptExecutionDisabled", { value: false });
    expect(text).toContain("Go to Kites, look through the list of pages.");
  }, 60_000);
});

test("in forced colours the current page and every button are told apart by more than a tint", async () => {
  await media({ "forced-colors": "active" });
  await open("/guide/a");
  const borders = await browser.evaluate<string[]>(
    `[".pages [aria-current]", ".theme", "search input"].map((name) => {
      const { borderStyle, outlineStyle } = getComputedStyle(document.querySelector(name));
      return borderStyle !== "none" || outlineStyle !== "none" ? "lined" : name;
    })`,
  );
  expect(borders).toEqual(["lined", "lined", "lined"]);
}, 60_000);

describe("axe finds nothing", () => {
  test.each([
    [1280, false, "light"],
    [1280, false, "dark"],
    [390, true, "light"],
    [390, true, "dark"],
  ])(
    "%i px, touch %p, %s",
    async (width, touch, scheme) => {
      await screen(width, touch);
      await media({ "prefers-color-scheme": scheme });
      for (const path of ["/code", "/zh", "/guide/", "/nowhere"]) {
        await open(path);
        expect([path, ...(await axeFinds(browser))]).toEqual([path]);
      }
      await type("the");
      await until(async () => (await browser.evaluate<number>(`document.querySelectorAll(".found a").length`)) > 0);
      expect(await axeFinds(browser)).toEqual([]);
    },
    60_000,
  );
});
