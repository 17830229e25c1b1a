/** PIPELINE 4, CONTRACT 4.2: what the warnings say of a site, and that a recipe, when followed, makes its warning go
 *  away. Whether they tell the truth is asked of a browser in test/browser/receipts.test.ts. */
import { describe, expect, test } from "bun:test";
import { BROKEN, SECRETS, SOUND } from "./index.ts";
import { page, PNG, TEXT } from "./parts.ts";
import { type Contents } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";

const server = await sharedServer();

const warningsOf = async (files: Contents) => (await server.deploy(files)).warnings;
const codesOf = async (files: Contents) => [...new Set((await warningsOf(files)).map(({ code }) => code))].toSorted();
const FAULTY = BROKEN.filter(({ wrong }) => wrong!.codes.length > 0);

describe("a broken site", () => {
  test.each(FAULTY)("$name: its codes; the recipe, followed, leaves none of them", async ({ files, wrong }) => {
    const contents = await files();
    const site = await server.deploy(contents);
    expect([...new Set(site.warnings.map(({ code }) => code))].toSorted()).toEqual(wrong!.codes.toSorted());
    for (const { message, fix_recipe, path } of site.warnings) {
      expect(message).toMatch(/^[^\n]+\.$/);
      // One sentence that begins with what to do.
      expect(fix_recipe).toMatch(
        /^(?:Add|Build|Change|Copy|Correct|Deploy|Leave|Make|Move|Put|Remove|Rename|Replace|Shrink|Take|Write) [^\n]+\.$/,
      );
      expect(fix_recipe).not.toMatch(/[a-z]\. [A-Z]/);
      expect(path).toBeString();
    }
    const mended = await server.redeploy(site, wrong!.fix(contents));
    expect(mended.warnings).toEqual([]);
  });
});

test.each(SOUND)("a sound site has no warning: $name", async ({ files }) => {
  expect(await warningsOf(await files())).toEqual([]);
});

