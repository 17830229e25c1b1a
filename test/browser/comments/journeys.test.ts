/** COMMENTS 5 in a real Chromium, by mouse: a passage is commented on, answered, renamed, taken back, linked to. */
import { beforeEach, expect, test } from "bun:test";
import { shared } from "../../kit/shared.ts";
import { until } from "../../kit/until.ts";
import { byRole, fill, focused, hrefOf, named, valueOf } from "../by-role.ts";
import type { Browser } from "../chromium.ts";
import { click, gone, panelShows, panelText, said, select } from "./hands.ts";
import { article, type CommentedSite, PASSAGE, World } from "./world.ts";

const world = shared(await World.open());
const { browser } = world;
let site: CommentedSite;
beforeEach(async () => {
  await browser.cdp("Network.clearBrowserCookies");
  site = await world.site({ "index.html": article(), "other.html": article() });
});

const open = async (hash = ""): Promise<void> => void (await browser.visit(`${site.origin}/${hash}`));

async function comment(words: string, text: string): Promise<void> {
  await select(browser, words);
  await click(browser, "button", "Comment");
  await fill(browser, "textbox", "Comment", text);
  await click(browser, "button", "Post");
  await panelShows(browser, text);
}

test("a launcher that is pressed while the widget is still on its way opens the panel once it is there", async () => {
  await site.writeOn({ exact: PASSAGE }, "Is it true?");
  const asked = Promise.withResolvers<{ requestId: string }>();
  browser.on<{ requestId: string }>("Fetch.requestPaused", asked.resolve);
  await browser.cdp("Fetch.enable", { patterns: [{ urlPattern: "*/_svc/c/*" }] });
  await browser.cdp("Page.navigate", { url: `${site.origin}/` });
  const { requestId } = await asked.promise;
  await click(browser, "button", "Comments");
  await browser.cdp("Fetch.continueRequest", { requestId });
  await browser.cdp("Fetch.disable");
  await panelShows(browser, "Is it true?");
});

test("a selected passage gets a button 'Comment', a box with the focus, and a comment that others read", async () => {
  await open();
  await select(browser, PASSAGE);
  await click(browser, "button", "Comment");
  await byRole(browser, "complementary", "Comments");
  expect(await focused(browser)).toEqual({ role: "textbox", name: "Comment" });
  await browser.type("Is this still true?");
  await click(browser, "button", "Post");
  await byRole(browser, "button", `Thread on '${PASSAGE}', 0 replies`);
  await until(async () => (await site.texts()).includes("Is this still true?"));
  await open();
  await byRole(browser, "button", `Thread on '${PASSAGE}', 0 replies`);
});

test("the passage is stored with what stands around it", async () => {
  await open();
  await comment(PASSAGE, "Stored");
  await until(async () => (await site.texts()).length > 0);
  const response = await site.ask("/_svc/comments/threads?page=/index.html");
  const { threads } = (await response.json()) as { threads: { anchor: { selector: unknown; carried: string } }[] };
  expect(threads[0]!.anchor).toMatchObject({
    carried: "exact",
    selector: [
      {
        exact: PASSAGE,
        prefix: expect.stringMatching(/On a normal connection $/),
        suffix: expect.stringMatching(/^ and return a live URL\./),
      },
    ],
  });
});

test("the passage has a highlight, and no element of the page is changed for it", async () => {
  await site.writeOn({ exact: PASSAGE }, "Marked");
  await open();
  await byRole(browser, "button", `Thread on '${PASSAGE}', 0 replies`);
  const marked = await browser.evaluate<string>("String([...CSS.highlights.get('svc-comment')][0])");
  expect(marked).toBe(PASSAGE);
  expect(await browser.evaluate<number>("document.querySelectorAll('#first *, mark').length")).toBe(0);
});

test("a click on the highlighted passage opens its thread", async () => {
  await site.writeOn({ exact: PASSAGE }, "By a click");
  await open();
  await byRole(browser, "button", `Thread on '${PASSAGE}', 0 replies`);
  await select(browser, PASSAGE); // a drag is no click
  expect(await panelText(browser)).toBe("");
  await browser.evaluate("getSelection().empty()");
  await browser.click("#first");
  await panelShows(browser, "By a click");
});

test("a reply is written in the open thread, and counted on the pin", async () => {
  await site.writeOn({ exact: PASSAGE }, "Answer me");
  await open();
  await click(browser, "button", /^Thread on/);
  await fill(browser, "textbox", "Reply", "Yes, it is");
  await click(browser, "button", "Reply");
  await byRole(browser, "button", `Thread on '${PASSAGE}', 1 reply`);
  await until(async () => (await site.texts()).join() === "Answer me,Yes, it is");
});

test("a comment about the whole page has no pin, and is read by the launcher", async () => {
  await open();
  await click(browser, "button", "Comments");
  await fill(browser, "textbox", "Comment", "A fine page");
  await click(browser, "button", "Post");
  await panelShows(browser, "About the whole page");
  await panelShows(browser, "A fine page");
  expect((await named(browser, "button")).filter((name) => name.startsWith("Thread on"))).toEqual([]);
});

test("whoever wrote renames themselves, and earlier comments show the new name", async () => {
  await open();
  await comment(PASSAGE, "Mine");
  await click(browser, "button", "Rename");
  await fill(browser, "textbox", "Your name", "Ada of the Pier");
  await click(browser, "button", "Save");
  await until(async () => (await panelText(browser)).split("Ada of the Pier").length === 3);
  await click(browser, "button", "Rename");
  await fill(browser, "textbox", "Your name", "Owner");
  await click(browser, "button", "Save");
  await panelShows(browser, "This name is kept for the site's owner.");
  expect(await valueOf(browser, "textbox", "Your name")).toBe("Owner");
});

