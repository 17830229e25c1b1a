/** The documents of the feed (COMMENTS 1): each MUST of the Web Annotation model and of its protocol over all that the
 *  server can say, and JSON-LD that loses nothing. */
import { describe, expect, test } from "bun:test";
import { feedDocuments } from "../../src/comments/feed.ts";
import { FEED_INLINE, FEED_PAGE, type FeedAsked, type FeedItem } from "../../src/comments/types.ts";
import { ANNOTATION } from "./w3c/annotation-rules.ts";
import { COLLECTION, CONTAINER, PAGE } from "./w3c/collection-rules.ts";
import { asked, EVENTS, KINDS, SITE, some } from "./w3c/items.ts";
import { losses } from "./w3c/lossless.ts";
import { type Document, isRecord, type Rule } from "./w3c/rule.ts";

const SIZES = [0, 1, FEED_PAGE, FEED_PAGE + 1, FEED_INLINE, FEED_INLINE + 1, 500];
const FEED = `${SITE.origin}/comments.json`;

const told = (document: object): Document => JSON.parse(JSON.stringify(document));

/** As the server tells it: with its items where they are few enough. */
const collectionOf = (items: readonly FeedItem[], w3c = true, over: Partial<FeedAsked> = {}): Document =>
  told(feedDocuments.collection(asked(items, over), items.length <= FEED_INLINE ? items : [], w3c));

function pagesOf(items: readonly FeedItem[], over: Partial<FeedAsked> = {}): Document[] {
  const count = Math.ceil(items.length / FEED_PAGE);
  const slices = Array.from({ length: count }, (_, n) => items.slice(n * FEED_PAGE, (n + 1) * FEED_PAGE));
  return slices.map((slice, n) => told(feedDocuments.page(asked(items, over), n, slice)));
}

const containerOf = (items: readonly FeedItem[], over: Partial<FeedAsked> = {}): Document =>
  told(feedDocuments.container(asked(items, { id: `${SITE.origin}/_svc/comments/`, ...over }), FEED));

const annotations = Object.values(KINDS).map((item) => told(feedDocuments.annotation(SITE, item)));
const history = told(feedDocuments.history(SITE, "c_01JD8Q4V5W", EVENTS));
const histories = (history.first as Document).items as Document[];

/** Where the feed of a page is told, in each way that there is; and items as their addresses alone. */
const PLACES: Partial<FeedAsked>[] = [
  {},
  { id: `${SITE.origin}/guide.comments.json`, page: "/guide.html" },
  { id: `${SITE.origin}/_svc/comments/feed.json?source=%2Fguide.html`, page: "/guide.html" },
  { iris: true },
];
const everySize = SIZES.flatMap((size) => PLACES.map((place) => [some(size), place] as const));
const collections = [
  ...everySize.map(([items, place]) => collectionOf(items, true, place)),
  ...[0, 1, 500].map((size) => told(feedDocuments.exported(SITE, "Quiet Heron", some(size)))),
  history,
];
const pages = everySize.flatMap(([items, place]) => pagesOf(items, place));
const containers = SIZES.flatMap((size) => [containerOf(some(size)), containerOf(some(size), { iris: true })]);

const breaches = (documents: readonly Document[], { holds }: Rule): Document[] =>
  documents.filter((document) => !holds(document));

describe.each([
  ["annotation", [...annotations, ...histories], ANNOTATION],
  ["collection", collections, COLLECTION],
  ["page", pages, PAGE],
  ["container", containers, CONTAINER],
] as const)("COMMENTS 1: every %s is one by the W3C's rules", (_kind, documents, rules) => {
  test.each(rules.map((rule) => [rule.rule, rule] as const))("%s", (_rule, rule) => {
    expect(breaches(documents, rule)).toEqual([]);
    const broken = documents.map((document) => rule.broken(document)).filter((document) => document !== null);
    expect(broken.length).toBeGreaterThan(0);
    expect(broken.filter((document) => rule.holds(document))).toEqual([]);
  });
});

test("COMMENTS 1, decision 4: an item of a collection or page is an annotation by itself, its context with it", () => {
  const items = [...collections, ...pages].flatMap(
    ({ orderedItems, items }) => (orderedItems ?? items ?? []) as unknown[],
  );
  const whole = items.filter(isRecord);
  expect(whole.length).toBeGreaterThan(1000);
  for (const rule of ANNOTATION) expect(breaches(whole, rule)).toEqual([]);
});

describe("COMMENTS 1, decisions 1 and 2: no key is lost, and no word becomes an address", () => {
  test.each([
    ["annotation", [...annotations, ...histories]],
    ["collection", collections],
    ["collection in SPEC's words", SIZES.map((size) => collectionOf(some(size), false))],
    ["page", pages],
    ["container", containers],
  ])(
    "of every %s",
    async (_kind, documents) => {
      expect(documents.length).toBeGreaterThan(0);
      for (const document of documents) expect(await losses(document, FEED)).toEqual([]);
    },
    60_000,
  );

  test.each([
    ["a status without a vocabulary", { status: "resolved" }],
    ["a state of ours on the annotation", { state: "resolved" }],
    ["a class that the context does not know", { type: "OrderedCollection" }],
  ])("the check sees %s", async (_trap, members) => {
    const trapped = { ...annotations[0], ...members };
    const seen = await losses(trapped, FEED).catch((error: Error) => [error.message]);
    expect(seen).not.toEqual([]);
  });
});

