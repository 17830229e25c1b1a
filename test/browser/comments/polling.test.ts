/** COMMENTS 2: how often a page asks for news. Timers are heard, not waited for. */
import { beforeEach, expect, test } from "bun:test";
import { shared } from "../../kit/shared.ts";
import { until } from "../../kit/until.ts";
import { byRole, fill } from "../by-role.ts";
import { click, panelShows, panelText } from "./hands.ts";
import { article, type CommentedSite, PASSAGE, World } from "./world.ts";

/** `waits`: what the page waits for at least ten seconds, newest last. `answers`: the statuses of its questions. */
const HEAR = `
  window.waits = [];
  const wait = window.setTimeout;
  window.setTimeout = (then, ms, ...more) => {
    if (ms >= 20000) waits.push(ms);
    return wait(then, ms, ...more);
  };
  window.answers = [];
  const ask = window.fetch;
  window.fetch = async (...asked) => {
    const answer = await ask(...asked).catch((error) => { answers.push(0); throw error; });
    answers.push(answer.status);
    if (window.held && String(asked[0]).includes("since=")) await window.held.splice(0)[0];
    return answer;
  };`;

const world = shared(await World.open());
const { browser } = world;
await browser.cdp("Page.addScriptToEvaluateOnNewDocument", { source: HEAR });
let site: CommentedSite;
beforeEach(async () => {
  site = await world.site({ "index.html": article() });
  await site.writeOn({ exact: PASSAGE }, "First");
  await browser.visit(`${site.origin}/`);
  await byRole(browser, "button", /^Thread on/);
});

const waits = (): Promise<number[]> => browser.evaluate<number[]>("waits");
const answers = (): Promise<number[]> => browser.evaluate<number[]>("answers");
const last = async (): Promise<number | undefined> => (await waits()).at(-1);
const lookAgain = (): Promise<unknown> => browser.evaluate("document.dispatchEvent(new Event('visibilitychange'))"); // as after a return to the tab

test("each minute while the page is seen, each 20 seconds while the panel is open", async () => {
  expect(await last()).toBe(60_000);
  await click(browser, "button", "Comments");
  await until(async () => (await last()) === 20_000);
  await click(browser, "button", "Close");
  await until(async () => (await last()) === 60_000);
});

test("at once on return to the page, and the common answer is an empty 304", async () => {
  expect(await answers()).toEqual([200]);
  await lookAgain();
  await until(async () => (await answers()).length === 2);
  expect(await answers()).toEqual([200, 304]);
});

test("how long ago something was written is told anew, though nothing else is new", async () => {
  await click(browser, "button", /^Thread on/);
  await panelShows(browser, "just now");
  await browser.evaluate("Date.now = ((now) => () => now() + 5 * 60_000)(Date.now)");
  await lookAgain();
  await panelShows(browser, "5 minutes ago");
  expect((await answers()).at(-1)).toBe(304);
});

test("an answer that comes late takes nothing away that was learned meanwhile", async () => {
  await browser.cdp("Network.clearBrowserCookies");
  await browser.visit(`${site.origin}/`);
  await click(browser, "button", "Comments");
  await panelShows(browser, "First");
  await site.writeOn({ exact: "The tide tables" }, "Second");
  await browser.evaluate("window.held = [new Promise((resolve) => (window.release = resolve))]");
  await lookAgain();
  await until(async () => (await answers()).at(-1) === 200 && browser.evaluate<boolean>("held.length === 0"));
  await click(browser, "button", "Comment on the whole page"); // the first thread, then the only one, is the open one
  await fill(browser, "textbox", "Comment", "Third");
  await click(browser, "button", "Post");
  await panelShows(browser, "You write as");
  await browser.evaluate("release()");
  await Bun.sleep(500);
  for (const text of ["First", "Second", "Third", "You write as"]) expect(await panelText(browser)).toContain(text);
});

test("never while nobody sees it", async () => {
  await browser.evaluate("Object.defineProperty(document, 'hidden', { value: true }), waits.length = 0");
  await lookAgain();
  await click(browser, "button", "Comments");
  await byRole(browser, "complementary", "Comments");
  expect([await waits(), await answers()]).toEqual([[], [200]]);
});

test("where no answer comes, twice as seldom each time, at most each 5 minutes", async () => {
  await browser.cdp("Network.setBlockedURLs", { urls: ["*/_svc/comments/*"] });
  const seen: (number | undefined)[] = [];
  for (let tries = 2; tries <= 6; tries++) {
    await lookAgain();
    await until(async () => (await answers()).length === tries);
    await Bun.sleep(50);
    seen.push(await last());
  }
  expect(seen).toEqual([120_000, 240_000, 300_000, 300_000, 300_000]);
  await browser.cdp("Network.setBlockedURLs", { urls: [] });
  await lookAgain();
  await until(async () => (await last()) === 60_000);
});
