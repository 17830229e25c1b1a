/** WEB 10 for the drop zone: axe in each of its states, light and dark; 320 px; what the start page weighs; nothing moves. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { until } from "../../kit/until.ts";
import { byRole, focused, named } from "../by-role.ts";
import { loadOf, sized, watchLoads } from "../health.ts";
import { looksRight, type Reach } from "./state.ts";
import { openZone, POINT, type ZoneWorld } from "./world.ts";

let world: ZoneWorld;
beforeAll(async () => {
  world = await openZone();
  await watchLoads(world.browser);
}, 60_000);
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => world.open());

const PAGE = "<!doctype html><title>x</title>";
const LONG = `${"lang".repeat(45)}.html`;

/** How each state is reached; what is returned ends it. */
const STATES: Record<string, Reach> = {
  async idle() {},
  async "files over it"() {
    await world.drag(await world.folder("ok", { "index.html": PAGE }));
    await world.browser.shows("Drop to publish");
    return async () => {
      await world.browser.cdp("Input.dispatchDragEvent", {
        type: "dragCancel",
        ...POINT,
        data: { items: [], files: [], dragOperationsMask: 1 },
      });
    };
  },
  async "a question with a text"() {
    await world.paste(`# ${"x".repeat(300)}\n\ntext`);
    await world.in("asking");
  },
  async "a list of files"() {
    await world.drop(await world.folder("list", { "a.txt": "a" }));
    await world.in("asking");
  },
  async "a project"() {
    await world.drop(await world.folder("project", { "package.json": "{}", "dist/index.html": PAGE }));
    await world.in("asking");
  },
  async working() {
    const held = Promise.withResolvers<void>();
    world.fates.push(held.promise);
    await world.drop(await world.folder("ok", { "index.html": PAGE }));
    await until(async () => (await world.statuses()).includes("Publishing"));
    return async () => {
      held.resolve();
      await world.in("done");
    };
  },
  async "an alert with files"() {
    const largest = [{ path: LONG, bytes: 2048 }];
    world.fates.push({ status: 413, body: { error: `It is too large, ${LONG} above all.`, largest, path: LONG } });
    await world.drop(await world.folder("ok", { "index.html": PAGE }));
    await world.in("failed");
  },
  async "an alert with three ways on"() {
    world.fates.push({ status: 401 });
    await world.drop(await world.folder("ok", { "index.html": PAGE }));
    await world.in("failed");
  },
  async "a receipt with all there is"() {
    const files = {
      [LONG]: `<img src="Logo.png"><img src="none.png">`,
      "logo.png": "x",
      ".env": "x",
      "app.js": 'fetch("http://localhost:1/")',
    };
    await world.drop(await world.folder("broken", files));
    await world.in("done");
    await world.browser.evaluate(`document.querySelectorAll("details").forEach((one) => (one.open = true))`);
  },
  async "a site of this browser to update"() {
    await world.browser.evaluate(`document.querySelector("svc-sites .acts button").click()`);
    await byRole(world.browser, "button", "Cancel");
  },
};

describe("WEB 10: each state of the zone", () => {
  test.each(Object.keys(STATES))("%s: axe finds nothing, in light and dark; 320 px are enough", async (name) => {
    await looksRight(world, STATES[name]!);
  });
});

describe("WEB 9: a phone", () => {
  test("has no folder to choose: the files' button is the filled one, and rows keep their edge", async () => {
    await sized(world.browser, 390);
    await world.browser.cdp("Emulation.setTouchEmulationEnabled", { enabled: true });
    const look = await world.browser.evaluate<Record<string, string | number>>(`(() => {
      const of = (part) => document.querySelector(part);
      const left = (part) => of(part).getBoundingClientRect().left;
      return {
        folder: getComputedStyle(of('[data-choose="folder"]')).display,
        files: getComputedStyle(of('[data-choose="files"]')).backgroundColor,
        beside: left("svc-sites .acts button") - left("svc-sites .name"),
      };
    })()`);
    await world.browser.cdp("Emulation.setTouchEmulationEnabled", { enabled: false });
    await sized(world.browser, 1280);
    expect(look).toEqual({ folder: "none", files: "rgb(23, 107, 91)", beside: 0 });
  });
});

describe("WEB 10: budgets", () => {
  test("the start page with all that publishing needs: 60 KB, 8 requests, nothing moves, nobody complains", async () => {
    const { failures } = await world.browser.visit(`${world.base}/`);
    const { shifted, beyond } = await loadOf(world.browser);
    expect([failures, shifted, beyond]).toEqual([[], 0, 0]);
    await world.drop(await world.folder("ok", { "index.html": PAGE }));
    await world.in("done");
    const loaded = await world.browser.evaluate<{ name: string; bytes: number }[]>(
      `performance.getEntries().filter(({ entryType }) => /^(navigation|resource)$/.test(entryType))
        .map(({ name, transferSize }) => ({ name: new URL(name).pathname, bytes: transferSize }))`,
    );
    const needed = loaded.filter(({ name }) => !name.startsWith("/sites"));
    expect(needed.map(({ name }) => name.replace(/\.\w{12}\./, ".")).sort()).toContain("/assets/zone-worker.js");
    expect(needed.length).toBeLessThanOrEqual(8);
    expect(needed.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(60 * 1024);
  });

  test("the list of this browser's sites moves nothing as it comes, nor does what is for those without script", async () => {
    expect(await named(world.browser, "region")).toContain("Sites made in this browser");
    for (const width of [320, 1280]) {
      await sized(world.browser, width);
      await world.browser.visit(`${world.base}/`);
      expect([width, (await loadOf(world.browser)).shifted]).toEqual([width, 0]);
    }
  });
});

describe("WEB 4: by keyboard alone", () => {
  test("the zone's buttons come in order after the banner, and a question is answered by Enter", async () => {
    await world.browser.evaluate(`document.querySelector(".skip").focus()`);
    const seen: string[] = [];
    for (let i = 0; i < 12; i++) {
      await world.browser.press("Tab");
      seen.push((await focused(world.browser))?.name ?? "");
    }
    expect(seen).toContain("Choose a folder");
    expect(seen.indexOf("Choose files or a zip")).toBe(seen.indexOf("Choose a folder") + 1);
    await world.paste("# By keys");
    await world.in("asking");
    await world.browser.press("Enter");
    await world.in("done");
    expect(await focused(world.browser)).toEqual({ role: "heading", name: "Your site is live" });
  });
});
