/** WEB 5, 6 and 8 by a person in a real browser: each journey through the dashboard, by roles and names alone. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PASSWORD } from "../kit/people.ts";
import { type DeployResult, startServer, type TestServer } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { type Visitor, visitorOf } from "../kit/visitor.ts";
import { byRole, choose, fill, focused, hrefOf, named, press, things, valueOf } from "./by-role.ts";
import { type Browser, openBrowser } from "./chromium.ts";
import { enter } from "./entering.ts";

let server: TestServer;
let browser: Browser;
let ann: Visitor;
beforeAll(async () => {
  server = await startServer();
  browser = await openBrowser();
}, 60_000);
afterAll(async () => {
  await browser.close();
  await server[Symbol.asyncDispose]();
});

const page = (title: string, body = ""): Record<string, string> => ({
  "index.html": `<!doctype html><html lang="en"><title>${title}</title><h1>${title}</h1>${body}`,
});
const open = (path: string) => browser.visit(server.base_url + path);
const openSite = ({ site_id }: DeployResult, more = "") => open(`/dashboard/sites/${site_id}${more}`);
/** Somebody new, signed in in the browser. */
const someone = async (): Promise<Visitor> => (ann = await enter(browser, server, await visitorOf(server)));

describe("sites", () => {
  test("WEB 5: whoever has none is led to the first", async () => {
    await someone();
    const { failures } = await open("/dashboard");
    expect(await named(browser, "heading")).toEqual(["Sites", "No sites yet"]);
    expect(new URL(await hrefOf(browser, "Publish your first site")).pathname).toBe("/");
    await byRole(browser, "button", "Copy the commands");
    expect(failures).toEqual([]);
  }, 60_000);

  test("WEB 5: one is found, opened, and others are deleted together", async () => {
    await someone();
    const sites = [];
    for (const name of ["Harbour guide", "Release notes", "Sale banner"]) {
      const site = await ann.deploy(page(`${name} title`));
      await ann.change(site, { label: name });
      sites.push(site);
    }
    await open("/dashboard");
    await byRole(browser, "list", "Sites");
    await fill(browser, "searchbox", "Search sites", "HARBOUR");
    await choose(browser, "Sort by", "name");
    await press(browser, "button", "Search");
    const found = await browser.shows("1 of 3 sites match");
    expect(new URL(found.url).search).toBe("?q=HARBOUR&sort=name");
    expect(await valueOf(browser, "searchbox", "Search sites")).toBe("HARBOUR");
    expect((await named(browser, "checkbox")).filter((name) => name.startsWith("Select "))).toContain(
      "Select Harbour guide",
    );
    await press(browser, "link", "Harbour guide");
    expect((await browser.shows("Settings")).title).toBe("Harbour guide · svc");
    await press(browser, "link", "Sites");
    await browser.shows("3 sites");
    expect(await named(browser, "button")).not.toContain("Delete…"); // nothing is selected
    await press(browser, "checkbox", "Select all on this page");
    await browser.shows("3 selected");
    await press(browser, "button", "Cancel");
    expect(await named(browser, "button")).not.toContain("Delete…");
    await press(browser, "checkbox", "Select all on this page");
    await press(browser, "checkbox", "Select Harbour guide");
    await browser.shows("2 selected");
    await press(browser, "button", "Delete…");
    await browser.shows("Delete 2 sites?");
    await fill(browser, "textbox", "Type delete 2 sites to confirm", "delete two");
    await press(browser, "button", "Delete 2 sites");
    const wrong = await browser.shows("Nothing was deleted");
    expect(wrong.title).toStartWith("Error: ");
    expect((await byRole(browser, "textbox", "Type delete 2 sites to confirm")).is).toMatchObject({
      invalid: "true",
      focused: true,
    });
    await fill(browser, "textbox", "Type delete 2 sites to confirm", "delete 2 sites");
    await press(browser, "button", "Delete 2 sites");
    expect(new URL((await browser.shows("1 site")).url).search).toBe("?done=deleted");
    expect((await server.site(sites[0]!.slug)).status).toBe(200);
    expect((await server.site(sites[1]!.slug)).status).toBe(404);
  }, 60_000);

  test("WEB 5: nothing selected is said, and Cancel leads back", async () => {
    await someone();
    await ann.deploy(page("One"));
    await open("/dashboard/delete?sort=name"); // as the form without script sends it
    const said = await browser.shows("No site was selected.");
    expect(new URL(said.url).search).toBe("?sort=name&done=none");
    await press(browser, "checkbox", /^Select [a-z]+-/);
    await press(browser, "button", "Delete…");
    await browser.shows("Delete 1 site?");
    await press(browser, "link", "Cancel");
    expect(new URL((await browser.shows("1 site")).url).pathname).toBe("/dashboard");
  }, 60_000);
});

