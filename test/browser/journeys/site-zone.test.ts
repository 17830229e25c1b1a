/** WEB 6 and 10 for the drop zone of a site's own page: axe in each of its states, 320 px, nothing moves; offline; and the
 *  line of what was left out, which this page tells the next one. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { until } from "../../kit/until.ts";
import { byRole, focused, press } from "../by-role.ts";
import { axeFinds, loadOf, sized, watchLoads } from "../health.ts";
import { looksRight, type Reach } from "../zone/state.ts";
import { openZone, type ZoneWorld } from "../zone/world.ts";
import { longTest } from "../../kit/whole.ts";

let world: ZoneWorld;
let at: string;
const PAGE = (title: string) => `<!doctype html><html lang="en"><title>${title}</title><h1>${title}</h1>`;
beforeAll(async () => {
  world = await openZone();
  await watchLoads(world.browser);
  await world.open();
  await world.signUp();
  await world.open();
  await world.drop(await world.folder("first", { "index.html": PAGE("First") }));
  await world.in("done");
  at = await world.browser.evaluate<string>(
    `new URL(document.querySelector('a[href^="/dashboard/sites/"]').href).pathname`,
  );
}, 60_000);
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(async () => {
  world.deploys.length = 0;
  await sized(world.browser, 1280);
  await world.open(at);
});

const STATES: Record<string, Reach> = {
  async idle() {},
  async "a question"() {
    await world.drop(await world.folder("list", { "a.txt": "a" }));
    await world.in("asking");
  },
  async working() {
    const held = Promise.withResolvers<void>();
    world.fates.push(held.promise);
    await world.drop(await world.folder("held", { "index.html": PAGE("Held") }));
    await until(async () => (await world.statuses()).includes("Publishing"));
    return async () => {
      held.resolve();
      await until(async () => (await world.browser.evaluate<string>("location.search").catch(() => "")) !== "");
    };
  },
  async "an alert"() {
    world.fates.push({
      status: 413,
      body: { error: "It is too large.", largest: [{ path: "x".repeat(200), bytes: 2048 }] },
    });
    await world.drop(await world.folder("large", { "index.html": PAGE("Large") }));
    await world.in("failed");
  },
  async "signed out meanwhile"() {
    world.fates.push({ status: 401 });
    await world.drop(await world.folder("out", { "index.html": PAGE("Out") }));
    await world.in("failed");
  },
};

describe("WEB 10: each state of the zone on a site's page", () => {
  longTest.each(Object.keys(STATES))("%s: axe finds nothing, in light and dark; 320 px are enough", async (name) => {
    await looksRight(world, STATES[name]!);
  });
});

test.each([320, 1280])(
  "WEB 6, 10: after a deploy at %i px the page stands again with the receipt; nothing moves, left out is named",
  async (width) => {
    await sized(world.browser, width);
    const secrets = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`part-${i}/.env`, "x"]));
    await world.drop(
      await world.folder(`left-${width}`, {
        "index.html": PAGE(`Left ${width}`),
        "node_modules/a.js": "x",
        ...secrets,
      }),
    );
    await byRole(world.browser, "heading", /^Your new version is live$/);
    expect((await world.browser.shows("Left out: ")).text).toContain("node_modules/");
    expect(await focused(world.browser)).toEqual({ role: "heading", name: "Your new version is live" });
    const { shifted, beyond } = await loadOf(world.browser);
    expect([shifted, beyond]).toEqual([0, 0]);
    expect(await axeFinds(world.browser)).toEqual([]);
  },
);

test("WEB 10: nothing moves where the page comes in slowly, either", async () => {
  const wire = (downloadThroughput: number) =>
    world.browser.cdp("Network.emulateNetworkConditions", {
      offline: false,
      latency: 0,
      downloadThroughput,
      uploadThroughput: -1,
    });
  const broken = Array.from({ length: 90 }, (_, i) => `<img src="${crypto.randomUUID()}-${i}.png" alt="">`).join("");
  await world.browser.cdp("Network.setCacheDisabled", { cacheDisabled: false });
  // What a coding holds back comes at once: this is how a page comes in pieces.
  await world.browser.cdp("Network.setExtraHTTPHeaders", { headers: { "accept-encoding": "identity" } });
  await wire(20_000);
  await world.drop(await world.folder("slow", { "index.html": PAGE("Slow") + broken, ".env": "x" }));
  await until(async () =>
    /^complete\?done=deployed&ms=\d+$/.test(
      await world.browser.evaluate<string>("document.readyState + location.search").catch(() => ""),
    ),
  );
  expect((await world.browser.shows("Left out: ")).text).toContain("Left out: .env");
  const { shifted } = await loadOf(world.browser);
  await wire(-1);
  await world.browser.cdp("Network.setExtraHTTPHeaders", { headers: {} });
  await world.browser.cdp("Network.setCacheDisabled", { cacheDisabled: true });
  expect(shifted).toBe(0);
});

test("WEB 4.5: offline on a site's page; back online Try again publishes once", async () => {
  const folder = await world.folder("wire", { "index.html": PAGE("Wire") });
  await world.offline(true);
  await world.drop(folder);
  expect(await world.alert()).toBe("You are offline. Nothing was published; your files are still here.");
  await world.offline(false);
  await press(world.browser, "button", "Try again");
  await byRole(world.browser, "heading", /^Your new version is live$/);
  expect(world.deploys).toHaveLength(1);
});
