/** WEB 2: the page of a claim link says which site it keeps, before and after the sign-in. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { visitorOf } from "../kit/visitor.ts";
import { startServer, type TestServer } from "../kit/server.ts";
import { type Browser, openBrowser } from "./chromium.ts";
import { enter } from "./entering.ts";
import { axeFinds, loadOf, watchLoads } from "./health.ts";

let server: TestServer;
let browser: Browser;
beforeAll(async () => {
  server = await startServer();
  browser = await openBrowser();
  await watchLoads(browser);
}, 60_000);
afterAll(async () => {
  await browser.close();
  await server[Symbol.asyncDispose]();
});

const deploy = (title = "Tides and moorings") =>
  server.deploy({ "index.html": `<!doctype html><title>${title}</title>`, "a.txt": "x".repeat(2048) });
const dayOf = (epoch_ms: number): string =>
  new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", timeZone: "UTC" }).format(epoch_ms);
const text = (selector: string): Promise<string> =>
  browser.evaluate(`document.querySelector(${JSON.stringify(selector)})?.innerText ?? "(missing)"`);

const FACTS = "[data-site-facts]";

test("signed in: address, title, files, size and end, the token folded away, and nothing moves", async () => {
  const site = await deploy();
  await enter(browser, server, await visitorOf(server));
  const { failures } = await browser.visit(site.claim_url!, "Tides and moorings");
  expect(failures).toEqual([]);
  expect(await text("[data-site-address]")).toBe(new URL(site.url).host);
  expect(await browser.evaluate<string>("document.querySelector('[data-site-address] a').href")).toBe(`${site.url}/`);
  expect(await text(FACTS)).toBe(`Tides and moorings\n2 files, 2 KB · ends on ${dayOf(site.expires_at!)}`);
  expect(await browser.evaluate<boolean[]>("[token.closest('details').open, token.checkVisibility()]")).toEqual([
    false,
    false,
  ]);
  expect(await loadOf(browser)).toMatchObject({ shifted: 0, beyond: 0 });
  expect(await axeFinds(browser)).toEqual([]);
  expect((await server.running.store.sites.byId(site.site_id))!.owner_account_id).toBeNull();
}, 60_000);

test("signed out: by the token of the link, and the way to the sign-in", async () => {
  const site = await deploy();
  await browser.cdp("Network.clearBrowserCookies");
  await browser.visit(site.claim_url!, "Sign in to keep it");
  expect(await text("[data-site-end]")).toBe(`${site.slug} ends on ${dayOf(site.expires_at!)}. Sign in to keep it.`);
  expect(await loadOf(browser)).toMatchObject({ shifted: 0 });
  expect(await axeFinds(browser)).toEqual([]);
}, 60_000);

test("signed out, without a token: by the list of sites that this browser made", async () => {
  const { site_id, slug, url, manage_token, expires_at } = await deploy();
  const path = `${server.base_url}/claim/${site_id}`;
  await browser.cdp("Network.clearBrowserCookies");
  await browser.visit(path);
  expect(await text("[data-site-end]")).toContain("A site without an account expires.");
  const kept = JSON.stringify([{ site_id, slug, url, manage_token, expires_at }]);
  await browser.evaluate(`localStorage.setItem("svc-sites", ${JSON.stringify(kept)})`);
  await browser.visit(path, "Sign in to keep it");
  expect(await text("[data-site-end]")).toBe(`${slug} ends on ${dayOf(expires_at!)}. Sign in to keep it.`);
  await browser.evaluate("localStorage.clear()");
}, 60_000);

test("a link that fits no site says so, and a stranger's title is text", async () => {
  const site = await deploy("<img src=x onerror=alert(1)>\u202Edaed");
  await enter(browser, server, await visitorOf(server));
  await browser.visit(site.claim_url!, "2 files");
  expect(await browser.evaluate<number>(`document.querySelectorAll("${FACTS} img").length`)).toBe(0);
  expect(await browser.evaluate<string>(`document.querySelector("${FACTS} .name").dir`)).toBe("auto");
  await browser.visit(`${site.claim_url!}x`, "fits no site");
  expect(await text(FACTS)).toBe("This claim link fits no site: copy the whole of it, to its last letter.");
}, 60_000);
