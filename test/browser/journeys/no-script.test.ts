/** WEB 1.3 and 4.8 in a Chromium that runs no script at all: nothing is evaluated in its pages, not even by the test. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { temporaryFolder } from "../../kit/process.ts";
import { startServer, type TestServer } from "../../kit/server.ts";
import { until } from "../../kit/until.ts";
import { visitorOf } from "../../kit/visitor.ts";
import { zipOf } from "../../kit/zip.ts";
import { focused, things } from "../by-role.ts";
import { type Browser, openBrowser } from "../chromium.ts";

let server: TestServer;
let browser: Browser;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  [server, folder] = await Promise.all([startServer(), temporaryFolder()]);
  browser = await openBrowser({ switches: ["--blink-settings=scriptEnabled=false"] });
}, 60_000);
afterAll(async () => {
  await browser.close();
  await server[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

const PAGE = "<!doctype html><title>x</title>";
const open = (path: string) => browser.cdp("Page.navigate", { url: server.base_url + path });
const all = () => things(browser).catch(() => []);
const has = (role: string, name: string | RegExp) =>
  until(async () =>
    (await all()).some(
      (one) => one.role === role && (typeof name === "string" ? one.name === name : name.test(one.name)),
    ),
  ).catch(async () => {
    throw new Error(
      `no ${role} ${String(name)} among ${(await all()).map((one) => `${one.role} "${one.name}"`).join(", ")}`,
    );
  });
const names = async (role: string) => (await all()).filter((one) => one.role === role).map(({ name }) => name);
async function enter(role: string, name: string): Promise<void> {
  for (let i = 0; i < 60; i++) {
    await browser.press("Tab");
    const at = await focused(browser);
    if (at?.role === role && at.name === name) return browser.press("Enter");
  }
  throw new Error(`Tab never came to ${role} "${name}"`);
}
async function chooseZip(name: string, bytes: Uint8Array | string): Promise<void> {
  await Bun.write(`${folder.path}/${name}`, bytes);
  const found = await until2(async () => (await all()).find((one) => one.name.startsWith("Zip file")));
  await browser.cdp("DOM.setFileInputFiles", { backendNodeId: found.dom_node, files: [`${folder.path}/${name}`] });
}
async function until2<T>(look: () => Promise<T | undefined>): Promise<T> {
  let found: T | undefined;
  await until(async () => (found = await look()) !== undefined);
  return found!;
}

const text = async (): Promise<string> => {
  const root = await browser.cdp<{ root: { nodeId: number } }>("DOM.getDocument");
  const { nodeId } = await browser.cdp<{ nodeId: number }>("DOM.querySelector", {
    nodeId: root.root.nodeId,
    selector: "body",
  });
  return (await browser.cdp<{ outerHTML: string }>("DOM.getOuterHTML", { nodeId })).outerHTML;
};
/** Once the stylesheet is there. */
const buttonsAre = (...wanted: string[]) =>
  until(async () => (await names("button")).join() === wanted.join()).catch(async () =>
    expect(await names("button")).toEqual(wanted),
  );

describe("WEB 4.8: without script", () => {
  test("a zip by the form: the receipt is the answer, and its reload makes no second site", async () => {
    await open("/");
    await buttonsAre("Zip file", "Publish");
    await chooseZip("site.zip", zipOf({ "index.html": PAGE }));
    await enter("button", "Publish");
    await has("heading", "Your site is live");
    await has("link", "Keep this site");
    await has("link", "Publish another");
    await buttonsAre();
    expect(server.rows("sites")).toBe(1);
    const before = await text();
    const [site] = /site_\w{20}/.exec(before)!;
    const [token] = /svc_manage_[\w-]+/.exec(before)!;
    await browser.cdp("Page.reload");
    await until(async () => !(await text().catch(() => token)).includes(token)); // a fresh one each time
    await has("heading", "Your site is live");
    expect(await text()).toContain(site);
    expect(server.rows("sites")).toBe(1);
  }, 60_000);

  test("what is no zip is refused in the page, and the field says so", async () => {
    await open("/");
    await chooseZip("wrong.zip", "no zip");
    await enter("button", "Publish");
    await has("RootWebArea", /^Error: svc: /);
    expect((await names("StaticText")).join(" ")).toContain("these bytes are no zip file");
    expect((await all()).find(({ name, role }) => role === "button" && name === "Zip file")?.is["invalid"]).toBe(
      "true",
    );
  }, 60_000);

  test("with an account: the site's page, then its next version, then the same again", async () => {
    const ann = await visitorOf(server);
    const [name, value] = ann.cookie.split("=") as [string, string];
    await browser.cdp("Network.setCookie", { name, value, url: server.base_url, httpOnly: true, sameSite: "Lax" });
    await open("/");
    await chooseZip("mine.zip", zipOf({ "index.html": PAGE, "mine.txt": "1" }));
    await enter("button", "Publish");
    await has("heading", /^Your new version is live$/);
    for (const [zip, heading] of [
      ["2", /^Your new version is live$/],
      ["2", "No changes: this version is live already"],
    ] as const) {
      await chooseZip(`${zip}.zip`, zipOf({ "index.html": PAGE, "mine.txt": zip }));
      await enter("button", "Publish");
      await until(async () => (await names("link")).filter((one) => one.startsWith("Open version")).length === 2);
      await has("heading", heading);
    }
    await has("button", /^Make [0-9a-f]{16} live$/);
    await enter("button", "Sign out");
    await has("link", "Sign in");
  }, 60_000);
});
