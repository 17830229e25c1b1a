/** Sites that others made, deployed by the library over the real API and opened in a real browser. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { deploySite } from "../../lib.ts";
import { type TestServer, startServer } from "../kit/server.ts";
import { BUILDS } from "./builds.ts";
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

test.each(BUILDS)(
  "$name opens without a failed request, an error or a blank page",
  async ({ files, pages, spa }) => {
    const { url, site_id, manage_token } = await deploySite({ files: await files(), baseUrl: server.base_url });
    for (const [path, shown] of Object.entries(pages)) {
      const { failures, text } = await browser.visit(url + path, shown);
      expect(failures).toEqual([]);
      expect(text).toContain(shown);
    }
    const record = await server.api(`/sites/${site_id}`, { headers: { authorization: `Bearer ${manage_token}` } });
    expect(await record.json()).toMatchObject({ spa: { enabled: spa } });
  },
  60_000,
);

test("what goes wrong on a page is seen: a missing file, a thrown error, a console error, a request to elsewhere", async () => {
  const page = `<!doctype html><title>Broken</title><p>Here</p><img src="gone.png"><script src="https://elsewhere.example/x.js"></script>
    <script>console.error("told"); throw new Error("thrown");</script>`;
  const { url } = await server.deploy({ "index.html": page });
  const { failures, text } = await browser.visit(url);
  expect(text).toBe("Here");
  const seen = failures.toSorted().map((failure) => failure.split("\n")[0]!);
  expect(seen).toEqual([
    `404 ${url}/gone.png`,
    "Error: thrown",
    "console: told",
    "net::ERR_NAME_NOT_RESOLVED https://elsewhere.example/x.js",
  ]);
});