describe("COMMENTS 1: what is told, to the letter", () => {
  const design = Bun.file(new URL("../../docs/design/comments.md", import.meta.url));
  const example = async (start: string): Promise<Document> => {
    const blocks = (await design.text()).matchAll(/```json\n([\s\S]*?)```/g);
    const found = [...blocks].map(([, json]) => json!).find((json) => json.replace(/\s/g, "").includes(start));
    return JSON.parse(found!);
  };

  test("the example of a passage that is commented, edited and resolved", async () => {
    expect(told(feedDocuments.annotation(SITE, KINDS["resolved root"]!))).toEqual(
      await example('"resolved","schema:comm'),
    );
  });

  test("the example of an agent's reply", async () => {
    const item = { ...KINDS["agent's reply"]!, text: "Fixed in the last deploy." };
    const times = { created_at: "2026-11-21T10:05:00Z", modified_at: "2026-11-21T10:05:00Z" };
    expect(told(feedDocuments.annotation(SITE, { ...item, ...times }))).toEqual(await example('"Software"'));
  });

  test("the example of a page's feed", async () => {
    const id = "c_01JD8QPAGE";
    const first = { ...KINDS["root of a page"]!, id, thread_id: id, text: "Nice page", replies: 1 };
    const opened = { created_at: "2026-11-21T09:31:00Z", modified_at: "2026-11-21T09:31:00Z" };
    const answered = { created_at: "2026-11-21T10:05:00Z", modified_at: "2026-11-21T10:05:00Z" };
    const second = { ...KINDS["owner's reply"]!, id: "c_01JD8QPRE1", thread_id: id, text: "Thank you" };
    const items = [
      { ...first, ...opened },
      { ...second, ...answered },
    ];
    const place = { id: `${SITE.origin}/guide.comments.json`, page: "/guide.html" };
    expect(collectionOf(items, false, place)).toEqual(await example('"totalItems":2'));
  });

  test("the example of a page of a long feed, but for what it leaves out of its item", async () => {
    const items = some(120);
    const whole = asked(items, { modified_at: "2026-11-21T10:05:00Z" });
    const page = told(feedDocuments.page(whole, 1, items.slice(50, 100)));
    const { items: _items, ...frame } = await example('"startIndex":50');
    expect(page).toMatchObject(frame);
    expect(Object.keys(page).sort()).toEqual([...Object.keys(frame), "items"].sort());
    expect(page.items).toHaveLength(50);
  });

  test("the example of the container, and of a line of a history", async () => {
    const whole = { ...asked(some(120)), modified_at: "2026-11-21T10:05:00Z", id: `${SITE.origin}/_svc/comments/` };
    expect(told(feedDocuments.container(whole, FEED))).toEqual(await example("BasicContainer"));
    expect(histories[0]).toEqual(await example('"moderating"'));
  });

  test("SPEC's word stands alone unless the profile is asked for (ruling 5)", () => {
    expect(collectionOf(some(1), false).type).toBe("OrderedCollection");
    expect(collectionOf(some(1), true).type).toEqual(["OrderedCollection", "AnnotationCollection"]);
  });

  test("an empty collection has neither first nor last, and a total of 0", () => {
    const empty = collectionOf([], false);
    expect(empty).toMatchObject({ total: 0, totalItems: 0, orderedItems: [] });
    expect(Object.keys(empty)).not.toContain("first");
    expect(Object.keys(empty)).not.toContain("modified");
  });

  test.each(SIZES)("of %i comments all are told, oldest first, and inline up to 100", (size) => {
    const items = some(size);
    const ids = items.map(({ id }) => `${SITE.origin}/_svc/comments/${id}`);
    const idsOf = (listed: unknown): unknown[] => (listed as Document[]).map(({ id }) => id);
    expect(pagesOf(items).flatMap(({ items: listed }) => idsOf(listed))).toEqual(ids);
    expect(pagesOf(items, { iris: true }).flatMap(({ items: listed }) => listed)).toEqual(ids);
    const { orderedItems } = collectionOf(items);
    if (size <= 100) expect(idsOf(orderedItems)).toEqual(ids);
    else expect(orderedItems).toBeUndefined();
  });

  test("ruling 1: the selector is a list of one text quote, whatever else the server knows", () => {
    const item = {
      ...KINDS.root!,
      place: { version_id: "x", start: 1, end: 2 },
      element: "#secret",
      carried: "edited",
    };
    const text = JSON.stringify(feedDocuments.annotation(SITE, item));
    expect(text).not.toMatch(/secret|position|start|carried/i);
    const { target } = JSON.parse(text);
    expect(target.selector.map(({ type }: Document) => type)).toEqual(["TextQuoteSelector"]);
  });

  test("ruling 2: the version it was written on is seen at its own host", () => {
    const { target } = told(feedDocuments.annotation(SITE, KINDS["root on an encoded page"]!)) as { target: Document };
    expect(target.state).toMatchObject({
      cached: "https://3f9a1c0b77de4410--demo.sites.example/%C3%BCber%20uns/it's.html",
    });
  });
});
