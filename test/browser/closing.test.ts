/** PIPELINE.md 1: whatever an author's HTML leaves open, the page around it stays whole. Chromium reads it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { closeHtml } from "../../src/html/close-html.ts";
import { type Browser, openBrowser } from "./chromium.ts";
import { PIECES, random } from "./pieces.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
}, 60_000);
afterAll(() => browser.close());

const MORE =
  "<!--> <script><!--> <script><!--<script> <g/> <noscript> </noscript> <main> </main> <article> </article> <nav> </nav> " +
  "<dt> <ruby> <image> <frameset> <col> <tbody> </tbody> <input> <details> <a> </a>";
const ALL = [...PIECES, ...MORE.split(" "), "<svg x=a/>", '</textarea x="', "</title "];
const FRAME = ["body > .frame > main > article", "main > nav.turn", "main > p.source", "body > footer"];

const inFrame = (html: string): string =>
  `<!doctype html><body><div class=frame><main><article>\n${html}</article><nav class=turn></nav><p class=source></p></main></div><footer></footer>`;

/** Written into a frame each, so that they are read as pages are, scripts on. */
const ASK = `(pages) => JSON.stringify(pages.map((page) => {
  const frame = document.createElement("iframe");
  document.body.append(frame);
  const inner = frame.contentDocument;
  inner.open();
  inner.write(page);
  inner.close();
  const lost = ${JSON.stringify(FRAME)}.filter((path) => inner.querySelectorAll(path).length === 0);
  frame.remove();
  return lost.join(", ");
}))`;

test("2,000 pages of random pieces keep their frame", async () => {
  const next = random(7);
  const sources = Array.from({ length: 2000 }, () =>
    Array.from({ length: 1 + next(8) }, () => ALL[next(ALL.length)]!).join(""),
  );
  await browser.visit("about:blank");
  const broken: string[] = [];
  for (let from = 0; from < sources.length; from += 100) {
    const some = sources.slice(from, from + 100);
    const pages = some.map((source) => inFrame(closeHtml(source, () => null)));
    const lost = JSON.parse(await browser.evaluate<string>(`(${ASK})(${JSON.stringify(pages)})`)) as string[];
    broken.push(...some.flatMap((source, i) => (lost[i] ? `${source}: ${lost[i]}` : [])));
  }
  expect(broken).toEqual([]);
}, 120_000);

test("a page that is not closed loses its frame", async () => {
  const [lost] = JSON.parse(await browser.evaluate<string>(`(${ASK})(${JSON.stringify([inFrame("<textarea>")])})`));
  expect(lost).toContain("body > footer");
}, 30_000);