describe("which of the codes a reference gets", () => {
  const one = (body: string, more: Contents = {}) => warningsOf({ "index.html": page(TEXT + body), ...more });

  test.each<[why: string, body: string, files: Record<string, string | Uint8Array>, codes: string[]]>([
    ["a placeholder before a missing file", '<img src="%PUBLIC_URL%/gone.png">', {}, ["template_placeholder"]],
    ["letters of other scripts are no placeholder", '<img src="%C3%A4BER%20.png">', {}, ["missing_asset"]],
    ["source before a missing file", '<script type="module" src="/src/gone.tsx"></script>', {}, ["unbuilt_source"]],
    ["a wrong base before a missing file", '<script src="/repo/a.js"></script>', { "a.js": "" }, ["wrong_base_path"]],
    ["letter case before a missing file", '<img src="A.png">', { "a.png": PNG }, ["case_mismatch"]],
    ["a private address before http", '<script src="http://10.0.0.7/x.js"></script>', {}, ["private_network_url"]],
    [
      "a missing picture that other folders would have is missing",
      '<img src="/de/a.png">',
      { "a.png": PNG },
      ["missing_asset"],
    ],
    [
      "links alone never show a wrong base",
      '<a href="/de/a">A</a><a href="/de/b">B</a>',
      { "a.html": page("a"), "b.html": page("b") },
      ["broken_link"],
    ],
    [
      "a link below an asset folder is judged like a file",
      '<a href="/assets/x">X</a>',
      { "assets/a.png": PNG },
      ["broken_link"],
    ],
    ["a base moves what is relative", '<base href="http://localhost:3000/"><img src="a.png">', {}, ["localhost_url"]],
    ["a base that moves nothing", '<base href="http://localhost:3000/"><a href="#a">a</a>', {}, []],
    ["a page of this machine may be linked", '<a href="http://localhost:3000/">x</a>', {}, []],
    ["a picture over http is upgraded", '<img src="http://kites.example/a.png">', {}, []],
    [
      "a preview of this machine",
      '<meta property="og:image" content="http://localhost:1313/a.png">',
      {},
      ["localhost_url"],
    ],
    [
      "IPv6 and names of this machine",
      '<script src="http://[::1]:3000/a.js"></script><script src="//dev.localhost/b.js"></script>',
      {},
      ["localhost_url"],
    ],
    ["numbers that are this machine", '<img src="http://0x7f.1/a.png">', {}, ["localhost_url"]],
    [
      "names of private networks",
      '<img src="http://nas/a.png"><img src="https://printer.local/b.png">',
      {},
      ["private_network_url"],
    ],
  ])("%s", async (_, body, files, codes) => {
    expect([...new Set((await one(body, files)).map(({ code }) => code))]).toEqual(codes as never);
  });

  describe("a path of the service", () => {
    const ACME = ".well-known/acme-challenge/a.html";
    test.each<[why: string, href: string, files: Contents, codes: string[]]>([
      ["below _svc/ counts as there", "/_svc/anything", {}, []],
      ["below _svc/ counts as there, however it is encoded", "/%5Fsvc/anything", {}, []],
      ["the feed of comments, while nothing answers there", "/comments.json", {}, ["broken_link"]],
      ["a page's feed, while nothing answers there", "/docs/a.html.comments.json", {}, ["broken_link"]],
      ["the feed's name with a file of the site", "/comments.json", { "comments.json": "[]" }, ["reserved_path"]],
      ["a folder's comments.json is no feed", "/nope/comments.json", {}, ["broken_link"]],
      ["a folder's comments.json is the site's", "/docs/comments.json", { "docs/comments.json": "[]" }, []],
      ["a name that only begins like one", "/_svcx", {}, ["broken_link"]],
      ["where certificates are proved", "/.well-known/acme-challenge/a", {}, ["broken_link"]],
      ["a page that is never served", `/${ACME}`, { [ACME]: page("a") }, ["reserved_path", "broken_link"]],
    ])("%s: %s", async (_, href, files, codes) => {
      const warnings = await one(`<a href="${href}">x</a>`, files);
      expect(warnings.map(({ code }) => code)).toEqual(codes as never);
    });

    test.each<[body: string, files: Contents]>([
      [`<a href="/${ACME}">x</a>`, {}],
      [`<a href="/${ACME}">x</a>`, { [ACME]: page("a") }],
      ['<a href="/.well-known/acme-challenge/">x</a>', {}],
      ['<a href="/comments.json">x</a>', {}],
      ['<img src="/.well-known/acme-challenge/a.png">', { ".well-known/acme-challenge/a.png": PNG }],
    ])("%s: the recipe adds no file there, for none would be served", async (body, files) => {
      const { fix_recipe } = (await one(body, files)).at(-1)!;
      expect(fix_recipe).toStartWith("Change ");
      expect(fix_recipe).not.toContain("Add ");
    });

    test.each(["_svc/a.html", ACME])("what is never served is not judged: %s", async (path) => {
      const warnings = await one("", {
        [path]: page('<img src="gone.png"><script src="http://localhost/x.js"></script>'),
      });
      expect(warnings.map(({ code }) => code)).toEqual(["reserved_path"]);
    });
  });

  test.each([
    ["gone", "gone.html"],
    ["gone/", "gone/index.html"],
    ["gone.pdf?x#y", "gone.pdf"],
    ["/a/../b/gone", "b/gone.html"],
  ])("the recipe for a link to %s names the file %s", async (href, path) => {
    const [warning] = await one(`<a href="${href}">x</a>`);
    expect(warning!.fix_recipe).toStartWith(`Add the page ${path} `);
    expect(await one(`<a href="${href}">x</a>`, { [path]: page("Here") })).toEqual([]);
  });

  test("one entry for each file and target, however often and in however many ways it is named", async () => {
    const twice = '<img src="gone.png"><img src="gone.png"><a href="gone.png">x</a>';
    expect(await one(twice, { "b.html": page(twice) })).toMatchObject([
      { code: "missing_asset", path: "index.html" },
      { code: "missing_asset", path: "b.html" },
    ]);
  });

  test("a wrong base path is said once for each prefix", async () => {
    const body = '<script src="/repo/a.js"></script><script src="/repo/b.js"></script><a href="/repo/">Home</a>';
    const warnings = await one(body, { "a.js": "", "b.js": "", "c.html": page(body) });
    expect(warnings).toMatchObject([{ code: "wrong_base_path", path: "index.html" }]);
    expect(warnings[0]!.message).toContain("/repo/");
  });

  test("at most 100 entries, and the last says how many more there are", async () => {
    const warnings = await one(Array.from({ length: 140 }, (_, i) => `<img src="gone-${i}.png">`).join(""));
    expect(warnings).toHaveLength(100);
    expect(warnings.at(-1)!.message).toEndWith("There are 40 more warnings like these.");
  });

  test("names out of the upload are safe to print", async () => {
    const [warning] = await one('<img src="a&#27;[31m&#x202e;.png">');
    expect(warning!.message).not.toMatch(/[\u001b\u202e]/);
  });
});

