/** RELIABILITY A19: broken markup hides no form. Chromium says which forms a password would go to; the scan must know
 *  each of them. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { SiteContext } from "../../src/base/types.ts";
import { judgePage } from "../kit/abuse-site.ts";
import { type Browser, openBrowser } from "./chromium.ts";
import { BAD, EVIL, FIELD, ofWritten, PIECES, random } from "./pieces.ts";

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

type Some = (most: number) => string;
type Make = (begin: string, some: Some, next: (below: number) => number) => string;

function pages(count: number, seed: number, make: Make): string[] {
  const next = random(seed);
  const some: Some = (most) => Array.from({ length: 2 + next(most) }, () => PIECES[next(PIECES.length)]!).join("");
  return Array.from({ length: count }, () => make(BEGINNINGS[next(BEGINNINGS.length)]!, some, next));
}

/** Whether a password would go to `EVIL`. */
const ASK = ofWritten(
  `[...inner.querySelectorAll("input")].some(
    (input) => input.type === "password" && input.form?.action.startsWith(${JSON.stringify(EVIL)}))`,
);

/** How many of the pages send a password away; those that the scan lets through are `missed`. */
async function ask(
  all: readonly string[],
  site?: Partial<SiteContext>,
): Promise<{ sending: number; missed: string[] }> {
  await browser.visit("about:blank");
  const found = { sending: 0, missed: [] as string[] };
  for (let at = 0; at < all.length; at += 200) {
    const batch = all.slice(at, at + 200);
    const sends = JSON.parse(await browser.evaluate<string>(`(${ASK})(${JSON.stringify(batch)})`)) as boolean[];
    const sending = batch.filter((_, i) => sends[i]);
    found.sending += sending.length;
    found.missed.push(...sending.filter((page) => !judgePage(page, site).startsWith("abuse_rejected")));
  }
  return found;
}

test("what Chromium would send to another domain is refused, in 2,000 broken pages", async () => {
  const { sending, missed } = await ask(
    pages(2000, 20261121, (begin, some) => begin + some(5) + BAD + some(4) + FIELD + some(3)),
  );
  expect(missed).toEqual([]);
  expect(sending).toBeGreaterThan(300);
}, 180_000);

test("of several bases, and of forms in forms, the one that counts for Chromium is judged", async () => {
  const own = { slug: "calm-otter-x3k9" };
  const others = [`<base href=${EVIL}>`, "<base href=https://calm-otter-x3k9.sites.example/>", "<base>", "<table><td>"];
  const forms = [
    "<form action=in>",
    "<form action=/ok>",
    "</form>",
    "</table>",
    "</select>",
    "<template>",
    "</template>",
  ];
  const piece = (next: (below: number) => number) => [...others, ...forms][next(others.length + forms.length)]!;
  const all = pages(3000, 20261122, (begin, some, next) => {
    const inside = Array.from({ length: 6 }, () => (next(3) === 0 ? some(1) : piece(next)));
    return `${begin}${inside.join("")}<form action=in>${FIELD}`;
  });
  const { sending, missed } = await ask(all, own);
  expect(missed).toEqual([]);
  expect(sending).toBeGreaterThan(300);
}, 180_000);
