/** WEB 4 by hands that are not a drop of a good folder: pasted files, files that cannot be read, a phone's picker, entries
 *  that fail, a drag that leaves, a whole project. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { collectDist, uploadIdentity } from "../../../src/client/collect.ts";
import { until } from "../../kit/until.ts";
import { zipOf } from "../../kit/zip.ts";
import { byRole, focused, named, press } from "../by-role.ts";
import { lastSite, openZone, type ZoneWorld } from "../zone/world.ts";

let world: ZoneWorld;
beforeAll(async () => {
  world = await openZone();
}, 60_000);
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(async () => {
  world.deploys.length = 0;
  await world.open();
});

const PAGE = "<!doctype html><title>Harbour</title><h1>Tides</h1>";
const versionOf = async (path: string): Promise<string> => uploadIdentity(await collectDist(path));
const published = async (): Promise<string> => {
  await world.in("done");
  return (await lastSite(world)).version_id;
};
/** A paste of files, each by its name and base64. */
const pasteFiles = (files: Record<string, string | Uint8Array>): Promise<void> =>
  world.browser.evaluate(`(() => {
    const clipboardData = new DataTransfer();
    for (const [name, text] of ${JSON.stringify(Object.entries(files).map(([name, content]) => [name, Buffer.from(content).toString("base64")]))})
      clipboardData.items.add(new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], name));
    document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  })()`);

describe("WEB 4.1: pasted files are as dropped", () => {
  test("several stand at the root, under their own names", async () => {
    const files = { "index.html": PAGE, "tide.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>" };
    await pasteFiles(files);
    expect(await published()).toBe(await versionOf(await world.folder("pasted", files)));
  });

  test("a zip goes as it is", async () => {
    const zip = zipOf({ "site/index.html": PAGE });
    await pasteFiles({ "Site.ZIP": zip });
    await world.in("done");
    expect(world.deploys.map(({ bytes }) => bytes)).toEqual([zip.length]);
  });

  test("a picture alone asks first", async () => {
    await pasteFiles({ "image.png": new Uint8Array(64) });
    await byRole(world.browser, "group", "There is no web page in this");
    expect(await focused(world.browser)).toEqual({ role: "button", name: "Publish the list" });
    expect(world.deploys).toEqual([]);
  });
});

describe("WEB 4.1: one file that cannot be read stops all", () => {
  test("one that is gone before it is read", async () => {
    const folder = await world.folder("gone", { "a.txt": "a", "img/b.txt": "b" });
    await world.drop(folder);
    await world.in("asking");
    await rm(join(folder, "img/b.txt"));
    await press(world.browser, "button", "Publish the list");
    expect(await world.alert()).toBe("img/b.txt could not be read, so nothing was published.");
    expect(await named(world.browser, "button")).toContain("Start over");
    expect(world.deploys).toEqual([]);
  });

  test("a zip that is gone", async () => {
    const folder = await world.folder("zips", { "site.zip": zipOf({ "index.html": PAGE }) });
    await world.browser.evaluate(`void (Worker = class extends Worker {
      constructor(url) { super(url); window.late = this; }
      postMessage(call) { window.send = () => super.postMessage(call); }
    })`);
    await world.drop(join(folder, "site.zip"));
    await until(() => world.browser.evaluate<boolean>("'send' in window"));
    await rm(join(folder, "site.zip"));
    await world.browser.evaluate("send()");
    expect(await world.alert()).toBe("site.zip could not be read, so nothing was published.");
  });

  test("handles stand in where entries fail; where those fail too it is named", async () => {
    const folder = await world.folder("entries", { "index.html": PAGE, "img/b.txt": "b" });
    const fail = `(entryOf => DataTransferItem.prototype.webkitGetAsEntry = function () {
      const entry = entryOf.call(this);
      const spoiled = (one) => {
        if (one.isFile) one.file = (_, no) => setTimeout(() => no(new DOMException("x", "NotFoundError")));
        else {
          const readerOf = one.createReader.bind(one);
          one.createReader = () => {
            const reader = readerOf();
            return { readEntries: (yes, no) => reader.readEntries((all) => yes(all.map(spoiled)), no) };
          };
        }
        return one;
      };
      return spoiled(entry);
    })(DataTransferItem.prototype.webkitGetAsEntry)`;
    await world.browser.evaluate(`void (${fail})`);
    await world.drop(folder);
    expect(await published()).toBe(await versionOf(folder));
    await world.open();
    await world.browser.evaluate(`void (${fail}, delete DataTransferItem.prototype.getAsFileSystemHandle)`);
    await world.drop(folder);
    expect(await world.alert()).toBe("index.html could not be read, so nothing was published.");
  });
});

test("WEB 4.1: a picked folder whose paths are empty, as on Android, becomes files at the root", async () => {
  const files = { "index.html": PAGE, "tide.css": "h1 { color: teal }" };
  const folder = await world.folder("phone", files);
  await world.browser.evaluate(
    `void document.querySelector('input[data-pick="folder"]').removeAttribute("webkitdirectory")`,
  );
  await world.choose("folder", ...Object.keys(files).map((name) => join(folder, name)));
  expect(await published()).toBe(await versionOf(folder));
});

test("WEB 4: files that move over the page stay announced; where they leave it the zone is as it was", async () => {
  const title = () => world.browser.evaluate<string>(`document.querySelector('[data-part="title"]').textContent`);
  const folder = await world.folder("left", { "index.html": PAGE });
  const before = await title();
  await world.drag(folder);
  expect(await title()).toBe("Drop to publish");
  const data = { items: [], files: [folder], dragOperationsMask: 1 };
  for (const y of [20, 300, 500])
    await world.browser.cdp("Input.dispatchDragEvent", { type: "dragOver", x: 400, y, data });
  expect(await title()).toBe("Drop to publish");
  await world.browser.evaluate(`void document.body.dispatchEvent(new DragEvent("dragleave", { bubbles: true }))`);
  expect(await title()).toBe(before);
  expect(world.deploys).toEqual([]);
});

test("WEB 4.3: everything of a project, where that is wanted", async () => {
  const folder = await world.folder("project", { "package.json": "{}", "dist/index.html": PAGE, "src/a.js": "1" });
  await world.drop(folder);
  await byRole(world.browser, "group", "This looks like a project");
  expect(await focused(world.browser)).toEqual({ role: "button", name: "Publish dist" });
  await press(world.browser, "button", "Publish everything");
  expect(await published()).toBe(await versionOf(folder));
});

test("WEB 4.6: Share, where the system has a way to", async () => {
  await world.drop(await world.folder("unshared", { "index.html": PAGE }));
  await world.in("done");
  expect(await named(world.browser, "button")).not.toContain("Share");
  const source = "Navigator.prototype.share = async (what) => { window.shared = what.url; }";
  const { identifier } = await world.browser.cdp<{ identifier: string }>("Page.addScriptToEvaluateOnNewDocument", {
    source,
  });
  await world.open();
  await world.drop(await world.folder("shared", { "index.html": PAGE }));
  await world.in("done");
  await press(world.browser, "button", "Share");
  const shared = await world.browser.evaluate<string>("new URL(window.shared).href");
  expect(shared).toBe((await lastSite(world)).url);
  await world.browser.cdp("Page.removeScriptToEvaluateOnNewDocument", { identifier });
});
