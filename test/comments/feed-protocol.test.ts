/** The Web Annotation Protocol over HTTP (COMMENTS 1), each MUST of it a check; and the model's rules over all that a living
 *  site tells, found as a stranger finds it: from a page's Link. */
import { beforeAll, describe, expect, test } from "bun:test";
import { sharedServer } from "../kit/shared.ts";
import { type Answered, type CommentedSite, commentedSite, FREELY, type Visitor } from "./commented.ts";
import { ANNOTATION } from "./w3c/annotation-rules.ts";
import { COLLECTION, CONTAINER, PAGE } from "./w3c/collection-rules.ts";
import { ODD_TEXTS } from "./w3c/items.ts";
import { losses } from "./w3c/lossless.ts";
import { ANNO, type Document, isRecord, type Rule } from "./w3c/rule.ts";

const LD_JSON = `application/ld+json; profile="${ANNO}"`;
const QUOTE = { type: "TextQuoteSelector", exact: "two seconds", prefix: "finish in ", suffix: " and return" };

let place: CommentedSite;
let ann: Visitor;
let root: string;
const server = await sharedServer(FREELY);
beforeAll(async () => {
  place = await commentedSite(server);
  ann = place.visitor();
  const owner = await place.owner();
  const target = { source: `${place.origin}/guide.html`, selector: [QUOTE] };
  root = String((await ann.post("On a passage", "/guide.html", { target })).body.id)
    .split("/")
    .at(-1)!;
  await owner.reply("An answer", root);
  await place.decide(root, "resolve", "done");
  const edited = await ann.say("On the page", "/guide.html");
  await ann.edit(edited, "On the whole page");
  await owner.say("The owner's", "/docs/");
  const texts = ODD_TEXTS.filter((text) => !/[\0-\x08]/.test(text) && (text.match(/https?:/g)?.length ?? 0) <= 2);
  for (const text of texts) await place.visitor().say(`${text} `, "/");
});

/** Of an absolute address. */
const get = (visitor: Visitor, address: unknown, headers: Record<string, string> = {}): Promise<Answered> =>
  visitor.send(String(address).slice(visitor.place.origin.length), { headers });

/** The address of a Link with this relation. */
function linked(headers: Headers, rel: string): string | undefined {
  const members = (headers.get("link") ?? "").matchAll(/<([^>]*)>((?:;\s*\w+="[^"]*")*)/g);
  const found = [...members].find(([, , parameters]) =>
    /rel="([^"]*)"/.exec(parameters!)![1]!.split(" ").includes(rel),
  );
  return found?.[1];
}

const broken = (document: Document, rules: readonly Rule[]): string[] =>
  rules.filter((rule) => !rule.holds(document)).map(({ rule }) => rule);

