/** Code, tests and documents cite rules (`CONTRACT 4.3`, `RELIABILITY Z78`, `ARCHITECTURE, idea 2`, a bare `P9`): each
 *  citation leads to a heading or a row in docs/design. */
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "..", "..");
const read = (path: string): Promise<string> => Bun.file(join(ROOT, path)).text();

/** What a citation calls a page. */
const PAGES = {
  SPEC: "product",
  CONTRACT: "contract",
  PIPELINE: "pipeline",
  RELIABILITY: "reliability",
  ARCHITECTURE: "architecture",
  COMMENTS: "comments",
  BUN: "bun",
  STYLE: "style",
  BEYOND: "beyond",
  WEB: "web",
  SCALE: "scale",
};

interface Rules {
  /** Page → its chapters' numbers (`4.3`), its headings in lower case, and what it counts (`idea 2`). */
  chapters: ReadonlyMap<string, ReadonlySet<string>>;
  /** `P9`, `W3`, `Z78` … */
  codes: ReadonlySet<string>;
}

/** Chapter of reliability.md → the letters of the rules that it holds. */
const CODES_OF: Record<string, string> = { "1": "P", "2": "WDGSIK", "3": "Z", "4": "H", "5": "A" };

/** A numbered list counts what its chapter is about: the ideas of one, the rules of the others. What stands in bold at
 *  the beginning of a paragraph is its heading. */
