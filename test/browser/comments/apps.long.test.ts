/** COMMENTS 3 and 5: pages that scripts write: apps that change their page without a load, content that comes late, and
 *  frameworks that draw everything anew. */
import { expect, test } from "bun:test";
import { shared } from "../../kit/shared.ts";
import { until } from "../../kit/until.ts";
import { byRole, fill, named } from "../by-role.ts";
import { click, gone, panelShows } from "./hands.ts";
import { article, type CommentedSite, PASSAGE, World } from "./world.ts";

const world = shared(await World.open());
const { browser } = world;

const PIN = `Thread on '${PASSAGE}', 0 replies`;
const pins = async (): Promise<string[]> =>
  (await named(browser, "button")).filter((name) => name.startsWith("Thread"));

/** One shell for every path; what is shown follows the address. */
const APP = {
  "index.html":
    '<!doctype html><html lang="en"><head><title>App</title></head><body><div id="root"></div><script src="/app.js"></script></body></html>',
  "app.js": `const show = () => {
    const about = location.pathname === "/about";
    document.getElementById("root").innerHTML = "<main><h1>" + (about ? "About" : "Home") + "</h1><p>" +
      (about ? "We moor boats since the year the pier was built." : "On a normal connection ${PASSAGE}.") + "</p></main>";
  };
  window.go = (path) => { history.pushState(null, "", path); show(); };
  addEventListener("popstate", show);
  show();`,
};

async function app(): Promise<CommentedSite> {
  const site = await world.site(APP);
  await site.writeOn({ exact: PASSAGE }, "At home", { page: "/index.html" });
  return site;
}

test("where an app shows what the site has no page for, nothing is offered until it comes back", async () => {
  const site = await world.site({ ...APP, "about-us.html": "<!doctype html><title>x</title>" }); // no single-page app
  await site.writeOn({ exact: PASSAGE }, "At home", { page: "/index.html" });
  await browser.visit(`${site.origin}/`);
  await byRole(browser, "button", PIN);
  await browser.evaluate("go('/about')");
  await gone(browser, "button", PIN);
  await gone(browser, "button", "Comments");
  await browser.evaluate("history.back()");
  await byRole(browser, "button", PIN);
  await byRole(browser, "button", "Comments");
});

test.each([
  ["the Navigation API", ""],
  ["popstate and pushState, where there is no Navigation API", "gone"],
])("an app's pages have threads of their own: by %s", async (_, before) => {
  const { identifier } = await browser.cdp<{ identifier: string }>("Page.addScriptToEvaluateOnNewDocument", {
    source: before ? "Object.defineProperty(window, 'navigation', { value: undefined })" : "",
  });
  const site = await app();
  await browser.visit(`${site.origin}/`);
  await byRole(browser, "button", PIN);
  await browser.evaluate("go('/about')");
  await gone(browser, "button", PIN);
  await click(browser, "button", "Comments");
  await fill(browser, "textbox", "Comment", "About about");
  await click(browser, "button", "Post");
  await panelShows(browser, "About about");
  await until(async () => (await site.texts("/about")).includes("About about"));
  await browser.evaluate("history.back()");
  await byRole(browser, "button", PIN);
  await browser.cdp("Page.removeScriptToEvaluateOnNewDocument", { identifier });
});

test("a page that a rule of the site shows under another address has its threads there (BEYOND 2)", async () => {
  const site = await world.site({
    "index.html": "<!doctype html><title>Start</title><p>Start</p>",
    "guide.html": article(),
    _redirects: "/tour/* /guide.html 200\n",
  });
  await site.writeOn({ exact: PASSAGE }, "Where it lies", { page: "/guide.html" });
  await browser.visit(`${site.origin}/tour/of/the/harbour`);
  await click(browser, "button", PIN);
  await fill(browser, "textbox", "Reply", "Where it is shown");
  await click(browser, "button", "Reply");
  await until(async () => (await site.texts("/guide.html")).join() === "Where it lies,Where it is shown");
  await browser.visit(`${site.origin}/guide`);
  await byRole(browser, "button", `Thread on '${PASSAGE}', 1 reply`);
});

test("what comes late is found when it is there", async () => {
  const late = `<div id="late"></div><script>setTimeout(() => {
    document.getElementById("late").innerHTML = "<p>The ferry to the island sails on Sundays only.</p>";
  }, 1800)</script>`;
  const site = await world.site({ "index.html": article("", late) });
  await site.writeOn({ exact: "sails on Sundays only", prefix: "The ferry to the island " }, "And on Mondays?");
  await browser.visit(`${site.origin}/`);
  await byRole(browser, "button", "Thread on 'sails on Sundays only', 0 replies");
});

test("a passage that is drawn anew is found again", async () => {
  const site = await world.site({ "index.html": article() });
  await site.writeOn({ exact: PASSAGE }, "Stays");
  await browser.visit(`${site.origin}/`);
  await byRole(browser, "button", PIN);
  await browser.evaluate("document.body.innerHTML = document.body.innerHTML");
  await until(() =>
    browser.evaluate<boolean>(`String([...CSS.highlights.get("svc-comment")][0]) === ${JSON.stringify(PASSAGE)}`),
  );
  expect(await pins()).toEqual([PIN]);
});

