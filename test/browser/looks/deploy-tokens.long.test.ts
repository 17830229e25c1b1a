/** WEB 9 and 10 on the pages of deploy tokens: what axe finds, shifts, weight and width, and what a keyboard does there. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { call } from "../../kit/people.ts";
import { startServer, type TestServer } from "../../kit/server.ts";
import { until } from "../../kit/until.ts";
import { type Visitor, visitorOf } from "../../kit/visitor.ts";
import { type Browser, openBrowser } from "../chromium.ts";
import { enter } from "../entering.ts";
import { axeFinds, inScheme, loadOf, LOOKS, lowTargets, sized, watchLoads } from "../health.ts";

let server: TestServer;
let browser: Browser;
let ann: Visitor;
const LONG = "Wm".repeat(40);
const RTL = "מרחבא بالعالم";

beforeAll(async () => {
  server = await startServer();
  browser = await openBrowser();
  await watchLoads(browser);
  ann = await visitorOf(server);
  for (const name of [LONG, RTL]) {
    await call(server, "POST", "/account/tokens", { name, scopes: ["read", "deploy", "create"] }, ann.person.bearer);
  }
  await enter(browser, server, ann);
}, 60_000);
afterAll(async () => {
  await browser.close();
  await server[Symbol.asyncDispose]();
});

const MAKE = "/dashboard/account/tokens";
/** Sends the form without the browser's own checks. */
const submit = (name: string) => `(() => {
  const form = document.querySelector('main form[action$="/tokens"]');
  form.elements.name.value = ${JSON.stringify(name)};
  setTimeout(() => form.submit());
})()`;

describe.each<[state: string, path: string, says: string, act?: string]>([
  ["the account", "/dashboard/account", "Never used"],
  ["the page that makes one", MAKE, "Permissions"],
  ["the same, refused", MAKE, "a name has 1 to 80 visible characters", submit(LONG.repeat(2))],
  ["one, shown this once", MAKE, "Copy your token now", submit(LONG)],
])("%s", (_state, path, says, act) => {
  test("WEB 10: nothing for axe in light and dark, no shift, no scroll sideways, few bytes", async () => {
    for (const [width, scheme] of LOOKS) {
      await inScheme(browser, scheme);
      await sized(browser, width);
      await browser.visit(server.base_url + path, act ? "" : says);
      if (act) await browser.evaluate(act);
      const { text } = await browser.shows(says);
      expect(text).toContain(says);
      const { shifted, bytes, beyond } = await loadOf(browser);
      expect([scheme, width, shifted, beyond]).toEqual([scheme, width, 0, 0]);
      expect(bytes).toBeLessThan(40 * 1024);
      expect(await axeFinds(browser)).toEqual([]);
    }
  }, 60_000);
});

test("by keyboard alone: a name, Enter, and the token stands there to be copied", async () => {
  await sized(browser, 1280);
  await browser.visit(server.base_url + MAKE, "Permissions");
  await browser.evaluate(`document.querySelector("#name").focus()`);
  await browser.type("by keyboard");
  await browser.press("Enter");
  await browser.shows("Copy your token now");
  expect(await browser.evaluate<string>(`document.querySelector("#deploy-token").value`)).toMatch(/^svc_deploy_/);
  expect(await browser.evaluate<boolean>(`document.querySelector("button[data-copy]").checkVisibility()`)).toBe(true);
}, 60_000);

describe("of more than 50 sites, where there is a search", () => {
  const focus = (id: string) => browser.evaluate(`document.querySelector(${JSON.stringify(id)}).focus()`);
  beforeAll(async () => {
    const bob = await visitorOf(server);
    for (let i = 0; i < 52; i++) await bob.deploy({ "index.html": `<!doctype html><title>Number ${i}.</title>x` });
    await enter(browser, server, bob);
  }, 60_000);
  beforeEach(async () => {
    await sized(browser, 1280);
    await browser.visit(server.base_url + MAKE, "Permissions");
    await focus("#name");
    await browser.type("of many");
  });
  afterAll(() => enter(browser, server, ann));

  test("Enter in the name makes the token", async () => {
    await browser.press("Enter");
    expect((await browser.shows("Copy your token now")).text).toContain("Copy your token now");
  }, 60_000);

  test("Enter in the search looks for sites, keeps what was typed, and makes nothing; the button does make it then", async () => {
    const before = server.rows("deploy_tokens");
    await browser.click("#which-some");
    await focus("input[type=search]");
    await browser.type("number 7.");
    await browser.press("Enter");
    expect((await browser.shows("Number 7.")).text).not.toContain("Copy your token");
    await until(() => browser.evaluate<boolean>(`document.querySelectorAll(".these [name=site_ids]").length === 1`));
    expect(await browser.evaluate<string>(`document.querySelector("#name").value`)).toBe("of many");
    expect(server.rows("deploy_tokens")).toBe(before);
    expect(await axeFinds(browser)).toEqual([]);
    await browser.click(".these [name=site_ids]");
    await browser.evaluate(`document.querySelector("main .primary").click()`);
    expect((await browser.shows("Copy your token now")).text).toContain("Copy your token now");
  }, 60_000);

  test("WEB 9: what is pressed is 24 px high at least, and Tab reaches nothing unseen", async () => {
    expect(await lowTargets(browser, server.base_url + MAKE)).toEqual([]);
    const reached = `[...document.querySelectorAll("main button")].filter(({ tabIndex }) => tabIndex >= 0).length`;
    expect(await browser.evaluate<number>(reached)).toBe(2);
  }, 60_000);
});

test("WEB 1.4: a reload of the page that shows a token makes no second one, and leads to the account", async () => {
  const made = () => server.rows("deploy_tokens");
  await browser.visit(server.base_url + MAKE, "Permissions");
  await browser.evaluate(submit("reloaded"));
  await browser.shows("Copy your token now");
  const before = made();
  await browser.evaluate("location.reload()").catch(() => {});
  expect((await browser.shows("Deploy tokens")).url).toBe(`${server.base_url}/dashboard/account`);
  expect(made()).toBe(before);
}, 60_000);
