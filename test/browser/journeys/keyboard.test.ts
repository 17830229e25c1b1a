/** WEB by keyboard alone: one person's whole way, from the sign-up over a site and its versions to the sign-out. Nothing
 *  is clicked and no focus is set by the test; the system's own dialogs alone are answered for them. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { PASSWORD } from "../../kit/people.ts";
import { until } from "../../kit/until.ts";
import { focused, things } from "../by-role.ts";
import { type Browser } from "../chromium.ts";
import { openZone, type ZoneWorld } from "../zone/world.ts";

let world: ZoneWorld;
let browser: Browser;
const choosers: { backendNodeId: number }[] = [];
beforeAll(async () => {
  world = await openZone();
  ({ browser } = world);
  await browser.cdp("Page.setInterceptFileChooserDialog", { enabled: true });
  browser.on<{ backendNodeId: number }>("Page.fileChooserOpened", (opened) => choosers.push(opened));
}, 60_000);
afterAll(() => world[Symbol.asyncDispose]());

const page = (title: string) => `<!doctype html><html lang="en"><title>${title}</title><h1>${title}</h1>`;

/** Tab after Tab, until something of that role and name has the focus. */
async function tabTo(role: string, name: string | RegExp): Promise<void> {
  const seen: string[] = [];
  for (let i = 0; i < 70; i++) {
    await browser.press("Tab");
    const at = await focused(browser);
    if (at?.role === role && (typeof name === "string" ? at.name === name : name.test(at.name))) return;
    seen.push(`${at?.role} "${at?.name}"`);
  }
  throw new Error(`Tab never came to ${role} ${String(name)}, but to ${seen.join(", ")}`);
}
async function enter(role: string, name: string | RegExp): Promise<void> {
  await tabTo(role, name);
  await browser.press("Enter");
}
const has = (role: string, name: string | RegExp) =>
  until(async () =>
    (await things(browser).catch(() => [])).some(
      (one) => one.role === role && (typeof name === "string" ? one.name === name : name.test(one.name)),
    ),
  );
const hasFocus = (role: string, name: string | RegExp) =>
  until(async () => {
    const at = await focused(browser).catch(() => null);
    return at?.role === role && (typeof name === "string" ? at.name === name : name.test(at.name));
  });
/** The system's dialog is open, and this is chosen in it. */
async function chooseInDialog(...files: string[]): Promise<void> {
  await until(() => choosers.length > 0);
  await browser.cdp("DOM.setFileInputFiles", { ...choosers.shift()!, files });
}
const idOf = (words: string): string => /[0-9a-f]{16}/.exec(words)![0];

test("WEB 1 to 8: publish, a second version, back, compare, rename, delete, password, sign out", async () => {
  const first = await world.folder("first", { "index.html": page("One"), "old.txt": "old" });
  const second = await world.folder("second", { "index.html": page("Two"), "new.txt": "new" });

  await world.open("/signup");
  await tabTo("textbox", "E-mail address");
  await browser.type("keys@example.org");
  await tabTo("textbox", "Password");
  await browser.type(PASSWORD);
  await browser.press("Enter");
  await has("heading", "No sites yet");

  await enter("link", "Publish your first site");
  await has("heading", "Drop a folder, get a live URL");
  await enter("button", "Choose a folder");
  await chooseInDialog(first);
  await hasFocus("heading", "Your site is live");
  await tabTo("link", /^http:\/\//);
  await enter("button", "Copy link");
  await enter("link", "Manage this site");
  await has("heading", "New version");

  await enter("button", "Choose a folder");
  await chooseInDialog(second);
  await hasFocus("heading", /^Your new version is live$/);
  await tabTo("link", /^Changes in /);
  const newer = idOf((await focused(browser))!.name);
  await enter("button", /^Make [0-9a-f]{16} live$/);
  await browser.shows("is live.");

  await enter("link", `Changes in ${newer}`);
  await has("heading", "Changes");
  expect((await browser.shows("the same")).text).toContain("1 changed, 1 added, 1 removed, 0 the same");
  await tabTo("combobox", "From");
  await browser.press("ArrowUp");
  await browser.press("ArrowDown");
  await tabTo("combobox", "To");
  await enter("button", "Compare");
  await browser.shows("the same");
  await enter("link", /^[a-z]+-[a-z]+-\w+$/);
  await enter("link", "Settings");

  await tabTo("textbox", "Label");
  await browser.type("Harbour guide");
  await browser.press("Enter");
  await browser.shows("The settings are saved.");
  await has("heading", "Harbour guide");

  await enter("link", "Delete this site");
  await has("button", "Delete site");
  await tabTo("textbox", /^Type .* to confirm$/);
  await browser.type(/^Type (.*) to confirm$/.exec((await focused(browser))!.name)![1]!);
  await browser.press("Enter");
  await browser.shows("It is deleted.");

  await enter("link", "Account");
  await has("heading", "Password");
  await tabTo("textbox", "Current password");
  await browser.type(PASSWORD);
  await tabTo("textbox", "New password");
  await browser.type(`${PASSWORD} staple`);
  await browser.press("Enter");
  await browser.shows("Your password is changed.");

  await enter("button", "Sign out");
  await has("link", "Sign in");
  expect(await browser.evaluate<string>("location.pathname")).toBe("/");
}, 180_000);

test("WEB 4.3, 4.6, 4.7: without an account: a question, the way back by Esc, a site of this browser forgotten and taken back", async () => {
  const list = await world.folder("list", { "a.txt": "a" });
  const site = await world.folder("site", { "index.html": page("Three") });
  await browser.cdp("Network.clearBrowserCookies");
  await world.open();
  await enter("button", "Choose a folder");
  await chooseInDialog(list);
  await hasFocus("button", "Publish the list");
  await browser.press("Escape");
  await hasFocus("button", "Choose a folder");
  await browser.press("Enter");
  await chooseInDialog(site);
  await hasFocus("heading", "Your site is live");
  await enter("button", "Publish another");
  await hasFocus("button", "Choose a folder");
  await enter("button", /^Forget /);
  await hasFocus("button", "Undo");
  await browser.press("Enter");
  await enter("button", /^Update /);
  await has("region", /^New version of /);
  await hasFocus("button", "Choose a folder");
}, 120_000);