describe("a site", () => {
  test("WEB 6: a second version is chosen here, its receipt has the focus, and a click brings the first one back", async () => {
    await someone();
    const site = await ann.deploy(page("First"));
    await openSite(site);
    await byRole(browser, "region", "New version");
    const folder = await mkdtemp(join(tmpdir(), "svc-pick-"));
    try {
      await Bun.write(join(folder, "index.html"), page("Second", `<img src="gone.png">`)["index.html"]!);
      const { root } = await browser.cdp<{ root: { nodeId: number } }>("DOM.getDocument");
      const picker = { nodeId: root.nodeId, selector: "[data-pick=files]" };
      const { nodeId } = await browser.cdp<{ nodeId: number }>("DOM.querySelector", picker);
      await browser.cdp("DOM.setFileInputFiles", { nodeId, files: [join(folder, "index.html")] });
      const live = await browser.shows("1 thing is broken or risky");
      expect(live.url).toContain("?done=deployed");
      expect(await focused(browser)).toEqual({ role: "heading", name: "Your new version is live" });
      expect(live.failures).toEqual([]);
    } finally {
      await rm(folder, { recursive: true });
    }
    expect(await (await server.site(site.slug)).text()).toContain("Second");
    await press(browser, "button", `Make ${site.version_id} live`);
    await browser.shows("is live.");
    expect(await (await server.site(site.slug)).text()).toContain("First");
    expect(new URL(await hrefOf(browser, `Open version ${site.version_id}`)).hostname).toStartWith(
      `${site.version_id}--`,
    );
  }, 60_000);

  test("WEB 6: the head copies the address, and shares it where there is a way", async () => {
    await someone();
    const site = await ann.deploy(page("One"));
    await openSite(site, "?done=deployed");
    expect(await named(browser, "button")).not.toContain("Share");
    const source = "navigator.share = (what) => { window.shared = what.url; return Promise.reject(new Error()) }";
    const { identifier } = await browser.cdp<{ identifier: string }>("Page.addScriptToEvaluateOnNewDocument", {
      source,
    });
    const { failures } = await openSite(site, "?done=deployed");
    await press(browser, "button", "Share");
    expect(await browser.evaluate<string>("shared")).toBe(`${site.url}/`);
    await press(browser, "button", "Copy link");
    await until(async () => /^(?:Copied|Selected: )/.test(await browser.evaluate<string>("copied.textContent")));
    await browser.cdp("Page.removeScriptToEvaluateOnNewDocument", { identifier });
    expect(failures).toEqual([]);
  }, 60_000);

  test("WEB 6: versions are compared, and each file leads to where it is", async () => {
    await someone();
    const site = await ann.deploy({ ...page("First"), "gone.txt": "gone", "too.txt": "gone" });
    const two = await ann.redeploy(site, { ...page("Second!"), "odd näme.txt": "new" });
    await openSite(site);
    await press(browser, "link", `Changes in ${two.version_id}`);
    await browser.shows("1 changed, 1 added, 2 removed, 0 the same");
    expect((await named(browser, "heading")).slice(0, 5)).toEqual([
      "Changes",
      "index.html",
      "odd näme.txt",
      "gone.txt",
      "too.txt",
    ]);
    await choose(browser, "From", two.version_id);
    await choose(browser, "To", site.version_id);
    await press(browser, "button", "Compare");
    const swapped = await browser.shows("1 changed, 2 added, 1 removed, 0 the same");
    expect(new URL(swapped.url).search).toBe(`?from=${two.version_id}&to=${site.version_id}`);
    await press(browser, "link", "Open the file gone.txt");
    expect((await browser.shows("gone")).url).toContain(`${site.version_id}--`);
  }, 60_000);

  test("WEB 6: it is renamed, and the label that is too long is kept in the field", async () => {
    await someone();
    const site = await ann.deploy(page("One"));
    await openSite(site, "/settings");
    await fill(browser, "textbox", "Label", "x".repeat(81));
    await press(browser, "button", "Save settings");
    expect((await browser.shows("Nothing was saved")).title).toStartWith("Error: ");
    expect(await valueOf(browser, "textbox", "Label")).toBe("x".repeat(81));
    expect((await byRole(browser, "textbox", "Label")).is).toMatchObject({ invalid: "true", focused: true });
    await fill(browser, "textbox", "Label", "Harbour guide");
    await press(browser, "radio", "Always");
    await press(browser, "button", "Save settings");
    expect((await browser.shows("The settings are saved.")).title).toBe("Settings of Harbour guide · svc");
    await byRole(browser, "radiogroup", "Single-page app");
    expect((await byRole(browser, "radio", "Always")).is.checked).toBe("true");
  }, 60_000);

  test("WEB 6: it is deleted when its slug is typed", async () => {
    await someone();
    const site = await ann.deploy(page("One"));
    await openSite(site, "/settings");
    await press(browser, "link", "Delete this site");
    await browser.shows(`Delete ${site.slug}?`);
    await fill(browser, "textbox", `Type ${site.slug} to confirm`, site.slug);
    await press(browser, "button", "Delete site");
    await browser.shows("No sites yet");
    expect((await server.site(site.slug)).status).toBe(404);
  }, 60_000);
});