describe("possible_secret", () => {
  test.each(Object.entries(SECRETS))(
    "a token of %s is found, in code and beside other text, and never printed",
    async (_, token) => {
      const warnings = await warningsOf({
        "index.html": page(TEXT),
        "a.js": `x={key:"${token}",b:1}`,
        "b.txt": `TOKEN=${token}\n`,
      });
      expect(warnings.map(({ code, path }) => [code, path])).toEqual([
        ["possible_secret", "a.js"],
        ["possible_secret", "b.txt"],
      ]);
      expect(JSON.stringify(warnings)).not.toContain(token.slice(0, -4));
    },
  );

  test.each(Object.entries(SECRETS))("what only begins like a token of %s is none", async (_, token) => {
    const repeated = token.slice(0, 8) + "x".repeat(token.length - 8);
    expect(await codesOf({ "index.html": page(TEXT), "a.js": `"${repeated}" "${token.slice(0, 12)}"` })).toEqual([]);
  });
});

describe("thresholds", () => {
  const loading = (size: number, body: string): Contents => ({
    "index.html": page(TEXT + body),
    "a.png": new Uint8Array(size).fill(7),
    "b.css": "p{background:url(a.png)}",
  });
  test.each<[number, string, string[]]>([
    [4 << 20, '<img src="a.png">', []],
    [(4 << 20) + 1, '<img src="a.png">', ["huge_asset"]],
    [(4 << 20) + 1, '<link rel="stylesheet" href="b.css">', ["huge_asset"]],
    [(4 << 20) + 1, '<a href="a.png">x</a>', []],
    [(4 << 20) + 1, '<video autoplay src="a.png"></video>', ["huge_asset"]],
  ])("a file of %i bytes by %s: %j", async (size, body, codes) => {
    expect(await codesOf(loading(size, body))).toEqual(codes as never);
  });

  test("missing_title is asked of the index alone", async () => {
    expect(await codesOf({ "index.html": page(TEXT), "b.html": "<p>No title</p>" })).toEqual([]);
  });
  test("server_code is asked only beside pages, and of Python only where a form names it", async () => {
    expect(await codesOf({ "kites.php": "<?php echo 1;" })).toEqual([]);
    expect(
      await codesOf({ "index.html": page(`${TEXT}<form action="/b%20c.py"></form>`), "a.py": "", "b c.py": "" }),
    ).toEqual(["server_code"]);
  });
  test("a Markdown site is judged by its sources, each fault once", async () => {
    const warnings = await warningsOf({
      "README.md": "# Kites\n\n![Kite](gone.png) [One](gone.md) [Two](gone.pdf) [Three](b.md)\n",
      "b.md": "# B\n",
    });
    expect(warnings.map(({ code, path }) => [code, path]).toSorted()).toEqual([
      ["broken_link", "README.md"],
      ["broken_link", "README.md"],
      ["missing_asset", "README.md"],
    ]);
  });
});
