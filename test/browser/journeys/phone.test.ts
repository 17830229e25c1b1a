/** WEB 4 on a phone: a finger is the only pointer, and there are no folders to choose. */
import { expect, test } from "bun:test";
import { byRole, focused, named } from "../by-role.ts";
import { openZone } from "../zone/world.ts";

test("WEB 4: Choose a folder is absent, and what gives the focus back gives it to what is there", async () => {
  await using world = await openZone();
  const { browser } = world;
  await browser.cdp("Emulation.setDeviceMetricsOverride", {
    width: 390,
    height: 800,
    deviceScaleFactor: 2,
    mobile: true,
  });
  await browser.cdp("Emulation.setTouchEmulationEnabled", { enabled: true, maxTouchPoints: 5 });
  await browser.cdp("Emulation.setEmitTouchEventsForMouse", { enabled: true, configuration: "mobile" });
  await world.open();
  expect(
    await browser.evaluate<boolean>(
      `matchMedia("(pointer: coarse)").matches && !matchMedia("(any-pointer: fine)").matches`,
    ),
  ).toBe(true);
  expect(await named(browser, "button")).not.toContain("Choose a folder");
  await world.choose("files", `${await world.folder("list", { "a.txt": "a" })}/a.txt`);
  await byRole(browser, "group", "There is no web page in this");
  await browser.evaluate(`[...document.querySelectorAll(".question button")].at(-1).click()`);
  await world.in("idle");
  expect(await focused(browser)).toEqual({ role: "button", name: "Choose files or a zip" });
  await world.choose(
    "files",
    `${await world.folder("page", { "page.html": "<!doctype html><title>x</title>" })}/page.html`,
  );
  await world.in("done");
  await browser.evaluate(
    `[...document.querySelectorAll(".receipt button")].find((one) => one.textContent === "Publish another").click()`,
  );
  expect(await focused(browser)).toEqual({ role: "button", name: "Choose files or a zip" });
}, 60_000);
