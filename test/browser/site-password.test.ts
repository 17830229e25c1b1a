/** BEYOND 8 in a real Chromium: a site that wants a password, by keyboard, without script, on a phone and in the dark. */
import { beforeEach, expect, test } from "bun:test";
import { call, signUp } from "../kit/people.ts";
import { type DeployResult } from "../kit/server.ts";
import { shared, sharedServer } from "../kit/shared.ts";
import { zipOf } from "../kit/zip.ts";
import { byRole, fill, focused, press } from "./by-role.ts";
import { openBrowser } from "./chromium.ts";
import { axeFinds, filledButtons, inScheme, loadOf, LOOKS, sized, watchLoads } from "./health.ts";

const server = await sharedServer();
const browser = shared({ browser: await openBrowser(), async [Symbol.asyncDispose]() { await this.browser.close(); } }).browser; // prettier-ignore
await watchLoads(browser);
const ann = await signUp(server);
const PASSWORD = "open sesame 1";

const FILES = {
  "index.html": "<!doctype html><title>Secret garden</title><h1>Roses</h1><script src=a.js></script>",
  "a.js": "document.body.append(' and lilies')",
  "deep/page.html": "<!doctype html><title>Deep</title><h1>Tulips</h1>",
};
let site: DeployResult;
beforeEach(async () => {
  await browser.cdp("Network.clearBrowserCookies");
  site = (await (await server.post(zipOf(FILES), ann.bearer)).json()) as DeployResult;
  await call(server, "PUT", `/sites/${site.site_id}/access`, { password: PASSWORD }, ann.bearer);
});

test.each(LOOKS)("the page that asks is whole at %d px in %s", async (width, scheme) => {
  await sized(browser, width);
  await inScheme(browser, scheme);
  const { messages } = await browser.visit(`${site.url}/deep/page.html`);
  expect(messages.filter((one) => !one.includes("401"))).toEqual([]); // Chromium says that of every one
  expect(await axeFinds(browser)).toEqual([]);
  const { shifted, requests, beyond } = await loadOf(browser);
  expect([shifted, requests, beyond]).toEqual([0, 1, 0]);
  expect(await filledButtons(browser)).toEqual([]);
  expect(await browser.evaluate<string>("document.title")).toBe("Password");
});

test("by keyboard: a wrong one is said, the right one leads to the page that was asked for, and stays right", async () => {
  await browser.visit(`${site.url}/deep/page.html?x=1`);
  expect(await focused(browser)).toEqual({ role: "textbox", name: "Password" });
  await browser.type("not this one");
  await browser.press("Enter");
  await byRole(browser, "alert", "");
  expect((await browser.shows("That password is wrong")).text).toContain("This site has a password");
  expect(await axeFinds(browser)).toEqual([]);
  expect(await focused(browser)).toEqual({ role: "textbox", name: "Password" });
  await browser.type(PASSWORD);
  await browser.press("Enter");
  const { url } = await browser.shows("Tulips");
  expect(url).toBe(`${site.url}/deep/page.html?x=1`);
  expect((await browser.visit(site.url, "and lilies")).text).toMatch(/Roses\s+and lilies/);
});

test("without scripts it works the same", async () => {
  await browser.cdp("Emulation.setScriptExecutionDisabled", { value: true });
  await browser.visit(site.url);
  await fill(browser, "textbox", "Password", PASSWORD);
  await browser.press("Enter");
  await browser.shows("Roses");
  await browser.cdp("Emulation.setScriptExecutionDisabled", { value: false });
});

test("the dashboard sets one, changes it, and lets everybody in again", async () => {
  await call(server, "DELETE", `/sites/${site.site_id}/access`, undefined, ann.bearer);
  const session = { name: "svc_session", value: ann.session_token, url: server.base_url, httpOnly: true };
  await browser.cdp("Network.setCookie", session);
  await browser.visit(`${server.base_url}/dashboard/sites/${site.site_id}/settings`);
  await fill(browser, "textbox", "Password for visitors", "by the owner");
  await press(browser, "button", "Set a password");
  expect((await browser.shows("Visitors need the password from now on.")).text).toContain("New password");
  expect((await fetch(`${site.url}/`)).status).toBe(401);
  await press(browser, "button", "Remove the password: let everybody in");
  await browser.shows("Everybody may see the site now.");
  expect((await fetch(`${site.url}/`)).status).toBe(200);
});
