/** BEYOND 4 in a real Chromium: a tab that was open through a deploy goes on; what is opened afterwards is the new version. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type TestServer, startServer } from "../kit/server.ts";
import { type Browser, openBrowser } from "./chromium.ts";

let server: TestServer;
let browser: Browser;
beforeAll(async () => {
  server = await startServer();
  browser = await openBrowser();
}, 60_000);
afterAll(async () => {
  await browser.close();
  await server[Symbol.asyncDispose]();
});

const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const PARTS = {
  "assets/lazy-DiwrgTda.js": 'import { two } from "./deep-8a7d9f2c.js"; export const one = `one and ${two}`;',
  "assets/deep-8a7d9f2c.js": 'export const two = "two";',
  "assets/lazy-B-x_3kfA.css": "body { outline: 3px solid rgb(1, 2, 3); }",
  "assets/data-12345678.json": '{"told": "data"}',
  "assets/dot-12345678.png": PIXEL,
  "assets/worker-12345678.js": 'postMessage("worked")',
};
const page = (title: string, text: string) => `<!doctype html><title>${title}</title><p>${text}</p>`;

/** What a page asks for when somebody clicks at last. */
const PARTS_OF_THE_PAGE = `(async () => {
  const style = document.createElement("link");
  Object.assign(style, { rel: "stylesheet", href: "/assets/lazy-B-x_3kfA.css" });
  const styled = new Promise((done, fail) => Object.assign(style, { onload: done, onerror: fail }));
  document.head.append(style);
  await styled;
  const image = new Image();
  image.src = "/assets/dot-12345678.png";
  await image.decode();
  const worker = new Worker("/assets/worker-12345678.js");
  const worked = new Promise((done, fail) => Object.assign(worker, { onmessage: (e) => done(e.data), onerror: fail }));
  const { one } = await import("/assets/lazy-DiwrgTda.js");
  const answer = await fetch("/assets/data-12345678.json");
  return JSON.stringify({
    one, worked: await worked, width: image.naturalWidth,
    outline: getComputedStyle(document.body).outlineColor,
    told: (await answer.json()).told, skew: answer.headers.get("svc-skew"),
  });
})()`;

test("BEYOND 4: an open tab loads its lazy script, with what that imports, style, picture, data and worker after a deploy", async () => {
  const site = await server.deploy({ "index.html": page("Old", "old"), ...PARTS });
  await browser.visit(site.url, "old");
  await server.redeploy(site, { "index.html": page("New", "new") });
  expect(JSON.parse(await browser.evaluate<string>(PARTS_OF_THE_PAGE))).toEqual({
    one: "one and two",
    worked: "worked",
    width: 1,
    outline: "rgb(1, 2, 3)",
    told: "data",
    skew: site.version_id,
  });
  const missing = 'fetch("/assets/other-12345678.js").then((answer) => answer.status)';
  expect(await browser.evaluate<number>(missing)).toBe(404);
}, 60_000);

test("BEYOND 4: what is opened afterwards is the new version, and no address of the old one is a page", async () => {
  const site = await server.deploy({ "index.html": page("Old", "old"), "sw-12345678.js": "1", ...PARTS });
  await browser.visit(site.url, "old");
  await server.redeploy(site, { "index.html": page("New", "new") });
  const registered = `navigator.serviceWorker.register("/sw-12345678.js").then(() => "registered", () => "refused")`;
  expect(await browser.evaluate<string>(registered)).toBe("refused");
  // A page is kept for a minute: this one is asked for anew.
  expect((await browser.visit(`${site.url}/?anew`, "new")).text).toBe("new");
  const opened = await browser.visit(`${site.url}/assets/data-12345678.json`, "There is no such page");
  expect(opened.failures).toEqual([`404 ${site.url}/assets/data-12345678.json`]);
}, 60_000);

test("BEYOND 4: another site's page is given nothing", async () => {
  const site = await server.deploy({ "index.html": page("Old", "old"), ...PARTS });
  await server.redeploy(site, { "index.html": page("New", "new") });
  const other = await server.deploy({ "index.html": page("Other", "other") });
  await browser.visit(other.url, "other");
  const loaded = `new Promise((done) => {
    const script = document.createElement("script");
    Object.assign(script, { src: "${site.url}/assets/deep-8a7d9f2c.js", type: "text/javascript" });
    Object.assign(script, { onload: () => done("loaded"), onerror: () => done("failed") });
    document.head.append(script);
  })`;
  expect(await browser.evaluate<string>(loaded)).toBe("failed");
}, 60_000);
