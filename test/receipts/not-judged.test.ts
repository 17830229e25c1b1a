/** RELIABILITY: judging an upload has 2 s of processor time. What is left over of the receipt is not judged, and that is
 *  said; what is left over of the abuse scan refuses the upload. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { keepPages } from "../../src/html/page.ts";
import { createBudget } from "../../src/pipeline/budget.ts";
import { build } from "../../src/pipeline/index.ts";
import { detectSpa } from "../../src/pipeline/spa.ts";
import type { BuiltVersion } from "../../src/base/types.ts";
import { NEW_SITE } from "../kit/abuse-site.ts";
import { LIMITS } from "../kit/ingesting.ts";
import { draftOf } from "../kit/patterns/judged.ts";
import { slugOf, startServer, type TestServer } from "../kit/server.ts";
import { zipOf } from "../kit/zip.ts";

/** A clock of processor time that goes on by `ms` each time somebody looks. */
function clock(ms: number): () => number {
  let spent = 0;
  return () => (spent += ms);
}
const judged = (files: Record<string, string>, cpu?: () => number): BuiltVersion =>
  build(zipOf(files), LIMITS, () => {}, NEW_SITE, cpu);
const codes = ({ warnings }: BuiltVersion): string[] => warnings.map(({ code }) => code);

const MANY = Array.from({ length: 3000 }, (_, i) => `<img src=${i}.png>`).join("");
const page = (body: string): string => `<!doctype html><title>Kites</title>${body}`;
const KEY = "ghp_1A2b3C4d5E6f7G8h9I0jKlMnOpQrStUvWxYz";
const SITE = { "index.html": page(`<img src="http://localhost/a.png">${MANY}`), "a.txt": `key=${KEY}\n` };

describe("the receipt", () => {
  test("without a limit it is whole", () => {
    const found = codes(judged(SITE));
    expect(found).not.toContain("not_judged");
    expect(found.filter((code) => code === "missing_asset").length).toBeGreaterThan(90);
  });

  test("what is left over is not judged: it says so, where it ended, and what it had found", () => {
    const { warnings } = judged(SITE, clock(50));
    expect(warnings[0]).toEqual({
      code: "not_judged",
      path: "index.html",
      message:
        "Checking this upload took more than 2 s of processor time and ended at index.html: this list is not whole.",
      fix_recipe: "Make index.html simpler or leave it out, then deploy again for a whole list.",
    });
    expect(warnings.map(({ code }) => code)).toContain("possible_secret");
    expect(warnings.map(({ code }) => code)).toContain("localhost_url");
  });

  test("what nothing answers until then is told, too, its likely cause with it", () => {
    const files = {
      "index.html": page('<img src="gone.png"><img src="A.png"><a href="gone.html">a</a>'),
      "a.png": "a",
      "b.html": page(MANY),
    };
    const { warnings } = judged(files, clock(50));
    const told = warnings.filter(({ path }) => path === "index.html").map(({ code }) => code);
    expect(warnings[0]!.code).toBe("not_judged");
    expect(told).toEqual(["case_mismatch", "missing_asset", "broken_link"]);
  });

  test("it changes nothing of the version but that, and how much was checked", () => {
    const { warnings: _, checked: some, ...limited } = judged(SITE, clock(50));
    const { warnings: __, checked: all, ...whole } = judged(SITE);
    expect(some.links).toBeLessThan(all.links);
    expect(limited).toEqual(whole);
  });
});

test("whether it is a single-page app is asked while there is time; then it is none", () => {
  const app = "<div id=root></div><script src=/m.js></script>";
  const scripts = Array.from({ length: 5000 }, (_, i) => `<script src=${i}></script>`).join("");
  const { files } = draftOf({ "index.html": app, "b.html": app + scripts, "m.js": "history.pushState()" });
  const ruleAt = (ms: number) => detectSpa(files, keepPages(), createBudget(clock(ms))).spa.rule;
  expect(ruleAt(0)).toBe("prerendered_shell");
  expect(ruleAt(100)).toBe("none");
});

describe("the abuse scan", () => {
  test.each<[what: string, files: Record<string, string>]>([
    ["a page of many tags", { "index.html": page(""), "a.html": page("<b>".repeat(10_000)) }],
    ["pages before it", Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`${i}.html`, page("<p>")]))],
  ])("is never left unfinished: %s", (_, files) => {
    expect(() => judged(files, clock(40))).toThrow("takes more than 2 s of processor time");
    expect(codes(judged(files))).not.toContain("not_judged");
  });

  test("says which page, and that it is time", () => {
    const files = { "index.html": page(""), "a.html": page("<b>".repeat(10_000)) };
    expect(() => judged(files, clock(30))).toThrow(
      "a.html cannot be checked: checking this upload takes more than 2 s of processor time. Make that file simpler, then deploy again.",
    );
  });
});

describe("over HTTP, by the processor's own clock", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.stop());

  /** Where others have the machine, ten seconds on the wall may be over first: then it is asked again. */
  async function answerOf(files: Record<string, string>): Promise<Record<string, unknown>> {
    const answer = (await (await server.post(zipOf(files))).json()) as Record<string, unknown>;
    return /within \d+ seconds/.test(String(answer.error)) ? answerOf(files) : answer;
  }

  test("100,000 lost addresses that each of sixty folders may hold: the deploy is live, its receipt not whole", async () => {
    const links = Array.from({ length: 100_000 }, (_, i) => `<img src=/q/p.html?${i}>`).join("");
    const answer = await answerOf({ "index.html": page(""), [`${"a/".repeat(60)}p.html`]: links });
    expect(answer).toMatchObject({ warnings: [{ code: "not_judged" }, { code: "missing_asset" }] });
    expect((await server.site(slugOf(answer.url))).status).toBe(200);
  }, 120_000);

  test("a page of end tags that each ask all open elements is refused", async () => {
    const hostile = page(`<form>${"<div>".repeat(1000)}${"</x>".repeat(2_000_000)}`);
    expect(await answerOf({ "index.html": hostile })).toMatchObject({ code: "too_complex", path: "index.html" });
  }, 120_000);
});
