/** WEB 4.1 to 4.3 in Chromium: drops by real drag events, pickers, pastes; what is left out, refused, asked. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { collectDist, uploadIdentity } from "../../../src/client/collect.ts";
import { zipOf } from "../../kit/zip.ts";
import { byRole, focused, named, press } from "../by-role.ts";
import { lastSite, openZone, type ZoneWorld } from "./world.ts";

let world: ZoneWorld;
beforeAll(async () => {
  world = await openZone("--max-files", "20", "--max-bytes", "102400", "--max-zip-bytes", "51200");
}, 60_000);
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(async () => {
  world.deploys.length = 0;
  await world.open();
});

const PAGE = "<!doctype html><title>Harbour</title><h1>Tides</h1>";
/** What Linux takes as a name, and a careless reader loses. */
const ODD = {
  "index.html": PAGE,
  " lead.txt": "lead",
  "ab:c.txt": "colon",
  "x.lnk": "link",
  "u\u0308nï.txt": "decomposed",
  ["__proto__"]: "proto",
  "100%41#?.txt": "percent",
  "日本/語 😀.txt": "far",
  "back\\slash.txt": "back",
  "quote'\".txt": "quotes",
  ".well-known/x.txt": "known",
  "empty.txt": "",
  ".env": "SECRET=1",
  ".git/config": "x",
  "node_modules/a/i.js": "x",
  ".DS_Store": "x",
  ".svcignore": "drafts/\n*.map\n",
  "drafts/a.html": "x",
  "app.js.map": "x",
};

const published = async (): Promise<string> => {
  await world.in("done");
  return (await lastSite(world)).version_id;
};
const versionOf = async (path: string): Promise<string> => uploadIdentity(await collectDist(path));

describe("WEB 4.1: the version is the one that the command line computes", () => {
  test("of a dropped folder, odd names and all; what is left out is named", async () => {
    const folder = await world.folder("odd", ODD);
    await world.drop(folder);
    expect(await published()).toBe(await versionOf(folder));
    expect((await world.browser.shows("Left out")).text).toContain("Left out: .env, .git/, node_modules/");
    expect(await focused(world.browser)).toEqual({ role: "heading", name: "Your site is live" });
  });

  test("of a picked folder", async () => {
    const folder = await world.folder("picked", ODD);
    await world.choose("folder", folder);
    expect(await published()).toBe(await versionOf(folder));
    expect((await world.browser.shows("Left out")).text).toContain("Left out: .env, .git/, node_modules/");
  });

  test("of one file, dropped or picked", async () => {
    const folder = await world.folder("one", { "page.html": PAGE });
    await world.drop(join(folder, "page.html"));
    expect(await published()).toBe(await versionOf(join(folder, "page.html")));
    await press(world.browser, "button", "Publish another");
    await world.in("idle");
    await world.choose("files", join(folder, "page.html"));
    expect(await published()).toBe(await versionOf(join(folder, "page.html")));
  });

  test("several files and folders stand at the root, a zip among them as a file", async () => {
    const folder = await world.folder("several", { "index.html": PAGE, "a.zip": zipOf({ x: "x" }), "img/a.txt": "a" });
    await world.drop(join(folder, "index.html"), join(folder, "a.zip"), join(folder, "img"));
    expect(await published()).toBe(await versionOf(folder));
  });

  test("a zip goes as it is, byte for byte, whatever the case of its ending", async () => {
    const zip = zipOf({ "index.html": PAGE, ".env": "the server drops it" });
    const folder = await world.folder("zipped", { "Site.ZIP": zip });
    await world.drop(join(folder, "Site.ZIP"));
    await world.in("done");
    expect(world.deploys.map(({ bytes }) => bytes)).toEqual([zip.length]);
    expect(await world.statuses()).not.toContain("Zipping");
  });
});

describe("WEB 4: where it is operated", () => {
  test("the zone says so while files are over it, and takes no dragged text or link", async () => {
    const folder = await world.folder("over", { "index.html": PAGE });
    await world.drag(folder);
    expect((await world.browser.shows("Drop to publish")).text).toContain("Drop to publish");
    // Chromium gives no dragleave to a drag that CDP cancels.
    await world.browser.evaluate(`void document.body.dispatchEvent(new DragEvent("dragleave", { bubbles: true }))`);
    expect((await world.browser.shows("Drop a folder, files or a zip")).text).not.toContain("Drop to publish");
    const items = [{ mimeType: "text/plain", data: "# Text" }];
    for (const type of ["dragEnter", "dragOver", "drop"]) {
      await world.browser.cdp("Input.dispatchDragEvent", {
        type,
        x: 500,
        y: 350,
        data: { items, dragOperationsMask: 1 },
      });
    }
    expect([await world.state(), world.deploys.length]).toEqual(["idle", 0]);
  });

  test("limits are said before; both pickers are there by name", async () => {
    expect((await world.browser.shows("Up to")).text).toContain("Up to 20 files, 100 KB; 50 KB zipped");
    expect(await named(world.browser, "button")).toEqual(
      expect.arrayContaining(["Choose a folder", "Choose files or a zip"]),
    );
    expect(await named(world.browser, "region")).toContain("Publish");
  });
});

