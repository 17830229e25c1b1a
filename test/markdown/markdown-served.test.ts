/** PIPELINE 1 from outside: a folder of Markdown is deployed, and a site is served. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { collectDist } from "../../lib.ts";
import { EXAMPLES } from "../kit/paths.ts";
import { type DeployResult, startServer, type TestServer } from "../kit/server.ts";

const EXAMPLE = join(EXAMPLES, "docs");
const VALIDATOR = join(import.meta.dir, "..", "tools", "node_modules", "html-validate", "dist", "esm", "index.js");

let server: TestServer;
let site: DeployResult;
beforeAll(async () => {
  server = await startServer();
  const files = new Map<string, string | Uint8Array>(await collectDist(EXAMPLE));
  site = await server.deploy(files.set("extra.md", EXTRA));
}, 60_000);
afterAll(() => server[Symbol.asyncDispose]());

/** What the example has no use for. */
const EXTRA = `# Every kind

1. one
   > quoted

| a | b |
|--:|:-:|
| 1 | [x](gone.md) |

![a picture](sailing/images/bowline.svg "Title") <span>raw</span>[^n]

> [!NOTE]
> text

- [ ] task

  with a paragraph

\`\`\`
plain
\`\`\`

[^n]: note
`;

const get = (path: string): Promise<Response> => server.site(site.slug, path);

describe("the deploy's answer", () => {
  test("it says what was made of the Markdown, and which link leads nowhere", () => {
    expect(site.healed).toEqual([
      { code: "markdown_rendered", message: "10 Markdown files became pages; README.md answers /.", path: "README.md" },
    ]);
    expect(site.warnings).toEqual([
      {
        code: "broken_link",
        path: "extra.md",
        message: "extra.md links to gone.md, which is not there.",
        fix_recipe: "Add gone.md to the upload, or change the link in extra.md.",
      },
    ]);
  });
  test("files and bytes are as uploaded, the title is the index page's", async () => {
    const record = await server.api(`/sites/${site.site_id}`, {
      headers: { authorization: `Bearer ${site.manage_token}` },
    });
    const { versions, spa } = (await record.json()) as { versions: { files: number; title: string }[]; spa: unknown };
    expect(versions[0]).toMatchObject({ files: 11, title: "Harbour Handbook" });
    expect(spa).toEqual({ enabled: false, rule: "none" });
  });
  test("pages count towards no limit", async () => {
    await using small = await startServer("--max-files", "2");
    const { healed } = await small.deploy({ "a.md": "# A", "b/c.md": "# C" });
    expect(healed.map(({ code }) => code)).toEqual(["markdown_rendered"]);
  });
});

describe("what is served", () => {
  test.each([
    ["/", 200, "text/html; charset=utf-8"],
    ["/README.html", 200, "text/html; charset=utf-8"],
    ["/01-first-sail", 200, "text/html; charset=utf-8"],
    ["/club", 308, null],
    ["/club/", 200, "text/html; charset=utf-8"],
    ["/sailing/", 200, "text/html; charset=utf-8"],
    ["/sailing/tides.html", 200, "text/html; charset=utf-8"],
    ["/README.md", 200, "text/markdown; charset=utf-8"],
    ["/sailing/images/bowline.svg", 200, "image/svg+xml; charset=utf-8"],
    ["/_docs/style.css", 200, "text/css; charset=utf-8"],
    ["/_docs/script.js", 200, "text/javascript; charset=utf-8"],
    ["/_docs/search.json", 200, "application/json; charset=utf-8"],
    ["/gone.html", 404, null],
  ])("%s is %i", async (path, status, type) => {
    const response = await get(path);
    expect(response.status).toBe(status);
    if (type) expect(response.headers.get("content-type")).toBe(type);
  });

  test("one stylesheet under 24 KB, one script under 3 KB", async () => {
    const page = await (await get("/sailing/tides.html")).text();
    expect(page.match(/<link rel="stylesheet"|<style/g)).toHaveLength(1);
    expect(page.match(/<script(?! type="application\/ld\+json")/g)).toHaveLength(1);
    expect((await (await get("/_docs/style.css")).bytes()).length).toBeLessThan(24_000);
    const script = await (await get("/_docs/script.js")).text();
    expect(Buffer.byteLength(script)).toBeLessThan(3_000);
    expect(() => new Function(script)).not.toThrow();
  });
  test("nothing of the site asks another host", async () => {
    for (const path of ["/", "/extra.html", "/_docs/style.css", "/_docs/script.js"]) {
      const text = await (await get(path)).text();
      const asked = text.replace(/<script type="application\/ld\+json">[^]*?<\/script>|xmlns='[^']*'/g, "");
      expect(asked).not.toMatch(/(?:src|href)="(?:https?:)?\/\/|url\(|@import|https?:\/\//);
    }
  });
  test("the search index has every title and heading with its address", async () => {
    const index = (await (await get("/_docs/search.json")).json()) as [string, string, [string, string][]][];
    expect(index).toHaveLength(10);
    const tides = index.find(([title]) => title === "Tides")!;
    expect(tides[1]).toBe("sailing/tides.html");
    expect(tides[2]).toContainEqual(["The rule of twelfths", "the-rule-of-twelfths"]);
  });
});

interface Validator {
  HtmlValidate: new (loader: object) => {
    validateString(html: string): Promise<{ results: { messages: { ruleId: string; message: string }[] }[] }>;
  };
  StaticConfigLoader: new (config: object) => object;
}

describe("valid HTML", () => {
  const problemsOf = async (html: string): Promise<string[]> => {
    const { HtmlValidate, StaticConfigLoader } = (await import(VALIDATOR)) as Validator;
    const validator = new HtmlValidate(new StaticConfigLoader({ root: true, extends: ["html-validate:standard"] }));
    const { results } = await validator.validateString(html);
    return results.flatMap(({ messages }) => messages.map(({ ruleId, message }) => `${ruleId}: ${message}`));
  };
  const PAGES = [
    "/",
    "/01-first-sail",
    "/extra",
    "/club/",
    "/club/house",
    "/sailing/",
    "/sailing/tides",
    "/sailing/knots",
  ];
  test.each(PAGES)("%s", async (path) => expect(await problemsOf(await (await get(path)).text())).toEqual([]), 20_000);
  test("the validator sees what is wrong", async () => {
    const page = await (await get("/")).text();
    const problems = await problemsOf(page.replace("</article>", '<p align="left"><div></p><img src="x">'));
    expect(problems.join("\n")).toMatch(/no-deprecated-attr[^]*close-order|close-order[^]*no-deprecated-attr/);
  }, 60_000);
});