describe("Annotation Protocol 4: the container, as a stranger finds it", () => {
  const found = async (): Promise<Answered> => {
    const { headers } = await ann.send("/guide.html");
    const address = linked(headers, "http://www.w3.org/ns/oa#annotationService")!;
    expect(address).toBe("/_svc/comments/");
    return place.visitor().send(address);
  };

  test("4: its address ends in a slash, and the annotations lie one step below it", async () => {
    const { body } = await found();
    expect(body.id).toEndWith("/");
    const { items } = (await get(ann, body.first)).body;
    expect(items.length).toBeGreaterThan(10);
    for (const { id } of items) expect(id).toStartWith(body.id);
    for (const { id } of items) expect(id.slice(body.id.length)).toMatch(/^[^/]+$/);
  });

  test("4.1: GET without Accept is its description in JSON-LD, by LDP's context and the model's", async () => {
    const { status, headers, body } = await found();
    expect([status, headers.get("content-type")]).toEqual([200, LD_JSON]);
    expect(broken(body, CONTAINER)).toEqual([]);
    expect(await losses(body, body.id)).toEqual([]);
  });

  test.each(["GET", "HEAD", "OPTIONS"])(
    "4.1: %s is answered 200 and says all that one may do, and what to send",
    async (method) => {
      const { status, headers } = await ann.send("", { method });
      expect([status, headers.get("allow")]).toEqual([200, "GET, HEAD, OPTIONS, POST"]);
      expect(headers.get("accept-post")).toBe(LD_JSON);
      expect(linked(headers, "type")).toBe("http://www.w3.org/ns/ldp#BasicContainer");
      expect(linked(headers, "http://www.w3.org/ns/ldp#constrainedBy")).toBe(
        "http://www.w3.org/TR/annotation-protocol/",
      );
      expect(headers.get("vary")!.split(", ")).toContain("Accept");
    },
  );

  test("4.1: every answer of it has its entity tag, and OPTIONS is no GET that a client may hold", async () => {
    const etag = (await ann.send("")).headers.get("etag")!;
    for (const method of ["HEAD", "OPTIONS"]) expect((await ann.send("", { method })).headers.get("etag")).toBe(etag);
    const held = await ann.send("", { method: "OPTIONS", headers: { "if-none-match": etag } });
    expect(held.status).toBe(200);
  });

  test("4.1: has an entity tag, which changes with what it contains", async () => {
    const own = await commentedSite(server);
    const tag = async (): Promise<string | null> => (await own.visitor().send("")).headers.get("etag");
    const before = await tag();
    await own.visitor().say("one");
    expect(before).toMatch(/^"[^"]+"$/);
    expect(await tag()).not.toBe(before);
  });

  test("4.1.3: says in Content-Location which representation it is, and Vary has Prefer", async () => {
    const { headers, body } = await found();
    expect(headers.get("content-location")).toBe(body.id);
    expect(headers.get("vary")).toBe("Accept, Prefer");
  });

  const PREFER = 'return=representation;include="';
  test.each([
    [`${PREFER}http://www.w3.org/ns/ldp#PreferMinimalContainer"`, "", "return=representation"],
    [`${PREFER}http://www.w3.org/ns/oa#PreferContainedDescriptions"`, "", "return=representation"],
    [`${PREFER}http://www.w3.org/ns/oa#PreferContainedIRIs"`, "?iris=1", "return=representation"],
    [
      `respond-async, return=representation; include="urn:x http://www.w3.org/ns/oa#PreferContainedIRIs"`,
      "?iris=1",
      "return=representation",
    ],
    [`${PREFER}urn:x"`, "", null],
    ["return=minimal", "", null],
  ])("4.1.1: Prefer: %s", async (prefer, query, applied) => {
    const { headers, body } = await ann.send("", { headers: { prefer } });
    expect(body.id).toBe(`${place.origin}/_svc/comments/${query}`);
    expect(headers.get("content-location")).toBe(body.id);
    expect(headers.get("preference-applied")).toBe(applied);
    expect(broken(body, CONTAINER)).toEqual([]);
    // What was preferred is in the addresses of the pages: nobody sends it again.
    const { items } = (await get(ann, body.first)).body;
    for (const item of items) expect(isRecord(item)).toBe(query === "");
    expect((await get(ann, body.id)).body).toEqual(body);
  });

  test("4.1.3: by addresses alone the same comments are told, in the same order", async () => {
    const [whole, iris] = [await ann.send("/comments.json"), await ann.send("/comments.json?iris=1")];
    expect(iris.body.id).toBe(`${place.origin}/comments.json?iris=1`);
    expect(iris.body.orderedItems).toEqual(whole.body.orderedItems.map(({ id }: Document) => id));
    expect((await get(ann, iris.body.first)).body.partOf.id).toBe(iris.body.id);
    expect(iris.headers.get("etag")).not.toBe(whole.headers.get("etag"));
  });
});

describe("Annotation Protocol 3: an annotation at its own address", () => {
  test.each(["GET", "HEAD", "OPTIONS"])("%s is answered 200 with what one may do", async (method) => {
    const { status, headers } = await ann.send(root, { method });
    expect([status, headers.get("allow")]).toEqual([200, "GET, HEAD, OPTIONS, PUT, DELETE"]);
    expect(headers.get("vary")!.split(", ")).toContain("Accept");
  });

  test.each(["GET", "HEAD"])(
    "%s has JSON-LD by the model's profile, a type in Link, and an entity tag",
    async (method) => {
      const { headers } = await ann.send(root, { method });
      expect(headers.get("content-type")).toBe(LD_JSON);
      expect(linked(headers, "type")).toBe("http://www.w3.org/ns/ldp#Resource");
      expect(headers.get("etag")).toMatch(/^"a\d+"$/);
    },
  );

  test("is what its feed tells of it, and is not sent again to who holds it", async () => {
    const { orderedItems } = (await ann.send("/guide.comments.json")).body;
    for (const item of orderedItems) {
      const { body, headers } = await get(place.visitor(), item.id);
      expect(body).toEqual(item);
      const held = await get(place.visitor(), item.id, { "if-none-match": headers.get("etag")! });
      expect([held.status, held.text]).toEqual([304, ""]);
    }
  });

  test("5.3: a change is answered with its new state, whatever the client holds", async () => {
    const own = await commentedSite(server);
    const one = own.visitor();
    const id = await one.say("first");
    const body = one.annotation("second", "x");
    const headers = { "if-match": '"a1"', "if-none-match": "*" };
    const changed = await one.send(id, { method: "PUT", body, headers });
    expect([changed.status, changed.body?.body.value]).toEqual([200, "second"]);
  });

  test.each([
    ["urn:uuid:x y"],
    ["urn:uuid:<x>"],
    ['urn:uuid:"'],
    ["urn:uuid:"],
    ["x"],
    [""],
    [1],
    [["urn:uuid:1", "urn:uuid:2"]],
    ["javascript:alert(1)"],
    ["data:text/html,x"],
    ["file:///etc/passwd"],
    ["mailto:a@example.org"],
    ["urn:isbn:0451450523"],
    ["https:evil"],
    [" https://example.org/1"],
  ])("3.3.7: a canonical that is neither urn:uuid: nor an http(s) address is refused: %j", async (canonical) => {
    const { status, body } = await ann.post("I like this page!", "/guide.html", { canonical });
    expect([status, body.code]).toEqual([400, "invalid_annotation"]);
  });

  test.each([["urn:uuid:5c1d"], ["https://example.org/notes/1"], ["http://example.org/ä"], ["URN:UUID:5C1E"]])(
    "3.3.7: a canonical that is one of these is kept: %j",
    async (canonical) => {
      const { status, body } = await place.visitor().post("I like this page!", "/guide.html", { canonical });
      expect([status, body.canonical]).toEqual([201, canonical]);
    },
  );

  test("5: what is created is answered 201 as it then is, with its address and the client's own name for it", async () => {
    const canonical = "urn:uuid:dbfb1861-0ecf-41ad-be94-a584e5c4f1df";
    const own = await commentedSite(server);
    const one = own.visitor();
    const { status, headers, body } = await one.post("I like this page!", "/guide.html", { canonical });
    expect([status, body.canonical, headers.get("location")]).toEqual([201, canonical, body.id]);
    expect(linked(headers, "type")).toBe("http://www.w3.org/ns/ldp#Resource");
    expect(headers.get("vary")!.split(", ")).toEqual(expect.arrayContaining(["Accept", "Prefer"]));
    expect(headers.get("etag")).toMatch(/^"a\d+"$/);
    expect(broken(body, ANNOTATION)).toEqual([]);
    expect(await losses(body, body.id)).toEqual([]);
    const id = body.id.split("/").at(-1);
    expect((await own.visitor().send("/comments.json")).body.orderedItems).toEqual([body]);
    const changed = await one.edit(id, "I love this page!");
    expect([changed.status, changed.body.body.value]).toEqual([200, "I love this page!"]);
    expect([changed.body.canonical, (await one.send(id)).body.canonical]).toEqual([canonical, canonical]);
    expect(broken(changed.body, ANNOTATION)).toEqual([]);
    expect((await one.send(id, { method: "DELETE" })).status).toBe(204);
    expect((await one.send(id)).status).toBe(410);
  });
});