describe("WEB 4.2: refused before anything is sent", () => {
  const many = Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`${i}.html`, PAGE]));
  test.each<[string, Record<string, string | Uint8Array>, string[]]>([
    ["too-many", many, ["There are 21 files in it, and a site may have 20 files."]],
    [
      "too-large",
      { "index.html": PAGE, "big.bin": new Uint8Array(200_000), "b.bin": new Uint8Array(2000) },
      ["a site may have 100 KB", "big.bin 195 KB", "b.bin 2 KB"],
    ],
    [
      "zip-too-large",
      { "index.html": PAGE, "noise.bin": crypto.getRandomValues(new Uint8Array(60_000)) },
      ["Zipped it has", "a zip may have 50 KB", "noise.bin 59 KB"],
    ],
    ["all-left-out", { ".env": "x" }, ["There is nothing to publish: everything in it is left out."]],
  ])("%s", async (name, files, sentences) => {
    const folder = await world.folder(name, files);
    await world.drop(folder);
    await world.in("failed");
    const alert = await world.browser.evaluate<string>(`document.querySelector('[role="alert"]').innerText`);
    for (const sentence of sentences) expect(alert).toContain(sentence);
    expect(world.deploys).toEqual([]);
    expect(await focused(world.browser)).toEqual({ role: "button", name: "Start over" });
    await press(world.browser, "button", "Start over");
    await world.in("idle");
  });

  test("a zip over its limit", async () => {
    const folder = await world.folder("bigzip", { "big.zip": crypto.getRandomValues(new Uint8Array(60_000)) });
    await world.drop(join(folder, "big.zip"));
    await world.in("failed");
    expect((await world.browser.shows("big.zip")).text).toContain("big.zip has 59 KB, and a zip may have 50 KB.");
    expect(world.deploys).toEqual([]);
  });
});

describe("WEB 4.3: what asks first", () => {
  test("a list of files: cancelled by Esc with the focus back, published by its button", async () => {
    const folder = await world.folder("list", { "a.txt": "a", "b.txt": "b" });
    await world.browser.evaluate(`document.querySelector('[data-choose="files"]').focus()`);
    await world.choose("files", join(folder, "a.txt"), join(folder, "b.txt"));
    await byRole(world.browser, "group", "There is no web page in this");
    expect(await focused(world.browser)).toEqual({ role: "button", name: "Publish the list" });
    await world.browser.press("Escape");
    await world.in("idle");
    expect(await focused(world.browser)).toEqual({ role: "button", name: "Choose files or a zip" });
    expect(world.deploys).toEqual([]);
    await world.drop(folder);
    await byRole(world.browser, "group", "There is no web page in this");
    expect((await world.browser.shows("It would become")).text).toContain(
      "a list of 2 files that anyone with the link can open",
    );
    await press(world.browser, "button", "Publish the list");
    expect(await published()).toBe(await versionOf(folder));
  });

  test("a project: its build, or everything, which is disabled over a limit", async () => {
    const sources = Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`src/${i}.ts`, "x"]));
    const folder = await world.folder("project", {
      "package.json": "{}",
      ...sources,
      "dist/index.html": PAGE,
      "dist/a.js": "1",
    });
    await world.drop(folder);
    await byRole(world.browser, "group", "This looks like a project");
    expect((await byRole(world.browser, "button", "Publish everything")).is["disabled"]).toBe(true);
    await press(world.browser, "button", "Publish dist");
    expect(await published()).toBe(await versionOf(join(folder, "dist")));
  });

  test("pasted text: shown with its name, size and first lines, then published", async () => {
    await world.paste("# Tides\n\n<script>alert(1)</script>");
    await byRole(world.browser, "group", "Publish what you pasted?");
    const { text } = await world.browser.shows("index.md");
    expect(text).toContain("index.md, 34 bytes");
    expect(text).toContain("<script>alert(1)</script>");
    expect(world.deploys).toEqual([]);
    await press(world.browser, "button", "Publish");
    await world.in("done");
    const { url } = await lastSite(world);
    expect((await world.server.site(new URL(url).hostname.split(".")[0]!)).status).toBe(200);
  });

  test("a paste into a field, or of nothing, is none", async () => {
    await world.browser.evaluate(`document.body.append(Object.assign(document.createElement("input"), { id: "f" }))`);
    await world.paste("# Tides", "document.querySelector('#f')");
    await world.paste("  \n ");
    expect(await world.state()).toBe("idle");
  });
});