describe("the row of tabs", () => {
  const TABS = ["Overview", "Versions 1", "Previews", "Comments", "Statistics", "Rules", "Domains", "Settings"];
  /** Pixels of the current tab that are out of sight; pixels that the page scrolls sideways. */
  const HIDDEN = `(() => {
    const [row, tab] = [".site-tabs", ".site-tabs [aria-current]"].map((one) => document.querySelector(one).getBoundingClientRect());
    const root = document.documentElement;
    return [Math.max(0, row.left - tab.left, tab.right - row.right), root.scrollWidth - root.clientWidth];
  })()`;
  const sized = (width: number, mobile = width < 500) =>
    browser.cdp("Emulation.setDeviceMetricsOverride", { width, height: 800, deviceScaleFactor: 1, mobile });
  const preferring = (value: "reduce" | "no-preference") =>
    browser.cdp("Emulation.setEmulatedMedia", { features: [{ name: "prefers-reduced-motion", value }] });
  afterAll(() => browser.cdp("Emulation.clearDeviceMetricsOverride"));

  test.each([
    ["without a script", async (on: boolean) => browser.cdp("Emulation.setScriptExecutionDisabled", { value: on })],
    ["where motion is not wanted", async (on: boolean) => preferring(on ? "reduce" : "no-preference")],
  ])(
    "WEB 6: on a phone it scrolls by itself, with the page's own tab in view, %s",
    async (_how, set) => {
      await someone();
      const site = await ann.deploy(page("One"));
      await sized(390);
      for (const tab of ["", "/comments", "/rules", "/settings"]) {
        await set(true);
        await openSite(site, tab);
        await set(false);
        const [hidden, sideways] = await browser.evaluate<[number, number]>(HIDDEN);
        expect([tab, Math.round(hidden), sideways]).toEqual([tab, 0, 0]);
      }
    },
    60_000,
  );

  test("WEB 6: a browser that knows no first target to scroll to has it in view, too, and a finger moves it away", async () => {
    await someone();
    const site = await ann.deploy(page("One"));
    await sized(390);
    const source = `addEventListener("DOMContentLoaded", () => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(".site-tabs a[aria-current] { scroll-initial-target: none }");
      document.adoptedStyleSheets = [sheet];
    })`;
    const { identifier } = await browser.cdp<{ identifier: string }>("Page.addScriptToEvaluateOnNewDocument", {
      source,
    });
    await openSite(site, "/settings");
    expect((await browser.evaluate<[number]>(HIDDEN))[0]).toBe(0);
    await until(async () =>
      browser.evaluate<boolean>("document.querySelector('.site-tabs').getAnimations().length === 0"),
    );
    await browser.evaluate("document.querySelector('.site-tabs').scrollTo(0, 0)");
    await Bun.sleep(300);
    expect(await browser.evaluate<number>("document.querySelector('.site-tabs').scrollLeft")).toBe(0);
    await browser.cdp("Page.removeScriptToEvaluateOnNewDocument", { identifier });
  }, 60_000);

  test("WEB 6: by keyboard each tab comes into view as it takes the focus", async () => {
    await someone();
    const site = await ann.deploy(page("One"));
    await sized(390);
    await openSite(site);
    const seen: string[] = [];
    for (let i = 0; i < 40 && seen.length < TABS.length; i++) {
      await browser.press("Tab");
      const at = (await focused(browser))!;
      if (at.name !== TABS[seen.length]) continue;
      await until(() =>
        browser.evaluate<boolean>(`(() => {
          const [row, tab] = [document.querySelector(".site-tabs"), document.activeElement].map((one) => one.getBoundingClientRect());
          return tab.left >= row.left - 1 && tab.right <= row.right + 1;
        })()`),
      );
      seen.push(TABS[seen.length]!);
    }
    expect(seen).toEqual(TABS);
  }, 60_000);
});

