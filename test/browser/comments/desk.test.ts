/** WEB 7 by a person in a real browser: turn comments on, decide on what was written, go to the site as its owner. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Commenter, turnOn } from "../../comments/commenter.ts";
import { type DeployResult, startServer, type TestServer } from "../../kit/server.ts";
import { until } from "../../kit/until.ts";
import { type Visitor, visitorOf } from "../../kit/visitor.ts";
import { byRole, fill, focused, hrefOf, named, press } from "../by-role.ts";
import { type Browser, openBrowser } from "../chromium.ts";
import { enter } from "../entering.ts";

let server: TestServer;
let browser: Browser;
let ann: Visitor;
let site: DeployResult;
beforeAll(async () => {
  server = await startServer({ SVC_RATE_COMMENT: "off" });
  browser = await openBrowser();
}, 60_000);
afterAll(async () => {
  await browser.close();
  await server[Symbol.asyncDispose]();
});

const PASSAGE = "deploys finish in two seconds";
/** Somebody new with a site, signed in in the browser. */
async function someone(): Promise<void> {
  ann = await enter(browser, server, await visitorOf(server));
  const guide = `<!doctype html><html lang="en"><title>Guide</title><p>On a normal connection ${PASSAGE}.`;
  site = await ann.deploy({ "index.html": "<!doctype html><title>x</title>x", "guide.html": guide });
  await ann.change(site, { label: "Harbour guide" });
}
const open = (more = "") => browser.visit(`${server.base_url}/dashboard/sites/${site.site_id}/comments${more}`);
const searchOf = ({ url }: { url: string }): string => new URL(url).search;
const visitor = () => new Commenter(server, site);
const seenByAll = async (page: string): Promise<string[]> => {
  const answer = await visitor().send("GET", `threads?page=${page}`);
  if (answer.status !== 200) return [String(answer.status)];
  const { threads } = (await answer.json()) as { threads: { comments: { text: string }[] }[] };
  return threads.flatMap(({ comments }) => comments.map(({ text }) => text));
};

describe("settings", () => {
  test("WEB 7: from the site's page to its comments, on, and into a mode with a passcode", async () => {
    await someone();
    await browser.visit(`${server.base_url}/dashboard/sites/${site.site_id}`);
    await press(browser, "link", /^Comments/);
    await browser.shows("Comments are off");
    expect(await named(browser, "heading")).toEqual(["Harbour guide", "Comments are off"]);
    await byRole(browser, "radiogroup", "Who may write");
    await press(browser, "button", "Turn on comments");
    expect(searchOf(await browser.shows("Comments are on: anyone may write"))).toBe("?show=open&done=comments-on");
    expect(await seenByAll("/")).toEqual([]);
    expect(await named(browser, "textbox")).toEqual([]); // no passcode in this mode
    await press(browser, "radio", "People with a passcode");
    await byRole(browser, "textbox", "Passcode");
    await press(browser, "button", "Save");
    const refused = await browser.shows("needs a passcode");
    expect(refused.title).toStartWith("Error: ");
    expect((await byRole(browser, "textbox", "Passcode")).is).toMatchObject({ invalid: "true", focused: true });
    await fill(browser, "textbox", "Passcode", "open sesame");
    await press(browser, "button", "Save");
    await browser.shows("The settings are saved.");
    await byRole(browser, "textbox", "New passcode");
    expect(await seenByAll("/")).toEqual(["401"]);
    await press(browser, "link", "Overview");
    expect((await browser.shows("Publish a new version")).text).toContain("Comments: with a passcode.");
  }, 60_000);
});

