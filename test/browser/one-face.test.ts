/** WEB 9: svc has one face. Every page that it writes itself has the tokens of the rules' table, in light and dark. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startServer, type TestServer } from "../kit/server.ts";
import { type Browser, openBrowser } from "./chromium.ts";
import { inScheme, sized } from "./health.ts";
import { partOf } from "../kit/whole.ts";

type Scheme = "light" | "dark";
const TOKENS: readonly (readonly [name: string, light: string, dark: string])[] = [
  ["--paper", "#fff", "#14181a"],
  ["--wash", "#f6f7f5", "#1b2123"],
  ["--ink", "#22282b", "#d3dad8"],
  ["--strong", "#0f1517", "#f2f6f4"],
  ["--dim", "#5a6567", "#98a5a3"],
  ["--accent", "#176b5b", "#74cdb6"],
  ["--on-accent", "#fff", "#0f1a17"],
  ["--accent-wash", "#e8f2ee", "#1c322e"],
  ["--warning", "#8a5a00", "#e2b556"],
  ["--warning-wash", "#fbf3df", "#2e2716"],
  ["--danger", "#b3302e", "#f29490"],
  ["--danger-wash", "#fbeceb", "#33201f"],
  ["--edge", "#7d8a88", "#73807e"],
  ["--line", "#e1e5e2", "#2b3335"],
];
const valueOf = (name: string, scheme: Scheme): string => {
  const [, light, dark] = TOKENS.find(([token]) => token === name)!;
  return scheme === "light" ? light : dark;
};

let server: TestServer;
let browser: Browser;
let pages: Record<string, string>;
beforeAll(async () => {
  server = await startServer();
  browser = await openBrowser();
  const docs = await server.deploy({ "README.md": "# Notes\n\n[a](a.md)", "a.md": "# A" });
  const listing = await server.deploy({ "one.txt": "1", "two.txt": "2" });
  const gone = await server.deploy({ "index.html": "<title>x</title>" });
  server.expire(gone);
  const disabled = await server.deploy({ "index.html": "<title>y</title>" });
  server.disable(disabled, "phishing");
  pages = {
    home: server.base_url,
    "sign-in": `${server.base_url}/signin`,
    "the manual": `${server.base_url}/docs`,
    "a 404 of the API's host": `${server.base_url}/nothing`,
    "a docs site": docs.url,
    "a listing": listing.url,
    "a site's 404": `${docs.url}/nothing`,
    "a site's 410": gone.url,
    "a site's 451": disabled.url,
    "nobody's host": docs.url.replace(docs.slug, "nobody-at-all-0000"),
  };
}, 60_000);
afterAll(async () => {
  await browser.close();
  await server[Symbol.asyncDispose]();
});

const LOOK = `(() => {
  const style = getComputedStyle(document.documentElement);
  const { backgroundColor, color, fontFamily } = getComputedStyle(document.body);
  const h1 = getComputedStyle(document.querySelector("h1"));
  const tokens = ${JSON.stringify(TOKENS.map(([name]) => name))}.map((name) => [name, style.getPropertyValue(name).trim()]);
  return { tokens: Object.fromEntries(tokens), backgroundColor, color, fontFamily, weight: h1.fontWeight, size: h1.fontSize };
})()`;
interface Look {
  tokens: Record<string, string>;
  backgroundColor: string;
  color: string;
  fontFamily: string;
  weight: string;
  size: string;
}
const rgb = (hex: string): number[] => {
  const digits = hex.length === 4 ? hex.replace(/[\da-f]/g, "$&$&") : hex;
  return [1, 3, 5].map((at) => Number.parseInt(digits.slice(at, at + 2), 16));
};
const css = (hex: string): string => `rgb(${rgb(hex).join(", ")})`;

const EDGES = `[".brand", "h1", ".foot a"].map((part) => document.querySelector(part).getBoundingClientRect().left)`;

test("header, content and footer have one left edge", async () => {
  for (const width of [1280, 390]) {
    await sized(browser, width);
    for (const name of ["the manual", "a 404 of the API's host"]) {
      await browser.visit(pages[name]!);
      expect([name, width, new Set(await browser.evaluate<number[]>(EDGES)).size]).toEqual([name, width, 1]);
    }
  }
  await sized(browser, 1280);
});

describe.each(partOf(["light", "dark"] as const, 1))("in %s", (scheme) => {
  test("every page has the same tokens, paper, ink, letters and heading", async () => {
    await inScheme(browser, scheme);
    const fonts = new Set<string>();
    for (const [name, url] of Object.entries(pages)) {
      await browser.visit(url);
      const look = await browser.evaluate<Look>(LOOK);
      const expected = Object.fromEntries(TOKENS.map(([token]) => [token, valueOf(token, scheme)]));
      expect([name, look.tokens]).toEqual([name, expected]);
      expect([name, look.backgroundColor]).toEqual([name, css(valueOf("--paper", scheme))]);
      expect([name, look.color]).toEqual([name, css(valueOf("--ink", scheme))]);
      expect([name, look.weight]).toEqual([name, "600"]);
      fonts.add(look.fontFamily);
    }
    expect([...fonts]).toHaveLength(1);
    expect([...fonts][0]).toStartWith("system-ui");
  }, 60_000);
});
