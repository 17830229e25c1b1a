/** BEYOND 6: what the client sends as a delta gives the very result of the zip of all: version, receipt, pages. */
import { describe, expect, test } from "bun:test";
import { bytesLeftOut, deltaEntries, hashFiles, planBody } from "../../../src/cli/commands/send-content.ts";
import { zipFiles } from "../../../src/client/zip.ts";
import { askPlan, type Plan, sendDelta } from "../../kit/delta.ts";
import { type DeployResult, ZIP } from "../../kit/server.ts";
import { sharedServer } from "../../kit/shared.ts";

const server = await sharedServer();

type Files = Map<string, Uint8Array<ArrayBuffer>>;
const bytes = (content: string | Uint8Array): Uint8Array<ArrayBuffer> =>
  typeof content === "string" ? new TextEncoder().encode(content) : new Uint8Array(content);
const filesOf = (files: Content): Files =>
  new Map((Array.isArray(files) ? files : Object.entries(files)).map(([path, content]) => [path, bytes(content)]));

/** A status, and the result without what tells one site or request from another. */
type Outcome = [number, Record<string, unknown>];

async function outcomeOf(response: Response, { slug, site_id }: DeployResult): Promise<Outcome> {
  const text = (await response.text()).replaceAll(slug, "<slug>").replaceAll(site_id, "<site>");
  const { request_id: _, manage_token: __, expires_at: ___, ...result } = JSON.parse(text) as Record<string, unknown>;
  return [response.status, result];
}

const authorization = ({ manage_token }: DeployResult) => ({ authorization: `Bearer ${manage_token}` });

async function whole(site: DeployResult, files: Files, query: string): Promise<Outcome> {
  const init = { method: "POST", headers: { ...ZIP, ...authorization(site) }, body: await zipFiles(files) };
  return outcomeOf(await server.api(`/sites/${site.site_id}/deploys${query}`, init), site);
}

/** As the client does it: a refused plan is its outcome. */
async function byDelta(site: DeployResult, files: Files, query: string): Promise<Outcome> {
  const hashed = hashFiles(files);
  const response = await askPlan(server, site, planBody(hashed));
  if (response.status !== 200) return outcomeOf(response, site);
  const { need, version_id } = (await response.json()) as Plan;
  const delta = await zipFiles(deltaEntries(hashed, new Set(need)));
  const outcome = await outcomeOf(await sendDelta(server, site, delta, query), site);
  if (outcome[0] === 200) expect(outcome[1]["version_id"]).toBe(version_id);
  return outcome;
}

/** Every file of both sites, as they are served. */
async function pagesOf({ slug }: DeployResult, paths: Iterable<string>): Promise<unknown[]> {
  const shown = [];
  for (const path of ["", "nowhere", ...paths]) {
    const response = await server.site(
      slug,
      `/${path.replaceAll("\\", "/").split("/").map(encodeURIComponent).join("/")}`,
    );
    const text = (await response.text())
      .replaceAll(slug, "<slug>")
      .replaceAll(/site_[0-9a-z]{20}|req_[0-9a-z]{16}/g, "<id>");
    shown.push([path, response.status, response.headers.get("content-type"), response.headers.get("etag"), text]);
  }
  return shown;
}

const page = (title: string, body = "") => `<!doctype html><title>${title}</title>${body}`;
const MARKDOWN = {
  "README.md": "# Notes\n\nSee [the guide](guide/start.md) and ![a picture](pic.png).",
  "guide/start.md": "# Start\n\n```js\nlet a = 1;\n```\n",
  "guide/more.md": "# More\n\n[broken](nowhere.md)",
  "pic.png": Uint8Array.of(137, 80, 78, 71),
};