function chaptersOf(page: string): Set<string> {
  const found = new Set<string>();
  for (const chapter of page.split(/^(?=#+ )/m)) {
    const [, number, title = ""] = /^#+ (?:(\d+[a-z]?(?:\.\d+)?)\.? )?(.+)$/m.exec(chapter) ?? [];
    if (number) found.add(number);
    found.add(title.toLowerCase().replaceAll("`", ""));
    for (const [, words] of chapter.matchAll(/^\*\*([^*]+?)\.?\*\*/gm)) found.add(words!.toLowerCase());
    for (const [, item] of chapter.matchAll(/^(\d+)\. /gm)) {
      found.add(title.startsWith("Ideas ") ? `idea ${item}` : `${number ?? title.toLowerCase()} rule ${item}`);
    }
  }
  return found;
}

/** A rule stands where a row, a sentence or a part of one begins with its code. */
function codesOf(reliability: string): Set<string> {
  const found = new Set<string>();
  for (const chapter of reliability.split(/^## /m)) {
    const letters = CODES_OF[/^\d+/.exec(chapter)?.[0] ?? ""];
    if (!letters) continue;
    const rows = chapter.split("**Recipes**")[0]!.replaceAll(/\s+/g, " ");
    const begins = new RegExp(`(?:[|;.):] |\\*\\* ?|— )([${letters}]\\d{1,2})(?:\\*\\*)? `, "g");
    for (const [, code] of rows.matchAll(begins)) found.add(code!);
  }
  return found;
}

async function readRules(): Promise<Rules> {
  const pages = await Promise.all(
    Object.entries(PAGES).map(async ([name, file]) => [name, await read(`docs/design/${file}.md`)] as const),
  );
  return {
    chapters: new Map(pages.map(([name, text]) => [name, chaptersOf(text)])),
    codes: codesOf(pages.find(([name]) => name === "RELIABILITY")![1]),
  };
}

const NAMES = Object.keys(PAGES).join("|");
const NUMBER = String.raw`\d+[a-z]?(?:\.\d+)?(?![\w%])`;
const CODE = String.raw`[PWDGSIKZHA]\d{1,2}`;
/** `CONTRACT 4.4 and 5`, `RELIABILITY 3, Z54 to Z69`, `ARCHITECTURE, idea 2`, `SPEC, "Site lifecycle"`. */
const CITATION = new RegExp(
  String.raw`(?<![\w./-])(${NAMES})(\.md)?(?:'s)?((?:(?:,| and| to|)[ ]?(?: (?:${NUMBER}|${CODE}|idea \d+|rule \d+)|"[^"\n]{1,60}"))*)`,
  "g",
);
const TARGET = new RegExp(String.raw`idea \d+|rule \d+|${CODE}|${NUMBER}|"[^"]+"`, "g");
const BARE = new RegExp(String.raw`(?<=^|[\s("'\`,])${CODE}(?=$|[\s):,;."'\`])`, "g");

/** A comment that goes on in the next line is one text. */
const joined = (text: string): string => text.replaceAll(/\n[ \t]*(?:\*(?!\/)|\/\/)?[ \t]*/g, " ");

/** `chapter`: the one that was cited before, whose rule it may be. */
function leads(target: string, chapter: string | undefined, chapters: ReadonlySet<string>, codes: ReadonlySet<string>) {
  if (/^[A-Z]/.test(target)) return codes.has(target);
  if (target.startsWith("rule ")) return chapters.has(`${chapter} ${target}`);
  const title = target.toLowerCase().replaceAll('"', "");
  return chapters.has(target) || (target.startsWith('"') && [...chapters].some((one) => one.startsWith(title)));
}

/** What leads nowhere. `bare`: codes without the name of their page are citations too. */
function lost(text: string, rules: Rules, bare: boolean): string[] {
  const found: string[] = [];
  const whole = joined(text);
  for (const [, name, , targets = ""] of whole.matchAll(CITATION)) {
    const asked = targets.match(TARGET) ?? [];
    const missing = asked.filter(
      (target, at) => !leads(target, asked[at - 1], rules.chapters.get(name!)!, rules.codes),
    );
    found.push(...missing.map((target) => `${name} ${target}`));
  }
  if (bare) for (const [code] of whole.matchAll(BARE)) if (!rules.codes.has(code)) found.push(code);
  return [...new Set(found)];
}

const FOLDERS = "{src,test,bench,scripts,docs,types}/**/*.{ts,js,md,txt,css,sql,mjs}";
const SKIPPED = /(^|\/)(node_modules|fixtures|dist)\//;

async function citing(): Promise<string[]> {
  const found = await Array.fromAsync(new Bun.Glob(`${FOLDERS}`).scan({ cwd: ROOT }));
  const top = await Array.fromAsync(new Bun.Glob("*.{ts,md}").scan({ cwd: ROOT }));
  return [...found, ...top]
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => !SKIPPED.test(path) && path !== "test/house/references.test.ts")
    .toSorted();
}

/** The manual and the other rules speak of other things that look like codes. */
const citesBare = (path: string): boolean => !path.startsWith("docs/") || path.startsWith("docs/decisions/");

describe("every citation leads to a rule in docs/design", () => {
  test("in code, tests, scripts, benchmarks and documents", async () => {
    const rules = await readRules();
    const paths = await citing();
    expect(paths.length).toBeGreaterThan(300);
    const texts = (await Promise.all(paths.map(read))).map(joined).join("\n");
    expect([...texts.matchAll(CITATION)].length).toBeGreaterThan(200);
    expect([...texts.matchAll(BARE)].length).toBeGreaterThan(500);
    const found = await Promise.all(
      paths.map(async (path) => lost(await read(path), rules, citesBare(path)).map((cited) => `${path}: ${cited}`)),
    );
    expect(found.flat()).toEqual([]);
  });

  test("the rules that are counted are all there", async () => {
    const { codes } = await readRules();
    const counts = { P: 10, W: 8, D: 2, G: 6, S: 6, I: 8, K: 36, Z: 79, H: 60, A: 33 };
    for (const [letter, count] of Object.entries(counts)) {
      expect([letter, [...codes].filter((code) => code.startsWith(letter)).length]).toEqual([letter, count]);
    }
  });

  test.each([
    ["/** CONTRACT 4.3: what is answered. */", []],
    ["// as CONTRACT 4.4 and 5 say", []],
    ["/** counted alike (CONTRACT\n *  9.9). */", ["CONTRACT 9.9"]],
    ["/** PIPELINE 2, rule 3, PIPELINE 7, PIPELINE 2, rule 9 */", ["PIPELINE 7", "PIPELINE rule 9"]],
    ["// RELIABILITY 3, Z54 to Z69", []],
    ["// RELIABILITY 3, Z54 to Z80", ["RELIABILITY Z80", "Z80"]],
    ["// ARCHITECTURE, idea 2; ARCHITECTURE, idea 12", ["ARCHITECTURE idea 12"]],
    ["// BUN 1b, BUN 1c", ["BUN 1c"]],
    ['// SPEC, "Site lifecycle" and SPEC, "Site death"', ['SPEC "Site death"']],
    ['// RELIABILITY 2, "Full disk", and RELIABILITY 2, "Fuller disk"', ['RELIABILITY "Fuller disk"']],
    ["// WEB 4.5, WEB 1.6 and 1.11", ["WEB 1.11"]],
    ["// SCALE 2, SCALE 12", ["SCALE 12"]],
    ['test("P9 a slug is never given twice", …)', []],
    ['test("P11 whatever", …)', ["P11"]],
    ['["Z78", "two contents"], ["Z0", "none"]', ["Z0"]],
    ["// the SVG H-1 and a name like WEB or AKIA1", []],
  ])("the test itself: %j leads nowhere at %j", async (text, expected) => {
    expect(lost(text, await readRules(), true)).toEqual(expected);
  });
});

const MARK = /[_*]\(?(?:its test )?to come\)?[_*]/;
const PATH = /(?<![\w/.])(?:src|test|docs|scripts|bench|types|examples)\/[\w./-]*\w/g;

/** The rows of tables and the sentences of a page that have a mark _(to come)_. */
const marked = (page: string): string[] =>
  page
    .split(/\n\n|\n(?=[|-] ?)/)
    .map((block) => block.replaceAll(/\s+/g, " "))
    .flatMap((block) => (block.startsWith("|") ? [block] : block.split(/(?<=[.;:]) (?![_*]\()/)))
    .filter((sentence) => MARK.test(sentence));

/** Paths in what a page marks as to come, if they are there. */
const built = (page: string, isThere: (path: string) => boolean): string[] =>
  marked(page)
    .flatMap((sentence) => sentence.match(PATH) ?? [])
    .filter(isThere);

describe("_(to come)_ marks what is not there", () => {
  test("no mark names a path that exists", async () => {
    const pages = (await citing()).filter((path) => path.endsWith(".md"));
    const there = (path: string) => existsSync(join(ROOT, path));
    const texts = await Promise.all(pages.map(read));
    expect(texts.flatMap(marked).length).toBeGreaterThan(10);
    expect(pages.flatMap((page, n) => built(texts[n]!, there).map((path) => `${page}: ${path}`))).toEqual([]);
  });

  test.each([
    ["The widget is in src/comments/widget _(to come)_.", ["src/comments/widget"]],
    ["| `src/comments` | the feed _(to come)_ |", ["src/comments"]],
    ["- one\n- `test/torture/soak.ts` *(its test to come)*", ["test/torture/soak.ts"]],
    ["Built: src/comments. Another thing _(to come)_.", []],
    ["Names have a file in src/signposts _(to come)_.", []],
  ])("the test itself: %j names %j", (page, paths) => {
    expect(built(page, (path) => existsSync(join(ROOT, path)))).toEqual(paths);
  });
});