describe("rules", () => {
  test("WEB 6: what answers an address is asked, and the answer leads to its line", async () => {
    await someone();
    const site = await ann.deploy({ ...page("One"), _redirects: "/old/* /new/:splat 301\nnowhere\n" });
    await openSite(site);
    await press(browser, "link", "Rules");
    await browser.shows("Why does an address answer as it does?");
    await byRole(browser, "list", "Lines of _redirects");
    await fill(browser, "textbox", "What answers at", "old/harbour");
    await press(browser, "button", "Explain");
    const asked = await browser.shows("Leads to");
    expect(asked.failures).toEqual([]);
    expect(new URL(asked.url).searchParams.get("url")).toBe("old/harbour");
    expect(await focused(browser)).toEqual({ role: "heading", name: "301 A line of _redirects answers" });
    expect(await valueOf(browser, "textbox", "What answers at")).toBe("old/harbour");
    await press(browser, "link", "_redirects:1");
    await until(async () => (await browser.evaluate<string>("location.hash")) === "#redirects-1");
    await fill(browser, "textbox", "What answers at", "https://example.org/");
    await press(browser, "button", "Explain");
    expect((await browser.shows("has no such host")).title).toStartWith("Error: ");
    expect((await byRole(browser, "textbox", "What answers at")).is).toMatchObject({ invalid: "true", focused: true });
    await press(browser, "link", "With a warning 1");
    await browser.shows("leads nowhere");
    expect(await named(browser, "list")).toContain("Lines of _redirects");
  }, 60_000);
});

