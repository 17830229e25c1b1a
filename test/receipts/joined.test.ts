/** PIPELINE 4: addresses of which a script holds the beginning alone, or in a constant. Judged where whatever is joined to
 *  them must fail; nothing is said where it may not. */
import { describe, expect, test } from "bun:test";
import { type Contents } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { page, TEXT } from "./parts.ts";

const server = await sharedServer();

/** What a page in a folder is told of the script that it runs. */
async function told(code: string, more: Contents = {}): Promise<string[]> {
  const files = {
    "index.html": page(TEXT),
    "docs/a.html": page('<script src="../js/a.js"></script>'),
    "js/a.js": code,
  };
  const { warnings } = await server.deploy({ ...files, ...more });
  return warnings.map(({ code: is, path, message }) => `${is} ${path} ${/"([^"]*)"/.exec(message)?.[1]}`);
}

describe("whatever is joined to it fails: it is told", () => {
  test.each<[why: string, code: string, target: string]>([
    ["a folder that is not there", "const id = 7; fetch(`/api/users/${id}`)", "/api/users/"],
    ["beside the page", 'fetch("data/" + name + ".json")', "data/"],
    ["the beginning of a name", 'fetch("../js/part-" + n)', "../js/part-"],
    ["jQuery's", '$.getJSON("../lang/" + lang + ".json", show)', "../lang/"],
    ["XMLHttpRequest's", 'x.open("GET", "/lang/" + lang, true)', "/lang/"],
    ["a query: the path is whole", 'fetch("list.json?v=" + Date.now())', "list.json?v="],
    ["a worker's query", 'new Worker("w.js?v=" + version)', "w.js?v="],
    ["a module, beside the script", "import(`./pages/${name}.js`)", "./pages/"],
    ["a worker", 'new Worker("../workers/" + name)', "../workers/"],
    ["a constant", 'const url = "list.json";\nfetch(url).then(show)', "list.json"],
    ["a constant and a literal", 'const API = "/api";\nasync () => fetch(API + "/kites")', "/api/kites"],
    ["a constant in a template", 'var BASE = "../data";\nfetch(`${BASE}/a-${n}.json`)', "../data/a-"],
    ["once the page is there", 'window.addEventListener("load", () => { fetch("data/" + id) })', "data/"],
    ["at once", '(function () { if (a) { $.getJSON("data/" + b) } })()', "data/"],
  ])("%s", async (_, code, target) => {
    expect(await told(code)).toEqual([`missing_asset js/a.js ${target}`]);
  });

  test("the recipe, followed, leaves no warning", async () => {
    const code = "for (const lang of ['de']) fetch(`/i18n/${lang}.json`)";
    expect(await told(code)).toHaveLength(1);
    expect(await told(code, { "i18n/de.json": "{}" })).toEqual([]);
  });
});

describe("it may be there: nothing is told", () => {
  test.each<[why: string, code: string, more: Contents]>([
    ["a file begins so", 'fetch("data/" + name)', { "docs/data/a.json": "{}" }],
    ["a file has the beginning of the name", 'fetch("part-" + n)', { "docs/part-1.json": "{}" }],
    ["a query may follow", 'fetch("/list" + search)', { "list.html": page(TEXT) }],
    ["a rule answers", 'fetch("/api/" + id)', { _redirects: "/api/* /a.json 200\n", "a.json": "{}" }],
    ["a rule deeper answers", 'fetch("/api/" + id)', { _redirects: "/api/v1/:id /a.json 200\n", "a.json": "{}" }],
    ["the service answers", 'fetch("/_svc/" + id)', {}],
    [
      "no folder is named",
      'fetch("/" + id); fetch("data" + id); fetch("../" + id); fetch("http" + s + "://a.example/b")',
      {},
    ],
    ["a word before a query", 'fetch("contexts?" + query)', {}],
    ["another host", 'fetch("https://api.kites.example/" + id); fetch("//" + host + "/x")', {}],
    ["a method", 'fetch("/api/" + encodeURIComponent(id), { method: "POST" }); x.open("POST", "/api/" + id)', {}],
    ["a press", 'button.onclick = function (e) { if (a) { fetch("icons/" + name) } }', {}],
    ["a press, by an arrow", 'b.addEventListener("click", async () => fetch("icons/" + name))', {}],
    ["a press, by jQuery", '$("b").click(function () { $.getJSON("icons/" + name) })', {}],
    ["React's press", 'h("b", { onClick: () => { fetch(`icons/${name}`) } })', {}],
    ["a constant that changes", 'let url = "a.json"; url = other; fetch(url)', {}],
    ["a constant of two functions", 'const url = "a.json"; function f(url) { fetch(url) }', {}],
    ["a constant that an arrow hides", 'const url = "a.json"; const f = url => fetch(url)', {}],
    ["a member of that name", 'const url = "a.json"; fetch(o.url)', {}],
    ["a choice", 'const url = dev ? "a.json" : other; fetch(url)', {}],
    ["a name of one letter", 'const u = "a.json"; fetch(u)', {}],
    ["a bare module", 'import("lib/" + name)', {}],
  ])("%s", async (_, code, more) => {
    expect(await told(code, more)).toEqual([]);
  });
});
