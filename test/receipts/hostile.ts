/** Uploads that cost the lint the most: as large as a deploy may be, and made of what it looks for. */

const nineMB = (piece: string): string => piece.repeat(Math.floor((9 << 20) / piece.length));
const page = (body: string): string => `<!doctype html><title>Kites</title>${body}`;
const script = (code: string): Record<string, string> => ({
  "index.html": page("<script src=a.js></script>"),
  "a.js": code,
});
const hundredThousand = (url: (i: number) => string): string =>
  Array.from({ length: 100_000 }, (_, i) => url(i)).join("");

export const HOSTILE: { name: string; files: () => Record<string, string> }[] = [
  { name: "9 MB of one-line code", files: () => script(nineMB("a=b/c,d='e',f=`g${h}i`,fetch(\"/x\"),")) },
  { name: "9 MB of strings", files: () => script(nineMB("'")) },
  { name: "9 MB of slashes and brackets", files: () => script(nineMB("}/[")) },
  { name: "9 MB of imports", files: () => script(nineMB('import("./a.js");')) },
  {
    name: "9 MB of functions in each other that ask for a constant and for more",
    files: () => script(`var abc="/x";${nineMB("a.onabc=()=>{fetch(abc+'/y'+z),fetch('/'+abc),{")}`),
  },
  {
    name: "9 MB of beginnings",
    files: () =>
      script(Array.from({ length: 200_000 }, (_, i) => `fetch("/b/${i}"+{},(${"{".repeat(i % 30)}`).join("")),
  },
  { name: "9 MB of nested elements", files: () => ({ "index.html": page(nineMB("<div>")) }) },
  { name: "9 MB of nested templates", files: () => ({ "index.html": page(nineMB("<template>")) }) },
  { name: "9 MB of a srcset", files: () => ({ "index.html": page(`<img srcset="${nineMB(",")}">`) }) },
  {
    name: "100,000 lost addresses",
    files: () => ({ "index.html": page(hundredThousand((i) => `<img src=/a/b/${i}.png>`)) }),
  },
  {
    name: "100,000 prefixes",
    files: () => ({ "index.html": page(hundredThousand((i) => `<script src=/p${i}/a/b.js></script>`)), "a/b.js": "" }),
  },
  {
    name: "100,000 lost addresses in a style",
    files: () => ({ "index.html": page(`<style>${hundredThousand((i) => `a{b:url(${i})}`)}</style>`) }),
  },
  {
    name: "9 MB of open comments in a style",
    files: () => ({ "index.html": page("<link rel=stylesheet href=a.css>"), "a.css": nineMB("url(/*") }),
  },
  {
    name: "9 MB of tokens' beginnings",
    files: () => ({ "index.html": page(""), "a.txt": nineMB("eyJc2VydmljZV9yb2xl.") }),
  },
  {
    name: "9 MB of keys' heads",
    files: () => ({ "index.html": page(""), "a.txt": nineMB("-----BEGIN PRIVATE KEY-----") }),
  },
  {
    name: "a page that runs 190 scripts that each import 2,000",
    files: () => ({
      "index.html": page(Array.from({ length: 190 }, (_, i) => `<script type=module src=${i}.js></script>`).join("")),
      ...Object.fromEntries(
        Array.from({ length: 190 }, (_, i) => [
          `${i}.js`,
          Array.from({ length: 2000 }, (_, j) => `import"./${(i + j) % 400}.js";`).join(""),
        ]),
      ),
    }),
  },
  {
    name: "an import map of 100,000 names",
    files: () => ({
      "index.html": page(
        `<script type=importmap>{"imports":{${hundredThousand((i) => `"n${i}/":"/x/",`)}"a":"/b.js"}}</script><script type=module src=a.js></script>`,
      ),
      "a.js": hundredThousand((i) => `import"n${i}/b/c/d.js";`),
    }),
  },
  {
    name: "100,000 sources of one font",
    files: () => ({
      "index.html": page(`<style>@font-face{src:${hundredThousand((i) => `url(${i}.woff2),`)}url(x)}</style>`),
    }),
  },
  {
    name: "190 pages with the same 2,000 lost addresses",
    files: () =>
      Object.fromEntries(
        Array.from({ length: 190 }, (_, i) => [
          i === 0 ? "index.html" : `p${i}/a.html`,
          page(Array.from({ length: 2000 }, (_, j) => `<img src=/${j}.png>`).join("")),
        ]),
      ),
  },
];
