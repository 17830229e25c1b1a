/** WEB 4.7 in Chromium: what Forget takes off the list comes back by Undo, for 10 s, whatever is done meanwhile. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { until } from "../../kit/until.ts";
import { focused, named, press } from "../by-role.ts";
import { openAnew, openZone, type ZoneWorld } from "./world.ts";

let world: ZoneWorld;
const PAGE = (title: string) => `<!doctype html><title>${title}</title>`;
beforeAll(async () => {
  world = await openZone();
}, 60_000);
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => openAnew(world));

const stored = (): Promise<{ site_id: string; slug: string }[]> =>
  world.browser.evaluate(`JSON.parse(localStorage.getItem("svc-sites") ?? "[]")`);
const publish = async (title: string): Promise<void> => {
  await world.drop(await world.folder(title, { "index.html": PAGE(title) }));
  await world.in("done");
};

/** From now on those 10 s end when the test says so: the page's timers of that length are kept. */
const holdTimers = () =>
  world.browser.evaluate(`(() => {
    const real = setTimeout;
    window.held = [];
    window.setTimeout = (then, ms, ...more) => (ms === 10000 ? (held.push(then), 0) : real(then, ms, ...more));
  })()`);
const end = (nth: number) => world.browser.evaluate(`held[${nth}]()`);
const status = () => world.browser.evaluate<string>(`document.querySelector('[data-part="status"]').textContent`);
const forget = async (slug: string) => press(world.browser, "button", `Forget ${slug}`);

test("Undo is there; then it is gone, and the focus is where it was of use", async () => {
  await publish("first");
  const [site] = await stored();
  await world.open();
  await holdTimers();
  await forget(site!.slug);
  expect(await named(world.browser, "button")).toContain("Undo");
  await end(0);
  expect(await named(world.browser, "button")).not.toContain("Undo");
  expect((await focused(world.browser))?.role).toBe("button");
  expect(await stored()).toEqual([]);
});

test("of two that are forgotten each has its own, and Undo brings back that one beside what came since", async () => {
  await publish("first");
  await press(world.browser, "button", "Publish another");
  await publish("other");
  const [newer, older] = await stored();
  await world.open();
  await holdTimers();
  await forget(newer!.slug);
  await forget(older!.slug);
  await end(0);
  expect(await named(world.browser, "button")).toContain("Undo");
  const elsewhere = { ...older!, site_id: `site_${"z".repeat(20)}` };
  await world.browser.evaluate(`localStorage.setItem("svc-sites", '${JSON.stringify([elsewhere])}')`);
  await press(world.browser, "button", "Undo");
  expect(await stored()).toEqual([elsewhere, older!]);
  expect(await focused(world.browser)).toEqual({ role: "button", name: `Forget ${older!.slug}` });
});

test("what is published meanwhile keeps its status", async () => {
  await publish("first");
  const [site] = await stored();
  await world.open();
  await holdTimers();
  await forget(site!.slug);
  const answered = Promise.withResolvers<void>();
  world.fates.push(answered.promise);
  await world.drop(await world.folder("next", { "index.html": PAGE("Next") }));
  await until(async () => (await status()) === "Publishing");
  await end(0);
  expect(await status()).toBe("Publishing");
  answered.resolve();
  await world.in("done");
});
