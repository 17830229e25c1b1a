/** WEB 4, as far as it needs no browser: what is taken and left out, what asks, what an answer means, what is remembered. */
import { describe, expect, spyOn, test } from "bun:test";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { listFiles } from "../../src/client/collect.ts";
import { collect, type GivenEntry, MOST_FOUND, within } from "../../src/web/browser/zone/collect.ts";
import { localSitesIn } from "../../src/web/browser/zone/local-sites.ts";
import { firstLines, pastedName } from "../../src/web/browser/zone/pasted.ts";
import { builtFolder, hasPage, nothingIn, tooMuch, zipTooLarge } from "../../src/web/browser/zone/questions.ts";
import { sizeDone } from "../../src/web/browser/zone/words.ts";
import { type Answer, remedyOf, troubleOf } from "../../src/web/browser/zone/refusals.ts";
import { temporaryFolder } from "../kit/process.ts";

const SIGNAL = new AbortController().signal;

/** Text is a file, an object a folder, a function what happens when it is opened. */
type Tree = { [name: string]: string | Tree | (() => never) };
const given = (tree: Tree): GivenEntry[] =>
  Object.entries(tree).map(([name, content]): GivenEntry => {
    if (typeof content === "function") return { name, list: content, file: content } as unknown as GivenEntry;
    if (typeof content === "object") return { name, list: async () => given(content) };
    return { name, file: async () => new File([content], name) };
  });
const took = async (tree: Tree) => {
  const { files, secrets, empty } = await collect(given(tree), SIGNAL);
  return { paths: files.map(({ path }) => path), secrets, empty };
};
const never = (): never => {
  throw new Error("this must not be opened");
};
/** A folder that says so when somebody looks into it. */
const closed = (name: string): GivenEntry => ({ name, list: async () => never() });

