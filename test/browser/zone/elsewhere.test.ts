/** WEB 4 where it is not at home: on plain http, which is no secure context, and where a proof of work is asked for. One
 *  browser at a time. */
import { expect, test } from "bun:test";
import { temporaryFolder } from "../../kit/process.ts";
import { startServer } from "../../kit/server.ts";
import { until } from "../../kit/until.ts";
import { byRole, press } from "../by-role.ts";
import { openBrowser } from "../chromium.ts";
import { openZone, POINT } from "./world.ts";

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
  const stages = ["Reading 1 file", "Zipping", "Proving this is no robot", "Uploading ok", "Publishing"];
  expect(await world.statuses()).toEqual(stages);
  expect(world.deploys).toHaveLength(1);
}, 60_000);

test("WEB 4.5: a challenge that the server cannot make is the server's fault, and Try again publishes", async () => {
  await using world = await openZone({ SVC_CHALLENGE: "pow" });
  const { browser } = world;
  await world.open();
  browser.on<{ requestId: string }>("Fetch.requestPaused", ({ requestId }) => {
    const answer = { requestId, responseCode: 502, responseHeaders: [{ name: "x-request-id", value: "req_proof" }] };
    void browser.cdp("Fetch.fulfillRequest", answer);
  });
  await browser.cdp("Fetch.enable", { patterns: [{ urlPattern: "*/challenge" }] });
  await world.drop(await world.folder("ok", { "index.html": PAGE }));
  await world.in("failed");
  expect(await browser.evaluate<string>(`document.querySelector('[role="alert"]').innerText`)).toBe(
    "Something went wrong on the server (request req_proof). Nothing was published; your files are still here.",
  );
  expect(world.deploys).toHaveLength(0);
  await browser.cdp("Fetch.disable");
  await press(browser, "button", "Try again");
  await world.in("done");
  expect(world.deploys).toHaveLength(1);
}, 60_000);
