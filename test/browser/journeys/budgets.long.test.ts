/** WEB 10 by the wire itself: what every page weighs in Chromium with an empty cache, headers and icons included. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startServer, type TestServer } from "../../kit/server.ts";
import { type Visitor, visitorOf } from "../../kit/visitor.ts";
import { type Browser, openBrowser } from "../chromium.ts";
import { enter } from "../entering.ts";

interface Arrived {
  encodedDataLength: number;
}

let server: TestServer;
let browser: Browser;
let ann: Visitor;
const arrived: number[] = [];
beforeAll(async () => {
  server = await startServer();
  browser = await openBrowser({ cold: true });
  browser.on<Arrived>("Network.loadingFinished", ({ encodedDataLength }) => arrived.push(encodedDataLength));
  ann = await visitorOf(server);
}, 60_000);
afterAll(async () => {
  await browser.close();
  await server[Symbol.asyncDispose]();
});

async function weigh(path: string) {
  await browser.cdp("Network.clearBrowserCache");
  await browser.visit("about:blank");
  arrived.length = 0;
  const { failures, messages } = await browser.visit(server.base_url + path);
  return { failures, messages, requests: arrived.length, bytes: arrived.reduce((sum, one) => sum + one, 0) };
}
const KB = 1024;
async function holds(path: string): Promise<void> {
  const { failures, messages, requests, bytes } = await weigh(path);
  expect([path, failures, messages]).toEqual([path, [], []]);
  expect(requests).toBeGreaterThanOrEqual(2);
  expect(requests).toBeLessThanOrEqual(8);
  expect(bytes).toBeLessThanOrEqual((path === "/" ? 60 : 40) * KB);
}

const chapters = async (): Promise<string[]> => {
  const index = await (await server.api("/docs", { headers: { accept: "text/html" } })).text();
  return [...new Set([...index.matchAll(/href="(\/docs\/[\w-]+)"/g)].map(([, path]) => path!))];
};

describe("WEB 10: 60 KB for the start page, 40 KB for every other, in 8 requests at most", () => {
  test("for whoever is signed out, each chapter of the manual included", async () => {
    const docs = await chapters();
    expect(docs.length).toBeGreaterThan(5);
    for (const path of ["/", "/signin", "/signup", "/claim/site_x", "/docs", ...docs]) await holds(path);
  }, 120_000);

  test("for an account with thirty sites, one of them with many warnings and versions", async () => {
    await enter(browser, server, ann);
    const site = await ann.deploy({ "index.html": "<!doctype html><title>0</title>" });
    for (let i = 1; i <= 12; i++) {
      const broken = Array.from({ length: 60 }, (_, n) => `<img src="missing-${n}.png">`).join("");
      await ann.redeploy(site, { "index.html": `<!doctype html><title>${i}</title>${broken}` });
    }
    for (let i = 0; i < 30; i++) await ann.deploy({ "index.html": `<!doctype html><title>Site ${i}</title>` });
    const at = `/dashboard/sites/${site.site_id}`;
    for (const path of ["/", "/dashboard", "/dashboard/account", "/dashboard/account/delete", "/device", at])
      await holds(path);
    for (const more of ["/changes", "/delete"]) await holds(at + more);
  }, 120_000);
});