describe("WEB 4.1: what is taken, and the paths it gets", () => {
  test.each<[string, Tree, string[]]>([
    ["one folder loses its name", { site: { "index.html": "", img: { "a.png": "" } } }, ["img/a.png", "index.html"]],
    ["of folders in folders the outer one alone", { a: { b: { "c.txt": "" } } }, ["b/c.txt"]],
    ["several things stand at the root", { a: { "x.txt": "" }, "b.txt": "" }, ["a/x.txt", "b.txt"]],
    ["one file", { "page.html": "" }, ["page.html"]],
    ["a zip among others is a file", { "a.zip": "", "b.txt": "" }, ["a.zip", "b.txt"]],
    ["paths are NFC", { s: { "u\u0308.html": "" } }, ["\u00fc.html"]],
    [
      "names that are odd stay",
      { s: { " lead.txt": "", "a:b.txt": "", __proto__x: "", "x.lnk": "", "%41.txt": "" } },
      [" lead.txt", "%41.txt", "__proto__x", "a:b.txt", "x.lnk"],
    ],
  ])("%s", async (_, tree, paths) => expect((await took(tree)).paths).toEqual(paths));

  test("one file that cannot be read stops all, and is named", async () => {
    const tree: GivenEntry[] = [
      { name: "s", list: async () => [...given({ "a.html": "" }), { name: "b.png", file: async () => never() }] },
    ];
    await expect(collect(tree, SIGNAL)).rejects.toThrow("b.png could not be read, so nothing was published.");
    await expect(collect([closed("s")], SIGNAL)).rejects.toThrow("s could not be read, so nothing was published.");
  });

  test("the page is let in between however long its files take to be looked at, and Cancel ends that", async () => {
    let now = 0;
    const clock = spyOn(performance, "now").mockImplementation(() => now);
    const slow = (): File => Object.defineProperty(new File([], "x"), "size", { get: () => ((now += 1), 7) });
    const entries = Array.from({ length: 400 }, (_, i): GivenEntry => ({ name: `${i}.txt`, file: async () => slow() }));
    let [let_in, ended] = [0, false];
    const beat = (): unknown => ended || setTimeout(() => (let_in++, beat()));
    const controller = new AbortController();
    try {
      beat();
      const { files } = await collect(entries, controller.signal);
      expect(files.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(2800);
      expect(let_in).toBeGreaterThanOrEqual(4); // 400 ms of work, 100 ms at a stretch at most
      const cancelled = collect(entries, controller.signal);
      controller.abort(new Error("cancelled"));
      await expect(cancelled).rejects.toThrow("cancelled");
    } finally {
      ended = true;
      clock.mockRestore();
    }
  });

  test("two spellings of one name are refused, not guessed", async () => {
    const both = given({ s: { "\u00fc.txt": "1", "u\u0308.txt": "2" } });
    await expect(collect(both, SIGNAL)).rejects.toThrow("is there twice");
  });

  test("the walk stops at 10,000 files", async () => {
    const many = Object.fromEntries(Array.from({ length: MOST_FOUND + 5 }, (_, i) => [`${i}.txt`, ""]));
    const found = await collect(given({ s: { ...many, later: { "x.txt": "" } } }), SIGNAL);
    expect([found.files.length, found.more]).toEqual([MOST_FOUND, true]);
    const limits = { max_files: 200, max_bytes: 1e9, max_zip_bytes: 1e9 };
    expect(tooMuch(found, limits)!.sentence).toContain("more than 10,000 files");
  });
});

describe("WEB 4.2: what is left out", () => {
  test.each<[string, Tree, string[], string[]]>([
    [
      "secrets are named, a folder for all below it",
      { s: { a: "", ".env": "", ".env.local": "", ".git": { x: "" }, b: { node_modules: { y: "" } } } },
      ["a"],
      [".env", ".env.local", ".git/", "b/node_modules/"],
    ],
    ["rubbish is not", { s: { a: "", ".DS_Store": "", "._a": "", "Thumbs.db": "", __MACOSX: { x: "" } } }, ["a"], []],
    [
      ".svcignore is not sent, and counts",
      {
        s: {
          ".svcignore": "*.map\n/drafts/\n",
          "a.js": "",
          "a.js.map": "",
          drafts: { x: "" },
          b: { drafts: { y: "" }, ".svcignore": "y" },
        },
      },
      ["a.js", "b/drafts/y"],
      [],
    ],
    [".well-known stays", { s: { ".well-known": { "a.txt": "" } } }, [".well-known/a.txt"], []],
    ["a dropped .env alone", { ".env": "" }, [], [".env"]],
  ])("%s", async (_, tree, paths, secrets) => {
    expect(await took(tree)).toMatchObject({ paths, secrets });
  });

  test.each([".git", "node_modules", "__MACOSX", ".env.d", "drafts"])("%s is never opened", async (name) => {
    const entries = [...given({ ".svcignore": "drafts/", "index.html": "" }), closed(name)];
    const { files } = await collect([{ name: "s", list: async () => entries }], SIGNAL);
    expect(files.map(({ path }) => path)).toEqual(["index.html"]);
  });

  test("the same as the command line leaves out, of the same folder", async () => {
    const tree: Tree = {
      ".svcignore": "*.log\n!keep.log\nbuild/*\n",
      ".env": "s",
      "index.html": "i",
      "x.log": "x",
      "keep.log": "k",
      "._f": { "in.txt": "dropped by its folder's name" },
      ".DS_Store": { "in.txt": "this too" },
      build: { "a.js": "a" },
      ünï: { "ö.txt": "o", ".DS_Store": "" },
    };
    await using folder = await temporaryFolder();
    const write = async (at: string, inside: Tree): Promise<void> => {
      for (const [name, content] of Object.entries(inside)) {
        const path = join(at, name);
        await mkdir(dirname(path), { recursive: true });
        if (typeof content === "string") await writeFile(path, content);
        else await write(path, content as Tree);
      }
    };
    await write(folder.path, tree);
    const listed = (await listFiles(folder.path)).files.map(({ path }) => path);
    expect((await took({ folder: tree })).paths).toEqual(listed);
  });

  test.each<[Tree, string | null]>([
    [{ s: {} }, "There is nothing to publish: the folder is empty."],
    [{ s: { ".env": "" } }, "There is nothing to publish: everything in it is left out."],
    [{ s: { a: "" } }, null],
  ])("%j: nothing left is said", async (tree, sentence) => {
    expect(nothingIn(await collect(given(tree), SIGNAL))?.sentence ?? null).toBe(sentence);
  });

  test("limits come with the figure, the largest and what to do", async () => {
    const limits = { max_files: 3, max_bytes: 2048, max_zip_bytes: 100 };
    const sized = (bytes: number) => "x".repeat(bytes);
    const many = await collect(given({ s: { a: "", b: "", c: "", d: "" } }), SIGNAL);
    expect(tooMuch(many, limits)).toEqual({
      sentence:
        "There are 4 files in it, and a site may have 3 files. Leave some out, or give the folder that is the site alone. " +
        "The operator of this server can raise its limits: svc-server --max-files 4.",
    });
    const large = await collect(given({ s: { a: sized(10), b: sized(3000), c: sized(20) } }), SIGNAL);
    expect(tooMuch(large, limits, "big")?.sentence).toStartWith("big has 3 KB, and a site may have 2 KB.");
    expect(tooMuch(large, limits)).toEqual({
      sentence:
        "It has 3 KB, and a site may have 2 KB. The operator of this server can raise its limits: svc-server --max-bytes 1MB --max-zip-bytes 1MB. " +
        "Leave out or shrink what takes the most:",
      files: [
        { path: "b", bytes: 3000 },
        { path: "c", bytes: 20 },
        { path: "a", bytes: 10 },
      ],
    });
    const close = await collect(given({ s: { a: sized(2049) } }), SIGNAL);
    expect(tooMuch(close, limits)!.sentence).toContain("2,049 bytes, and a site may have 2,048 bytes");
    expect(zipTooLarge(101, limits, close.files)!.sentence).toContain("Zipped it has 101 bytes");
    const zip = await collect(given({ "big.ZIP": sized(101) }), SIGNAL);
    expect(zipTooLarge(101, limits, zip.files)!.sentence).toContain("big.ZIP has 101 bytes, and a zip may have 100");
    expect(zipTooLarge(101, limits, zip.files)!.sentence).toEndWith("svc-server --max-zip-bytes 1MB.");
    expect([tooMuch(zip, limits), zipTooLarge(100, limits, zip.files)]).toEqual([null, null]);
  });
});

describe("WEB 4.1, 4.3: pasted text", () => {
  test.each([
    ["<!doctype html>", "index.html"],
    ["  \n<!DOCTYPE html>", "index.html"],
    ["\uFEFF<html>", "index.html"],
    ["<!-- a --> <!-- b -->\n<p>", "index.html"],
    ["<my-element>", "index.html"],
    ["<br/>", "index.html"],
    ["<h1\n", "index.html"],
    ["# Title", "index.md"],
    ["Hello <b>you</b>", "index.md"],
    ["<https://svc.example>", "index.md"],
    ["<me@svc.example>", "index.md"],
    ["<3 you", "index.md"],
    ["<!-- never closed <p>", "index.md"],
    ["<", "index.md"],
  ])("%j becomes %s", (text, name) => expect(pastedName(text)).toBe(name as "index.md"));

  test("comments by the hundred thousand are read once", () => {
    expect(pastedName("<!---->".repeat(20_000))).toBe("index.md");
    expect(firstLines(`${"line\n".repeat(100)}`).split("\n")).toHaveLength(8);
  });
});

describe("WEB 4.3: what asks first", () => {
  const project = (more: Tree): Tree => ({ p: { "package.json": "{}", src: { "main.ts": "" }, ...more } });
  test.each<[string, Tree, string | null]>([
    ["dist", project({ dist: { "index.html": "" } }), "dist"],
    ["the first of SPEC's order", project({ public: { "index.html": "" }, build: { "index.html": "" } }), "build"],
    ["below the root", project({ ".output": { public: { "index.html": "" } } }), ".output/public"],
    ["no index in it", project({ dist: { "main.js": "" } }), null],
    ["no package.json", { p: { dist: { "index.html": "" } } }, null],
    ["package.json deeper", { p: { a: { "package.json": "" }, dist: { "index.html": "" } } }, null],
  ])("a project: %s", async (_, tree, folder) => {
    expect(builtFolder(await collect(given(tree), SIGNAL))).toBe(folder);
  });

  test("the build's contents become the root, by its own .svcignore", async () => {
    const tree = project({ dist: { "index.html": "", "a.map": "", ".svcignore": "*.map", ".env": "" }, "b.map": "" });
    const built = await within(await collect(given(tree), SIGNAL), "dist");
    expect(built.files.map(({ path }) => path)).toEqual(["index.html"]);
    expect(built.secrets).toEqual([".env"]);
  });

  test.each<[string, boolean]>([
    ["a.html", true],
    ["a.HTM", true],
    ["a.xhtml", true],
    ["README.md", true],
    ["a.markdown", true],
    ["a.txt", false],
    ["html", false],
  ])("%s is a page: %p", async (name, page) => {
    expect(hasPage((await collect(given({ [name]: "" }), SIGNAL)).files)).toBe(page);
  });
});

describe("WEB 4.5: what an answer means", () => {
  const answer = (status: number, body: Record<string, unknown> = {}, retry_after: number | null = null): Answer => ({
    status,
    body: { error: "The server's words.", ...body },
    request_id: "req_1",
    retry_after,
    receipt: null,
  });
  const KEPT = "Nothing was published; your files are still here.";
  const MAYBE = "It may be published already. Your files are still here: trying again publishes them once.";
  const stranger = { signed_in: false, may_be_anonymous: true, at_home: true, sent: true };
  const owner = { signed_in: true, may_be_anonymous: false, at_home: false, sent: true };

  test.each<[number, string | null, number | null, ReturnType<typeof remedyOf>]>([
    [403, "challenge_failed", null, "proof"],
    [403, "cross_origin", null, "token"],
    [503, "unavailable", 1, "wait"],
    [503, "unavailable", null, null],
    [403, "abuse_rejected", null, null],
    [429, "rate_limited", 5, null],
    [507, "storage_full", 60, null],
    [200, null, null, null],
  ])("%i %s, Retry-After %p: unseen %p", (status, code, retry_after, remedy) => {
    expect(remedyOf(answer(status, code === null ? {} : { code }, retry_after))).toBe(remedy);
  });

  test.each<[string, Answer | null, typeof stranger, string, string[]]>([
    ["400", answer(400), stranger, "The server's words.", ["start_over"]],
    ["403 abuse_rejected", answer(403, { code: "abuse_rejected" }), stranger, "The server's words.", ["start_over"]],
    ["413", answer(413), stranger, "The server's words.", ["start_over"]],
    ["415", answer(415), stranger, "The server's words.", ["start_over"]],
    ["409", answer(409), stranger, "The server's words.", ["start_over"]],
    ["507", answer(507, {}, 60), stranger, "The server's words.", ["start_over"]],
    [
      "401 on /",
      answer(401),
      stranger,
      "You were signed out, and nothing was published.",
      ["sign_in", "try_again", "without_account"],
    ],
    [
      "401 on a site's page",
      answer(401),
      owner,
      "You were signed out, and nothing was published.",
      ["sign_in", "try_again"],
    ],
    ["401 account_required", answer(401, { code: "account_required" }), stranger, "The server's words.", ["sign_in"]],
    ["403 challenge_failed", answer(403, { code: "challenge_failed" }), stranger, "The server's words.", ["try_again"]],
    ["403 cross_origin", answer(403, { code: "cross_origin" }), owner, "The server's words.", ["reload"]],
    ["403 site_frozen", answer(403, { code: "site_frozen" }), owner, "The server's words.", []],
    ["451", answer(451), owner, "The server's words.", []],
    ["404", answer(404), owner, "The server's words.", []],
    [
      "429",
      answer(429, {}, 7),
      stranger,
      `Too many sites from your address. Try again in 7 seconds, or sign in: an account's deploys are not limited. ${KEPT}`,
      ["try_again"],
    ],
    ["503", answer(503, {}, 1), stranger, `Something went wrong on the server (request req_1). ${KEPT}`, ["try_again"]],
    ["500", answer(500), stranger, `Something went wrong on the server (request req_1). ${KEPT}`, ["try_again"]],
    ["504", answer(504), stranger, `Something went wrong on the server (request req_1). ${MAYBE}`, ["try_again"]],
    [
      "502 before it was sent",
      answer(502),
      { ...stranger, sent: false },
      `Something went wrong on the server (request req_1). ${KEPT}`,
      ["try_again"],
    ],
    [
      "a 200 of another program",
      answer(200),
      stranger,
      `Something went wrong on the server (request req_1). ${MAYBE}`,
      ["try_again"],
    ],
    ["none", null, stranger, `The server cannot be reached. Check your connection. ${MAYBE}`, ["try_again"]],
  ])("%s", (_, got, who, sentence, offers) => {
    const trouble = troubleOf(got, who, true);
    expect([trouble.sentence, trouble.offers]).toEqual([sentence, offers as typeof trouble.offers]);
  });

  test("offline; path, largest and appeal; what is no list of files", () => {
    expect(troubleOf(null, { ...stranger, sent: false }, false).sentence).toBe(`You are offline. ${KEPT}`);
    const full = answer(413, {
      path: "a.bin",
      appeal: "abuse@svc.example",
      largest: [{ path: "b", bytes: 3 }, { path: 1 }, null],
    });
    expect(troubleOf(full, stranger, true)).toEqual({
      sentence: "The server's words.",
      lines: ["a.bin", "Questions or an appeal: abuse@svc.example"],
      files: [{ path: "b", bytes: 3 }],
      offers: ["start_over"],
    });
    expect(troubleOf(answer(400, { largest: "x", path: 3, error: 4 }), stranger, true).files).toEqual([]);
  });
});

test.each([
  [0, 5_033_165, "0.0 of 4.8 MB"],
  [0.4375, 5_033_165, "2.1 of 4.8 MB"],
  [1, 5_033_165, "4.8 of 4.8 MB"],
  [0.5, 15 * 1024 * 1024, "8 of 15 MB"],
  [0.5, 812, "406 of 812 bytes"],
])("WEB 4.4: %p of %i bytes is %s", (part, bytes, words) => {
  expect(sizeDone(part, bytes)).toBe(words);
});

describe("WEB 4.7: what this browser remembers", () => {
  const NOW = 1_000_000;
  const site = (no: number, change: Record<string, unknown> = {}) => ({
    site_id: `site_${String(no).padStart(20, "0")}`,
    slug: `calm-otter-${no}`,
    url: `http://calm-otter-${no}.localhost`,
    manage_token: `svc_manage_${"x".repeat(43)}`,
    expires_at: NOW + 1,
    title: null,
    ...change,
  });
  const read = (value: unknown) => localSitesIn(typeof value === "string" ? value : JSON.stringify(value), NOW);

  test("newest first as it was written, at most 64, each once, none whose time is over", () => {
    const many = Array.from({ length: 70 }, (_, no) => site(no));
    expect(read(many)).toEqual(many.slice(0, 64));
    expect(read([site(1), site(1), site(2, { expires_at: NOW })])).toEqual([site(1)]);
    expect(read([{ ...site(1), claim_token: "svc_claim_x" }])).toEqual([site(1)]);
    expect(read([site(1, { title: "Tides" }), site(2, { title: 1 }), site(3, { title: " " })])).toEqual([
      site(1, { title: "Tides" }),
      site(2),
      site(3),
    ]);
    const { title: _, ...older } = site(1); // written before there were titles
    expect(read([older])).toEqual([site(1)]);
  });

  test.each([
    ["{", "null", "3", '"x"', "{}", "[null, 1, []]"],
    [site(1, { url: "javascript:alert(1)" }), site(1, { url: "http://a b" }), site(1, { url: 1 })],
    [site(1, { site_id: "site_../../x" }), site(1, { slug: "<b>" }), site(1, { slug: "" })],
    [site(1, { manage_token: "svc_session_x" }), site(1, { expires_at: "soon" }), site(1, { expires_at: null })],
  ])("damaged and foreign content is ignored: %j", (...values) => {
    for (const value of values) expect(read(typeof value === "string" ? value : [value])).toEqual([]);
  });
});