type Content = Record<string, string | Uint8Array> | [string, string | Uint8Array][];
const CASES: [what: string, before: Content, after: Content][] = [
  ["a page changed", { "index.html": page("1"), "a.css": "a{}" }, { "index.html": page("2"), "a.css": "a{}" }],
  ["nothing changed", { "index.html": page("1") }, { "index.html": page("1") }],
  ["everything changed", { "index.html": page("1") }, { "index.html": page("2"), "b.txt": "b" }],
  ["a folder of Markdown", MARKDOWN, { ...MARKDOWN, "guide/start.md": "# Start again\n\nNew text." }],
  ["Markdown where a page was", { "index.html": page("1"), "a.md": "# A" }, { "a.md": "# A", "b.md": "# B" }],
  ["a page where Markdown was", { "a.md": "# A" }, { "index.html": page("1"), "a.md": "# A" }],
  [
    "one folder around everything",
    { "s/index.html": page("1"), "s/x.txt": "x" },
    { "s/index.html": page("2"), "s/x.txt": "x" },
  ],
  [
    "a folder around what had none",
    { "index.html": page("1"), "x.txt": "x" },
    { "s/index.html": page("1"), "s/x.txt": "x" },
  ],
  [
    "a folder that is no more",
    { "s/index.html": page("1"), "s/x.txt": "x" },
    { "index.html": page("1"), "y/x.txt": "x" },
  ],
  [".well-known alone, which is not stripped", { "a.txt": "a" }, { ".well-known/a.txt": "a" }],
  [
    "__proto__ and its like",
    [
      ["__proto__", "p"],
      ["constructor", "c"],
    ],
    [
      ["__proto__", "p2"],
      ["constructor", "c"],
      ["toString/__proto__", "t"],
    ],
  ],
  [
    "renamed files",
    { "index.html": page("1"), "a.txt": "one", "b.txt": "two" },
    { "index.html": page("1"), "b.txt": "one", "c.txt": "two" },
  ],
  [
    "swapped files",
    { "index.html": page("1"), "a.txt": "one", "b.txt": "two" },
    { "index.html": page("1"), "a.txt": "two", "b.txt": "one" },
  ],
  [
    "composed letters where decomposed were",
    { "index.html": page("1"), "cafe\u0301.txt": "c" },
    { "index.html": page("2"), "caf\u00e9.txt": "c" },
  ],
  [
    "decomposed letters where composed were",
    { "index.html": page("1"), "caf\u00e9.txt": "c" },
    { "index.html": page("2"), "cafe\u0301.txt": "c" },
  ],
  [
    "both at once",
    { "index.html": page("1") },
    { "index.html": page("1"), "cafe\u0301.txt": "1", "caf\u00e9.txt": "2" },
  ],
  ["empty files", { "index.html": "", "a.txt": "" }, { "index.html": "", "b.txt": "", "c.txt": "c" }],
  [
    "one content under many names",
    { "index.html": page("1"), "a.txt": "same" },
    { "index.html": page("1"), "a.txt": "same", "b.txt": "same", "d/c.txt": "same" },
  ],
  ["an index in another case", { "Index.HTML": page("1") }, { "Index.HTML": page("2"), "sub/index.htm": page("s") }],
  ["what the index was made of", { "Index.htm": page("1") }, { "index.html": page("1") }],
  ["no index: a listing", { "a.pdf": "a" }, { "a.pdf": "a", "b.pdf": "b" }],
  ["a listing's own page sent back", { "a.pdf": "a" }, { "a.pdf": "a", "index.html": page("mine") }],
  ["one page alone", { "about.html": page("1") }, { "about.html": page("2") }],
  [
    "letter case alone",
    { "index.html": page("1"), "A.txt": "1" },
    { "index.html": page("1"), "A.txt": "1", "a.txt": "2" },
  ],
  [
    "backslashes",
    { "index.html": page("1"), "d\\a.txt": "a" },
    { "index.html": page("2"), "d\\a.txt": "a", "d\\b.txt": "b" },
  ],
  ["two at one path", { "index.html": page("1") }, { "index.html": page("1"), "d/a": "1", "d\\a": "2" }],
  [
    "dropped files",
    { "index.html": page("1") },
    { "index.html": page("2"), ".DS_Store": "j", ".env": "s", ".git/x": "g", "node_modules/a.js": "n" },
  ],
  [
    "dropped files that were kept under another name",
    { "index.html": page("1"), "env.txt": "S=1" },
    { "index.html": page("1"), ".env": "S=1" },
  ],
  ["only what is dropped", { "index.html": page("1") }, { ".env": "s" }],
  ["an unsafe name", { "index.html": page("1") }, { "index.html": page("1"), "a\u202Eb": "x" }],
  [
    "reserved and Windows-unsafe names",
    { "index.html": page("1") },
    { "index.html": page("1"), "_svc/x": "1", "comments.json": "{}", "CON.txt": "2", "a?b": "3" },
  ],
  [
    "the name of the list",
    { "index.html": page("1"), "svc-delta.json": "{}" },
    { "index.html": page("2"), "svc-delta.json": "{}" },
  ],
  [
    "a file named as a hash",
    { "index.html": page("1") },
    { "index.html": page("1"), ["a".repeat(64)]: "x", "b.txt": "x" },
  ],
  [
    "rules and headers",
    { "index.html": page("1"), _redirects: "/a /b\n" },
    { "index.html": page("1"), _redirects: "/a /b\nbad\n", _headers: "/*\n  Set-Cookie: x\n" },
  ],
  [
    "an app",
    {
      "index.html": page("1", '<div id="root"></div><script type="module" src="/assets/a-1.js"></script>'),
      "assets/a-1.js": "1",
    },
    {
      "index.html": page("1", '<div id="root"></div><script type="module" src="/assets/a-2.js"></script>'),
      "assets/a-2.js": "1",
      "assets/missing.css": "x",
    },
  ],
  [
    "broken links",
    { "index.html": page("1") },
    { "index.html": page("2", '<img src="gone.png"><a href="/x">x</a>'), "sub/a.html": "<p>no title" },
  ],
  [
    "a phishing page",
    { "index.html": page("1") },
    { "index.html": page("PayPal: log in", '<form action="https://evil.example/x"><input type="password"></form>') },
  ],
  [
    "a secret",
    { "index.html": page("1") },
    {
      "index.html": page("1"),
      "key.pem": "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----\n",
    },
  ],
  [
    "characters of every kind",
    { "index.html": page("1") },
    { "index.html": page("1"), "%2e%2e/a b+c&d;e#f.txt": "x", "日本語/😀.txt": "y", "a\u00adb.txt": "soft" },
  ],
];

