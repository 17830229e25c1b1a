/** WEB 10 with the render engine on: what a browser saw of a page, who may say what it likes, makes no page of ours heavy. */
import { beforeAll, describe, expect, test } from "bun:test";
import { write } from "../kit/database.ts";
import { addSites, addVersions } from "../kit/many.ts";
import { type DeployResult } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { type Visitor, visitorOf } from "../kit/visitor.ts";

let ann: Visitor;
let site: DeployResult;
/** What no coding makes shorter. */
const noise = (length: number): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(length)))
    .toString("base64")
    .slice(0, length);
const fifty = <T>(one: (n: number) => T): T[] => Array.from({ length: 50 }, (_, n) => one(n));

const server = await sharedServer({ SVC_RENDER: "chrome", SVC_CHROME: "/nowhere" });
beforeAll(async () => {
  ann = await visitorOf(server);
  site = await ann.deploy({ "index.html": "<!doctype html><title>Loud</title>x" });
  addSites(server.data_dir, site, 99);
  addVersions(server.data_dir, site, 99);
  const seen = {
    console: fifty((n) => ({ level: "error", text: `said ${n} ${noise(490)}`, url: null, line: null })),
    failed_requests: fifty((n) => ({
      url: `/asked-${n}-${noise(490)}`,
      method: "GET",
      status: null,
      reason: noise(500),
    })),
    dom_summary: { title: noise(500), headings: fifty(() => noise(500)), links: 1, images: 1, text_length: 1 },
  };
  const warnings = Array.from({ length: 15 }, (_, n) => ({
    code: "script_error",
    message: `Error ${n}: ${noise(300)}`,
    path: "index.html",
    fix_recipe: `Mend ${noise(100)}.`,
  }));
  write(server.data_dir, "delete from renders");
  write(
    server.data_dir,
    `insert into renders (version_no, site_id, status, asked_at, seen, warned, warnings)
     select version_no, site_id, 'done', 1, ?, 15, ? from versions`,
    JSON.stringify(seen),
    JSON.stringify(warnings),
  );
  write(
    server.data_dir,
    "insert into pictures (version_no, size, blob_no) select version_no, 'desktop', (select min(blob_no) from blobs) from versions",
  );
}, 60_000);

const LIGHT = 30 * 1024; // stylesheet, scripts and icon make up the 40 KB

describe("WEB 10: pages weigh little with the engine on, their pictures aside, which load as they are seen", () => {
  test.each([
    ["a list of sites", () => "/dashboard"],
    ["a site that said much", () => `/dashboard/sites/${site.site_id}`],
    ["its further versions", () => `/dashboard/sites/${site.site_id}/versions`],
  ])("%s", async (_, path) => {
    const headers = { cookie: ann.cookie, accept: "text/html", "accept-encoding": "gzip" };
    const response = await server.api(path(), { headers, decompress: false } as RequestInit);
    const bytes = new Uint8Array(await response.arrayBuffer());
    expect(bytes.byteLength).toBeLessThan(LIGHT);
    const html = new TextDecoder().decode(Bun.gunzipSync(bytes));
    const pictures = [...html.matchAll(/<img[^>]*screenshots[^>]*>/g)].map(([tag]) => tag);
    expect(pictures.length).toBeGreaterThan(5);
    expect(pictures.filter((tag) => !tag.includes('loading="lazy"'))).toEqual([]);
  });
});

test("WEB 6: of what a page said the first is shown, and how much more there is", async () => {
  const { text } = await ann.read(`/dashboard/sites/${site.site_id}`);
  const told = ["50 requests failed", "50 lines on the console", "said 0 ", "and 30 more", "said 49 "];
  expect(told.filter((words) => text.includes(words))).toEqual(told.slice(0, -1));
});
