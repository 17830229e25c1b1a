/** BEYOND 17: a page with comments that is open while its site is renamed, in a real browser. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { byRole, fill } from "../browser/by-role.ts";
import { click, panelShows } from "../browser/comments/hands.ts";
import { article, PASSAGE, World } from "../browser/comments/world.ts";
import { operate } from "../kit/operator.ts";
import { shared } from "../kit/shared.ts";

setDefaultTimeout(60_000);

const world = shared(await World.open());
const { browser, server } = world;

test("BEYOND 17: what is written there is refused with the way on; at the new address the threads are as they were", async () => {
  const site = await world.site({ "index.html": article() });
  await site.writeOn({ exact: PASSAGE }, "Written before");
  await browser.visit(`${site.origin}/`);
  await byRole(browser, "button", /^Thread on/);
  await click(browser, "button", "Comments");
  await panelShows(browser, "Written before");
  await operate(server.data_dir, "rename", site.deployed.slug, "renamed-while-open");
  await click(browser, "button", "Comment on the whole page");
  await fill(browser, "textbox", "Comment", "Written on an open page");
  await click(browser, "button", "Post");
  await panelShows(browser, "This site has a new address. Copy what you have written, then reload the page.");
  await panelShows(browser, "This site has a new address. Reload the page.");
  await panelShows(browser, "Written before");

  await browser.evaluate("location.reload()").catch(() => null);
  await byRole(browser, "button", /^Thread on/);
  const origin = site.origin.replace(site.deployed.slug, "renamed-while-open");
  expect(await browser.evaluate<string>("location.origin")).toBe(origin);
  await click(browser, "button", /^Thread on/);
  await panelShows(browser, "Written before");
});

test("BEYOND 17: a visitor has a new pseudonym at the new address, and their thread stays", async () => {
  const site = await world.site({ "index.html": article() });
  const mine = await site.writeOn({ exact: PASSAGE }, "Mine");
  await operate(server.data_dir, "rename", site.deployed.slug, "with-another-host");
  const path = new URL(mine.iri).pathname;
  const host = (slug: string) => new URL(site.origin.replace(site.deployed.slug, slug)).host;
  const moved = await world.ask(host(site.deployed.slug), path);
  expect([moved.status, moved.headers.get("location")]).toEqual([308, `https://${host("with-another-host")}${path}`]);
  const thread = await world.ask(host("with-another-host"), path);
  expect([thread.status, await thread.text()]).toEqual([200, expect.stringContaining("Mine")]);
});