/** Changes are watched for 15 s (COMMENTS 3): here for a tenth of it. */
const HURRY = `window.setTimeout = ((wait) => (then, ms, ...more) => wait(then, ms === 15000 ? 1500 : ms, ...more))(setTimeout)`;
/** Longer than that, and than what comes late is looked for after a load. */
const UNWATCHED_MS = 3500;

test("a passage that a tab took away is found again when the tab is turned back, however late", async () => {
  const tabs = `<button id="tab">The other tab</button><div id="shown"></div><script>
    const [one, other] = ["<p>The ferry to the island sails on Sundays only.</p>", "<p>Nothing but timetables.</p>"];
    let first = true;
    const show = () => (document.querySelector("#shown").innerHTML = first ? one : other);
    document.querySelector("#tab").onclick = () => { first = !first; setTimeout(show, 500); };
    show();
  </script>`;
  const { identifier } = await browser.cdp<{ identifier: string }>("Page.addScriptToEvaluateOnNewDocument", {
    source: HURRY,
  });
  const site = await world.site({ "index.html": article("", tabs) });
  await site.writeOn({ exact: "sails on Sundays only", prefix: "The ferry to the island " }, "And on Mondays?");
  await browser.visit(`${site.origin}/`);
  const pin = "Thread on 'sails on Sundays only', 0 replies";
  await byRole(browser, "button", pin);
  await Bun.sleep(UNWATCHED_MS);
  await click(browser, "button", "The other tab");
  await gone(browser, "button", pin);
  await click(browser, "button", "The other tab");
  await byRole(browser, "button", pin);
  await browser.cdp("Page.removeScriptToEvaluateOnNewDocument", { identifier });
});

test("a page that draws its whole document anew keeps its comments", async () => {
  const site = await world.site({ "index.html": article() });
  await site.writeOn({ exact: PASSAGE }, "Stays");
  await browser.visit(`${site.origin}/`);
  await byRole(browser, "button", PIN);
  await browser.evaluate("document.documentElement.innerHTML = document.head.outerHTML + document.body.outerHTML");
  await until(() => browser.evaluate<boolean>("document.querySelector('svc-comments') !== null"));
  await byRole(browser, "button", PIN);
  await click(browser, "button", PIN);
  await panelShows(browser, "Stays");
});

test("a `base` that leads elsewhere leads no call, no link and no address there", async () => {
  const site = await world.site({ "index.html": article('<base href="https://elsewhere.example/deep/">') });
  await site.writeOn({ exact: PASSAGE }, "Here");
  const { failures } = await browser.visit(await site.ownerUrl());
  await panelShows(browser, "You moderate as Owner");
  expect(failures).toEqual([]);
  expect(await browser.evaluate<string>("location.href")).toBe(`${site.origin}/`);
  await fill(browser, "textbox", "Reply", "And here");
  await click(browser, "button", "Reply");
  await until(async () => (await site.texts()).join() === "Here,And here");
});

test("a passage that is edited in a new version keeps its thread, which says so; one that is gone has no pin", async () => {
  const site = await world.site({ "index.html": article() });
  await site.writeOn(
    { exact: PASSAGE, prefix: "On a normal connection ", suffix: " and return a live URL." },
    "Edited",
  );
  const gone_one = { exact: "The last boat leaves at noon", prefix: "", suffix: "." };
  await site.writeOn(gone_one, "Gone");
  const files = {
    "index.html": article()
      .replace(PASSAGE, "deploys finish in two short seconds")
      .replace(/<p id="last">.*?<\/p>/, ""),
  };
  await site.redeploy(files);
  await browser.visit(`${site.origin}/`);
  await byRole(browser, "button", PIN);
  expect(await pins()).toEqual([PIN]);
  await click(browser, "button", PIN);
  await panelShows(browser, "The passage has changed. It was:");
  await panelShows(browser, "No longer on the page. It was:");
});

test("a pin stays beside its passage when the page is scrolled, resized or opened", async () => {
  const site = await world.site({
    "index.html": article(
      "",
      `<details><summary>More</summary><p id="hidden">Nobody reads this far down, they say.</p></details>`,
    ),
  });
  await site.writeOn({ exact: "The last boat leaves at noon" }, "When?");
  await site.writeOn({ exact: "Nobody reads this far down" }, "I do");
  await browser.visit(`${site.origin}/`);
  await byRole(browser, "button", /^Thread on 'The last/);
  const apart = (): Promise<number> =>
    browser.evaluate<number>(`(() => {
      const pins = [...document.querySelector("svc-comments").shadowRoot.querySelectorAll(".pin")];
      const pin = pins.find((one) => one.ariaLabel.includes("last boat")).getBoundingClientRect();
      const passage = document.querySelector("#last").getBoundingClientRect();
      return Math.abs(pin.top + pin.height / 2 - passage.top - passage.height / 2);
    })()`);
  expect(await apart()).toBeLessThan(8);
  await browser.evaluate("scrollTo(0, 300)");
  expect(await apart()).toBeLessThan(8);
  expect(await pins()).toHaveLength(1); // what is folded away has no place on the page
  await browser.evaluate("document.querySelector('details').open = true");
  await byRole(browser, "button", /^Thread on 'Nobody/);
  await until(async () => (await apart()) < 8);
  await browser.cdp("Emulation.setDeviceMetricsOverride", {
    width: 700,
    height: 800,
    deviceScaleFactor: 1,
    mobile: false,
  });
  await until(async () => (await apart()) < 8);
  await browser.cdp("Emulation.clearDeviceMetricsOverride");
});