describe("the same as the zip of all", () => {
  test.each(CASES)("%s", async (_, before, after) => {
    for (const query of ["?dry_run=1", "", "?spa=off"]) {
      const [a, b] = [await server.deploy(filesOf(before)), await server.deploy(filesOf(before))];
      const [zipped, joined] = [await whole(a, filesOf(after), query), await byDelta(b, filesOf(after), query)];
      expect(joined).toEqual(zipped);
      if (query === "" && zipped[0] === 200) {
        const paths = [...filesOf(after).keys()];
        expect(await pagesOf(b, paths)).toEqual(await pagesOf(a, paths));
      }
    }
  });

  test("a hundred versions on, one file at a time", async () => {
    const files = filesOf(Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`p${n}.html`, page(`${n}`)])));
    const [a, b] = [await server.deploy(files), await server.deploy(files)];
    for (let n = 0; n < 100; n++) {
      files.set(`p${n % 12}.html`, bytes(page(`${n % 7}`)));
      if (n % 5 === 0) files.delete(`p${(n + 3) % 12}.html`);
      expect(await byDelta(b, files, "")).toEqual(await whole(a, files, ""));
    }
  });
});

describe("what is left out", () => {
  test("each content counts once, and only what is not needed", () => {
    const hashed = hashFiles(filesOf({ a: "xxxx", b: "xxxx", c: "yy", d: "" }));
    expect(bytesLeftOut(hashed, new Set())).toBe(6);
    expect(bytesLeftOut(hashed, new Set([hashed[0]!.sha256]))).toBe(2);
    expect(deltaEntries(hashed, new Set([hashed[0]!.sha256])).map(([name]) => name)).toEqual([
      "svc-delta.json",
      hashed[0]!.sha256,
    ]);
  });
});
