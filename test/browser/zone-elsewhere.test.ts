/** WEB 4 where it is not at home: on plain http, which is no secure context, and where a proof of work is asked for. One
 *  browser at a time. */
import { expect, test } from "bun:test";
import { temporaryFolder } from "../kit/process.ts";
import { startServer } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { byRole, press } from "./by-role.ts";
import { openBrowser } from "./chromium.ts";
import { openZone, POINT } from "./zone-world.ts";

const PAGE = "<!doctype html><title>x</title>";

test("WEB 4: on plain http it publishes, and what would be copied is selected", async () => {
  await using server = await startServer("--base-url", "http://plain.test", "--sites-domain", "plain.test");
  await using folder = await temporaryFolder();
  await Bun.write(`${folder.path}/site/index.html`, PAGE);
  const domains = { "plain.test": `127.0.0.1:${server.port}`, "*.plain.test": `127.0.0.1:${server.port}` };
  const browser = await openBrowser({ domains });
  try {
    expect((await browser.visit("http://plain.test/", "Drop a folder")).failures).toEqual([]);
    expect(await browser.evaluate<boolean>("isSecureContext")).toBe(false);
    const data = { items: [], files: [`${folder.path}/site`], dragOperationsMask: 1 };
    for (const type of ["dragEnter", "dragOver", "drop"]) {
      await browser.cdp("Input.dispatchDragEvent", { type, ...POINT, data });
    }
    await byRole(browser, "heading", "Your site is live");
    await press(browser, "button", "Copy link");
    await until(async () => (await browser.evaluate<string>("String(getSelection())")).startsWith("http://"));
  } finally {
    await browser.close();
  }
}, 60_000);

test("WEB 4.4: with SVC_CHALLENGE=pow the proof is made before the upload, which then goes once", async () => {
  await using world = await openZone({ SVC_CHALLENGE: "pow" });
  await world.open();
  await world.drop(await world.folder("ok", { "index.html": PAGE }));
  await world.in("done");
  const stages = ["Reading 1 file", "Zipping", "Proving this is no robot", "Uploading", "Publishing"];
  expect(await world.statuses()).toEqual(stages);
  expect(world.deploys).toHaveLength(1);
}, 60_000);
