/** COMMENTS 5 in a real Chromium: what waits and who decides, passcodes, and sites that are frozen. */
import { beforeEach, describe, expect, test } from "bun:test";
import { newCommentId } from "../../../src/base/tokens.ts";
import { shared } from "../../kit/shared.ts";
import { until } from "../../kit/until.ts";
import { byRole, fill, named } from "../by-role.ts";
import { click, gone, panelShows, panelText, said, select } from "./hands.ts";
import { article, type CommentedSite, PASSAGE, World } from "./world.ts";

const world = shared(await World.open());
const { browser } = world;
beforeEach(() => browser.cdp("Network.clearBrowserCookies"));

const FILES = { "index.html": article() };
const PIN = `Thread on '${PASSAGE}', 0 replies`;
const open = async (site: CommentedSite): Promise<void> => void (await browser.visit(`${site.origin}/`));

describe("approved mode", () => {
  test("who wrote sees 'awaiting approval', strangers see nothing, and the owner approves", async () => {
    const site = await world.site(FILES, "approved");
    await open(site);
    await select(browser, PASSAGE);
    await click(browser, "button", "Comment");
    await fill(browser, "textbox", "Comment", "May I?");
    await click(browser, "button", "Post");
    await panelShows(browser, "awaiting approval");
    expect(await site.texts()).toEqual([]);
    await browser.visit(await site.ownerUrl());
    await click(browser, "button", "Approve");
    await until(async () => (await site.texts()).includes("May I?"));
    await gone(browser, "button", "Approve");
    expect(await panelText(browser)).not.toContain("awaiting approval");
  });

  test("before posting, a hint says that the owner reads first", async () => {
    const hint = "The owner reads it before others do.";
    const site = await world.site(FILES, "approved");
    await open(site);
    await click(browser, "button", "Comments");
    await panelShows(browser, hint);
    await site.settings({ mode: "anonymous" });
    await open(site);
    await click(browser, "button", "Comments");
    expect(await panelText(browser)).not.toContain(hint);
  });

  test("the owner hides it, and it is gone for everybody", async () => {
    const site = await world.site(FILES, "approved");
    await site.writeOn({ exact: PASSAGE }, "Buy my boats");
    await browser.visit(await site.ownerUrl());
    await panelShows(browser, "Buy my boats");
    await click(browser, "button", "Hide");
    await until(async () => (await said(browser)) === "Hidden");
    await gone(browser, "button", PIN);
    expect(await site.texts()).toEqual([]);
  });

  test("what the owner says beneath a thread that waits asks for no decision of its own", async () => {
    const site = await world.site(FILES, "approved");
    await site.writeOn({ exact: PASSAGE }, "May I ask?");
    await browser.visit(await site.ownerUrl());
    await fill(browser, "textbox", "Reply", "You may");
    await click(browser, "button", "Reply");
    await panelShows(browser, "You may");
    const offered = (await named(browser, "button")).filter((name) => /^(Approve|Hide)$/.test(name));
    expect(offered).toEqual(["Approve", "Hide"]);
  });
});