describe("the model's rules over all that a living site tells", () => {
  /** Every page of a collection, by its own links. */
  async function walk(collection: Document): Promise<Document[]> {
    const pages: Document[] = [];
    for (let next = collection.first; next !== undefined; next = pages.at(-1)!.next)
      pages.push((await get(ann, next)).body);
    expect(pages.at(-1)?.id).toBe(collection.last);
    return pages;
  }

  test.each([
    "/comments.json",
    "/guide.comments.json",
    "/docs.comments.json",
    "/comments.json?iris=1",
    "/_svc/comments/",
  ])("%s", async (path) => {
    const { body } = await ann.send(path, { headers: { accept: LD_JSON } });
    const pages = await walk(body);
    const documents: [Document, readonly Rule[]][] = [
      [body, COLLECTION],
      ...pages.map((page): [Document, readonly Rule[]] => [page, PAGE]),
    ];
    const items = pages.flatMap(({ items }) => items as unknown[]);
    expect(items).toHaveLength(body.total);
    for (const item of items) if (isRecord(item)) documents.push([item, ANNOTATION]);
    for (const [document, rules] of documents) {
      expect(broken(document, rules)).toEqual([]);
      expect(await losses(document, `${place.origin}${path}`)).toEqual([]);
    }
  });

  test("what a visitor takes along, and a comment's history", async () => {
    const taken = (await ann.send("me/export")).body;
    const history = (await place.api(`${root}/history`)).body;
    expect([taken.total, history.total]).toEqual([2, 1]);
    for (const document of [taken, history]) {
      expect(broken(document, COLLECTION)).toEqual([]);
      for (const item of document.first.items) expect(broken(item, ANNOTATION)).toEqual([]);
      expect(await losses(document, document.id)).toEqual([]);
    }
  });
});

describe("COMMENTS 1, decision 3: oldest first, so that full pages never change", () => {
  test("at every size the pages are right, and those that were full before are the same to the byte", async () => {
    const own = await commentedSite(server);
    const [one, owner] = [own.visitor(), await own.owner()];
    const full = new Map<string, string>();
    let count = 0;
    for (const size of [0, 1, 50, 51, 100, 101]) {
      for (; count < size; count++) await (count % 2 === 0 ? one : owner).say(`number ${count}`);
      const { body } = await one.send("/comments.json", { headers: { accept: LD_JSON } });
      expect([body.total, broken(body, COLLECTION)]).toEqual([size, []]);
      expect(body.orderedItems?.length).toBe(size <= 100 ? size : undefined);
      const texts: string[] = [];
      for (let n = 0; n * 50 < size; n++) {
        const { body: page } = await one.send(`/comments.json?page=${n}`);
        expect(broken(page, PAGE)).toEqual([]);
        const items = JSON.stringify(page.items);
        if (page.items.length === 50) expect(full.get(page.id) ?? items).toBe(items);
        if (page.items.length === 50) full.set(page.id, items);
        texts.push(...page.items.map((item: { body: { value: string } }) => item.body.value));
      }
      expect(texts).toEqual(Array.from({ length: size }, (_, n) => `number ${n}`));
    }
    expect(full.size).toBe(2);
  }, 60_000);
});
