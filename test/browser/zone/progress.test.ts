/** WEB 4.4 in Chromium: stages, "Cancel", a second drop, leaving. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { until } from "../../kit/until.ts";
import { focused, named, press } from "../by-role.ts";
import { openAnew, openZone, type ZoneWorld } from "./world.ts";

let world: ZoneWorld;
let site: string;
beforeAll(async () => {
  world = await openZone("--max-bytes", "20971520", "--max-zip-bytes", "20971520");
  site = await world.folder("site", { "index.html": "<!doctype html><title>Harbour</title>" });
}, 60_000);
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => openAnew(world));

const sites = (): number => world.server.rows("sites");
const live = async (): Promise<void> => {
  await world.in("done");
};

describe("WEB 4.4: progress", () => {
  test("each stage is said once; the bar has a name, and the button goes with the last byte", async () => {
    const held = Promise.withResolvers<void>();
    world.fates.push(held.promise);
    await world.drop(site);
    await until(() => world.deploys.length === 1);
    await until(async () => (await world.statuses()).includes("Publishing"));
    expect(await named(world.browser, "progressbar")).toEqual(["Publishing"]);
    expect(await named(world.browser, "button")).not.toContain("Cancel");
    expect(await focused(world.browser)).toEqual({ role: "progressbar", name: "Publishing" });
    held.resolve();
    await live();
    expect(await world.statuses()).toEqual(["Reading 1 file", "Zipping", "Uploading site", "Publishing"]);
  });

  /** More than lies in buffers between. */
  const largeFolder = () =>
    world.folder("large", {
      "index.html": "x",
      ...Object.fromEntries(
        Array.from({ length: 160 }, (_, i) => [`${i}.bin`, crypto.getRandomValues(new Uint8Array(65_536))]),
      ),
    });

  test("Cancel stops the request; nothing is published, and the focus is back", async () => {
    const large = await largeFolder();
    const before = sites();
    world.stall(true);
    await world.browser.evaluate(`document.querySelector('[data-choose="folder"]').focus()`);
    await world.choose("folder", large);
    await until(async () => (await world.statuses()).includes("Uploading large"));
    expect(await focused(world.browser)).toEqual({ role: "button", name: "Cancel" });
    const shown = await world.browser.evaluate<string>(`document.querySelector('[data-part="status"]').textContent`);
    expect(shown).toMatch(/^Uploading large: \d+(\.\d)? of 10 MB$/);
    await world.browser.press("Enter");
    await world.in("idle");
    world.stall(false);
    expect((await world.statuses()).at(-1)).toBe("Cancelled. Nothing was published.");
    expect(await focused(world.browser)).toEqual({ role: "button", name: "Choose a folder" });
    expect([world.deploys.length, sites()]).toEqual([0, before]);
  });

  test("Cancel of a second try says nothing of the first, whose answer was lost", async () => {
    world.fates.push("lost");
    await world.choose("folder", await largeFolder());
    await world.in("failed");
    world.stall(true);
    await press(world.browser, "button", "Try again");
    await press(world.browser, "button", "Cancel");
    await world.in("idle");
    world.stall(false);
    expect((await world.statuses()).at(-1)).toBe("Cancelled. The try before it may have been published.");
  });

  test("leaving asks, a second drop is refused in the status and changes nothing", async () => {
    const held = Promise.withResolvers<void>();
    world.fates.push(held.promise);
    const leaving = () =>
      world.browser.evaluate<boolean>(`!dispatchEvent(new Event("beforeunload", { cancelable: true }))`);
    expect(await leaving()).toBe(false);
    await world.drop(site);
    await until(async () => (await world.statuses()).includes("Publishing"));
    expect(await leaving()).toBe(true);
    await world.drop(site);
    await world.paste("# Another");
    expect((await world.statuses()).at(-1)).toStartWith("Something is being published already.");
    expect(await world.state()).toBe("working");
    held.resolve();
    await live();
    expect([await leaving(), world.deploys.length]).toEqual([false, 1]);
  });
});

test("WEB 4.4: a drop in the place of a question asks before the page is left, too", async () => {
  const held = Promise.withResolvers<void>();
  world.fates.push(held.promise);
  await world.paste("# A question");
  await world.in("asking");
  await world.drop(site);
  await until(async () => (await world.statuses()).includes("Publishing"));
  expect(await world.browser.evaluate(`dispatchEvent(new Event("beforeunload", { cancelable: true }))`)).toBe(false);
  held.resolve();
  await live();
});
