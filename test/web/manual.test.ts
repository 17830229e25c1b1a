/** WEB 1: the manual at /docs, made of docs/ while the program is built: its chapters, links and search. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { ROOT } from "../kit/paths.ts";
import { signInByForm, signUp } from "../kit/people.ts";
import { sharedServer } from "../kit/shared.ts";

const DOCS = join(ROOT, "docs");
const FILES = [...new Bun.Glob("*.md").scanSync({ cwd: DOCS })].toSorted();
const CHAPTERS = FILES.map((file) => `/docs/${file.replace(".md", "")}`);
const PAGES = ["/docs", "/docs?q=token", ...CHAPTERS];

const server = await sharedServer();

/** Without coding, as a test reads it. */
const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  server.api(path, { headers: { accept: "text/html", "accept-encoding": "identity", ...headers } });
const page = async (path: string): Promise<string> => (await get(path)).text();

const NAMED: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'", "#39": "'" };
const decoded = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|#x27|#39);/g, (_, name: string) => NAMED[name]!);
const allOf = (html: string, pattern: RegExp): string[] =>
  [...html.matchAll(pattern)].map(([, found]) => decoded(found!));
/** What it leads to and loads, as whole addresses. */
const addressesOf = (html: string, path: string): URL[] =>
  allOf(html, /<(?:a|img|link|script)\b[^>]*? (?:href|src)="([^"]*)"/g).map(
    (to) => new URL(to, server.base_url + path),
  );
const idsOf = (html: string): string[] => allOf(html, / id="([^"]*)"/g);
const wordsOf = (html: string): string => decoded(html.replace(/<[^>]*>/g, "").replace(/\s+/g, " ")).trim();

describe("WEB 1.1: /docs is the manual, rendered from docs/", () => {
  test("every file of docs/ is a chapter, and /docs names each with a written sentence", async () => {
    const html = await page("/docs");
    expect(FILES.length).toBeGreaterThan(7);
    const linked = addressesOf(html, "/docs").map(({ pathname }) => pathname);
    expect(CHAPTERS.filter((path) => !linked.includes(path))).toEqual([]);
    const lines = allOf(html, /<a class="name"[^>]*>[^<]*<\/a>\s*<p>([^<]*)<\/p>/g);
    expect(lines).toHaveLength(FILES.length);
    expect(lines.filter((line) => !/^[A-Z0-9][^…]{20,88}\.$/.test(line))).toEqual([]);
  });

  test.each(CHAPTERS)(
    "%s has its file's heading as the one h1, all its headings, and stands in the navigation",
    async (path) => {
      const html = await page(path);
      const source = await Bun.file(join(DOCS, `${path.slice("/docs/".length)}.md`)).text();
      const [title = ""] = /^# (.+)$/m.exec(source)!.slice(1);
      expect(allOf(html, /<h1[^>]*>(.*?)<\/h1>/g)).toEqual([title]);
      expect(allOf(html, /<title>([^<]*)<\/title>/g)).toEqual([`${title} · svc`]);
      const prose = source.replace(/^```[^]*?^```$/gm, "");
      expect(html.match(/<h[23] id=/g) ?? []).toHaveLength((prose.match(/^##{1,2} /gm) ?? []).length);
      expect(allOf(html, /<a href="([^"]*)" aria-current="page">/g)).toEqual(["/docs", path]);
      const contents = /<nav id="page-contents"[^]*?<\/nav>/.exec(html)![0];
      expect(allOf(contents, /<a href="#([^"]*)"/g)).toEqual(allOf(html, /<h[23] id="([^"]*)"/g));
    },
  );

  test.each(PAGES)("%s: every link leads somewhere, every id is one", async (path) => {
    const html = await page(path);
    expect(idsOf(html).filter((id, at, all) => all.indexOf(id) !== at)).toEqual([]);
    const inside = addressesOf(html, path).filter(({ origin }) => origin === server.base_url);
    expect(inside.length).toBeGreaterThan(10);
    const lost: string[] = [];
    for (const { pathname, search, hash } of inside) {
      const answer = await get(pathname + search);
      const there =
        answer.status === 200 && (!hash || idsOf(await answer.text()).includes(decodeURIComponent(hash.slice(1))));
      if (!there) lost.push(`${answer.status} ${pathname}${search}${hash}`);
    }
    expect(lost).toEqual([]);
  });

  test.each(["markdown", "comments"])(
    "the picture of %s is an asset under its hash, with its room left free",
    async (name) => {
      const [picture] = allOf(await page(`/docs/${name}`), /<img ([^>]*)>/g);
      const [, found] =
        /src="\/assets\/(\w+)\.[0-9a-f]+\.webp" width="\d+" height="\d+" alt="[^"]+"/.exec(picture!) ?? [];
      expect(found).toBe(name);
      const [src] = allOf(picture!, /src="([^"]*)"/g);
      const answer = await get(src!);
      expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "image/webp"]);
    },
  );

  test.each([
    ["GET", "/docs/nothing", 404],
    ["GET", "/docs/design", 404],
    ["POST", "/docs", 405],
    ["POST", "/docs/cli", 405],
    ["HEAD", "/docs", 200],
    ["HEAD", "/docs/cli", 200],
  ])("%s %s is %i", async (method, path, status) => {
    const answer = await server.api(path, { method, headers: { accept: "text/html" } });
    expect(answer.status).toBe(status);
    if (method === "HEAD") expect(await answer.text()).toBe("");
    expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
  });

  test.each(["/docs", "/docs/cli"])("%s/ leads to it without the slash", async (path) => {
    const { status, headers } = await get(`${path}/`);
    expect([status, headers.get("location")]).toEqual([303, path]);
  });

  test("it is the same for whoever is signed in, in their frame", async () => {
    const { cookie } = await signInByForm(server, await signUp(server));
    const html = await (await get("/docs/cli", { cookie })).text();
    expect(html).toContain("Sign out");
    const articleOf = (text: string): string => /<article [^]*<\/article>/.exec(text)![0];
    expect(articleOf(html)).toBe(articleOf(await page("/docs/cli")));
  });
});

