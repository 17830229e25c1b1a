/** The bar of the receipts is truth: every site of the test set is opened in a browser, page by page, and what went wrong
 *  there is compared with its warnings; `verify` takes one in eight, `verify --all` each. bench/receipts.md has
 *  the figures. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { BROKEN, SOUND } from "../receipts/index.ts";
import { seen } from "../receipts/open.ts";
import { REAL } from "../receipts/real-builds.ts";
import { startServer, type TestServer } from "../kit/server.ts";
import { ALL } from "../kit/whole.ts";
import { type Browser, openBrowser } from "./chromium.ts";

const SITES = [...BROKEN, ...SOUND, ...REAL].filter((_, i) => ALL || i % 8 === 0);

let server: TestServer;
let browser: Browser;
beforeAll(async () => {
  server = await startServer();
  browser = await openBrowser();
}, 60_000);
afterAll(async () => {
  browser.close();
  await server[Symbol.asyncDispose]();
});

interface Judged {
  name: string;
  broken: boolean;
  warned: boolean;
}
const judged: Judged[] = [];

test.each(SITES)(
  "$name: a browser finds what the test set says of it",
  async ({ name, files, wrong }) => {
    const contents = await files();
    const { url, warnings } = await server.deploy(contents);
    const faults = await seen(browser, url, contents);
    judged.push({ name, broken: faults.length > 0 || wrong !== null, warned: warnings.length > 0 });
    if (wrong?.seen === "browser") expect(faults).not.toEqual([]);
    else expect(faults).toEqual([]);
    expect([...new Set(warnings.map(({ code }) => code))].toSorted()).toEqual((wrong?.codes ?? []).toSorted());
  },
  60_000,
);

test("precision and recall of the warnings are at least 0.95", () => {
  expect(judged.length).toBe(SITES.length);
  const right = judged.filter(({ broken, warned }) => broken && warned).length;
  const precision = right / judged.filter(({ warned }) => warned).length;
  const recall = right / judged.filter(({ broken }) => broken).length;
  const missed = judged.filter(({ broken, warned }) => broken && !warned).map(({ name }) => name);
  const wrong = judged.filter(({ broken, warned }) => !broken && warned).map(({ name }) => name);
  console.log(`${judged.length} sites: precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)}`, {
    missed,
    wrong,
  });
  expect(precision).toBeGreaterThanOrEqual(0.95);
  expect(recall).toBeGreaterThanOrEqual(0.95);
});