describe("the account", () => {
  test("WEB 8: the room that is taken is a meter and a sentence, and the largest site leads to its versions", async () => {
    await someone();
    const site = await ann.deploy(page("One"));
    await open("/dashboard/account");
    await byRole(browser, "meter", "Room");
    await byRole(browser, "list", "Largest sites");
    await press(browser, "link", `Versions of ${site.slug}`);
    expect((await browser.shows("The last 7 days")).title).toBe(`Versions of ${site.slug} · svc`);
  }, 60_000);

  test("WEB 8: a session elsewhere is ended, then all others", async () => {
    await someone();
    await open("/dashboard/account");
    const ends = () => named(browser, "button").then((all) => all.filter((name) => name.startsWith("End session of ")));
    expect(await ends()).toHaveLength(2);
    await byRole(browser, "list", "Sessions");
    await press(browser, "button", "End all other sessions");
    await browser.shows("All other sessions have ended.");
    expect(await ends()).toHaveLength(1);
    await press(browser, "button", /^End session of .+, just now$/);
    await browser.shows("Drop a folder, get a live URL");
    expect(await named(browser, "link")).toContain("Sign in");
  }, 60_000);

  test("WEB 8: the password is changed, and shown while it is typed where that is wanted", async () => {
    await someone();
    await open("/dashboard/account");
    await fill(browser, "textbox", "Current password", "wrong password");
    await fill(browser, "textbox", "New password", "another long password");
    await press(browser, "button", "Change password");
    expect((await browser.shows("The password is wrong")).title).toStartWith("Error: ");
    expect(await valueOf(browser, "textbox", "New password")).toBe("");
    await fill(browser, "textbox", "Current password", PASSWORD);
    await fill(browser, "textbox", "New password", "another long password");
    await press(browser, "button", "Change password");
    await browser.shows("Your password is changed. All other sessions have ended.");
  }, 60_000);

  test("WEB 8: the account is deleted with its sites, and the browser is signed out", async () => {
    await someone();
    const site = await ann.deploy(page("One"));
    await open("/dashboard/account");
    await press(browser, "link", "Delete your account");
    await browser.shows("Delete your account?");
    await fill(browser, "textbox", `Type ${ann.person.email} to confirm`, ann.person.email);
    await fill(browser, "textbox", "Password", PASSWORD);
    await press(browser, "button", "Delete my account and 1 site");
    await browser.shows("Your account and its sites are deleted.");
    expect(await named(browser, "link")).toContain("Sign in");
    expect((await server.site(site.slug)).status).toBe(404);
    const { text } = await browser.visit(`${server.base_url}/dashboard`, "Sign in");
    expect(text).not.toContain(ann.person.email);
  }, 60_000);
});

describe("by keyboard alone", () => {
  /** Tab after Tab, until something of that role and name has the focus. */
  async function tabTo(role: string, name: string): Promise<void> {
    for (let i = 0; i < 60; i++) {
      await browser.press("Tab");
      const at = await focused(browser);
      if (at?.role === role && at.name === name) return;
    }
    const all = (await things(browser)).map((one) => `${one.role} "${one.name}"`);
    throw new Error(`Tab never came to ${role} "${name}" among ${all.join(", ")}`);
  }

  test("WEB 1.2: a site is found, rolled back and deleted; the first stop is the skip link", async () => {
    await someone();
    const site = await ann.deploy(page("One"));
    await ann.redeploy(site, page("Two"));
    await open("/dashboard");
    await browser.press("Tab");
    expect(await focused(browser)).toEqual({ role: "link", name: "Skip to content" });
    await browser.press("Enter");
    await tabTo("link", site.slug);
    await browser.press("Enter");
    await browser.shows("Versions");
    await tabTo("button", `Make ${site.version_id} live`);
    await browser.press("Enter");
    await browser.shows("is live.");
    await tabTo("link", "Settings");
    await browser.press("Enter");
    await browser.shows("Single-page app");
    await tabTo("link", "Delete this site");
    await browser.press("Enter");
    await browser.shows("to confirm");
    await tabTo("textbox", `Type ${site.slug} to confirm`);
    await browser.type(site.slug);
    await browser.press("Enter");
    await browser.shows("No sites yet");
  }, 60_000);
});
