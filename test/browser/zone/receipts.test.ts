/** WEB 4.6 to 4.8 in Chromium: the receipt, the sites of this browser, publishing with script switched off. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { zipOf } from "../../kit/zip.ts";
import { byRole, focused, hrefOf, named, press, valueOf } from "../by-role.ts";
import { sized } from "../health.ts";
import { lastSite, openAnew, openZone, type ZoneWorld } from "./world.ts";

let world: ZoneWorld;
let site: string;
const PAGE = (title: string) => `<!doctype html><title>${title}</title>`;
beforeAll(async () => {
  world = await openZone();
  site = await world.folder("site", { "index.html": PAGE("Harbour") });
}, 60_000);
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => openAnew(world));

const text = (): Promise<string> => world.browser.evaluate<string>("document.body.innerText");
const stored = (): Promise<{ site_id: string; slug: string }[]> =>
  world.browser.evaluate(`JSON.parse(localStorage.getItem("svc-sites") ?? "[]")`);
const signUp = async (): Promise<void> => {
  await world.signUp();
  await world.open();
};
const publish = async (folder = site): Promise<{ url: string; site_id: string; version_id: string }> => {
  await world.drop(folder);
  await world.in("done");
  return lastSite(world);
};
const told = async (): Promise<string | undefined> => (await world.statuses()).at(-1);

describe("WEB 4.6: the receipt", () => {
  test("of an anonymous site: address, until when, claim link, what programs need", async () => {
    const { url, site_id, version_id } = await publish();
    expect(await named(world.browser, "region")).toContain("Receipt");
    expect(await focused(world.browser)).toEqual({ role: "heading", name: "Your site is live" });
    expect(await hrefOf(world.browser, url.replace(/\/$/, ""))).toBe(url);
    expect(await text()).toMatch(/Here until \d+ \w+, 14 days from now\./);
    expect(await hrefOf(world.browser, "Keep this site")).toStartWith(`${world.base}/claim/${site_id}#svc_claim_`);
    expect(await text()).not.toContain("Fixed for you");
    expect(await text()).not.toContain("warning");
    await press(world.browser, "DisclosureTriangle", "Tokens and commands");
    const token = await valueOf(world.browser, "textbox", "Manage token");
    expect(token).toStartWith("svc_manage_");
    expect(await text()).toContain(`svc update --site ${site_id} --token ${token}`);
    expect(await text()).toContain(version_id);
    await world.browser.cdp("Browser.grantPermissions", {
      permissions: ["clipboardReadWrite", "clipboardSanitizedWrite"],
    });
    await press(world.browser, "button", "Copy link");
    expect((await world.browser.shows("Copied")).text).toContain("Copied");
    await press(world.browser, "button", "Publish another");
    await world.in("idle");
    expect(await named(world.browser, "region")).toContain("Publish");
  });

  test("WEB 4.7: on a phone the list of this browser's sites shows until when each is there", async () => {
    await publish();
    await sized(world.browser, 390, 844);
    const cut = `[...document.querySelectorAll("svc-sites .sub")].map((line) => line.scrollWidth - line.clientWidth)`;
    expect(await world.browser.evaluate<number[]>(cut)).toEqual([0]);
    await sized(world.browser, 1200);
  });

  test("names what was fixed and what is wrong; entries with one recipe stand together, past six are folded", async () => {
    const names = Array.from({ length: 8 }, (_, i) => `Logo${i}.png`);
    const folder = await world.folder("broken", {
      "page.html": `${PAGE("x")}${names.map((name) => `<img src="${name}">`).join("")}<img src="none.png">`,
      "other.txt": "x",
      ...Object.fromEntries(names.map((name) => [name.toLowerCase(), "x"])),
    });
    await publish(folder);
    const headings = await named(world.browser, "heading");
    expect(headings).toContain("Fixed for you");
    expect(headings).toContain("It is live, but 9 things are broken or risky");
    expect(await text()).toMatch(/10 files, [\d.]+ K?B · live in \d+\.\d s/);
    expect(await text()).toMatch(/Checked 1 page, \d+ links and \d+ files\./);
    expect(await text()).toContain("page.html answers /");
    expect(
      await world.browser.evaluate<number>(`document.querySelectorAll(".warn-part > .items > .item").length`),
    ).toBe(6);
    await press(world.browser, "DisclosureTriangle", "Show all");
    expect(await world.browser.evaluate<number>(`document.querySelectorAll(".warn-part .fix").length`)).toBe(9);
  });

  test("a folder is code where the message names it, and never where it is a word of the sentence", async () => {
    await publish(await world.folder("stripped", { "site/index.html": PAGE("x") }));
    expect(await text()).toContain("Everything lay in site/, so the site starts inside it.");
    const codes = `[...document.querySelectorAll(".item.fixed code")].map((one) => one.textContent)`;
    expect(await world.browser.evaluate<string[]>(codes)).toEqual(["site/"]);
  });

  test("what strangers send is text", async () => {
    const name = "<img src=x onerror=alert(1)>.png";
    const folder = await world.folder("hostile", {
      "index.html": `${PAGE("x")}<img src="%3Cimg src=x onerror=alert(1)%3E.PNG"><img src="no<b>.png">`,
      [name]: "x",
      ".env<script>alert(1)<script>": "x",
    });
    await publish(folder);
    const [images, scripts] = await world.browser.evaluate<[number, number]>(
      `[document.querySelectorAll("main img").length, document.querySelectorAll("main script").length]`,
    );
    expect([images, scripts]).toEqual([0, 0]);
    expect(await text()).toContain("Left out: .env<script>alert(1)<script>");
  });

  test("of an account's site: it stays, and its page is linked", async () => {
    await signUp();
    const { site_id } = await publish();
    expect(await text()).toContain("It is yours and does not expire.");
    expect(await hrefOf(world.browser, "Manage this site")).toBe(`${world.base}/dashboard/sites/${site_id}`);
    expect(await stored()).toEqual([]);
  });

  test("on a site's page a drop is a version of it, and the page stands again with the receipt", async () => {
    await signUp();
    const { site_id } = await publish();
    await world.open(`/dashboard/sites/${site_id}`);
    const next = await world.folder("next", { "index.html": PAGE("Next"), ".env": "x" });
    await world.drop(next);
    await world.browser.shows("Left out");
    const live = await world.browser.evaluate<string>(`document.querySelector("section.receipt h2").textContent`);
    expect(live).toMatch(/^Your new version is live$/);
    expect(await focused(world.browser)).toEqual({ role: "heading", name: live });
    expect(await text()).toContain("Left out: .env");
    expect(await world.browser.evaluate<string>("location.search")).toMatch(/^\?done=deployed&ms=\d+$/);
    await world.drop(next);
    await byRole(world.browser, "heading", "No changes: this version is live already");
    expect(await world.browser.evaluate<string>("location.search")).toBe("?done=unchanged");
  });
});

describe("WEB 4.7: the sites of this browser", () => {
  test("one that is published stands there at once and after a reload, with what opens it and no claim token", async () => {
    const { url, site_id } = await publish();
    const ring = "getComputedStyle(document.activeElement).outlineStyle + document.activeElement.localName";
    expect(await world.browser.evaluate<string>(ring)).toBe("noneh2"); // it is read from there, and not pressed
    const [entry] = await stored();
    expect(Object.keys(entry!).sort()).toEqual(["expires_at", "manage_token", "site_id", "slug", "title", "url"]);
    expect(entry).toMatchObject({ site_id });
    await world.open();
    expect(await named(world.browser, "region")).toEqual(["Publish", "Sites made in this browser", "From a terminal"]);
    expect(await hrefOf(world.browser, "Harbour")).toBe(url.replace(/\/?$/, "/"));
    expect(await world.browser.evaluate<string>("document.querySelector('svc-sites .sub').innerText")).toStartWith(
      `${new URL(url).host} · Here until `,
    );
    expect(await hrefOf(world.browser, "Sign in to keep them")).toContain("/signin");
  });

  test("Update: a version of that site, by its token, whoever is signed in; Cancel leaves it", async () => {
    const { site_id } = await publish();
    const { slug } = (await stored())[0]!;
    await signUp();
    await press(world.browser, "button", `Update ${slug}`);
    await byRole(world.browser, "region", `New version of ${slug}`);
    await press(world.browser, "button", "Cancel");
    await byRole(world.browser, "region", "Publish");
    await press(world.browser, "button", `Update ${slug}`);
    const next = await world.folder("second", { "index.html": PAGE("Second") });
    const { version_id } = await publish(next);
    await byRole(world.browser, "heading", `Your new version is live`);
    const { path, headers } = world.deploys.at(-1)!;
    expect([path, headers.authorization?.slice(0, 18)]).toEqual([`/sites/${site_id}/deploys`, "Bearer svc_manage_"]);
    await press(world.browser, "button", `Update ${slug}`);
    await publish(next);
    await byRole(world.browser, "heading", "No changes: this version is live already");
    expect(await stored()).toHaveLength(1);
  });

  test("a token that opens nothing any more takes the entry off the list", async () => {
    const { site_id } = await publish();
    const { slug } = (await stored())[0]!;
    world.server.remove({ site_id, slug });
    await press(world.browser, "button", `Update ${slug}`);
    await world.drop(site);
    await world.in("failed");
    expect(await text()).toContain(`${slug} is gone or belongs to an account now, so it was taken off the list.`);
    expect(await stored()).toEqual([]);
    expect(await named(world.browser, "region")).not.toContain("Sites made in this browser");
  });

  test("Forget asks nothing, and Undo brings it back", async () => {
    await publish();
    const before = await stored();
    await world.open();
    await press(world.browser, "button", `Forget ${before[0]!.slug}`);
    expect(await stored()).toEqual([]);
    expect(await named(world.browser, "region")).not.toContain("Sites made in this browser");
    expect(await focused(world.browser)).toEqual({ role: "button", name: "Undo" });
    await press(world.browser, "button", "Undo");
    expect(await stored()).toEqual(before);
    await byRole(world.browser, "region", "Sites made in this browser");
  });

  test("Keep these sites attaches them all, and names what was skipped; never by itself", async () => {
    await publish();
    await press(world.browser, "button", "Publish another");
    await publish(await world.folder("other", { "index.html": PAGE("Other") }));
    const [newer, older] = await stored();
    world.server.giveAway({ site_id: older!.site_id });
    await signUp();
    expect(await stored()).toHaveLength(2);
    await press(world.browser, "button", "Keep these sites");
    await world.browser.shows("yours now");
    expect(await told()).toBe(`1 site is yours now. ${older!.slug} was skipped: it belongs to another account.`);
    expect((await stored()).map(({ slug }) => slug)).toEqual([older!.slug]);
    expect(newer!.slug).not.toBe(older!.slug);
  });

  test("a claim takes its site off the list", async () => {
    const { site_id } = await publish();
    const claim = await hrefOf(world.browser, "Keep this site");
    await signUp();
    await world.browser.visit(claim, "Keep it");
    await press(world.browser, "button", "Keep it");
    await world.browser.shows("This site is yours");
    expect(await stored()).toEqual([]);
    expect(site_id).toStartWith("site_");
  });

  const entry = (changed: Record<string, unknown>) => ({
    site_id: `site_${"a".repeat(20)}`,
    slug: "calm-otter-4k2p",
    url: "http://calm-otter-4k2p.sites.example",
    manage_token: `svc_manage_${"a".repeat(43)}`,
    expires_at: Date.now() + 86_400_000,
    ...changed,
  });
  test.each([
    ["no entries", '[{"url":"javascript:alert(1)"},3,{"slug":"<b>"}]'],
    ["no list", '{"length":1,"0":{}}'],
    ["no JSON", "["],
    ["a time that is none", JSON.stringify([entry({ expires_at: 9e15 })])],
    ["a time without end", JSON.stringify([entry({})]).replace(/"expires_at":\d+/, '"expires_at":1e999')],
    ["another scheme", JSON.stringify([entry({ url: "javascript:alert(1)//http://x" })])],
    ["another scheme behind a line end", JSON.stringify([entry({ url: "http://x\njavascript:alert(1)" })])],
    ["a name that is none", JSON.stringify([entry({ slug: "<img src=x onerror=alert(1)>" })])],
  ])("damaged and foreign content is ignored: %s", async (_, content) => {
    await world.browser.evaluate(`localStorage.setItem("svc-sites", ${JSON.stringify(content)})`);
    expect((await world.browser.visit(`${world.base}/`)).failures).toEqual([]);
    expect(await named(world.browser, "region")).not.toContain("Sites made in this browser");
    await publish();
    expect(await stored()).toHaveLength(1);
  });
});

describe("WEB 4.8: without script", () => {
  test("a zip by the form: the receipt is the answer, and the zone is nothing but the form", async () => {
    const folder = await world.folder("plain", { "site.zip": zipOf({ "index.html": PAGE("Plain") }) });
    const scripts = (urls: string[]) => world.browser.cdp("Network.setBlockedURLs", { urls });
    await scripts(["*.js"]);
    await world.open();
    const names = await named(world.browser, "button");
    expect(names).toContain("Publish");
    expect(names).not.toContain("Choose a folder");
    const { result } = await world.browser.cdp<{ result: { objectId: string } }>("Runtime.evaluate", {
      expression: `document.querySelector('input[name="zip"]')`,
    });
    await world.browser.cdp("DOM.setFileInputFiles", { objectId: result.objectId, files: [`${folder}/site.zip`] });
    await press(world.browser, "button", "Publish");
    await byRole(world.browser, "heading", "Your site is live");
    await byRole(world.browser, "link", "Keep this site");
    await scripts([]);
  });
});