describe("the owner", () => {
  test("has a badge for a name, in the widget and without a script", async () => {
    const site = await world.site(FILES);
    const { iri } = await site.writeOn({ exact: PASSAGE }, "Is it true?");
    await browser.visit(await site.ownerUrl());
    await fill(browser, "textbox", "Reply", "It is");
    await click(browser, "button", "Reply");
    await panelShows(browser, "It is");
    await browser.cdp("Network.clearBrowserCookies");
    const owners = `(all) => all.map((who) => [who.querySelector(".badge")?.textContent, who.textContent.match(/owner/gi)?.length])`;
    await open(site);
    await click(browser, "button", /^Thread on/);
    await panelShows(browser, "It is");
    expect(
      await browser.evaluate<unknown>(
        `(${owners})([...document.querySelector("svc-comments").shadowRoot.querySelectorAll(".who")].slice(1))`,
      ),
    ).toEqual([["Owner", 1]]);
    await browser.visit(`${site.origin}/_svc/comments/view`);
    expect(
      await browser.evaluate<unknown>(`(${owners})([...document.querySelectorAll("article .small")].slice(1))`),
    ).toEqual([["Owner", 1]]);
    expect(iri).toContain("/_svc/comments/c_");
  });

  test("comes by a code that leaves the address at once, and that is good once", async () => {
    const site = await world.site(FILES);
    const url = await site.ownerUrl();
    expect(url).toContain("#svc-owner=");
    await browser.visit(url);
    await panelShows(browser, "You moderate as Owner");
    expect(await browser.evaluate<string>("location.href")).toBe(`${site.origin}/`);
    await browser.cdp("Network.clearBrowserCookies");
    await browser.visit(url);
    await until(async () => /code/i.test(await said(browser)));
    expect(await panelText(browser)).not.toContain("You moderate");
  });

  test("comes to the thread that the dashboard's link names behind the code", async () => {
    const site = await world.site(FILES);
    const { id } = await site.writeOn({ exact: PASSAGE }, "Settle this");
    await site.writeOn({ exact: PASSAGE }, "And that");
    await browser.visit(`${await site.ownerUrl()}&svc-${id}`);
    await panelShows(browser, "Settle this");
    expect(await browser.evaluate<string>("location.hash")).toBe(`#svc-${id}`);
    expect(await panelText(browser)).toContain("You moderate");
  });

  test("resolves and reopens", async () => {
    const site = await world.site(FILES);
    await site.writeOn({ exact: PASSAGE }, "Settle this");
    await browser.visit(await site.ownerUrl());
    await click(browser, "button", "Resolve");
    await byRole(browser, "button", `${PIN}, resolved`);
    await click(browser, "button", "Reopen");
    await byRole(browser, "button", PIN);
  });

  test("deletes: a reply at once, a thread with replies after a question", async () => {
    const site = await world.site(FILES);
    const { iri } = await site.writeOn({ exact: PASSAGE }, "Root");
    await site.write("Leaf", iri);
    await browser.visit(await site.accountUrl());
    await panelShows(browser, "Leaf");
    await click(browser, "button", "Delete");
    await panelShows(browser, "This deletes the comment and 1 reply, for good.");
    expect(await site.texts()).toEqual(["Root", "Leaf"]);
    await click(browser, "button", "Keep it");
    await click(browser, "button", "Delete");
    await byRole(browser, "button", "Keep it");
    const group = `[aria-label="Delete this thread"] button`;
    await browser.evaluate(`document.querySelector("svc-comments").shadowRoot.querySelector('${group}').click()`);
    await until(async () => (await site.texts()).length === 0);
    expect(await named(browser, "button")).not.toContain("Rename");
  });

  test("A25 deletes nothing where a manage_token made the code, and says what to do instead", async () => {
    const site = await world.site(FILES);
    await site.writeOn({ exact: PASSAGE }, "Stays");
    await browser.visit(await site.ownerUrl());
    await panelShows(browser, "Stays");
    await click(browser, "button", "Delete");
    await until(async () => /manage_token/.test(await said(browser)));
    expect(await site.texts()).toEqual(["Stays"]);
  });

  test("settles and deletes a thread whose first comment its author erased", async () => {
    const site = await world.site(FILES);
    const root = await site.writeOn({ exact: PASSAGE }, "Gone by now");
    await site.write("Still here", root.iri);
    const erased = await site.ask(`/_svc/comments/${root.id}`, { method: "DELETE", headers: { cookie: root.cookie } });
    expect(erased.status).toBe(204);
    await browser.visit(await site.accountUrl());
    await panelShows(browser, "This comment was deleted.");
    await click(browser, "button", "Resolve");
    await byRole(browser, "button", `Thread on '${PASSAGE}', 1 reply, resolved`);
    await click(browser, "button", "Reopen");
    await byRole(browser, "button", `Thread on '${PASSAGE}', 1 reply`);
    await click(browser, "button", "Delete"); // the first: of the thread
    await panelShows(browser, "This deletes the comment and 1 reply, for good.");
    await browser.cdp("Network.clearBrowserCookies");
    await open(site);
    await click(browser, "button", /^Thread on/);
    await panelShows(browser, "This comment was deleted.");
    const offered = (await named(browser, "button")).filter((name) => /^(Resolve|Edit|Delete|Report)$/.test(name));
    expect(offered).toEqual(["Report"]); // the reply
  });

  test("is a visitor again once the hour is over: what strangers may not see goes", async () => {
    const site = await world.site(FILES, "approved");
    await site.writeOn({ exact: PASSAGE }, "Waits for you");
    await browser.visit(await site.ownerUrl());
    await panelShows(browser, "Waits for you");
    await browser.cdp("Network.clearBrowserCookies");
    await browser.evaluate("document.dispatchEvent(new Event('visibilitychange'))"); // as after a return to the tab
    await gone(browser, "button", PIN);
    expect(await panelText(browser)).not.toContain("Waits for you");
    expect(await panelText(browser)).not.toContain("You moderate");
  });

  test("a visitor has no button of the owner's", async () => {
    const site = await world.site(FILES);
    await site.writeOn({ exact: PASSAGE }, "Plain");
    await open(site);
    await click(browser, "button", PIN);
    await panelShows(browser, "Plain");
    const all = await named(browser, "button");
    expect(all.filter((name) => /^(Approve|Hide|Resolve|Reopen|Delete)$/.test(name))).toEqual([]);
  });
});

