/** RELIABILITY A19: broken markup hides no form. Chromium says which forms a password would go to; the scan must know
 *  each of them. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { judgePage } from "../kit/abuse-site.ts";
import { type Browser, openBrowser } from "./chromium.ts";
import { BAD, EVIL, FIELD, PIECES, random } from "./pieces.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
}, 60_000);
afterAll(() => browser.close());

const BEGINNINGS = [
  "",
  "<svg>",
  "<math>",
  "<svg><desc>",
  "<svg><foreignObject>",
  "<math><mtext>",
  "<table>",
  "<select>",
];

function pages(count: number, seed: number): string[] {
  const next = random(seed);
  const some = (most: number) => Array.from({ length: 2 + next(most) }, () => PIECES[next(PIECES.length)]!).join("");
  return Array.from(
    { length: count },
    () => BEGINNINGS[next(BEGINNINGS.length)]! + some(5) + BAD + some(4) + FIELD + some(3),
  );
}

/** Written into a frame each, so that they are read as pages are, scripts on. */
const ASK = `(pages) => JSON.stringify(pages.map((page) => {
  const frame = document.createElement("iframe");
  document.body.append(frame);
  const inner = frame.contentDocument;
  inner.open();
  inner.write(page);
  inner.close();
  const sends = [...inner.querySelectorAll("input")].some(
    (input) => input.type === "password" && input.form?.getAttribute("action") === ${JSON.stringify(EVIL)},
  );
  frame.remove();
  return sends;
}))`;

test("what Chromium would send to another domain is refused, in 2,000 broken pages", async () => {
  await browser.visit("about:blank");
  const all = pages(2000, 20261121);
  let sending = 0;
  for (let at = 0; at < all.length; at += 200) {
    const batch = all.slice(at, at + 200);
    const answer = await browser.evaluate<string>(`(${ASK})(${JSON.stringify(batch)})`);
    const sends = JSON.parse(answer) as boolean[];
    const missed = batch.filter((page, i) => sends[i] && judgePage(page) === "pass");
    expect(missed).toEqual([]);
    sending += sends.filter(Boolean).length;
  }
  expect(sending).toBeGreaterThan(300);
}, 180_000);