describe("WEB 1.6: the headers of the manual", () => {
  test.each(PAGES)("%s", async (path) => {
    const { headers } = await get(path);
    expect(headers.get("content-security-policy")).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-robots-tag")).toBe(path.includes("?") ? "noindex" : null);
    const html = await page(path);
    expect(html).not.toMatch(/<style|<script(?![^>]* src=)|\sstyle=|\son[a-z]+=/);
  });
});

describe("the search of the manual needs no script", () => {
  const hits = async (q: string): Promise<{ status: string; links: string[]; marked: string[] }> => {
    const html = await page(`/docs?${new URLSearchParams({ q })}`);
    const list = /<ul[^>]*aria-label="Places"[^]*?<\/ul>/.exec(html)?.[0] ?? "";
    return {
      status: wordsOf(/<p role="status">[^]*?<\/p>/.exec(html)?.[0] ?? ""),
      links: allOf(list, /<a [^>]*href="([^"]*)"/g),
      marked: allOf(list, /<mark>([^<]*)<\/mark>/g),
    };
  };
  test.each([
    ["SVC_KEEP_VERSIONS", "/docs/self-hosting#settings"],
    ["quarantine", "/docs/self-hosting#quarantine"],
    ["exit codes", "/docs/cli#output-and-exit-codes"],
    ["DEVICE login", "/docs/http-api#device-login"],
    ["footnotes", "/docs/markdown#what-a-page-can-hold"],
  ])("%s leads to %s", async (q, address) => {
    const { status, links, marked } = await hits(q);
    expect(links).toContain(address);
    expect(status).toBe(`${links.length} ${links.length === 1 ? "place" : "places"} for “${q}”`);
    const words = q.toLowerCase().split(" ");
    expect(marked.length).toBeGreaterThan(0);
    expect(marked.filter((word) => !words.includes(word.toLowerCase()))).toEqual([]);
  });
  test("what a section is called goes before what it says", async () => {
    expect((await hits("restore")).links[0]).toBe("/docs/self-hosting#restore");
  });
  test.each([
    ["no word of it", "zzyzx"],
    ["two words of which it has one", "token zzyzx"],
    ["an expression", "(?:"],
    ["a long text", "a".repeat(5000)],
  ])("%s finds nothing", async (_, q) => {
    const { status, links } = await hits(q);
    expect(links).toEqual([]);
    expect(status).toBe(`Nothing in the manual for “${q.slice(0, 100)}”`);
  });
  test.each(["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</title><b>", "&lt;"])(
    "%j is text",
    async (q) => {
      const html = await page(`/docs?${new URLSearchParams({ q })}`);
      expect(html).not.toContain(q.replace("&", "\0"));
      expect(html).toContain(`value="${Bun.escapeHTML(q)}"`);
    },
  );
  test("nothing asked is all chapters", async () => {
    for (const q of ["", "  "]) expect(await page(`/docs?q=${q}`)).toContain('href="/docs/self-hosting"');
  });
});