describe("threads", () => {
  test("WEB 7: what waits is approved and hidden, and each button leads back to its list", async () => {
    await someone();
    await turnOn(server, site, "approved");
    await visitor().comment("Buy moorings");
    await visitor().comment("Is this still true?", { page: "/guide.html", exact: PASSAGE });
    const page = await open();
    expect(page.failures).toEqual([]);
    await byRole(browser, "navigation", "Threads");
    expect((await byRole(browser, "link", "Open 2")).is).toMatchObject({});
    await press(browser, "link", "To approve 2");
    await browser.shows("Is this still true?");
    await byRole(browser, "list", "To approve");
    await browser.click("button[name=approve]"); // the newest stands first
    expect(searchOf(await browser.shows("Approved: everybody sees it."))).toBe("?show=pending&done=comment-approved");
    await press(browser, "button", "Hide");
    expect(searchOf(await browser.shows("Hidden: nobody sees it any more."))).toBe("?show=pending&done=rejected");
    expect(await named(browser, "heading")).toContain("Nothing waits for you");
    expect([await seenByAll("/"), await seenByAll("/guide.html")]).toEqual([[], ["Is this still true?"]]);
    await press(browser, "link", "Hidden 1");
    await browser.shows("Buy moorings");
    await press(browser, "button", "Delete");
    await browser.shows("The comment is deleted.");
    await press(browser, "link", "Open 1");
    await browser.shows(PASSAGE);
    await byRole(browser, "link", "Guide");
    await press(browser, "button", "Resolve");
    expect(searchOf(await browser.shows("The thread is resolved."))).toBe("?show=open&done=resolved");
    await press(browser, "link", "Resolved 1");
    await browser.shows(PASSAGE);
    await press(browser, "button", "Reopen");
    await browser.shows("The thread is open again.");
    await byRole(browser, "link", "Open 1");
  }, 60_000);

  test("A26 all of a visitor is hidden from below one of their words", async () => {
    await someone();
    await turnOn(server, site, "anonymous");
    const heron = visitor();
    await visitor().comment("Is this still true?");
    await heron.comment("Buy moorings");
    await heron.comment("Buy more moorings");
    const page = await open();
    expect(page.failures).toEqual([]);
    await browser.click("details.all summary"); // the newest stands first
    await browser.click("details.all[open] button[name=reject-visitor]");
    const said = await browser.shows("Hidden: nobody sees any of them any more.");
    expect(searchOf(said)).toBe("?show=open&done=all-rejected");
    expect(await seenByAll("/")).toEqual(["Is this still true?"]);
    await press(browser, "link", "Hidden 2");
    await browser.shows("Buy more moorings");
  }, 60_000);

  test("WEB 7: two presses from the list of sites an answer is on the page", async () => {
    await someone();
    await turnOn(server, site, "anonymous");
    await visitor().comment("Where?", { page: "/guide.html", exact: PASSAGE });
    await browser.visit(`${server.base_url}/dashboard`);
    await press(browser, "link", "1 open");
    await browser.shows("Where?");
    await browser.evaluate("document.querySelector('.reply textarea').focus()");
    await browser.type("At the slip.");
    await press(browser, "button", "Reply");
    const said = await browser.shows("Your reply is on the page.");
    expect([said.failures, new URL(said.url).hash.startsWith("#c_")]).toEqual([[], true]);
    expect(await seenByAll("/guide.html")).toEqual(["Where?", "At the slip."]);
  }, 60_000);

  test("WEB 7: page and thread are links to the site's own host", async () => {
    await someone();
    await turnOn(server, site, "anonymous");
    const id = await visitor().comment("Where?", { page: "/guide.html", exact: PASSAGE });
    await open();
    expect(await hrefOf(browser, "Guide")).toBe(`${site.url}/guide.html`);
    expect(await hrefOf(browser, "Show on the page")).toBe(`${site.url}/guide.html#svc-${id}`);
  }, 60_000);

  test("WEB 7: all of it by keyboard alone", async () => {
    await someone();
    await turnOn(server, site, "approved");
    await visitor().comment("by keyboard");
    await open("?show=pending");
    const order: string[] = [];
    const tab = async () => {
      await browser.press("Tab");
      const at = await focused(browser);
      if (at !== null) order.push(`${at.role} ${at.name}`);
      return at;
    };
    for (let i = 0; i < 40 && (await tab())?.name !== "Approve"; i++);
    const links = ["Open 1", "To approve 1", "Reported 0", "Resolved 0", "Hidden 0"].map((name) => `link ${name}`);
    expect(order[0]).toBe("link Skip to content");
    expect(order).toEqual(expect.arrayContaining([...links, "link x", "button Show on the page"]));
    await browser.press("Enter");
    await browser.shows("Approved: everybody sees it.");
    expect(await seenByAll("/")).toEqual(["by keyboard"]);
  }, 60_000);

  test("COMMENTS 5: a button says of whom it is about, for those who do not see its place", async () => {
    await someone();
    await turnOn(server, site, "approved");
    const writer = visitor();
    await writer.comment("described");
    await writer.rename("Quiet Heron");
    await open("?show=pending");
    const about = await browser.evaluate<string>(
      "document.getElementById(document.querySelector('button[name=approve]').getAttribute('aria-describedby')).textContent",
    );
    expect(about).toContain("Quiet Heron");
  }, 60_000);
});

describe("the way to the site as owner", () => {
  test("WEB 7: a button, then a link that leads there in the same tab", async () => {
    await someone();
    await turnOn(server, site, "anonymous");
    await open();
    await press(browser, "button", "Open as owner");
    const page = await browser.shows("within five minutes");
    expect([page.title, page.failures]).toEqual(["Open on the site as owner · svc", []]);
    const { host } = new URL(site.url);
    expect(await hrefOf(browser, `Go to ${host} as owner`)).toStartWith(`${site.url}/#svc-owner=svc_owner_`);
    await press(browser, "link", `Go to ${host} as owner`);
    const there = await browser.shows("x");
    expect([new URL(there.url).origin, there.messages.filter((line) => line.includes("form-action"))]).toEqual([
      site.url,
      [],
    ]);
    const queue = () => browser.evaluate<number>("fetch('/_svc/comments/queue').then(({ status }) => status)");
    await until(async () => (await queue()) === 200, 100);
    expect(await browser.evaluate<string>("location.hash")).toBe("");
  }, 60_000);
});