describe("passcode mode", () => {
  test("the panel asks for it, says when it is wrong, and opens with the right one", async () => {
    const site = await world.site(FILES, "passcode", { passcode: "open sesame" });
    await open(site);
    await click(browser, "button", "Comments");
    await panelShows(browser, "It guards the comments, not the page.");
    await fill(browser, "textbox", "Passcode", "close sesame");
    await click(browser, "button", "Enter");
    await panelShows(browser, "That passcode is wrong. Ask whoever sent you this page.");
    expect((await panelText(browser)).split("\n")).toContain("Passcode"); // the box's name is seen
    expect(await named(browser, "textbox")).toEqual(["Passcode"]);
    await fill(browser, "textbox", "Passcode", "open sesame");
    await click(browser, "button", "Enter");
    await fill(browser, "textbox", "Comment", "Inside");
    await click(browser, "button", "Post");
    await panelShows(browser, "About the whole page");
    await open(site);
    await click(browser, "button", "Comments");
    await panelShows(browser, "Inside");
  });
});

test("a link to a comment behind a passcode asks for it, then opens the comment", async () => {
  const site = await world.site(FILES);
  const { id } = await site.writeOn({ exact: PASSAGE }, "For friends");
  await site.settings({ mode: "passcode", passcode: "open sesame" });
  await browser.visit(`${site.origin}/#svc-${id}`);
  await fill(browser, "textbox", "Passcode", "open sesame");
  await click(browser, "button", "Enter");
  await panelShows(browser, "For friends");
  await byRole(browser, "textbox", "Reply");
});

describe("a frozen site", () => {
  test("is read, says 'Comments are frozen', and has nothing to write in", async () => {
    const site = await world.site(FILES);
    await site.writeOn({ exact: PASSAGE }, "From before");
    world.server.freeze(site.deployed);
    await open(site);
    await click(browser, "button", PIN);
    await panelShows(browser, "Comments are frozen");
    await panelShows(browser, "From before");
    expect(await named(browser, "textbox")).toEqual([]);
    await browser.press("Escape");
    await select(browser, PASSAGE);
    await Bun.sleep(500);
    expect(await named(browser, "button")).not.toContain("Comment");
    await click(browser, "button", PIN);
    await click(browser, "button", "Report");
    await click(browser, "button", "Report it");
    await until(async () => (await said(browser)) === "Reported to the site's owner");
  });
});

test.each(["Agent", "Owner"])("A25 an agent that is called %s has the badge of an agent", async (name) => {
  const site = await world.site(FILES);
  const { id: thread_id } = await site.writeOn({ exact: PASSAGE }, "Is it so?");
  // The name of an agent that was made before names were checked.
  const by = { id: "a_made_before", name, kind: "agent" } as const;
  const { site_id } = site.deployed;
  const writing = { site_id, id: newCommentId(), by, text: "It is", canonical: null, visibility: "public" } as const;
  await world.server.running.store.notes.reply({
    ...writing,
    ...{ thread_id, network: null, most_waiting: Infinity, as: { kind: "public" } },
  });
  await open(site);
  await click(browser, "button", /^Thread on/);
  await panelShows(browser, "It is");
  const badges = await browser.evaluate<string[]>(
    `[...document.querySelector("svc-comments").shadowRoot.querySelectorAll(".who")].map((who) => [...who.querySelectorAll(".name, .badge")].map((part) => part.textContent).join(" | "))`,
  );
  expect(badges[1]).toBe(`${name} | Agent`);
});
