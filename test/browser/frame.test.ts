/** WEB 1 to 3, 9 and 10 in a real Chromium: how the frame, the sign-in, devices, claims, errors and home look, weigh and
 *  behave. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cookieOf, PASSWORD, signUp, submit } from "../kit/people.ts";
import { type DeployResult, startServer, type TestServer } from "../kit/server.ts";
import { type Browser, openBrowser } from "./chromium.ts";
import { axeFinds, inScheme, loadOf, sized, watchLoads } from "./health.ts";
import { partOf } from "../kit/whole.ts";

let server: TestServer;
let browser: Browser;
let site: DeployResult;
let list: DeployResult;
let user_code: string;
beforeAll(async () => {
  server = await startServer("--contact", "help@svc.example");
  browser = await openBrowser();
  site = await server.deploy({ "index.html": "<!doctype html><html lang=en><title>x</title>hello" });
  list = await server.deploy({
    "a.txt": "x",
    [`${"long-".repeat(40)}.txt`]: "y",
    "pictures/b.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>",
  });
  const started = await server.api("/auth/device/code", { method: "POST", headers: { "user-agent": "y".repeat(190) } });
  ({ user_code } = (await started.json()) as { user_code: string });
  await watchLoads(browser);
}, 60_000);
afterAll(async () => {
  await browser.close();
  await server[Symbol.asyncDispose]();
});

async function signIn(): Promise<string> {
  const { email } = await signUp(server, `${"long".repeat(15)}${Bun.hash(String(performance.now()))}@example.org`);
  const [name, value] = cookieOf(await submit(server, "/signin", { email, password: PASSWORD }))!.split("=");
  await browser.visit(`${server.base_url}/`);
  await browser.cdp("Network.setCookie", { name, value, url: server.base_url, httpOnly: true });
  return email;
}
const signOut = () => browser.cdp("Network.clearBrowserCookies");

const at = (path: string): string =>
  path
    .replace("CODE", user_code)
    .replace("LIST", list.url)
    .replace("SITE", site.url)
    .replace(/^\//, `${server.base_url}/`);

const LONG = "x".repeat(200);
const OUT = ["/", "/signin", "/signup", "/signin?why=signed-out", "/claim/site_x", `/nothing/${LONG}`];
const IN = [
  "/",
  "/device",
  "/device?user_code=CODE",
  "/device?user_code=BCDF-GHJK",
  "/claim/site_x?done=saved",
  `/${LONG}`,
];
const ELSEWHERE = ["LIST/", `SITE/nothing/${LONG}`, "http://nobody-here-0000.localhost:PORT/"];
const missing = (path: string): boolean => /nothing|GHJK|x{200}|nobody/.test(path);

describe.each(partOf(["light", "dark"] as const, 1))("in %s", (scheme) => {
  beforeAll(async () => void (await inScheme(browser, scheme)));

  async function judge(path: string, most_bytes: number): Promise<void> {
    await sized(browser, 1280);
    const url = at(path).replace("PORT", String(server.port));
    const { failures } = await browser.visit(url);
    expect(failures.filter((failure) => !(missing(path) && failure.startsWith("404 ")))).toEqual([]);
    const load = await loadOf(browser);
    expect([load.shifted, load.beyond]).toEqual([0, 0]);
    expect(load.bytes).toBeLessThanOrEqual(most_bytes);
    expect(load.requests).toBeLessThanOrEqual(8);
    expect(await axeFinds(browser)).toEqual([]);
    await sized(browser, 320, 568);
    await browser.visit(url);
    const narrow = await loadOf(browser);
    expect([narrow.shifted, narrow.beyond]).toEqual([0, 0]);
    expect(await axeFinds(browser)).toEqual([]);
  }

  test.each(partOf(OUT, 3))(
    "WEB 10: %s, signed out, passes axe at 1280 and 320 px, stands still and is light",
    async (path) => {
      await signOut();
      await judge(path, path === "/" ? 60_000 : 40_000);
    },
    60_000,
  );

  test.each(partOf(IN, 3))(
    "WEB 10: %s, signed in, passes axe at 1280 and 320 px, stands still and is light",
    async (path) => {
      await signIn();
      await judge(path, path === "/" ? 60_000 : 40_000);
    },
    60_000,
  );

  test.each(partOf(ELSEWHERE, 2))(
    "WEB 9: %s, on a site's host, is the same hand",
    async (path) => {
      await judge(path, 40_000);
      const paper = await browser.evaluate<string>("getComputedStyle(document.body).backgroundColor");
      expect(paper).toBe(scheme === "light" ? "rgb(255, 255, 255)" : "rgb(20, 24, 26)");
    },
    60_000,
  );

  test("WEB 10: what was refused passes axe too, focus on the field", async () => {
    await signOut();
    await sized(browser, 1280);
    await browser.visit(`${server.base_url}/signup`);
    await browser.evaluate(`(() => { const form = document.querySelector("form"); form.noValidate = true;
      email.value = "ann@example.org"; password.value = "short"; setTimeout(() => form.requestSubmit()); })()`);
    const { title } = await browser.shows("at least 10 characters");
    expect(title).toBe("Error: Create an account · svc");
    expect(await axeFinds(browser)).toEqual([]);
    expect(await browser.evaluate<string>("document.activeElement.id")).toBe("password");
  }, 60_000);
});

describe("by keyboard", () => {
  test("WEB 1.2: the first Tab is Skip to content, and Enter leads past the banner", async () => {
    await signOut();
    await sized(browser, 1280);
    await browser.visit(`${server.base_url}/signin`);
    await browser.press("Tab");
    const skip = await browser.evaluate<[string, number]>(
      "[document.activeElement.innerText, document.activeElement.getBoundingClientRect().top]",
    );
    expect(skip[0]).toBe("Skip to content");
    expect(skip[1]).toBeGreaterThanOrEqual(0);
    await browser.press("Enter");
    await browser.press("Tab");
    expect(await browser.evaluate<string>("document.activeElement.id")).toBe("email");
  }, 60_000);

  test("WEB 2: Show password shows what is typed, says whether it does, and hides it before the form is sent", async () => {
    await browser.visit(`${server.base_url}/signin`);
    await browser.evaluate("email.focus()");
    await browser.type("nobody@example.org");
    await browser.press("Tab");
    await browser.type("a typed password");
    await browser.press("Tab");
    const state = () =>
      browser.evaluate<string[]>(`(() => { const button = document.querySelector("button[aria-pressed]");
        return [button.getAttribute("aria-label"), button.getAttribute("aria-pressed"), password.type, password.value]; })()`);
    expect(await browser.evaluate<string>("document.activeElement.getAttribute('aria-label')")).toBe("Show password");
    expect(await state()).toEqual(["Show password", "false", "password", "a typed password"]);
    await browser.press("Space");
    expect(await state()).toEqual(["Show password", "true", "text", "a typed password"]);
    const sent = await browser.evaluate<string>(
      `(() => { let type; document.querySelector("form[action='/signin']").addEventListener("submit", (event) => { event.preventDefault(); type = password.type; });
        document.querySelector("form[action='/signin']").requestSubmit(); return type; })()`,
    );
    expect(sent).toBe("password");
  }, 60_000);
});

describe("what scripts add", () => {
  test("WEB 3: Copy the npx command copies and says so; where there is no clipboard the text is selected", async () => {
    const line = `npx -y --allow-remote=root ${server.base_url}/svc.tgz ./my-site`;
    await sized(browser, 1280);
    await browser.visit(`${server.base_url}/`);
    await browser.cdp("Browser.grantPermissions", { permissions: ["clipboardReadWrite", "clipboardSanitizedWrite"] });
    await browser.click("button[aria-label='Copy the npx command']");
    await browser.shows("Copied");
    expect(await browser.evaluate<string>("document.querySelector('#copied').role")).toBe("status");
    expect(await browser.evaluate<string>("navigator.clipboard.readText()")).toBe(line);
    await browser.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    await browser.click("button[aria-label='Copy the npx command']");
    await browser.shows("Selected");
    expect(await browser.evaluate<string>("getSelection().toString()")).toBe(line);
  }, 60_000);

  test("WEB 1.3: without script nothing is there to press that does nothing", async () => {
    await browser.cdp("Emulation.setScriptExecutionDisabled", { value: true });
    try {
      await browser.visit(`${server.base_url}/`);
      const { nodes } = await browser.cdp<{
        nodes: { ignored: boolean; role?: { value: string }; name?: { value: string } }[];
      }>("Accessibility.getFullAXTree");
      const buttons = nodes.filter(({ ignored, role }) => !ignored && role?.value === "button");
      expect(buttons.map(({ name }) => name?.value).filter((name) => name?.startsWith("Copy"))).toEqual([]);
    } finally {
      await browser.cdp("Emulation.setScriptExecutionDisabled", { value: false });
    }
  }, 60_000);

  test("WEB 2: a claim link fills the field, focuses the button, and claims nothing by itself", async () => {
    await signIn();
    const made = await server.deploy({ "index.html": "<title>mine</title>claimed by hand" });
    await browser.visit(made.claim_url!, "Claim token");
    expect(await browser.evaluate<string[]>("[token.value, document.activeElement.innerText, location.hash]")).toEqual([
      made.claim_token!,
      "Keep it",
      "",
    ]);
    expect((await server.running.store.sites.byId(made.site_id))!.owner_account_id).toBeNull();
    // With the box ticked the first press lists what ends.
    await browser.evaluate("document.querySelector('[type=checkbox]').checked = true");
    await browser.press("Enter");
    const listed = await browser.shows("With the box ticked, keeping it ends");
    expect(await browser.evaluate<string>("document.querySelector('h1').innerText")).toBe("End their access?");
    expect([listed.text.includes("1 saved token (manage_token)"), listed.failures]).toEqual([true, []]);
    expect((await server.running.store.sites.byId(made.site_id))!.owner_account_id).toBeNull();
    expect(await browser.evaluate<string>("document.activeElement.innerText")).toBe("Keep it and end their access");
    await browser.press("Enter");
    const done = await browser.shows("This site is yours");
    expect(done.text).toContain("Manage this site");
    expect(done.failures).toEqual([]);
  }, 60_000);
});

test("WEB 1.8: after signing out, Back shows no page of the account", async () => {
  const email = await signIn();
  await browser.visit(`${server.base_url}/claim/site_x`, email);
  await browser.click("nav button");
  await browser.shows("Sign in");
  expect(await browser.evaluate<string>("location.pathname")).toBe("/");
  await browser.evaluate("setTimeout(() => history.back())");
  const { text } = await browser.shows("Create an account");
  expect(text).not.toContain(email);
  expect(text).not.toContain("Sign out");
}, 60_000);
