/** `bun bench/feed.ts`: what one answer of a feed costs the serving thread, of a site with 5,000 comments, the most that one
 *  may have, beside one with 100: in the store, and over HTTP with an unchanged one. Median of 200, in milliseconds. */
import { openStore } from "../src/store/index.ts";
import { pageWithComments, writeComments } from "../test/kit/many-comments.ts";
import { bearer } from "../test/kit/people.ts";
import { type DeployResult, JSON_TYPE, startServer } from "../test/kit/server.ts";

const RUNS = 200;

async function median(work: () => Promise<unknown>): Promise<string> {
  const took: number[] = [];
  for (let run = -20; run < RUNS; run++) {
    const begun = performance.now();
    await work();
    if (run >= 0) took.push(performance.now() - begun);
  }
  return took.sort((a, b) => a - b)[RUNS / 2]!.toFixed(2);
}

await using server = await startServer();
const store = await openStore({ data_dir: server.data_dir, now: server.now });

async function siteWith(count: number): Promise<DeployResult> {
  const site = await server.deploy({ "index.html": "<p>Hello</p>", "page-0.html": "<p>Hello</p>" });
  const headers = { ...JSON_TYPE, ...bearer(site.manage_token) };
  const body = JSON.stringify({ mode: "anonymous" });
  await server.api(`/sites/${site.site_id}/comments/settings`, { method: "PATCH", headers, body });
  await writeComments(store.notes, site, count);
  return site;
}

const ROWS: readonly (readonly [name: string, path: string, page: string | null, from: number])[] = [
  ["collection", "/comments.json", null, 0],
  ["first page", "/comments.json?page=0", null, 0],
  ["last page", "/comments.json?page=last", null, Infinity],
  ["of one page", "/page-0.comments.json?page=0", pageWithComments(0), 0],
];

for (const count of [100, 5000]) {
  const site = await siteWith(count);
  const last = count / 50 - 1;
  for (const [name, path, page, from] of ROWS) {
    const address = path.replace("last", String(last));
    const begin = Math.min(from, last * 50);
    const ask = (headers: Record<string, string> = {}) => server.site(site.slug, address, { headers });
    const etag = (await ask()).headers.get("etag")!;
    const read = await median(() => store.notes.feed(site.site_id, page, begin, name === "collection" ? 0 : 50));
    const whole = await median(async () => (await ask()).text());
    const unchanged = await median(async () => (await ask({ "if-none-match": etag })).text());
    console.log(`${String(count).padStart(5)} ${name.padEnd(12)} store ${read}  answer ${whole}  304 ${unchanged}`);
  }
}
await store.close();
