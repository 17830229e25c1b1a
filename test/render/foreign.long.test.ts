/** CONTRACT 9: a page that takes things from other hosts, which the engine refuses. What would happen for its visitors too is
 *  told; what only the refusal brings is not. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Contents, TestServer } from "../kit/server.ts";
import { look, page, PATIENCE_MS, script, startRenderer } from "./rendering.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startRenderer();
});
afterAll(() => server[Symbol.asyncDispose]());

const LIBRARY = `<script src="https://cdn.example/lib.js"></script>`;
const told = async (files: Contents | string): Promise<string[]> => {
  const { status, failed_requests, warnings } = await look(server, files);
  expect(status).toBe("done");
  expect(failed_requests.some(({ reason }) => reason.includes("Refused"))).toBe(true);
  return warnings.map(
    ({ code, message }) => `${code}: ${/: (?:Uncaught )?(?:\(in promise\) )?(.*)/.exec(message)?.[1] ?? message}`,
  );
};

describe("CONTRACT 9: an error that the site's visitors have too is told", () => {
  test.each<[why: string, files: Contents | string, said: RegExp]>([
    ["a script that cannot be read", page(`<p>Text</p>${LIBRARY}${script("let = = 1")}`), /Unexpected token/],
    [
      "a file that cannot be read",
      { "index.html": page(`<p>Text</p>${LIBRARY}<script src="a.js"></script>`), "a.js": "function (" },
      /SyntaxError: Function statements require .*a\.js:1/,
    ],
    [
      "an error before the other host's script",
      page(`<p>Text</p>${script("early()")}${LIBRARY}`),
      /early is not defined/,
    ],
    [
      "an error of a file before it",
      { "index.html": page(`<p>Text</p><script src="a.js"></script>${LIBRARY}`), "a.js": "\nearly.first()" },
      /early is not defined \(a\.js:2\)/,
    ],
    [
      "an error before what a script asks for",
      page(`<p>Text</p>${script("early()")}${script("fetch('https://api.example/x').catch(() => {})")}`),
      /early is not defined/,
    ],
    [
      "an error beside what counts visitors",
      page(
        `<p>Text</p><script async src="https://www.googletagmanager.com/gtag/js?id=G-1"></script>${script("window.dataLayer = []; setTimeout(() => late(), 50)")}`,
      ),
      /late is not defined/,
    ],
    [
      "an error beside a frame of another host",
      page(`<p>Text</p><iframe src="https://www.youtube-nocookie.com/embed/x"></iframe>${script("late()")}`),
      /late is not defined/,
    ],
    [
      "an error beside a picture and a font of another host",
      page(
        `<p>Text</p><link rel="stylesheet" href="https://fonts.example/css"><img src="https://img.example/a.png" alt="">${script("late()")}`,
      ),
      /late is not defined/,
    ],
  ])(
    "%s",
    async (_, files, said) => {
      const warnings = await told(files);
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toMatch(/^script_error: /);
      expect(warnings[0]).toMatch(said);
    },
    PATIENCE_MS,
  );
});

describe("CONTRACT 9: one that may come of what was refused is not", () => {
  test.each<[why: string, files: Contents | string]>([
    ["an error behind the other host's script", page(`<p>Text</p>${LIBRARY}${script("Lib.mount()")}`)],
    [
      "an error of the page's own in a moment, when that would have come",
      page(`<p>Text</p>${script("setTimeout(() => Lib.mount(), 300)")}${LIBRARY}`),
    ],
    [
      "a script that another adds and takes away again",
      page(
        `<p>Text</p>${script("const s = document.createElement('script'); s.src = 'https://cdn.example/l.js'; document.head.append(s); s.remove(); setTimeout(() => Lib.mount(), 300)")}`,
      ),
    ],
    [
      "a module of another host",
      page(
        `<p>Text</p><script type="module">import lib from "https://esm.example/lib"; window.Lib = lib</script><script type="module">Lib.mount()</script>`,
      ),
    ],
    [
      "an import map's",
      page(
        `<p>Text</p><script type="importmap">{"imports":{"lib":"https://esm.example/lib"}}</script><script type="module">import("lib").catch(() => {}); Lib.mount()</script>`,
      ),
    ],
    [
      "an answer of another host",
      page(
        `<p>Text</p>${script("let data; fetch('https://api.example/x').then((r) => data = r).catch(() => {}).finally(() => setTimeout(() => data.items.length))")}`,
      ),
    ],
  ])("%s", async (_, files) => expect(await told(files)).toEqual([]), PATIENCE_MS);

  test(
    "a page that shows a frame of another host is not called blank",
    async () => expect(await told(page(`<iframe src="https://maps.example/" style="border:0"></iframe>`))).toEqual([]),
    PATIENCE_MS,
  );
});