test("whoever wrote takes a copy along, and erases all of it", async () => {
  await open();
  await comment(PASSAGE, "For a while");
  await click(browser, "button", "Your data");
  expect(await hrefOf(browser, "Download what you wrote")).toBe(`${site.origin}/_svc/comments/me/export`);
  await click(browser, "button", "Erase all of it");
  await until(async () => !(await site.texts()).includes("For a while"));
  await until(async () => (await said(browser)) === "All that you wrote here is erased");
  expect(await named(browser, "button")).not.toContain("Rename");
});

test("a post is taken back by 'Undo', which deletes it", async () => {
  await open();
  await comment(PASSAGE, "Too early");
  await until(async () => (await site.texts()).length === 1);
  await click(browser, "button", "Undo");
  await until(async () => (await site.texts()).length === 0);
  await gone(browser, "button", `Thread on '${PASSAGE}', 0 replies`);
});

test("an author edits and deletes what they wrote; others can only report it", async () => {
  await open();
  await comment(PASSAGE, "First words");
  await click(browser, "button", "Edit");
  expect(await valueOf(browser, "textbox", "Edit comment")).toBe("First words");
  await fill(browser, "textbox", "Edit comment", "Better words");
  await click(browser, "button", "Save");
  await panelShows(browser, "edited");
  expect(await site.texts()).toEqual(["Better words"]);
  await click(browser, "button", "Delete");
  await until(async () => (await site.texts()).length === 0);

  await site.writeOn({ exact: PASSAGE }, "Somebody else's");
  await open();
  await click(browser, "button", /^Thread on/);
  await click(browser, "button", "Report");
  expect(await named(browser, "button")).not.toContain("Edit");
  await panelShows(browser, "Report this comment");
  await click(browser, "button", "Report it");
  await until(async () => (await said(browser)) === "Reported to the site's owner");
  expect(await named(browser, "button")).not.toContain("Delete");
});

test("a draft outlives a reload, and is gone once it is posted", async () => {
  await open();
  await click(browser, "button", "Comments");
  await fill(browser, "textbox", "Comment", "Half a thou");
  await open();
  await click(browser, "button", "Comments");
  expect(await valueOf(browser, "textbox", "Comment")).toBe("Half a thou");
  const drafts = () => browser.evaluate<number>("sessionStorage.length");
  expect(await drafts()).toBe(1);
  await click(browser, "button", "Post");
  await until(async () => (await site.texts()).length === 1);
  await until(async () => (await drafts()) === 0); // it is kept until the answer is there
  await open();
  await click(browser, "button", "Comments");
  await click(browser, "button", "Comment on the whole page");
  expect(await valueOf(browser, "textbox", "Comment")).toBe("");
});

test("what is refused stands below the box, and what was written stays in it", async () => {
  await open();
  await click(browser, "button", "Comments");
  await fill(browser, "textbox", "Comment", "Too late");
  await site.settings({ mode: "passcode", passcode: "open sesame" });
  await click(browser, "button", "Post");
  await byRole(browser, "textbox", "Passcode");
  expect(await site.settings({ mode: "anonymous" })).toBeUndefined();
  await open();
  await click(browser, "button", "Comments");
  expect(await valueOf(browser, "textbox", "Comment")).toBe("Too late");
});

test("'Copy link' copies an address that opens the thread, and that browsers understand by themselves", async () => {
  const { id } = await site.writeOn({ exact: PASSAGE }, "Look here");
  await browser.cdp("Browser.grantPermissions", { permissions: ["clipboardReadWrite", "clipboardSanitizedWrite"] });
  await open();
  await click(browser, "button", /^Thread on/);
  await click(browser, "button", "Copy link");
  await until(async () => (await browser.evaluate<string>("navigator.clipboard.readText()")).includes("#svc-"));
  const link = await browser.evaluate<string>("navigator.clipboard.readText()");
  expect(link).toBe(`${site.origin}/#svc-${id}:~:text=deploys%20finish%20in%20two%20seconds`);
  await browser.visit(link);
  await panelShows(browser, "Look here");
});

test("a link to a reply opens its thread and scrolls to the passage; one to nothing says so", async () => {
  const root = await site.writeOn({ exact: "The last boat leaves at noon" }, "At noon?");
  const reply = await site.write("Sharp", root.iri);
  await open(`#svc-${reply.id}`);
  await panelShows(browser, "Sharp");
  await until(() => browser.evaluate<boolean>("scrollY > 100"));
  await open("#svc-c_00000000000000000000");
  await until(async () => (await said(browser)) === "That comment is not on this page any more.");
});

test("a comment of somebody else comes by polling, and a live region says how many", async () => {
  await open();
  await click(browser, "button", "Comments");
  await byRole(browser, "complementary", "Comments");
  await site.writeOn({ exact: PASSAGE }, "While you look");
  await browser.evaluate("document.dispatchEvent(new Event('visibilitychange'))"); // as after a return to the tab
  await panelShows(browser, "While you look");
  expect(await said(browser)).toBe("1 new");
});

test("comments that are turned off meanwhile go away", async () => {
  await site.writeOn({ exact: PASSAGE }, "Soon gone");
  await open();
  await byRole(browser, "button", /^Thread on/);
  await site.settings({ mode: "off" });
  await browser.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
  await gone(browser, "button", "Comments");
  expect(await browser.evaluate<number>("CSS.highlights.size")).toBe(0);
  await browser.evaluate("document.querySelector('main').append('Something new')"); // changes are still watched for
  await Bun.sleep(600);
  expect(await browser.evaluate<number>("document.querySelectorAll('svc-comments').length")).toBe(0);
});
