/** COMMENTS 1: a feed of 5,000 comments, as many as a site may have, is told page by page. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { openStore, type Store } from "../../src/store/index.ts";
import { cpuOfAsync } from "../kit/cpu.ts";
import { pageWithComments, writeComments } from "../kit/many-comments.ts";
import { sharedServer } from "../kit/shared.ts";
import { type CommentedSite, commentedSite, FREELY, PAGE } from "./commented.ts";
import { COLLECTION, PAGE as PAGE_RULES } from "./w3c/collection-rules.ts";
import { type Document } from "./w3c/rule.ts";

const MOST = 5000;
const FEW = 100;

let store: Store;
let full: CommentedSite;
let small: CommentedSite;
const server = await sharedServer(FREELY);
beforeAll(async () => {
  const files = { "index.html": PAGE, "page-0.html": PAGE };
  [full, small] = [await commentedSite(server, "anonymous", files), await commentedSite(server, "anonymous", files)];
  store = await openStore({ ...server.address, now: server.now });
  await writeComments(store.notes, full.site, MOST);
  await writeComments(store.notes, small.site, FEW);
}, 120_000);
afterAll(async () => {
  await store.close();
});

test("all of them are told once, in pages of 50 that lead to each other, by the W3C's rules", async () => {
  const reader = full.visitor();
  const accept = 'application/ld+json; profile="http://www.w3.org/ns/anno.jsonld"';
  const { body, text } = await reader.send("/comments.json", { headers: { accept } });
  expect([body.total, body.orderedItems, text.length < 2000]).toEqual([MOST, undefined, true]);
  expect(COLLECTION.filter((rule) => !rule.holds(body))).toEqual([]);
  const texts: string[] = [];
  let page: Document = { next: body.first };
  while (page.next !== undefined) {
    page = (await reader.send(String(page.next).slice(full.origin.length))).body;
    expect(PAGE_RULES.filter((rule) => !rule.holds(page))).toEqual([]);
    texts.push(...(page.items as { body: { value: string } }[]).map((item) => item.body.value.split(" ").at(-1)!));
  }
  expect(page.id).toBe(body.last);
  expect(texts).toEqual(Array.from({ length: MOST }, (_, n) => String(n)));
}, 60_000);

test("one page of so many is no whole reading: it takes a few times what a page of a hundred takes", async () => {
  const times = 40;
  const cpuOf = async (site_id: string, page: string | null, from: number, count = 50): Promise<number> => {
    const read = async (): Promise<void> => {
      for (let n = 0; n < times; n++) await store.notes.feed(site_id, page, from, count);
    };
    await read();
    let least = Infinity;
    for (let run = 0; run < 5; run++) least = Math.min(least, await cpuOfAsync(read));
    return least;
  };
  const one = await cpuOf(small.site.site_id, null, 50);
  const of = full.site.site_id;
  // Counting and skipping the others is all that is added.
  for (const from of [0, MOST / 2, MOST - 50]) expect(await cpuOf(of, null, from)).toBeLessThan(8 * one);
  expect(await cpuOf(of, pageWithComments(0), 0)).toBeLessThan(6 * one);
  expect(await cpuOf(of, null, 0, MOST)).toBeGreaterThan(12 * one);
}, 60_000);

test("the feed of one page is found by its page", async () => {
  const { body } = await full.visitor().send("/page-0.comments.json");
  expect(body.total).toBe(MOST / 25);
  const { items } = (await full.visitor().send("/page-0.comments.json?page=3")).body;
  expect(items).toHaveLength(50);
});
