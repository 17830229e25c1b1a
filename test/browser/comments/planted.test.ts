/** COMMENTS 4, cookie tossing, in a real browser: a neighbour's page sets the neighbour's own identity for the parent
 *  domain, before the victim has ever written. */
import { expect, test } from "bun:test";
import { shared } from "../../kit/shared.ts";
import { until } from "../../kit/until.ts";
import { fill } from "../by-role.ts";
import { click } from "./hands.ts";
import { article, World } from "./world.ts";

const world = shared(await World.open());

test.each(["/", "/_svc/comments/", "/_svc/comments/threads"])(
  "planted for %s it neither writes the victim's words nor stays",
  async (path) => {
    const { browser } = world;
    await browser.cdp("Network.clearBrowserCookies");
    const [victim, evil] = [
      await world.site({ "index.html": article() }),
      await world.site({ "index.html": "<!doctype html><title>A neighbour</title>" }, "off"),
    ];
    const eve = await victim.write("Eve's words", `${victim.origin}/index.html`);
    await browser.visit(`${evil.origin}/`);
    await browser.evaluate(`document.cookie = "${eve.cookie}; Domain=svc.test; Path=${path}; Secure"`);
    await browser.visit(`${victim.origin}/`);
    await click(browser, "button", "Comments");
    await click(browser, "button", "Comment on the whole page"); // the only thread is the open one
    await fill(browser, "textbox", "Comment", "The victim's own words");
    await click(browser, "button", "Post");
    await until(async () => (await victim.texts()).length === 2);
    const seen = await victim.ask("/_svc/comments/threads?page=/index.html", { headers: { cookie: eve.cookie } });
    const { threads } = (await seen.json()) as { threads: { comments: { text: string; mine: boolean }[] }[] };
    const mine = Object.fromEntries(threads.flatMap(({ comments }) => comments.map(({ text, mine }) => [text, mine])));
    expect(mine).toEqual({ "Eve's words": true, "The victim's own words": false });
    // What was planted is gone, and the next words are the victim's, too.
    await browser.visit(`${victim.origin}/`);
    const next = await browser.evaluate<{ status: number; mine: boolean[] }>(`(async () => {
      const at = "/_svc/comments/";
      const post = { method: "POST", headers: { "content-type": "application/json" } };
      const { status } = await fetch(at, { ...post, body: JSON.stringify({ body: "More words", target: "/index.html" }) });
      const { threads } = await (await fetch(at + "threads?page=/index.html")).json();
      return { status, mine: threads.map(({ comments }) => comments[0].mine) };
    })()`);
    expect(next).toEqual({ status: 201, mine: [false, true, true] });
  },
  60_000,
);
